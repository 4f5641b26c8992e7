//! The ignore rules of a project: which paths they leave out.
//!
//! Promises: a file with rules is read only if it is a regular file of at most [`MAX_RULES`] bytes, without following a
//! symbolic link; anything else of that name is treated as absent, as git does with links. So no repository makes the
//! host wait, read without end, or read a file outside of it.
//!
//! The meaning of patterns is the `ignore` crate's. Its reading is not used: it follows links, waits for pipes and has
//! no limit. Deliberately not here: the walk.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use host_files::{FileError, read_found};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use super::bounded;
use super::found::folder_of;

/// The largest file with rules, in bytes. Protects memory and the time in which its patterns are compiled.
const MAX_RULES: u64 = 1 << 20;

/// The largest file that names the folder of a repository, in bytes. Protects memory.
const MAX_POINTER: u64 = 8 << 10;

/// The names of files with rules, the strongest first. Only those of git depend on there being a repository.
const NAMES: [&str; 3] = [".hostignore", ".ignore", GIT_IGNORE];
const GIT_IGNORE: &str = ".gitignore";

/// What the rules say of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No rule matches.
    Unmatched,
    /// A rule leaves it out.
    LeftOut,
    /// A rule takes it in, even if its name is hidden.
    TakenIn,
}

/// The rules of a folder, and those of the folders above and beneath it. They are read when they are first needed.
pub(super) struct Rules {
    start: PathBuf,
    at_start: Option<Arc<Folder>>,
    beneath: RwLock<HashMap<OsString, Option<Arc<Folder>>>>,
    /// The user's own rules for every repository.
    global: Gitignore,
    unreadable: AtomicU64,
}

/// The rules of a folder that has some, or that is a repository. A folder with neither shares those of the one above.
struct Folder {
    above: Option<Arc<Folder>>,
    /// By [`NAMES`].
    rules: [Gitignore; 3],
    /// The repository's own, of `info/exclude`.
    exclude: Gitignore,
    is_repository: bool,
}

impl Rules {
    /// Reads the rules of this folder, whose path is real, and of all folders above it.
    pub(super) fn at(start: &Path) -> Self {
        let mut rules = Self {
            start: start.to_owned(),
            at_start: None,
            beneath: RwLock::default(),
            global: global(),
            unreadable: AtomicU64::new(0),
        };
        let mut folders: Vec<&Path> = start.ancestors().collect();
        folders.reverse();
        for folder in folders {
            // What cannot be read above the start is not the project's.
            rules.unreadable = AtomicU64::new(0);
            rules.at_start = rules.with(rules.at_start.clone(), folder);
        }
        rules
    }

    /// Returns what they say of a path beneath the start, where no rule leaves out a folder above it.
    pub(super) fn verdict(&self, path: &Path, is_folder: bool) -> Verdict {
        let Some(parent) = folder_of(path) else { return Verdict::Unmatched };
        let folder = self.folder(parent);
        let found = Folder::matched(folder.as_deref(), &self.global, path, is_folder);
        match found {
            Match::None => Verdict::Unmatched,
            Match::Ignore(()) => Verdict::LeftOut,
            Match::Whitelist(()) => Verdict::TakenIn,
        }
    }

    /// Returns how many files with rules could not be used.
    pub(super) fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    /// Returns the rules that hold in a folder.
    fn folder(&self, folder: &Path) -> Option<Arc<Folder>> {
        // Each entry of a walk asks, so paths are compared and hashed as bytes and not by their components.
        let name = folder.as_os_str();
        if name == self.start.as_os_str() {
            return self.at_start.clone();
        }
        if let Some(known) = self.beneath.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return known.clone();
        }
        if !folder.starts_with(&self.start) {
            return None;
        }
        let above = self.folder(folder.parent()?);
        let found = self.with(above, folder);
        self.beneath.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), found.clone());
        found
    }

    /// Adds the rules of a folder to those above it.
    fn with(&self, above: Option<Arc<Folder>>, folder: &Path) -> Option<Arc<Folder>> {
        let rules = NAMES.map(|name| self.read(folder, &folder.join(name)));
        let git = folder.join(".git");
        let marked = git.symlink_metadata().ok();
        let is_repository = marked.is_some() || folder.join(".jj").symlink_metadata().is_ok();
        if !is_repository && rules.iter().all(Gitignore::is_empty) {
            return above;
        }
        let own = match marked {
            Some(about) if about.is_dir() => Some(git),
            Some(about) if about.is_file() => shared_repository(folder, &git),
            _ => None,
        };
        let exclude = own.map_or_else(Gitignore::empty, |own| self.read(folder, &own.join("info/exclude")));
        Some(Arc::new(Folder { above, rules, exclude, is_repository }))
    }

    /// Reads a file with rules for what is beneath a folder.
    fn read(&self, folder: &Path, file: &Path) -> Gitignore {
        match read_found(file, MAX_RULES) {
            Ok(bytes) => parse(folder, file, &bytes),
            Err(FileError::Io(error)) if is_absent(&error) => Gitignore::empty(),
            Err(_) => {
                self.unreadable.fetch_add(1, Ordering::Relaxed);
                Gitignore::empty()
            }
        }
    }
}

