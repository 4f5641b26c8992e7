//! `json`: one object when the run has ended.
//!
//! The shapes here are the program's interface, apart from the loop's own events.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use host_agent::{CallStatus, Cost, Event, EventKind, Observer, RunResult, TerminateReason};
use serde::Serialize;

use super::{Out, Printer};
use crate::exit::Failure;
use crate::project::Word;

pub(super) struct Json {
    out: Out,
    project_trust: Option<Word>,
    tally: Mutex<Tally>,
}

/// What a run cost until now.
pub(super) struct Tally {
    started: Instant,
    session: Option<String>,
    model: String,
    calls: BTreeMap<String, Calls>,
    subagents: BTreeMap<String, Subagent>,
}

/// What the runs of one subagent cost; it is part of what the whole run cost.
#[derive(Clone, Copy, Default, Serialize)]
struct Subagent {
    runs: u64,
    goals: u64,
    turns: u64,
    tokens: u64,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Calls {
    success: u64,
    error: u64,
    cancelled: u64,
    duration_ms: u64,
}

/// The statistics of a run.
#[derive(Serialize)]
pub(super) struct Statistics<'a> {
    duration_ms: u64,
    turns: u32,
    tokens: Tokens,
    /// In the currency of the configured prices; none where there is no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    tools: &'a BTreeMap<String, Calls>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    subagents: &'a BTreeMap<String, Subagent>,
}

#[derive(Serialize)]
struct Tokens {
    input: u64,
    output: u64,
    cached: u64,
    thought: u64,
    total: u64,
}

/// What went wrong, for a program.
#[derive(Serialize)]
pub(super) struct Wrong<'a> {
    code: u8,
    message: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    causes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

#[derive(Serialize)]
struct Object<'a> {
    session_id: Option<&'a str>,
    model: &'a str,
    /// Whether what the project brings is used; nothing where it brings nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_trust: Option<Word>,
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
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            session: None,
            model: String::new(),
            calls: BTreeMap::new(),
            subagents: BTreeMap::new(),
        }
    }
}

impl Tally {
    /// Counts an event.
    pub(super) fn count(&mut self, event: &Event<'_>) {
        match event.kind {
            // A run beneath another begins and ends within it.
            EventKind::RunStarted { .. } if event.agent_id.is_subagent() => {}
            EventKind::RunEnded { terminate_reason, turns, usage, .. } if event.agent_id.is_subagent() => {
                let subagent = self.subagents.entry(event.agent.to_owned()).or_default();
                subagent.runs += 1;
                subagent.goals += u64::from(terminate_reason == TerminateReason::Goal);
                subagent.turns = subagent.turns.saturating_add(u64::from(turns));
                subagent.tokens = subagent.tokens.saturating_add(usage.total());
            }
            EventKind::RunStarted { model, session } => {
                self.model = model.to_owned();
                self.session = session.map(ToString::to_string);
            }
            EventKind::ToolCallEnd { name, status, duration_ms, .. } => {
                let calls = self.calls.entry(name.to_string()).or_default();
                match status {
                    CallStatus::Success => calls.success += 1,
                    CallStatus::Error { .. } => calls.error += 1,
                    CallStatus::Cancelled | CallStatus::Interrupted => calls.cancelled += 1,
                }
                calls.duration_ms += duration_ms;
            }
            _ => {}
        }
    }

    /// The statistics at the end.
    pub(super) fn statistics(&self, result: &RunResult) -> Statistics<'_> {
        let usage = result.usage;
        Statistics {
            duration_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            turns: result.turns,
            tokens: Tokens {
                input: usage.input,
                output: usage.output,
                cached: usage.cached,
                thought: usage.thought,
                total: usage.total(),
            },
            cost: result.cost.map(Cost::amount),
            tools: &self.calls,
            subagents: &self.subagents,
        }
    }
}

impl<'a> Wrong<'a> {
    pub(super) fn of(failure: &'a Failure) -> Self {
        Self {
            code: failure.code as u8,
            message: &failure.message,
            causes: &failure.causes,
            help: failure.help.as_deref(),
        }
    }
}

impl Json {
    pub(super) fn new(out: Out, project_trust: Option<Word>) -> Self {
        Self { out, project_trust, tally: Mutex::default() }
    }
}

impl Observer for Json {
    fn event(&self, event: &Event<'_>) {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).count(event);
    }
}

impl Printer for Json {
    fn finish(&self, result: &RunResult, failure: Option<&Failure>) {
        let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let object = Object {
            session_id: tally.session.as_deref(),
            model: &tally.model,
            project_trust: self.project_trust,
            terminate_reason: result.terminate_reason,
            response: result.result.as_deref(),
            response_is_cut_short: result.is_cut_short(),
            partial_response: result.partial.as_deref(),
            error: failure.map(Wrong::of),
            stats: tally.statistics(result),
        };
        match serde_json::to_string_pretty(&object) {
            Ok(json) => self.out.write(&format!("{json}\n")),
            Err(error) => super::to_stderr(&format!("error: the result is no JSON: {error}\n")),
        }
    }
}
