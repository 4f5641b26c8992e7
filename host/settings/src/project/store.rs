//! The list of trusted folders: a file of the user, with the fingerprint of each folder when it was trusted.
//!
//! Promises: it is written whole or not at all, by one process at a time; no other user can read or write it, and a
//! file that another user could have written is an error.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use host_files::{Access, Exposed, FileError, PrivateFile};
use host_text::{Advice, Notice};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::contents::Fingerprint;
use crate::error::{ErrorKind, Fault};

/// The largest file that is read. Protects memory; a thousand folders stay below.
const MAX_FILE: u64 = 32 << 20;

/// The layout of the file.
const VERSION: u32 = 1;

/// The file.
#[derive(Clone, Debug)]
pub struct Store {
    file: PrivateFile,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    folders: BTreeMap<String, Trusted>,
}

/// A trusted folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// When it was trusted.
    pub since: Timestamp,
    /// Its files then.
    pub files: Fingerprint,
}

/// Why the list of trusted folders cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustStoreError {
    /// It cannot be read, or is invalid.
    #[error("the list of trusted folders `{}` cannot be read", .list.display())]
    Unreadable {
        /// The file with the list.
        list: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// Other users could have changed or read it.
    #[error("the list of trusted folders `{}` cannot be read", .list.display())]
    Exposed {
        /// The file with the list.
        list: PathBuf,
        /// Why.
        cause: FileError,
    },
    /// It cannot be written.
    #[error("the list of trusted folders `{}` cannot be written", .list.display())]
    Unwritable {
        /// The file with the list.
        list: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A folder whose path is not text.
    #[error("the folder `{}` cannot be trusted: its path is not text", .0.display())]
    NotText(PathBuf),
}

impl Fault for TrustStoreError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreadable { .. } | Self::Exposed { .. } | Self::Unwritable { .. } => ErrorKind::Configuration,
            Self::NotText(_) => ErrorKind::Input,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Unreadable { why, .. } => vec![why.clone().into()],
            Self::Exposed { cause, .. } => vec![cause.to_string().into()],
            Self::Unwritable { cause, .. } => vec![cause.to_string().into()],
            Self::NotText(_) => Vec::new(),
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unreadable { .. } => {
                Some(Advice::from("remove the file, and trust the folders again with ").command("trust add DIR"))
            }
            Self::Exposed { list, .. } => Some(
                Advice::from("check what ")
                    .command("trust list")
                    .text(format!(
                        " shows after chmod 600 '{}', or remove the file and trust the folders again with ",
                        list.display()
                    ))
                    .command("trust add"),
            ),
            Self::Unwritable { .. } => {
                Some("make its folder writable for you, or set XDG_STATE_HOME to one that is".into())
            }
            Self::NotText(_) => Some("give it another name".into()),
        }
    }
}

impl Store {
    /// The file at this path, which need not be there.
    pub fn at(path: PathBuf) -> Self {
        Self { file: PrivateFile::new(path, Access::ReadOrWrite, MAX_FILE) }
    }

    /// All folders that were trusted, by their real paths.
    pub fn folders(&self) -> Result<BTreeMap<String, Trusted>, TrustStoreError> {
        let text = match self.file.read() {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(BTreeMap::new()),
            Err(cause @ FileError::Exposed(Exposed::Writable(_) | Exposed::Readable(_))) => {
                return Err(TrustStoreError::Exposed { list: self.file.path().to_owned(), cause });
            }
            Err(error) => return Err(self.unreadable(error.to_string())),
        };
        let document: Document =
            serde_json::from_str(&text).map_err(|error| self.unreadable(format!("it is invalid: {error}")))?;
        if document.version != VERSION {
            return Err(
                self.unreadable(format!("its version is {}, and this host reads version {VERSION}", document.version))
            );
        }
        Ok(document.folders)
    }

    /// The entry of a folder; `None` if it is not trusted.
    pub fn find(&self, root: &Path) -> Result<Option<Trusted>, TrustStoreError> {
        let Some(root) = root.to_str() else { return Ok(None) };
        Ok(self.folders()?.remove(root))
    }

