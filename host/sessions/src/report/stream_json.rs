//! `stream-json`: a line of JSON for each thing that happens: `init`, the prompt as the first `message`, then
//! `message`, `tool_use`, `tool_result` and `error` as they come, and `result` at the end. Lines of a subagent are
//! among them as they come, each with its name and id; a run has one `init`, one prompt and one `result`, its own.
//!
//! The shapes here are the program's interface, apart from the loop's own events; `host schema stream-json` prints
//! them.

use std::sync::{Mutex, PoisonError};

use host_agent::{CompressionStatus, Event, EventKind, Observer, Partial, RunResult};
use host_journal::{CallReport, CallStatus, CheckResult, Fact, HookResult};
use host_message::{AgentId, CallId};
use host_settings::error::{ErrorKind, Failure};
use host_settings::project::TrustStatus;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::json::{Compression, End, Wrong};
use super::notices;
use super::run_stats::{RunStats, Statistics};
use super::{About, Report, Sink};

/// Writes a JSON line for each event of a run.
pub struct StreamJson {
    sink: Sink,
    project_trust: Option<TrustStatus>,
    code: fn(ErrorKind) -> u8,
    stats: Mutex<RunStats>,
}

/// One line.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "A line that `host run --output-format stream-json` prints")]
#[schemars(extend("unevaluatedProperties" = false))]
pub struct Stamped<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    /// The name of the subagent whose line it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    /// The id of the subagent within the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    /// When it was printed, in UTC.
    #[schemars(extend("format" = "date-time"))]
    timestamp: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    /// The first line: a run begins.
    Init {
        /// The session that records it, for `host run --resume`.
        session_id: Option<&'a str>,
        /// The model's id, with its provider: `openai/gpt-5`.
        model: &'a str,
        /// Whether the files in the project's `.host/` are used; missing if there are none.
        #[serde(skip_serializing_if = "Option::is_none")]
        project_trust: Option<TrustStatus>,
    },
    /// A message.
    Message {
        role: Role,
        content: &'a str,
        /// A piece of a message; the pieces until the next other line are one.
        delta: bool,
        /// It is a thought, and not part of the answer.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        thought: bool,
    },
    /// The model calls a tool, or a call does that the model made.
    ToolUse {
        tool_id: &'a str,
        /// The call that makes this one; missing for a call of the model's.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_tool_id: Option<&'a str>,
        tool_name: &'a str,
        parameters: &'a Map<String, Value>,
        /// What the call is called on one line, beside the name of its tool, such as the path of a file.
        title: &'a str,
    },
    /// A call ended, whether it ran or not. There is one for each `tool_use`.
    ToolResult {
        tool_id: &'a str,
        tool_name: &'a str,
        status: CallEnd,
        /// What the call is called, as it ran: the user may have changed it.
        title: &'a str,
        /// One line about the result; empty if there is nothing to say.
        summary: &'a str,
        /// The call failed, or the command that it ran did; the model gets the output of a command either way.
        failed: bool,
        /// The exit code of the command that it ran.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The response to the model; of a call that another one made the beginning of what that one got.
        output: &'a str,
        /// Duration of the call.
        duration_ms: u64,
        /// What an MCP server said beside its answer, `_meta` in the protocol. The model does not get it.
        #[serde(skip_serializing_if = "Option::is_none")]
        mcp_meta: Option<&'a Map<String, Value>>,
    },
    /// A hook ended.
    Hook {
        /// The event that it was asked about.
        hook_event_name: &'a str,
        /// Its name.
        hook: &'a str,
        result: HookEnd,
        /// Its reason, or why it failed; empty if there is none.
        reason: &'a str,
        /// What it wants the user to read.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        /// Duration in milliseconds.
        duration_ms: u64,
    },
    /// A hook has run for a second and is waited for.
    HookWaiting { hook_event_name: &'a str, hook: &'a str },
    /// A command checks what the run changed.
    Checking { command: &'a str },
    /// It ended.
    Check {
        command: &'a str,
        result: CheckEnd,
        /// Why it did not pass; empty if it did.
        reason: &'a str,
        /// What it printed: the beginning and the end.
        output: &'a str,
        /// Duration in milliseconds.
        duration_ms: u64,
    },
    /// Something that the user should know.
    Error { severity: Severity, message: &'a str },
    /// The last line: the run ended.
    Result {
        status: Status,
        terminate_reason: End,
        /// The answer; there is one if and only if the reason is `GOAL`.
        response: Option<&'a str>,
        /// The model had no more room to end its answer.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        response_is_cut_short: bool,
        /// Without an answer: the model's best answer so far if a limit ended the run, else what it wrote last.
        #[serde(skip_serializing_if = "Option::is_none")]
        partial_response: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Wrong<'a>>,
        stats: Statistics<'a>,
    },
    /// `host run --resume /compress` shortened a conversation; this is then the only line.
    Compressed { status: Compression },
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Role {
    /// The user, whose prompt it is.
    User,
    /// The model.
    Assistant,
}

/// The end of a call.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CallEnd {
    Success,
    /// It failed, or was refused.
    Error,
    Cancelled,
    /// The process before this one died while it ran.
    Interrupted,
}

/// What came of a hook.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum HookEnd {
    /// It said nothing.
    Nothing,
    /// It added context for the model.
    Context,
    /// It allowed what it was asked about, as far as the grants reach.
    Allowed,
    /// It wants the user to be asked.
    Asked,
    /// It changed the arguments of a call, or its output.
    Changed,
    /// It denied what it was asked about.
    Denied,
    /// It ended the run.
    Stopped,
    /// It failed, and what it was asked about is denied.
    FailedClosed,
    /// It failed, and nothing depends on it.
    Failed,
}

