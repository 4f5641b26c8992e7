//! Reads a log, entry by entry.
//!
//! An interrupted log may end with half a line: that is ignored, and [`Records::torn_bytes`] returns its length.
//! Anything else that is not an entry is damage, reported with its line; nothing is guessed or skipped. Whatever the
//! file contains, reading it neither panics nor keeps more than one line in memory.
//!
//! Deliberately not here: what the entries mean together, and writing.

mod settled;
mod tagged;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use host_files::ChainFault;
use host_message::{AgentId, CallId, Content, Display, ModelId, Part, PromptId, SessionId, ToolName, Usage};
use host_tool::{Decided, HookEvent};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::SESSION_VERSION;
use crate::{CallReport, CallStatus, HookResult, TerminateReason};

/// The longest line of a log, in bytes. Protects the reader's memory; a reply may be as large. No longer line is
/// written.
pub(super) const MAX_LINE: usize = 256 << 20;

/// Maximum nesting depth of a line's JSON. Protects the stack. A model's arguments have at most 128 levels when they
/// arrive, and an entry adds a few.
const MAX_DEPTH: usize = 160;

/// An entry as it was written, with its time.
#[derive(Clone, Debug)]
pub struct Logged {
    /// When it was written.
    pub time: Timestamp,
    /// What.
    pub record: Record,
}

/// An entry as [`Entry`](super::Entry) writes it; each field is explained there.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of `Entry`")]
pub enum Record {
    /// The first line.
    Session {
        version: u32,
        id: SessionId,
        pid: Option<u32>,
        workspace: Option<String>,
        model: Option<ModelId>,
        copy_of: Option<SessionId>,
        #[serde(default)]
        found: Vec<ChainFault>,
    },
    /// Another process went on with the session.
    Resumed {
        pid: u32,
        model: ModelId,
        torn_bytes: u64,
        #[serde(default)]
        found: Vec<ChainFault>,
    },
    /// An agent's run began.
    RunStarted { agent: String, agent_id: AgentId, model: String, system: Option<String> },
    /// A message.
    Content { prompt: PromptId, content: Content },
    /// The whole conversation until now.
    HistoryReplaced { agent_id: AgentId, contents: Vec<Content> },
    /// The last prompt and all that came of it was taken back.
    TakenBack { agent_id: AgentId, messages: u64 },
    /// A different model answers the requests after this entry.
    ModelChosen { model: ModelId },
    /// Token usage of a request.
    Usage { prompt: PromptId, usage: Usage },
    /// A limit was met.
    RecoveryStarted { agent_id: AgentId, reason: TerminateReason },
    /// Nothing came of a request.
    Withdrawn { prompt: PromptId },
    /// A reply was invalid.
    Discarded { prompt: PromptId, reason: String, parts: Vec<Part> },
    /// A call is about to run.
    CallStarted {
        prompt: PromptId,
        call_id: CallId,
        name: ToolName,
        #[serde(default)]
        because: Vec<String>,
    },
    /// A call ended.
    #[serde(deserialize_with = "settled::fields")]
    CallSettled {
        prompt: PromptId,
        call_id: CallId,
        status: CallStatus,
        decided: Option<Decided>,
        duration_ms: u64,
        parts: Vec<Part>,
        display: Option<Display>,
        report: Option<CallReport>,
    },
    /// A shell line of a command file is about to run.
    CommandLine { command: String, call_id: CallId, line: String },
    /// A hook ended.
    HookEnded {
        agent_id: AgentId,
        event: HookEvent,
        hook: String,
        call_id: Option<CallId>,
        result: HookResult,
        reason: String,
        arguments: Option<Map<String, Value>>,
        duration_ms: u64,
    },
    /// Something failed.
    Error { agent_id: AgentId, message: String },
    /// An agent's run ended.
    RunEnded {
        agent_id: AgentId,
        terminate_reason: TerminateReason,
        recovered_from: Option<TerminateReason>,
        result: Option<String>,
        turns: u32,
        usage: Usage,
    },
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system does not hand it over.
    #[error("it cannot be read")]
    Io(#[from] io::Error),
    /// It has no entries: the process that created it ended at once.
    #[error("it is empty")]
    Empty,
    /// A newer host wrote it.
    #[error("its format has version {version}, and this host reads version {SESSION_VERSION}")]
    Version {
        /// The version.
        version: u32,
    },
    /// A line is not an entry, or is invalid at this position.
    #[error("line {line} is damaged: {why}")]
    Damaged {
        /// The line, from 1.
        line: u64,
        /// Why it is damaged.
        why: String,
    },
}

impl ReadError {
    /// Returns advice on how to fix it, as a sentence without a full stop.
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::Io(_) => "check that it is a file that you may read",
            Self::Empty => "it has no messages; start a new session",
            Self::Version { .. } => "resume it with the version of host that wrote it",
            Self::Damaged { .. } => "fix or remove the line, or start a new session",
        }
    }
}

