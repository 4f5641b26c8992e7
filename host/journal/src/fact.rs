//! What can happen in a session, each kind once: the one description that the log, events, frontends and hooks share.
//!
//! Deliberately not here: how facts are stored, what they mean together (`past`), and pieces of a reply that is still
//! under way, which are not facts yet.

mod settled;

use std::sync::Arc;

use host_files::ChainFault;
use host_message::{AgentId, CallId, Content, FunctionCall, ModelId, Part, PromptId, SessionId, ToolName, Usage};
use host_tool::HookEvent;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CallEnd, CheckResult, HookResult, TerminateReason};

/// The version of the format in which facts are written, in a log's first line.
pub const SESSION_VERSION: u32 = 1;

/// The name of the root agent in a session log.
pub const MAIN: &str = "main";

/// A fact as it was written down, with its time.
#[derive(Clone, Debug)]
pub struct Logged {
    /// When it was written.
    pub time: Timestamp,
    /// What.
    pub fact: Fact,
}

/// Something that happened. A clone copies no message and no output.
///
/// A new kind says in `past.rs` what it means for a conversation that is resumed, and in the notices of
/// `host-sessions` what users read of it; whoever needs more of it picks it out by name.
///
/// In a log each is a line, an object with `time`, the name of the variant as `type`, and its fields in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The first line.
    Session {
        /// The version of the format.
        version: u32,
        /// The session's id.
        id: SessionId,
        /// The process that writes it; logs of older hosts have none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
        /// The workspace; if its path is not valid Unicode, as much as can be shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The model, as the user names it.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<ModelId>,
        /// The session that it is a copy of.
        #[serde(skip_serializing_if = "Option::is_none")]
        copy_of: Option<SessionId>,
        /// What was wrong with that session's log when it was copied.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        found: Vec<ChainFault>,
    },
    /// Another process resumes the session. The next entries settle the calls that the previous process left behind.
    Resumed {
        /// The process that writes the entries after this one.
        pid: u32,
        /// The model, as the user names it.
        model: ModelId,
        /// Number of bytes of a half-written last line that were removed.
        torn_bytes: u64,
        /// What was wrong with the log until here.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        found: Vec<ChainFault>,
    },
    /// An agent's run began.
    RunStarted {
        /// The agent's name.
        agent: String,
        /// Its id in the session.
        agent_id: AgentId,
        /// The model, as its service knows it.
        model: String,
        /// The system instructions, with the inputs filled in.
        system: Option<String>,
    },
    /// A message: what the model is asked, or its whole reply.
    Content {
        /// The request that it is part of; its agent's id is in it.
        prompt: PromptId,
        /// The message.
        content: Arc<Content>,
    },
    /// From here on these are an agent's whole conversation until now: the messages that it begins with, or a shorter
    /// form of what was before.
    HistoryReplaced {
        /// The agent's id.
        agent_id: AgentId,
        /// The messages.
        contents: Arc<Vec<Content>>,
    },
    /// The user took their last prompt back: of the agent's conversation so many messages are left, and what was
    /// asked and has no reply is gone too.
    TakenBack {
        /// The agent's id.
        agent_id: AgentId,
        /// Number of its messages that stay.
        messages: u64,
    },
    /// The user chose a different model for the requests after this entry.
    ModelChosen {
        /// The model, as the user names it.
        model: ModelId,
    },
    /// Token usage of a request, whatever its result. Missing if the service did not report it.
    Usage {
        /// The request.
        prompt: PromptId,
        /// Its tokens.
        usage: Usage,
    },
    /// A limit was met: the next message of the user's is the host's, and its last part the warning.
    RecoveryStarted {
        /// The agent's id.
        agent_id: AgentId,
        /// The limit.
        reason: TerminateReason,
    },
    /// This request has no reply: its messages are not part of the conversation.
    Withdrawn {
        /// The request.
        prompt: PromptId,
    },
    /// A reply was invalid. It is not part of the conversation.
    Discarded {
        /// The request.
        prompt: PromptId,
        /// Why it was invalid.
        reason: String,
        /// The parts that arrived.
        parts: Arc<Vec<Part>>,
    },
    /// A running call makes a call of its own. That one starts and settles as those of the reply do, and no model gets
    /// its response.
    NestedCall {
        /// The request whose reply asked for the running call.
        prompt: PromptId,
        /// The running call.
        parent: CallId,
        /// The call that it makes.
        call: Arc<FunctionCall>,
    },
    /// A call is about to run.
    CallStarted {
        /// The request whose reply asked for it.
        prompt: PromptId,
        /// The call.
        call_id: CallId,
        /// Its tool.
        name: ToolName,
        /// Why it may run: a line each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        because: Vec<String>,
        /// What the call is called from now on, as the user may have changed it. For those who watch it begin: not
        /// stored, and empty in what is read back.
        #[serde(skip)]
        title: String,
    },
    /// A call ended, whether it ran or not.
    #[serde(deserialize_with = "settled::fields")]
    CallSettled {
        /// The request whose reply asked for it.
        prompt: PromptId,
        /// The call.
        call_id: CallId,
        /// How.
        #[serde(flatten)]
        end: Arc<CallEnd>,
    },
    /// A shell line of a command file is about to run, which the user or a rule allowed.
    CommandLine {
        /// The command as it is typed, such as `/review`.
        command: String,
        /// The id under which changes of files are kept.
        call_id: CallId,
        /// The line.
        line: String,
    },
    /// A hook ended. What it wants of a call is recorded before the call runs.
    HookEnded {
        /// The agent that it was asked for.
        agent_id: AgentId,
        /// The event.
        event: HookEvent,
        /// Its name, safe to show.
        hook: String,
        /// The call that it was asked about.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<CallId>,
        /// What came of it.
        result: HookResult,
        /// Its reason, or why it failed.
        reason: String,
        /// The arguments that it put in the place of the call's.
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Map<String, Value>>,
        /// What it wants the user to read now: not stored, and missing in what is read back.
        #[serde(skip)]
        message: Option<String>,
        /// Duration in milliseconds.
        duration_ms: u64,
    },
    /// A check of what the run changed ended. If it failed, the model is asked to correct that, or the run fails.
    CheckEnded {
        /// The agent that it was run for.
        agent_id: AgentId,
        /// The line for the shell.
        command: String,
        /// How it ended.
        result: CheckResult,
        /// Why it did not pass; empty if it did.
        reason: String,
        /// What it printed: the beginning and the end.
        output: String,
        /// Duration in milliseconds.
        duration_ms: u64,
    },
    /// Something failed that ends the run, or its recovery.
    Error {
        /// The agent's id.
        agent_id: AgentId,
        /// What, with its causes.
        message: String,
    },
    /// An agent's run ended.
    RunEnded {
        /// Its id.
        agent_id: AgentId,
        /// How.
        terminate_reason: TerminateReason,
        /// The limit that was met before a recovery made it `GOAL`.
        #[serde(skip_serializing_if = "Option::is_none")]
        recovered_from: Option<TerminateReason>,
        /// The answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<String>,
        /// Number of its turns.
        turns: u32,
        /// Token usage of all its replies and those of the agents that it started.
        usage: Usage,
    },
}

impl Fact {
    /// Returns the agent that it is about; `None` if it is about the session itself.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::RunStarted { agent_id, .. }
            | Self::HistoryReplaced { agent_id, .. }
            | Self::TakenBack { agent_id, .. }
            | Self::RecoveryStarted { agent_id, .. }
            | Self::HookEnded { agent_id, .. }
            | Self::CheckEnded { agent_id, .. }
            | Self::Error { agent_id, .. }
            | Self::RunEnded { agent_id, .. } => Some(agent_id),
            Self::Content { prompt, .. }
            | Self::Usage { prompt, .. }
            | Self::Withdrawn { prompt }
            | Self::Discarded { prompt, .. }
            | Self::NestedCall { prompt, .. }
            | Self::CallStarted { prompt, .. }
            | Self::CallSettled { prompt, .. } => Some(&prompt.agent),
            Self::Session { .. } | Self::Resumed { .. } | Self::ModelChosen { .. } | Self::CommandLine { .. } => None,
        }
    }
}
