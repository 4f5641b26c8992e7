//! What a folder holds, kept so that what a program changes in it can be taken back.
//!
//! A program is not asked what it changes: the folder is looked at before and after it. The first look copies every
//! file, the later ones only those whose size, times or number changed.
//!
//! Promises: no link is followed, and nothing outside of the folder is read, even while somebody swaps folders for
//! links; what is kept is in a file without a name, which is gone with the process.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

use crate::place::{PERMISSIONS, link_target};
use crate::state::{Digest, State};

/// The largest file in a folder whose content is kept before a program runs, in bytes. Bounds what one file takes of
/// the rest.
pub const MAX_SNAPSHOT_FILE: u64 = 8 << 20;

/// The most bytes that are kept of a folder's files before a program runs. Protects the disk and the time before the
/// first program.
pub const MAX_SNAPSHOT: u64 = 256 << 20;

/// The most files and folders of a folder of which anything is kept before a program runs. Bounds the time that looking
/// at them takes, which every program waits for.
pub const MAX_SNAPSHOT_ENTRIES: usize = 50_000;

/// The most bytes that the paths of a folder's files have together. Protects memory from folders that are nested
/// without end, where each path is longer than the one above it.
pub const MAX_SNAPSHOT_PATHS: usize = 64 << 20;

/// The most entries of folders that rules leave out at which a look for changes looks. Every program waits for it.
const MAX_GLANCE: usize = 1_000;

/// How deep beneath such a folder it looks. Each folder is opened part by part, so this bounds the time, too.
const MAX_GLANCE_DEPTH: usize = 32;

/// How long after a change a file may change again without its times changing: a tick of the slowest kernel clock in
/// use, 100 Hz, twice. See "racy git" in git's documentation.
const TICK: Duration = Duration::from_millis(20);

/// The folders in which version control keeps what it has.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// Returns the rules that hold in a folder, whose path is real.
pub type RulesOf = dyn Fn(&Path) -> Box<LeftOut> + Send + Sync;

/// Whether rules leave out a folder, by its absolute path.
pub type LeftOut = dyn Fn(&Path) -> bool;

/// What a folder holds.
#[derive(Debug)]
pub(crate) struct Snapshot {
    root: PathBuf,
    /// By their paths from the root. Bytes are compared at once, and paths part by part.
    entries: HashMap<Box<[u8]>, Entry>,
    pack: Pack,
    /// The number of looks so far.
    looks: u64,
    /// The folders that rules left out at the last look.
    left_out: Vec<PathBuf>,
}

/// What is at a path.
#[derive(Clone, Debug)]
struct Entry {
    stamp: Stamp,
    content: Content,
    /// The last look that saw it.
    seen: u64,
}

/// What is known of a content.
#[derive(Clone, Debug)]
enum Content {
    Folder,
    Link(PathBuf),
    Kept(Extent),
    TooLarge,
    Unreadable(String),
    Special,
}

/// By what a change shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    /// Those of its device, and its own on it.
    number: (u64, u64),
    size: u64,
    /// In seconds and nanoseconds.
    modified: (i64, i64),
    /// See `modified`.
    changed: (i64, i64),
    mode: u32,
}

/// Where the bytes of a file are in the pack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    at: u64,
    size: u64,
}

impl Extent {
    /// The number of bytes.
    pub(crate) fn size(self) -> u64 {
        self.size
    }
}

/// Why a folder is not kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SnapshotError {
    #[error("it has over {MAX_SNAPSHOT_ENTRIES} files")]
    TooMany,
    #[error("its folders are nested too deeply: the paths in it have over {MAX_SNAPSHOT_PATHS} bytes")]
    TooDeep,
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl From<Errno> for SnapshotError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// A difference between two looks.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) path: PathBuf,
    pub(crate) before: State,
    pub(crate) after: State,
    /// Why it cannot be taken back, if it cannot.
    pub(crate) not_kept: Option<String>,
    /// The bytes of the file that was there.
    pub(crate) old: Option<Extent>,
}

