//! Some lines out of a file that is read piece by piece.

use memchr::{memchr, memchr_iter, memrchr};

use crate::lines::{MAX_LINE_CHARACTERS, cut_line, lines};

/// How many bytes of text a window holds: what one call may return has an end, however long its lines are.
const MAX_WINDOW_BYTES: usize = 2 * 1024 * 1024;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Keeps the wanted lines of a file, and counts the others without keeping them.
pub struct Window {
    first: u64,
    limit: u64,
    kept: Vec<u8>,
    /// Line breaks seen until now.
    breaks: u64,
    /// Whether the file's last byte so far lies in a line that has begun.
    open_line: bool,
    full: bool,
}

/// The lines that were wanted, ready to be shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// The lines, joined by `\n`, long ones cut. Ends in `\n` where the last of them does.
    pub text: String,
    /// The number of the first line of the text, from 1.
    pub first: u64,
    /// How many lines the text has.
    pub count: u64,
    /// How many lines the file has.
    pub total: u64,
    /// Whether bytes that are no UTF-8 were replaced.
    pub lossy: bool,
    /// Whether lines ended in `\r\n`, which the text does not show.
    pub crlf: bool,
}

impl Window {
    /// Wants `limit` lines from line `first` on, which counts from 1.
    pub fn new(first: u64, limit: u64) -> Self {
        Self { first: first.max(1), limit, kept: Vec::new(), breaks: 0, open_line: false, full: false }
    }

    /// Takes the next bytes of the file.
    ///
    /// Goes over them in stretches, not line by line: a file has thousands of lines, and most files lie in the window whole.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        let breaks = count_breaks(bytes);
        if !self.full {
            let skipped = self.first - 1;
            let start = after_breaks(bytes, breaks, skipped.saturating_sub(self.breaks));
            let end = after_breaks(bytes, breaks, skipped.saturating_add(self.limit).saturating_sub(self.breaks));
            self.keep(bytes.get(start..end).unwrap_or_default());
        }
        self.breaks += breaks;
        self.open_line = *last != b'\n';
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = MAX_WINDOW_BYTES - self.kept.len();
        self.full = piece.len() > room;
        self.kept.extend_from_slice(piece.get(..room).unwrap_or(piece));
        // The last line did not fit, and its first part goes too: what is shown are whole lines. A line that alone is too
        // long is kept in part; it is cut far earlier anyway.
        if self.full
            && let Some(last) = memrchr(b'\n', &self.kept)
        {
            self.kept.truncate(last + 1);
        }
    }

    /// What there is to show, once the whole file was fed.
    pub fn finish(self) -> Shown {
        let total = self.breaks + u64::from(self.open_line);
        let (decoded, lossy) = match String::from_utf8(self.kept) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        };
        let mark = if self.first == 1 && decoded.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let mut shown = Shown { text: decoded, first: self.first, count: 0, total, lossy, crlf: false };
        if mark == 0 && is_shown_as_it_is(shown.text.as_bytes()) {
            let open = !shown.text.is_empty() && !shown.text.ends_with('\n');
            shown.count = count_breaks(shown.text.as_bytes()) + u64::from(open);
            return shown;
        }
        let decoded = std::mem::take(&mut shown.text);
        shown.text.reserve(decoded.len());
        for line in lines(decoded.get(mark..).unwrap_or_default()) {
            shown.text.push_str(&cut_line(line.text, MAX_LINE_CHARACTERS));
            if !line.ending.is_empty() {
                shown.text.push('\n');
            }
            shown.crlf |= line.ending == "\r\n";
            shown.count += 1;
        }
        shown
    }
}