/// How a check ended.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CheckEnd {
    /// With exit code 0.
    Passed,
    /// With another exit code, or by a signal.
    Failed,
    /// It took too long.
    TimedOut,
    /// It did not start.
    NotStarted,
}

impl From<CheckResult> for CheckEnd {
    fn from(result: CheckResult) -> Self {
        match result {
            CheckResult::Passed => Self::Passed,
            CheckResult::Failed => Self::Failed,
            CheckResult::TimedOut => Self::TimedOut,
            CheckResult::NotStarted => Self::NotStarted,
        }
    }
}

impl From<HookResult> for HookEnd {
    fn from(result: HookResult) -> Self {
        match result {
            HookResult::Nothing => Self::Nothing,
            HookResult::Context => Self::Context,
            HookResult::Allowed => Self::Allowed,
            HookResult::Asked => Self::Asked,
            HookResult::Changed => Self::Changed,
            HookResult::Denied => Self::Denied,
            HookResult::Stopped => Self::Stopped,
            HookResult::FailedClosed => Self::FailedClosed,
            HookResult::Failed => Self::Failed,
        }
    }
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Severity {
    /// The run continues.
    Warning,
    /// It ends the run.
    Error,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Success,
    Error,
}

impl StreamJson {
    /// A report that writes to `sink`.
    pub fn new(sink: Sink, about: About) -> Self {
        let About { project_trust, run_clock, code, stats: _ } = about;
        Self { sink, project_trust, code, stats: Mutex::new(RunStats::new(run_clock)) }
    }

    /// Writes a line, of a subagent where there is one.
    fn line(&self, subagent: Option<(&str, &AgentId)>, line: Line<'_>) {
        write(&self.sink, subagent, line);
    }

