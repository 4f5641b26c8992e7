//! Text where nothing is drawn: the answer at the end, and before it a line on standard error for what the user should
//! know: why it takes longer, what was done to a long conversation, and which calls were refused with the flag that
//! allows each. A pipe gets the answer as it is.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use anstyle::AnsiColor;
use host_agent::{Event, EventKind, Observer, Partial, RunResult};
use host_journal::{CallStatus, Fact};
use host_sessions::report::run_stats::RunStats;
use host_sessions::report::{About, Report, notices};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_text::{clip, exact, visible};
use host_tool::FailureKind;

use super::{Out, Style, note_to_stderr, to_stderr};
use crate::exit::words;

/// The longest line about a refused call, in characters.
const REFUSAL: usize = 400;

/// Maximum number of different lines about refused calls.
const REFUSALS: usize = 20;

pub(super) struct Text {
    out: Out,
    style: Style,
    stats: bool,
    /// Whether standard output is a terminal, as it is if only standard error is redirected.
    escapes: bool,
    run_stats: Mutex<RunStats>,
    /// The lines about refused calls that were printed: a model that tries again is refused with the same words.
    refusals: Mutex<HashSet<String>>,
}

impl Text {
    pub(super) fn new(out: Out, environment: &Environment, about: About) -> Self {
        let About { run_clock, stats, .. } = about;
        let (style, escapes) = (super::style(environment), environment.stdout_is_terminal);
        let (run_stats, refusals) = (Mutex::new(RunStats::new(run_clock)), Mutex::default());
        Self { out, style, stats, escapes, run_stats, refusals }
    }

    /// The line about a fact, if it has one.
    fn of_fact(&self, fact: &Fact) -> Option<String> {
        match fact {
            Fact::CallSettled { end, .. } if end.status == (CallStatus::Error { kind: FailureKind::Denied }) => {
                self.refusal(end.response())
            }
            other => notices::fact(other),
        }
    }

    /// A line about a refused call, if it is a new one.
    fn refusal(&self, response: &str) -> Option<String> {
        let line = clip(&response.split_whitespace().collect::<Vec<_>>().join(" "), REFUSAL).into_owned();
        let mut printed = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = printed.len() < REFUSALS && printed.insert(line.clone());
        is_new.then(|| format!("refused: {}", visible(&line)))
    }
}

impl Observer for Text {
    fn event(&self, event: &Event<'_>) {
        self.run_stats.lock().unwrap_or_else(PoisonError::into_inner).count(event);
        // A wait of seconds must be explained even where nothing else is shown before the answer.
        let note = match event.kind {
            EventKind::Retry { reason, wait_ms, attempt, attempts } => {
                notices::again(reason, wait_ms, attempt, attempts)
            }
            EventKind::ModelSwitched { model, reason } => notices::switched(model, reason),
            EventKind::ChatCompressed { status, tokens_before, tokens_after, reason } => {
                notices::compressed(status, tokens_before, tokens_after, reason)
            }
            EventKind::Fact(fact) => match self.of_fact(fact) {
                Some(note) => note,
                None => return,
            },
            _ => return,
        };
        let whose = if event.agent_id.is_subagent() { format!("{}: ", exact(event.agent)) } else { String::new() };
        note_to_stderr(&format!("{}\n", self.style.dim(&format!("{whose}{note}"))));
    }
}

impl Report for Text {
    fn finish(&self, result: &RunResult, failure: Option<&Failure>) {
        if let Some(answer) = result.result.as_deref().or(result.best_answer()) {
            self.out.write(&if self.escapes { visible(answer) } else { answer.into() });
            if !answer.ends_with('\n') {
                self.out.write("\n");
            }
        }
        if self.out.is_gone() {
            return;
        }
        to_stderr(&cut_short(result, self.style));
        if let Some(failure) = failure {
            to_stderr(&partial(result));
            to_stderr(&words(failure, self.style));
        }
        if self.stats {
            let run_stats = self.run_stats.lock().unwrap_or_else(PoisonError::into_inner);
            to_stderr(&run_stats.statistics(result).table());
        }
    }
}

/// Returns a note about an answer that the model had no more room to end; empty for any other answer.
pub(super) fn cut_short(result: &RunResult, style: Style) -> String {
    let note = style.paint("note:", AnsiColor::Yellow);
    match result.is_cut_short() {
        true => format!("{note} the answer is incomplete: the model reached its limit of tokens for a reply\n"),
        false => String::new(),
    }
}

/// Returns the model's text of a run that ended without an answer; empty if that text is the best answer so far.
pub(super) fn partial(result: &RunResult) -> String {
    match &result.partial {
        Some(Partial::LastText(text)) if !text.trim().is_empty() => {
            format!("The model's partial reply:\n\n{}\n\n", visible(text.trim()))
        }
        Some(Partial::LastText(_) | Partial::BestAnswer(_)) | None => String::new(),
    }
}
