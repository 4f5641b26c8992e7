//! Hunks of a patch, put into the text of a file.
//!
//! A hunk goes to the one place where its old lines are. With lines that narrow it down (`@@ fn main`), it goes to the
//! first place behind them; without, a second place is an error: an edit in a wrong place is worse than none.

use std::fmt;
use std::ops::Range;

use tool_matching::{Closeness, LinesPlace, Text, carry, find_lines, line_of, nearest, replace_at};

use crate::patch::Hunk;

/// Why a hunk has no place.
#[derive(Debug, PartialEq)]
pub(crate) enum NoPlace {
    /// A line that narrows it down is not there.
    Context { line: String },
    /// Its lines are not there; the nearest ones, with their numbers.
    Missing { first: String, nearest: Option<String> },
    /// They are there several times, at these lines, counted from 1.
    Several { first: String, lines: Vec<usize> },
    /// They are not at the end of the file, as the patch says.
    NotAtEnd { first: String },
    /// Two hunks change the same lines.
    Overlap { line: usize },
}

impl fmt::Display for NoPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Context { line } => write!(f, "the line `{line}`, given behind `@@`, is not in it"),
            Self::Missing { first, nearest: None } => {
                write!(f, "the lines from `{first}` on are not in it, and none of them is; read the file again")
            }
            Self::Missing { first, nearest: Some(lines) } => {
                write!(f, "the lines from `{first}` on are not in it. The nearest lines, with their numbers:\n{lines}")
            }
            Self::Several { first, lines } => {
                let lines: Vec<String> = lines.iter().take(10).map(usize::to_string).collect();
                write!(
                    f,
                    "the lines from `{first}` on are in it several times, at {}; give more lines around the place, or \
                     the line of its function or class behind `@@`",
                    lines.join(", ")
                )
            }
            Self::NotAtEnd { first } => {
                write!(f, "the lines from `{first}` on are not at its end, as `*** End of File` says")
            }
            Self::Overlap { line } => write!(f, "two hunks change line {line}: make one of them"),
        }
    }
}

/// Puts the hunks into the text, whose lines end in `\n`. Returns the new text, and whether each hunk was there to the
/// letter.
///
/// # Errors
///
/// All hunks that have no place.
pub(crate) fn put(text: &str, hunks: &[Hunk]) -> Result<(Text, bool), Vec<NoPlace>> {
    let count = text.lines().count();
    let mut exact = true;
    let mut places: Vec<(Range<usize>, String)> = Vec::new();
    let mut errors = Vec::new();
    // The line behind the last hunk: hunks come in the order of the file.
    let mut cursor = 0;
    for hunk in hunks {
        match place(text, hunk, cursor, count) {
            Ok(found) => {
                exact &= found.closeness == Closeness::Exact;
                cursor = found.next;
                places.push((found.bytes, found.new));
            }
            Err(error) => errors.push(error),
        }
    }
    places.sort_by_key(|(place, _)| (place.start, place.end));
    for pair in places.windows(2) {
        if let [(one, _), (other, _)] = pair
            && one.end > other.start
        {
            errors.push(NoPlace::Overlap { line: line_of(text, other.start) });
        }
    }
    if errors.is_empty() { Ok((replace_at(text, places), exact)) } else { Err(errors) }
}

struct Placed {
    bytes: Range<usize>,
    new: String,
    closeness: Closeness,
    /// The line behind it.
    next: usize,
}

