//! How the lines of a file are put before a model, with what it must know about them in a first line.

use std::fmt::Write;

use host_sdk::Failure;
use tool_text::{Shown, printable};

/// Whether each line has its number in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    Shown,
    Hidden,
}

/// The text for a model.
///
/// # Errors
///
/// `invalid-arguments` when the file ends before the first line that was wanted.
pub(crate) fn write(path: &str, shown: Shown, numbers: Numbers) -> Result<String, Failure> {
    let path = printable(path);
    if shown.total == 0 {
        return Ok(format!("(`{path}` is empty)\n"));
    }
    if shown.first > shown.total {
        let lines = if shown.total == 1 { "1 line".to_owned() } else { format!("{} lines", shown.total) };
        return Err(Failure::InvalidArguments(format!(
            "`offset` {} is past the end: `{path}` has {lines}",
            shown.first
        )));
    }
    let mut notes = Vec::new();
    if !shown.is_whole() {
        let last = shown.first + shown.count.saturating_sub(1);
        notes.push(format!("lines {}-{last} of {}", shown.first, shown.total));
        if last < shown.total {
            notes.push(format!("to read on, pass offset: {}", last + 1));
        }
    }
    if shown.crlf {
        notes.push("lines end in CRLF".to_owned());
    }
    if shown.lossy {
        notes.push("bytes that are no UTF-8 are shown as \u{fffd}".to_owned());
    }
    let text = match numbers {
        Numbers::Shown => numbered(&shown.text, shown.first),
        Numbers::Hidden => shown.text,
    };
    Ok(if notes.is_empty() { text } else { format!("({})\n{text}", notes.join("; ")) })
}

/// The text with a number and a tab in front of each line: fewer tokens than numbers that are aligned.
fn numbered(text: &str, first: u64) -> String {
    let lines = text.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let mut numbered = String::with_capacity(text.len() + lines * 6);
    for (number, line) in (first..).zip(text.split_inclusive('\n')) {
        // Writing to a string cannot fail.
        let _ = write!(numbered, "{number}\t{line}");
    }
    numbered
}

/// The line for a user.
pub(crate) fn summary(shown: &Shown) -> String {
    match shown.is_whole() {
        true if shown.total == 1 => "1 line".to_owned(),
        true => format!("{} lines", shown.total),
        false => format!("{} of {} lines", shown.count, shown.total),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tool_text::Window;

    fn of(file: &[u8], first: u64, limit: u64) -> Result<String, Failure> {
        let mut window = Window::new(first, limit);
        window.feed(file);
        write("f", window.finish(), Numbers::Hidden)
    }

    #[test]
    fn read_file_lines_have_their_numbers_in_the_file() {
        let check = |file: &[u8], first, limit, expected: &str| {
            let mut window = Window::new(first, limit);
            window.feed(file);
            assert_eq!(write("f", window.finish(), Numbers::Shown).as_deref(), Ok(expected));
        };
        check(b"a\n\tb\n\n", 1, 10, "1\ta\n2\t\tb\n3\t\n");
        check(b"a\nb", 1, 10, "1\ta\n2\tb");
        check(b"a\nb\nc\n", 2, 1, "(lines 2-2 of 3; to read on, pass offset: 3)\n2\tb\n");
        check(b"", 1, 10, "(`f` is empty)\n");
    }

    #[test]
    fn a_whole_file_comes_as_it_is() {
        assert_eq!(of(b"a\nb", 1, 10), Ok("a\nb".to_owned()));
        assert_eq!(of(b"", 1, 10), Ok("(`f` is empty)\n".to_owned()));
    }

    #[test]
    fn read_file_part_names_its_lines_and_how_to_read_on() {
        let check = |first, limit, expected: &str| assert_eq!(of(b"a\nb\nc\n", first, limit).as_deref(), Ok(expected));
        check(1, 2, "(lines 1-2 of 3; to read on, pass offset: 3)\na\nb\n");
        check(3, 9, "(lines 3-3 of 3)\nc\n");
        let beyond = Failure::InvalidArguments("`offset` 4 is past the end: `f` has 3 lines".to_owned());
        assert_eq!(of(b"a\nb\nc\n", 4, 1), Err(beyond));
    }

    #[test]
    fn read_file_reports_what_was_changed_to_show_it() {
        assert_eq!(
            of(b"a\r\n\xff\n", 1, 9).as_deref(),
            Ok("(lines end in CRLF; bytes that are no UTF-8 are shown as \u{fffd})\na\n\u{fffd}\n")
        );
    }
}
