//! Text where nothing is drawn: the answer at the end, and before it only why it takes longer. A pipe gets the answer as
//! it is.

use std::sync::{Mutex, PoisonError};

use anstyle::AnsiColor;
use host_agent::{Event, EventKind, Observer, RunResult};
use host_app::environment::Environment;
use host_app::error::Failure;
use host_app::report::tally::Tally;
use host_app::report::{About, Report, notices};
use host_text::{exact, visible};

use super::{Out, Style, to_stderr};
use crate::exit::words;

pub(super) struct Text {
    out: Out,
    style: Style,
    stats: bool,
    /// Whether standard output is a terminal, as it is when standard error alone goes elsewhere.
    escapes: bool,
    tally: Mutex<Tally>,
}

impl Text {
    pub(super) fn new(out: Out, environment: &Environment, about: About) -> Self {
        let About { run_clock, stats, .. } = about;
        let (style, escapes) = (super::style(environment), environment.stdout_is_terminal);
        Self { out, style, stats, escapes, tally: Mutex::new(Tally::new(run_clock)) }
    }
}

impl Observer for Text {
    fn event(&self, event: &Event<'_>) {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).count(event);
        // A wait of seconds must be explained even where nothing else is shown before the answer.
        let note = match event.kind {
            EventKind::Retry { reason, wait_ms, attempt, attempts } => {
                notices::again(reason, wait_ms, attempt, attempts)
            }
            EventKind::ModelSwitched { model, reason } => notices::switched(model, reason),
            _ => return,
        };
        let whose = if event.agent_id.is_subagent() { format!("{}: ", exact(event.agent)) } else { String::new() };
        to_stderr(&format!("{}\n", self.style.dim(&format!("{whose}{note}"))));
    }
}

impl Report for Text {
    fn finish(&self, result: &RunResult, failure: Option<&Failure>) {
        if let Some(answer) = &result.result {
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
            let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            to_stderr(&tally.statistics(result).table());
        }
    }
}

/// Says of an answer that it has no end, where that is so.
pub(super) fn cut_short(result: &RunResult, style: Style) -> String {
    let note = style.paint("note:", AnsiColor::Yellow);
    match result.is_cut_short() {
        true => format!("{note} the answer is cut short: the model had used up its limit of tokens for a reply\n"),
        false => String::new(),
    }
}

/// What the model had written when the run ended without an answer: no answer, and not to be lost.
pub(super) fn partial(result: &RunResult) -> String {
    match result.partial.as_deref().map(str::trim) {
        Some(text) if !text.is_empty() => format!("What it had until then:\n\n{}\n\n", visible(text)),
        _ => String::new(),
    }
}
