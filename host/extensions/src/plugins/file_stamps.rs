//! The state of files on disk, to notice cheaply that one of them changed.
//!
//! Promises: looking takes a few system calls for each file and reads none of them. Deliberately not here: which files
//! matter; each source of plugins says that itself.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The most files that are looked at. Protects the user, who waits for their prompt to be sent; changes beyond are
/// noticed by `/reload`.
const MAX_FILES: usize = 10_000;

/// The state of each file, by its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileStamps(BTreeMap<PathBuf, Stamp>);

/// Differs if a file was written or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

/// Whether to check a symbolic link itself, or the file that it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    Follow,
    Keep,
}

impl FileStamps {
    /// Adds a file or a folder itself, if it exists. The source that reads it reports one that cannot be opened.
    pub(crate) fn add(&mut self, path: &Path, links: Links) {
        if let Ok(metadata) = links.metadata(path)
            && self.0.len() < MAX_FILES
        {
            self.0.insert(path.to_owned(), Stamp::from_metadata(&metadata));
        }
    }

    /// Adds the entries of a folder, if it is one, whose path `counts`.
    pub(crate) fn add_entries(&mut self, folder: &Path, links: Links, counts: fn(&Path) -> bool) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.take(MAX_FILES).flatten() {
            let path = entry.path();
            if counts(&path) {
                self.add(&path, links);
            }
        }
    }
}

impl Links {
    fn metadata(self, path: &Path) -> std::io::Result<Metadata> {
        match self {
            Self::Follow => std::fs::metadata(path),
            Self::Keep => std::fs::symlink_metadata(path),
        }
    }
}

impl Stamp {
    fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            written: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_an_endless_folder_are_bounded() {
        let home = tempfile::tempdir().expect("a folder");
        for i in 0..=MAX_FILES {
            std::fs::File::create(home.path().join(format!("{i}.wasm"))).expect("made");
        }
        let mut stamps = FileStamps::default();
        stamps.add_entries(home.path(), Links::Follow, |_| true);
        assert_eq!(stamps.0.len(), MAX_FILES);
    }
}
