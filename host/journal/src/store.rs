//! The seams between who records sessions and where they are kept.
//!
//! Deliberately not here: what belongs to a session besides its facts ([`Artifacts`]), and which session a user means.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use host_files::ChainFault;
use host_message::{ModelId, SessionId};

use crate::history::{interrupted, not_begun};
use crate::past::OpenState;
use crate::{Artifacts, CallEnd, CallStatus, Fact, Recorded, SessionError, Stored};

/// The record of one session. Several agents append to it, from several threads.
///
/// For the implementer: when `append` returns, the fact is stored as far as the end of this process is concerned, since
/// what it announces happens next. After one failure nothing is appended any more: a reader must never find a gap.
///
/// There is one way to append. A write to a file takes microseconds and outlives the process, and no store synchronises
/// to the disk: a fact that may be written later would save nothing, and could be lost before one that follows it.
pub trait Journal: Send + Sync {
    /// The session's id.
    fn id(&self) -> &SessionId;

    /// Stores a fact, with the time of now.
    ///
    /// # Errors
    ///
    /// When it cannot be stored, and for every fact after that.
    fn append(&self, fact: &Fact) -> Result<(), SessionError>;

    /// Returns the places of what belongs to the session besides its facts.
    fn artifacts(&self) -> Artifacts;
}

/// The sessions that are kept in one place.
///
/// For the implementer: a session has one writer at a time, among all processes that use the place. Who gets a
/// [`Journal`] is the writer until it is dropped, however the process ends.
pub trait Journals: Send + Sync {
    /// Begins a session, whose first fact is recorded already.
    ///
    /// # Errors
    ///
    /// When it cannot be recorded.
    fn create(&self, about: About<'_>) -> Result<Arc<dyn Journal>, SessionError>;

    /// Takes a session in order to resume it, and reads it. Nothing is recorded yet.
    ///
    /// # Errors
    ///
    /// When somebody else writes it, or it cannot be read.
    fn open(&self, id: &SessionId) -> Result<Box<dyn Opened>, SessionError>;

    /// Returns all sessions, the most recently written first.
    ///
    /// # Errors
    ///
    /// When they cannot be listed.
    fn list(&self) -> Result<Vec<Stored>, SessionError>;

    /// Removes a session and everything that belongs to it.
    ///
    /// # Errors
    ///
    /// When somebody writes it, or something cannot be removed; the session is still listed then.
    fn remove(&self, id: &SessionId) -> Result<(), SessionError>;
}

/// A session that nobody else can write, and that is not resumed yet.
pub trait Opened: fmt::Debug + Send + Sync {
    /// Returns what it says.
    fn recorded(&self) -> &Recorded;

    /// Returns what is wrong with its record. It does not keep the session from being resumed, which records it.
    fn found(&self) -> &[ChainFault];

    /// Resumes it: records that, and settles every call that the previous process left behind. A call that ran is
    /// recorded as interrupted, one that had not begun as not run.
    ///
    /// # Errors
    ///
    /// When that cannot be recorded.
    fn resume(self: Box<Self>, model: &ModelId) -> Result<(Arc<dyn Journal>, Recorded), SessionError>;
}

/// Details of a session, for users who look for it later.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The folder that is worked in.
    pub workspace: &'a Path,
    /// The model, as the user names it.
    pub model: &'a ModelId,
}

/// Settles every call that the process before this one left behind, in the journal and in what was read from it: one
/// that ran as interrupted, one that had not begun as not run.
pub(crate) fn settle_open(journal: &dyn Journal, recorded: &mut Recorded) -> Result<(), SessionError> {
    for open in recorded.open_calls() {
        let (part, status) = match open.state {
            // It may have changed something, so the model must not believe that it did nothing.
            OpenState::Begun => (interrupted(&open.call), CallStatus::Interrupted),
            OpenState::NotBegun => (not_begun(&open.call), CallStatus::Cancelled),
        };
        let end = Arc::new(CallEnd::left_behind(status, part));
        let (agent, call_id) = (open.prompt.agent.clone(), open.call.id);
        let fact = Fact::CallSettled { prompt: open.prompt, call_id: call_id.clone(), end: Arc::clone(&end) };
        journal.append(&fact)?;
        recorded.settle(&agent, call_id, end);
    }
    Ok(())
}