fn count_breaks(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Where the bytes go on behind the first `wanted` of their `breaks` line breaks; their end if they have fewer.
fn after_breaks(bytes: &[u8], breaks: u64, wanted: u64) -> usize {
    match usize::try_from(wanted) {
        Ok(0) => 0,
        Ok(wanted) if wanted as u64 <= breaks => {
            memchr_iter(b'\n', bytes).nth(wanted - 1).map_or(bytes.len(), |at| at + 1)
        }
        _ => bytes.len(),
    }
}

/// Whether no line is too long or ends in `\r\n`.
fn is_shown_as_it_is(text: &[u8]) -> bool {
    if memchr(b'\r', text).is_some() {
        return false;
    }
    // From one line break to the last that a line of the greatest length could end with. That is a break every 2,000 bytes and
    // not each of them.
    let mut rest = text;
    while let Some(longest) = rest.get(..=MAX_LINE_CHARACTERS) {
        let Some(last) = memrchr(b'\n', longest) else { return false };
        rest = rest.get(last + 1..).unwrap_or_default();
    }
    true
}

impl Shown {
    /// Whether this is all of the file.
    pub fn is_whole(&self) -> bool {
        self.first == 1 && self.count == self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(file: &[u8], first: u64, limit: u64, step: usize) -> Shown {
        let mut window = Window::new(first, limit);
        file.chunks(step).for_each(|piece| window.feed(piece));
        window.finish()
    }

    #[test]
    fn a_window_shows_its_lines_however_the_file_comes() {
        let check = |file: &str, first, limit, text: &str, count, total| {
            for step in [1, 2, 3, 100] {
                let shown = shown(file.as_bytes(), first, limit, step);
                assert_eq!((shown.text.as_str(), shown.count, shown.total), (text, count, total), "{file:?} {step}");
            }
        };
        check("", 1, 10, "", 0, 0);
        check("a\nb\nc\n", 1, 10, "a\nb\nc\n", 3, 3);
        check("a\nb\nc", 1, 10, "a\nb\nc", 3, 3);
        check("a\nb\nc", 3, 10, "c", 1, 3);
        check("a\nb\nc\nd\n", 2, 2, "b\nc\n", 2, 4);
        check("a\nb\n", 3, 2, "", 0, 2);
        check("\n\n\n", 2, 1, "\n", 1, 3);
        check("a\r\nb\r\n", 1, 1, "a\n", 1, 2);
        check("\u{feff}a\n", 1, 1, "a\n", 1, 1);
        check("äö\nü", 2, 1, "ü", 1, 2);
        check("a\nb", 1, 0, "", 0, 2);
        check("a\nb", u64::MAX, u64::MAX, "", 0, 2);
    }

    #[test]
    fn window_marks_what_cannot_be_shown_as_it_is() {
        assert!(shown(b"caf\xe9\n", 1, 9, 100).lossy);
        assert!(shown(b"a\r\n", 1, 9, 100).crlf);
        assert!(shown(b"a\nb\n", 1, 1, 100).crlf == shown(b"a\nb\n", 1, 1, 100).is_whole());
        let long = format!("{}\nb\n", "x".repeat(MAX_LINE_CHARACTERS + 5));
        assert!(shown(long.as_bytes(), 1, 9, 7).text.contains("x… [line cut after 2000 characters]\nb\n"));
    }

    #[test]
    fn window_cuts_a_line_over_the_greatest_length_wherever_it_is() {
        for (character, count, is_cut) in
            [("x", 2_000, false), ("x", 2_001, true), ("é", 2_000, false), ("é", 2_001, true)]
        {
            for (before, behind) in [("", ""), ("", "\n"), ("a\n", "\nb\n"), (&*"abc\n".repeat(600), "\nb")] {
                let file = [before, &character.repeat(count), behind].concat();
                let shown = shown(file.as_bytes(), 1, 2_000, 1_000_000);
                assert_eq!(shown.text.contains("[line cut"), is_cut, "{character} {count}");
                assert_eq!(is_cut, shown.text != file, "{character} {count}");
                assert_eq!(shown.count, shown.total);
            }
        }
    }

    #[test]
    fn a_window_has_an_end_however_long_the_lines_are() {
        let file = [b"y".repeat(999), b"\n".to_vec()].concat().repeat(4_000);
        let shown_lines = shown(&file, 1, 100_000, 64 * 1024);
        assert_eq!(shown_lines.total, 4_000);
        assert_eq!(shown_lines.count, MAX_WINDOW_BYTES as u64 / 1_000);
        let one_line = shown(&b"z".repeat(3 * MAX_WINDOW_BYTES), 1, 10, 64 * 1024);
        assert_eq!((one_line.count, one_line.total), (1, 1));
    }
}
