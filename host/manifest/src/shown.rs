//! Escapes text from outside for a message, and cuts it to a limit.

/// The most characters of a text from outside in a message. Protects its reader.
const MAX_SHOWN: usize = 600;

/// Returns the beginning of a text, safe to show.
pub fn cut(text: &str) -> String {
    host_text::clip(&host_text::visible(text), MAX_SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_shown_text_that_is_cut_is_marked() {
        assert_eq!(cut("short"), "short");
        assert_eq!(cut("a\u{200b}b"), "a\\u{200b}b");
        let long = "\u{e9}".repeat(601);
        assert_eq!(cut(&long), format!("{}… (cut)", "\u{e9}".repeat(600)));
        assert_eq!(cut(&long[..1200]), long[..1200]);
    }
}