impl Folder {
    /// Matches a path with the rules of its folder and of all above. Of each kind of rules the nearest match counts,
    /// and of those the strongest kind. Rules of git reach no further up than the root of their repository.
    fn matched(nearest: Option<&Self>, global: &Gitignore, path: &Path, is_folder: bool) -> Match<()> {
        let mut kinds = [const { Match::<()>::None }; 4];
        let mut within = true;
        let in_repository =
            std::iter::successors(nearest, |folder| folder.above.as_deref()).any(|folder| folder.is_repository);
        for folder in std::iter::successors(nearest, |folder| folder.above.as_deref()) {
            let all = folder.rules.iter().zip(NAMES.map(|name| name == GIT_IGNORE)).chain([(&folder.exclude, true)]);
            for ((rules, of_git), kind) in all.zip(&mut kinds) {
                if kind.is_none() && (!of_git || (in_repository && within)) {
                    *kind = rules.matched(path, is_folder).map(|_| ());
                }
            }
            within &= !folder.is_repository;
        }
        let global = if in_repository { global.matched(path, is_folder).map(|_| ()) } else { Match::None };
        kinds.into_iter().fold(Match::None, Match::or).or(global)
    }
}

/// Returns whether an ignore rule leaves out this path, or a folder above it. Paths outside the workspace are never
/// ignored: the rules are the project's.
pub(super) fn is_ignored(workspace: &Path, path: &Path, is_folder: bool) -> bool {
    if path == workspace || !path.starts_with(workspace) {
        return false;
    }
    let rules = Rules::at(workspace);
    let mut way: Vec<&Path> = path.ancestors().take_while(|above| *above != workspace).collect();
    way.reverse();
    way.iter().any(|part| rules.verdict(part, *part != path || is_folder) == Verdict::LeftOut)
}

/// Returns the folder that the worktrees of a repository share, where `.git` is a file that names its own.
fn shared_repository(folder: &Path, git: &Path) -> Option<PathBuf> {
    let pointer = |file: &Path| String::from_utf8(read_found(file, MAX_POINTER).ok()?).ok();
    let text = pointer(git)?;
    let own = std::fs::canonicalize(folder.join(text.trim_end().strip_prefix("gitdir: ")?)).ok()?;
    let shared = pointer(&own.join("commondir"))?;
    std::fs::canonicalize(own.join(shared.trim_end())).ok()
}

/// Reads which file has the user's own rules, so that it is known when the first folder is listed.
pub fn read_git_settings() {
    global_file();
}

/// Returns the file with the user's own rules. Three files say which one it is, which are read once.
fn global_file() -> Option<&'static Path> {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    FILE.get_or_init(gitconfig_excludes_path).as_deref()
}

/// Reads the user's own rules. Their file may be a link: it lies where the user keeps their settings.
fn global() -> Gitignore {
    let file = global_file().and_then(|path| std::fs::canonicalize(path).ok());
    let bytes = file.as_ref().and_then(|file| read_found(file, MAX_RULES).ok());
    match (file, bytes) {
        (Some(file), Some(bytes)) => parse(Path::new("/"), &file, &bytes),
        _ => Gitignore::empty(),
    }
}

