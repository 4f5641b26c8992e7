//! What a plugin for `host` is written with in Zig.
//!
//! A plugin is a list of tools given to `exportPlugin`. A tool is its description and a function from its arguments, a
//! struct that its JSON is read into, to an `Outcome`. A function fails with `return call.fail(.not_found, "…", .{})`,
//! which is one of the cases of the contract, and hands on what a capability refused.
//!
//! Memory: each call has an instance of the component to itself, and all of it goes when the call ends. Nothing needs to
//! be freed; whatever an outcome holds must come from `allocator`.
//!
//! `contract` is generated from the folder `wit` when the plugin is built, with the capabilities that plugin.toml
//! declares. Its functions can be called as they are; a capability that is not declared is not there to be called.

const std = @import("std");

/// The generated binding, as C has it.
pub const contract = @import("contract");

/// The C library's `malloc`: what an outcome holds is freed by the binding.
pub const allocator = std.heap.c_allocator;

/// Why the function of a tool did not answer. `Failed` has its case and its words in the call.
pub const Error = error{ Failed, OutOfMemory };

/// How a call failed, of the cases that carry words. `denied` comes from a capability only.
pub const Kind = enum(u8) {
    invalid_arguments = contract.HOST_TOOL_TYPES_FAILURE_INVALID_ARGUMENTS,
    not_found = contract.HOST_TOOL_TYPES_FAILURE_NOT_FOUND,
    conflict = contract.HOST_TOOL_TYPES_FAILURE_CONFLICT,
    unavailable = contract.HOST_TOOL_TYPES_FAILURE_UNAVAILABLE,
    cancelled = contract.HOST_TOOL_TYPES_FAILURE_CANCELLED,
    failed = contract.HOST_TOOL_TYPES_FAILURE_FAILED,
};

/// How a call ended well: text for the model and, for a tool with an output schema, the same as JSON.
pub const Outcome = struct {
    text: []const u8,
    structured: ?[]const u8 = null,
    /// One line for the user.
    summary: ?[]const u8 = null,
};

/// What a tool needs, as plugin.toml declares it.
pub const Need = struct { capability: []const u8, scope: []const u8, reason: []const u8 };

/// What a tool does to the world; what nobody says is the most careful.
pub const Annotations = struct {
    read_only: bool = false,
    destructive: bool = true,
    idempotent: bool = false,
    open_world: bool = true,

    pub const reads: Annotations = .{ .read_only = true, .destructive = false, .idempotent = true, .open_world = false };
};

