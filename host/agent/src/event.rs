//! What happens in a run, as it happens: the terminal, JSON lines and the page of a browser read the same events.
//!
//! The serialised names are stable. An event borrows all that it tells, so telling costs next to nothing; whoever
//! keeps one must copy it. Content arrives here in pieces, while the session log gets whole messages.

use host_message::{AgentId, CallId, Display, FinishReason, FunctionCall, OutputPart, SessionId, ToolName, Usage};
use host_model::Again;
use host_text::clip;
use host_tool::{Decided, FailureKind, Outcome};
use serde::{Deserialize, Serialize};

use crate::TerminateReason;

/// The longest summary of an outcome, in characters: it is one line.
const SUMMARY_CHARACTERS: usize = 160;

/// Whoever watches a run.
///
/// For the implementer: `event` is called from within the loop, for each piece of text, and from several threads
/// at once. It must be quick, must not block for long, and must not panic. Texts come from models and tools and
/// may hold control characters: make them safe before they reach a terminal.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn event(&self, event: &Event<'_>);
}

/// Something that happened, and to whom.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Event<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// Which agent of the run it is; a subagent has an id of its own.
    pub agent_id: &'a AgentId,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind<'a>,
}

/// What happened.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind<'a> {
    /// A run began.
    RunStarted {
        /// The model, as the user names it: with its provider.
        model: &'a str,
        /// The session that records it.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<&'a SessionId>,
    },
    /// The model is asked.
    TurnStarted {
        /// Which turn of the agent it is, from 0.
        turn: u32,
    },
    /// A piece of the model's answer.
    Content {
        /// The piece.
        text: &'a str,
    },
    /// A piece of what the model thinks.
    Thought {
        /// What the thought is about, told once: with the piece that completes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        subject: Option<&'a str>,
        /// The piece.
        text: &'a str,
    },
    /// The model cites something.
    Citation {
        /// Its address.
        uri: &'a str,
    },
    /// The reply came and is no good; what becomes of it is told next.
    InvalidStream {
        /// What is wrong with it.
        reason: &'a str,
    },
    /// The reply is asked for again: its content and thoughts so far are void.
    Retry {
        /// What was wrong with the try before.
        reason: &'a str,
        /// How long until it is asked for, in milliseconds.
        wait_ms: u64,
        /// Which try it is, from 2.
        attempt: u32,
        /// How many there are in all.
        attempts: u32,
    },
    /// Another model answers, from this reply on: its content and thoughts so far are void.
    ModelSwitched {
        /// Its id.
        model: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The model ended its reply.
    Finished {
        /// Why.
        reason: &'a FinishReason,
        /// What the reply cost, where the service said so.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The model wants a tool called.
    ToolCallRequest {
        /// The call as the model wrote it.
        call: &'a FunctionCall,
    },
    /// Somebody is asked whether a call may run.
    ToolCallConfirmation {
        /// The call.
        call_id: &'a CallId,
        /// Its tool.
        name: &'a ToolName,
        /// What it would do, in one word: `exec`, `edit`, `info` or `call`.
        kind: &'a str,
    },
    /// A call begins to run.
    ToolCallStart {
        /// The call.
        call_id: &'a CallId,
        /// Its tool.
        name: &'a ToolName,
    },
    /// A running call shows something.
    ToolCallOutput {
        /// The call.
        call_id: &'a CallId,
        /// Its tool.
        name: &'a ToolName,
        /// What it shows.
        text: &'a str,
    },
    /// A running call says how far it is.
    ToolCallProgress {
        /// The call.
        call_id: &'a CallId,
        /// Its tool.
        name: &'a ToolName,
        /// Units done.
        done: u64,
        /// Units in all, where known.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
        /// What is being done.
        message: &'a str,
    },
    /// A call ended, whether it ran or not.
    ToolCallEnd {
        /// The call.
        call_id: &'a CallId,
        /// Its tool.
        name: &'a ToolName,
        /// How.
        #[serde(flatten)]
        status: CallStatus,
        /// What was decided about it; none when it never came to that.
        #[serde(skip_serializing_if = "Option::is_none")]
        decided: Option<Decided>,
        /// One line about it.
        summary: &'a str,
        /// What the user is shown of it: a change that it made, or one that it proposed and did not make.
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'a Display>,
        /// What the model is told, clipped.
        response: &'a str,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
        /// How many bytes of its live output were dropped.
        dropped_bytes: u64,
    },
    /// A limit was met, and the model gets one last request.
    RecoveryStarted {
        /// The end that the run comes to if that fails.
        reason: TerminateReason,
    },
    /// The conversation was long, or was to be shortened.
    ChatCompressed {
        /// What came of it.
        status: CompressionStatus,
        /// About how many tokens its messages had.
        tokens_before: u64,
        /// About how many they have now.
        tokens_after: u64,
        /// Why there is no summary.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
    /// The model went round in circles. What it was doing was stopped: the pieces of an unfinished reply are void, and
    /// calls did not run. It is told so, once a run.
    LoopDetected {
        /// What it repeated.
        repeated: &'a str,
    },
    /// The user's cancel reached the run.
    UserCancelled,
    /// Something failed that ends the run, or its recovery.
    Error {
        /// What, with its causes.
        message: &'a str,
    },
    /// The run ended.
    RunEnded {
        /// How.
        terminate_reason: TerminateReason,
        /// The limit that was met before a recovery made it `GOAL`.
        #[serde(skip_serializing_if = "Option::is_none")]
        recovered_from: Option<TerminateReason>,
        /// The answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a str>,
        /// How many turns it took itself; a recovery is none.
        turns: u32,
        /// What all its replies cost, and those of the agents that it started.
        usage: Usage,
    },
}

/// What came of shortening a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompressionStatus {
    /// A summary stands for its beginning.
    Summarised,
    /// Old outputs of tools were cut short.
    Shortened,
    /// The oldest messages were left out: nothing else made the conversation fit the model's window.
    LeftOut,
    /// The summary was no shorter than what it was to stand for; nothing changed.
    Inflated,
    /// The summary was empty; nothing changed.
    Empty,
    /// No summary came; nothing changed.
    Failed,
    /// There was nothing to shorten.
    Nothing,
}

impl<'a> EventKind<'a> {
    pub(crate) fn retry(again: &'a Again) -> Self {
        let Again { reason, wait, attempt, attempts } = again;
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Self::Retry { reason, wait_ms, attempt: *attempt, attempts: *attempts }
    }
}

/// How a call ended, in one word and the kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum CallStatus {
    /// Well.
    Success,
    /// Not well.
    Error {
        /// What kind of failure it is.
        kind: FailureKind,
    },
    /// It was told to stop, or never began.
    Cancelled,
    /// The process ended while it ran, and nobody knows how far it came. Told by a session log that is gone on with.
    Interrupted,
}

impl CallStatus {
    /// The status of an outcome.
    pub fn from_outcome(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Success(_) => Self::Success,
            Outcome::Error(failure) => Self::Error { kind: failure.kind },
            Outcome::Cancelled { .. } => Self::Cancelled,
        }
    }
}

/// One line about an outcome: what the tool says of itself, else the first line of what it returned.
pub(crate) fn summary(outcome: &Outcome) -> String {
    let text = match outcome {
        Outcome::Success(output) => match &output.display {
            Some(Display::Summary(line)) => line.as_str(),
            Some(Display::Difference { path, .. }) => path,
            None => match output.content.first() {
                Some(OutputPart::Text(text)) => text,
                Some(OutputPart::Link { uri, .. }) => uri,
                Some(OutputPart::Data(data)) => &data.mime_type,
                None => "",
            },
        },
        Outcome::Error(failure) => &failure.message,
        Outcome::Cancelled { reason, .. } => reason,
    };
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    match text.lines().count() {
        0 | 1 => clip(line, SUMMARY_CHARACTERS).into_owned(),
        lines => format!("{} ({lines} lines)", clip(line, SUMMARY_CHARACTERS)),
    }
}
