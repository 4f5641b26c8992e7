//! A safety checker: a hook for `host` that sees each call, denies what destroys and asks about secrets.

const std = @import("std");
const c = @import("contract");

/// What no call is to contain.
const destroys = [_][]const u8{ "rm -rf", "mkfs", "dd if=", ":(){", "git push --force", "> /dev/sd" };

/// What a user is to be asked about.
const secrets = [_][]const u8{ ".env", "id_rsa", "credentials" };

/// Returns the first of these words that a text contains.
fn found(text: []const u8, words: []const []const u8) ?[]const u8 {
    for (words) |word| {
        if (std.mem.indexOf(u8, text, word) != null) return word;
    }
    return null;
}

/// Decides, with a reason that names the word.
fn decide(answer: *c.exports_host_hook_handler_answer_t, decision: u8, word: []const u8, why: []const u8) void {
    const reason = std.fmt.allocPrint(std.heap.c_allocator, "`{s}` {s}", .{ word, why }) catch return;
    answer.decision = .{ .is_some = true, .val = decision };
    answer.reason = .{ .ptr = reason.ptr, .len = reason.len };
}

export fn exports_host_hook_handler_handle(
    event: *c.exports_host_hook_handler_event_t,
    answer: *c.exports_host_hook_handler_answer_t,
    _: *c.contract_string_t,
) bool {
    answer.* = std.mem.zeroes(c.exports_host_hook_handler_answer_t);
    if (event.moment != c.HOST_HOOK_TYPES_MOMENT_PRE_TOOL_USE or !event.call.is_some) return true;
    const arguments = event.call.val.arguments;
    const text = arguments.ptr[0..arguments.len];
    if (found(text, &destroys)) |word| {
        decide(answer, c.HOST_HOOK_TYPES_DECISION_DENY, word, "destroys what cannot be restored");
    } else if (found(text, &secrets)) |word| {
        decide(answer, c.HOST_HOOK_TYPES_DECISION_ASK, word, "may hold secrets");
    }
    return true;
}