/// A tool: what the model is told about it, and the code behind it.
pub const Tool = struct {
    name: []const u8,
    title: ?[]const u8 = null,
    description: []const u8,
    input_schema: []const u8,
    output_schema: ?[]const u8 = null,
    annotations: Annotations = .{},
    needs: []const Need = &.{},
    run: *const fn (*Call, []const u8) Error!Outcome,
    /// What a call would do, for the user who is asked; null when there is nothing to ask. Without it a call of a tool
    /// that needs more than reading is asked about by name and arguments.
    preview: ?*const fn (*Call, []const u8) Error!?Confirmation = null,
    /// The arguments, as JSON, of the call that does what the user made of this one: the text stands in the place of
    /// what the preview proposed (of an edit) or of the command line (of an exec). Without it a call is allowed or refused.
    revise: ?*const fn (*Call, []const u8, []const u8) Error![]const u8 = null,

    /// Makes `run` of a function that takes its arguments as a struct. A field with a default may be left out.
    pub fn function(comptime Arguments: type, comptime call: fn (*Call, Arguments) Error!Outcome) *const fn (*Call, []const u8) Error!Outcome {
        return struct {
            fn run(this: *Call, json: []const u8) Error!Outcome {
                return call(this, try read(Arguments, this, json));
            }
        }.run;
    }

    /// Makes `preview` of a function that takes its arguments as a struct.
    pub fn previewing(comptime Arguments: type, comptime preview_of: fn (*Call, Arguments) Error!?Confirmation) *const fn (*Call, []const u8) Error!?Confirmation {
        return struct {
            fn run(this: *Call, json: []const u8) Error!?Confirmation {
                return preview_of(this, try read(Arguments, this, json));
            }
        }.run;
    }

    /// Makes `revise` of a function that takes its arguments as a struct and answers with them changed.
    pub fn revising(comptime Arguments: type, comptime revise_of: fn (*Call, Arguments, []const u8) Error!Arguments) *const fn (*Call, []const u8, []const u8) Error![]const u8 {
        return struct {
            fn run(this: *Call, json: []const u8, text: []const u8) Error![]const u8 {
                const changed = try revise_of(this, try read(Arguments, this, json), text);
                return std.json.Stringify.valueAlloc(allocator, changed, .{});
            }
        }.run;
    }

    fn read(comptime Arguments: type, this: *Call, json: []const u8) Error!Arguments {
        const options: std.json.ParseOptions = .{ .allocate = .alloc_always };
        return std.json.parseFromSliceLeaky(Arguments, allocator, json, options) catch |err|
            return this.fail(.invalid_arguments, "the arguments make no sense: {s}", .{@errorName(err)});
    }

    fn onlyReads(tool: Tool) bool {
        for (tool.needs) |need| {
            const state = std.mem.eql(u8, need.capability, "state") and std.mem.eql(u8, need.scope, "read");
            if (!state and !std.mem.eql(u8, need.capability, "fs-read")) return false;
        }
        return true;
    }
};

/// What a call would do, for the user who is asked.
pub const Confirmation = union(enum) {
    /// It runs a command.
    exec: struct { argv: []const []const u8, directory: []const u8 },
    /// It changes a file.
    edit: struct { path: []const u8, unified: []const u8, proposed: []const u8 },
    /// It does something else, such as fetching: these requests, `.{ "GET", "https://…" }` each, and these files.
    info: struct { text: []const u8, requests: []const [2][]const u8 = &.{}, writes: []const []const u8 = &.{} },
    /// It does what its name and its arguments say.
    call,

    fn write(what: Confirmation, to: *contract.host_tool_types_confirmation_t) void {
        switch (what) {
            .exec => |exec| {
                to.tag = contract.HOST_TOOL_TYPES_CONFIRMATION_EXEC;
                to.val.exec = .{ .argv = strings(exec.argv), .directory = copied(exec.directory) };
            },
            .edit => |edit| {
                to.tag = contract.HOST_TOOL_TYPES_CONFIRMATION_EDIT;
                to.val.edit = .{ .path = copied(edit.path), .unified = copied(edit.unified), .proposed = copied(edit.proposed) };
            },
            .info => |info| {
                const requests = allocate(contract.host_tool_types_http_request_t, info.requests.len);
                for (info.requests, requests) |request, *one| one.* = .{ .method = copied(request[0]), .url = copied(request[1]) };
                to.tag = contract.HOST_TOOL_TYPES_CONFIRMATION_INFO;
                to.val.info = .{
                    .text = copied(info.text),
                    .requests = .{ .ptr = requests.ptr, .len = requests.len },
                    .writes = strings(info.writes),
                };
            },
            .call => to.tag = contract.HOST_TOOL_TYPES_CONFIRMATION_CALL,
        }
    }
};

fn strings(list: []const []const u8) contract.contract_list_string_t {
    const all = allocate(contract.contract_string_t, list.len);
    for (list, all) |text, *one| one.* = copied(text);
    return .{ .ptr = all.ptr, .len = all.len };
}

