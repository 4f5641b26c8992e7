const std = @import("std");
const host = @import("host.zig");
const contract = host.contract;

const Note = struct { path: []const u8, text: []const u8 };
const Run = struct { argv: []const []const u8 };
const Talk = struct { argv: []const []const u8, key: []const u8 };
const Patch = struct { path: []const u8 };
const Fetch = struct { url: []const u8 };
const Keep = struct { key: []const u8 };
const Ask = struct { tool: []const u8 };

fn string(text: []const u8) contract.contract_string_t {
    return .{ .ptr = @constCast(text.ptr), .len = text.len };
}

fn notePreview(_: *host.Call, values: Note) host.Error!?host.Confirmation {
    const unified = try std.fmt.allocPrint(host.allocator, "+{s}", .{values.text});
    return .{ .edit = .{ .path = values.path, .unified = unified, .proposed = values.text } };
}

fn noteRevise(_: *host.Call, values: Note, text: []const u8) host.Error!Note {
    return .{ .path = values.path, .text = text };
}

fn note(call: *host.Call, values: Note) host.Error!host.Outcome {
    var path = string(values.path);
    var content: contract.contract_list_u8_t = .{ .ptr = @constCast(values.text.ptr), .len = values.text.len };
    var expected: contract.host_cap_fs_write_expected_t = .{ .tag = contract.HOST_CAP_FS_WRITE_EXPECTED_ABSENT };
    var written: contract.host_cap_fs_write_written_t = undefined;
    var err: contract.host_cap_fs_write_error_t = undefined;
    if (!contract.host_cap_fs_write_write(&path, &content, &expected, &written, &err)) return call.fsWriteFailure(err);
    return .{ .text = "noted" };
}

fn runPreview(_: *host.Call, values: Run) host.Error!?host.Confirmation {
    return .{ .exec = .{ .argv = values.argv, .directory = "." } };
}

fn run(call: *host.Call, values: Run) host.Error!host.Outcome {
    const argv = try host.allocator.alloc(contract.contract_string_t, values.argv.len);
    for (values.argv, argv) |word, *one| one.* = string(word);
    const input: []const u8 = "from stdin";
    var command = std.mem.zeroes(contract.host_cap_process_command_t);
    command.argv = .{ .ptr = argv.ptr, .len = argv.len };
    command.directory = string(".");
    command.stdin_ = .{ .is_some = true, .val = .{ .ptr = @constCast(input.ptr), .len = input.len } };
    var child: contract.host_cap_process_own_child_t = undefined;
    var err: contract.host_cap_process_error_t = undefined;
    if (!contract.host_cap_process_spawn(&command, &child, &err)) return call.processFailure(err);
    var printed: std.ArrayList(u8) = .empty;
    var chunk: contract.host_cap_process_chunk_t = undefined;
    while (contract.host_cap_process_method_child_read(contract.host_cap_process_borrow_child(child), &chunk))
        try printed.appendSlice(host.allocator, chunk.data.ptr[0..chunk.data.len]);
    var ended: contract.host_cap_process_exit_t = undefined;
    contract.host_cap_process_method_child_wait(contract.host_cap_process_borrow_child(child), &ended);
    contract.host_cap_process_child_drop_own(child);
    return .{ .text = try std.fmt.allocPrint(host.allocator, "{s}, {d}", .{ printed.items, ended.code.val }) };
}

fn talkPreview(_: *host.Call, values: Talk) host.Error!?host.Confirmation {
    contract.host_tool_background_announce_terminal();
    return .{ .exec = .{ .argv = values.argv, .directory = "." } };
}

fn talk(call: *host.Call, values: Talk) host.Error!host.Outcome {
    const argv = try host.allocator.alloc(contract.contract_string_t, values.argv.len);
    for (values.argv, argv) |word, *one| one.* = string(word);
    var command = std.mem.zeroes(contract.host_cap_process_command_t);
    command.argv = .{ .ptr = argv.ptr, .len = argv.len };
    command.directory = string(".");
    var size: contract.host_cap_process_terminal_size_t = .{ .columns = 40, .rows = 10 };
    var id: contract.contract_string_t = undefined;
    var refused: contract.host_cap_process_error_t = undefined;
    if (!contract.host_cap_process_spawn_terminal(&command, &size, &id, &refused)) return call.processFailure(refused);
    var typed = [_]contract.host_tool_background_input_t{
        .{ .tag = contract.HOST_TOOL_BACKGROUND_INPUT_TEXT, .val = .{ .text = string("typed") } },
        .{ .tag = contract.HOST_TOOL_BACKGROUND_INPUT_KEY, .val = .{ .key = string(values.key) } },
    };
    var input: contract.host_tool_background_list_input_t = .{ .ptr = &typed, .len = typed.len };
    var err: contract.host_tool_background_terminal_error_t = undefined;
    var screen: contract.host_tool_background_screen_t = undefined;
    if (!contract.host_tool_background_send(&id, &input, &err)) return call.terminalFailure(err);
    if (!contract.host_tool_background_view(&id, 300, 10000, &screen, &err)) return call.terminalFailure(err);
    const shown = screen.text.ptr[0..screen.text.len];
    return .{ .text = try std.fmt.allocPrint(host.allocator, "{s}{d}", .{ shown, screen.columns }) };
}

