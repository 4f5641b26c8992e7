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
}
