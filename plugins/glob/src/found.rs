//! The files that were found, in the order in which a model is told of them.
//!
//! A plugin has no clock, so "within a day" is a day before the latest change among the files found. That also
//! makes the same tree give the same answer at any time.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write;

use host_sdk::fs_read::WalkSummary;
use tool_text::printable;

/// How many paths a model is shown.
const MAX_LISTED: usize = 1_000;

/// How far before the latest change a file counts as recent, in milliseconds.
const RECENT: u64 = 24 * 60 * 60 * 1_000;

/// The files found so far. What it holds is bounded however many there are.
///
/// `newest` holds the candidates for the recent part. The rest must fill up what the recent part leaves free, and
/// recent files may be among the first paths too, hence twice as many of those.
#[derive(Default)]
pub(crate) struct Found {
    total: u64,
    newest: BTreeSet<(Reverse<u64>, String)>,
    first_paths: BTreeSet<(String, u64)>,
}

impl Found {
    /// Takes one file, with its time of change in milliseconds.
    pub(crate) fn add(&mut self, path: &str, modified: u64) {
        self.total += 1;
        let newer = |(last, _): &(Reverse<u64>, String)| last.0 <= modified;
        if self.newest.len() < MAX_LISTED || self.newest.last().is_some_and(newer) {
            self.newest.insert((Reverse(modified), path.to_owned()));
            if self.newest.len() > MAX_LISTED {
                self.newest.pop_last();
            }
        }
        let before = |(last, _): &(String, u64)| path < last.as_str();
        if self.first_paths.len() < 2 * MAX_LISTED || self.first_paths.last().is_some_and(before) {
            self.first_paths.insert((path.to_owned(), modified));
            if self.first_paths.len() > 2 * MAX_LISTED {
                self.first_paths.pop_last();
            }
        }
    }

    /// The first line.
    fn headline(&self, pattern: &str, path: &str) -> String {
        let (pattern, path) = (printable(pattern), printable(path));
        match self.total {
            0 => format!("No files found matching `{pattern}` in `{path}`"),
            1 => format!("Found 1 file matching `{pattern}` in `{path}`"),
            total => format!("Found {total} files matching `{pattern}` in `{path}`"),
        }
    }

    /// The line for a user, to whom the pattern is shown already.
    pub(crate) fn summary(&self) -> String {
        match self.total {
            0 => "no files".to_owned(),
            1 => "1 file".to_owned(),
            total => format!("{total} files"),
        }
    }

    /// The lines for a model.
    pub(crate) fn write(&self, pattern: &str, path: &str, summary: &WalkSummary) -> String {
        let mut text = self.headline(pattern, path);
        text.push('\n');
        for path in self.listed() {
            _ = writeln!(text, "{}", printable(path));
        }
        if self.total > MAX_LISTED as u64 {
            _ = writeln!(text, "(cut: {} more files, narrow the pattern)", self.total - MAX_LISTED as u64);
        }
        for (count, what) in [(summary.denied, "left out by the grant"), (summary.unreadable, "could not be read")] {
            if count > 0 {
                _ = writeln!(text, "({count} {what})");
            }
        }
        text
    }

    fn listed(&self) -> impl Iterator<Item = &str> {
        let latest = self.newest.first().map_or(0, |(modified, _)| modified.0);
        // A file whose time is unknown has 0, and is never recent.
        let recent = move |modified: u64| modified > 0 && modified >= latest.saturating_sub(RECENT);
        let newest = self.newest.iter().filter(move |(modified, _)| recent(modified.0)).map(|(_, path)| path);
        let rest = self.first_paths.iter().filter(move |(_, modified)| !recent(*modified)).map(|(path, _)| path);
        newest.chain(rest).map(String::as_str).take(MAX_LISTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;
    const NOTHING_LEFT_OUT: WalkSummary = WalkSummary { files: 0, too_large: 0, unreadable: 0, denied: 0 };

    fn found(files: &[(&str, u64)]) -> Found {
        let mut found = Found::default();
        files.iter().for_each(|(path, modified)| found.add(path, *modified));
        found
    }

    #[test]
    fn recent_files_come_first_and_the_rest_by_path() {
        let files =
            [("old/b", NOW - 9 * RECENT), ("z", NOW), ("old/a", NOW - 5 * RECENT), ("m", NOW - RECENT), ("unknown", 0)];
        assert_eq!(found(&files).listed().collect::<Vec<_>>(), ["z", "m", "old/a", "old/b", "unknown"]);
    }

    #[test]
    fn the_order_does_not_depend_on_how_the_walk_went() {
        let mut files = [("b", NOW), ("a", NOW), ("c", NOW - 1)];
        let forward = found(&files).listed().map(str::to_owned).collect::<Vec<_>>();
        files.reverse();
        assert_eq!(found(&files).listed().collect::<Vec<_>>(), forward);
        assert_eq!(forward, ["a", "b", "c"]);
    }

    #[test]
    fn the_total_is_true_even_when_the_list_is_cut() {
        for (recent, old) in [(0, 2_500), (600, 1_900), (1_500, 1_000)] {
            let mut found = Found::default();
            (0..recent).for_each(|i| found.add(&format!("a{i:04}"), NOW + i));
            (0..old).for_each(|i| found.add(&format!("b{i:04}"), NOW - 3 * RECENT - i));
            let text = found.write("*", ".", &NOTHING_LEFT_OUT);
            let lines: Vec<_> = text.lines().collect();
            assert_eq!(lines[0], "Found 2500 files matching `*` in `.`");
            assert_eq!(lines[1001], "(cut: 1500 more files, narrow the pattern)");
            let first_old = 1 + usize::try_from(recent).expect("a small number");
            if recent > 0 {
                assert_eq!(lines[1], format!("a{:04}", recent - 1));
            }
            if first_old <= 1_000 {
                assert_eq!(lines[first_old], "b0000");
                assert_eq!(lines[1_000], format!("b{:04}", 1_000 - first_old));
            }
        }
    }

    #[test]
    fn glob_without_a_match_reports_what_was_left_out() {
        let summary = WalkSummary { unreadable: 2, denied: 1, ..NOTHING_LEFT_OUT };
        let expected = "No files found matching `*.x` in `src`\n(1 left out by the grant)\n(2 could not be read)\n";
        assert_eq!(found(&[]).write("*.x", "src", &summary), expected);
    }
}
