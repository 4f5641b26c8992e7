//! Finds the files of the workspace for a user who types a part of a path.
//!
//! Files are looked up as the tool `ls` would list them: with its grants, without what a deny or an ignore rule leaves
//! out. The workspace is walked in steps of a limited time, so that a caller gets what is known so far and asks again;
//! the walk is repeated when it is some seconds old. A path that begins with `/`, `./` or `../`, or ends with `/`, is
//! listed instead.
//!
//! Deliberately not here: reading files (`attach`), and how matches are shown.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use host_plugin::{FileKind, Reader};
use host_settings::repository::REPOSITORY_MARKS;
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::app::App;

/// The most files and folders that are known. Protects memory and the time of a search.
const MAX_FILES: usize = 200_000;

/// The most matches of a search.
const MAX_MATCHES: usize = 50;

/// The most entries of a listed folder.
const MAX_LISTED: usize = 1_000;

/// The longest query, in bytes. Protects the time of a search.
const MAX_QUERY: usize = 500;

/// How long one search walks. What it has not seen by then, the next one sees.
const STEP: Duration = Duration::from_millis(100);

/// The age at which the files are looked up again.
const FRESH: Duration = Duration::from_secs(10);

/// Finds files of one workspace.
pub struct FileFinder {
    reader: Reader,
    index: Mutex<Index>,
}

/// The matches of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundFiles {
    /// The matches, the best first.
    pub paths: Vec<FoundPath>,
    /// Whether the workspace was not walked to its end yet: another search may find more.
    pub may_grow: bool,
}

/// A file or a folder that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPath {
    /// Its path, relative to the workspace unless the query was absolute. A folder's ends with `/`.
    pub path: String,
    /// Whether it is a folder.
    pub is_folder: bool,
}

#[derive(Debug, Default)]
struct Index {
    /// The files of the last whole walk.
    known: Vec<String>,
    /// The walk under way.
    walk: Option<Walk>,
    /// When the last whole walk ended.
    walked: Option<Instant>,
}

#[derive(Debug, Default)]
struct Walk {
    found: Vec<String>,
    /// Folders that were not listed yet, each with its `/`; the workspace's own is empty.
    folders: VecDeque<String>,
}

impl FileFinder {
    /// Creates a finder with the grants of `ls`; `None` if there is no such tool.
    pub fn new(app: &App) -> Option<Self> {
        let listing = app.plugin("ls")?;
        let grants = Arc::new(app.grants().granted_to(listing));
        let reader = Reader::new(Arc::clone(&app.workspace), grants, listing.manifest.plugin_name());
        Some(Self { reader, index: Mutex::default() })
    }

    /// Returns the files that a part of a path may mean. Takes about a tenth of a second at most, so it is not for the
    /// thread that reads keys.
    pub fn find(&self, query: &str) -> FoundFiles {
        if query.len() > MAX_QUERY {
            return FoundFiles::default();
        }
        let (folder, name) = query.rsplit_once('/').map_or(("", query), |(folder, name)| (folder, name));
        let is_place = ["/", "./", "../"].iter().any(|begin| query.starts_with(begin));
        if name.is_empty() || is_place {
            return FoundFiles { paths: self.listed(query, folder, name), may_grow: false };
        }
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        index.walk(STEP, |folder| self.entries(folder));
        let paths = matching(index.files(), query);
        FoundFiles { paths, may_grow: index.walked.is_none() }
    }

    /// Returns the entries of a folder whose names begin with this.
    fn listed(&self, query: &str, folder: &str, name: &str) -> Vec<FoundPath> {
        let prefix = if query.contains('/') { format!("{folder}/") } else { String::new() };
        let entries = self.entries(if prefix == "/" { "/" } else { folder });
        let is_hidden = name.starts_with('.');
        let mut found: Vec<FoundPath> = entries
            .into_iter()
            .filter(|entry| entry.starts_with(name) && (is_hidden || !entry.starts_with('.')))
            .take(MAX_LISTED)
            .map(|entry| FoundPath { is_folder: entry.ends_with('/'), path: prefix.clone() + &entry })
            .collect();
        found.sort_by(|a, b| b.is_folder.cmp(&a.is_folder).then_with(|| a.path.cmp(&b.path)));
        found
    }

    /// Returns the names in a folder, those of folders with a `/`. A name that cannot be written behind an `@` is left
    /// out.
    fn entries(&self, folder: &str) -> Vec<String> {
        let entries = self.reader.list(if folder.is_empty() { "." } else { folder }).unwrap_or_default().into_iter();
        entries
            .filter(|entry| !entry.found.ignored && !REPOSITORY_MARKS.contains(&entry.name.as_str()))
            .filter(|entry| !entry.name.contains(|c: char| c == '"' || c.is_control()))
            .filter(|entry| matches!(entry.found.kind, FileKind::File | FileKind::Folder | FileKind::Link))
            .map(|entry| if entry.found.kind == FileKind::Folder { entry.name + "/" } else { entry.name })
            .collect()
    }
}

