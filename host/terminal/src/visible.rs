//! Text from a model, a tool or a server, made safe for a terminal.

/// Text from a model, a tool or a server, safe for a terminal: control characters and those that turn the direction
/// of writing are shown by their code; line ends and tabs stay.
pub fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains(is_harmful) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_harmful(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

/// Whether the character steers a terminal or turns the direction of writing.
pub fn is_harmful(character: char) -> bool {
    (character.is_control() && character != '\n' && character != '\t') || is_bidi(character)
}

/// The formatting characters of the Unicode bidirectional algorithm (UAX 9, table 2).
fn is_bidi(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise plugin.terminal: Text from tools and models reaches a terminal with control characters escaped.
    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        for (text, shown) in [
            ("plain\n\ttext ä", "plain\n\ttext ä"),
            ("\u{1b}[2Jx", "\\u{1b}[2Jx"),
            ("a\rb", "a\\u{d}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("x\u{202e}y", "x\\u{202e}y"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
