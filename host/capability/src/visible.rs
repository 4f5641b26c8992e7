//! Untrusted text within a message that a user reads to decide.
//!
//! The requests of a guest and of a manifest are escaped exactly and bounded: an escape sequence could rewrite the
//! message, a direction mark could reorder it, and a long text could push it off the screen.

/// The most characters of a foreign text that a message shows: protects the message around it from being
/// scrolled away, and logs from being filled.
pub(crate) const SHOWN_LIMIT: usize = 240;

/// The text with unsafe characters escaped, cut to [`SHOWN_LIMIT`] characters.
pub(crate) fn visible(text: &str) -> String {
    host_text::excerpt(text, SHOWN_LIMIT)
}

/// Returns whether `visible` returns the text unchanged, so that it can be part of a suggestion.
pub(crate) fn is_plain(text: &str) -> bool {
    host_text::is_plain(text, SHOWN_LIMIT)
}

/// Quotes the text as one word of a POSIX shell, so that a suggested flag can be pasted as shown.
pub(crate) fn shell_word(text: &str) -> String {
    // Letters of which no shell means anything; everything else is quoted and not escaped one by one.
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
