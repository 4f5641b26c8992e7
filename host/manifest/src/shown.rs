//! How a text from outside comes into a message: its beginning, and a word when that is not all.

/// Characters of a text from outside in a message. Protects whoever reads it.
const MAX_SHOWN: usize = 600;

/// The beginning of a text.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{} (cut)", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_cut_says_so() {
        assert_eq!(cut("short"), "short");
        let long = "\u{e9}".repeat(601);
        assert_eq!(cut(&long), format!("{} (cut)", "\u{e9}".repeat(600)));
        assert_eq!(cut(&long[..1200]), long[..1200]);
    }
}
