//! How many lines match, and in which files, without the lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use tool_text::printable;

use crate::page::Page;
use crate::scan::Next;
use crate::text::plural;

/// Matches, counted.
pub(crate) struct Counts {
    page: Page,
    matches: u64,
    files: u64,
    /// The file that matches come from now. Those of one file come one after the other.
    current: String,
    /// The first files by path.
    first: BTreeMap<String, u64>,
}

/// Files with a match.
pub(crate) struct Files {
    page: Page,
    files: u64,
    /// The first by path.
    first: BTreeSet<String>,
}

impl Counts {
    /// Counts all, and lists the files of a page.
    pub(crate) fn new(page: Page) -> Self {
        Self { page, matches: 0, files: 0, current: String::new(), first: BTreeMap::new() }
    }

    /// Counts one match.
    pub(crate) fn take(&mut self, path: &str) -> Next {
        self.matches += 1;
        if self.files == 0 || self.current != path {
            self.files += 1;
            path.clone_into(&mut self.current);
            self.first.insert(path.to_owned(), 0);
            if self.first.len() > self.page.end() {
                self.first.pop_last();
            }
        }
        if let Some(count) = self.first.get_mut(path) {
            *count += 1;
        }
        Next::Line
    }

    /// The lines for a model.
    pub(crate) fn write(&self, pattern: &str) -> String {
        let pattern = printable(pattern);
        if self.matches == 0 {
            return format!("No matches found for `{pattern}`\n");
        }
        let (matches, files) = (plural(self.matches, "match", "matches"), plural(self.files, "file", "files"));
        let mut text = format!("Found {matches} in {files} for `{pattern}`\n");
        for (path, count) in self.first.iter().skip(self.page.offset) {
            _ = writeln!(text, "{}: {count}", printable(path));
        }
        cut(&mut text, self.files, self.page);
        text
    }
}

impl Files {
    /// Lists the files of a page.
    pub(crate) fn new(page: Page) -> Self {
        Self { page, files: 0, first: BTreeSet::new() }
    }

    /// Takes one file that has a match.
    pub(crate) fn take(&mut self, path: &str) -> Next {
        self.files += 1;
        self.first.insert(path.to_owned());
        if self.first.len() > self.page.end() {
            self.first.pop_last();
        }
        Next::File
    }

    /// The lines for a model.
    pub(crate) fn write(&self, pattern: &str) -> String {
        let pattern = printable(pattern);
        if self.files == 0 {
            return format!("No matches found for `{pattern}`\n");
        }
        let mut text = format!("Found matches in {} for `{pattern}`\n", plural(self.files, "file", "files"));
        for path in self.first.iter().skip(self.page.offset) {
            _ = writeln!(text, "{}", printable(path));
        }
        cut(&mut text, self.files, self.page);
        text
    }
}

fn cut(text: &mut String, files: u64, page: Page) {
    let more = files.saturating_sub(page.end() as u64);
    if more > 0 {
        let more = plural(more, "more file", "more files");
        _ = writeln!(text, "(cut: {more} not listed: {})", page.how_to_go_on());
    } else if files <= page.offset as u64 {
        _ = writeln!(text, "(none listed: `offset` is {}, and there are no more files)", page.offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_true_and_files_come_by_path() {
        let mut counts = Counts::new(Page::new(0, 100));
        for path in ["b", "b", "a/c", "a-b", "a-b", "a-b"] {
            counts.take(path);
        }
        assert_eq!(counts.write("x"), "Found 6 matches in 3 files for `x`\na-b: 3\na/c: 1\nb: 2\n");
        assert_eq!(Counts::new(Page::new(0, 100)).write("x"), "No matches found for `x`\n");
    }

    #[test]
    fn grep_counts_mark_a_cut_list_and_keep_the_totals() {
        let mut counts = Counts::new(Page::new(0, 100));
        let mut files = Files::new(Page::new(0, 1_000));
        for i in (0..1_250).rev() {
            let path = format!("{i:04}");
            counts.take(&path);
            counts.take(&path);
            files.take(&path);
        }
        let text = counts.write("x");
        assert!(text.starts_with("Found 2500 matches in 1250 files for `x`\n0000: 2\n"));
        assert!(text.ends_with("0099: 2\n(cut: 1150 more files not listed: go on with `offset: 100`)\n"));
        let text = files.write("x");
        assert!(text.starts_with("Found matches in 1250 files for `x`\n0000\n"));
        assert!(text.ends_with("0999\n(cut: 250 more files not listed: go on with `offset: 1000`)\n"));
    }

    #[test]
    fn grep_counts_and_files_have_pages() {
        let page = |offset| {
            let page = Page::new(offset, 2);
            let (mut counts, mut files) = (Counts::new(page), Files::new(page));
            for path in ["c", "a", "b", "b"] {
                counts.take(path);
            }
            for path in ["c", "a", "b"] {
                files.take(path);
            }
            (counts.write("x"), files.write("x"))
        };
        let (totals, files) = ("Found 4 matches in 3 files for `x`", "Found matches in 3 files for `x`");
        let more = "(cut: 1 more file not listed: go on with `offset: 2`)";
        assert_eq!(page(0), (format!("{totals}\na: 1\nb: 2\n{more}\n"), format!("{files}\na\nb\n{more}\n")));
        assert_eq!(page(2), (format!("{totals}\nc: 1\n"), format!("{files}\nc\n")));
        let none = "(none listed: `offset` is 3, and there are no more files)";
        assert_eq!(page(3), (format!("{totals}\n{none}\n"), format!("{files}\n{none}\n")));
    }
}
