//! What is at a path: nothing, a file with its content's digest, a folder, a link, or something else.

use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The BLAKE3 digest of a content, as 64 lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Digest(String);

/// A text that is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest has 64 lower-case hexadecimal digits")]
pub struct NoDigest;

impl Digest {
    /// Returns the digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_string())
    }

    /// Returns the digest of all that a reader has, and how many bytes that were.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn of_reader(mut reader: impl Read) -> io::Result<(Self, u64)> {
        let mut hasher = blake3::Hasher::new();
        let size = io::copy(&mut reader, &mut hasher)?;
        Ok((Self(hasher.finalize().to_string()), size))
    }

    /// Returns the 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Digest {
    type Error = NoDigest;

    fn try_from(text: String) -> Result<Self, NoDigest> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 64 && text.bytes().all(is_digit) { Ok(Self(text)) } else { Err(NoDigest) }
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get(..8).unwrap_or_default())
    }
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// The digest of its content.
        digest: Digest,
        /// Its size in bytes.
        size: u64,
        /// Its permission bits.
        mode: u32,
    },
    /// A folder, whatever is in it.
    Folder {
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// What it says.
        target: PathBuf,
    },
    /// A file whose content is not known, or anything else.
    Other,
}

impl State {
    /// Returns the state of a file with this content.
    pub fn file(content: &[u8], mode: u32) -> Self {
        Self::File { digest: Digest::of(content), size: content.len() as u64, mode }
    }
}
