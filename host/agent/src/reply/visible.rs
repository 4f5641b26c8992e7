//! Visibility of a text.
//!
//! A model that answers with zero-width characters, or with an HTML comment, has said nothing to the user. Unicode
//! lists characters without a shape of their own as `Default_Ignorable_Code_Point`; a few blanks that are letters or
//! symbols by their category (the Hangul fillers, the empty Braille pattern) are added.
//!
//! Deliberately not here: which characters are unsafe to show. A text may be safe and invisible, or the reverse.

/// Returns whether the text has a visible character outside of HTML comments.
pub(crate) fn is_visible(text: &str) -> bool {
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        if before.chars().any(has_shape) {
            return true;
        }
        // `<!-->` and `<!--->` are whole comments; one without an end reaches to the end of the text.
        let short = [">", "->"].into_iter().find(|end| comment.starts_with(end)).map(str::len);
        let Some(end) = short.or_else(|| comment.find("-->").map(|at| at + "-->".len())) else { return false };
        rest = comment.get(end..).unwrap_or_default();
    }
    rest.chars().any(has_shape)
}

/// Returns whether the character is visible, or changes how its neighbours look.
fn has_shape(c: char) -> bool {
    !(c.is_whitespace() || c.is_control() || is_ignorable(c) || is_blank(c))
}

/// `Default_Ignorable_Code_Point` of Unicode 17, and the other format characters that show nothing.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A symbol that is empty.
fn is_blank(c: char) -> bool {
    c == '\u{2800}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_of_characters_without_a_shape_is_not_visible() {
        for text in [
            "",
            " \n\t\u{a0}\u{3000}\u{2028}",
            "\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}",
            "\u{202e}\u{2066}\u{2069}\u{200f}\u{61c}",
            "\u{e0041}\u{e007f}\u{e0001}",
            "\u{fe0f}\u{e0100}\u{180b}",
            "\u{ad}\u{34f}",
            "\u{3164}\u{115f}\u{ffa0}\u{2800}",
            "\u{0}\u{1b}\u{7f}\u{9b}",
        ] {
            assert!(!is_visible(text), "{text:?}");
            assert!(is_visible(&format!("{text}.{text}")), "{text:?}");
        }
        for text in ["a", "0", "-", "ä", "字", "😀", "\u{200b}👩\u{200d}🚀\u{fe0f}", "\u{301}", "<", "---"] {
            assert!(is_visible(text), "{text:?}");
        }
    }

    #[test]
    fn reply_of_comments_alone_is_not_visible() {
        for text in [
            "<!-- a -->",
            " <!-- a -->\n<!--b--> ",
            "<!---->",
            "<!-->",
            "<!--->",
            "<!-- never closed",
            "<!-- a -->\u{200b}",
            "<!-- <!-- a -->",
        ] {
            assert!(!is_visible(text), "{text:?}");
        }
        for text in ["<!-- a -->b", "b<!-- a", "<!-- a --> -->", "<!-->a<!-- b -->", "<b></b>", "`<!-- a -->`", "<! a>"]
        {
            assert!(is_visible(text), "{text:?}");
        }
    }
}
