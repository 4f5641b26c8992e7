//! Classes of characters: what is unsafe to show, and what gives an invisible character a visible meaning.
//!
//! The set is made of Unicode's own: the general categories Cc (control), Zl and Zp (separators of lines and
//! paragraphs) and Cf (format) of UnicodeData.txt, and Default_Ignorable_Code_Point of DerivedCoreProperties.txt, which
//! adds what a font draws as nothing: variation selectors, fillers, tags, and what is reserved for more of them. Not in
//! it are the format characters that are drawn, Prepended_Concatenation_Mark of PropList.txt (the Arabic number signs).
//! The tests compare the table with Unicode's.

/// The unsafe characters, in order.
const UNSAFE: &[(char, char)] = &[
    ('\0', '\u{1f}'),
    ('\u{7f}', '\u{9f}'),
    // Soft hyphen.
    ('\u{ad}', '\u{ad}'),
    // Combining grapheme joiner.
    ('\u{34f}', '\u{34f}'),
    // Arabic letter mark.
    ('\u{61c}', '\u{61c}'),
    // Hangul fillers, here and below: letters that are drawn as nothing.
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    // Mongolian variation selectors and vowel separator.
    ('\u{180b}', '\u{180f}'),
    // Zero-width space and joiners, marks of direction.
    ('\u{200b}', '\u{200f}'),
    // Separators of lines and paragraphs, embeddings and overrides of direction.
    ('\u{2028}', '\u{202e}'),
    // Word joiner, invisible operators, isolates of direction.
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    // Variation selectors.
    ('\u{fe00}', '\u{fe0f}'),
    // Byte order mark.
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    // Interlinear annotation.
    ('\u{fff0}', '\u{fffb}'),
    // Hieroglyph, shorthand and musical format controls.
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    // Tags, and the variation selectors that are not in every font.
    ('\u{e0000}', '\u{e0fff}'),
];

/// Blocks of symbols that can be part of an emoji: no letters except `ℹ`. Contains Extended_Pictographic.
const SYMBOLS: &[(char, char)] = &[
    ('\u{a9}', '\u{a9}'),
    ('\u{ae}', '\u{ae}'),
    ('\u{203c}', '\u{203c}'),
    ('\u{2049}', '\u{2049}'),
    ('\u{2122}', '\u{2122}'),
    ('\u{2139}', '\u{2139}'),
    ('\u{2190}', '\u{21ff}'),
    ('\u{2300}', '\u{23ff}'),
    ('\u{24c2}', '\u{24c2}'),
    ('\u{25a0}', '\u{27bf}'),
    ('\u{2934}', '\u{2935}'),
    ('\u{2b00}', '\u{2bff}'),
    ('\u{3030}', '\u{3030}'),
    ('\u{303d}', '\u{303d}'),
    ('\u{3297}', '\u{3297}'),
    ('\u{3299}', '\u{3299}'),
    ('\u{1f000}', '\u{1faff}'),
    ('\u{1fc00}', '\u{1fffd}'),
];

/// Blocks of the scripts whose letters change their form next to one another, so that a joiner between them is seen:
/// Arabic to Mandaic, those of India, Myanmar, Khmer, Mongolian, Balinese and its neighbours.
const JOINING: &[(char, char)] = &[
    ('\u{620}', '\u{dff}'),
    ('\u{1000}', '\u{109f}'),
    ('\u{1780}', '\u{18af}'),
    ('\u{1a20}', '\u{1bff}'),
    ('\u{a840}', '\u{a87f}'),
    ('\u{a8e0}', '\u{a8ff}'),
    ('\u{a980}', '\u{aaff}'),
    ('\u{fb50}', '\u{fdff}'),
    ('\u{fe70}', '\u{fefc}'),
    ('\u{10a00}', '\u{10fff}'),
    ('\u{11000}', '\u{11fff}'),
    ('\u{1e900}', '\u{1e95f}'),
];

/// Whether the character can hide, hide in, or change how the text around it is shown: it controls a terminal, ends a
/// line, changes the direction of writing, or is drawn as nothing.
///
/// Line ends and tabs are among them; [`crate::Newlines`] says whether they pass. So are the joiners and selectors that
/// [`crate::escape`] lets through where they shape what is seen.
pub fn is_unsafe(c: char) -> bool {
    // Most text is ASCII.
    if c.is_ascii() { c.is_ascii_control() } else { is_in(UNSAFE, c) }
}

/// Whether the character can be part of an emoji.
pub(crate) fn is_symbol(c: char) -> bool {
    !c.is_ascii() && is_in(SYMBOLS, c)
}

/// Whether the character is a letter or a mark of a script that joins its letters.
pub(crate) fn joins(c: char) -> bool {
    !c.is_ascii() && is_in(JOINING, c) && !is_unsafe(c) && (c.is_alphabetic() || is_mark(c))
}

/// Whether the character is a letter of Mongolian, whose forms are chosen by selectors.
pub(crate) fn is_mongolian(c: char) -> bool {
    ('\u{1820}'..='\u{18aa}').contains(&c)
}

/// Whether the character is drawn over or under the one before it (Grapheme_Extend).
pub(crate) fn is_mark(c: char) -> bool {
    !c.is_ascii() && is_printable(c) && c.escape_debug().next() == Some('\\')
}

/// Whether the standard library's tables have the character as one that is printed: neither a blank other than the
/// usual one, nor private, unassigned or a control.
pub(crate) fn is_printable(c: char) -> bool {
    // Behind a letter, where a combining mark is not escaped for being one.
    let mut behind_a_letter = [b'a', 0, 0, 0, 0];
    let length = c.encode_utf8(&mut behind_a_letter[1..]).len();
    let text = std::str::from_utf8(&behind_a_letter[..=length]).unwrap_or_default();
    text.escape_debug().nth(1) == Some(c)
}

fn is_in(ranges: &[(char, char)], c: char) -> bool {
    let after = ranges.partition_point(|(first, _)| *first <= c);
    after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, last)| c <= *last)
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn all() -> impl Iterator<Item = char> {
        '\0'..=char::MAX
    }

    fn class(pattern: &str) -> impl Fn(char) -> bool {
        let pattern = Regex::new(&format!("^(?:{pattern})$")).expect("a pattern");
        move |c| pattern.is_match(c.encode_utf8(&mut [0; 4]))
    }

    #[test]
    fn text_unsafe_characters_match_the_unicode_classes() {
        let unicode = class(
            r"(?s)\p{Cc}|\p{Zl}|\p{Zp}|\p{DI}|[\p{Cf}--[\u{600}-\u{605}\u{6dd}\u{70f}\u{890}-\u{891}\u{8e2}\u{110bd}\u{110cd}]]",
        );
        let wrong: Vec<char> = all().filter(|c| is_unsafe(*c) != unicode(*c)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn text_every_pictograph_is_a_symbol_and_no_letter_is() {
        let (pictograph, letter) = (class(r"\p{Extended_Pictographic}"), class(r"[\p{L}\p{N}\p{Z}--[\u{2139}]]"));
        let enclosed = |c| ('\u{2776}'..='\u{2793}').contains(&c) || ('\u{1f100}'..='\u{1f10c}').contains(&c);
        let wrong: Vec<char> = all()
            .filter(|c| pictograph(*c) && !is_symbol(*c) || is_symbol(*c) && letter(*c) && !enclosed(*c))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn text_tables_are_in_order() {
        for table in [UNSAFE, SYMBOLS, JOINING] {
            assert!(table.iter().all(|(first, last)| first <= last));
            assert!(table.is_sorted_by(|(_, last), (first, _)| last < first));
        }
    }
}
