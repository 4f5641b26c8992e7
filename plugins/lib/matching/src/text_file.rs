//! A file as the text that a model knows, and the way back.
//!
//! A model is shown neither carriage returns nor a byte order mark, so it cannot give them back. They are taken off
//! here and put on again: line by line, since a file may mix its endings.

use crate::pieces::Text;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A text file, with what was taken off it.
pub struct TextFile {
    /// The text with `\n` alone as line ending.
    text: String,
    byte_order_mark: bool,
    /// For each line that has an ending, whether it was `\r\n`.
    crlf: Vec<bool>,
}

impl TextFile {
    /// `None` if the bytes are not UTF-8, or hold a NUL, which no text does.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
        let (byte_order_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let crlf =
            text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(|line| line.ends_with("\r\n")).collect();
        Some(Self { text: text.replace("\r\n", "\n"), byte_order_mark, crlf })
    }

    /// The text with `\n` alone as the end of lines, and without a byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The content of the file after an edit: each line that stayed has the ending that it had, new lines have the
    /// one that most lines have.
    pub fn restore(&self, edited: &Text) -> String {
        let mostly_crlf = self.crlf.iter().filter(|&&crlf| crlf).count() * 2 > self.crlf.len();
        let mut content = String::with_capacity(edited.pieces.iter().map(|piece| piece.text.len()).sum::<usize>() + 16);
        if self.byte_order_mark {
            content.push_str(BYTE_ORDER_MARK);
        }
        for piece in &edited.pieces {
            // The number of line breaks before a kept piece in the old text is the number of its first line.
            let mut line = piece.kept_from;
            for c in piece.text.chars() {
                if c == '\n' {
                    let crlf = match &mut line {
                        Some(line) => {
                            let crlf = self.crlf.get(*line).copied().unwrap_or(mostly_crlf);
                            *line += 1;
                            crlf
                        }
                        None => mostly_crlf,
                    };
                    if crlf {
                        content.push('\r');
                    }
                }
                content.push(c);
            }
        }
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{find, replace_at};

    fn check(content: &str, old: &str, new: &str, expected: &str) {
        let file = TextFile::new(content.as_bytes()).expect("text");
        let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
        let found = find(file.text(), &old, &new).expect("it is there");
        let places = found.places.iter().map(|place| found.replacement(file.text(), place.clone()));
        assert_eq!(file.restore(&replace_at(file.text(), places)), expected, "{content:?}");
    }

    #[test]
    fn line_endings_are_kept() {
        check("a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n");
        check("a\r\nb\r\nc\r\n", "a\nb\n", "x\n", "x\r\nc\r\n");
        check("a\nb\nc\n", "b\r\nc", "x\r\ny", "a\nx\ny\n");
        check("a\nb\r\nc\nd\n", "c\n", "x\n", "a\nb\r\nx\nd\n");
        check("a\r\nb\r\nc\nd\n", "c", "x", "a\r\nb\r\nx\nd\n");
        check("lone\rreturn\n", "return", "x", "lone\rx\n");
    }

    #[test]
    fn the_byte_order_mark_is_kept() {
        check("\u{feff}a\nb\n", "a\n", "x\n", "\u{feff}x\nb\n");
    }

    #[test]
    fn edit_file_that_is_not_text_is_not_edited() {
        assert!(TextFile::new(b"a\xff").is_none());
        assert!(TextFile::new(b"a\0b").is_none());
    }
}
