//! Escapes text from outside for a message, and cuts it to a limit.

use host_text::{Newlines, escape};

/// The most characters of a text from outside in a message. Protects its reader.
const MAX_SHOWN: usize = 600;

/// Returns the beginning of a text on one line, safe to show.
pub fn cut(text: &str) -> String {
    host_text::clip(&escape(text, Newlines::Escape), MAX_SHOWN).into_owned()
}

/// Returns the beginning of a parser's message, safe to show. The lines are the parser's, which quotes a line of the
/// text behind its number.
pub fn cut_lines(text: &str) -> String {
    host_text::clip(&escape(text, Newlines::Keep), MAX_SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_shown_text_that_is_cut_is_marked() {
        assert_eq!(cut("short"), "short");
        assert_eq!(cut("a\u{200b}b\nc"), "a\\u{200b}b\\nc");
        assert_eq!(cut_lines("a\u{200b}b\nc"), "a\\u{200b}b\nc");
        let long = "\u{e9}".repeat(601);
        assert_eq!(cut(&long), format!("{}… (cut)", "\u{e9}".repeat(600)));
        assert_eq!(cut(&long[..1200]), long[..1200]);
    }
}
