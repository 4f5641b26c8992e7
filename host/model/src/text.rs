//! Text that is joined or shown: parts of a message as one text, and foreign text within an error, on one line, escaped
//! and cut to a limit.

/// The most characters of foreign text in an error, so that a server cannot fill a screen or a log.
const SHOWN_CHARS: usize = 600;

/// Returns the text on one line, escaped and cut to a limit, with a mark if it was cut.
pub(crate) fn clip(text: &str) -> String {
    host_text::one_line(text, SHOWN_CHARS)
}

/// Does the same with bytes of which only the beginning may be text.
pub(crate) fn clip_bytes(bytes: &[u8]) -> String {
    // A character has at most four bytes; one more lets `clip` detect that there was more.
    let head = bytes.get(..(SHOWN_CHARS + 1) * 4).unwrap_or(bytes);
    clip(&String::from_utf8_lossy(head))
}

/// Adds a part of a user's message to the text before it, behind an empty line.
pub(crate) fn add_text(text: &mut String, more: &str) {
    // What was piped in ends with its own.
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_become_one_text_are_apart() {
        for (text, expected) in [("", "b"), ("a", "a\n\nb"), ("a\n\n", "a\n\nb")] {
            let mut joined = text.to_owned();
            add_text(&mut joined, "b");
            assert_eq!(joined, expected);
        }
    }

    // promise model.errors: A server's error text cannot control a terminal.
    #[test]
    fn foreign_text_cannot_command_a_terminal() {
        let check = |text: &str, shown: &str| assert_eq!(clip(text), shown, "{text:?}");
        check("", "");
        check("  plain \n\n words ", "plain words");
        check("\u{1b}[31mred\u{1b}[0m", "\\u{1b}[31mred\\u{1b}[0m");
        check("\u{1b}]0;title\u{7}x\u{9b}2Jy", "\\u{1b}]0;title\\u{7}x\\u{9b}2Jy");
        check("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c");
        check("größe 😀", "größe 😀");
    }

    #[test]
    fn model_text_that_is_cut_is_marked() {
        let exact = "x".repeat(SHOWN_CHARS);
        assert_eq!(clip(&exact), exact);
        let longer = clip(&"ä".repeat(SHOWN_CHARS * 3));
        assert!(longer.ends_with("… (cut)"), "{longer}");
        assert!(longer.chars().count() < SHOWN_CHARS + 10);
        assert!(clip_bytes(&[b'x'; 100_000]).ends_with("… (cut)"));
        assert_eq!(clip_bytes(b"a\xffb"), "a\u{fffd}b");
    }
}
