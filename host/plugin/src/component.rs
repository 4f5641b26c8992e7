//! The bytes of a plugin's component, wherever they are.
//!
//! Promises: bytes that are read from a disk are those that the digest names, or an error; a stored component is read
//! from the file that was open when the plugin was found, so that another file in its place changes nothing.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use crate::digest::Digest;
use crate::limits::MAX_COMPONENT;

/// The bytes of a component.
#[derive(Debug)]
pub enum ComponentBytes {
    /// Part of the binary.
    BuiltIn(&'static [u8]),
    /// In memory.
    Held(Vec<u8>),
    /// In a file, and read when they are needed.
    Stored(Arc<StoredComponent>),
}

/// A component within a file.
pub struct StoredComponent {
    file: File,
    path: PathBuf,
    offset: u64,
    size: u64,
    digest: Digest,
}

/// Why the bytes of a component cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ComponentError {
    /// The file cannot be read.
    #[error("the component in `{}` cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The bytes are not those that the digest names.
    #[error(
        "the component in `{}` was changed since it was installed: its digest is {found}, not {wanted}; remove the \
         file and install the plugin again, unless you know who changed it",
        path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The digest of the bytes.
        found: Digest,
        /// The digest that names them.
        wanted: Digest,
    },
}

impl StoredComponent {
    /// The component with this digest, whose `size` bytes are at `offset` in an open file. The path is for messages.
    pub fn new(file: File, path: PathBuf, offset: u64, size: u64, digest: Digest) -> Self {
        Self { file, path, offset, size, digest }
    }

    /// Returns the digest that names it.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Reads it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is another one: see [`ComponentError`].
    pub fn read(&self) -> Result<Vec<u8>, ComponentError> {
        let size = usize::try_from(self.size).ok().filter(|size| *size <= MAX_COMPONENT);
        let too_large = || self.unreadable(io::Error::other(format!("it has over {MAX_COMPONENT} bytes")));
        let mut bytes = vec![0; size.ok_or_else(too_large)?];
        self.file.read_exact_at(&mut bytes, self.offset).map_err(|error| self.unreadable(error))?;
        let found = Digest::of(&bytes);
        match found == self.digest {
            true => Ok(bytes),
            false => Err(ComponentError::Changed { path: self.path.clone(), found, wanted: self.digest.clone() }),
        }
    }

    fn unreadable(&self, error: io::Error) -> ComponentError {
        ComponentError::Unreadable { path: self.path.clone(), error }
    }
}

impl fmt::Debug for StoredComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredComponent({}, {} bytes at {})", self.path.display(), self.size, self.offset)
    }
}

impl ComponentBytes {
    /// Returns how many there are.
    pub fn size(&self) -> u64 {
        match self {
            Self::BuiltIn(bytes) => bytes.len() as u64,
            Self::Held(bytes) => bytes.len() as u64,
            Self::Stored(stored) => stored.size,
        }
    }

    /// Returns the bytes; those of a file are read for this.
    ///
    /// # Errors
    ///
    /// As [`StoredComponent::read`].
    pub fn get(&self) -> Result<Cow<'_, [u8]>, ComponentError> {
        match self {
            Self::BuiltIn(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::Held(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::Stored(stored) => stored.read().map(Cow::Owned),
        }
    }

    /// The same, without keeping the thread: one that is stored is read on another.
    pub(crate) async fn get_aside(&self) -> Result<Cow<'_, [u8]>, ComponentError> {
        let Self::Stored(stored) = self else { return self.get() };
        let aside = Arc::clone(stored);
        let read = tokio::task::spawn_blocking(move || aside.read()).await;
        read.map_err(|error| stored.unreadable(io::Error::other(error)))?.map(Cow::Owned)
    }

    /// Reads from this position, without a check: for what need not be true, such as the names of imports, since a
    /// compiled component links or does not. Returns how many bytes there were; 0 at the end.
    pub(crate) fn read_unchecked(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let held = match self {
            Self::BuiltIn(bytes) => bytes,
            Self::Held(bytes) => bytes.as_slice(),
            Self::Stored(stored) => {
                let left = stored.size.saturating_sub(at).min(into.len() as u64);
                let (into, _) = into.split_at_mut(usize::try_from(left).unwrap_or_default());
                return stored.file.read_at(into, stored.offset.saturating_add(at));
            }
        };
        let mut rest = usize::try_from(at).ok().and_then(|at| held.get(at..)).unwrap_or_default();
        rest.read(into)
    }
}

impl From<&'static [u8]> for ComponentBytes {
    fn from(bytes: &'static [u8]) -> Self {
        Self::BuiltIn(bytes)
    }
}

impl From<Vec<u8>> for ComponentBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Held(bytes)
    }
}

impl From<StoredComponent> for ComponentBytes {
    fn from(stored: StoredComponent) -> Self {
        Self::Stored(Arc::new(stored))
    }
}
