//! The events of a run, as they happen: the terminal, JSON lines and editors receive the same events.
//!
//! Everything that a run records is an event with its [`Fact`]; the other events are of use only while they happen, and
//! no log has them. An event borrows its content, so reporting it costs next to nothing; an observer that keeps an
//! event must copy it. Content arrives in pieces, and once more as a fact when the message is whole.

use host_journal::Fact;
use host_message::{AgentId, CallId, FinishReason, FunctionCall, SessionId, ToolName, Usage};
use host_model::Again;
use host_tool::HookEvent;
use serde::Serialize;

/// An observer of a run.
///
/// For the implementer: `event` is called from within the loop, for each piece of text, and from several threads
/// at once. It must be quick, must not block for long, and must not panic. Texts come from models and tools and
/// may hold control characters: make them safe before they reach a terminal.
pub trait Observer: Send + Sync {
    /// Reports an event.
    fn event(&self, event: &Event<'_>);
}

/// Something that happened in a run, and the agent that it happened to.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Event<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// The agent's id in the run; a subagent has an id of its own.
    pub agent_id: &'a AgentId,
    /// The kind of event, with its details.
    #[serde(flatten)]
    pub kind: EventKind<'a>,
}

/// The kind of event, with its details.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind<'a> {
    /// Something that is a part of the session. It was recorded before, unless nothing is recorded, or it is why the
    /// run never began or can no longer be recorded.
    Fact(&'a Fact),
    /// A run was requested. `Fact::RunStarted` follows once the prompt is accepted.
    RunRequested {
        /// The model, as the user names it: with its provider.
        model: &'a str,
        /// The session that records it.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<&'a SessionId>,
    },
    /// A run was asked something: the user's prompt, a subagent's task, or what the user says while the run works.
    Asked {
        /// The text, without what is attached to it.
        text: &'a str,
    },
    /// The model is sent a request.
    TurnStarted {
        /// Number of the agent's turn, from 0.
        turn: u32,
    },
    /// A piece of the model's answer.
    Content {
        /// The piece.
        text: &'a str,
    },
    /// A piece of the model's thoughts.
    Thought {
        /// Subject of the thought, reported once: with the piece that completes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        subject: Option<&'a str>,
        /// The piece.
        text: &'a str,
    },
    /// The model writes a call. It is reported when it begins, and when more of it can be told; not every service sends
    /// what that needs, and the call that runs is the one of `ToolCallRequest`.
    ToolCallForming {
        /// Its tool. The model wrote it: it may be none that there is.
        name: &'a str,
        /// The first of its arguments on one line, safe to show; empty while it is not known.
        title: &'a str,
        /// How many lines its arguments have so far; 0 until there are two.
        lines: u64,
    },
    /// The model cites something.
    Citation {
        /// Its address.
        uri: &'a str,
    },
    /// The reply is requested again: its content and thoughts so far are void.
    Retry {
        /// Why the previous attempt failed.
        reason: &'a str,
        /// Wait before the next attempt, in milliseconds.
        wait_ms: u64,
        /// Number of the attempt, from 2.
        attempt: u32,
        /// Maximum number of attempts.
        attempts: u32,
    },
    /// A different model answers, starting with this reply: its content and thoughts so far are void.
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
        /// Token usage of the reply, if the service reported it.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The model requests a call.
    ToolCallRequest {
        /// The call as the model wrote it.
        call: &'a FunctionCall,
        /// The call that made it; `None` for one of the model's.
        parent: Option<&'a CallId>,
        /// What it is called on one line, beside the name of its tool; safe to show.
        title: &'a str,
    },
    /// The user is asked whether a call may run.
    ToolCallConfirmation {
        /// The call.
        call_id: &'a CallId,
        /// Its tool.
        name: &'a ToolName,
        /// What the user is asked about, in one word: what the call would do (`exec`, `edit`, `info` or `call`), what
        /// it wants to read (`read`), or a plan (`plan`).
        kind: &'a str,
    },
    /// A running call shows something.
    ToolCallOutput {
        /// The call.
        call_id: &'a CallId,
        /// Its tool.
        name: &'a ToolName,
        /// The output.
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
        /// Description of the current step.
        message: &'a str,
    },
    /// A hook has run for a second and is waited for.
    HookWaiting {
        /// The event that it was asked about.
        event: HookEvent,
        /// Its name, safe to show.
        hook: &'a str,
    },
    /// A command checks what the run changed.
    Checking {
        /// The line for the shell. Not escaped.
        command: &'a str,
    },
    /// The conversation was long, or was to be shortened.
    ChatCompressed {
        /// The result.
        status: CompressionStatus,
        /// About how many tokens its messages had.
        tokens_before: u64,
        /// About how many they have now.
        tokens_after: u64,
        /// Why no summary was made.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
    /// The model repeated itself and was stopped: the pieces of an unfinished reply are void, and the calls did not
    /// run. The host warns it once per run.
    LoopDetected {
        /// The repeated calls or text.
        repeated: &'a str,
    },
    /// The user's cancel reached the run.
    UserCancelled,
}

/// The result of shortening a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompressionStatus {
    /// A summary replaced its beginning.
    Summarised,
    /// Old outputs of tools were cut short.
    Shortened,
    /// The oldest messages were left out: nothing else made the conversation fit the model's window.
    LeftOut,
    /// The summary was not shorter than the part that it was to replace; nothing changed.
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
