//! The file with the keys that a user trusts.
//!
//! Promises: it is written whole or not at all, by one process at a time, for its user alone; one that others could
//! have written is not used; an invalid one is not overwritten, since revocations are in it.

use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use host_manifest::cut;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::{MAX_LISTED, Revocation, Trust, TrustError, TrustedKey};

/// The largest file that is read. Protects memory; thousands of keys stay below.
const MAX_FILE: u64 = 16 << 20;
/// The layout of the file.
const VERSION: u32 = 1;

/// The file.
#[derive(Clone, Debug)]
pub struct TrustStore {
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    #[serde(default, rename = "key")]
    keys: Vec<TrustedKey>,
    #[serde(default)]
    revoked: Vec<Revocation>,
}

/// Why the file is not read or not changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be read.
    #[error("the list of trusted keys `{}` cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Others could have written it.
    #[error(
        "the list of trusted keys `{}` is not used: {why}; if its contents are right, chmod 600 '{}'",
        path.display(), path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// How.
        why: String,
    },
    /// It is invalid.
    #[error(
        "invalid list of trusted keys `{}`: {why}; correct it, or move it away and trust the keys again",
        path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The reason, with its line.
        why: String,
    },
    /// It cannot be written.
    #[error("the list of trusted keys `{}` cannot be written: {error}; make its folder writable for you", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The change is refused.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl TrustStore {
    /// The file at this path, which need not be there.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The trusted keys; none if there is no file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, others could have written it, or it is invalid.
    pub fn load(&self) -> Result<Trust, StoreError> {
        let unreadable = |error| StoreError::Unreadable { path: self.path.clone(), error };
        let malformed = |why: String| StoreError::Malformed { path: self.path.clone(), why };
        // A pipe would have no writer for ever.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = match File::options().read(true).custom_flags(flags).open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Trust::default()),
            Err(error) => return Err(unreadable(error)),
        };
        let about = file.metadata().map_err(unreadable)?;
        let exposed = |why: String| StoreError::Exposed { path: self.path.clone(), why };
        if !about.is_file() {
            return Err(malformed("it is not a file".to_owned()));
        }
        if about.uid() != rustix::process::geteuid().as_raw() {
            return Err(exposed("it belongs to another user".to_owned()));
        }
        if about.mode() & 0o022 != 0 {
            return Err(exposed(format!("others can write it (its mode is {:o})", about.mode() & 0o777)));
        }
        let mut text = String::new();
        file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > MAX_FILE {
            return Err(malformed(format!("it is over the limit of {MAX_FILE} bytes")));
        }
        let document: Document = toml::from_str(&text).map_err(|error| malformed(cut(error.to_string().trim_end())))?;
        if document.version != VERSION {
            return Err(malformed(format!("its version is {}, and this host knows {VERSION}", document.version)));
        }
        if document.keys.len().max(document.revoked.len()) > MAX_LISTED {
            return Err(malformed(format!("it has over {MAX_LISTED} entries")));
        }
        let mut ids: Vec<_> = document.keys.iter().map(|known| known.key.id()).collect();
        ids.sort_unstable();
        if let Some(twice) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(malformed(format!("the key {} is in it twice", twice[0])));
        }
        Ok(Trust { keys: document.keys, revoked: document.revoked })
    }

    /// Changes what is there, while no other process does. A change that fails changes nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Self::load`], those of the change, and when the file cannot be written.
    pub fn change<T>(&self, change: impl FnOnce(&mut Trust) -> Result<T, TrustError>) -> Result<T, StoreError> {
        let unwritable = |error: io::Error| StoreError::Unwritable { path: self.path.clone(), error };
        let folder = self.path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unwritable)?;
        // A file of its own, since the list itself is replaced. The system unlocks it when the process ends.
        let mut options = File::options();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let lock = options.open(self.path.with_extension("lock")).map_err(unwritable)?;
        lock.lock().map_err(unwritable)?;
        let mut trust = self.load()?;
        let changed = change(&mut trust)?;
        let document = Document { version: VERSION, keys: trust.keys, revoked: trust.revoked };
        let text = toml::to_string(&document).map_err(|error| unwritable(io::Error::other(error)))?;
        // Only its user can read or write a temporary file.
        let mut file = tempfile::Builder::new().prefix(".keys-").tempfile_in(folder).map_err(unwritable)?;
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(unwritable)?;
        file.persist(&self.path).map_err(|error| unwritable(error.error))?;
        Ok(changed)
    }
}