    fn fact(&self, subagent: Option<(&str, &AgentId)>, fact: &Fact) {
        let say = |line| self.line(subagent, line);
        match fact {
            Fact::CallSettled { call_id, end, .. } => {
                let none = CallReport::default();
                let report = end.report.as_ref().unwrap_or(&none);
                say(Line::ToolResult {
                    tool_id: call_id.as_str(),
                    tool_name: end.tool(),
                    status: match end.status {
                        CallStatus::Success => CallEnd::Success,
                        CallStatus::Error { .. } => CallEnd::Error,
                        CallStatus::Cancelled => CallEnd::Cancelled,
                        CallStatus::Interrupted => CallEnd::Interrupted,
                    },
                    title: &report.title,
                    summary: &report.summary,
                    failed: report.failed,
                    exit_code: report.command.and_then(|end| end.code),
                    output: end.response(),
                    duration_ms: end.duration_ms,
                    mcp_meta: end.mcp_meta.as_deref(),
                });
            }
            Fact::HookEnded { event, hook, result, reason, message, duration_ms, .. } => say(Line::Hook {
                hook_event_name: event.name(),
                hook,
                result: (*result).into(),
                reason,
                message: message.as_deref(),
                duration_ms: *duration_ms,
            }),
            Fact::CheckEnded { command, result, reason, output, duration_ms, .. } => {
                say(Line::Check { command, result: (*result).into(), reason, output, duration_ms: *duration_ms })
            }
            Fact::RecoveryStarted { .. } => {
                say(Line::Error { severity: Severity::Warning, message: "limit reached; asking the model to wrap up" });
            }
            Fact::Error { message, .. } => {
                // A failure that ends a subagent is reported to its parent, and the run continues.
                let severity = if subagent.is_some() { Severity::Warning } else { Severity::Error };
                say(Line::Error { severity, message });
            }
            other => {
                if let Some(message) = notices::fact(other) {
                    say(Line::Error { severity: Severity::Warning, message: &message });
                }
            }
        }
    }
}

/// Says what came of shortening a conversation.
pub fn compressed(sink: &Sink, status: CompressionStatus) {
    write(sink, None, Line::Compressed { status: status.into() });
}

fn write(sink: &Sink, subagent: Option<(&str, &AgentId)>, line: Line<'_>) {
    let (agent, agent_id) = subagent.unzip();
    let timestamp = Timestamp::now().to_string();
    match serde_json::to_string(&Stamped { line, agent, agent_id: agent_id.map(AgentId::as_str), timestamp }) {
        // The reader may be a terminal.
        Ok(json) => sink(&format!("{}\n", host_text::escape_json(&json))),
        Err(error) => tracing::error!(%error, "an event cannot be written as JSON"),
    }
}

impl Observer for StreamJson {
    fn event(&self, event: &Event<'_>) {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner).count(event);
        let subagent = event.agent_id.is_subagent().then_some((event.agent, event.agent_id));
        let say = |line| self.line(subagent, line);
        let warn = |message: &str| self.line(subagent, Line::Error { severity: Severity::Warning, message });
        match event.kind {
            // It begins with the call that asks for it; and it was the run that was cancelled.
            EventKind::RunRequested { .. } | EventKind::Asked { .. } | EventKind::UserCancelled
                if subagent.is_some() => {}
            EventKind::RunRequested { model, session } => {
                let session = session.map(ToString::to_string);
                say(Line::Init { session_id: session.as_deref(), model, project_trust: self.project_trust });
            }
            EventKind::Asked { text } => {
                say(Line::Message { role: Role::User, content: text, delta: false, thought: false });
            }
            EventKind::Content { text } => {
                say(Line::Message { role: Role::Assistant, content: text, delta: true, thought: false });
            }
            EventKind::Thought { text, .. } => {
                say(Line::Message { role: Role::Assistant, content: text, delta: true, thought: true });
            }
            EventKind::ToolCallRequest { call, parent, title } => say(Line::ToolUse {
                tool_id: call.id.as_str(),
                parent_tool_id: parent.map(CallId::as_str),
                tool_name: call.name.as_str(),
                parameters: &call.arguments,
                title,
            }),
            EventKind::Fact(fact) => self.fact(subagent, fact),
            EventKind::HookWaiting { event, hook } => say(Line::HookWaiting { hook_event_name: event.name(), hook }),
            EventKind::Checking { command } => say(Line::Checking { command }),
            EventKind::Retry { reason, wait_ms, attempt, attempts } => {
                let again = notices::again(reason, wait_ms, attempt, attempts);
                warn(&format!("{again}; the partial reply is discarded"));
            }
            EventKind::ModelSwitched { model, reason } => {
                warn(&format!("{}; the partial reply is discarded", notices::switched(model, reason)));
            }
            EventKind::ChatCompressed { status, tokens_before, tokens_after, reason } => {
                warn(&notices::compressed(status, tokens_before, tokens_after, reason));
            }
            EventKind::LoopDetected { repeated } => {
                let repetition = notices::repetition(repeated);
                warn(&format!("{repetition}; asking it to try another way, and an unfinished reply is discarded"));
            }
            EventKind::UserCancelled => warn("cancelled by the user"),
            EventKind::TurnStarted { .. }
            | EventKind::ToolCallForming { .. }
            | EventKind::Citation { .. }
            | EventKind::Finished { .. }
            | EventKind::ToolCallConfirmation { .. }
            | EventKind::ToolCallOutput { .. }
            | EventKind::ToolCallProgress { .. } => {}
        }
    }
}

impl Report for StreamJson {
    fn finish(&self, result: &RunResult, failure: Option<&Failure>) {
        let stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        self.line(
            None,
            Line::Result {
                status: if failure.is_some() { Status::Error } else { Status::Success },
                terminate_reason: result.terminate_reason.into(),
                response: result.result.as_deref(),
                response_is_cut_short: result.is_cut_short(),
                partial_response: result.partial.as_ref().map(Partial::text),
                error: failure.map(|failure| Wrong::new(failure, self.code)),
                stats: stats.statistics(result),
            },
        );
    }
}