fn place(text: &str, hunk: &Hunk, cursor: usize, count: usize) -> Result<Placed, NoPlace> {
    let mut from = cursor;
    for line in &hunk.context {
        from = context(text, line, from, count).ok_or_else(|| NoPlace::Context { line: line.clone() })? + 1;
    }
    if hunk.old.is_empty() {
        return Ok(insertion(text, hunk, from));
    }
    let (old, new) = (&hunk.old, &hunk.new);
    // The line behind `@@` may be the first line of the hunk as well. Without such a line, a model that is not sure of the
    // order of a file's parts still knows their lines.
    let again = if hunk.context.is_empty() { 0 } else { from - 1 };
    let found = lines(text, old, new, hunk, from, count).or_else(|| lines(text, old, new, hunk, again, count));
    let blank = old.iter().rev().take_while(|line| line.trim().is_empty()).count();
    // An empty line in front of `***` or of the next hunk belongs to the patch rather than to the file.
    let found = found.or_else(|| {
        let is_kept = |lines: &[String]| lines.iter().rev().take(blank).all(|line| line.trim().is_empty());
        let (old, new) = (old.get(..old.len() - blank)?, new.get(..new.len().checked_sub(blank)?)?);
        (blank > 0 && !old.is_empty() && is_kept(&hunk.new))
            .then(|| lines(text, old, new, hunk, again, count))
            .flatten()
    });
    let first =
        || old.iter().find(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned()).unwrap_or_default();
    let Some((closeness, mut places, old, new)) = found else {
        let nearest = nearest(text, &old.join("\n")).map(|nearest| nearest.to_string());
        return Err(NoPlace::Missing { first: first(), nearest });
    };
    if hunk.at_end {
        places.retain(|place| place.first + old.len() == count);
        if places.is_empty() {
            return Err(NoPlace::NotAtEnd { first: first() });
        }
    }
    if places.len() > 1 && hunk.context.is_empty() {
        return Err(NoPlace::Several { first: first(), lines: places.iter().map(|place| place.first + 1).collect() });
    }
    let Some(LinesPlace { first, bytes }) = places.into_iter().next() else {
        return Err(NoPlace::Missing { first: first(), nearest: None });
    };
    let next = first + old.len();
    let found = text.get(bytes.clone()).unwrap_or("");
    // Nothing in place of lines takes the last line break with it.
    let end = if new.is_empty() { (bytes.end + 1).min(text.len()) } else { bytes.end };
    let new = if new.is_empty() { String::new() } else { carry(found, &old.join("\n"), &new.join("\n"), closeness) };
    Ok(Placed { bytes: bytes.start..end, new, closeness, next })
}

type FoundLines = (Closeness, Vec<LinesPlace>, Vec<String>, Vec<String>);

fn lines(text: &str, old: &[String], new: &[String], hunk: &Hunk, from: usize, count: usize) -> Option<FoundLines> {
    // Blank lines alone are everywhere.
    if old.iter().all(|line| line.trim().is_empty()) && hunk.context.is_empty() && !hunk.at_end {
        return None;
    }
    let wanted: Vec<&str> = old.iter().map(String::as_str).collect();
    let (closeness, places) = find_lines(text, &wanted, from..count);
    (!places.is_empty()).then(|| (closeness, places, old.to_vec(), new.to_vec()))
}

/// The first line from `from` on that is given behind `@@`: the whole line, or how it begins.
fn context(text: &str, line: &str, from: usize, count: usize) -> Option<usize> {
    let (_, places) = find_lines(text, &[line], from..count);
    let whole = places.first().map(|place| place.first);
    whole.or_else(|| {
        let is_start = |&(_, other): &(usize, &str)| other.trim_start().starts_with(line.trim());
        text.lines().enumerate().skip(from).find(is_start).map(|(number, _)| number)
    })
}

