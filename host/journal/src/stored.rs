//! A session as a store lists it, to be read.
//!
//! Deliberately not here: writing it, and what its facts mean together ([`Recorded`]).

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use host_message::SessionId;

use crate::{Artifacts, Fact, ReadError, Recorded, Records};

/// A session in its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The session's id.
    pub id: SessionId,
    /// The file of its log, which is named after it. A store without files has none there, but what belongs to the
    /// session beside it.
    pub path: PathBuf,
    /// The size of its log.
    pub bytes: u64,
    /// When it was written last.
    pub changed: SystemTime,
    /// Where its lines are.
    pub(crate) lines: Lines,
}

/// Where the lines of a session are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    InFile,
    /// As they were when the session was listed.
    InMemory(Arc<[u8]>),
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
        Ok(Records::new(self.bytes()?))
    }

    /// Returns its bytes, in lines.
    pub(crate) fn bytes(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match &self.lines {
            Lines::InFile => Box::new(File::open(&self.path)?),
            Lines::InMemory(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        })
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
