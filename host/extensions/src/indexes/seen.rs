//! Which edition of each index was seen: its number, its digest and when. Nothing else of an index is kept.
//!
//! Promises: an edition with a smaller number, or with the same number and other bytes, is reported and does not count
//! until the user accepts it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use host_bundle::OciDigest;
use host_files::{Access, Exposed, FileError, PrivateFile};
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Fault};
use host_text::{Advice, Flag, Notice};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The largest file that is read. Protects memory; a thousand indexes stay below.
const MAX_FILE: u64 = 1 << 20;
/// The layout of the file.
const VERSION: u32 = 1;

/// Whether an index that is older than one seen before is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OlderIndex {
    /// It is reported.
    #[default]
    Report,
    /// The user accepts it.
    Accept,
}

/// The file.
pub(super) struct Seen {
    file: PrivateFile,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    indexes: BTreeMap<String, Edition>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edition {
    serial: u64,
    digest: OciDigest,
    seen: Timestamp,
}

/// Why an edition of an index is not taken, or not noted.
#[derive(Debug, thiserror::Error)]
pub(super) enum SeenError {
    /// A newer edition was seen before.
    #[error("it is older than before: its serial is {serial}, and {before} was seen on {on}")]
    Older {
        /// Its number.
        serial: u64,
        /// The number of the newer one.
        before: u64,
        /// The day on which that was seen.
        on: String,
    },
    /// Another edition with this number was seen before.
    #[error("its contents changed and its serial did not: {serial}, seen on {on}")]
    Changed {
        /// Its number.
        serial: u64,
        /// The day on which the other one was seen.
        on: String,
    },
    /// The list of editions cannot be written.
    #[error("`{}` cannot be written: {cause}", .path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// Other users could have changed the list of editions.
    #[error("`{}` cannot be used", .path.display())]
    Exposed {
        /// The file or folder.
        path: PathBuf,
        /// What others may do.
        how: Exposed,
    },
    /// The list of editions is invalid.
    #[error("`{}` cannot be used", .path.display())]
    Invalid {
        /// The file or folder.
        path: PathBuf,
        /// Why, in words.
        why: String,
    },
}

impl Fault for SeenError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Older { .. } | Self::Changed { .. } => ErrorKind::Untrusted,
            Self::Unwritable { .. } | Self::Exposed { .. } | Self::Invalid { .. } => ErrorKind::Configuration,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Older { .. } | Self::Changed { .. } | Self::Unwritable { .. } => Vec::new(),
            Self::Exposed { how, .. } => vec![how.to_string().into()],
            Self::Invalid { why, .. } => vec![why.clone().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Older { .. } | Self::Changed { .. } => Some(
                Advice::from("a newer version may be hidden; if its publisher says that this one is right, add ")
                    .flag(Flag::AllowOlderIndex),
            ),
            Self::Unwritable { .. } => Some("make its folder writable for you".into()),
            Self::Exposed { path, .. } => {
                Some(format!("if its contents are right: chmod 600 '{}'", path.display()).into())
            }
            Self::Invalid { .. } => Some("remove the file: it only says which editions of indexes were seen".into()),
        }
    }
}

impl Seen {
    pub(super) fn new(folders: &Folders) -> Self {
        Self { file: PrivateFile::new(&folders.indexes, Access::Write, MAX_FILE) }
    }

    /// Notes an edition of the index with this name in the configuration.
    ///
    /// # Errors
    ///
    /// If it is older than one that was seen, or the same and different, unless the user accepts that.
    pub(super) fn note(
        &self,
        name: &str,
        serial: u64,
        digest: &OciDigest,
        older: OlderIndex,
        now: Timestamp,
    ) -> Result<(), SeenError> {
        let unwritable = |cause| SeenError::Unwritable { path: self.file.path().to_owned(), cause };
        let locked = self.file.lock().map_err(unwritable)?;
        let mut document = self.read()?;
        if let Some(before) = document.indexes.get(name) {
            let on = || before.seen.strftime("%Y-%m-%d").to_string();
            let wrong = match serial.cmp(&before.serial) {
                std::cmp::Ordering::Less => Some(SeenError::Older { serial, before: before.serial, on: on() }),
                std::cmp::Ordering::Equal if before.digest != *digest => Some(SeenError::Changed { serial, on: on() }),
                std::cmp::Ordering::Equal => return Ok(()),
                std::cmp::Ordering::Greater => None,
            };
            if let Some(wrong) = wrong.filter(|_| older == OlderIndex::Report) {
                return Err(wrong);
            }
        }
        let edition = Edition { serial, digest: digest.clone(), seen: now };
        document.indexes.insert(name.to_owned(), edition);
        let text = serde_json::to_string_pretty(&document).map_err(|error| unwritable(error.into()))?;
        locked.replace(&text).map_err(unwritable)
    }

    fn read(&self) -> Result<Document, SeenError> {
        let path = || self.file.path().to_owned();
        let unusable = |why: String| SeenError::Invalid { path: path(), why };
        let text = match self.file.read() {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Document { version: VERSION, ..Document::default() }),
            Err(FileError::Exposed(how)) => {
                return Err(SeenError::Exposed { path: path(), how });
            }
            Err(error) => return Err(unusable(error.to_string())),
        };
        let document: Document = serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
        match document.version {
            VERSION => Ok(document),
            other => Err(unusable(format!("its version is {other}, and this host reads version {VERSION}"))),
        }
    }
}