/// A hunk that only adds lines: behind the line given with `@@`, or at the end of the file.
fn insertion(text: &str, hunk: &Hunk, from: usize) -> Placed {
    let at_line = (!hunk.context.is_empty() && !hunk.at_end).then_some(from);
    let at = at_line.and_then(|line| text.split_inclusive('\n').take(line).map(str::len).reduce(|a, b| a + b));
    let at = at.unwrap_or(text.len());
    let is_open = at > 0 && !text.get(..at).unwrap_or("").ends_with('\n');
    let (before, behind) = if is_open { ("\n", "") } else { ("", "\n") };
    let new = format!("{before}{}{behind}", hunk.new.join("\n"));
    Placed { bytes: at..at, new, closeness: Closeness::Exact, next: from }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::{Action, parse};

    fn hunks(body: &str) -> Vec<Hunk> {
        let patch = parse(&format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch")).expect("a patch");
        match patch.files.into_iter().next().map(|file| file.action) {
            Some(Action::Update { hunks, .. }) => hunks,
            other => panic!("{other:?}"),
        }
    }

    fn check(text: &str, body: &str, expected: &str) {
        let put = put(text, &hunks(body)).map(|(text, _)| text.to_string());
        assert_eq!(put.as_deref(), Ok(expected), "{text:?} {body}");
    }

    #[test]
    fn hunk_goes_to_its_lines() {
        check("a\nb\nc\n", " a\n-b\n+B\n c\n", "a\nB\nc\n");
        check("a\nb\nc\n", "@@\n-b\n", "a\nc\n");
        check("a\nb\nc\n", " a\n+x\n", "a\nx\nb\nc\n");
        check("a\nb\nc\n", "-a\n-b\n-c\n", "");
        check("a\nb", "-b\n+c\n", "a\nc");
        // Several, in the order of the file or not.
        check("a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D\n", "A\nb\nc\nD\n");
        check("a\nb\nc\nd\n", "@@\n-d\n+D\n@@\n-a\n+A\n", "A\nb\nc\nD\n");
        // An empty line behind a hunk is none of the file's.
        check("a\nb\nc\n", "@@\n-a\n+A\n\n@@\n-c\n+C\n", "A\nb\nC\n");
    }

    #[test]
    fn hunk_with_other_white_space_and_quotes_keeps_the_files() {
        check("\tf(“a”);  \n\tg();\n", " f(\"a\");\n-g();\n+h();\n+i();\n", "\tf(“a”);  \n\th();\n\ti();\n");
        let (_, exact) = put("  a\n", &hunks("-a\n+b\n")).expect("it is there");
        assert!(!exact);
    }

    #[test]
    fn lines_behind_at_signs_narrow_the_place_down() {
        let text = "fn a() {\n    x();\n}\nfn b() {\n    x();\n}\n";
        check(text, "@@ fn b() {\n-    x();\n+    y();\n", "fn a() {\n    x();\n}\nfn b() {\n    y();\n}\n");
        check(text, "@@ fn b()\n-    x();\n+    y();\n", "fn a() {\n    x();\n}\nfn b() {\n    y();\n}\n");
        check(text, "@@ fn a() {\n-    x();\n+    y();\n", "fn a() {\n    y();\n}\nfn b() {\n    x();\n}\n");
        // The line is a part of the hunk as well.
        check(text, "@@ fn b() {\n fn b() {\n-    x();\n", "fn a() {\n    x();\n}\nfn b() {\n}\n");
        check(text, "@@ fn b() {\n+    w();\n", "fn a() {\n    x();\n}\nfn b() {\n    w();\n    x();\n}\n");
        // Never above the line that was given.
        let above = put(text, &hunks("@@ fn b() {\n-fn a() {\n"));
        assert!(matches!(above.as_ref().map_err(Vec::as_slice), Err([NoPlace::Missing { .. }])), "{above:?}");
        check("a\n", "+b\n", "a\nb\n");
        check("a", "+b\n", "a\nb");
        check("", "+b\n", "b\n");
        check("x\ny\nx\n", "-x\n+z\n*** End of File\n", "x\ny\nz\n");
    }

    #[test]
    fn hunk_without_one_place_is_an_error_with_what_is_there() {
        let check = |text: &str, body: &str, expected: NoPlace| {
            assert_eq!(put(text, &hunks(body)), Err(vec![expected]), "{text:?} {body}");
        };
        let text = "let a = 1;\nlet b = 2;\nlet a = 1;\n";
        let first = |line: &str| line.to_owned();
        check(text, "-let a = 1;\n+x\n", NoPlace::Several { first: first("let a = 1;"), lines: vec![1, 3] });
        check(text, "@@ fn f\n-let b = 2;\n", NoPlace::Context { line: first("fn f") });
        let nearest = Some("2\tlet b = 2;\n3\tlet a = 1;\n".to_owned());
        check(text, " let b = 2;\n-let c = 1;\n", NoPlace::Missing { first: first("let b = 2;"), nearest });
        check(text, "-what\n", NoPlace::Missing { first: first("what"), nearest: None });
        check(text, "-let b = 2;\n*** End of File\n", NoPlace::NotAtEnd { first: first("let b = 2;") });
        check("a\nb\nc\n", "@@\n-a\n-b\n@@\n-b\n-c\n", NoPlace::Overlap { line: 2 });
        check("a\n\n\nb\n", "-\n+x\n", NoPlace::Missing { first: String::new(), nearest: None });
    }
}
