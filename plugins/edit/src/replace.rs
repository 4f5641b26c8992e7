//! Replacing a text in a file, and why it may not be.
//!
//! Works on text whose line ending is `\n`; the file's own endings are put back by [`tool_matching::TextFile`].

use std::fmt;
use std::ops::Range;

use tool_matching::{Closeness, Text, find, line_of, nearest, replace_at};

/// How many bytes a file may have after an edit; the host has its own, lower limit. It bounds what a short text that
/// is replaced in very many places costs.
const MAX_RESULT: usize = 40 * 1024 * 1024;

/// How many lines are named where a text is that should be there once.
const MAX_NAMED: usize = 10;

/// What came of a replacement.
#[derive(Debug)]
pub(crate) struct Replaced {
    /// The new text.
    pub(crate) text: Text,
    /// How many places were replaced.
    pub(crate) count: usize,
    /// How close the old text is to what was there.
    pub(crate) closeness: Closeness,
    /// How the old text was read, if not as it was given.
    pub(crate) read_as: Option<&'static str>,
}

/// Why nothing was replaced, in words for the model.
#[derive(Debug, PartialEq)]
pub(crate) enum Problem {
    /// The new text is the old one.
    NoChange,
    /// The old text is not there. The lines that are nearest to it, as `read_file` shows them.
    NotFound { nearest: Option<String> },
    /// The new text is there already: at this line.
    Done { line: usize },
    /// The old text is there more than once: at these lines, counted from 1.
    Several { lines: Vec<usize> },
    /// The file would become too large.
    TooLarge,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChange => write!(f, "`old_string` and `new_string` are the same"),
            Self::TooLarge => write!(f, "it would have more than {MAX_RESULT} bytes"),
            Self::NotFound { nearest: None } => {
                write!(f, "`old_string` is not in it, and none of its lines is; read the file again")
            }
            Self::NotFound { nearest: Some(lines) } => {
                write!(f, "`old_string` is not in it. The nearest lines, with their numbers:\n{lines}")
            }
            Self::Done { line } => {
                write!(f, "`new_string` is in it already, at line {line}: the edit may have been made before")
            }
            Self::Several { lines } => {
                let named: Vec<String> = lines.iter().take(MAX_NAMED).map(usize::to_string).collect();
                let more = if lines.len() > MAX_NAMED { ", …" } else { "" };
                write!(
                    f,
                    "`old_string` is in it {} times, at the lines {}{more}; give more of the lines around the place that \
                     you mean, or pass `replace_all: true`",
                    lines.len(),
                    named.join(", ")
                )
            }
        }
    }
}

/// Replaces `old` by `new` where it is: once, or each time if `all` are wanted.
///
/// # Errors
///
/// If it is not there, or several times without `all`, or there is nothing to change.
pub(crate) fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<Replaced, Problem> {
    let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    if old == new {
        return Err(Problem::NoChange);
    }
    let Some(found) = find(text, &old, &new) else { return Err(missing(text, &old, &new)) };
    let count = found.places.len();
    if count > 1 && !all {
        let mut lines = Vec::with_capacity(count);
        // From one place to the next: there may be millions.
        let (mut line, mut at) = (1, 0);
        for place in &found.places {
            line += text.get(at..place.start).unwrap_or("").matches('\n').count();
            at = place.start;
            lines.push(line);
        }
        return Err(Problem::Several { lines });
    }
    if let [place] = found.places.as_slice()
        && let Some(line) = inserted_before(text, place.clone(), &old, &new)
    {
        return Err(Problem::Done { line });
    }
    if count.saturating_mul(new.len()).saturating_add(text.len()) > MAX_RESULT {
        return Err(Problem::TooLarge);
    }
    let places = found.places.iter().map(|place| found.replacement(text, place.clone()));
    let replaced = replace_at(text, places);
    Ok(Replaced { text: replaced, count, closeness: found.closeness, read_as: found.read_as })
}

/// The shortest text that is recognised as one that was put there before. Something shorter, such as a bracket, may be
/// meant to be there twice.
const MIN_DONE: usize = 10;

/// The line where `new` is, if all of it is around the place of `old` already: an edit that only inserts finds its old
/// text a second time as well.
fn inserted_before(text: &str, place: Range<usize>, old: &str, new: &str) -> Option<usize> {
    let ahead = new.find(old)?;
    let start = place.start.checked_sub(ahead)?;
    let is_there = text.get(start..).is_some_and(|rest| rest.starts_with(new));
    let inserted = new.len() - old.len();
    (is_there && inserted >= MIN_DONE).then(|| line_of(text, start))
}