    /// Trusts a folder as it is. An empty one needs no trust.
    pub fn add(&self, root: &Path, files: Fingerprint) -> Result<(), TrustStoreError> {
        let Some(name) = root.to_str() else {
            return Err(TrustStoreError::NotText(root.to_owned()));
        };
        if files.is_empty() {
            return self.remove(name).map(|_| ());
        }
        self.change(|folders| folders.insert(name.to_owned(), Trusted { since: Timestamp::now(), files })).map(|_| ())
    }

    /// Removes the trust; returns whether there was any.
    pub fn remove(&self, root: &str) -> Result<bool, TrustStoreError> {
        if !self.folders()?.contains_key(root) {
            return Ok(false);
        }
        self.change(|folders| folders.remove(root)).map(|was| was.is_some())
    }

    /// Changes the list under its lock.
    fn change<T>(&self, change: impl FnOnce(&mut BTreeMap<String, Trusted>) -> T) -> Result<T, TrustStoreError> {
        let unwritable = |cause| TrustStoreError::Unwritable { list: self.file.path().to_owned(), cause };
        let locked = self.file.lock().map_err(unwritable)?;
        let mut folders = self.folders()?;
        let changed = change(&mut folders);
        let document = Document { version: VERSION, folders };
        let text = serde_json::to_string_pretty(&document).map_err(|error| unwritable(error.into()))?;
        locked.replace(&text).map_err(unwritable)?;
        Ok(changed)
    }

    fn unreadable(&self, why: String) -> TrustStoreError {
        TrustStoreError::Unreadable { list: self.file.path().to_owned(), why }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn fingerprint(digest: &str) -> Fingerprint {
        Fingerprint::from([("config.toml".to_owned(), digest.to_owned())])
    }

    #[test]
    fn trust_store_keeps_what_many_write_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path().join("new/trust.json"));
        std::thread::scope(|scope| {
            for number in 0..16 {
                let store = &store;
                scope.spawn(move || store.add(Path::new(&format!("/{number}")), fingerprint("a")).expect("written"));
            }
        });
        let folders = store.folders().expect("it is right");
        assert_eq!(folders.len(), 16);
        assert!(store.remove("/3").expect("written") && !store.remove("/3").expect("nothing to do"));
        store.add(Path::new("/4"), Fingerprint::new()).expect("written");
        assert_eq!(store.folders().expect("it is right").len(), 14);
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(store.file.path()), mode(&folder.path().join("new"))), (0o600, 0o700));
    }

    #[test]
    fn trust_store_that_others_can_read_or_write_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path().join("trust.json"));
        store.add(Path::new("/a"), fingerprint("a")).expect("written");
        for (mode, right) in [(0o600, true), (0o400, true), (0o620, false), (0o602, false), (0o644, false)] {
            std::fs::set_permissions(store.file.path(), PermissionsExt::from_mode(mode)).expect("set");
            let read = store.find(Path::new("/a"));
            assert_eq!(read.is_ok(), right, "{mode:o}: {read:?}");
            let help = read.err().and_then(|error| error.help()).unwrap_or_default().to_string();
            assert!(right || help.contains("chmod 600"), "{help}");
        }
    }

    #[test]
    fn trust_store_that_is_invalid_says_what_to_do_and_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path().join("trust.json"));
        for text in ["", "{", "[]", "{\"version\": 1}", "{\"version\": 2, \"folders\": {}}", "\u{0}"] {
            std::fs::write(store.file.path(), text).expect("written");
            std::fs::set_permissions(store.file.path(), PermissionsExt::from_mode(0o600)).expect("set");
            let failure = store.find(Path::new("/a")).expect_err("it is invalid");
            assert!(failure.help().is_some_and(|help| help.to_string().contains("remove the file")), "{text}");
            assert!(store.add(Path::new("/a"), fingerprint("a")).is_err(), "{text}");
            assert_eq!(std::fs::read_to_string(store.file.path()).expect("read"), text);
        }
    }
}
