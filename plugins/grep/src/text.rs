//! Words and lines that all kinds of output share.

use std::fmt::Write;
use std::ops::Range;

use host_sdk::fs_read::WalkSummary;

/// How many characters of a line are shown: minified code has lines that would fill a model's window.
const MAX_LINE_CHARACTERS: usize = 500;

/// How many bytes before a match are shown of a line that is cut.
const LEAD: usize = 100;

/// `1 match`, `2 matches`.
pub(crate) fn plural(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// Adds a line for each reason for which files were not searched.
pub(crate) fn left_out(text: &mut String, summary: &WalkSummary) {
    for (count, why) in [
        (summary.too_large, "over 20 MiB, not searched"),
        (summary.unreadable, "could not be read"),
        (summary.denied, "left out by the grant"),
    ] {
        if count > 0 {
            _ = writeln!(text, "({}: {why})", plural(count, "file", "files"));
        }
    }
}

/// A line as it is shown: without its ending, and cut around the match when it is long.
pub(crate) fn shown(line: &[u8], find: impl FnOnce(&[u8]) -> Option<Range<usize>>) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= MAX_LINE_CHARACTERS {
        return String::from_utf8_lossy(line).into_owned();
    }
    let found = find(line).map_or(0, |found| found.start);
    let mut from = if found + LEAD < MAX_LINE_CHARACTERS { 0 } else { found - LEAD };
    // Not into the middle of a character.
    while from > 0 && line.get(from).is_some_and(|byte| byte & 0xc0 == 0x80) {
        from -= 1;
    }
    let rest = line.get(from..).unwrap_or(line);
    // No character has more than four bytes.
    let rest = rest.get(..MAX_LINE_CHARACTERS * 4).unwrap_or(rest);
    let decoded = String::from_utf8_lossy(rest);
    let end = decoded.char_indices().nth(MAX_LINE_CHARACTERS).map_or(decoded.len(), |(at, _)| at);
    let mut text = String::with_capacity(end + 32);
    if from > 0 {
        text.push('…');
    }
    text.push_str(decoded.get(..end).unwrap_or(&decoded));
    if end < decoded.len() || from + rest.len() < line.len() {
        text.push_str("… [line cut]");
    } else if from > 0 {
        text.push_str(" [line cut]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let find = |bytes: &[u8]| {
            let at = bytes.iter().position(|&b| b == b'!')?;
            Some(at..at + 1)
        };
        assert_eq!(shown(line.as_bytes(), find), expected);
    }

    #[test]
    fn a_short_line_is_shown_without_its_ending() {
        check("a!\r\n", "a!");
        check("", "");
        check(&"é".repeat(250), &"é".repeat(250));
    }

    #[test]
    fn grep_long_line_is_cut_around_the_match_and_marked() {
        let a = |count| "a".repeat(count);
        check(&format!("!{}", a(600)), &format!("!{}… [line cut]", a(499)));
        check(&format!("{}!{}\n", a(600), a(600)), &format!("…{}!{}… [line cut]", a(100), a(399)));
        check(&format!("{}!\n", a(600)), &format!("…{}! [line cut]", a(100)));
        check(&"é".repeat(400), &"é".repeat(400));
        check(&format!("{}!", "é".repeat(600)), &format!("…{}! [line cut]", "é".repeat(50)));
    }
}
