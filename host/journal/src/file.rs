//! The session log: everything that is said and done in a session, written down as it happens.
//!
//! One file for each session, `<folder>/<session id>.jsonl`, one JSON object a line, the format's version in the
//! first. It is only ever appended to, each entry with one write and before what it announces happens, so a log
//! that breaks off says what was under way. It holds whole messages in their order, and each call's state and
//! outcome: all that going on with a session later needs. The outcomes of a reply's calls are its `call_settled`
//! entries; in the order of the calls they make the user's message that follows the reply. A reply of thoughts alone
//! is logged, and no message of the conversation.
//!
//! A log that could not be written once is never written again: half a line may lie at its end. One process at a time
//! writes a log: it holds a lock on the file, which the system takes back when the process ends, however it ends. Each
//! line carries a keyed hash of everything before it ([`host_files::ChainStore`]), so that
//! [`Stored::verify`](crate::Stored::verify) finds any change.
//!
//! [`Sessions`] finds logs, [`Records`] reads one entry by entry, [`Recorded`] is what it says taken together, and
//! [`SessionLog::reopen`] resumes it. Deliberately not here: how long logs are kept. A log survives the end of the
//! process, and not that of the machine: it is not synchronised to the disk.

mod manage;
mod reopen;
mod sessions;
mod verify;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use host_files::{Chain, ChainFault, ChainStore, create_private, make_private_folder};
use host_message::SessionId;
use jiff::Timestamp;

pub use self::reopen::Reopened;
pub use self::sessions::Sessions;
pub use self::verify::{Finding, FoundWhen, Verified};
use crate::read::MAX_LINE;
use crate::{About, Artifacts, Clock, Fact, Journal, SESSION_VERSION, SessionError};

/// Extension of log files.
const LOG_EXTENSION: &str = "jsonl";

/// Number of ids that are tried for a new session. Two sessions of the same second clash once in four thousand million.
const ID_ATTEMPTS: usize = 8;

/// A session's log. Several agents of one session write to it, from several threads.
pub struct SessionLog {
    id: SessionId,
    path: PathBuf,
    clock: Clock,
    file: Mutex<Sink>,
}

/// The destination of lines; its writer is `None` once writing has failed.
struct Sink {
    writer: Option<Box<dyn Write + Send>>,
    /// `None` for a log on a writer of the caller's.
    chain: Option<Chain>,
    line: Vec<u8>,
}

/// The session that a log is a copy of, and what was wrong with its log.
struct Original<'a> {
    id: &'a SessionId,
    found: &'a [ChainFault],
}

impl SessionLog {
    /// Makes a new log in the folder, which is made too where it is missing. Both are the user's alone.
    ///
    /// # Errors
    ///
    /// When the folder or the file cannot be made or locked, or the first line cannot be written.
    pub fn create(folder: &Path, about: About<'_>, clock: Clock, chains: &ChainStore) -> Result<Self, SessionError> {
        Self::create_as(folder, about, None, clock, chains)
    }

