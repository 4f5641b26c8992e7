//! Finding lines that differ from the wanted ones only in the white space at their start and end.
//!
//! A model often gets the indentation of a block wrong, and nothing else. Whole lines are compared, so that a
//! short text is never found inside a word, and what is put there is indented as what was there.

use std::ops::Range;

/// How many characters of a line are quoted in a hint.
const HINT_CHARACTERS: usize = 120;

/// How many lines are compared at each place for a hint, so that a repetitive file does not make it slow.
const HINT_LINES: usize = 200;

/// The places where the lines of `old` stand, white space at their ends aside. They do not overlap. None for an `old`
/// of white space alone, which would fit any blank line.
pub(crate) fn places(text: &str, old: &str) -> Vec<Range<usize>> {
    let wanted = trimmed(old);
    if wanted.iter().all(|line| line.is_empty()) {
        return Vec::new();
    }
    let lines = spans(text);
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(window) = lines.get(at..at + wanted.len()) {
        if window.iter().zip(&wanted).any(|(span, wanted)| text[span.clone()].trim() != *wanted) {
            at += 1;
            continue;
        }
        if let (Some(first), Some(last)) = (window.first(), window.last()) {
            places.push(first.start..last.end);
        }
        at += wanted.len();
    }
    places
}

/// What comes in place of the lines at `place`, and where: `new`, indented as they are.
pub(crate) fn replacement(text: &str, place: Range<usize>, old: &str, new: &str) -> (Range<usize>, String) {
    let replacement = reindented(&text[place.clone()], old, new);
    // Nothing in place of whole lines takes their last line break with it.
    let end = if new.is_empty() { (place.end + 1).min(text.len()) } else { place.end };
    (place.start..end, replacement)
}

/// Where the text nearly stands: the place where the most of its lines in a row agree.
pub(crate) fn nearest(text: &str, old: &str) -> String {
    let wanted: Vec<&str> = trimmed(old).into_iter().skip_while(|line| line.is_empty()).collect();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let agreeing = |at: usize| {
        lines.iter().skip(at).zip(&wanted).take(HINT_LINES).take_while(|(line, wanted)| line == wanted).count()
    };
    // The first of the longest: `max_by_key` alone would take the last.
    let best = (0..lines.len()).rev().map(|at| (agreeing(at), at)).max_by_key(|&(count, _)| count);
    let quoted = |line: Option<&&str>| match line {
        Some(line) => format!("`{}`", line.chars().take(HINT_CHARACTERS).collect::<String>()),
        None => "the end of the file".to_owned(),
    };
    match best {
        Some((count, at)) if count > 0 && count < wanted.len() => format!(
            "the nearest place is line {}, where {count} of its {} lines agree, but then comes {} instead of {}: read the \
             file again",
            at + 1,
            wanted.len(),
            quoted(lines.get(at + count)),
            quoted(wanted.get(count)),
        ),
        _ => "not even its first line is in the file: read the file again".to_owned(),
    }
}

/// The lines of a text without the white space at their ends. A line break at the end begins no line.
fn trimmed(text: &str) -> Vec<&str> {
    text.strip_suffix('\n').unwrap_or(text).split('\n').map(str::trim).collect()
}

/// Where each line lies, without its line break.
fn spans(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let start = at;
            at += line.len();
            start..start + line.strip_suffix('\n').unwrap_or(line).len()
        })
        .collect()
}

/// The new lines, with the indentation that `old` has in front taken off and that of what was found put on.
fn reindented(found: &str, old: &str, new: &str) -> String {
    let old_indent = indent(old);
    let found_indent = indent(found);
    let new = new.strip_suffix('\n').unwrap_or(new);
    let mut text = String::with_capacity(new.len() + 64);
    for (number, line) in new.split('\n').enumerate() {
        if number > 0 {
            text.push('\n');
        }
        if line.trim().is_empty() {
            continue;
        }
        let common = line.bytes().zip(old_indent.bytes()).take_while(|(a, b)| a == b).count();
        text.push_str(found_indent);
        text.push_str(line.get(common..).unwrap_or(line));
    }
    text
}

/// The white space in front of the first line that is not blank.
fn indent(text: &str) -> &str {
    let line = text.split('\n').find(|line| !line.trim().is_empty()).unwrap_or("");
    line.get(..line.len() - line.trim_start().len()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, old: &str, new: &str, expected: &str) {
        let mut result = text.to_owned();
        for place in places(text, old).into_iter().rev() {
            let (place, new) = replacement(text, place, old, new);
            result.replace_range(place, &new);
        }
        assert_eq!(result, expected, "{text:?} {old:?}");
    }

    #[test]
    fn the_new_lines_are_indented_like_the_old_ones() {
        check(
            "fn f() {\n    if a {\n        b\n    }\n}\n",
            "if a {\n    b\n}",
            "if c {\n    d\n}",
            "fn f() {\n    if c {\n        d\n    }\n}\n",
        );
        check("\t\ta\n\t\tb\n", "  a\n  b\n", "  x\n    y\n\n  z\n", "\t\tx\n\t\t  y\n\n\t\tz\n");
        check("a;  \nb;\n", "a;\nb;", "c;", "c;\n");
        check("  a\n", "        a", "b", "  b\n");
    }

    #[test]
    fn lines_are_compared_whole() {
        check("  abc\n", "ab", "x", "  abc\n");
        check("a\n\n\nb\n", "   \n", "x", "a\n\n\nb\n");
        check("a\n  b", "a\nb\nc", "x", "a\n  b");
    }

    #[test]
    fn every_place_is_found_once() {
        check(" a\n a\n a\n", "a\na", "x", " x\n a\n");
        check(" a\nb\n  a\n", "a\n", "x\n", " x\nb\n  x\n");
    }

    #[test]
    fn nothing_in_place_of_lines_takes_the_lines_away() {
        check("a\n  b\nc\n", "b ", "", "a\nc\n");
        check("a\n  b", "b ", "", "a\n");
    }

    #[test]
    fn a_hint_names_the_place_where_most_agrees() {
        let text = "a\nx\na\n  b\nc\n";
        let hint = nearest(text, "a\nb\nd\n");
        assert!(hint.contains("line 3, where 2 of its 3 lines agree, but then comes `c` instead of `d`"), "{hint}");
        assert!(nearest(text, "q").contains("not even its first line"));
        assert!(nearest("a", "a\nb").contains("then comes the end of the file instead of `b`"));
        assert!(nearest("", "a").contains("not even"));
    }
}
