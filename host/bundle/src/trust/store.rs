//! The file with the keys that a user trusts.
//!
//! Promises: it is written whole or not at all, by one process at a time, for its user alone; a file that others could
//! have written is not used; an invalid one is not overwritten, since revocations are in it.

use std::io;
use std::path::PathBuf;

use host_files::{Access, FileError, PrivateFile};
use host_manifest::cut_lines;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{MAX_LISTED, MAX_PATTERNS, Pattern, Purpose, Revocation, Trust, TrustError, TrustedKey};
use crate::signature::PublicKey;

/// The largest file that is read. Protects memory; thousands of keys stay below.
const MAX_FILE: u64 = 16 << 20;
/// The layout of the file: each purpose of a key has its own times. In the first one the key had them.
const VERSION: u32 = 2;

/// The file.
#[derive(Clone, Debug)]
pub struct TrustStore {
    file: PrivateFile,
}

/// The part that every layout has.
#[derive(Deserialize)]
struct Versions {
    version: u32,
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

/// The first layout.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstDocument {
    version: u32,
    #[serde(default, rename = "key")]
    keys: Vec<FirstKey>,
    #[serde(default)]
    revoked: Vec<Revocation>,
}

/// A key with one time for all of its patterns.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstKey {
    key: PublicKey,
    patterns: Vec<Pattern>,
    since: Timestamp,
    expires: Option<Timestamp>,
    replaced_by: Option<PublicKey>,
}

impl From<FirstDocument> for Document {
    fn from(first: FirstDocument) -> Self {
        let key = |FirstKey { key, mut patterns, since, expires, replaced_by }: FirstKey| {
            patterns.sort();
            patterns.dedup();
            let purposes = patterns.into_iter().map(|pattern| Purpose { pattern, since, expires }).collect();
            TrustedKey { key, replaced_by, purposes }
        };
        Self { version: first.version, keys: first.keys.into_iter().map(key).collect(), revoked: first.revoked }
    }
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
    /// Creates the store for the file at this path, which need not exist.
    pub fn at(path: PathBuf) -> Self {
        Self { file: PrivateFile::new(path, Access::Write, MAX_FILE) }
    }

    /// Returns the trusted keys; empty if there is no file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, others could have written it, or it is invalid.
    pub fn load(&self) -> Result<Trust, StoreError> {
        let path = || self.file.path().to_owned();
        let malformed = |why: String| StoreError::Malformed { path: path(), why };
        // Checked for who could have written it before a byte is believed.
        let text = match self.file.read() {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Trust::default()),
            Err(FileError::Io(error)) => return Err(StoreError::Unreadable { path: path(), error }),
            Err(FileError::Exposed(how)) => return Err(StoreError::Exposed { path: path(), why: how.to_string() }),
            Err(other) => return Err(malformed(other.to_string())),
        };
        let not_toml = |error: toml::de::Error| malformed(cut_lines(error.to_string().trim_end()));
        let Versions { version } = toml::from_str(&text).map_err(not_toml)?;
        let mut document: Document = match version {
            1 => toml::from_str::<FirstDocument>(&text).map_err(not_toml)?.into(),
            VERSION => toml::from_str(&text).map_err(not_toml)?,
            // Not overwritten: revocations are in it.
            other => return Err(malformed(format!("its version is {other}, and this host reads version {VERSION}"))),
        };
        if document.keys.len().max(document.revoked.len()) > MAX_LISTED {
            return Err(malformed(format!("it has over {MAX_LISTED} entries")));
        }
        let mut ids: Vec<_> = document.keys.iter().map(|known| known.key.id()).collect();
        ids.sort_unstable();
        if let Some(twice) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(malformed(format!("the key {} is in it twice", twice[0])));
        }
        for known in &mut document.keys {
            let key = known.key.id();
            known.purposes.sort_by(|one, other| one.pattern.cmp(&other.pattern));
            if let Some(twice) = known.purposes.windows(2).find(|pair| pair[0].pattern == pair[1].pattern) {
                return Err(malformed(format!("the key {key} has `{}` twice", twice[0].pattern)));
            }
            let found = known.purposes.len();
            // A key without a pattern would be trusted for nothing, and look trusted.
            if !(1..=MAX_PATTERNS).contains(&found) {
                return Err(malformed(format!("the key {key} has {found} patterns, and it has 1 to {MAX_PATTERNS}")));
            }
        }
        Ok(Trust { keys: document.keys, revoked: document.revoked })
    }

    /// Changes the list, while no other process does. A failed change leaves it as it was.
    ///
    /// # Errors
    ///
    /// Those of [`Self::load`], those of the change, and when the file cannot be written.
    pub fn change<T>(&self, change: impl FnOnce(&mut Trust) -> Result<T, TrustError>) -> Result<T, StoreError> {
        let unwritable = |error: io::Error| StoreError::Unwritable { path: self.file.path().to_owned(), error };
        let locked = self.file.lock().map_err(unwritable)?;
        let mut trust = self.load()?;
        let changed = change(&mut trust)?;
        let document = Document { version: VERSION, keys: trust.keys, revoked: trust.revoked };
        let text = toml::to_string(&document).map_err(|error| unwritable(io::Error::other(error)))?;
        locked.replace(&text).map_err(unwritable)?;
        Ok(changed)
    }
}
