//! A line of a program's output as a terminal shows it in the end.
//!
//! A carriage return overwrites what stands there, as progress bars do; colours and the cursor leave no trace.
//! Deliberately not here: more than one line, and escaping: what a terminal does not take as one of these stays, for
//! the caller's escape function.

use std::borrow::Cow;

/// The furthest column that a sequence can move to. Protects memory from a line that moves far.
const MAX_COLUMN: usize = 1_000;

/// Returns a line as it is on a terminal once it was printed.
pub fn as_printed(line: &str) -> Cow<'_, str> {
    if !line.contains(['\r', '\u{8}', '\u{1b}']) {
        return Cow::Borrowed(line);
    }
    let mut cells: Vec<char> = Vec::new();
    let mut column: usize = 0;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
        match first {
            '\r' => column = 0,
            '\u{8}' => column = column.saturating_sub(1),
            '\u{1b}' => match Sequence::parse(rest) {
                Some((sequence, behind)) => {
                    rest = behind;
                    sequence.obey(&mut cells, &mut column);
                }
                None => put(&mut cells, &mut column, first),
            },
            character => put(&mut cells, &mut column, character),
        }
    }
    Cow::Owned(cells.into_iter().collect())
}

fn put(cells: &mut Vec<char>, column: &mut usize, character: char) {
    cells.resize(cells.len().max(*column), ' ');
    match cells.get_mut(*column) {
        Some(cell) => *cell = character,
        None => cells.push(character),
    }
    *column += 1;
}

/// What an escape sequence does to one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sequence {
    /// Colours, the title of the window, whether the cursor is seen.
    Nothing,
    ToColumn(usize),
    Right(usize),
    Left(usize),
    EraseToEnd,
    EraseToStart,
    EraseLine,
}

impl Sequence {
    /// Reads what follows an escape character; `None` if it is not one of these.
    fn parse(text: &str) -> Option<(Self, &str)> {
        if let Some(command) = text.strip_prefix(']') {
            // An address behind a link, or a title: it ends with a bell or with a sequence of its own.
            let end = command.find(['\u{7}', '\u{1b}'])?;
            let behind = command.get(end..)?;
            return Some((Self::Nothing, behind.strip_prefix('\u{7}').or_else(|| behind.strip_prefix("\u{1b}\\"))?));
        }
        let text = text.strip_prefix('[')?;
        let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, ';' | ':' | '?'))?;
        let (parameters, behind) = text.split_at(end);
        let number = || parameters.parse::<usize>().unwrap_or(1).min(MAX_COLUMN);
        let sequence = match behind.chars().next()? {
            'm' => Self::Nothing,
            'h' | 'l' if parameters.starts_with('?') => Self::Nothing,
            'G' => Self::ToColumn(number().saturating_sub(1)),
            'C' => Self::Right(number()),
            'D' => Self::Left(number()),
            'K' => match parameters {
                "" | "0" => Self::EraseToEnd,
                "1" => Self::EraseToStart,
                "2" => Self::EraseLine,
                _ => return None,
            },
            _ => return None,
        };
        Some((sequence, behind.get(1..)?))
    }

    fn obey(self, cells: &mut Vec<char>, column: &mut usize) {
        match self {
            Self::Nothing => {}
            Self::ToColumn(to) => *column = to,
            Self::Right(by) => *column = (*column + by).min(cells.len().max(MAX_COLUMN)),
            Self::Left(by) => *column = column.saturating_sub(by),
            Self::EraseToEnd => cells.truncate(*column),
            Self::EraseToStart => cells.iter_mut().take(*column + 1).for_each(|cell| *cell = ' '),
            Self::EraseLine => cells.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_line_is_what_a_terminal_shows_of_it() {
        for (line, expected) in [
            ("plain", "plain"),
            ("\rprogress 1\rprogress 2", "progress 2"),
            ("downloading 10 %\rdone", "doneloading 10 %"),
            ("downloading 10 %\r\u{1b}[Kdone", "done"),
            ("downloading\u{1b}[1G\u{1b}[0Kdone", "done"),
            ("\u{1b}[31merror\u{1b}[0m: \u{1b}[1;38;5;9mno\u{1b}[m", "error: no"),
            ("\u{1b}]8;;https://a.example\u{1b}\\words\u{1b}]8;;\u{7}", "words"),
            ("\u{1b}[?25lhidden\u{1b}[?25h", "hidden"),
            ("ab\u{8}c", "ac"),
            ("ab\u{1b}[3Cc", "ab   c"),
            ("abc\u{1b}[2Dx", "axc"),
            ("abc\u{1b}[2Kd", "   d"),
            ("line\r", "line"),
            ("\u{1b}[2J", "\u{1b}[2J"),
            ("\u{1b}[", "\u{1b}["),
            ("\u{1b}]0;never ends", "\u{1b}]0;never ends"),
        ] {
            assert_eq!(as_printed(line), expected, "{line:?}");
        }
        let far = as_printed("\u{1b}[99999999999999999999C\u{1b}[4000000000Cx").chars().count();
        assert!(far <= MAX_COLUMN + 1, "{far}");
    }
}