/// An entry as a difference has it.
#[derive(PartialEq)]
struct Known {
    state: State,
    /// Why its content is not known, if it is not.
    why: Option<String>,
}

impl Snapshot {
    /// Creates one that has not looked yet. Contents are kept in this folder.
    pub(crate) fn new(root: PathBuf, folder: &Path) -> io::Result<Self> {
        Ok(Self { root, entries: HashMap::new(), pack: Pack::new(folder)?, looks: 0, left_out: Vec::new() })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the bytes of a file that was there. They stay until the next look.
    pub(crate) fn bytes(&self, extent: Extent) -> impl Read {
        self.pack.bytes(extent)
    }

    /// Looks at the folder. Returns each difference since the last look; the first has none.
    pub(crate) fn look(&mut self, is_left_out: &LeftOut) -> Result<Vec<Difference>, SnapshotError> {
        self.looks += 1;
        self.left_out.clear();
        // Only when more than half is of no use: copying costs as much as what is copied.
        if self.pack.end > MAX_SNAPSHOT.max(2 * self.pack.live) {
            self.pack.tidy(&mut self.entries)?;
        }
        let mut differences = Vec::new();
        let root = openat(CWD, &self.root, FOLDER, Mode::empty())?;
        // No recursion: a program decides how deep it nests, and the stack would end first.
        let mut folders: Vec<Unread> = Vec::new();
        let mut next = Some((Vec::new(), root));
        let mut size = TreeSize::default();
        while let Some((mut path, folder)) = next {
            // A folder stays open as long as one in it is not read yet: that one is opened by its name in here.
            let folder = Rc::new(folder);
            if !path.is_empty() {
                path.push(b'/');
            }
            let above = path.len();
            for entry in Dir::read_from(&folder)? {
                let entry = match entry {
                    Ok(entry) => entry,
                    // The folder went in between.
                    Err(Errno::NOENT) => break,
                    Err(error) => return Err(error.into()),
                };
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name == "." || name == ".." {
                    continue;
                }
                path.truncate(above);
                path.extend_from_slice(name.as_bytes());
                size.add(path.len())?;
                let about = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(about) => about,
                    // It went in between.
                    Err(Errno::NOENT) => continue,
                    Err(error) => return Err(error.into()),
                };
                if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
                    if !self.enters(name, &path, is_left_out) {
                        continue;
                    }
                    // Read after its siblings, so that the number of open folders is that of the levels, not of the
                    // entries.
                    folders.push(Unread { above: Rc::clone(&folder), path: path.clone(), name_at: above });
                }
                differences.extend(self.see(folder.as_fd(), name, &path, &about)?);
            }
            // Closed now unless one in it waits: a tree has more folders than a process may open.
            drop(folder);
            next = open_next(&mut folders)?;
        }
        self.forget_gone(&mut differences)?;
        differences.sort_by(|one, other| by_parts(&one.path, &other.path));
        Ok(differences)
    }

    /// Whether a look goes into a folder. What rules leave out is written down.
    fn enters(&mut self, name: &OsStr, path: &[u8], is_left_out: &LeftOut) -> bool {
        // What comes back of git's folder is decided elsewhere; undoing it file by file would break a repository.
        if is_version_control(name) {
            return false;
        }
        let absolute = self.absolute(path);
        // Ignored folders have build products and packages; copying them would cost more than the program.
        let is_left_out = is_left_out(&absolute);
        if is_left_out {
            self.left_out.push(absolute);
        }
        !is_left_out
    }

    /// Forgets what this look did not see.
    fn forget_gone(&mut self, differences: &mut Vec<Difference>) -> Result<(), SnapshotError> {
        let looks = self.looks;
        let gone: Vec<(Box<[u8]>, Entry)> = self.entries.extract_if(|_, entry| entry.seen != looks).collect();
        for (path, entry) in gone {
            let after = Known { state: State::Absent, why: None };
            differences.extend(self.difference(&path, Some(&entry), after)?);
            self.pack.forget(&entry);
        }
        Ok(())
    }

    /// Returns the folders that rules leave out in which something was changed at this time of the file system's clock
    /// or after it, in seconds and nanoseconds. What is near their tops is looked at first, and not more than there is
    /// time for: in a large one a change deep down can be missed.
    pub(crate) fn left_out_since(&self, since: (i64, i64)) -> Vec<PathBuf> {
        let Ok(root) = openat(CWD, &self.root, FOLDER, Mode::empty()) else { return Vec::new() };
        let mut changed = Vec::new();
        let mut left = MAX_GLANCE;
        for top in &self.left_out {
            if left == 0 {
                break;
            }
            if top.strip_prefix(&self.root).is_ok_and(|beneath| is_changed_in(&root, beneath, since, &mut left)) {
                changed.push(top.clone());
            }
        }
        changed
    }

    fn absolute(&self, path: &[u8]) -> PathBuf {
        self.root.join(OsStr::from_bytes(path))
    }

    /// Takes up what is at a name now.
    fn see(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        path: &[u8],
        about: &Stat,
    ) -> io::Result<Option<Difference>> {
        let kind = FileType::from_raw_mode(about.st_mode);
        let stamp = Stamp::new(about, kind);
        if let Some(entry) = self.entries.get_mut(path)
            // Size, times and number, but no content: reading every file again would take as long as the first look.
            && entry.stamp == stamp
        {
            entry.seen = self.looks;
            return Ok(None);
        }
        let content = match kind {
            FileType::Directory => Content::Folder,
            FileType::Symlink => link_target(folder, name).map_or_else(unreadable, Content::Link),
            FileType::RegularFile => self.pack.keep(folder, name, stamp.size)?,
            _ => Content::Special,
        };
        // The old content is still needed for the difference, and given back below.
        let before = self.entries.remove(path);
        // Two changes within one tick of the file system's clock look alike, so a young stamp is never trusted.
        let entry = Entry { stamp: stamp.unless_fresh(), content, seen: self.looks };
        let mut difference = None;
        // The first look has nothing to compare with, and would hash each file for nothing.
        if self.looks > 1 {
            let after = self.known(&entry)?;
            difference = self.difference(path, before.as_ref(), after)?;
        }
        if let Some(before) = &before {
            self.pack.forget(before);
        }
        self.entries.insert(path.into(), entry);
        Ok(difference)
    }

    fn difference(&self, path: &[u8], before: Option<&Entry>, after: Known) -> io::Result<Option<Difference>> {
        let absent = Known { state: State::Absent, why: None };
        let known = before.map_or(Ok(absent), |before| self.known(before))?;
        // Of two contents that are not known the times differ.
        if known == after && known.state != State::Other {
            return Ok(None);
        }
        let old = match before.map(|before| &before.content) {
            Some(Content::Kept(extent)) => Some(*extent),
            _ => None,
        };
        let path = self.absolute(path);
        Ok(Some(Difference { path, before: known.state, after: after.state, not_kept: known.why.or(after.why), old }))
    }

    fn known(&self, entry: &Entry) -> io::Result<Known> {
        let Stamp { size, mode, .. } = entry.stamp;
        let other = |why| Known { state: State::Other, why: Some(why) };
        Ok(match &entry.content {
            Content::Folder => Known { state: State::Folder { mode }, why: None },
            Content::Link(target) => Known { state: State::Link { target: target.clone() }, why: None },
            Content::Kept(extent) => {
                let (digest, size) = Digest::of_reader(self.pack.bytes(*extent))?;
                Known { state: State::File { digest, size, mode }, why: None }
            }
            Content::TooLarge => other(format!("{size} bytes are too many to keep")),
            Content::Unreadable(why) => other(format!("it cannot be read: {why}")),
            Content::Special => other("it is not a regular file".to_owned()),
        })
    }
}