fn missing(text: &str, old: &str, new: &str) -> Problem {
    // Of a line or more: a word may be there for another reason.
    let new_lines = new.trim_matches('\n');
    if new_lines.trim().len() >= MIN_DONE
        && let Some(at) = text.find(new_lines)
    {
        return Problem::Done { line: line_of(text, at) };
    }
    Problem::NotFound { nearest: nearest(text, old).map(|nearest| nearest.to_string()) }
}

/// What the model is told of a text that was not there to the letter; `None` if it was.
pub(crate) fn how(closeness: Closeness, read_as: Option<&str>) -> Option<String> {
    let differs = match closeness {
        Closeness::Exact => None,
        Closeness::Punctuation => Some("with other quotes, dashes or spaces"),
        Closeness::LineEnds => Some("with other white space at line ends"),
        Closeness::Indentation | Closeness::PartOfLines => Some("with other indentation"),
        Closeness::Spacing => Some("with other white space"),
    };
    let how: Vec<&str> = read_as.into_iter().chain(differs).collect();
    (!how.is_empty()).then(|| format!("found {}; what you did not change is as it was in the file", how.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, old: &str, new: &str, all: bool, result: Result<&str, Problem>) {
        let replaced = replace(text, old, new, all).map(|replaced| replaced.text.to_string());
        assert_eq!(replaced, result.map(str::to_owned), "{text:?} {old:?}");
    }

    #[test]
    fn text_that_is_there_to_the_letter_is_replaced() {
        check("let a = 1;\n", "1", "2", false, Ok("let a = 2;\n"));
        check("aXbXc", "X", "", true, Ok("abc"));
        check("aXbc", "X", "", true, Ok("abc"));
        check("a\nb\nc\n", "a\nb", "x", false, Ok("x\nc\n"));
        check("ä ö ä", "ä", "é", true, Ok("é ö é"));
    }

    #[test]
    fn edit_of_several_places_is_an_error_that_names_them() {
        check("a a\na", "a", "b", false, Err(Problem::Several { lines: vec![1, 1, 2] }));
        check(&"a".repeat(1_000), "a", &"b".repeat(1_000_000), true, Err(Problem::TooLarge));
        let words = Problem::Several { lines: (1..=12).collect() }.to_string();
        assert!(words.contains("12 times, at the lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …; give"), "{words}");
    }

    #[test]
    fn edit_of_text_that_is_not_there_shows_the_lines_that_are() {
        let lines = "3\tlet b = 2;\n4\tlet c = 3;\n";
        let text = "\nlet a = 1;\nlet b = 2;\nlet c = 3;\n";
        check(text, "let b = 2;\nlet c = 4;\n", "", false, Err(Problem::NotFound { nearest: Some(lines.to_owned()) }));
        check(text, "let d = 5;", "let d = 6;", false, Err(Problem::NotFound { nearest: None }));
        check(text, "let c = 2;", "let c = 3;", false, Err(Problem::Done { line: 4 }));
        let inserted = "let a = 1;\nlet b = 2;\n";
        check(text, "let a = 1;\n", inserted, false, Err(Problem::Done { line: 2 }));
        check(text, "let b = 2;\n", inserted, false, Err(Problem::Done { line: 2 }));
        // What is short may be meant to be there twice.
        check("{\n}\n}\n", "{\n", "{\n}\n", false, Ok("{\n}\n}\n}\n"));
    }

    #[test]
    fn an_edit_that_changes_nothing_is_an_error() {
        check("a", "a", "a", false, Err(Problem::NoChange));
        check("a\n", "a\r\n", "a\n", false, Err(Problem::NoChange));
    }

    #[test]
    fn the_last_line_break_is_kept() {
        check("a\nb\n", "b\n", "c", false, Ok("a\nc\n"));
        check("a\nb\n", "\nb\n", "", false, Ok("a\n"));
        check("a\nb\n", "a\nb\n", "", false, Ok(""));
        check("a\nb", "b", "c", false, Ok("a\nc"));
        check("a\nb", "b", "c\n", false, Ok("a\nc\n"));
    }
}
