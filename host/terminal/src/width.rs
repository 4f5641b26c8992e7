//! The width of text on a terminal, and which part of it fits. Texts may contain sequences that set colours, which look
//! like `ESC [ … m`, and hyperlinks, `ESC ] 8 ; ; … ESC \`, and no others.
//!
//! Deliberately not here: where a line is broken at its words (`wrap`).

use unicode_width::UnicodeWidthChar;

/// The distance between two tab stops.
const TAB: usize = 8;

/// Makes a symbol an emoji, which most terminals show in two columns and some in one.
const EMOJI: char = '\u{fe0f}';

/// A piece of a text: a visible character, or a sequence that sets a colour or a link.
pub(super) enum Piece<'a> {
    Character(char),
    Colour(&'a str),
}

/// Returns the pieces of a text, each with its position.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = (usize, Piece<'_>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let first = rest.chars().next()?;
        let begins = at;
        if rest.starts_with("\u{1b}[")
            && let Some(end) = rest.find('m')
        {
            at += end + 1;
            return Some((begins, Piece::Colour(rest.get(..=end).unwrap_or_default())));
        }
        if rest.starts_with("\u{1b}]8;")
            && let Some(end) = rest.find("\u{1b}\\")
        {
            at += end + 2;
            return Some((begins, Piece::Colour(rest.get(..end + 2).unwrap_or_default())));
        }
        at += first.len_utf8();
        Some((begins, Piece::Character(first)))
    })
}

/// Returns the column of the cursor behind a character, on a row that it does not leave.
fn behind(column: usize, character: char, columns: usize) -> usize {
    match character {
        // A tab never moves to the next row.
        '\t' => ((column / TAB + 1) * TAB).min(columns.saturating_sub(1)).max(column),
        character => column + character.width().unwrap_or(0),
    }
}

/// Returns the width of a line: the most columns that a terminal takes for it.
pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    pieces(text).fold(0, |column, (_, piece)| match piece {
        Piece::Character(character) => behind_at_most(column, character),
        Piece::Colour(_) => column,
    })
}

/// Returns the column behind a character on a terminal that takes the most columns for it: what must fit is better
/// thought too wide than too narrow.
pub(super) fn behind_at_most(column: usize, character: char) -> usize {
    match character {
        EMOJI => column + 1,
        character => behind(column, character, usize::MAX),
    }
}

/// Cuts a line to the columns, with a `…` at the cut. Colours end as they would without the cut.
pub fn truncate_to_width(text: &str, columns: usize) -> String {
    // Most lines fit, and are not taken apart.
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let (mut column, mut full) = (0, false);
    for (_, piece) in pieces(text) {
        match piece {
            // The sequences behind the cut still end the colours.
            Piece::Colour(colour) => shown.push_str(colour),
            Piece::Character(character) if !full => {
                let next = behind_at_most(column, character);
                // One column is kept for the mark.
                if next + 1 > columns {
                    full = true;
                    if columns > 0 {
                        shown.push('…');
                    }
                } else {
                    column = next;
                    shown.push(character);
                }
            }
            Piece::Character(_) => {}
        }
    }
    shown
}

/// Returns where a line must be broken so that the part before is at most this wide.
pub(super) fn broken_at(text: &str, columns: usize) -> usize {
    if width(text) <= columns {
        return text.len();
    }
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        if width(&text[..next]) > columns && end > 0 {
            break;
        }
        end = next;
    }
    end
}

/// The last row of an unfinished line, once the terminal has wrapped it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LastRow {
    /// Its text, with the colours that are set at its beginning.
    pub(super) text: String,
    pub(super) width: usize,
}

impl LastRow {
    /// Returns the last row of a line.
    pub(super) fn new(line: &str, columns: usize) -> Self {
        let columns = columns.max(1);
        let (mut begins, mut column) = (0, 0);
        let (mut colours, mut colours_at_beginning) = (String::new(), String::new());
        for (at, piece) in pieces(line) {
            match piece {
                Piece::Colour("\u{1b}[0m") => colours.clear(),
                Piece::Colour(colour) => colours.push_str(colour),
                Piece::Character(character) => {
                    let next = behind(column, character, columns);
                    if next > columns {
                        begins = at;
                        colours_at_beginning.clone_from(&colours);
                        column = behind(0, character, columns);
                    } else {
                        column = next;
                    }
                }
            }
        }
        let text = format!("{colours_at_beginning}{}", line.get(begins..).unwrap_or_default());
        Self { text, width: column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_cuts_text_by_columns_and_not_by_bytes() {
        for (text, columns, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("\u{1b}[32mabcd\u{1b}[0m", 3, "\u{1b}[32mab…\u{1b}[0m"),
            ("abcd", 0, ""),
            ("", 3, ""),
        ] {
            assert_eq!(truncate_to_width(text, columns), expected, "{text:?} in {columns}");
            assert!(width(expected) <= columns);
        }
    }

    #[test]
    fn width_of_colours_and_links_is_zero_and_of_emoji_the_most() {
        for (text, expected) in [
            ("abc", 3),
            ("日本", 4),
            ("\u{1b}[1mab\u{1b}[0m", 2),
            ("\u{1b}]8;;https://a.example\u{1b}\\ab\u{1b}]8;;\u{1b}\\", 2),
            ("⚠\u{fe0f}", 2),
            ("e\u{301}", 1),
        ] {
            assert_eq!(width(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_last_row_is_the_one_that_the_terminal_wraps_to() {
        for (line, columns, text, width) in [
            ("abc", 4, "abc", 3),
            ("abcd", 4, "abcd", 4),
            ("abcde", 4, "e", 1),
            ("日本語", 5, "語", 2),
            ("\u{1b}[1mabcdef\u{1b}[0mg", 4, "\u{1b}[1mef\u{1b}[0mg", 3),
            ("\u{1b}[1mab\u{1b}[0mcdef", 4, "ef", 2),
            ("a\tb", 20, "a\tb", 9),
            ("abcdef\tgh", 8, "h", 1),
        ] {
            assert_eq!(LastRow::new(line, columns), LastRow { text: text.to_owned(), width }, "{line:?} in {columns}");
        }
    }
}
