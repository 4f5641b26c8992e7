//! Finds git's folders in a tree of other files: each `.git`, and each folder that git could take for a bare
//! repository.
//!
//! A tree is searched before and after each program, so a folder that did not change since is not listed again. Its
//! time of change shows that: no program can set it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Stat, fstat, statat};
use rustix::io::Errno;

use crate::place::{Place, kind_of};

/// The most folders of a tree that are searched. Protects the time of each program.
const MAX_FOLDERS: usize = 200_000;

/// The most bytes that their paths have together. Protects memory from folders that are nested without end.
const MAX_PATHS: usize = 64 << 20;

/// The fewest folders that are worth a thread: to look at as many takes longer than to start one.
const FOLDERS_OF_THREAD: usize = 128;

/// The most threads of a search. Leaves a large machine to others.
const MAX_THREADS: usize = 4;

/// How long after a change a folder may change again without its times changing: two ticks of the slowest clock, 100
/// Hz.
const TICK: Duration = Duration::from_millis(20);

/// A tree, and what is known of it from earlier searches.
#[derive(Debug, Default)]
pub struct Search {
    /// Each folder by the words of its path beneath the tree: a path is compared by its components, which takes longer
    /// than to ask the system.
    listed: HashMap<OsString, Listed>,
}

/// A folder as it was listed.
#[derive(Clone, Debug)]
struct Listed {
    stamp: Option<Stamp>,
    /// The names of the folders in it, without `.git`.
    folders: Arc<[OsString]>,
    has_git: bool,
    is_bare: bool,
}

/// What changes with each change of the names in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    number: (u64, u64),
    changed: (i64, i64),
}

impl Search {
    /// Returns git's folders in a tree, always the same one, by their paths: each `.git` whatever it is, and each
    /// folder that git could take for a bare repository, the top of the tree too. What is in them is not searched, but
    /// for the top.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read, or has more than 200,000 folders.
    pub fn look(&mut self, root: &Path) -> io::Result<BTreeSet<PathBuf>> {
        let place = Place::open(root)?;
        let mut found = BTreeSet::new();
        let mut seen: HashMap<OsString, Listed> = HashMap::with_capacity(self.listed.len());
        // By levels, not by depth: the folders of one level do not depend on each other, so threads can share them.
        let mut level = vec![OsString::new()];
        let mut length = 0_usize;
        while !level.is_empty() {
            // Before they are listed: a program can make any number of them in one folder.
            length = level.iter().fold(length, |length, path| length.saturating_add(path.len()));
            if seen.len().saturating_add(level.len()) > MAX_FOLDERS || length > MAX_PATHS {
                return Err(io::Error::other(format!("it has more than {MAX_FOLDERS} folders")));
            }
            let listed = self.list(&place, &level)?;
            let mut next = Vec::new();
            for (path, listed) in level.into_iter().zip(listed) {
                let Some(listed) = listed else { continue };
                if listed.has_git {
                    found.insert(place.path.join(&path).join(".git"));
                }
                let is_root = path.is_empty();
                if listed.is_bare {
                    found.insert(if is_root { place.path.clone() } else { place.path.join(&path) });
                }
                // A bare repository is one thing. The top is searched all the same, as a workspace may have files of
                // these names.
                if is_root || !listed.is_bare {
                    next.extend(listed.folders.iter().map(|name| beneath(&path, name)));
                }
                seen.insert(path, listed);
            }
            level = next;
        }
        // Replaced as a whole: what is gone must not be remembered, and an error above leaves the old list.
        self.listed = seen;
        Ok(found)
    }

    /// Returns the folders that the last search found, by their paths beneath the tree.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.listed.keys().map(Path::new)
    }

    /// Lists folders that do not lie in each other; `None` for one that is gone or cannot be opened by its path.
    fn list(&self, place: &Place, paths: &[OsString]) -> io::Result<Vec<Option<Listed>>> {
        // Starting a thread takes longer than listing a few folders.
        let threads = (paths.len() / FOLDERS_OF_THREAD).min(processors());
        if threads < 2 {
            return self.list_each(place, paths);
        }
        let mut parts = paths.chunks(paths.len().div_ceil(threads));
        let first = parts.next().unwrap_or_default();
        thread::scope(|scope| {
            let start = |part| {
                let thread = thread::Builder::new().spawn_scoped(scope, move || self.list_each(place, part));
                (part, thread)
            };
            let others: Vec<_> = parts.map(start).collect();
            let mut all = self.list_each(place, first)?;
            for (part, thread) in others {
                all.extend(match thread {
                    Ok(thread) => thread.join().map_err(|_| io::Error::other("a thread of the search failed"))??,
                    // There are too many threads already.
                    Err(_) => self.list_each(place, part)?,
                });
            }
            Ok(all)
        })
    }

    fn list_each(&self, place: &Place, paths: &[OsString]) -> io::Result<Vec<Option<Listed>>> {
        paths.iter().map(|path| self.listed(place, path)).collect()
    }

    /// Lists a folder, or remembers what it has.
    fn listed(&self, place: &Place, path: &OsStr) -> io::Result<Option<Listed>> {
        if let Some(known) = self.listed.get(path)
            && known.stamp.is_some()
            && place.stat_at(Path::new(path)).ok().map(|about| Stamp::new(&about)) == known.stamp
        {
            return Ok(Some(known.clone()));
        }
        match place.enter(Path::new(path)) {
            Ok(folder) => Ok(Some(Listed::read(&folder)?)),
            Err(error) if is_passed(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the path of a folder in one of these, each beneath the tree.
fn beneath(folder: &OsStr, name: &OsStr) -> OsString {
    let mut path = OsString::with_capacity(folder.len() + 1 + name.len());
    if !folder.is_empty() {
        path.push(folder);
        path.push("/");
    }
    path.push(name);
    path
}

/// How many threads a search may have. To ask the system takes as long as to look at a hundred folders.
fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS)))
}

