//! What changes in a file, as a unified difference.
//!
//! Deliberately not here: colour and side-by-side views, which are the terminal's affair.

use std::fmt::Write;
use std::ops::Range;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffTag, group_diff_ops};
use tool_text::printable;

/// How many unchanged lines surround a change.
const CONTEXT_LINES: usize = 3;

/// How many lines around and between the changes are compared to each other. Comparing costs their number squared at
/// the worst, and a user who reads such a difference is not helped by a minimal one.
const MAX_COMPARED_LINES: usize = 20_000;

/// How many bytes of difference are written; what a user reads in a terminal has an end.
const MAX_DIFFERENCE: usize = 1024 * 1024;

/// The unified difference from `old` (none for a file that is not there) to `new`; empty when they are alike.
///
/// Over [`MAX_COMPARED_LINES`] it is right but not the smallest: everything between the first and the last changed
/// line is removed and added. Memory is taken for what lies between those two, not for the whole text.
pub fn unified(path: &str, old: Option<&str>, new: &str) -> String {
    let path = printable(path);
    let header = match old {
        Some(_) => format!("--- a/{path}\n+++ b/{path}\n"),
        None => format!("--- /dev/null\n+++ b/{path}\n"),
    };
    let before = old.unwrap_or("");
    if before == new {
        return if old.is_some() { String::new() } else { header };
    }
    let changed = Changed::between(before, new);
    let mut text = header;
    if count(changed.old) + count(changed.new) > MAX_COMPARED_LINES {
        changed.write_whole(&mut text);
    } else {
        changed.write_hunks(&mut text);
    }
    if text.len() > MAX_DIFFERENCE {
        text.truncate(text.floor_char_boundary(MAX_DIFFERENCE));
        text.truncate(text.rfind('\n').map_or(0, |at| at + 1));
        text.push_str("(cut: the difference is longer)\n");
    }
    text
}

/// The part of two texts that holds all changes, and the unchanged lines next to it.
struct Changed<'t> {
    /// How many lines come before `lead`.
    skipped: usize,
    /// Unchanged lines before the change.
    lead: &'t str,
    old: &'t str,
    new: &'t str,
    /// Unchanged lines behind the change.
    tail: &'t str,
}

impl<'t> Changed<'t> {
    fn between(before: &'t str, after: &'t str) -> Self {
        let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        // Back to the start of the line, which is the start of a character too.
        let start = before.as_bytes()[..same].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let (head, old) = before.split_at(start);
        let new = &after[start..];
        let same = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
        // Forward to the start of a line. The first line break among what is alike ends a line in both.
        let tail = old.as_bytes()[old.len() - same..].iter().position(|&byte| byte == b'\n');
        let same = tail.map_or(0, |at| same - at - 1);
        let (old, tail) = old.split_at(old.len() - same);
        let new = &new[..new.len() - same];
        let lead = last_lines(head);
        Self { skipped: count(head) - count(lead), lead, old, new, tail: first_lines(tail) }
    }

    /// One hunk that takes away all that was there and adds all that comes.
    fn write_whole(&self, text: &mut String) {
        let around = count(self.lead) + count(self.tail);
        let (old, new) = (self.skipped..self.skipped + around + count(self.old), around + count(self.new));
        _ = writeln!(text, "@@ -{} +{} @@", place(&old), place(&(self.skipped..self.skipped + new)));
        for (mark, part) in [(' ', self.lead), ('-', self.old), ('+', self.new), (' ', self.tail)] {
            put(text, mark, part.split_inclusive('\n'));
        }
    }

    fn write_hunks(&self, text: &mut String) {
        let lines = |part: &'t str| -> Vec<&'t str> {
            [self.lead, part, self.tail].iter().flat_map(|part| part.split_inclusive('\n')).collect()
        };
        let (before, after) = (lines(self.old), lines(self.new));
        // Not through `similar::Algorithm`, which brings all of them and 100 KiB of code.
        let mut hook = Compact::new(Replace::new(Capture::new()), &before[..], &after[..]);
        let Ok(()) = myers::diff(&mut hook, &before[..], 0..before.len(), &after[..], 0..after.len());
        for group in group_diff_ops(hook.into_inner().into_inner().into_ops(), CONTEXT_LINES) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let shifted = |start: usize, end: usize| start + self.skipped..end + self.skipped;
            let old = shifted(first.old_range().start, last.old_range().end);
            let new = shifted(first.new_range().start, last.new_range().end);
            _ = writeln!(text, "@@ -{} +{} @@", place(&old), place(&new));
            for change in &group {
                let (tag, old, new) = change.as_tag_tuple();
                if tag == DiffTag::Equal {
                    put(text, ' ', before[old].iter().copied());
                } else {
                    put(text, '-', before[old].iter().copied());
                    put(text, '+', after[new].iter().copied());
                }
            }
        }
    }
}

