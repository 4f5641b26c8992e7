//! The sources of a package or workspace, and whether they changed.
//!
//! Promises: what builds write, what `.gitignore` leaves out and hidden files are not looked at; a file counts as
//! changed when its content differs, and not when it was merely written again. Links are not followed.
//!
//! Deliberately not here: hearing that something happened (`watch`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use host_plugin::Digest;
use ignore::{DirEntry, WalkBuilder};

/// Files and folders that are watched. Protects the system's own limits and the user from a folder that is not a
/// package, such as a home folder.
const MAX_FILES: usize = 10_000;
/// See [`MAX_FILES`].
const MAX_FOLDERS: usize = 1_000;
/// The largest file whose content is compared; of a larger one it is the size and the time. Protects the time that a
/// look takes.
const MAX_READ: u64 = 4 << 20;

/// Folders without sources, wherever they are.
const NOT_WRITTEN: &[&str] = &["node_modules", "__pycache__", "zig-out"];
/// The same, next to the file that makes a folder a package.
const NOT_WRITTEN_BESIDE: &[(&str, &str)] = &[("build", "plugin.toml"), ("target", "Cargo.toml")];
/// The file that marks a folder whose contents can all be made again: <https://bford.info/cachedir/>.
const CACHE_MARK: &str = "CACHEDIR.TAG";
/// The one hidden folder that changes what is built.
const CARGO: &str = ".cargo";

/// A folder with more in it than the sources of a package or workspace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` has more than {limit} {what}", folder.display())]
pub struct TooManySources {
    folder: PathBuf,
    limit: usize,
    what: &'static str,
}

impl TooManySources {
    /// Returns advice on how to fix it.
    pub fn help(&self) -> &'static str {
        "name the folder of one package or workspace; what .gitignore leaves out is not watched"
    }
}

/// The folders that are searched for sources.
#[derive(Debug)]
pub(super) struct Sources {
    folder: PathBuf,
    /// The target folder of builds.
    target: PathBuf,
    /// Files that lie elsewhere.
    elsewhere: BTreeSet<PathBuf>,
}

/// The sources at one time.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    files: BTreeMap<PathBuf, Stamp>,
    /// The same of files that lie elsewhere.
    elsewhere: BTreeMap<PathBuf, Stamp>,
    folders: BTreeSet<PathBuf>,
}

/// Identifies the content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stamp {
    Content(Digest),
    Large { size: u64, written: Option<SystemTime> },
    Gone,
}

/// Files that are different from what they were, by their paths.
#[derive(Debug, Default)]
pub struct Changed {
    /// The sources among them.
    pub sources: Vec<PathBuf>,
    /// The files of cases among them.
    pub cases: Vec<PathBuf>,
}

impl Sources {
    /// Creates the sources of a folder. Both are real paths.
    pub(super) fn new(folder: PathBuf, target: PathBuf) -> Self {
        Self { folder, target, elsewhere: BTreeSet::new() }
    }

    /// Replaces the additional files outside the folder that are watched.
    pub(super) fn also(&mut self, mut elsewhere: BTreeSet<PathBuf>) {
        elsewhere.retain(|file| !file.starts_with(&self.folder));
        self.elsewhere = elsewhere;
    }

    /// Takes a snapshot of them.
    pub(super) fn look(&self) -> Result<Snapshot, TooManySources> {
        let mut snapshot = Snapshot::default();
        let target = self.target.clone();
        let walk = WalkBuilder::new(&self.folder)
            // Hidden files are left out below, except for one folder.
            .hidden(false)
            .ignore(false)
            .git_global(false)
            .git_exclude(false)
            .require_git(false)
            // A home folder under version control leaves everything out.
            .parents(false)
            .filter_entry(move |entry| entry.depth() == 0 || (entry.path() != target && is_written(entry)))
            .build();
        let many = |what, limit| TooManySources { folder: self.folder.clone(), limit, what };
        // A file that vanished or cannot be read is not a source for a compiler either.
        for entry in walk.flatten() {
            let Some(kind) = entry.file_type() else { continue };
            let path = entry.into_path();
            if kind.is_dir() {
                snapshot.folders.insert(path);
            } else if kind.is_file() {
                let stamp = Stamp::read(&path);
                snapshot.files.insert(path, stamp);
            }
            if snapshot.files.len() > MAX_FILES {
                return Err(many("files", MAX_FILES));
            }
            if snapshot.folders.len() > MAX_FOLDERS {
                return Err(many("folders", MAX_FOLDERS));
            }
        }
        for file in &self.elsewhere {
            snapshot.elsewhere.insert(file.clone(), Stamp::read(file));
            snapshot.folders.extend(file.parent().map(Path::to_owned));
        }
        Ok(snapshot)
    }
}

