//! `json`: one object when the run has ended.
//!
//! The shapes here are the program's interface, apart from the loop's own events; `host schema json` prints them.

use std::sync::{Mutex, PoisonError};

use host_agent::{CompressionStatus, Event, Observer, Partial, RunResult};
use host_journal::TerminateReason;
use host_settings::error::{ErrorKind, Failure};
use host_settings::project::TrustStatus;
use schemars::JsonSchema;
use serde::Serialize;

use super::run_stats::{RunStats, Statistics};
use super::{About, Report, Sink};

/// Writes one JSON object at the end of a run.
pub struct Json {
    sink: Sink,
    project_trust: Option<TrustStatus>,
    code: fn(ErrorKind) -> u8,
    stats: Mutex<RunStats>,
}

/// The printed document.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "What `host run --output-format json` prints")]
#[serde(untagged)]
pub enum Document<'a> {
    /// A run that ended.
    Run(Box<Object<'a>>),
    /// A conversation that was compressed.
    Compressed(Compressed),
}

/// A run that ended.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Object<'a> {
    /// The session that recorded it, for `host run --resume`.
    session_id: Option<&'a str>,
    /// The model's id, with its provider: `openai/gpt-5`.
    model: &'a str,
    /// Whether the files in the project's `.host/` are used; missing if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_trust: Option<TrustStatus>,
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
}

/// `host run --resume /compress` shortened a conversation.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Compressed {
    r#type: CompressedTag,
    status: Compression,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CompressedTag {
    Compressed,
}

/// The result of shortening a conversation.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// A summary replaced its beginning.
    Summarised,
    /// Old outputs of tools were cut short.
    Shortened,
    /// The oldest messages were left out: nothing else made the conversation fit the model's window.
    LeftOut,
    /// The summary was not shorter; nothing changed.
    Inflated,
    /// The summary was empty; nothing changed.
    Empty,
    /// No summary came; nothing changed.
    Failed,
    /// There was nothing to compress.
    Nothing,
}

/// The end of a run. Only `GOAL` is a success.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum End {
    /// It reached its end.
    Goal,
    /// The time limit or a budget cut it.
    Timeout,
    /// The turn limit cut it.
    MaxTurns,
    /// The user cancelled it.
    Aborted,
    /// It failed.
    Error,
    /// The model stopped without calling `complete_task`.
    ErrorNoCompleteTaskCall,
}

/// A failure.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Wrong<'a> {
    /// The exit code of the process.
    code: u8,
    message: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl From<TerminateReason> for End {
    fn from(reason: TerminateReason) -> Self {
        match reason {
            TerminateReason::Goal => Self::Goal,
            TerminateReason::Timeout => Self::Timeout,
            TerminateReason::MaxTurns => Self::MaxTurns,
            TerminateReason::Aborted => Self::Aborted,
            TerminateReason::Error => Self::Error,
            TerminateReason::ErrorNoCompleteTaskCall => Self::ErrorNoCompleteTaskCall,
        }
    }
}

impl From<CompressionStatus> for Compression {
    fn from(status: CompressionStatus) -> Self {
        match status {
            CompressionStatus::Summarised => Self::Summarised,
            CompressionStatus::Shortened => Self::Shortened,
            CompressionStatus::LeftOut => Self::LeftOut,
            CompressionStatus::Inflated => Self::Inflated,
            CompressionStatus::Empty => Self::Empty,
            CompressionStatus::Failed => Self::Failed,
            CompressionStatus::Nothing => Self::Nothing,
        }
    }
}

impl Compressed {
    /// The document for this outcome.
    pub fn new(status: CompressionStatus) -> Self {
        Self { r#type: CompressedTag::Compressed, status: status.into() }
    }
}

impl<'a> Wrong<'a> {
    /// The error as it is printed.
    pub fn new(failure: &'a Failure, code: fn(ErrorKind) -> u8) -> Self {
        let causes = failure.causes.iter().map(ToString::to_string).collect();
        Self { code: code(failure.kind), message: &failure.message, causes, help: failure.help_text() }
    }
}

impl Json {
    /// A report that writes to `sink`.
    pub fn new(sink: Sink, about: About) -> Self {
        let About { project_trust, run_clock, code, stats: _ } = about;
        Self { sink, project_trust, code, stats: Mutex::new(RunStats::new(run_clock)) }
    }
}

impl Observer for Json {
    fn event(&self, event: &Event<'_>) {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner).count(event);
    }
}

impl Report for Json {
    fn finish(&self, result: &RunResult, failure: Option<&Failure>) {
        let stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        let object = Object {
            session_id: stats.session.as_deref(),
            model: &stats.model,
            project_trust: self.project_trust,
            terminate_reason: result.terminate_reason.into(),
            response: result.result.as_deref(),
            response_is_cut_short: result.is_cut_short(),
            partial_response: result.partial.as_ref().map(Partial::text),
            error: failure.map(|failure| Wrong::new(failure, self.code)),
            stats: stats.statistics(result),
        };
        write(&self.sink, &Document::Run(Box::new(object)));
    }
}

/// Writes the object.
pub fn write(sink: &Sink, document: &Document<'_>) {
    match serde_json::to_string_pretty(document) {
        // The reader may be a terminal.
        Ok(json) => sink(&format!("{}\n", host_text::escape_json(&json))),
        Err(error) => tracing::error!(%error, "the report cannot be written as JSON"),
    }
}
