//! How a directory is put into lines.

use std::cmp::Ordering;
use std::fmt::Write;

use host_sdk::fs_read::{Entry, Kind};
use tool_text::printable;

/// How many entries a model is shown; a directory with more is a cache or a store, not something to read.
const MAX_ENTRIES: usize = 2_000;

/// The lines for a model.
pub(crate) fn write(path: &str, entries: &[Entry], ignored: usize) -> String {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|a, b| order(a, b));

    let mut text = String::new();
    if sorted.is_empty() {
        let nothing = if ignored == 0 { "is empty" } else { "has nothing but ignored entries" };
        _ = writeln!(text, "`{path}` {nothing}");
    }
    for entry in sorted.iter().take(MAX_ENTRIES) {
        let name = printable(&entry.name);
        _ = match entry.kind {
            Kind::Directory => writeln!(text, "[dir] {name}"),
            Kind::File => writeln!(text, "{name} ({} bytes)", entry.size),
            Kind::Symlink => writeln!(text, "[link] {name}"),
            Kind::Other => writeln!(text, "[other] {name}"),
        };
    }
    if sorted.len() > MAX_ENTRIES {
        _ = writeln!(text, "(cut: {} more entries, use `glob` to narrow)", sorted.len() - MAX_ENTRIES);
    }
    if ignored > 0 {
        _ = writeln!(text, "({ignored} ignored)");
    }
    text
}

/// The line for a user.
pub(crate) fn summary(entries: usize, ignored: usize) -> String {
    let entries = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
    if ignored > 0 { format!("{entries} ({ignored} ignored)") } else { entries }
}

fn order(a: &Entry, b: &Entry) -> Ordering {
    let is_file = |entry: &Entry| entry.kind != Kind::Directory;
    is_file(a).cmp(&is_file(b)).then_with(|| a.name.cmp(&b.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: Kind, size: u64) -> Entry {
        Entry { name: name.to_owned(), kind, size, modified: None, ignored: false }
    }

    #[test]
    fn directories_come_first_then_names() {
        let entries = [
            entry("b.txt", Kind::File, 12),
            entry("zoo", Kind::Directory, 0),
            entry("a\nb", Kind::File, 1),
            entry("link", Kind::Symlink, 3),
            entry("app", Kind::Directory, 0),
        ];
        let expected = "[dir] app\n[dir] zoo\na\\nb (1 bytes)\nb.txt (12 bytes)\n[link] link\n(3 ignored)\n";
        assert_eq!(write(".", &entries, 3), expected);
    }

    #[test]
    fn ls_empty_directory_is_reported_as_empty() {
        assert_eq!(write("src", &[], 0), "`src` is empty\n");
        assert_eq!(write("src", &[], 2), "`src` has nothing but ignored entries\n(2 ignored)\n");
        assert_eq!(summary(1, 2), "1 entry (2 ignored)");
        assert_eq!(summary(2, 0), "2 entries");
    }

    #[test]
    fn ls_cut_listing_reports_how_much_is_missing() {
        let entries: Vec<_> = (0..MAX_ENTRIES + 7).map(|i| entry(&format!("{i:05}"), Kind::File, 0)).collect();
        let text = write(".", &entries, 0);
        assert!(text.ends_with("(cut: 7 more entries, use `glob` to narrow)\n"));
        assert_eq!(text.lines().count(), MAX_ENTRIES + 1);
    }
}