fn patchPreview(_: *host.Call, values: Patch) host.Error!?host.Confirmation {
    var made: contract.host_tool_file_changes_file_difference_t = .{
        .path = string(values.path),
        .unified = string("+new"),
        .proposed = string("new"),
    };
    var gone = string("old.txt");
    contract.host_tool_file_changes_write(&made);
    contract.host_tool_file_changes_remove(&gone);
    return .call;
}

fn patch(_: *host.Call, _: Patch) host.Error!host.Outcome {
    return .{ .text = "patched" };
}

fn fetchPreview(_: *host.Call, values: Fetch) host.Error!?host.Confirmation {
    const requests = try host.allocator.alloc([2][]const u8, 1);
    requests[0] = .{ "GET", values.url };
    return .{ .info = .{ .text = "fetches", .requests = requests } };
}

fn fetch(call: *host.Call, values: Fetch) host.Error!host.Outcome {
    var who: contract.contract_tuple2_string_string_t = .{ .f0 = string("x-who"), .f1 = string("me") };
    var request = std.mem.zeroes(contract.host_cap_http_request_t);
    request.method = string("GET");
    request.url = string(values.url);
    request.headers = .{ .ptr = &who, .len = 1 };
    request.size_limit = 1000;
    var token = string("token");
    var secrets: contract.contract_list_string_t = .{ .ptr = &token, .len = 1 };
    var answer: contract.host_cap_http_response_t = undefined;
    var err: contract.host_cap_http_error_t = undefined;
    if (!contract.host_cap_http_fetch_with_secrets(&request, &secrets, &answer, &err)) return call.httpFailure(err);
    const body = answer.body.ptr[0..answer.body.len];
    return .{ .text = try std.fmt.allocPrint(host.allocator, "{d} {s}", .{ answer.status, body }) };
}

fn keep(call: *host.Call, values: Keep) host.Error!host.Outcome {
    var key = string(values.key);
    const text: []const u8 = "kept";
    var value: contract.contract_list_u8_t = .{ .ptr = @constCast(text.ptr), .len = text.len };
    var before: contract.host_cap_state_option_item_t = undefined;
    var expected: contract.host_cap_state_expected_t = .{ .tag = contract.HOST_CAP_STATE_EXPECTED_ANYTHING };
    var version: contract.contract_string_t = undefined;
    var err: contract.host_cap_state_error_t = undefined;
    if (!contract.host_cap_state_get(&key, &before, &err)) return call.stateFailure(err);
    if (!contract.host_cap_state_put(&key, &value, &expected, &version, &err)) return call.stateFailure(err);
    const was = if (before.is_some) before.val.value.ptr[0..before.val.value.len] else "nothing";
    const says = if (host.config("greeting")) |json| std.mem.trim(u8, json, "\"") else "no greeting";
    return .{ .text = try std.fmt.allocPrint(host.allocator, "{s}, {s}", .{ was, says }) };
}

fn ask(call: *host.Call, values: Ask) host.Error!host.Outcome {
    var server = string("files");
    var name = string(values.tool);
    var given = string("{\"a\":1}");
    var answer: contract.host_cap_mcp_answer_t = undefined;
    var err: contract.host_cap_mcp_error_t = undefined;
    if (!contract.host_cap_mcp_call(&server, &name, &given, &answer, &err)) return call.mcpFailure(err);
    if (answer.content.len == 0) return .{ .text = "nothing" };
    const said = answer.content.ptr[0].val.text;
    return .{ .text = said.ptr[0..said.len] };
}

fn tool(comptime name: []const u8, comptime capability: []const u8, comptime scope: []const u8, of: host.Tool) host.Tool {
    var made = of;
    made.name = name;
    made.needs = &.{.{ .capability = capability, .scope = scope, .reason = "to try it" }};
    return made;
}

fn any(function: anytype) host.Tool {
    return .{ .name = "", .description = "Tries.", .input_schema = "{\"type\": \"object\"}", .run = function };
}

pub const panic = host.panic;

comptime {
    var noting = any(host.Tool.function(Note, note));
    noting.preview = host.Tool.previewing(Note, notePreview);
    noting.revise = host.Tool.revising(Note, noteRevise);
    var running = any(host.Tool.function(Run, run));
    running.preview = host.Tool.previewing(Run, runPreview);
    var talking = any(host.Tool.function(Talk, talk));
    talking.preview = host.Tool.previewing(Talk, talkPreview);
    var patching = any(host.Tool.function(Patch, patch));
    patching.preview = host.Tool.previewing(Patch, patchPreview);
    var fetching = any(host.Tool.function(Fetch, fetch));
    fetching.preview = host.Tool.previewing(Fetch, fetchPreview);
    host.exportPlugin(&.{
        tool("note", "fs-write", "*", noting),
        tool("run", "process", "*", running),
        tool("talk", "process", "*", talking),
        tool("patch", "fs-write", "*", patching),
        tool("fetch", "http", "*", fetching),
        tool("keep", "state", "write", any(host.Tool.function(Keep, keep))),
        tool("ask", "mcp", "*", any(host.Tool.function(Ask, ask))),
    });
}
