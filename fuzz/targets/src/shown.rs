//! Checks of text that a user sees.

use host_text::is_unsafe;

/// Characters that [`host_text::escape`] lets through where they shape what is seen: selectors and joiners.
const SHAPING: &[char] = &['\u{fe0e}', '\u{fe0f}', '\u{200c}', '\u{200d}'];

/// Checks prose on several lines.
pub(crate) fn prose(text: &str) {
    let wrong = text.chars().find(|c| !matches!(c, '\n' | '\t') && !shapes(*c) && is_unsafe(*c));
    assert_eq!(wrong, None, "{text:?}");
}

/// Checks prose on one line.
pub(crate) fn line(text: &str) {
    assert_eq!(text.chars().find(|c| !shapes(*c) && is_unsafe(*c)), None, "{text:?}");
}

/// Checks a name, path, command or address.
pub(crate) fn exact(text: &str) {
    assert_eq!(text.chars().find(|c| is_unsafe(*c)), None, "{text:?}");
}

fn shapes(c: char) -> bool {
    SHAPING.contains(&c) || ('\u{180b}'..='\u{180f}').contains(&c)
}
