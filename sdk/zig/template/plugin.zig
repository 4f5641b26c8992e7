//! The tool `word_count`: how many lines, words and bytes a text file has, and its most frequent words.

const std = @import("std");
const host = @import("host.zig");

pub const panic = host.panic;

comptime {
    host.exportPlugin(&.{word_count});
}

const word_count: host.Tool = .{
    .name = "word_count",
    .title = "Count words",
    .description = "Counts the lines, words and bytes of a UTF-8 text file, and lists its most frequent words.",
    .input_schema =
    \\{"type":"object","properties":{
    \\"path":{"type":"string","description":"The text file, relative to the workspace or absolute."},
    \\"top":{"type":"integer","minimum":0,"description":"How many of the most frequent words to list; 10 if left out."}
    \\},"required":["path"],"additionalProperties":false}
    ,
    .output_schema =
    \\{"type":"object","properties":{
    \\"lines":{"type":"integer"},"words":{"type":"integer"},"bytes":{"type":"integer"},
    \\"top":{"type":"array","items":{"type":"object","properties":{
    \\"word":{"type":"string"},"count":{"type":"integer"}},"required":["word","count"]}}
    \\},"required":["lines","words","bytes","top"]}
    ,
    .annotations = .reads,
    .needs = &.{.{
        .capability = "fs-read",
        .scope = "*",
        .reason = "count the words of the file that the model names",
    }},
    .run = host.Tool.function(Arguments, count),
};

const Arguments = struct { path: []const u8, top: u32 = 10 };

const Word = struct {
    word: []const u8,
    count: usize,

    fn before(_: void, one: Word, other: Word) bool {
        if (one.count != other.count) return one.count > other.count;
        return std.mem.lessThan(u8, one.word, other.word);
    }
};

fn count(call: *host.Call, arguments: Arguments) host.Error!host.Outcome {
    const file = try call.readFile(arguments.path);
    if (!std.unicode.utf8ValidateSlice(file)) {
        return call.fail(.invalid_arguments, "`{s}` is not UTF-8 text", .{arguments.path});
    }
    var lines = std.mem.count(u8, file, "\n");
    if (file.len > 0 and file[file.len - 1] != '\n') lines += 1;

    var words: usize = 0;
    var counts: std.StringHashMapUnmanaged(usize) = .empty;
    var i: usize = 0;
    while (i < file.len) : (i += 1) {
        const start = i;
        while (i < file.len and std.ascii.isAlphabetic(file[i])) : (i += 1) file[i] = std.ascii.toLower(file[i]);
        if (i == start) continue;
        words += 1;
        const entry = try counts.getOrPutValue(host.allocator, file[start..i], 0);
        entry.value_ptr.* += 1;
    }

    var all = try host.allocator.alloc(Word, counts.count());
    var entries = counts.iterator();
    for (all) |*word| {
        const entry = entries.next().?;
        word.* = .{ .word = entry.key_ptr.*, .count = entry.value_ptr.* };
    }
    std.mem.sort(Word, all, {}, Word.before);
    const top = all[0..@min(all.len, arguments.top)];

    var text: std.Io.Writer.Allocating = .init(host.allocator);
    const out = &text.writer;
    out.print("{d} lines, {d} words, {d} bytes", .{ lines, words, file.len }) catch return error.OutOfMemory;
    for (top) |word| out.print("\n{d} {s}", .{ word.count, word.word }) catch return error.OutOfMemory;
    const found = .{ .lines = lines, .words = words, .bytes = file.len, .top = top };
    return .{ .text = text.written(), .structured = try std.json.Stringify.valueAlloc(host.allocator, found, .{}) };
}
