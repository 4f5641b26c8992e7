//! The matching lines themselves, the first of them by path, with the lines around them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use host_sdk::fs_read::Batch;
use memchr::{memchr, memchr_iter, memrchr};
use tool_text::printable;

use crate::page::Page;
use crate::scan::{Hit, Next};
use crate::text::{plural, shown};

/// How many lines of a match that goes over several are shown: it can go over a whole file.
const MAX_MATCH_LINES: usize = 20;

/// The first matches by path, up to the end of the page, and one more while it is sorted in.
pub(crate) struct Matches {
    page: Page,
    around: Around,
    /// No file without a match.
    files: BTreeMap<String, Vec<Match>>,
    /// How many matches the files hold.
    kept: usize,
    /// Whether there are more matches than are kept.
    more: bool,
    /// How far line numbers were counted in the file that was hit last.
    counted: Counted,
}

/// How many lines are shown around a match.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around {
    pub(crate) before: usize,
    pub(crate) after: usize,
}

struct Match {
    /// Of its first line.
    number: u64,
    lines: Vec<String>,
    /// How many more lines it has.
    more_lines: u64,
    /// The nearest first.
    before: Vec<String>,
    after: Vec<String>,
}

/// A line of a file as it is written.
struct Row<'m> {
    mark: char,
    text: &'m str,
    more_lines: u64,
}

/// A place in a batch, with its line number.
#[derive(Default)]
struct Counted {
    path: String,
    offset: usize,
    line: u64,
}

impl Matches {
    /// Collects the matches of a page with the lines around each.
    pub(crate) fn new(page: Page, around: Around) -> Self {
        Self { page, around, files: BTreeMap::new(), kept: 0, more: false, counted: Counted::default() }
    }

    /// Takes the lines of one match; `find` finds it in its line.
    pub(crate) fn take(&mut self, batch: &Batch, hit: &Hit, find: impl FnOnce(&[u8]) -> Option<Range<usize>>) -> Next {
        let path = batch.name(hit.file);
        if self.kept >= self.page.end() && self.files.last_key_value().is_some_and(|(last, _)| *path >= **last) {
            self.more = true;
            return Next::File;
        }
        let number = self.line_number(&path, batch, hit);
        let (span, contents) = (batch.content_span(hit.file), batch.contents());
        let text = |line| shown(&contents[line], |_| None);
        let mut of_match = lines_after(contents, hit.lines.start, hit.lines.end);
        let first = of_match.next().map(|line| match hit.start {
            Some(start) => shown(&contents[line.clone()], |_| Some(start - line.start..start - line.start)),
            None => shown(&contents[line], find),
        });
        let found = Match {
            number,
            lines: first.into_iter().chain(of_match.by_ref().take(MAX_MATCH_LINES - 1).map(text)).collect(),
            more_lines: of_match.count() as u64,
            before: lines_before(contents, span.start, hit.lines.start).take(self.around.before).map(text).collect(),
            after: lines_after(contents, hit.lines.end, span.end).take(self.around.after).map(text).collect(),
        };
        self.files.entry(path.into_owned()).or_default().push(found);
        self.kept += 1;
        if self.kept > self.page.end() {
            self.more = true;
            self.kept -= 1;
            if let Some(mut last) = self.files.last_entry() {
                last.get_mut().pop();
                if last.get().is_empty() {
                    last.remove();
                }
            }
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
        let passed = batch.contents().get(counted.offset..hit.lines.start).unwrap_or(&[]);
        counted.line += memchr_iter(b'\n', passed).count() as u64;
        counted.offset = hit.lines.start;
        counted.line
    }

    /// The lines for a model.
    pub(crate) fn write(&self, pattern: &str) -> String {
        let pattern = printable(pattern);
        let Page { offset, .. } = self.page;
        if self.files.is_empty() {
            return format!("No matches found for `{pattern}`\n");
        }
        let shown = self.kept.saturating_sub(offset);
        if shown == 0 {
            let all = plural(self.kept as u64, "match", "matches");
            return format!("No more matches for `{pattern}`: {all} in all, and `offset` is {offset}\n");
        }
        let mut passed = 0;
        let on_page = self.files.iter().filter_map(|(path, matches)| {
            let skipped = offset.saturating_sub(passed).min(matches.len());
            passed += matches.len();
            (skipped < matches.len()).then_some((path, &matches[skipped..]))
        });
        let on_page: Vec<(&String, &[Match])> = on_page.collect();
        let files = plural(on_page.len() as u64, "file", "files");
        let mut text = match (offset, self.more) {
            (0, false) => format!("Found {} in {files} for `{pattern}`", plural(shown as u64, "match", "matches")),
            (0, true) => format!("Found the first {shown} matches in {files} for `{pattern}`"),
            (_, more) => {
                let last = if more { "" } else { ", the last," };
                format!("Found matches {} to {}{last} in {files} for `{pattern}`", offset + 1, self.kept)
            }
        };
        if self.more {
            let how = self.page.how_to_go_on();
            _ = write!(text, " (stopped there: {how}; `output: \"count\"` has the totals)");
        }
        text.push('\n');
        let has_groups = self.around.before + self.around.after > 0;
        let mut last: Option<(&str, u64)> = None;
        for (path, matches) in on_page {
            for (number, row) in rows(matches) {
                let follows = last.is_some_and(|(before, line)| before == path && line + 1 == number);
                if has_groups && last.is_some() && !follows {
                    text.push_str("--\n");
                }
                last = Some((path, number + row.more_lines));
                _ = writeln!(text, "{}{}{number}{} {}", printable(path), row.mark, row.mark, row.text);
                if row.more_lines > 0 {
                    let more = plural(row.more_lines, "more line", "more lines");
                    _ = writeln!(text, "(cut: {more} of this match)");
                }
            }
        }
        text
    }
}

/// The lines of some matches of a file, each once.
fn rows(matches: &[Match]) -> BTreeMap<u64, Row<'_>> {
    let mut rows = BTreeMap::new();
    let context = |text| Row { mark: '-', text, more_lines: 0 };
    for found in matches {
        for (line, number) in found.before.iter().zip((1..found.number).rev()) {
            rows.entry(number).or_insert(context(line));
        }
        for (line, number) in found.lines.iter().zip(found.number..) {
            rows.insert(number, Row { mark: ':', text: line, more_lines: 0 });
        }
        let end = found.number + found.lines.len() as u64;
        if let Some(last) = rows.get_mut(&(end - 1)) {
            last.more_lines = found.more_lines;
        }
        for (line, number) in found.after.iter().zip(end + found.more_lines..) {
            rows.insert(number, context(line));
        }
    }
    rows
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
    use crate::across::AcrossLines;
    use crate::pattern::Pattern;
    use crate::scan::Scanner;

