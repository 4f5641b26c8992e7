//! Which edition of each index was seen: its number, its digest and when. Nothing else of an index is kept.
//!
//! Promises: an edition with a smaller number, or with the same number and other bytes, is reported and does not count
//! until the user accepts it.

use std::collections::BTreeMap;

use host_bundle::OciDigest;
use host_files::{Access, FileError, PrivateFile};
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure};
use host_text::{Advice, Flag};
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
    ) -> Result<(), Failure> {
        let unwritable = |error: std::io::Error| {
            Failure::configuration(format!("`{}` cannot be written: {error}", self.file.path().display()))
                .help("make its folder writable for you")
        };
        let locked = self.file.lock().map_err(unwritable)?;
        let mut document = self.read()?;
        if let Some(before) = document.indexes.get(name) {
            let on = before.seen.strftime("%Y-%m-%d");
            let what = match serial.cmp(&before.serial) {
                std::cmp::Ordering::Less => Some(format!(
                    "it is older than before: its serial is {serial}, and {} was seen on {on}",
                    before.serial
                )),
                std::cmp::Ordering::Equal if before.digest != *digest => {
                    Some(format!("its contents changed and its serial did not: {serial}, seen on {on}"))
                }
                std::cmp::Ordering::Equal => return Ok(()),
                std::cmp::Ordering::Greater => None,
            };
            if let Some(what) = what.filter(|_| older == OlderIndex::Report) {
                return Err(Failure::new(ErrorKind::Untrusted, what).help(
                    Advice::from("a newer version may be hidden; if its publisher says that this one is right, add ")
                        .flag(Flag::AllowOlderIndex),
                ));
            }
        }
        let edition = Edition { serial, digest: digest.clone(), seen: now };
        document.indexes.insert(name.to_owned(), edition);
        let text = serde_json::to_string_pretty(&document).map_err(|error| unwritable(error.into()))?;
        locked.replace(&text).map_err(unwritable)
    }

    fn read(&self) -> Result<Document, Failure> {
        let path = self.file.path().display();
        let unusable = |why: String| {
            Failure::configuration(format!("`{path}` cannot be used"))
                .cause(why)
                .help("remove the file: it only says which editions of indexes were seen")
        };
        let text = match self.file.read() {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Document { version: VERSION, ..Document::default() }),
            Err(FileError::Exposed(how)) => {
                return Err(unusable(how.to_string()).help(format!("if its contents are right: chmod 600 '{path}'")));
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