fn count(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count() + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn last_lines(text: &str) -> &str {
    let start = text.rmatch_indices('\n').nth(CONTEXT_LINES).map_or(0, |(at, _)| at + 1);
    &text[start..]
}

fn first_lines(text: &str) -> &str {
    let end = text.match_indices('\n').nth(CONTEXT_LINES - 1).map_or(text.len(), |(at, _)| at + 1);
    &text[..end]
}

/// Lines count from 1, and an empty range is named by the line before it.
fn place(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn put<'l>(text: &mut String, mark: char, lines: impl Iterator<Item = &'l str>) {
    for line in lines {
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
        if text.len() > MAX_DIFFERENCE {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let expected = "--- a/n.txt\n+++ b/n.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(unified("n.txt", Some(old), new), expected);
    }

    #[test]
    fn difference_edge_cases_are_distinguished() {
        let check = |old: Option<&str>, new: &str, expected: &str| {
            let text = unified("f", old, new);
            let hunks: String = text.split_inclusive('\n').skip(2).collect();
            assert_eq!(hunks, expected, "{old:?} {new:?}");
        };
        check(Some("a\n"), "a\n", "");
        check(None, "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n");
        check(Some("a\n"), "", "@@ -1 +0,0 @@\n-a\n");
        check(Some("a\n"), "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
        check(Some("a\r\n"), "a\n", "@@ -1 +1 @@\n-a\r\n+a\n");
    }

    #[test]
    fn a_new_file_has_no_old_name_and_an_empty_one_is_still_a_change() {
        assert_eq!(unified("f", None, ""), "--- /dev/null\n+++ b/f\n");
        assert!(unified("a\nb", None, "x\n").starts_with("--- /dev/null\n+++ b/a\\nb\n@@"));
    }

    #[test]
    fn difference_every_hunk_names_its_lines() {
        let old: String = (1..=40).map(|i| format!("{i}\n")).collect();
        let new = old.replace("\n10\n", "\nten\n").replace("\n30\n", "\n30\n30.5\n");
        let hunks: Vec<_> =
            unified("f", Some(&old), &new).lines().filter(|l| l.starts_with("@@")).map(str::to_owned).collect();
        assert_eq!(hunks, ["@@ -7,7 +7,7 @@", "@@ -28,6 +28,7 @@"]);
    }

    /// Applies a difference the way `patch` does, so that each is checked to be right and not only to look right.
    fn apply(old: &str, difference: &str) -> String {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let (mut new, mut at) = (String::new(), 0);
        let mut lines = difference.lines().skip(2).peekable();
        while let Some(line) = lines.next() {
            let (mark, rest) = line.split_at(1);
            let ending = if lines.next_if(|next| next.starts_with('\\')).is_some() { "" } else { "\n" };
            let line = format!("{rest}{ending}");
            match mark {
                "@" => {
                    let from =
                        rest.split(['-', ',', ' ']).nth(2).and_then(|n| n.parse::<usize>().ok()).expect("a number");
                    let empty = rest.contains(",0 +");
                    let start = if empty { from } else { from - 1 };
                    new.extend(old[at..start].iter().copied());
                    at = start;
                }
                "+" => new.push_str(&line),
                _ => {
                    assert_eq!(old[at], line);
                    at += 1;
                    if mark == " " {
                        new.push_str(&line);
                    }
                }
            }
        }
        new.extend(old[at..].iter().copied());
        new
    }

    #[test]
    fn applying_a_difference_gives_the_new_text() {
        let texts: Vec<String> = [
            "",
            "a",
            "\n",
            "a\n",
            "a\na\n",
            "ä\nö\n",
            "a\nb\nc\nd\ne\nf\ng\nh\n",
            "b\nc\nd\ne\nf\ng\nh",
            "a\nb\nc\nd\nX\ne\nf\ng\nh\n",
            "x\n\n\nx\n",
            "\n\n\n\n\n\nx",
        ]
        .map(str::to_owned)
        .to_vec();
        for old in &texts {
            for new in &texts {
                let difference = unified("f", Some(old), new);
                if old != new {
                    assert_eq!(&apply(old, &difference), new, "{old:?}\n{difference}");
                }
            }
        }
    }

    #[test]
    fn a_huge_change_is_right_if_not_minimal() {
        let lines = |word: &str| (0..MAX_COMPARED_LINES).map(|i| format!("{word}{i}\n")).collect::<String>();
        let (old, new) = (format!("0\n1\n2\n3\n{}end\n", lines("a")), format!("0\n1\n2\n3\n{}end\n", lines("b")));
        let text = unified("f", Some(&old), &new);
        assert!(text.contains("@@ -2,20004 +2,20004 @@\n 1\n 2\n 3\n-a0\n"));
        assert!(text.ends_with("+b19999\n end\n"));
        assert_eq!(apply(&old, &text), new);
    }

    #[test]
    fn difference_that_is_endless_is_cut_and_marked() {
        let text = unified("f", None, &format!("{}\n", "x".repeat(99)).repeat(20_000));
        assert!(text.len() <= MAX_DIFFERENCE + 100);
        assert!(text.ends_with("x\n(cut: the difference is longer)\n"));
    }
}