/// One use of a tool, with its line to the host.
pub const Call = struct {
    failure: *contract.exports_host_tool_tool_failure_t,

    /// Ends the call with a case of the contract: `return call.fail(.not_found, "no {s}", .{name})`.
    pub fn fail(call: *Call, kind: Kind, comptime format: []const u8, values: anytype) Error {
        const words = try std.fmt.allocPrint(allocator, format, values);
        return call.failWith(kind, string(words));
    }

    fn failWith(call: *Call, kind: Kind, words: contract.contract_string_t) Error {
        call.failure.* = .{ .tag = @intFromEnum(kind) };
        // The cases with words share one place.
        call.failure.val.failed = words;
        return error.Failed;
    }

    /// A refusal is passed on as it came.
    fn denied(call: *Call, denial: contract.host_cap_types_denial_t) Error {
        call.failure.* = .{ .tag = contract.HOST_TOOL_TYPES_FAILURE_DENIED };
        call.failure.val.denied = .{ .capability = denial.capability, .wanted = denial.wanted, .help = denial.help };
        return error.Failed;
    }

    /// The bytes of a whole file of at most 20 MiB. Needs `fs-read`.
    pub fn readFile(call: *Call, path: []const u8) Error![]u8 {
        var name = string(path);
        var whole: contract.host_cap_fs_read_whole_t = undefined;
        var err: contract.host_cap_fs_read_error_t = undefined;
        if (!contract.host_cap_fs_read_read_whole(&name, &whole, &err)) return call.fsReadFailure(err);
        return whole.data.ptr[0..whole.data.len];
    }

    /// What `fs-read` answered, as the failure of the call.
    pub fn fsReadFailure(call: *Call, err: contract.host_cap_fs_read_error_t) Error {
        return switch (err.tag) {
            contract.HOST_CAP_FS_READ_ERROR_DENIED => call.denied(err.val.denied),
            contract.HOST_CAP_FS_READ_ERROR_NOT_FOUND => call.failWith(.not_found, err.val.not_found),
            contract.HOST_CAP_FS_READ_ERROR_TOO_LARGE => call.fail(.failed, "it has {d} bytes, which is too large", .{err.val.too_large}),
            contract.HOST_CAP_FS_READ_ERROR_IO => call.failWith(.failed, err.val.io),
            else => call.failWith(.invalid_arguments, err.val.invalid),
        };
    }

    /// What `fs-write` answered, as the failure of the call.
    pub fn fsWriteFailure(call: *Call, err: contract.host_cap_fs_write_error_t) Error {
        return switch (err.tag) {
            contract.HOST_CAP_FS_WRITE_ERROR_DENIED => call.denied(err.val.denied),
            contract.HOST_CAP_FS_WRITE_ERROR_NOT_FOUND => call.failWith(.not_found, err.val.not_found),
            contract.HOST_CAP_FS_WRITE_ERROR_CHANGED => call.fail(.conflict, "what is there is not what was expected", .{}),
            contract.HOST_CAP_FS_WRITE_ERROR_EXISTS => call.failWith(.conflict, err.val.exists),
            contract.HOST_CAP_FS_WRITE_ERROR_INVALID => call.failWith(.invalid_arguments, err.val.invalid),
            contract.HOST_CAP_FS_WRITE_ERROR_TOO_LARGE => call.fail(.failed, "it has {d} bytes, which is too large", .{err.val.too_large}),
            else => call.failWith(.failed, err.val.io),
        };
    }

    /// What `process` answered, as the failure of the call.
    pub fn processFailure(call: *Call, err: contract.host_cap_process_error_t) Error {
        return switch (err.tag) {
            contract.HOST_CAP_PROCESS_ERROR_DENIED => call.denied(err.val.denied),
            contract.HOST_CAP_PROCESS_ERROR_NOT_FOUND => call.failWith(.not_found, err.val.not_found),
            contract.HOST_CAP_PROCESS_ERROR_INVALID => call.failWith(.invalid_arguments, err.val.invalid),
            else => call.failWith(.failed, err.val.io),
        };
    }

    /// What `send`, `view` and `resize` of `background` answered, as the failure of the call.
    pub fn terminalFailure(call: *Call, err: contract.host_tool_background_terminal_error_t) Error {
        return switch (err.tag) {
            contract.HOST_TOOL_BACKGROUND_TERMINAL_ERROR_NOT_FOUND => call.fail(.not_found, "there is no such program in the background", .{}),
            contract.HOST_TOOL_BACKGROUND_TERMINAL_ERROR_NO_TERMINAL => call.fail(.failed, "this program has no terminal", .{}),
            contract.HOST_TOOL_BACKGROUND_TERMINAL_ERROR_ENDED => call.fail(.conflict, "this program has ended", .{}),
            // The same words, of another interface.
            contract.HOST_TOOL_BACKGROUND_TERMINAL_ERROR_DENIED => call.denied(.{
                .capability = err.val.denied.capability,
                .wanted = err.val.denied.wanted,
                .help = err.val.denied.help,
            }),
            contract.HOST_TOOL_BACKGROUND_TERMINAL_ERROR_BUSY => call.fail(.unavailable, "this program does not read what is typed", .{}),
            else => call.failWith(.invalid_arguments, err.val.invalid),
        };
    }

    /// What `http` answered, as the failure of the call.
    pub fn httpFailure(call: *Call, err: contract.host_cap_http_error_t) Error {
        return switch (err.tag) {
            contract.HOST_CAP_HTTP_ERROR_DENIED => call.denied(err.val.denied),
            contract.HOST_CAP_HTTP_ERROR_REDIRECT_DENIED => call.denied(err.val.redirect_denied),
            contract.HOST_CAP_HTTP_ERROR_INVALID => call.failWith(.invalid_arguments, err.val.invalid),
            contract.HOST_CAP_HTTP_ERROR_TIMED_OUT => call.fail(.unavailable, "the time limit passed", .{}),
            else => call.failWith(.unavailable, err.val.unavailable),
        };
    }

    /// What `state` answered, as the failure of the call.
    pub fn stateFailure(call: *Call, err: contract.host_cap_state_error_t) Error {
        return switch (err.tag) {
            contract.HOST_CAP_STATE_ERROR_DENIED => call.denied(err.val.denied),
            contract.HOST_CAP_STATE_ERROR_CHANGED => call.fail(.conflict, "what is kept is not what was expected", .{}),
            contract.HOST_CAP_STATE_ERROR_INVALID => call.failWith(.invalid_arguments, err.val.invalid),
            contract.HOST_CAP_STATE_ERROR_FULL => call.failWith(.failed, err.val.full),
            else => call.failWith(.failed, err.val.io),
        };
    }

    /// What `mcp` answered, as the failure of the call.
    pub fn mcpFailure(call: *Call, err: contract.host_cap_mcp_error_t) Error {
        return switch (err.tag) {
            contract.HOST_CAP_MCP_ERROR_DENIED => call.denied(err.val.denied),
            contract.HOST_CAP_MCP_ERROR_NOT_FOUND => call.failWith(.not_found, err.val.not_found),
            contract.HOST_CAP_MCP_ERROR_INVALID => call.failWith(.invalid_arguments, err.val.invalid),
            contract.HOST_CAP_MCP_ERROR_UNAVAILABLE => call.failWith(.unavailable, err.val.unavailable),
            contract.HOST_CAP_MCP_ERROR_CANCELLED => call.fail(.cancelled, "", .{}),
            else => call.failWith(.failed, err.val.failed),
        };
    }

    /// What `tools` answered, as the failure of the call.
    pub fn toolsFailure(call: *Call, err: contract.host_cap_tools_error_t) Error {
        return switch (err.tag) {
            contract.HOST_CAP_TOOLS_ERROR_DENIED => call.denied(err.val.denied),
            contract.HOST_CAP_TOOLS_ERROR_NOT_FOUND => call.failWith(.not_found, err.val.not_found),
            contract.HOST_CAP_TOOLS_ERROR_INVALID => call.failWith(.invalid_arguments, err.val.invalid),
            contract.HOST_CAP_TOOLS_ERROR_REFUSED => call.failWith(.failed, err.val.refused),
            contract.HOST_CAP_TOOLS_ERROR_UNAVAILABLE => call.failWith(.unavailable, err.val.unavailable),
            contract.HOST_CAP_TOOLS_ERROR_CANCELLED => call.fail(.cancelled, "", .{}),
            else => call.failWith(.failed, err.val.failed),
        };
    }

    /// Live output for the user; no part of the outcome.
    pub fn emit(_: *Call, comptime format: []const u8, values: anytype) error{OutOfMemory}!void {
        var text = string(try std.fmt.allocPrint(allocator, format, values));
        contract.host_tool_context_emit(&text);
    }

    /// How far the call is, in a unit that `message` names.
    pub fn progress(_: *Call, done: u64, total: ?u64, message: []const u8) void {
        var of = total orelse 0;
        var words = string(message);
        contract.host_tool_context_progress(done, if (total == null) null else &of, &words);
    }

    /// Whether the call has been told to stop.
    pub fn shouldStop(_: *Call) bool {
        return contract.host_tool_context_should_stop();
    }
};

