//! Reads for the host itself, in the same way as for a guest: with a permit of the same grants, the path resolved
//! beneath the granted root, the deny globs checked against the path that was really opened.
//!
//! So a file that no tool may read does not reach a model in another way. Deliberately not here: writing, and walks.

use std::sync::Arc;

use host_capability::{Grants, PluginName};
use host_files::{FileError, read_limited};
use host_text::Wording;

use crate::bindings::fs_read::{Error, Kind};
use crate::readable::{self, Readable};
use crate::workspace::Workspace;

/// Reads what these grants permit.
#[derive(Clone, Debug)]
pub struct Reader {
    workspace: Arc<Workspace>,
    grants: Arc<Grants>,
    name: PluginName,
    wording: Wording,
}

/// The kind of a path, and whether it is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its kind; symbolic links that stay beneath the root were followed.
    pub kind: FileKind,
    /// Whether the project's ignore rules leave it out.
    pub ignored: bool,
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link that was not followed.
    Link,
    /// Anything else.
    Other,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name; bytes that are not UTF-8 are replaced.
    pub name: String,
    /// Its kind, and whether it is ignored; links are not followed.
    pub found: Found,
}

/// Why something is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The grants do not cover it; nothing was looked up.
    #[error("`{wanted}` may not be read")]
    Denied {
        /// The path that was denied.
        wanted: String,
        /// Why, and what would allow it.
        help: String,
    },
    /// The path is permitted, but a symbolic link on it leads to a path that is not.
    #[error("a symbolic link leads `{wanted}` to what may not be read")]
    LeadsOut {
        /// The path that was denied.
        wanted: String,
        /// Where it leads, or what would allow it.
        help: String,
    },
    /// Nothing exists at that path.
    #[error("there is no `{0}`")]
    NotFound(String),
    /// It is a folder instead of a file, a file instead of a folder, or neither.
    #[error("{0}")]
    WrongKind(String),
    /// It is over the limit.
    #[error("it has {size} bytes, over the limit of {limit}")]
    TooLarge {
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The system returned an error.
    #[error("{0}")]
    Io(String),
}

impl Reader {
    /// Creates a reader of what these grants permit. The name is what denials call the reader, in words for the user.
    pub fn new(workspace: Arc<Workspace>, grants: Arc<Grants>, name: PluginName) -> Self {
        Self { workspace, grants, name, wording: Wording::default() }
    }

    /// Words denials in the terms of a frontend.
    #[must_use]
    pub fn worded(self, wording: Wording) -> Self {
        Self { wording, ..self }
    }

    /// Returns the kind of the path.
    ///
    /// # Errors
    ///
    /// If it is not permitted, or cannot be opened.
    pub fn stat(&self, path: &str) -> Result<Found, ReadError> {
        let (kind, ignored) = self.readable(path)?.look().map_err(|error| read_error(error, 0))?;
        Ok(Found { kind: kind.into(), ignored })
    }

    /// Returns the bytes of a regular file of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// If it is not permitted, is not a regular file, is larger, or cannot be read.
    pub fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let at = self.readable(path)?;
        let read = || {
            let (file, size) = at.open_regular()?;
            if size > limit {
                return Err(Error::TooLarge(size));
            }
            // A file that reports a small size may have grown, or be a virtual file of the kernel's.
            match read_limited(file, limit) {
                Err(FileError::TooLarge { .. }) => Err(Error::TooLarge(limit.saturating_add(1))),
                read => read.map_err(|error| at.failed(&error.into())),
            }
        };
        read().map_err(|error| read_error(error, limit))
    }

    /// Returns the entries of a folder, in no particular order, without those that a deny leaves out.
    ///
    /// # Errors
    ///
    /// If it is not permitted, is not a folder, has too many entries, or cannot be read.
    pub fn list(&self, path: &str) -> Result<Vec<Listed>, ReadError> {
        let names = self.readable(path)?.names().map_err(|error| read_error(error, readable::MAX_ENTRIES as u64))?;
        let listed = names.into_iter().map(|(name, kind, ignored)| {
            let found = Found { kind: kind.into(), ignored };
            Listed { name, found }
        });
        Ok(listed.collect())
    }

    fn readable(&self, path: &str) -> Result<Readable, ReadError> {
        Readable::new(&self.workspace, &self.grants, &self.name, path, self.wording).map_err(|error| match error {
            Error::Denied(denial) => ReadError::Denied { wanted: denial.wanted, help: denial.help },
            other => read_error(other, 0),
        })
    }
}

