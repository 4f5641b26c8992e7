//! Which servers speak the revision without a handshake, as it was found out before.
//!
//! Promises: private to the user; what cannot be read or written is found out again, and no error.

use std::collections::BTreeMap;
use std::path::Path;

use host_files::{Access, PrivateFile};
use host_plugin::Digest;
use serde::{Deserialize, Serialize};

/// The most servers that are remembered. Protects the file's size; beyond it all are found out again.
const MAX_REMEMBERED: usize = 1_000;

/// The largest file with what is remembered, in bytes. Protects the host's memory.
const MAX_FILE: u64 = 256 << 10;

/// The two ways to begin with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Era {
    /// `initialize`: revisions until 2025-11-25.
    Handshake,
    /// `server/discover`: since 2026-07-28.
    Stateless,
}

/// What is remembered, by the digest of each server's identity, which may contain what is not for other eyes.
#[derive(Clone, Debug)]
pub(super) struct Revisions(PrivateFile);

impl Revisions {
    pub(super) fn new(folder: &Path) -> Self {
        Self(PrivateFile::new(folder.join("revisions.json"), Access::Write, MAX_FILE))
    }

    fn all(&self) -> BTreeMap<String, Era> {
        let text = self.0.read().ok().flatten();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Returns how a server is begun with, if that is remembered.
    pub(super) fn of(&self, identity: &str) -> Option<Era> {
        self.all().get(Digest::of(identity.as_bytes()).as_str()).copied()
    }

    /// Remembers how a server is begun with, or forgets it.
    pub(super) fn set(&self, identity: &str, era: Option<Era>) {
        let key = Digest::of(identity.as_bytes()).to_string();
        if self.all().get(&key).copied() == era {
            return;
        }
        let written = self.0.lock().and_then(|locked| {
            let mut all = self.all();
            if all.len() >= MAX_REMEMBERED {
                all.clear();
            }
            match era {
                Some(era) => all.insert(key, era),
                None => all.remove(&key),
            };
            locked.replace(&serde_json::to_string_pretty(&all)?)
        });
        if let Err(error) = written {
            tracing::debug!(%error, file = %self.0.path().display(), "the revision is not remembered");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revision_of_a_server_is_remembered_without_its_identity() {
        let folder = tempfile::tempdir().expect("a folder");
        let revisions = Revisions::new(folder.path());
        assert_eq!(revisions.of("npx thing --token secret"), None);
        revisions.set("npx thing --token secret", Some(Era::Stateless));
        revisions.set("other", Some(Era::Handshake));
        let again = Revisions::new(folder.path());
        assert_eq!(again.of("npx thing --token secret"), Some(Era::Stateless));
        assert!(!std::fs::read_to_string(folder.path().join("revisions.json")).expect("a file").contains("secret"));
        again.set("other", None);
        assert_eq!(revisions.of("other"), None);
        std::fs::write(folder.path().join("revisions.json"), "no json").expect("written");
        assert_eq!(revisions.of("npx thing --token secret"), None);
    }
}
