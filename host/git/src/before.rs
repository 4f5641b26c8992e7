//! What is remembered of git's folder before a program starts, so that a later comparison shows whether the user or
//! another program changed it meanwhile.
//!
//! Objects are not looked at: they are stored under names made of their contents, so nobody changes one.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat, fstat};

use crate::index::MAX_INDEX;
use crate::place::{Place, kind_of};
use crate::repository::Repository;

/// The most names in git's folder that are remembered, without objects. Protects the time of each call.
const MAX_NAMES: usize = 100_000;

/// Git's folder as it was.
#[derive(Debug)]
pub struct Before {
    pub(crate) place: Place,
    stamps: HashMap<PathBuf, Stamp>,
    /// The index of the work tree, open: git replaces it, and this is what it replaced.
    index: Option<(PathBuf, File, Stat)>,
}

/// What changes with each change of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp(Stat);

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        let key = |stat: &Stat| {
            (
                stat.st_ino,
                stat.st_mode,
                stat.st_size,
                stat.st_mtime,
                stat.st_mtime_nsec,
                stat.st_ctime,
                stat.st_ctime_nsec,
            )
        };
        key(&self.0) == key(&other.0)
    }
}

impl Before {
    /// Looks at the folder that all work trees of a repository share: the one that the program's changes are beneath.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or has more than 100,000 names besides objects.
    pub fn look(repository: &Repository) -> io::Result<Self> {
        let place = Place::open(&repository.common)?;
        let mut stamps = HashMap::new();
        let mut enters = |path: &Path| {
            let stored = path.file_name().is_some_and(|name| name == "objects" || name == "lfs");
            // A branch may have this name.
            !stored || !matches!(place.stat(&path.with_file_name("HEAD")), Ok(Some(_)))
        };
        for found in place.beneath(Path::new(""), MAX_NAMES, &mut enters)? {
            if found.kind() != FileType::Directory {
                stamps.insert(found.path, Stamp(found.about));
            }
        }
        // Kept as an open file: its bytes are needed only if git wrote another one meanwhile.
        let own = repository.folder.strip_prefix(&place.path).unwrap_or(Path::new("")).join("index");
        let index = place.file(&own).ok().map(|(file, about)| (own, file, about));
        Ok(Self { place, stamps, index })
    }

    /// The folder, by its real path.
    pub fn folder(&self) -> &Path {
        &self.place.path
    }

    /// Returns what is at a path now.
    pub(crate) fn now(&self, path: &Path) -> io::Result<Option<Stamp>> {
        Ok(self.place.stat(path)?.map(Stamp))
    }

    /// Returns what was at a path.
    pub(crate) fn then(&self, path: &Path) -> Option<Stamp> {
        self.stamps.get(path).copied()
    }

    /// Returns the bytes that the work tree's index had, if this is its path and it was replaced since.
    pub(crate) fn replaced_index(&self, path: &Path) -> Option<Vec<u8>> {
        let (_, file, then) = self.index.as_ref().filter(|(known, ..)| known == path)?;
        let now = fstat(file).ok()?;
        let is_there = self.place.stat(path).ok()?.is_some_and(|about| about.st_ino == then.st_ino);
        let is_same =
            (now.st_size, now.st_mtime, now.st_mtime_nsec) == (then.st_size, then.st_mtime, then.st_mtime_nsec);
        (!is_there && is_same).then(|| host_files::read_limited(file, MAX_INDEX).ok())?
    }
}

impl From<Stat> for Stamp {
    fn from(stat: Stat) -> Self {
        Self(stat)
    }
}

impl Stamp {
    pub(crate) fn kind(&self) -> FileType {
        kind_of(&self.0)
    }

    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or(0)
    }
}