/// Compiles rules. A line that is not valid is not a rule, as in git; nor is one that nests too deeply to be compiled.
fn parse(folder: &Path, file: &Path, bytes: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for line in String::from_utf8_lossy(bytes).lines().filter(|line| bounded::check(line).is_ok()) {
        // An error is about this line alone.
        builder.add_line(Some(file.to_owned()), line).ok();
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Returns whether an error says that there is no such file, or only a link in its place.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder with these files, and its real path.
    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        fs::create_dir(root.join(".git")).expect("made");
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        (dir, root)
    }

    #[test]
    fn rules_leave_a_path_out_by_any_folder_above_it() {
        let (_dir, root) = folder(&[
            (".gitignore", "out/\n*.log\n!keep.log\n"),
            ("src/.hostignore", "secret.txt\n!taken.log\n"),
            (".git/info/exclude", "mine\n"),
            ("inner/.git/HEAD", ""),
            ("inner/.gitignore", "*.tmp\n"),
        ]);
        for (path, is_folder, ignored) in [
            ("out", true, true),
            ("out", false, false),
            ("out/deep", true, true),
            ("out/deep/a.txt", false, true),
            ("src", true, false),
            ("src/a.rs", false, false),
            ("src/x.log", false, true),
            ("src/keep.log", false, false),
            ("src/secret.txt", false, true),
            ("src/taken.log", false, false),
            ("secret.txt", false, false),
            ("mine", false, true),
            ("src/mine", false, true),
            (".env", false, false),
            // A repository in a repository has its own rules of git only.
            ("inner/x.log", false, false),
            ("inner/x.tmp", false, true),
            ("inner/mine", false, false),
        ] {
            assert_eq!(is_ignored(&root, &root.join(path), is_folder), ignored, "{path}");
        }
        assert!(!is_ignored(&root, Path::new("/elsewhere/x.log"), false));
        assert!(!is_ignored(&root, &root, true));
    }

    #[test]
    fn rules_of_git_need_a_repository() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        fs::write(root.join(".gitignore"), "a\n").expect("written");
        fs::write(root.join(".ignore"), "b\n").expect("written");
        let ignored = |name: &str| is_ignored(&root, &root.join(name), false);
        // The folder for temporary files lies in no repository.
        assert_eq!((ignored("a"), ignored("b")), (false, true));
        fs::create_dir(root.join(".git")).expect("made");
        assert_eq!((ignored("a"), ignored("b")), (true, true));
    }

    #[test]
    fn rules_are_the_same_as_those_of_the_crate() {
        let (_dir, root) = folder(&[
            (".gitignore", "/build\n*.o\n!important.o\ndocs/**/*.html\n\\#hash\n trailing \nfoo/*\n!foo/bar\n"),
            (".ignore", "!a.o\n"),
            ("sub/.gitignore", "*.rs\n!/x.rs\n"),
            ("sub/.hostignore", "y.rs\n"),
        ]);
        let names = ["build", "a.o", "important.o", "#hash", "trailing", "x.rs", "y.rs", "z.rs", "p.html", "bar", "q"];
        let folders = ["", "sub", "docs/one/two", "foo", "foo/bar", "sub/build"];
        folders.iter().for_each(|place| fs::create_dir_all(root.join(place)).expect("made"));
        for place in folders {
            for name in names {
                let path = root.join(place).join(name);
                if !path.exists() {
                    fs::write(path, "").expect("written");
                }
            }
        }
        let mut walk = ignore::WalkBuilder::new(&root);
        walk.hidden(false).add_custom_ignore_filename(".hostignore");
        let kept: std::collections::BTreeSet<PathBuf> =
            walk.build().map(|entry| entry.expect("readable").into_path()).collect();
        let mut all = ignore::WalkBuilder::new(&root);
        all.standard_filters(false);
        let mut left_out = 0;
        for entry in all.build() {
            let entry = entry.expect("readable");
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let ignored = is_ignored(&root, entry.path(), is_folder);
            assert_eq!(!ignored, kept.contains(entry.path()), "{}", entry.path().display());
            left_out += u32::from(ignored);
        }
        assert!(left_out > 20, "{left_out}");
    }

    #[test]
    fn rules_that_are_no_small_regular_file_count_as_absent() {
        let (_dir, root) = folder(&[("outside/rules", "*\n"), ("a", "")]);
        let file = root.join(".gitignore");
        let large = format!("a\n{}", "#".repeat(MAX_RULES as usize));
        let pipe = || {
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, &file, kind, 0o600.into(), 0).expect("made");
        };
        let cases: [(&str, &dyn Fn(), u64); 5] = [
            ("an endless device", &|| symlink("/dev/zero", &file).expect("linked"), 0),
            ("a link", &|| symlink(root.join("outside/rules"), &file).expect("linked"), 0),
            ("a pipe", &pipe, 1),
            ("a folder", &|| fs::create_dir(&file).expect("made"), 1),
            ("a large file", &|| fs::write(&file, &large).expect("written"), 1),
        ];
        for (what, make, unreadable) in cases {
            make();
            let rules = Rules::at(&root);
            assert_eq!(rules.verdict(&root.join("a"), false), Verdict::Unmatched, "{what}");
            assert_eq!(rules.unreadable(), unreadable, "{what}");
            fs::remove_file(&file).or_else(|_| fs::remove_dir(&file)).expect("removed");
        }
        fs::write(&file, "a\n").expect("written");
        assert_eq!(Rules::at(&root).verdict(&root.join("a"), false), Verdict::LeftOut);
    }

    #[test]
    fn rules_that_nest_too_deeply_to_be_compiled_are_no_rules() {
        let nested = format!("{}x{}\na\n", "{".repeat(200_000), "}".repeat(200_000));
        let (_dir, root) = folder(&[(".gitignore", &nested), ("a", ""), ("x", "")]);
        assert!(is_ignored(&root, &root.join("a"), false), "the lines beside it count");
        assert!(!is_ignored(&root, &root.join("x"), false));
    }
}
