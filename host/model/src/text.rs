//! Foreign text made fit to be shown: cut to a limit, and without what a terminal obeys.

/// The most characters of foreign text that an error holds, so that a server cannot fill a screen or a log.
const SHOWN_CHARS: usize = 600;

/// The text on one line, cut to a limit; says so when it was cut.
///
/// Control characters, among them the escape that begins a terminal's commands, and the marks that turn the
/// direction of text become spaces; runs of white space become one space.
pub(crate) fn clip(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(SHOWN_CHARS));
    let mut chars = 0;
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() || is_command(c) {
            gap = chars > 0;
            continue;
        }
        if chars >= SHOWN_CHARS {
            shown.push_str("… (cut)");
            break;
        }
        if gap {
            shown.push(' ');
            chars += 1;
            gap = false;
        }
        shown.push(c);
        chars += 1;
    }
    shown
}

/// Bytes of which only the beginning may be text.
pub(crate) fn clip_bytes(bytes: &[u8]) -> String {
    // A character has at most four bytes; one more lets `clip` see that there was more.
    let head = bytes.get(..(SHOWN_CHARS + 1) * 4).unwrap_or(bytes);
    clip(&String::from_utf8_lossy(head))
}

/// Whether a terminal or a reader's eye obeys this character instead of showing it.
fn is_command(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise model.errors: A server's error text cannot control a terminal.
    #[test]
    fn foreign_text_cannot_command_a_terminal() {
        let check = |text: &str, shown: &str| assert_eq!(clip(text), shown, "{text:?}");
        check("", "");
        check("  plain \n\n words ", "plain words");
        check("\u{1b}[31mred\u{1b}[0m", "[31mred [0m");
        check("\u{1b}]0;title\u{7}x\u{9b}2Jy", "]0;title x 2Jy");
        check("a\u{202e}b\u{2066}c", "a b c");
        check("größe 😀", "größe 😀");
    }

    #[test]
    fn a_cut_says_so() {
        let exact = "x".repeat(SHOWN_CHARS);
        assert_eq!(clip(&exact), exact);
        let longer = clip(&"ä".repeat(SHOWN_CHARS * 3));
        assert!(longer.ends_with("… (cut)"), "{longer}");
        assert!(longer.chars().count() < SHOWN_CHARS + 10);
        assert!(clip_bytes(&[b'x'; 100_000]).ends_with("… (cut)"));
        assert_eq!(clip_bytes(b"a\xffb"), "a\u{fffd}b");
    }
}