/// The entries of a log, oldest first. Ends after the first error.
pub struct Records<R = File> {
    input: BufReader<R>,
    bytes: Vec<u8>,
    line: u64,
    whole_bytes: u64,
    torn_bytes: u64,
    ends_open: bool,
    ended: bool,
}

impl<R: Read> Records<R> {
    /// Reads from here.
    pub fn new(input: R) -> Self {
        let input = BufReader::with_capacity(64 << 10, input);
        Self { input, bytes: Vec::new(), line: 0, whole_bytes: 0, torn_bytes: 0, ends_open: false, ended: false }
    }

    /// The line of the entry that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the number of bytes of a half-written line at the end; known once all entries are read.
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// Returns the number of bytes in whole entries.
    pub(super) fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// Returns whether the last entry is whole but for its line end.
    pub(super) fn ends_open(&self) -> bool {
        self.ends_open
    }

    fn read(&mut self) -> Result<Option<Logged>, ReadError> {
        self.bytes.clear();
        let most = MAX_LINE as u64 + 1;
        let length = self.input.by_ref().take(most).read_until(b'\n', &mut self.bytes)? as u64;
        let closed = self.bytes.last() == Some(&b'\n');
        if length == 0 {
            return if self.line == 0 { Err(ReadError::Empty) } else { Ok(None) };
        }
        if !closed && length == most {
            return Err(self.damaged(self.line + 1, format!("it is longer than {MAX_LINE} bytes")));
        }
        match parse(&self.bytes, self.line == 0) {
            Ok(logged) => {
                self.line += 1;
                self.whole_bytes += length;
                self.ends_open = !closed;
                Ok(Some(logged))
            }
            // Half an object is never a whole one, so a last line that was cut anywhere comes here.
            Err(_) if !closed => {
                self.torn_bytes = length;
                if self.line == 0 { Err(ReadError::Empty) } else { Ok(None) }
            }
            Err(Flaw::Version(version)) => Err(ReadError::Version { version }),
            Err(Flaw::Other(why)) => Err(self.damaged(self.line + 1, why)),
        }
    }

    fn damaged(&self, line: u64, why: String) -> ReadError {
        ReadError::Damaged { line, why }
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Logged, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let read = self.read().transpose();
        self.ended = !matches!(read, Some(Ok(_)));
        read
    }
}

/// The fault of a line.
pub(super) enum Flaw {
    Version(u32),
    Other(String),
}

pub(super) fn parse(line: &[u8], first: bool) -> Result<Logged, Flaw> {
    if depth(line) > MAX_DEPTH {
        return Err(Flaw::Other(format!("it is nested deeper than {MAX_DEPTH} levels")));
    }
    if first {
        // Of a newer format nothing else is known.
        #[derive(Deserialize)]
        struct First {
            r#type: String,
            version: u32,
        }
        match json::<First>(line) {
            Ok(First { r#type, version }) if r#type == "session" && version != SESSION_VERSION => {
                return Err(Flaw::Version(version));
            }
            Ok(First { r#type, .. }) if r#type == "session" => {}
            Ok(_) | Err(_) => return Err(Flaw::Other("a log begins with an entry `session`".to_owned())),
        }
    }
    let logged: Logged = json(line).map_err(|error| Flaw::Other(error.to_string()))?;
    if !first && matches!(logged.record, Record::Session { .. }) {
        return Err(Flaw::Other("a second entry `session`".to_owned()));
    }
    Ok(logged)
}

fn json<'a, T: Deserialize<'a>>(line: &'a [u8]) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    // The depth was counted, against a limit that has room for what an entry puts around a model's arguments.
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Returns the nesting depth of brackets, ignoring those in strings.
fn depth(line: &[u8]) -> usize {
    let (mut now, mut deepest, mut at) = (0_usize, 0, 0);
    while let Some(byte) = line.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(line, at),
            b'{' | b'[' => {
                now += 1;
                deepest = deepest.max(now);
            }
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Returns where a string ends, given where it begins, both without the quotation marks.
fn string_end(line: &[u8], mut at: usize) -> usize {
    while let Some(found) = line.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        match line.get(at) {
            Some(b'\\') => at += 2,
            _ => return at + 1,
        }
    }
    line.len()
}
