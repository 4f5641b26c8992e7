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
//! line carries a keyed hash of everything before it ([`host_files::ChainStore`]), so that [`Stored::verify`] finds any
//! change.
//!
//! [`Sessions`] finds logs, [`Records`] reads one entry by entry, [`Recorded`] is what it says taken together, and
//! [`SessionLog::reopen`] resumes it. Deliberately not here: how long logs are kept. A log survives the end of the
//! process, and not that of the machine: it is not synchronised to the disk.

mod manage;
mod reopen;
mod sessions;
mod verify;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use host_files::{Chain, ChainFault, ChainStore, create_private, make_private_folder};
use host_message::{AgentId, CallId, Content, Display, ModelId, Part, PromptId, SessionId, ToolName, Usage};
use host_tool::{Decided, HookEvent};
use serde::Serialize;
use serde_json::{Map, Value};

pub use self::reopen::Reopened;
pub use self::sessions::{Sessions, Stored};
pub use self::verify::{Finding, FoundWhen, Verified};
use crate::read::MAX_LINE;
use crate::{CallReport, CallStatus, Clock, HookResult, SessionError, TerminateReason};

/// The version of the log's format, in its first line.
pub const SESSION_VERSION: u32 = 1;

/// Extension of log files.
const LOG_EXTENSION: &str = "jsonl";

/// Number of ids that are tried for a new session. Two sessions of the same second clash once in four thousand million.
const ID_ATTEMPTS: usize = 8;

/// Details of a session, for users who look for it later.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The folder that is worked in.
    pub workspace: &'a Path,
    /// The model, as the user names it.
    pub model: &'a ModelId,
}

