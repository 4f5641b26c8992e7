//! The folder of the logs: which sessions there are.
//!
//! Deliberately not here: what a log says ([`Recorded`] has that), and removing
//! and copying logs.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use host_message::SessionId;

use super::LOG_EXTENSION;
use crate::{Artifacts, Fact, ReadError, Recorded, Records, SessionError};

/// A folder with logs.
#[derive(Clone, Debug)]
pub struct Sessions {
    folder: PathBuf,
}

/// A log in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The session's id, which is the file's name.
    pub id: SessionId,
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was written last.
    pub changed: SystemTime,
}

impl Sessions {
    /// The logs in this folder, which may be missing.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns all sessions, the most recently written first. Files with other names, and links, are not logs.
    ///
    /// # Errors
    ///
    /// When the folder cannot be listed.
    pub fn all(&self) -> Result<Vec<Stored>, SessionError> {
        let failed = |cause| SessionError::List { folder: self.folder.clone(), cause };
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut all = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let Some(id) = id_of(&path) else { continue };
            match entry.metadata() {
                // Not followed: a link could make any file of the user's a session.
                Ok(about) if about.is_file() => {
                    let changed = about.modified().map_err(failed)?;
                    all.push(Stored { id, path, bytes: about.len(), changed });
                }
                Ok(_) => {}
                // It was removed in between.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
        }
        // Ties by the id, which begins with the time: file systems with coarse clocks make many.
        all.sort_by(|a, b| (Reverse(a.changed), Reverse(&a.id)).cmp(&(Reverse(b.changed), Reverse(&b.id))));
        Ok(all)
    }
}

impl Stored {
    /// Returns the places of what belongs to the session besides its facts.
    pub fn artifacts(&self) -> Artifacts {
        Artifacts::beside(&self.path)
    }

    /// Its entries.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn records(&self) -> Result<Records, ReadError> {
        Ok(Records::new(File::open(&self.path)?))
    }

    /// Returns whether there is nothing to resume: it has no messages, or all were taken back.
    ///
    /// # Errors
    ///
    /// When it cannot be read, a newer host wrote it, or it is damaged.
    pub fn is_empty(&self) -> Result<bool, ReadError> {
        Ok(Recorded::read(&mut self.records()?)?.is_empty())
    }

    /// The folder that it worked in, by its first line.
    ///
    /// # Errors
    ///
    /// When the first line cannot be read.
    pub fn workspace(&self) -> Result<Option<String>, ReadError> {
        let Some(first) = self.records()?.next().transpose()? else { return Err(ReadError::Empty) };
        if let Fact::Session { workspace, .. } = first.fact { Ok(workspace) } else { Ok(None) }
    }
}

fn id_of(path: &Path) -> Option<SessionId> {
    let is_log = path.extension().is_some_and(|extension| extension == LOG_EXTENSION);
    if is_log { SessionId::new(path.file_stem()?.to_str()?).ok() } else { None }
}
