//! The matching lines themselves, the first of them by path, with the lines around them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use host_sdk::fs_read::Batch;
use memchr::{memchr, memchr_iter, memrchr};
use tool_text::printable;

use crate::pattern::Pattern;
use crate::scan::{Hit, Next};
use crate::text::{plural, shown};

/// How many matches are shown.
const MAX_MATCHES: usize = 100;

/// The first matches by path. Holds no more than twice [`MAX_MATCHES`] of them.
pub(crate) struct Matches {
    context: usize,
    files: BTreeMap<String, File>,
    /// How many matches the files hold.
    kept: usize,
    /// Whether there are more matches than are kept.
    more: bool,
    /// How far line numbers were counted in the file that was hit last.
    counted: Counted,
}

#[derive(Default)]
struct File {
    matches: usize,
    lines: BTreeMap<u64, Line>,
}

struct Line {
    text: String,
    is_match: bool,
}

/// A place in a batch, with its line number.
#[derive(Default)]
struct Counted {
    path: String,
    offset: usize,
    line: u64,
}

impl Matches {
    /// Collects matches with this many lines before and after each.
    pub(crate) fn new(context: usize) -> Self {
        Self { context, files: BTreeMap::new(), kept: 0, more: false, counted: Counted::default() }
    }

    /// Takes one matching line.
    pub(crate) fn take(&mut self, pattern: &Pattern, batch: &Batch, hit: &Hit) -> Next {
        let path = batch.name(hit.file);
        if self.kept >= MAX_MATCHES && self.files.last_key_value().is_some_and(|(last, _)| *path >= **last) {
            self.more = true;
            return Next::File;
        }
        let number = self.line_number(&path, batch, hit);
        let file = self.files.entry(path.into_owned()).or_default();
        let (span, contents) = (batch.content_span(hit.file), batch.contents());
        let mut number_before = number;
        for line in lines_before(contents, span.start, hit.line.start).take(self.context) {
            number_before -= 1;
            let text = shown(&contents[line], |_| None);
            file.lines.entry(number_before).or_insert(Line { text, is_match: false });
        }
        let text = shown(&contents[hit.line.clone()], |line| pattern.first_in(line));
        file.lines.insert(number, Line { text, is_match: true });
        for (line, number) in lines_after(contents, hit.line.end, span.end).take(self.context).zip(number + 1..) {
            file.lines.insert(number, Line { text: shown(&contents[line], |_| None), is_match: false });
        }
        file.matches += 1;
        self.kept += 1;
        while let Some(last) = self.files.last_entry() {
            if self.kept - last.get().matches < MAX_MATCHES {
                break;
            }
            self.kept -= last.remove().matches;
            self.more = true;
        }
        Next::Line
    }

    /// Counts on from the last hit in the same file.
    fn line_number(&mut self, path: &str, batch: &Batch, hit: &Hit) -> u64 {
        let start = batch.content_span(hit.file).start;
        let counted = &mut self.counted;
        if counted.line == 0 || counted.path != path || counted.offset < start {
            *counted = Counted { path: path.to_owned(), offset: start, line: 1 };
        }
        let passed = batch.contents().get(counted.offset..hit.line.start).unwrap_or(&[]);
        counted.line += memchr_iter(b'\n', passed).count() as u64;
        counted.offset = hit.line.start;
        counted.line
    }

    /// The lines for a model.
    pub(crate) fn write(&self, pattern: &str) -> String {
        let pattern = printable(pattern);
        if self.files.is_empty() {
            return format!("No matches found for `{pattern}`\n");
        }
        let files = plural(self.files.len() as u64, "file", "files");
        let mut text = if self.more || self.kept > MAX_MATCHES {
            format!(
                "Found the first {MAX_MATCHES} matches in {files} for `{pattern}` (stopped there: narrow the search, or \
                 get the totals with `output: \"count\"`)\n"
            )
        } else {
            format!("Found {} in {files} for `{pattern}`\n", plural(self.kept as u64, "match", "matches"))
        };
        let mut left = MAX_MATCHES;
        let mut last: Option<(&str, u64)> = None;
        for (path, file) in &self.files {
            for (&number, line) in &file.lines {
                if line.is_match {
                    if left == 0 {
                        return text;
                    }
                    left -= 1;
                }
                let follows = last.is_some_and(|(before, line)| before == path && line + 1 == number);
                if self.context > 0 && last.is_some() && !follows {
                    text.push_str("--\n");
                }
                last = Some((path, number));
                let mark = if line.is_match { ':' } else { '-' };
                _ = writeln!(text, "{}{mark}{number}{mark} {}", printable(path), line.text);
            }
        }
        text
    }
}