/// A value of the plugin's own configuration, as JSON text; null when it was not set.
pub fn config(key: []const u8) ?[]const u8 {
    var name = string(key);
    var value: contract.contract_string_t = undefined;
    return if (contract.host_tool_context_config(&name, &value)) value.ptr[0..value.len] else null;
}

/// Writes a line to the host's log.
pub fn log(level: enum(u8) { trace, debug, info, warn, err }, comptime format: []const u8, values: anytype) void {
    var buffer: [1024]u8 = undefined;
    var line = string(std.fmt.bufPrint(&buffer, format, values) catch buffer[0..]);
    contract.host_tool_context_log(@intFromEnum(level), &line);
}

/// For `pub const panic` at the root: a host that sees a trap takes the line before it, marked like this, for the
/// reason.
pub const panic = std.debug.FullPanic(struct {
    fn say(message: []const u8, _: ?usize) noreturn {
        log(.err, "panic: {s}", .{message});
        @trap();
    }
}.say);

/// Makes the root file a plugin that offers these tools. Use it once, in a `comptime` block.
pub fn exportPlugin(comptime tools: []const Tool) void {
    const exported = Exported(tools);
    @export(&exported.describe, .{ .name = "exports_host_tool_tool_describe" });
    @export(&exported.preview, .{ .name = "exports_host_tool_tool_preview" });
    @export(&exported.revise, .{ .name = "exports_host_tool_tool_revise" });
    @export(&exported.call, .{ .name = "exports_host_tool_tool_call" });
}