/// Returns whether an author writes this file.
fn is_written(entry: &DirEntry) -> bool {
    let (path, name) = (entry.path(), entry.file_name());
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    if name.as_encoded_bytes().starts_with(b".") {
        return is_folder && name == CARGO || path.parent().is_some_and(|folder| folder.ends_with(CARGO));
    }
    if !is_folder {
        // Backup files of editors.
        return !name.as_encoded_bytes().ends_with(b"~");
    }
    let beside = |mark: &str| path.with_file_name(mark).is_file();
    let is_made = NOT_WRITTEN.iter().any(|other| name == *other)
        || NOT_WRITTEN_BESIDE.iter().any(|(other, mark)| name == *other && beside(mark));
    !is_made && !path.join(CACHE_MARK).is_file()
}

impl Stamp {
    fn read(path: &Path) -> Self {
        let large = |about: Metadata| Self::Large { size: about.len(), written: about.modified().ok() };
        match std::fs::metadata(path) {
            Ok(about) if about.len() > MAX_READ => large(about),
            Ok(_) => {
                host_files::read_file(path, MAX_READ).map_or(Self::Gone, |bytes| Self::Content(Digest::of(&bytes)))
            }
            Err(_) => Self::Gone,
        }
    }
}

impl Snapshot {
    /// Returns the number of watched files.
    pub(super) fn files(&self) -> usize {
        self.files.len() + self.elsewhere.len()
    }

    /// The folders that they lie in.
    pub(super) fn folders(&self) -> &BTreeSet<PathBuf> {
        &self.folders
    }

    /// The differences from before.
    pub(super) fn since(&self, before: &Self) -> Changed {
        let mut changed = Changed::default();
        let names: BTreeSet<&PathBuf> = before.files.keys().chain(self.files.keys()).collect();
        for name in names {
            if before.files.get(name) != self.files.get(name) {
                let into = if self.is_case(name) { &mut changed.cases } else { &mut changed.sources };
                into.push(name.clone());
            }
        }
        // One that a build has named since then was there before.
        for (name, stamp) in &self.elsewhere {
            if before.elsewhere.get(name).is_some_and(|before| before != stamp) {
                changed.sources.push(name.clone());
            }
        }
        changed
    }

    /// Returns whether the file has cases of a plugin.
    fn is_case(&self, file: &Path) -> bool {
        let tests = file.parent().filter(|tests| tests.file_name() == Some(OsStr::new("tests")));
        let of_plugin = tests.is_some_and(|tests| self.files.contains_key(&tests.with_file_name("plugin.toml")));
        of_plugin && file.extension().is_some_and(|end| end == "toml")
    }
}

impl Changed {
    pub(super) fn is_nothing(&self) -> bool {
        self.sources.is_empty() && self.cases.is_empty()
    }