/// One line of a log. Every line also has `time`.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry<'a> {
    /// The first line.
    Session {
        /// The version of the format.
        version: u32,
        /// The session's id.
        id: &'a SessionId,
        /// The process that writes it.
        pid: u32,
        /// The workspace; if its path is not valid Unicode, as much as can be shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace: Option<&'a str>,
        /// The model, as the user names it.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<&'a ModelId>,
        /// The session that it is a copy of.
        #[serde(skip_serializing_if = "Option::is_none")]
        copy_of: Option<&'a SessionId>,
        /// What was wrong with that session's log when it was copied.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        found: &'a [ChainFault],
    },
    /// Another process resumes the session. The next entries settle the calls that the previous process left behind.
    Resumed {
        /// The process that writes the entries after this one.
        pid: u32,
        /// The model, as the user names it.
        model: &'a ModelId,
        /// Number of bytes of a half-written last line that were removed.
        torn_bytes: u64,
        /// What was wrong with the log until here.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        found: &'a [ChainFault],
    },
    /// An agent's run began.
    RunStarted {
        /// The agent's name.
        agent: &'a str,
        /// Its id in the session.
        agent_id: &'a AgentId,
        /// The model, as its service knows it.
        model: &'a str,
        /// The system instructions, with the inputs filled in.
        system: Option<&'a str>,
    },
    /// A message: what the model is asked, or its whole reply.
    Content {
        /// The request that it is part of; its agent's id is in it.
        prompt: &'a PromptId,
        /// The message.
        content: &'a Content,
    },
    /// From here on these are an agent's whole conversation until now: the messages that it begins with, or a shorter
    /// form of what was before.
    HistoryReplaced {
        /// The agent's id.
        agent_id: &'a AgentId,
        /// The messages.
        contents: &'a [Content],
    },
    /// The user took their last prompt back: of the agent's conversation so many messages are left, and what was
    /// asked and has no reply is gone too.
    TakenBack {
        /// The agent's id.
        agent_id: &'a AgentId,
        /// Number of its messages that stay.
        messages: u64,
    },
    /// The user chose a different model for the requests after this entry.
    ModelChosen {
        /// The model, as the user names it.
        model: &'a ModelId,
    },
    /// Token usage of a request, whatever its result. Missing if the service did not report it.
    Usage {
        /// The request.
        prompt: &'a PromptId,
        /// Its tokens.
        usage: Usage,
    },
    /// A limit was met: the next message of the user's is the host's, and its last part the warning.
    RecoveryStarted {
        /// The agent's id.
        agent_id: &'a AgentId,
        /// The limit.
        reason: TerminateReason,
    },
    /// This request has no reply: its messages are not part of the conversation.
    Withdrawn {
        /// The request.
        prompt: &'a PromptId,
    },
    /// A reply was invalid. It is not part of the conversation.
    Discarded {
        /// The request.
        prompt: &'a PromptId,
        /// Why it was invalid.
        reason: &'a str,
        /// The parts that arrived.
        parts: &'a [Part],
    },
    /// A call is about to run.
    CallStarted {
        /// The request whose reply asked for it.
        prompt: &'a PromptId,
        /// The call.
        call_id: &'a CallId,
        /// Its tool.
        name: &'a ToolName,
        /// Why it may run: a line each.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        because: &'a [String],
    },
    /// A call ended, whether it ran or not.
    CallSettled {
        /// The request whose reply asked for it.
        prompt: &'a PromptId,
        /// The call.
        call_id: &'a CallId,
        /// The way it ended.
        #[serde(flatten)]
        status: CallStatus,
        /// The decision about it; `None` if it was settled before a decision.
        #[serde(skip_serializing_if = "Option::is_none")]
        decided: Option<Decided>,
        /// Duration in milliseconds.
        duration_ms: u64,
        /// The response to the model: a function response, and the data that belongs to it.
        parts: &'a [Part],
        /// What the user sees of it: a change that it made, or one that it proposed but did not make.
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'a Display>,
        /// What a user reads about it; `None` for a call that another process left behind.
        #[serde(skip_serializing_if = "Option::is_none")]
        report: Option<&'a CallReport>,
    },
    /// A shell line of a command file is about to run, which the user or a rule allowed.
    CommandLine {
        /// The command as it is typed, such as `/review`.
        command: &'a str,
        /// The id under which changes of files are kept.
        call_id: &'a CallId,
        /// The line.
        line: &'a str,
    },
    /// A hook ended. What it wants of a call is recorded before the call runs.
    HookEnded {
        /// The agent that it was asked for.
        agent_id: &'a AgentId,
        /// The event.
        event: HookEvent,
        /// Its name, safe to show.
        hook: &'a str,
        /// The call that it was asked about.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<&'a CallId>,
        /// What came of it.
        result: HookResult,
        /// Its reason, or why it failed.
        reason: &'a str,
        /// The arguments that it put in the place of the call's.
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<&'a Map<String, Value>>,
        /// Duration in milliseconds.
        duration_ms: u64,
    },
    /// Something failed that ends the run, or its recovery.
    Error {
        /// The agent's id.
        agent_id: &'a AgentId,
        /// What, with its causes.
        message: &'a str,
    },
    /// An agent's run ended.
    RunEnded {
        /// Its id.
        agent_id: &'a AgentId,
        /// How.
        terminate_reason: TerminateReason,
        /// The limit that was met before a recovery made it `GOAL`.
        #[serde(skip_serializing_if = "Option::is_none")]
        recovered_from: Option<TerminateReason>,
        /// The answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a str>,
        /// Number of its turns.
        turns: u32,
        /// Token usage of all its replies and those of the agents that it started.
        usage: Usage,
    },
}

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

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    #[serde(flatten)]
    entry: Entry<'a>,
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
        make_private_folder(folder).map_err(failed)?;
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ID_ATTEMPTS {
            let id = new_id(&clock).map_err(failed)?;
            let path = folder.join(format!("{id}.{LOG_EXTENSION}"));
            match create_private(&path) {
                Ok(file) => {
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
        self.record(Entry::Session {
            version: SESSION_VERSION,
            id: &self.id,
            pid: std::process::id(),
            workspace: workspace.as_deref(),
            model: about.map(|about| about.model),
            copy_of: original.as_ref().map(|original| original.id),
            found: original.as_ref().map_or(&[], |original| original.found),
        })?;
        Ok(self)
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one entry.
    ///
    /// # Errors
    ///
    /// When it cannot be written, and for every entry after that.
    pub fn record(&self, entry: Entry<'_>) -> Result<(), SessionError> {
        let line = Line { time: self.clock.now().to_string(), entry };
        self.write(|bytes| serde_json::to_writer(bytes, &line).map_err(io::Error::from))
    }

    /// Writes one line: the object that `fill` puts into the buffer.
    fn write(&self, fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), SessionError> {
        // A thread that panicked here left at most an unused line behind.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Sink { writer, chain, line: bytes } = &mut *file;
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
            if bytes.len() > MAX_LINE {
                return Err(io::Error::other(format!(
                    "an entry of {} bytes is over the limit of {MAX_LINE}",
                    bytes.len()
                )));
            }
            open.write_all(bytes)?;
            open.flush()?;
            sealed.map_or(Ok(()), |(sealed, chain)| chain.advance(sealed))
        });
        written.map_err(|cause| {
            *writer = None;
            SessionError::Write { path: self.path.clone(), cause }
        })
    }
}

/// Creates an id that sorts by its time, with enough random bits to distinguish the sessions of the same second.
fn new_id(clock: &Clock) -> io::Result<SessionId> {
    let mut chance = [0; 4];
    getrandom::fill(&mut chance)?;
    let text = format!("{}-{:08x}", clock.now().strftime("%Y%m%d-%H%M%S"), u32::from_le_bytes(chance));
    SessionId::new(text).map_err(io::Error::other)
}

#[cfg(test)]
mod tests;