/// The lines that end at `end`, the nearest first.
fn lines_before(contents: &[u8], start: usize, end: usize) -> impl Iterator<Item = Range<usize>> {
    let mut end = end;
    std::iter::from_fn(move || {
        let last = end.checked_sub(1).filter(|&last| last >= start)?;
        let from = memrchr(b'\n', contents.get(start..last)?).map_or(start, |at| start + at + 1);
        let line = from..end;
        end = from;
        Some(line)
    })
}

/// The lines that begin at `start`.
fn lines_after(contents: &[u8], start: usize, end: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = start;
    std::iter::from_fn(move || {
        let rest = contents.get(start..end).filter(|rest| !rest.is_empty())?;
        let to = memchr(b'\n', rest).map_or(end, |at| start + at + 1);
        let line = start..to;
        start = to;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Scanner;

    fn search(context: usize, batches: &[&[(&str, &[u8])]]) -> String {
        let pattern = Pattern::new("x", false, false).expect("a pattern");
        let mut scanner = Scanner::new(&pattern);
        let mut matches = Matches::new(context);
        for files in batches {
            let batch = Batch::of(files);
            let scanned = scanner.scan(&pattern, &batch, |hit| matches.take(&pattern, &batch, &hit));
            assert!(scanned.is_ok());
        }
        matches.write("x")
    }

    #[test]
    fn matches_come_by_path_with_their_line_numbers() {
        let found = search(0, &[&[("b", b"1\nx2\n3\nx4"), ("c", b"\n")], &[("a", b"\n\r\nx3\r\n")]]);
        assert_eq!(found, "Found 3 matches in 2 files for `x`\na:3: x3\nb:2: x2\nb:4: x4\n");
        assert_eq!(search(0, &[&[("a", b"1\n")]]), "No matches found for `x`\n");
        assert_eq!(search(3, &[&[("a", b"x\n")]]), "Found 1 match in 1 file for `x`\na:1: x\n");
    }

    #[test]
    fn context_stays_in_its_file_and_shows_no_line_twice() {
        let found = search(1, &[&[("a", b"1\n2\nx3\nx4\n5\n6\n7\nx8"), ("b", b"1\nx2\n")]]);
        let expected = "Found 4 matches in 2 files for `x`\n\
            a-2- 2\na:3: x3\na:4: x4\na-5- 5\n--\na-7- 7\na:8: x8\n--\nb-1- 1\nb:2: x2\n";
        assert_eq!(found, expected);
    }

    #[test]
    fn the_first_hundred_by_path_are_shown_whatever_the_order_of_the_walk() {
        let names: Vec<String> = (0..40).map(|i| format!("f{i:02}")).collect();
        let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x1\nx2\nx3\n"[..])).collect();
        let forward = search(0, &[&files]);
        files.reverse();
        let backward = search(0, &[&files[..7], &files[7..]]);
        files.rotate_left(13);
        assert_eq!(forward, backward);
        assert_eq!(forward, search(0, &[&files]));
        assert!(forward.starts_with("Found the first 100 matches in 34 files for `x` (stopped there"));
        assert!(forward.ends_with("f33:1: x1\n"));
        assert_eq!(forward.lines().count(), 101);
    }

    #[test]
    fn exactly_a_hundred_matches_are_all_of_them() {
        let (hundred, more) = (b"x\n".repeat(100), b"x\n".repeat(101));
        assert!(search(0, &[&[("a", &hundred)]]).starts_with("Found 100 matches in 1 file"));
        assert!(search(0, &[&[("a", &more)]]).starts_with("Found the first 100 matches in 1 file"));
        assert!(search(0, &[&[("a", &hundred), ("b", b"x")]]).starts_with("Found the first 100 matches in 1 file"));
    }
}
