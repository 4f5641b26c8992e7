//! A unified difference as numbered lines.
//!
//! Promises: each line of the difference is a row, in its order; only the two lines that name the one file, which the
//! caller has named, are left out. A line has the number that it has in the new file, a removed one that of the old
//! file. Which lines belong to a hunk is counted, not guessed: a removed line can begin like a header. Deliberately not
//! here: wrapping, and making text safe to show; the caller passes a function that does.

use anstyle::AnsiColor;

/// A row of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferenceRow {
    /// Its number and its mark, with a blank behind them; empty for a row that is not a line of a file.
    pub gutter: String,
    /// The text.
    pub text: String,
    /// The colour of the row.
    pub colour: Option<AnsiColor>,
}

/// The lines of a hunk that are still to come, and their numbers.
struct Hunk {
    old: u64,
    new: u64,
    old_left: u64,
    new_left: u64,
}

/// Returns the rows of a unified difference. `safe` makes a line of it safe to show.
pub fn difference(unified: &str, safe: impl Fn(&str) -> String) -> Vec<DifferenceRow> {
    let headers = |mark: &str| unified.lines().filter(|line| line.starts_with(mark)).count();
    let hunks = || unified.lines().filter_map(Hunk::parse);
    // One width for all rows, or the text would move sideways at line 100.
    let digits = hunks().map(|hunk| hunk.last().to_string().len()).max().unwrap_or(1);
    let mut rows = Vec::new();
    let mut lines = unified.lines().peekable();
    // Two files are distinguished by their names.
    let is_one_file = headers("+++ ") == 1 && headers("--- ") == 1;
    if is_one_file
        && let Some(old) = lines.next_if(|line| line.starts_with("--- "))
        && lines.next_if(|line| line.starts_with("+++ ")).is_some()
        && old == "--- /dev/null"
    {
        rows.push(plain("new file".to_owned(), None));
    }
    let mut hunk: Option<Hunk> = None;
    let mut is_first = true;
    for line in lines {
        // A hunk says how many lines it has, so a removed line that begins with `--` is not a header.
        if let Some(row) = hunk.as_mut().and_then(|hunk| hunk.row(line, digits, &safe)) {
            rows.push(row);
            continue;
        }
        match Hunk::parse(line) {
            Some(begins) => {
                if !std::mem::take(&mut is_first) {
                    rows.push(plain(format!("{}⋮", " ".repeat(digits.saturating_sub(1))), Some(AnsiColor::Cyan)));
                }
                hunk = Some(begins);
            }
            // What has no hunks is coloured by its marks.
            None => rows.push(plain(safe(line), hunk.is_none().then(|| by_mark(line)).flatten())),
        }
    }
    rows
}

fn by_mark(line: &str) -> Option<AnsiColor> {
    match line.bytes().next() {
        Some(b'+') => Some(AnsiColor::Green),
        Some(b'-') => Some(AnsiColor::Red),
        _ => None,
    }
}

fn plain(text: String, colour: Option<AnsiColor>) -> DifferenceRow {
    DifferenceRow { gutter: String::new(), text, colour }
}

impl Hunk {
    /// Reads `@@ -1,3 +1,4 @@`.
    fn parse(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let range = |text: &str| -> Option<(u64, u64)> {
            let (first, count) = text.split_once(',').unwrap_or((text, "1"));
            Some((first.parse().ok()?, count.parse().ok()?))
        };
        let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
        Some(Self { old, new, old_left, new_left })
    }

    /// The largest number of its lines.
    fn last(&self) -> u64 {
        self.old.saturating_add(self.old_left).max(self.new.saturating_add(self.new_left)).saturating_sub(1)
    }

    /// Returns the row of a line; `None` if the hunk has ended.
    fn row(&mut self, line: &str, digits: usize, safe: &impl Fn(&str) -> String) -> Option<DifferenceRow> {
        if self.old_left == 0 && self.new_left == 0 {
            return None;
        }
        let mark = line.chars().next().unwrap_or(' ');
        let (number, colour) = match mark {
            '+' if self.new_left > 0 => (self.new, Some(AnsiColor::Green)),
            '-' if self.old_left > 0 => (self.old, Some(AnsiColor::Red)),
            ' ' => (self.new, None),
            // `\ No newline at end of file`, or no difference after all.
            _ => return None,
        };
        if mark != '+' {
            self.old = self.old.saturating_add(1);
            self.old_left = self.old_left.saturating_sub(1);
        }
        if mark != '-' {
            self.new = self.new.saturating_add(1);
            self.new_left = self.new_left.saturating_sub(1);
        }
        let text = safe(line.get(mark.len_utf8()..).unwrap_or_default());
        Some(DifferenceRow { gutter: format!("{number:>digits$} {mark} "), text, colour })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(unified: &str, expected: &[&str]) {
        let rows = difference(unified, |line| line.replace('\u{1b}', "ESC"));
        let shown: Vec<String> = rows.iter().map(|row| format!("{}{}", row.gutter, row.text)).collect();
        assert_eq!(shown, expected, "{unified}");
    }

    #[test]
    fn difference_lines_have_their_numbers() {
        check(
            "--- a/x.rs\n+++ b/x.rs\n@@ -8,4 +8,5 @@\n a\n-old\n+new\n+two\n b\n c\n@@ -20 +21 @@\n-x\n+y\u{1b}\n",
            &[" 8   a", " 9 - old", " 9 + new", "10 + two", "11   b", "12   c", " ⋮", "20 - x", "21 + yESC"],
        );
        check("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", &["new file", "1 + a", "2 + b"]);
        check("--- /dev/null\n+++ b/x\n", &["new file"]);
        // Removed lines that look like headers.
        check(
            "--- a/x\n+++ b/x\n@@ -1,3 +1 @@\n--- a/y\n-@@ -1 +1 @@\n kept\n",
            &["--- a/x", "+++ b/x", "1 - -- a/y", "2 - @@ -1 +1 @@", "1   kept"],
        );
        // Two files, a missing line end, a note behind the last hunk, no difference at all.
        check(
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-c\n+d\n",
            &["--- a/x", "+++ b/x", "1 - a", "1 + b", "--- a/y", "+++ b/y", "⋮", "1 - c", "1 + d"],
        );
        check("@@ -1 +1 @@\n-a\n+b\n\\ No newline\n(cut)\n", &["1 - a", "1 + b", "\\ No newline", "(cut)"]);
        check("- was\n+ is\n", &["- was", "+ is"]);
        check("", &[]);
    }
}
