//! How many lines match, and in which files, without the lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use tool_text::printable;

use crate::scan::Next;
use crate::text::plural;

/// How many files a count is listed for.
const MAX_COUNTED_FILES: usize = 100;

/// How many paths are listed.
const MAX_LISTED_FILES: usize = 1_000;

/// Matching lines, counted.
#[derive(Default)]
pub(crate) struct Counts {
    matches: u64,
    files: u64,
    /// The file that matches come from now. Those of one file come one after the other.
    current: String,
    /// The first files by path.
    first: BTreeMap<String, u64>,
}

/// Files with a match.
#[derive(Default)]
pub(crate) struct Files {
    files: u64,
    /// The first by path.
    first: BTreeSet<String>,
}

impl Counts {
    /// Counts one matching line.
    pub(crate) fn take(&mut self, path: &str) -> Next {
        self.matches += 1;
        if self.files == 0 || self.current != path {
            self.files += 1;
            path.clone_into(&mut self.current);
            self.first.insert(path.to_owned(), 0);
            if self.first.len() > MAX_COUNTED_FILES {
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
        for (path, count) in &self.first {
            _ = writeln!(text, "{}: {count}", printable(path));
        }
        cut(&mut text, self.files, self.first.len());
        text
    }
}

impl Files {
    /// Takes one file that has a match.
    pub(crate) fn take(&mut self, path: &str) -> Next {
        self.files += 1;
        self.first.insert(path.to_owned());
        if self.first.len() > MAX_LISTED_FILES {
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
        for path in &self.first {
            _ = writeln!(text, "{}", printable(path));
        }
        cut(&mut text, self.files, self.first.len());
        text
    }
}

fn cut(text: &mut String, files: u64, listed: usize) {
    let more = files.saturating_sub(listed as u64);
    if more > 0 {
        _ = writeln!(text, "(cut: {} not listed)", plural(more, "more file", "more files"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_true_and_files_come_by_path() {
        let mut counts = Counts::default();
        for path in ["b", "b", "a/c", "a-b", "a-b", "a-b"] {
            counts.take(path);
        }
        assert_eq!(counts.write("x"), "Found 6 matches in 3 files for `x`\na-b: 3\na/c: 1\nb: 2\n");
        assert_eq!(Counts::default().write("x"), "No matches found for `x`\n");
    }

    #[test]
    fn grep_counts_mark_a_cut_list_and_keep_the_totals() {
        let mut counts = Counts::default();
        let mut files = Files::default();
        for i in (0..1_250).rev() {
            let path = format!("{i:04}");
            counts.take(&path);
            counts.take(&path);
            files.take(&path);
        }
        let text = counts.write("x");
        assert!(text.starts_with("Found 2500 matches in 1250 files for `x`\n0000: 2\n"));
        assert!(text.ends_with("0099: 2\n(cut: 1150 more files not listed)\n"));
        let text = files.write("x");
        assert!(text.starts_with("Found matches in 1250 files for `x`\n0000\n"));
        assert!(text.ends_with("0999\n(cut: 250 more files not listed)\n"));
    }
}