impl Index {
    fn files(&self) -> &[String] {
        match (&self.walk, self.walked) {
            (Some(walk), None) => &walk.found,
            (_, _) => &self.known,
        }
    }

    /// Goes on with the walk for so long, or begins one if the files are not fresh.
    fn walk(&mut self, time: Duration, mut entries: impl FnMut(&str) -> Vec<String>) {
        let is_fresh = self.walked.is_some_and(|walked| walked.elapsed() < FRESH);
        if self.walk.is_none() && is_fresh {
            return;
        }
        let walk =
            self.walk.get_or_insert_with(|| Walk { folders: VecDeque::from([String::new()]), ..Walk::default() });
        let began = Instant::now();
        while let Some(folder) = walk.folders.pop_front() {
            for entry in entries(&folder) {
                if walk.found.len() == MAX_FILES {
                    walk.folders.clear();
                    break;
                }
                let path = format!("{folder}{entry}");
                if entry.ends_with('/') {
                    walk.folders.push_back(path.clone());
                }
                walk.found.push(path);
            }
            if began.elapsed() >= time {
                break;
            }
        }
        if walk.folders.is_empty() {
            self.known = std::mem::take(&mut walk.found);
            self.walk = None;
            self.walked = Some(Instant::now());
        }
    }
}

/// Returns the files that match, the best first.
fn matching(files: &[String], query: &str) -> Vec<FoundPath> {
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let pattern = Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
    let wants_hidden = query.starts_with('.') || query.contains("/.");
    let mut characters = Vec::new();
    let mut found: Vec<(u32, &String)> = files
        .iter()
        .filter(|file| wants_hidden || !(file.starts_with('.') || file.contains("/.")))
        .filter_map(|file| Some((pattern.score(Utf32Str::new(file, &mut characters), &mut matcher)?, file)))
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.len().cmp(&b.1.len())).then_with(|| a.1.cmp(b.1)));
    found.truncate(MAX_MATCHES);
    found.into_iter().map(|(_, file)| FoundPath { path: file.clone(), is_folder: file.ends_with('/') }).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use host_capability::{Capability, Grants, PluginName, Scope};
    use host_plugin::Workspace;

    use super::*;

    fn finder(root: &Path, scope: &str) -> FileFinder {
        let scope = Scope::parse(Capability::FsRead, scope, root).expect("a scope");
        let workspace = Arc::new(Workspace::new(root.to_owned()));
        let reader = Reader::new(workspace, Arc::new(Grants::none().with(scope)), PluginName::new("ls"));
        FileFinder { reader, index: Mutex::default() }
    }

    fn found(finder: &FileFinder, query: &str) -> Vec<String> {
        finder.find(query).paths.into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn finder_matches_anywhere_in_a_path_and_leaves_out_what_is_ignored_or_denied() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("it is there");
        for file in [
            "src/fuel.rs",
            "src/engine/fuel_pump.rs",
            "docs/a b.txt",
            ".github/fuel.yml",
            "target/fuel.o",
            "fuel.key",
            ".git/fuel",
            "bad\u{1b}[2Jfuel",
            "bad\"fuel",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
        fs::write(root.join(".gitignore"), "target\n").expect("written");
        let finder = finder(&root, ".,!*.key");
        assert_eq!(found(&finder, "fuel"), ["src/fuel.rs", "src/engine/fuel_pump.rs"]);
        assert_eq!(found(&finder, "fupump"), ["src/engine/fuel_pump.rs"]);
        assert_eq!(found(&finder, ".githubfuel"), [".github/fuel.yml"]);
        assert_eq!(found(&finder, ""), ["docs/", "src/"]);
        assert_eq!(found(&finder, "src/"), ["src/engine/", "src/fuel.rs"]);
        assert_eq!(found(&finder, "./s"), ["./src/"]);
        assert_eq!(found(&finder, "../"), [""; 0], "outside of what was granted");
        assert_eq!(found(&finder, "/etc/"), [""; 0]);
        assert_eq!(found(&finder, "no such file"), [""; 0]);
        assert!(!finder.find("fuel").may_grow);
    }

    #[test]
    fn finder_walks_in_steps_and_is_limited() {
        let mut index = Index::default();
        let mut listed = 0;
        let entries = |folder: &str| match folder {
            "" => (0..5).map(|n| format!("d{n}/")).collect(),
            _ => vec!["file".to_owned()],
        };
        for _ in 0..6 {
            assert_eq!(index.walked, None);
            index.walk(Duration::ZERO, |folder| {
                listed += 1;
                entries(folder)
            });
        }
        assert_eq!((listed, index.files().len()), (6, 10), "one folder a step");
        index.walk(Duration::ZERO, |_| panic!("the files are fresh"));
        let mut index = Index::default();
        index.walk(Duration::MAX, |folder| {
            assert_eq!(folder, "");
            (0..=MAX_FILES).map(|n| n.to_string()).collect()
        });
        assert_eq!(index.files().len(), MAX_FILES);
    }
}
