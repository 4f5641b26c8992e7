//! The file that a user's lasting answers go to, a rule behind the other.
//!
//! Promises: what is in the file stays; a rule is added whole or not at all, also when two processes add one at once;
//! the file is its owner's alone.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::Rule;

/// How large the file may become, in bytes. Keeps it well beneath what is read of a file with rules: one that grew past
/// that would stop every run.
const FULL: u64 = 128 << 10;

/// The file that rules are added to.
#[derive(Clone, Debug)]
pub struct RulesFile(PathBuf);

/// A rule could not be added.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the file `{}`", path.display())]
pub struct RulesFileError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub cause: io::Error,
}

impl RulesFile {
    /// Rules go to this file, which is made with the first of them.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Adds a rule behind the others.
    ///
    /// # Errors
    ///
    /// When the file cannot be written. It is then as it was.
    pub fn add(&self, rule: &Rule) -> Result<(), RulesFileError> {
        self.append(&format!("\n{}", rule.to_toml())).map_err(|cause| RulesFileError { path: self.0.clone(), cause })
    }

    fn append(&self, text: &str) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            host_files::make_private_folder(folder)?;
        }
        let mut file = host_files::append_private(&self.0)?;
        // Held until the file is closed. Another process waits for the length of a write.
        file.lock()?;
        let before = file.metadata()?.len();
        if before + text.len() as u64 > FULL {
            return Err(io::Error::other(format!("it has {before} bytes of rules; remove those that you do not need")));
        }
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        if written.is_err() {
            // Half a rule would make the whole file unreadable.
            file.set_len(before)?;
        }
        written
    }
}
