//! Some lines out of a file that is read piece by piece.

use std::borrow::Cow;

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
    pub fn feed(&mut self, mut bytes: &[u8]) {
        let skipped = self.first - 1;
        let end = skipped.saturating_add(self.limit);
        while !bytes.is_empty() {
            let (line, rest) = match bytes.iter().position(|&b| b == b'\n') {
                // Before and after the window only the number of line breaks matters.
                _ if self.full || self.breaks >= end => (bytes, &[][..]),
                Some(at) => bytes.split_at(at + 1),
                None => (bytes, &[][..]),
            };
            if self.breaks >= skipped && self.breaks < end && !self.full {
                self.keep(line);
            }
            self.breaks += line.iter().filter(|&&b| b == b'\n').count() as u64;
            self.open_line = line.last() != Some(&b'\n');
            bytes = rest;
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        if self.kept.len() + piece.len() > MAX_WINDOW_BYTES {
            self.full = true;
            match self.kept.iter().rposition(|&b| b == b'\n') {
                // The line did not fit, and its first piece goes too: what is shown are whole lines.
                Some(last) => self.kept.truncate(last + 1),
                // A line that alone is too long is kept in part; it is cut far earlier anyway.
                None => self.kept.extend_from_slice(piece.get(..MAX_WINDOW_BYTES - self.kept.len()).unwrap_or(piece)),
            }
        } else {
            self.kept.extend_from_slice(piece);
        }
    }

    /// What there is to show, once the whole file was fed.
    pub fn finish(self) -> Shown {
        let total = self.breaks + u64::from(self.open_line);
        let decoded = String::from_utf8_lossy(&self.kept);
        let lossy = matches!(decoded, Cow::Owned(_));
        let decoded = match self.first {
            1 => decoded.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&decoded),
            _ => &decoded,
        };
        let mut shown = Shown {
            text: String::with_capacity(decoded.len()),
            first: self.first,
            count: 0,
            total,
            lossy,
            crlf: false,
        };
        for line in lines(decoded) {
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
    fn a_window_has_an_end_however_long_the_lines_are() {
        let file = [b"y".repeat(999), b"\n".to_vec()].concat().repeat(4_000);
        let shown_lines = shown(&file, 1, 100_000, 64 * 1024);
        assert_eq!(shown_lines.total, 4_000);
        assert_eq!(shown_lines.count, MAX_WINDOW_BYTES as u64 / 1_000);
        let one_line = shown(&b"z".repeat(3 * MAX_WINDOW_BYTES), 1, 10, 64 * 1024);
        assert_eq!((one_line.count, one_line.total), (1, 1));
    }
}
