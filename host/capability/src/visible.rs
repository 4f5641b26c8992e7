//! Text that somebody else wrote, made fit to be shown: safe for a terminal, and bounded.
//!
//! What a guest asks for, and what a manifest requests, end up in messages that a person reads to decide. An
//! escape sequence could rewrite that message, and a direction mark could reorder it.

use std::borrow::Cow;

/// The most characters of a foreign text that a message shows: protects the message around it from being
/// scrolled away, and logs from being filled.
pub(crate) const SHOWN_LIMIT: usize = 240;

/// What stands where a text was cut.
pub(crate) const CUT_MARK: &str = "… (cut)";

/// The text with unsafe characters escaped, cut to [`SHOWN_LIMIT`] characters.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::new();
    let mut length = 0;
    for c in text.chars() {
        let piece: Cow<'static, str> = match c {
            c if is_unsafe(c) => c.escape_default().to_string().into(),
            c => c.to_string().into(),
        };
        length += piece.chars().count();
        if length > SHOWN_LIMIT {
            shown.push_str(CUT_MARK);
            break;
        }
        shown.push_str(&piece);
    }
    shown
}

/// Whether `visible` gives the text back unchanged, so that it can stand in a suggestion.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.chars().any(is_unsafe) && text.chars().nth(SHOWN_LIMIT).is_none()
}

/// Whether the character can change how the text around it is shown: control characters, and the invisible and
/// direction-changing ones (Unicode's `Cf` and its line separators, as far as they matter for that).
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The text as one word of a POSIX shell, so that a suggested flag can be pasted as it is shown.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let mut word = String::from("'");
    for c in text.chars() {
        match c {
            '\'' => word.push_str("'\\''"),
            c => word.push(c),
        }
    }
    word.push('\'');
    word
}
