//! The file for a user's lasting answers, one rule after the other.
//!
//! Promises: the content of the file is kept; a rule is added completely or not at all, also if two processes add one
//! at once; only its owner can access the file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::Rule;

/// The largest size of the file, in bytes. Keeps it well below the limit of a file with rules: a file beyond that limit
/// would stop every run.
const FULL: u64 = 128 << 10;

/// The file that rules are added to.
#[derive(Clone, Debug)]
pub struct RulesFile(PathBuf);

/// The error of a rule that could not be added.
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
    /// Creates a rules file at this path; the file is created with the first rule.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Adds a rule after the others.
    ///
    /// # Errors
    ///
    /// If the file cannot be written. It is then unchanged.
    pub fn add(&self, rule: &Rule) -> Result<(), RulesFileError> {
        self.append(&format!("\n{}", rule.to_toml())).map_err(|cause| RulesFileError { path: self.0.clone(), cause })
    }

    fn append(&self, text: &str) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            host_files::make_private_folder(folder)?;
        }
        let mut file = host_files::append_private(&self.0)?;
        // Held until the file is closed. A second process waits for the length of a write.
        file.lock()?;
        let before = file.metadata()?.len();
        if before + text.len() as u64 > FULL {
            return Err(io::Error::other(format!("it has {before} bytes of rules; remove those that you do not need")));
        }
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        if written.is_err() {
            // An incomplete rule would make the whole file unreadable.
            file.set_len(before)?;
        }
        written
    }
}
