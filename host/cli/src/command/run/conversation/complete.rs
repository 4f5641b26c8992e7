//! Completion with Tab: a command at the beginning of a line, a path after an `@`.
//!
//! Paths are looked up as `ls` would list them, with its grants and the project's ignore rules.

use std::sync::Arc;

use host_app::app::App;
use host_app::repository::REPOSITORY_MARKS;
use host_plugin::{FileKind, Reader};
use host_terminal::{Completer, Completions};

use super::commands;

/// The most candidates that are considered. Protects the user's time in a folder with very many files.
const MAX_CANDIDATES: usize = 1_000;

/// Completes what can be completed in this workspace.
pub(super) fn completer(app: &App) -> Completer {
    let reader = app.plugin("ls").map(|listing| {
        let grants = Arc::new(app.grants.granted_to(listing));
        Reader::new(Arc::clone(&app.workspace), grants, listing.manifest.plugin_name())
    });
    Box::new(move |before| match (command(before), &reader) {
        (Some(completions), _) => completions,
        (None, Some(reader)) => path(before, |folder| entries(reader, folder)),
        (None, None) => Completions::default(),
    })
}

/// A file or a folder.
struct Entry {
    name: String,
    is_folder: bool,
}

fn entries(reader: &Reader, folder: &str) -> Vec<Entry> {
    let entries = reader.list(folder).unwrap_or_default().into_iter();
    let shown = entries.filter(|entry| !entry.found.ignored && !REPOSITORY_MARKS.contains(&entry.name.as_str()));
    shown.map(|entry| Entry { is_folder: entry.found.kind == FileKind::Folder, name: entry.name }).collect()
}

fn command(before: &str) -> Option<Completions> {
    let is_name = before.starts_with('/') && !before.starts_with("//") && !before.contains(char::is_whitespace);
    is_name.then(|| {
        let matching = commands::ALL.iter().filter(|known| known.name.starts_with(before));
        Completions { replaced: before.len(), candidates: matching.map(|known| format!("{} ", known.name)).collect() }
    })
}

/// The path behind the last `@`. Names with blanks in them are quoted, as a mention takes them.
fn path(before: &str, entries: impl Fn(&str) -> Vec<Entry>) -> Completions {
    let Some(at) = before.rfind('@') else { return Completions::default() };
    let begins = before.get(..at).and_then(|text| text.chars().next_back()).is_none_or(|c| !c.is_ascii_alphanumeric());
    let written = before.get(at + 1..).unwrap_or_default();
    let (quoted, path) = written.strip_prefix('"').map_or((false, written), |path| (true, path));
    if !begins || path.contains(['"', '\n']) || (!quoted && path.contains(char::is_whitespace)) {
        return Completions::default();
    }
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let prefix = if path.contains('/') { format!("{folder}/") } else { String::new() };
    let looked_at = match (folder, prefix.as_str()) {
        ("", "/") => "/",
        ("", _) => ".",
        (folder, _) => folder,
    };
    let is_hidden = name.starts_with('.');
    let mut found: Vec<Entry> = entries(looked_at)
        .into_iter()
        .filter(|entry| entry.name.starts_with(name) && (is_hidden || !entry.name.starts_with('.')))
        .filter(|entry| !entry.name.contains(['"', '\n']) && !entry.name.chars().any(char::is_control))
        .take(MAX_CANDIDATES)
        .collect();
    found.sort_by(|a, b| b.is_folder.cmp(&a.is_folder).then_with(|| a.name.cmp(&b.name)));
    let candidate = |Entry { name, is_folder }: &Entry| {
        let path = format!("{prefix}{name}");
        match (quoted || path.contains(char::is_whitespace), is_folder) {
            (true, true) => format!("\"{path}/"),
            (true, false) => format!("\"{path}\" "),
            (false, true) => format!("{path}/"),
            (false, false) => format!("{path} "),
        }
    };
    Completions { replaced: written.len(), candidates: found.iter().map(candidate).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &str) -> Vec<Entry> {
        let names: &[(&str, bool)] = match folder {
            "." => &[("src", true), ("setup.py", false), ("a b.txt", false), (".hidden", false)],
            "src" => &[("main.rs", false), ("lib.rs", false)],
            _ => &[],
        };
        names.iter().map(|(name, is_folder)| Entry { name: (*name).to_owned(), is_folder: *is_folder }).collect()
    }

    #[test]
    fn paths_behind_an_at_are_completed() {
        for (before, replaced, candidates) in [
            ("see @s", 1, &["src/", "setup.py "][..]),
            ("@", 0, &["src/", "\"a b.txt\" ", "setup.py "]),
            ("@src/m", 5, &["src/main.rs "]),
            ("@\"a", 2, &["\"a b.txt\" "]),
            ("@.h", 2, &[".hidden "]),
            ("me@s", 0, &[]),
            ("@src/main.rs and", 0, &[]),
            ("s", 0, &[]),
        ] {
            let found = path(before, files);
            let expected = Completions { replaced, candidates: candidates.iter().map(|c| (*c).to_owned()).collect() };
            assert_eq!(found, expected, "{before}");
        }
    }

    #[test]
    fn completion_of_commands_works_only_at_the_beginning() {
        let names = |before| command(before).map(|found| found.candidates.concat());
        assert_eq!(names("/st").as_deref(), Some("/stats "));
        assert_eq!(names("/c").as_deref(), Some("/compress /clear /copy "));
        assert_eq!((names("a /st"), names("/model o"), names("//st")), (None, None, None));
    }
}