    fn create_as(
        folder: &Path,
        about: About<'_>,
        original: Option<Original<'_>>,
        clock: Clock,
        chains: &ChainStore,
    ) -> Result<Self, SessionError> {
        let failed = |cause| SessionError::Create { folder: folder.to_owned(), cause };
        // Before the first name in it: a log has everything that was said.
        make_private_folder(folder).map_err(failed)?;
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        // Two processes may draw one id in the same moment.
        for _ in 0..ID_ATTEMPTS {
            let id = new_id(&clock).map_err(failed)?;
            let path = folder.join(format!("{id}.{LOG_EXTENSION}"));
            match create_private(&path) {
                Ok(file) => {
                    // Before the first line: a session that is listed could be resumed at once.
                    reopen::lock(&file, &path)?;
                    let chain = chains.chain(id.as_str(), io::empty())?;
                    return Self::new(Box::new(file), id, path, clock, Some(chain)).begun(Some(about), original);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(last))
    }

    /// Creates a log on this writer, which must not buffer. The path is for messages. Its lines are not chained.
    ///
    /// # Errors
    ///
    /// When the first line cannot be written.
    pub fn onto(
        writer: Box<dyn Write + Send>,
        id: SessionId,
        path: PathBuf,
        clock: Clock,
    ) -> Result<Self, SessionError> {
        Self::new(writer, id, path, clock, None).begun(None, None)
    }

    /// Creates a log on this writer, without a first entry.
    fn new(writer: Box<dyn Write + Send>, id: SessionId, path: PathBuf, clock: Clock, chain: Option<Chain>) -> Self {
        Self { id, path, clock, file: Mutex::new(Sink { writer: Some(writer), chain, line: Vec::new() }) }
    }

    fn begun(self, about: Option<About<'_>>, original: Option<Original<'_>>) -> Result<Self, SessionError> {
        let workspace = about.map(|about| about.workspace.to_string_lossy());
        self.append(&Fact::Session {
            version: SESSION_VERSION,
            id: self.id.clone(),
            pid: Some(std::process::id()),
            workspace: workspace.map(Cow::into_owned),
            model: about.map(|about| about.model.clone()),
            copy_of: original.as_ref().map(|original| original.id.clone()),
            found: original.map_or_else(Vec::new, |original| original.found.to_vec()),
        })?;
        Ok(self)
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one line: the object that `fill` puts into the buffer.
    fn write(&self, fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), SessionError> {
        // A thread that panicked here left at most an unused line behind.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Sink { writer, chain, line: bytes } = &mut *file;
        // Half a line may lie at its end, and the next one would make nonsense of both.
        let Some(open) = writer else { return Err(SessionError::Broken { path: self.path.clone() }) };
        bytes.clear();
        let written = fill(bytes).and_then(|()| {
            let sealed = match chain {
                Some(chain) => Some((chain.seal(bytes)?, chain)),
                None => {
                    bytes.push(b'\n');
                    None
                }
            };
            // Before it is written: a log that cannot be read back is worse than an entry that is missing.
            if bytes.len() > MAX_LINE {
                return Err(io::Error::other(format!(
                    "an entry of {} bytes is over the limit of {MAX_LINE}",
                    bytes.len()
                )));
            }
            // One write for a line: another process that reads meanwhile sees whole lines.
            open.write_all(bytes)?;
            open.flush()?;
            // The head moves only behind the written line: the other way round a crash would look like a missing line.
            sealed.map_or(Ok(()), |(sealed, chain)| chain.advance(sealed))
        });
        written.map_err(|cause| {
            // Given up for good, so that no later line hides that this one is missing.
            *writer = None;
            SessionError::Write { path: self.path.clone(), cause }
        })
    }
}

impl Journal for SessionLog {
    fn id(&self) -> &SessionId {
        &self.id
    }

    fn append(&self, fact: &Fact) -> Result<(), SessionError> {
        let time = self.clock.now();
        self.write(|bytes| put_line(bytes, time, fact))
    }

    fn artifacts(&self) -> Artifacts {
        Artifacts::beside(&self.path)
    }
}

/// Adds a fact as the object of a line, without a line end.
pub(crate) fn put_line(bytes: &mut Vec<u8>, time: Timestamp, fact: &Fact) -> io::Result<()> {
    write!(bytes, r#"{{"time":"{time}","type":"#)?;
    let name = bytes.len();
    serde_json::to_writer(&mut *bytes, fact)?;
    // A variant is written as `{"content":{"prompt":…}}`, and what a line has is `"content","prompt":…}`. Bytes are
    // moved, since what is derived for a tagged enum could not be read again without copying each field.
    let fields = memchr::memchr(b':', bytes.get(name..).unwrap_or_default()).map_or(name, |at| name + at);
    bytes.splice(fields..fields + 2, *b",");
    bytes.remove(name);
    bytes.pop();
    Ok(())
}

/// Creates an id that sorts by its time, with enough random bits to distinguish the sessions of the same second.
pub(crate) fn new_id(clock: &Clock) -> io::Result<SessionId> {
    let mut chance = [0; 4];
    getrandom::fill(&mut chance)?;
    let text = format!("{}-{:08x}", clock.now().strftime("%Y%m%d-%H%M%S"), u32::from_le_bytes(chance));
    SessionId::new(text).map_err(io::Error::other)
}

#[cfg(test)]
mod tests;
