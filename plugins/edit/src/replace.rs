//! Finding the text that is to be replaced, and replacing it.
//!
//! Works on text whose line ending is `\n`; the file's own endings are put back by [`crate::file`].

use std::ops::Range;

use crate::flexible;

/// How many bytes a file may have after an edit; the host has its own, lower limit. It bounds what a short text that
/// is replaced in very many places costs.
const MAX_RESULT: usize = 40 * 1024 * 1024;

/// A text after a replacement, in pieces.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Text {
    /// The pieces in order.
    pub(crate) pieces: Vec<Piece>,
}

/// A piece of a text after a replacement.
#[derive(Debug, PartialEq)]
pub(crate) struct Piece {
    /// The piece itself.
    pub(crate) text: String,
    /// For a piece of the old text: how many line breaks come before it there. None for what is new.
    pub(crate) kept_from: Option<usize>,
}

/// What came of a replacement.
#[derive(Debug)]
pub(crate) struct Replaced {
    /// The new text.
    pub(crate) text: Text,
    /// How many places were replaced.
    pub(crate) count: usize,
    /// Whether the old text stood there to the letter.
    pub(crate) exactly: bool,
}

/// Why nothing was replaced, in words for the model.
#[derive(Debug, PartialEq)]
pub(crate) enum Problem {
    /// The new text is the old one.
    NoChange,
    /// The old text is nowhere; a hint where it nearly is.
    NotFound { hint: String },
    /// The old text is there another number of times.
    WrongCount { expected: usize, found: usize },
    /// The file would become too large.
    TooLarge,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoChange => write!(f, "`old_string` and `new_string` are the same"),
            Self::TooLarge => write!(f, "it would have more than {MAX_RESULT} bytes"),
            Self::NotFound { hint } => write!(f, "`old_string` occurs 0 times; {hint}"),
            Self::WrongCount { expected, found } => write!(
                f,
                "`old_string` occurs {found} times, expected {expected}; give more of the lines around the right place, \
                 or pass `expected_replacements: {found}` to replace all"
            ),
        }
    }
}

/// Replaces `old` by `new` where it stands, which must be `expected` times.
///
/// # Errors
///
/// When that is another number of times, or there is nothing to change.
pub(crate) fn replace(text: &str, old: &str, new: &str, expected: usize) -> Result<Replaced, Problem> {
    let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    if old == new {
        return Err(Problem::NoChange);
    }
    // Counted before anything is made of them: there may be millions.
    let found = text.matches(&old).count();
    let exactly = found > 0;
    let ranges: Vec<Range<usize>> = if exactly && found == expected {
        text.match_indices(&old).map(|(at, found)| at..at + found.len()).collect()
    } else if exactly {
        return Err(Problem::WrongCount { expected, found });
    } else {
        flexible::places(text, &old)
    };
    match ranges.len() {
        0 => return Err(Problem::NotFound { hint: flexible::nearest(text, &old) }),
        found if found != expected => return Err(Problem::WrongCount { expected, found }),
        count if count.saturating_mul(new.len()).saturating_add(text.len()) > MAX_RESULT => {
            return Err(Problem::TooLarge);
        }
        _ => {}
    }
    let count = ranges.len();
    let places = ranges.into_iter().map(|range| match exactly {
        true => (range, new.clone()),
        false => flexible::replacement(text, range, &old, &new),
    });
    Ok(Replaced { text: put(text, places), count, exactly })
}

fn put(text: &str, places: impl Iterator<Item = (Range<usize>, String)>) -> Text {
    let mut pieces = Vec::new();
    let (mut at, mut breaks) = (0, 0);
    let count = |part: &str| part.bytes().filter(|&byte| byte == b'\n').count();
    for (place, new) in places {
        let (before, old) = (text.get(at..place.start).unwrap_or(""), text.get(place.clone()).unwrap_or(""));
        pieces.push(Piece { text: before.to_owned(), kept_from: Some(breaks) });
        pieces.push(Piece { text: new, kept_from: None });
        breaks += count(before) + count(old);
        at = place.end;
    }
    let rest = text.get(at..).unwrap_or("");
    let last_is_empty = rest.is_empty();
    pieces.push(Piece { text: rest.to_owned(), kept_from: Some(breaks) });
    // A file that ended with a line break still does, though a model seldom thinks of the last one.
    let ends = pieces.iter().rev().find(|piece| !piece.text.is_empty()).is_none_or(|last| last.text.ends_with('\n'));
    if text.ends_with('\n') && last_is_empty && !ends {
        pieces.push(Piece { text: "\n".to_owned(), kept_from: None });
    }
    Text { pieces }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, old: &str, new: &str, expected: usize, result: Result<&str, Problem>) {
        let replaced = replace(text, old, new, expected)
            .map(|replaced| replaced.text.pieces.iter().map(|piece| piece.text.as_str()).collect::<String>());
        assert_eq!(replaced, result.map(str::to_owned), "{text:?} {old:?}");
    }

    #[test]
    fn text_that_is_there_to_the_letter_is_replaced() {
        check("let a = 1;\n", "1", "2", 1, Ok("let a = 2;\n"));
        check("aXbXc", "X", "", 2, Ok("abc"));
        check("a\nb\nc\n", "a\nb", "x", 1, Ok("x\nc\n"));
        check("ä ö ä", "ä", "é", 2, Ok("é ö é"));
    }

    #[test]
    fn edit_unexpected_number_of_places_is_an_error_that_names_both() {
        check("a a a", "a", "b", 1, Err(Problem::WrongCount { expected: 1, found: 3 }));
        check(&"a".repeat(1_000), "a", &"b".repeat(1_000_000), 1_000, Err(Problem::TooLarge));
        check("a", "a", "b", 2, Err(Problem::WrongCount { expected: 2, found: 1 }));
        check("  x\n x\n", "x\n\n", "y", 1, Err(Problem::NotFound { hint: flexible::nearest("  x\n x\n", "x\n\n") }));
    }

    #[test]
    fn an_edit_that_changes_nothing_is_an_error() {
        check("a", "a", "a", 1, Err(Problem::NoChange));
        check("a\n", "a\r\n", "a\n", 1, Err(Problem::NoChange));
    }

    #[test]
    fn the_last_line_break_is_kept() {
        check("a\nb\n", "b\n", "c", 1, Ok("a\nc\n"));
        check("a\nb\n", "\nb\n", "", 1, Ok("a\n"));
        check("a\nb\n", "a\nb\n", "", 1, Ok(""));
        check("a\nb", "b", "c", 1, Ok("a\nc"));
        check("a\nb", "b", "c\n", 1, Ok("a\nc\n"));
    }
}