fn string(text: []const u8) contract.contract_string_t {
    return .{ .ptr = @constCast(text.ptr), .len = text.len };
}

/// A copy that the binding may free.
fn copied(text: []const u8) contract.contract_string_t {
    return string(allocator.dupe(u8, text) catch @panic("out of memory"));
}

fn optional(text: ?[]const u8) contract.contract_option_string_t {
    return .{ .is_some = text != null, .val = copied(text orelse "") };
}

fn allocate(comptime T: type, count: usize) []T {
    // An empty list of Zig's begins nowhere, and the host takes only what lies in memory.
    const room = allocator.alloc(T, @max(count, 1)) catch @panic("out of memory");
    return room[0..count];
}

fn Exported(comptime tools: []const Tool) type {
    return struct {
        fn describe(all: *contract.exports_host_tool_tool_list_tool_def_t) callconv(.c) void {
            const list = allocate(contract.exports_host_tool_tool_tool_def_t, tools.len);
            for (tools, list) |tool, *definition| {
                const needs = allocate(contract.host_tool_types_capability_need_t, tool.needs.len);
                for (tool.needs, needs) |need, *one| one.* = .{
                    .name = copied(need.capability),
                    .scope = copied(need.scope),
                    .reason = copied(need.reason),
                };
                definition.* = .{
                    .name = copied(tool.name),
                    .title = optional(tool.title),
                    .description = copied(tool.description),
                    .input_schema = copied(tool.input_schema),
                    .output_schema = optional(tool.output_schema),
                    .annotations = .{
                        .read_only = tool.annotations.read_only,
                        .destructive = tool.annotations.destructive,
                        .idempotent = tool.annotations.idempotent,
                        .open_world = tool.annotations.open_world,
                    },
                    .capabilities = .{ .ptr = needs.ptr, .len = needs.len },
                };
            }
            all.* = .{ .ptr = list.ptr, .len = list.len };
        }

        fn failed(err: Error) bool {
            return switch (err) {
                error.Failed => false,
                error.OutOfMemory => @panic("out of memory"),
            };
        }

        fn find(this: *contract.exports_host_tool_tool_tool_call_t, failure: *contract.exports_host_tool_tool_failure_t) ?Tool {
            const name = this.tool.ptr[0..this.tool.len];
            for (tools) |tool| if (std.mem.eql(u8, tool.name, name)) return tool;
            var failing: Call = .{ .failure = failure };
            failing.fail(.invalid_arguments, "this plugin has no tool `{s}`", .{name}) catch {};
            return null;
        }

        fn preview(
            this: *contract.exports_host_tool_tool_tool_call_t,
            answer: *contract.exports_host_tool_tool_option_confirmation_t,
            failure: *contract.exports_host_tool_tool_failure_t,
        ) callconv(.c) bool {
            const tool = find(this, failure) orelse return false;
            const of_tool = tool.preview orelse {
                answer.* = .{ .is_some = !tool.onlyReads() };
                answer.val.tag = contract.HOST_TOOL_TYPES_CONFIRMATION_CALL;
                return true;
            };
            var previewed: Call = .{ .failure = failure };
            const what = of_tool(&previewed, this.arguments.ptr[0..this.arguments.len]) catch |err| return failed(err);
            answer.* = .{ .is_some = what != null };
            if (what) |confirmation| confirmation.write(&answer.val);
            return true;
        }

        fn revise(
            this: *contract.exports_host_tool_tool_tool_call_t,
            text: *contract.contract_string_t,
            answer: *contract.contract_string_t,
            failure: *contract.exports_host_tool_tool_failure_t,
        ) callconv(.c) bool {
            const tool = find(this, failure) orelse return false;
            var failing: Call = .{ .failure = failure };
            if (tool.revise) |of_tool| {
                const arguments = this.arguments.ptr[0..this.arguments.len];
                const changed = of_tool(&failing, arguments, text.ptr[0..text.len]) catch |err| return failed(err);
                answer.* = copied(changed);
                return true;
            }
            const name = this.tool.ptr[0..this.tool.len];
            failing.fail(.invalid_arguments, "a call of `{s}` can be allowed or refused, not changed", .{name}) catch {};
            return false;
        }

        fn call(
            this: *contract.exports_host_tool_tool_tool_call_t,
            answer: *contract.exports_host_tool_tool_outcome_t,
            failure: *contract.exports_host_tool_tool_failure_t,
        ) callconv(.c) bool {
            const tool = find(this, failure) orelse return false;
            var running: Call = .{ .failure = failure };
            const outcome = tool.run(&running, this.arguments.ptr[0..this.arguments.len]) catch |err| return failed(err);
            const content = allocate(contract.host_tool_types_content_t, 1);
            content[0] = .{ .tag = contract.HOST_TOOL_TYPES_CONTENT_TEXT };
            content[0].val.text = copied(outcome.text);
            answer.* = .{
                .content = .{ .ptr = content.ptr, .len = 1 },
                .structured = optional(outcome.structured),
            };
            if (outcome.summary) |line| {
                answer.display.is_some = true;
                answer.display.val.tag = contract.HOST_TOOL_TYPES_DISPLAY_SUMMARY;
                answer.display.val.val.summary = copied(line);
            }
            return true;
        }
    };
}