/// Converts an error about a permitted path.
fn read_error(error: Error, limit: u64) -> ReadError {
    match error {
        Error::Denied(denial) => ReadError::LeadsOut { wanted: denial.wanted, help: denial.help },
        Error::NotFound(path) => ReadError::NotFound(path),
        Error::IsDirectory(path) => ReadError::WrongKind(format!("`{path}` is a folder")),
        Error::NotDirectory(path) => ReadError::WrongKind(format!("`{path}` is not a folder")),
        Error::TooLarge(size) => ReadError::TooLarge { size, limit },
        Error::Invalid(why) => ReadError::WrongKind(why),
        Error::Io(why) => ReadError::Io(why),
    }
}

impl From<Kind> for FileKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::File,
            Kind::Directory => Self::Folder,
            Kind::Symlink => Self::Link,
            Kind::Other => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use host_capability::{Capability, Scope};

    use super::*;

    fn reader(root: &Path, scope: &str) -> Reader {
        let scope = Scope::parse(Capability::FsRead, scope, root).expect("a scope");
        let workspace = Arc::new(Workspace::new(root.to_owned()));
        Reader::new(workspace, Arc::new(Grants::none().with(scope)), PluginName::new("host"))
    }

    // promise run.context
    #[test]
    fn the_host_reads_no_more_than_a_guest_with_these_grants() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("it is there");
        fs::write(outside.path().join("secret"), "s").expect("written");
        fs::create_dir(root.join("sub")).expect("made");
        for file in ["a.txt", "key.pem", "sub/b.txt"] {
            fs::write(root.join(file), file).expect("written");
        }
        symlink(outside.path().join("secret"), root.join("out")).expect("a link");
        symlink("key.pem", root.join("denied")).expect("a link");
        symlink("sub/b.txt", root.join("within")).expect("a link");
        let reader = reader(&root, ".,!*.pem");
        for (path, text) in [("a.txt", "a.txt"), ("sub/b.txt", "sub/b.txt"), ("within", "sub/b.txt")] {
            assert_eq!(reader.read(path, 100).as_deref(), Ok(text.as_bytes()), "{path}");
        }
        for path in ["key.pem", "../x", "/etc/passwd"] {
            assert!(matches!(reader.read(path, 100), Err(ReadError::Denied { .. })), "{path}");
            assert!(matches!(reader.stat(path), Err(ReadError::Denied { .. })), "{path}");
        }
        for path in ["denied", "out"] {
            assert!(matches!(reader.read(path, 100), Err(ReadError::LeadsOut { .. })), "{path}");
            assert!(matches!(reader.stat(path), Err(ReadError::LeadsOut { .. })), "{path}");
        }
        assert!(matches!(reader.read("missing", 100), Err(ReadError::NotFound(_))));
        assert!(matches!(reader.read("sub", 100), Err(ReadError::WrongKind(_))));
        assert_eq!(reader.read("a.txt", 4), Err(ReadError::TooLarge { size: 5, limit: 4 }));
        let mut names: Vec<_> = reader.list(".").expect("listed").into_iter().map(|entry| entry.name).collect();
        names.sort();
        assert_eq!(names, ["a.txt", "denied", "out", "sub", "within"]);
        assert_eq!(reader.stat("sub"), Ok(Found { kind: FileKind::Folder, ignored: false }));
    }
}
