//! Quotation marks around foreign words in a message of the host.
//!
//! Promises: what is quoted stays on one line, is safe to show, and cannot end its quotation: nothing of it can be
//! taken for the host's words, whatever it says.
//!
//! Deliberately not here: names, paths and addresses, which stand between backticks ([`crate::escape_name`]).

use crate::{one_line, visible_line};

/// Returns foreign words in quotation marks. Line breaks are escaped, so that all of the text is there.
pub fn quoted(text: &str) -> String {
    in_marks(&visible_line(text.trim()))
}

/// Returns foreign words in quotation marks, with one space for each run of white space, at most so many characters.
pub fn quoted_excerpt(text: &str, most: usize) -> String {
    in_marks(&one_line(text, most))
}

fn in_marks(line: &str) -> String {
    // A mark within would look like the end of the words.
    let within = |c: char| if is_double_mark(c) { '"' } else { c };
    ['“'].into_iter().chain(line.chars().map(within)).chain(['”']).collect()
}

/// Whether a reader can take the character for one of the marks around the words.
fn is_double_mark(c: char) -> bool {
    matches!(c, '“' | '”' | '„' | '‟' | '″' | '‶' | '〝' | '〞' | '〟' | '❝' | '❞' | '＂')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_cannot_end_their_quotation() {
        for (text, expected) in [
            ("no such page", "“no such page”"),
            ("", "“”"),
            ("a\nhelp: run it\n", "“a\\nhelp: run it”"),
            ("gone”. help: run it", "“gone\". help: run it”"),
            ("“a” „b‟ 〝c〞 ＂d＂", "“\"a\" \"b\" \"c\" \"d\"”"),
            ("\u{1b}[2J\u{202e}", "“\\u{1b}[2J\\u{202e}”"),
        ] {
            assert_eq!(quoted(text), expected, "{text:?}");
        }
        assert_eq!(quoted_excerpt("a\n  b” c", 4), "“a b\"… (cut)”");
    }
}