    /// Returns whether only cases changed, so that a build would give the same result.
    pub(super) fn is_cases_alone(&self) -> bool {
        self.sources.is_empty() && !self.cases.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(files: &[&str]) -> (tempfile::TempDir, Sources) {
        let folder = tempfile::tempdir().expect("a folder");
        let real = std::fs::canonicalize(folder.path()).expect("it is there");
        let sources = Sources::new(real.clone(), real.join("dist"));
        files.iter().for_each(|file| write(&real, file, file));
        (folder, sources)
    }

    fn write(folder: &Path, file: &str, text: &str) {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    fn names(sources: &Sources, files: &[PathBuf]) -> Vec<String> {
        let name = |path: &PathBuf| path.strip_prefix(&sources.folder).unwrap_or(path).display().to_string();
        files.iter().map(name).collect()
    }

    #[test]
    fn dev_sources_exclude_what_a_build_writes() {
        let (_folder, sources) = package(&[
            "plugin.toml",
            "plugin.c",
            "tests/cases.toml",
            "wit/tool/tool.wit",
            "src/build/inner.c",
            ".cargo/config.toml",
            "Cargo.toml",
        ]);
        let before = sources.look().expect("it can be read");
        assert_eq!(before.files(), 7);
        for file in [
            "build/contract.c",
            "dist/x.wasm",
            "target/release/x",
            "node_modules/x/x.js",
            "__pycache__/x.pyc",
            ".venv/bin/zig",
            ".git/index",
            ".plugin.c.swp",
            "plugin.c~",
            "own-target/CACHEDIR.TAG",
            "own-target/x",
        ] {
            write(&sources.folder, file, "made");
        }
        let changed = sources.look().expect("it can be read").since(&before);
        assert!(changed.is_nothing(), "{changed:?}");
        write(&sources.folder, ".gitignore", "/made\n");
        write(&sources.folder, "made/x.c", "made");
        let changed = sources.look().expect("it can be read").since(&before);
        assert!(changed.is_nothing(), "{changed:?}");
    }

    #[test]
    fn dev_sources_change_with_their_content_and_test_cases_are_separate() {
        let (_folder, sources) = package(&["plugin.toml", "plugin.c", "tests/cases.toml", "src/tests/no.toml"]);
        let before = sources.look().expect("it can be read");
        write(&sources.folder, "plugin.c", "plugin.c");
        assert!(sources.look().expect("read").since(&before).is_nothing(), "the same was written again");
        write(&sources.folder, "tests/cases.toml", "another");
        let changed = sources.look().expect("read").since(&before);
        assert!(changed.is_cases_alone(), "{changed:?}");
        write(&sources.folder, "src/tests/no.toml", "another");
        write(&sources.folder, "more.c", "new");
        std::fs::remove_file(sources.folder.join("plugin.c")).expect("removed");
        let changed = sources.look().expect("read").since(&before);
        assert_eq!(names(&sources, &changed.sources), ["more.c", "plugin.c", "src/tests/no.toml"]);
        assert_eq!(names(&sources, &changed.cases), ["tests/cases.toml"]);
    }

    #[test]
    fn dev_sources_include_files_that_a_build_used_from_elsewhere() {
        let (_folder, mut sources) = package(&["plugin.toml"]);
        let (_other, other) = package(&["lib.rs", "unused.rs"]);
        let file = other.folder.join("lib.rs");
        let before = sources.look().expect("read");
        sources.also([file.clone(), sources.folder.join("plugin.toml")].into());
        let named = sources.look().expect("read");
        assert!(named.since(&before).is_nothing());
        assert!(named.folders().contains(&other.folder));
        write(&other.folder, "unused.rs", "another");
        assert!(sources.look().expect("read").since(&named).is_nothing());
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(sources.look().expect("read").since(&named).sources, [file]);
    }

    #[test]
    fn dev_sources_with_too_many_files_or_folders_are_an_error() {
        let (_folder, sources) = package(&[]);
        for i in 0..MAX_FOLDERS {
            std::fs::create_dir(sources.folder.join(format!("folder{i}"))).expect("made");
        }
        let failure = sources.look().expect_err("there are too many");
        assert!(failure.to_string().contains(&format!("more than {MAX_FOLDERS} folders")), "{failure:?}");
        let (_folder, sources) = package(&[]);
        for i in 0..=MAX_FILES {
            std::fs::File::create(sources.folder.join(format!("{i}.c"))).expect("made");
        }
        let failure = sources.look().expect_err("there are too many");
        assert!(failure.to_string().contains(&format!("more than {MAX_FILES} files")), "{failure:?}");
    }

    #[test]
    fn a_large_file_changes_with_its_size_or_its_time() {
        let (_folder, sources) = package(&["plugin.toml"]);
        let file = std::fs::File::create(sources.folder.join("large.bin")).expect("made");
        file.set_len(MAX_READ + 1).expect("it is sparse");
        let before = sources.look().expect("read");
        assert!(sources.look().expect("read").since(&before).is_nothing());
        file.set_modified(SystemTime::UNIX_EPOCH).expect("set");
        assert!(!sources.look().expect("read").since(&before).is_nothing());
    }

    #[test]
    fn a_link_is_not_followed() {
        let (_folder, sources) = package(&["plugin.toml"]);
        std::os::unix::fs::symlink("/", sources.folder.join("everything")).expect("made");
        assert_eq!(sources.look().expect("read").files(), 1);
    }
}