/// How much a look has found so far.
#[derive(Default)]
struct TreeSize {
    entries: usize,
    /// Bytes of the paths of all of them.
    paths: usize,
}

impl TreeSize {
    fn add(&mut self, path: usize) -> Result<(), SnapshotError> {
        self.entries += 1;
        self.paths += path;
        // An error and no cut: a list that ends somewhere would report what follows as removed.
        if self.entries > MAX_SNAPSHOT_ENTRIES {
            return Err(SnapshotError::TooMany);
        }
        // Folders in each other make paths whose sum is the square of their number.
        if self.paths > MAX_SNAPSHOT_PATHS {
            return Err(SnapshotError::TooDeep);
        }
        Ok(())
    }
}

/// A folder that was found and not looked into yet. It is opened when its turn comes, so that no more are open at once
/// than are nested in each other, however many lie side by side.
struct Unread {
    above: Rc<OwnedFd>,
    path: Vec<u8>,
    /// Where its name begins in the path.
    name_at: usize,
}

/// Opens the next folder that can be opened: what is in any other is not known.
fn open_next(folders: &mut Vec<Unread>) -> Result<Option<(Vec<u8>, OwnedFd)>, SnapshotError> {
    while let Some(Unread { above, path, name_at }) = folders.pop() {
        let name = OsStr::from_bytes(path.get(name_at..).unwrap_or_default());
        match openat(&*above, name, FOLDER, Mode::empty()) {
            Ok(folder) => return Ok(Some((path, folder))),
            // That is not a property of this folder.
            Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(None)
}

/// How many bytes of two paths are compared at once.
const BLOCK: usize = 128;

/// Compares as paths are compared, part by part, in one pass over their bytes: [`Path`] finds the parts of both again
/// each time, which takes a hundred times as long where paths have thousands of them.
fn by_parts(one: &Path, other: &Path) -> Ordering {
    let (one, other) = (one.as_os_str().as_bytes(), other.as_os_str().as_bytes());
    // What both begin with is skipped in blocks: of folders in each other it is nearly all.
    let same = one.chunks(BLOCK).zip(other.chunks(BLOCK)).take_while(|(one, other)| one == other).count() * BLOCK;
    let same = same.min(one.len()).min(other.len());
    let (left, right) = (one.iter().skip(same), other.iter().skip(same));
    let at = same + left.zip(right).take_while(|(one, other)| one == other).count();
    // A part ends before any byte that could follow in it.
    let rank = |path: &[u8]| path.get(at).map(|byte| if *byte == b'/' { 0 } else { u16::from(*byte) + 1 });
    rank(one).cmp(&rank(other))
}

/// Whether a folder, or something in it, was changed at this time or after it. Looks at no more entries than are left.
fn is_changed_in(root: &OwnedFd, top: &Path, since: (i64, i64), left: &mut usize) -> bool {
    let (Some(above), Some(name)) = (top.parent(), top.file_name()) else { return false };
    let is_changed = |folder: &OwnedFd, name: &OsStr| {
        let about = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((changed_at(&about) >= since, FileType::from_raw_mode(about.st_mode)))
    };
    // Part by part and through no link: by its path, a folder that was swapped for a link would be looked at through
    // it.
    let Ok(above) = open_beneath(root, above) else { return false };
    if is_changed(&above, name).is_some_and(|(is_changed, _)| is_changed) {
        return true;
    }
    let mut folders = VecDeque::from([(top.to_owned(), 1)]);
    while let Some((path, depth)) = folders.pop_front() {
        // Opened from the root each time: to hold open those above the waiting ones would take hundreds of descriptors.
        let Ok(folder) = open_beneath(root, &path) else { continue };
        let Ok(entries) = Dir::read_from(&folder) else { continue };
        for entry in entries {
            let Ok(entry) = entry else { break };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            // Nothing of an ignored folder can be undone; it is only named, which is not worth more time.
            if *left == 0 {
                return false;
            }
            *left -= 1;
            match is_changed(&folder, name) {
                Some((true, _)) => return true,
                // Each folder is opened part by part, and every program waits for this look.
                Some((false, FileType::Directory)) if depth < MAX_GLANCE_DEPTH => {
                    folders.push_back((path.join(name), depth + 1));
                }
                Some((false, _)) | None => {}
            }
        }
    }
    false
}

/// Opens a folder beneath another one, part by part: one that was swapped for a link is not opened.
fn open_beneath(root: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let mut folder = openat(root, ".", FOLDER, Mode::empty())?;
    for part in path {
        folder = openat(&folder, part, FOLDER, Mode::empty())?;
    }
    Ok(folder)
}

/// Returns when anything about it was last changed, in seconds and nanoseconds.
#[allow(clippy::unnecessary_cast, reason = "the system decides about the types")]
fn changed_at(about: &Stat) -> (i64, i64) {
    (about.st_ctime as i64, about.st_ctime_nsec as i64)
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn is_version_control(name: &OsStr) -> bool {
    VERSION_CONTROL.iter().any(|other| name == OsStr::new(other))
}

fn unreadable(error: io::Error) -> Content {
    Content::Unreadable(error.to_string())
}

impl Stamp {
    #[allow(clippy::unnecessary_cast, reason = "the system decides about the types")]
    fn new(about: &Stat, kind: FileType) -> Self {
        let mode = about.st_mode & PERMISSIONS;
        // Those of a folder change with what is in it.
        if kind == FileType::Directory {
            return Self { number: (0, 0), size: 0, modified: (0, 0), changed: (0, 0), mode };
        }
        Self {
            number: (about.st_dev as u64, about.st_ino as u64),
            size: about.st_size as u64,
            modified: (about.st_mtime as i64, about.st_mtime_nsec as i64),
            changed: changed_at(about),
            mode,
        }
    }

    /// Returns a stamp that no other is equal to, if it may not show the next change: so soon after one, the file can
    /// change again with the same times.
    fn unless_fresh(self) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, nanoseconds) = self.changed;
        let changed = Duration::new(seconds.unsigned_abs(), u32::try_from(nanoseconds).unwrap_or_default());
        if seconds != 0 && changed + TICK > now { Self { changed: (i64::MIN, 0), ..self } } else { self }
    }
}

/// The bytes of files, one behind the other.
#[derive(Debug)]
struct Pack {
    folder: PathBuf,
    file: File,
    end: u64,
    /// How many of the bytes are of use.
    live: u64,
    /// The last bytes, which are not written yet: most files are small, and a write for each would take as long as
    /// reading.
    unwritten: Vec<u8>,
}

/// How many bytes are written at once, at least.
const BATCH: usize = 1 << 20;

impl Pack {
    fn new(folder: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        Ok(Self { folder: folder.to_owned(), file, end: 0, live: 0, unwritten: Vec::new() })
    }

    /// Keeps the bytes of a file that has so many.
    fn keep(&mut self, folder: BorrowedFd<'_>, name: &OsStr, size: u64) -> io::Result<Content> {
        // By the size that `stat` said; the bytes that are really read are bounded below.
        if size > MAX_SNAPSHOT_FILE || self.live + size > MAX_SNAPSHOT {
            return Ok(Content::TooLarge);
        }
        // A program can swap the file for a pipe since it was looked at, and opening that would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(folder, name, flags, Mode::empty()).map_err(io::Error::from);
        let before = self.unwritten.len();
        let read = file.and_then(|file| File::from(file).take(MAX_SNAPSHOT_FILE + 1).read_to_end(&mut self.unwritten));
        let content = match read {
            // As many as were read, not as `stat` said: the file may have grown or shrunk.
            Ok(size) if size as u64 <= MAX_SNAPSHOT_FILE => {
                let extent = Extent { at: self.end, size: size as u64 };
                self.end += extent.size;
                self.live += extent.size;
                Content::Kept(extent)
            }
            // It has grown in between.
            Ok(_) => Content::TooLarge,
            Err(error) => unreadable(error),
        };
        if !matches!(content, Content::Kept(_)) {
            // Half of a content is not a content; nobody points to it.
            self.unwritten.truncate(before);
        }
        // Small files are written together: a call for each would cost more than their bytes.
        if self.unwritten.len() >= BATCH {
            self.write()?;
        }
        Ok(content)
    }

    /// Writes what is not written yet.
    fn write(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.unwritten, self.end - self.unwritten.len() as u64)?;
        self.unwritten.clear();
        Ok(())
    }

    /// What is forgotten stays readable until the pack is tidied.
    fn forget(&mut self, entry: &Entry) {
        if let Content::Kept(extent) = entry.content {
            self.live -= extent.size;
        }
    }

    /// Copies what is of use, and drops the rest.
    fn tidy(&mut self, entries: &mut HashMap<Box<[u8]>, Entry>) -> io::Result<()> {
        // Into a new file, which takes the place of the old one only when it is whole.
        let mut tidied = Self::new(&self.folder)?;
        for entry in entries.values_mut() {
            if let Content::Kept(extent) = &mut entry.content {
                self.bytes(*extent).read_to_end(&mut tidied.unwritten)?;
                extent.at = tidied.end;
                tidied.end += extent.size;
                tidied.live += extent.size;
                if tidied.unwritten.len() >= BATCH {
                    tidied.write()?;
                }
            }
        }
        *self = tidied;
        Ok(())
    }

    fn bytes(&self, extent: Extent) -> impl Read {
        Bytes { pack: self, at: extent.at, end: extent.at + extent.size }
    }
}

