//! Reading within a limit: protects memory from a file, a pipe or a stream without end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::Exposed;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is longer than the limit.
    #[error("it is over the limit of {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// It is not UTF-8.
    #[error("it is not UTF-8 text")]
    NotText,
    /// It is a folder, a pipe or a device.
    #[error("it is not a regular file")]
    NotAFile,
    /// Somebody else could have read or written it.
    #[error(transparent)]
    Exposed(#[from] Exposed),
}

impl FileError {
    /// Returns whether the error is that the file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(error) => error,
            other => Self::other(other),
        }
    }
}

/// All bytes of a source.
///
/// # Errors
///
/// [`FileError::TooLarge`] if there are more than `limit` bytes; what the source failed with.
pub fn read_limited(source: impl Read, limit: u64) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    // One byte more than the limit, so that what is longer is noticed. What says that it is small may have grown.
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(FileError::TooLarge { limit }) } else { Ok(bytes) }
}

/// The whole text of a source.
///
/// # Errors
///
/// Those of [`read_limited`]; [`FileError::NotText`].
pub fn read_text_limited(source: impl Read, limit: u64) -> Result<String, FileError> {
    String::from_utf8(read_limited(source, limit)?).map_err(|_| FileError::NotText)
}

/// All bytes of a file that the user named, which may be a pipe.
///
/// # Errors
///
/// Those of [`read_limited`], and when it cannot be opened.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    read_limited(File::open(path)?, limit)
}

/// The text of a file that the user named, which may be a pipe.
///
/// # Errors
///
/// Those of [`read_text_limited`], and when it cannot be opened.
pub fn read_text(path: &Path, limit: u64) -> Result<String, FileError> {
    read_text_limited(File::open(path)?, limit)
}

/// Reads a regular file that was found and not named: it lies in a folder that others can fill. A symbolic link anywhere on
/// its path is not followed, a pipe is not waited for, and a device is not read.
///
/// # Errors
///
/// Those of [`read_limited`]; [`FileError::NotAFile`]; when it cannot be opened, as at a symbolic link.
pub fn read_found(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let file = open_found(path)?;
    if !file.metadata()?.is_file() {
        return Err(FileError::NotAFile);
    }
    read_limited(file, limit)
}

/// Opens a file without following a link and without waiting for what it might be.
fn open_found(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, ResolveFlags, openat2};
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // A kernel before 5.6, or a filter that does not know the call.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
            opened => return Ok(File::from(opened?)),
        }
    }
    // Here the last name alone is checked as it is opened.
    Ok(File::from(open(path, flags, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_their_limit() {
        for (bytes, limit, read) in
            [(&b""[..], 0, true), (b"abc", 3, true), (b"abcd", 3, false), (b"abcd", u64::MAX, true)]
        {
            match read_limited(bytes, limit) {
                Ok(all) => assert!(read && all == bytes),
                Err(error) => {
                    assert!(!read);
                    assert_eq!(error.to_string(), format!("it is over the limit of {limit} bytes"));
                }
            }
        }
        assert!(matches!(read_limited(io::repeat(b'x'), 1 << 16), Err(FileError::TooLarge { .. })));
        assert!(matches!(read_text_limited(&b"a\xff"[..], 3), Err(FileError::NotText)));
        let folder = tempfile::tempdir().expect("a folder");
        assert!(read_file(&folder.path().join("none"), 3).is_err_and(|error| error.is_missing()));
    }

    #[test]
    fn files_found_are_regular_and_reached_without_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        // The path of a temporary folder may have links of its own.
        let root = folder.path().canonicalize().expect("a path");
        let at = |name: &str| root.join(name);
        std::fs::create_dir(at("real")).expect("made");
        std::fs::write(at("real/file"), "abc").expect("written");
        std::os::unix::fs::symlink(at("real"), at("folder")).expect("linked");
        std::os::unix::fs::symlink(at("real/file"), at("link")).expect("linked");
        std::os::unix::fs::symlink("/dev/zero", at("endless")).expect("linked");
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("made");
        assert_eq!(read_found(&at("real/file"), 3).expect("read"), b"abc");
        assert!(matches!(read_found(&at("real/file"), 2), Err(FileError::TooLarge { limit: 2 })));
        assert!(read_found(&at("none"), 3).is_err_and(|error| error.is_missing()));
        for not_read in ["link", "endless", "pipe", "real", "folder/file"] {
            assert!(read_found(&at(not_read), 3).is_err(), "{not_read}");
        }
        assert!(matches!(read_found(Path::new("/dev/zero"), 3), Err(FileError::NotAFile)));
    }
}
