//! The store of sessions as files: a folder of logs.
//!
//! Deliberately not here: what a log says ([`Recorded`](crate::Recorded) has that), and copying logs.

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_files::ChainStore;
use host_message::SessionId;

use super::{LOG_EXTENSION, SessionLog};
use crate::stored::Lines;
use crate::{About, Clock, Journal, Journals, Opened, SessionError, Stored};

/// A folder with logs.
#[derive(Clone, Debug)]
pub struct Sessions {
    folder: PathBuf,
    chains: PathBuf,
    clock: Clock,
}

impl Sessions {
    /// The logs in this folder, which may be missing. The other folder has the key by which they are verified; it is
    /// opened, or made, once a log is written or removed.
    pub fn new(folder: impl Into<PathBuf>, chains: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), chains: chains.into(), clock: Clock::system() }
    }

    fn chains(&self) -> Result<ChainStore, SessionError> {
        ChainStore::open(&self.chains).map_err(SessionError::Key)
    }

    fn path(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{id}.{LOG_EXTENSION}"))
    }
}

impl Journals for Sessions {
    fn create(&self, about: About<'_>) -> Result<Arc<dyn Journal>, SessionError> {
        let log = SessionLog::create(&self.folder, about, self.clock.clone(), &self.chains()?)?;
        Ok(Arc::new(log))
    }

    fn open(&self, id: &SessionId) -> Result<Box<dyn Opened>, SessionError> {
        Ok(Box::new(SessionLog::reopen(&self.path(id), self.clock.clone(), &self.chains()?)?))
    }

    /// Returns all sessions. Files with other names, and links, are not logs.
    fn list(&self) -> Result<Vec<Stored>, SessionError> {
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
                    all.push(Stored { id, path, bytes: about.len(), changed, lines: Lines::InFile });
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

    fn remove(&self, id: &SessionId) -> Result<(), SessionError> {
        super::manage::remove(id, &self.path(id), &self.chains()?)
    }
}

fn id_of(path: &Path) -> Option<SessionId> {
    let is_log = path.extension().is_some_and(|extension| extension == LOG_EXTENSION);
    if is_log { SessionId::new(path.file_stem()?.to_str()?).ok() } else { None }
}