/// Reads an extent.
struct Bytes<'p> {
    pack: &'p Pack,
    at: u64,
    end: u64,
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let Some(buffer) = buffer.get_mut(..most) else { return Ok(0) };
        let written = self.pack.end - self.pack.unwritten.len() as u64;
        let count = match self.at.checked_sub(written) {
            Some(at) => {
                let from = usize::try_from(at).ok().and_then(|at| self.pack.unwritten.get(at..)).unwrap_or_default();
                io::Read::read(&mut &*from, buffer)?
            }
            // What follows it is not in the file.
            None => {
                let most = usize::try_from(written - self.at).unwrap_or(usize::MAX).min(buffer.len());
                self.pack.file.read_at(buffer.get_mut(..most).unwrap_or_default(), self.at)?
            }
        };
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    #[test]
    fn snapshot_looks_through_no_link_in_what_rules_leave_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        let (work, other) = (root.join("work"), root.join("other"));
        for path in ["work/one/target", "work/target/deep", "other/target"] {
            std::fs::create_dir_all(root.join(path)).expect("made");
        }
        let mut snapshot = Snapshot::new(work.clone(), &root).expect("made");
        snapshot.look(&|path| path.ends_with("target")).expect("it looks");
        let mut all = snapshot.left_out_since((0, 0));
        all.sort();
        assert_eq!(all, [work.join("one/target"), work.join("target")]);
        for swapped in ["one", "target"] {
            std::fs::rename(work.join(swapped), root.join(format!("{swapped}.away"))).expect("moved");
            symlink(&other, work.join(swapped)).expect("a link");
        }
        let changed = |path: &Path| {
            let about = std::fs::symlink_metadata(path).expect("it is there");
            (about.ctime(), about.ctime_nsec())
        };
        // What is in the other folder is newer than the links, which are of this one.
        let since = loop {
            std::fs::write(root.join("clock"), "x").expect("written");
            let now = changed(&root.join("clock"));
            if now > changed(&work.join("target")) {
                break now;
            }
        };
        for path in ["other/fresh", "other/target/fresh"] {
            std::fs::write(root.join(path), "x").expect("written");
        }
        assert!(changed(&other.join("fresh")) >= since && changed(&other.join("target")) >= since);
        assert_eq!(snapshot.left_out_since(since), Vec::<PathBuf>::new());
    }

    #[test]
    fn snapshot_finds_a_change_in_what_rules_leave_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        let work = root.join("work");
        for path in ["work/a/target/b/c", "work/target/b/c"] {
            std::fs::create_dir_all(root.join(path)).expect("made");
            std::fs::write(root.join(path).join("old"), "x").expect("written");
        }
        let mut snapshot = Snapshot::new(work.clone(), &root).expect("made");
        snapshot.look(&|path| path.ends_with("target")).expect("it looks");
        let changed = |path: &str| {
            let about = std::fs::metadata(work.join(path)).expect("it is there");
            (about.ctime(), about.ctime_nsec())
        };
        let since = loop {
            std::fs::write(work.join("a/target/b/c/old"), "y").expect("written");
            let now = changed("a/target/b/c/old");
            if now > changed("target/b/c/old") {
                break now;
            }
        };
        assert_eq!(snapshot.left_out_since(since), [work.join("a/target")]);
    }

    #[test]
    fn snapshot_sorts_paths_as_paths_are_sorted() {
        let long = "d/".repeat(200);
        let mut paths: Vec<PathBuf> =
            ["a", "a/b", "a.b", "a.b/c", "a b", "ab", "a/b/c", "b", "a-/x", "\u{1}", "\u{1}/a"]
                .iter()
                .flat_map(|path| ["/r/".to_owned(), format!("/{long}")].map(|above| PathBuf::from(above + path)))
                .collect();
        paths.push(PathBuf::from(format!("/{}", long.trim_end_matches('/'))));
        paths.push(PathBuf::from("/r"));
        for one in &paths {
            for other in &paths {
                assert_eq!(by_parts(one, other), one.cmp(other), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn snapshot_keeps_files_of_any_size_through_tidying() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        let work = root.join("work");
        std::fs::create_dir(&work).expect("made");
        let sizes = [0, 1, 4_096, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH, 7, MAX_SNAPSHOT_FILE as usize];
        let content = |at: usize, size: usize| -> Vec<u8> { (0..size).map(|n| (n * (at + 3) % 251) as u8).collect() };
        for (at, size) in sizes.iter().enumerate() {
            std::fs::write(work.join(format!("f{at}")), content(at, *size)).expect("written");
        }
        std::fs::write(work.join("large"), vec![0; MAX_SNAPSHOT_FILE as usize + 1]).expect("written");
        let mut snapshot = Snapshot::new(work.clone(), &root).expect("made");
        assert!(snapshot.look(&|_| false).expect("it looks").is_empty());
        // One that is too large to be kept, and so new that its times may not show a change, counts as changed.
        let changed = |snapshot: &mut Snapshot, path: &Path| {
            let mut differences = snapshot.look(&|_| false).expect("it looks");
            differences.retain(|difference| difference.path != work.join("large"));
            assert!(differences.iter().all(|difference| difference.path == path), "{differences:?}");
            differences
        };
        for round in 0..2 {
            for (at, size) in sizes.iter().enumerate() {
                let path = work.join(format!("f{at}"));
                std::fs::remove_file(&path).expect("removed");
                let gone = changed(&mut snapshot, &path);
                let [Difference { old: Some(old), not_kept: None, .. }] = gone.as_slice() else {
                    panic!("round {round}: {gone:?}")
                };
                let mut bytes = Vec::new();
                snapshot.bytes(*old).read_to_end(&mut bytes).expect("read");
                assert!(bytes == content(at, *size), "round {round}: file {at} of {size} bytes");
                std::fs::write(&path, bytes).expect("written");
                assert_eq!(changed(&mut snapshot, &path).len(), 1);
            }
            assert!(snapshot.pack.end > snapshot.pack.live);
            let Snapshot { pack, entries, .. } = &mut snapshot;
            pack.tidy(entries).expect("tidied");
            assert_eq!(snapshot.pack.end, snapshot.pack.live);
        }
        std::fs::write(work.join("large"), "small").expect("written");
        let changed = snapshot.look(&|_| false).expect("it looks");
        assert!(
            matches!(changed.as_slice(), [Difference { before: State::Other, not_kept: Some(_), .. }]),
            "{changed:?}"
        );
    }
}