    fn page_of(page: Page, around: Around, batches: &[&[(&str, &[u8])]]) -> String {
        let pattern = Pattern::new("x", false, false).expect("a pattern");
        let mut scanner = Scanner::new(&pattern);
        let mut matches = Matches::new(page, around);
        for files in batches {
            let batch = Batch::of(files);
            let find = |line: &[u8]| pattern.first_in(line);
            let scanned = scanner.scan(&pattern, &batch, |hit| matches.take(&batch, &hit, find));
            assert!(scanned.is_ok());
            assert!(matches.kept <= page.end());
        }
        matches.write("x")
    }

    fn search(context: usize, batches: &[&[(&str, &[u8])]]) -> String {
        page_of(Page::new(0, 100), Around { before: context, after: context }, batches)
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
        assert!(
            forward.starts_with(
                "Found the first 100 matches in 34 files for `x` (stopped there: go on with `offset: 100`;"
            )
        );
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

    // promise grep.pages: What `grep` finds comes in pages, each result on one of them, whatever the order of the walk,
    //   and a page that is not the last says how to get the next.
    #[test]
    fn grep_pages_have_every_match_once_whatever_the_order_of_the_walk() {
        let names: Vec<String> = (0..9).map(|i| format!("f{i}")).collect();
        let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x1\n\nx2\nx3\n"[..])).collect();
        let whole = search(0, &[&files]);
        let all: Vec<&str> = whole.lines().skip(1).collect();
        assert_eq!(all.len(), 27);
        for limit in [1, 2, 4, 9, 26, 27] {
            files.rotate_left(4);
            let mut offset = 0;
            let mut seen = Vec::new();
            loop {
                let page = page_of(Page::new(offset, limit), Around::default(), &[&files[..5], &files[5..]]);
                let (first, lines) = page.split_once('\n').expect("a first line");
                seen.extend(lines.lines().map(str::to_owned));
                if offset + limit >= 27 {
                    assert!(!first.contains("stopped there"), "{first}");
                    break;
                }
                assert!(
                    first.contains(&format!("(stopped there: go on with `offset: {}`;", offset + limit)),
                    "{first}"
                );
                offset += limit;
            }
            assert_eq!(seen, all, "{limit}");
        }
    }

    #[test]
    fn grep_page_says_which_matches_it_has() {
        let files: &[(&str, &[u8])] = &[("a", b"x1\nx2\n"), ("b", b"x3\nx4\n"), ("c", b"x5\n")];
        let page = |offset, limit| page_of(Page::new(offset, limit), Around::default(), &[files]);
        let totals = "`output: \"count\"` has the totals)";
        for (found, expected) in [
            (page(0, 5), "Found 5 matches in 3 files for `x`\na:1: x1\n".to_owned()),
            (
                page(0, 1),
                format!(
                    "Found the first 1 matches in 1 file for `x` (stopped there: go on with `offset: 1`; {totals}\na:1: x1\n"
                ),
            ),
            (
                page(1, 2),
                format!(
                    "Found matches 2 to 3 in 2 files for `x` (stopped there: go on with `offset: 3`; {totals}\na:2: x2\nb:1: x3\n"
                ),
            ),
            (page(3, 9), "Found matches 4 to 5, the last, in 2 files for `x`\nb:2: x4\nc:1: x5\n".to_owned()),
            (page(5, 9), "No more matches for `x`: 5 matches in all, and `offset` is 5\n".to_owned()),
        ] {
            assert!(found.starts_with(&expected), "{found}");
        }
        let many = b"x\n".repeat(7_000);
        let last = page_of(Page::new(9_999, 9_999), Around::default(), &[&[("a", &many)]]);
        let first = last.lines().next().unwrap_or_default();
        assert!(
            first.starts_with(
                "Found matches 5001 to 6000 in 1 file for `x` (stopped there: no `offset` is over 5000, so"
            )
        );
        assert_eq!(last.lines().count(), 1_001);
    }

    #[test]
    fn grep_page_has_only_the_context_of_its_own_matches() {
        let files: &[(&str, &[u8])] = &[("a", b"1\nx2\n3\n4\n5\nx6\n7\n8\n9\nx10\n11\n")];
        let page = |offset, before, after| page_of(Page::new(offset, 1), Around { before, after }, &[files]);
        let lines = |found: String| found.split_once('\n').expect("a first line").1.to_owned();
        assert_eq!(lines(page(0, 1, 0)), "a-1- 1\na:2: x2\n");
        assert_eq!(lines(page(1, 0, 2)), "a:6: x6\na-7- 7\na-8- 8\n");
        assert_eq!(lines(page(2, 1, 5)), "a-9- 9\na:10: x10\na-11- 11\n");
        // Of a line around that matches too, the page is not the one.
        assert_eq!(
            lines(page(1, 4, 4)),
            "a-2- x2\na-3- 3\na-4- 4\na-5- 5\na:6: x6\na-7- 7\na-8- 8\na-9- 9\na-10- x10\n"
        );
    }

    #[test]
    fn grep_multiline_match_is_shown_with_its_lines_and_cut_when_it_is_long() {
        let search = |pattern: &str, text: &str, around: Around| {
            let (pattern, batch) =
                (AcrossLines::new(pattern, false, false).expect("a pattern"), Batch::of(&[("a", text.as_bytes())]));
            let mut matches = Matches::new(Page::new(0, 100), around);
            pattern.scan(&batch, |hit| matches.take(&batch, &hit, |_| None));
            matches.write("x")
        };
        let around = Around { before: 1, after: 1 };
        assert_eq!(
            search("b\nc|^e", "a\nb\nc\nd\ne\nf\n", around),
            "Found 2 matches in 1 file for `x`\na-1- a\na:2: b\na:3: c\na-4- d\na:5: e\na-6- f\n"
        );
        let long = format!("begin\n{}end\nbehind\n", "line\n".repeat(30));
        let found = search("(?s)begin.*end", &long, around);
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!(lines[..3], ["Found 1 match in 1 file for `x`", "a:1: begin", "a:2: line"]);
        assert_eq!(lines[20..], ["a:20: line", "(cut: 12 more lines of this match)", "a-33- behind"]);
        let wide = format!("{}begin\nend\n", "w".repeat(900));
        assert!(search("begin\nend", &wide, Around::default()).contains("wbegin [line cut]\na:2: end\n"));
    }
}
