//! Lines, and long lines cut.

use std::borrow::Cow;

/// How many characters of one line a model is shown, so that a minified file does not fill its window.
pub const MAX_LINE_CHARACTERS: usize = 2_000;

/// One line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'t> {
    /// The line without its ending.
    pub text: &'t str,
    /// Its ending: `\n`, `\r\n`, or nothing on a last line without one.
    pub ending: &'t str,
}

/// The lines of a text. An empty text has none; text after the last line break is a line of its own.
pub fn lines(text: &str) -> impl DoubleEndedIterator<Item = Line<'_>> {
    text.split_inclusive('\n').map(|line| {
        let (text, ending) = match line.strip_suffix('\n') {
            Some(rest) => (rest.strip_suffix('\r').unwrap_or(rest), line),
            None => (line, ""),
        };
        let ending = ending.get(text.len()..).unwrap_or("");
        Line { text, ending }
    })
}

/// The line, cut after `limit` characters with a note that it was.
pub fn cut_line(line: &str, limit: usize) -> Cow<'_, str> {
    // A character has at least one byte, so a line with few bytes needs no counting.
    if line.len() <= limit {
        return Cow::Borrowed(line);
    }
    match line.char_indices().nth(limit) {
        None => Cow::Borrowed(line),
        Some((at, _)) => Cow::Owned(format!("{}… [line cut after {limit} characters]", line.split_at(at).0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_endings() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found: Vec<_> = lines(text).map(|line| (line.text, line.ending)).collect();
            assert_eq!(found, expected, "{text:?}");
        };
        check("", &[]);
        check("a", &[("a", "")]);
        check("a\n", &[("a", "\n")]);
        check("a\r\nb\n\nc\r", &[("a", "\r\n"), ("b", "\n"), ("", "\n"), ("c\r", "")]);
        check("\r\n", &[("", "\r\n")]);
    }

    #[test]
    fn lines_long_line_is_cut_between_characters_and_marked() {
        let check = |line: &str, limit, expected: &str| assert_eq!(cut_line(line, limit), expected);
        check("", 0, "");
        check("abc", 3, "abc");
        check("äöü", 3, "äöü");
        check("äöü", 2, "äö… [line cut after 2 characters]");
        check("abcdef", 2, "ab… [line cut after 2 characters]");
    }
}
