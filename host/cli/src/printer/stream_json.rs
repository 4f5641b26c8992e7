//! `stream-json`: a line of JSON for each thing that happens: `init`, then `message`, `tool_use`, `tool_result` and
//! `error` as they come, and `result` at the end. Lines of a subagent are among them as they come, each with its name
//! and id; a run has one `init` and one `result`, its own.
//!
//! The shapes here are the program's interface, apart from the loop's own events.

use std::sync::{Mutex, PoisonError};

use host_agent::{CallStatus, Event, EventKind, Observer, RunResult, TerminateReason};
use host_message::AgentId;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::json::{Statistics, Tally, Wrong};
use super::{Out, Printer};
use crate::exit::Failure;
use crate::project::Word;

pub(super) struct StreamJson {
    out: Out,
    project_trust: Option<Word>,
    tally: Mutex<Tally>,
}

#[derive(Serialize)]
struct Stamped<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    /// Whose line it is, when it is a subagent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a AgentId>,
    timestamp: String,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Init {
        session_id: Option<&'a str>,
        model: &'a str,
        /// Whether what the project brings is used; nothing where it brings nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        project_trust: Option<Word>,
    },
    Message {
        role: &'static str,
        content: &'a str,
        /// A piece of a message; the pieces until the next other line are one.
        delta: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        thought: bool,
    },
    ToolUse {
        tool_id: &'a str,
        tool_name: &'a str,
        parameters: &'a Map<String, Value>,
    },
    ToolResult {
        tool_id: &'a str,
        tool_name: &'a str,
        status: &'static str,
        output: &'a str,
        duration_ms: u64,
    },
    Error {
        severity: &'static str,
        message: &'a str,
    },
    Result {
        status: &'static str,
        terminate_reason: TerminateReason,
        response: Option<&'a str>,
        /// The model had no more room to end its answer.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        response_is_cut_short: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        partial_response: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Wrong<'a>>,
        stats: Statistics<'a>,
    },
}

impl StreamJson {
    pub(super) fn new(out: Out, project_trust: Option<Word>) -> Self {
        Self { out, project_trust, tally: Mutex::default() }
    }

    /// Writes a line, of a subagent where there is one.
    fn line(&self, subagent: Option<(&str, &AgentId)>, line: Line<'_>) {
        let (agent, agent_id) = subagent.unzip();
        let timestamp = Timestamp::now().to_string();
        match serde_json::to_string(&Stamped { line, agent, agent_id, timestamp }) {
            Ok(json) => self.out.write(&format!("{json}\n")),
            Err(error) => super::to_stderr(&format!("error: an event is no JSON: {error}\n")),
        }
    }
}

impl Observer for StreamJson {
    fn event(&self, event: &Event<'_>) {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).count(event);
        let subagent = event.agent_id.is_subagent().then_some((event.agent, event.agent_id));
        let say = |line| self.line(subagent, line);
        match event.kind {
            // It begins with the call that asks for it; and it was the run that was cancelled.
            EventKind::RunStarted { .. } | EventKind::UserCancelled if subagent.is_some() => {}
            EventKind::RunStarted { model, session } => {
                let session = session.map(ToString::to_string);
                say(Line::Init { session_id: session.as_deref(), model, project_trust: self.project_trust });
            }
            EventKind::Content { text } => {
                say(Line::Message { role: "assistant", content: text, delta: true, thought: false });
            }
            EventKind::Thought { text, .. } => {
                say(Line::Message { role: "assistant", content: text, delta: true, thought: true });
            }
            EventKind::ToolCallRequest { call } => say(Line::ToolUse {
                tool_id: call.id.as_str(),
                tool_name: call.name.as_str(),
                parameters: &call.arguments,
            }),
            EventKind::ToolCallEnd { call_id, name, status, response, duration_ms, .. } => say(Line::ToolResult {
                tool_id: call_id.as_str(),
                tool_name: name.as_str(),
                status: match status {
                    CallStatus::Success => "success",
                    CallStatus::Error { .. } => "error",
                    CallStatus::Cancelled => "cancelled",
                    CallStatus::Interrupted => "interrupted",
                },
                output: response,
                duration_ms,
            }),
            EventKind::Retry { reason, wait_ms, attempt, attempts } => {
                let again = super::again(reason, wait_ms, attempt, attempts);
                let message = format!("{again}; the pieces of the reply so far are void");
                say(Line::Error { severity: "warning", message: &message });
            }
            EventKind::ModelSwitched { model, reason } => {
                let message = format!("{}; the pieces of the reply so far are void", super::switched(model, reason));
                say(Line::Error { severity: "warning", message: &message });
            }
            EventKind::ChatCompressed { status, tokens_before, tokens_after } => {
                let message = super::compressed(status, tokens_before, tokens_after);
                say(Line::Error { severity: "warning", message: &message });
            }
            EventKind::RecoveryStarted { .. } => {
                say(Line::Error {
                    severity: "warning",
                    message: "a limit was met; the model is asked for its best answer so far",
                });
            }
            EventKind::LoopDetected { repeated } => {
                let message =
                    format!("{}; the model is told, and an unfinished reply is void", super::circles(repeated));
                say(Line::Error { severity: "warning", message: &message });
            }
            EventKind::UserCancelled => say(Line::Error { severity: "warning", message: "cancelled by the user" }),
            EventKind::Error { message } => {
                // What ends a subagent is told to its parent, and the run goes on.
                let severity = if subagent.is_some() { "warning" } else { "error" };
                say(Line::Error { severity, message });
            }
            EventKind::TurnStarted { .. }
            | EventKind::Citation { .. }
            | EventKind::InvalidStream { .. }
            | EventKind::Finished { .. }
            | EventKind::ToolCallStart { .. }
            | EventKind::ToolCallOutput { .. }
            | EventKind::ToolCallProgress { .. }
            | EventKind::RunEnded { .. } => {}
        }
    }
}

impl Printer for StreamJson {
    fn finish(&self, result: &RunResult, failure: Option<&Failure>) {
        let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        self.line(
            None,
            Line::Result {
                status: if failure.is_some() { "error" } else { "success" },
                terminate_reason: result.terminate_reason,
                response: result.result.as_deref(),
                response_is_cut_short: result.is_cut_short(),
                partial_response: result.partial.as_deref(),
                error: failure.map(Wrong::of),
                stats: tally.statistics(result),
            },
        );
    }
}
