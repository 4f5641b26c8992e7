//! Values and places as text of a bounded length.
//!
//! Values come from a model and schemas from a plugin: either may be megabytes, and a violation quotes both.

use std::fmt::{self, Write as _};
use std::io;

use serde_json::Value;

/// The longest quotation of a value, in bytes.
const QUOTED_BYTES: usize = 100;

/// The longest place, in bytes.
const PLACE_BYTES: usize = 200;

/// The longest text with several quotations, in characters.
const TEXT_CHARACTERS: usize = 600;

/// The most names or values of a list that are quoted.
const LISTED: usize = 12;

/// Formats a value as JSON, or its beginning.
pub(crate) fn quoted(value: &Value) -> String {
    let mut writer = Bounded { bytes: Vec::new(), most: QUOTED_BYTES };
    let complete = serde_json::to_writer(&mut writer, value).is_ok();
    ended(writer.bytes, complete)
}

/// Formats a name as JSON, or its beginning.
pub(crate) fn name(text: &str) -> String {
    let mut writer = Bounded { bytes: Vec::new(), most: QUOTED_BYTES };
    let complete = serde_json::to_writer(&mut writer, text).is_ok();
    ended(writer.bytes, complete)
}

/// Joins quotations, with a word before the last one: `"a", "b" or "c"`.
pub(crate) fn list(quotations: impl ExactSizeIterator<Item = String>, word: &str) -> String {
    let all = quotations.len();
    let mut text = String::new();
    for (index, quotation) in quotations.take(LISTED).enumerate() {
        match index {
            0 => {}
            _ if index + 1 == all => _ = write!(text, " {word} "),
            _ => text.push_str(", "),
        }
        text.push_str(&quotation);
    }
    if all > LISTED {
        _ = write!(text, " {word} {} more", all - LISTED);
    }
    text
}

/// Cuts a text to the length that a violation may have.
pub(crate) fn bounded(text: &str) -> String {
    host_text::clip(text, TEXT_CHARACTERS).into_owned()
}

/// Formats a JSON pointer of these tokens, or its beginning if it is long.
pub(crate) fn pointer<T: fmt::Display>(tokens: impl IntoIterator<Item = T>) -> String {
    let mut text = String::new();
    for token in tokens {
        if text.len() > PLACE_BYTES {
            text.push_str("/…");
            break;
        }
        let token = token.to_string();
        let short = token.char_indices().nth(PLACE_BYTES).map_or(token.as_str(), |(end, _)| &token[..end]);
        text.push('/');
        text.push_str(&short.replace('~', "~0").replace('/', "~1"));
        if short.len() < token.len() {
            text.push('…');
        }
    }
    text
}

fn ended(bytes: Vec<u8>, complete: bool) -> String {
    let mut text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // The cut went through a character.
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned()
        }
    };
    if !complete {
        text.push('…');
    }
    text
}

/// A writer that takes a number of bytes and then fails, so that writing something huge stops.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.most - self.bytes.len();
        if room == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = room.min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_quotations_are_bounded_and_whole_characters() {
        assert_eq!(quoted(&json!({"a": [1, null]})), r#"{"a":[1,null]}"#);
        assert_eq!(name("a\"b\u{7}"), r#""a\"b\u0007""#);
        for text in ["ä".repeat(1000), format!("x{}", "ä".repeat(1000)), "\u{7}".repeat(1000)] {
            let short = quoted(&json!(text));
            assert!(short.len() <= QUOTED_BYTES + '…'.len_utf8() && short.ends_with('…'), "{short}");
        }
    }

    #[test]
    fn words_lists_are_bounded() {
        let listed = |count: usize| list((0..count).map(|n| n.to_string()), "or");
        assert_eq!(listed(1), "0");
        assert_eq!(listed(3), "0, 1 or 2");
        assert_eq!(listed(14), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 or 2 more");
    }

    #[test]
    fn words_pointers_are_escaped_and_bounded() {
        assert_eq!(pointer(["a/b", "~c"]), "/a~1b/~0c");
        assert!(pointer(["x".repeat(5000)]).len() < 2 * PLACE_BYTES);
        assert!(pointer(std::iter::repeat_n("abc", 5000)).len() < 2 * PLACE_BYTES);
    }
}