/// Whether a folder is passed: it is gone, its path is too long to be used, or its owner locked it for everybody.
fn is_passed(error: &io::Error) -> bool {
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::NAMETOOLONG, Errno::ACCESS]
        .iter()
        .any(|passed| error.raw_os_error() == Some(passed.raw_os_error()))
}

impl Listed {
    fn read(folder: &OwnedFd) -> io::Result<Self> {
        // Before its names: what changes meanwhile is found by the next search.
        let stamp = Stamp::new(&fstat(folder)?).unless_fresh();
        let (mut folders, mut has_git) = (Vec::new(), false);
        let (mut head, mut objects, mut refs, mut common) = (false, false, false, false);
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            match name.as_bytes() {
                b"." | b".." => continue,
                b".git" => {
                    has_git = true;
                    continue;
                }
                b"HEAD" => head = true,
                b"objects" => objects = true,
                b"refs" => refs = true,
                b"commondir" => common = true,
                _ => {}
            }
            // What the listing says, without a `stat` for each entry.
            let kind = match entry.file_type() {
                // The file system does not say.
                FileType::Unknown => match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(about) => kind_of(&about),
                    Err(_) => continue,
                },
                kind => kind,
            };
            if kind == FileType::Directory {
                folders.push(name.to_owned());
            }
        }
        // Whatever `HEAD` has in it: a program can write it later, and then git takes the folder.
        Ok(Self { stamp, folders: folders.into(), has_git, is_bare: head && (common || objects && refs) })
    }
}

impl Stamp {
    #[allow(clippy::unnecessary_cast, reason = "the system decides about the types")]
    fn new(about: &Stat) -> Self {
        Self {
            number: (about.st_dev as u64, about.st_ino as u64),
            changed: (about.st_ctime as i64, about.st_ctime_nsec as i64),
        }
    }

    /// `None` if it may not show the next change.
    fn unless_fresh(self) -> Option<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, nanoseconds) = self.changed;
        let changed = Duration::new(seconds.unsigned_abs(), u32::try_from(nanoseconds).unwrap_or_default());
        (changed + TICK <= now).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn search_finds_each_folder_of_git_also_after_a_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        for path in ["a/.git/modules/x/.git", "a/b/c", "bare/objects", "bare/refs", "bare/sub/.git", "not/objects/refs"]
        {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        fs::write(root.join("bare/HEAD"), "ref: refs/heads/main\n").expect("written");
        fs::write(root.join("not/HEAD"), "").expect("written");
        let mut search = Search::default();
        let mut found = || {
            let found = search.look(&root).expect("searched");
            let names = found.iter().map(|path| path.strip_prefix(&root).expect("beneath").display().to_string());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(found(), "a/.git bare");
        assert_eq!(found(), "a/.git bare");
        fs::write(root.join("a/b/c/.git"), "gitdir: ../x\n").expect("written");
        assert_eq!(found(), "a/.git a/b/c/.git bare");
        // At once, when no time of change may show it.
        fs::remove_file(root.join("a/b/c/.git")).expect("removed");
        symlink("/", root.join("a/b/.git")).expect("linked");
        symlink(root.join("a"), root.join("a/b/link")).expect("linked");
        assert_eq!(found(), "a/.git a/b/.git bare");
        fs::create_dir(root.join(".git")).expect("made");
        fs::write(root.join("not/commondir"), "../bare\n").expect("written");
        assert_eq!(found(), ".git a/.git a/b/.git bare not");
        fs::rename(root.join("a"), root.join("moved")).expect("moved");
        assert_eq!(found(), ".git bare moved/.git moved/b/.git not");
        for path in ["objects", "refs"] {
            fs::create_dir(root.join(path)).expect("made");
        }
        fs::write(root.join("HEAD"), "").expect("written");
        assert_eq!(found(), " .git bare moved/.git moved/b/.git not");
    }

    #[test]
    fn search_goes_as_deep_as_a_path_can() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut deep = folder.path().canonicalize().expect("there");
        let root = deep.clone();
        for _ in 0..1_500 {
            deep.push("d");
            fs::create_dir(&deep).expect("made");
            fs::create_dir(deep.with_file_name("e")).expect("made");
        }
        fs::create_dir(deep.join(".git")).expect("made");
        let found = Search::default().look(&root).expect("searched");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [deep.join(".git")]);
    }

    #[test]
    fn search_with_several_threads_finds_each_folder_of_git_also_after_a_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        let name = |number: usize| root.join(format!("a/{number}"));
        let count = FOLDERS_OF_THREAD * MAX_THREADS * 2;
        for number in 0..count {
            fs::create_dir_all(name(number)).expect("made");
        }
        let mut expected = BTreeSet::new();
        let mut search = Search::default();
        for step in [7, 64, 129] {
            for number in (0..count).step_by(step) {
                fs::create_dir_all(name(number).join(".git")).expect("made");
                expected.insert(name(number).join(".git"));
            }
            assert_eq!(search.look(&root).expect("searched"), expected, "{step}");
        }
        for number in (0..count).step_by(2) {
            fs::rename(name(number), root.join(format!("a/moved-{number}"))).expect("moved");
            if expected.remove(&name(number).join(".git")) {
                expected.insert(root.join(format!("a/moved-{number}/.git")));
            }
        }
        assert_eq!(search.look(&root).expect("searched"), expected);
    }
}
