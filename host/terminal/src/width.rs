//! The width of text on a terminal, and which part of it fits. Texts may contain sequences that set colours, which look
//! like `ESC [ … m`, and no others.

use unicode_width::UnicodeWidthChar;

/// The distance between two tab stops.
const TAB: usize = 8;

/// A piece of a text: a visible character, or a sequence that sets a colour.
enum Piece<'a> {
    Character(char),
    Colour(&'a str),
}

/// Returns the pieces of a text, each with its position.
fn pieces(text: &str) -> impl Iterator<Item = (usize, Piece<'_>)> {
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

/// Returns the width of a line.
pub fn width(text: &str) -> usize {
    pieces(text).fold(0, |column, (_, piece)| match piece {
        Piece::Character(character) => behind(column, character, usize::MAX),
        Piece::Colour(_) => column,
    })
}

/// Cuts a line to the columns, with a `…` at the cut. Colours end as they would without the cut.
pub fn truncate_to_width(text: &str, columns: usize) -> String {
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
                let next = behind(column, character, usize::MAX);
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
pub fn broken_at(text: &str, columns: usize) -> usize {
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

/// Breaks a line into rows, after a blank if there is one in the second half of a row.
pub(super) fn broken(line: &str, columns: usize) -> Vec<&str> {
    let mut rows = Vec::new();
    let mut rest = line;
    loop {
        let mut end = broken_at(rest, columns);
        if end < rest.len()
            && let Some(blank) = rest.get(..end).and_then(|row| row.rfind(' ')).filter(|blank| *blank > end / 2)
        {
            end = blank + 1;
        }
        let (row, more) = rest.split_at(end);
        rows.push(row);
        rest = more;
        if rest.is_empty() {
            return rows;
        }
    }
}

/// Wraps a line at its blanks, and indents all rows but the first.
pub fn wrapped(line: &str, columns: usize, indent: usize) -> String {
    let mut rows = String::new();
    let mut column = 0;
    for word in line.split_inclusive(' ') {
        let wide = width(word.trim_end());
        if column > indent && column + wide > columns {
            rows.truncate(rows.trim_end().len());
            rows.extend(["\n", &" ".repeat(indent)]);
            column = indent;
        }
        rows.push_str(word);
        column += width(word);
    }
    rows
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
    fn words_stay_whole_where_they_fit() {
        assert_eq!(wrapped("name  some words", 11, 6), "name  some\n      words");
        assert_eq!(wrapped("unbreakable", 4, 2), "unbreakable");
        assert_eq!(wrapped("a b", 80, 0), "a b");
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
