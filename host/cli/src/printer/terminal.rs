//! A terminal: the answer as it comes, a line for each call, and a spinner while something is waited for. What a
//! subagent thinks about and calls stands indented, under a line with its name; what it writes is its parent's to
//! read, and not shown.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anstyle::AnsiColor;
use host_agent::{CallStatus, Event, EventKind, Observer, RunResult};
use host_message::{AgentId, CallId, Display, FunctionCall};
use host_tool::cut;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::tally::Tally;
use super::{About, Out, Printer, Style, text, to_stderr, visible};
use crate::exit::{Failure, words};

/// The longest words about a call's arguments, in characters.
const ARGUMENTS: usize = 60;
/// What is shown of a summary however narrow the terminal is, in characters.
const SHORTEST_SUMMARY: usize = 40;
/// How far what a subagent does is indented.
const INDENT: &str = "  ";
/// Lines of a difference that are shown.
const DIFFERENCE_LINES: usize = 40;
/// How often a spinner turns.
const TURN: Duration = Duration::from_millis(100);

pub(super) struct Terminal {
    out: Out,
    style: Style,
    bars: MultiProgress,
    stats: bool,
    tally: Mutex<Tally>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: Option<ProgressBar>,
    /// The calls that run, by agent and id: two agents' calls may have one id.
    calls: HashMap<(AgentId, CallId), (ProgressBar, String)>,
    /// Whether the cursor is within a line of the answer.
    within_line: bool,
    /// What was written of the reply that is being read.
    reply: String,
}

impl Terminal {
    pub(super) fn new(out: Out, style: Style, about: About) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let About { standstill, stats, .. } = about;
        Self { out, style, bars, stats, tally: Mutex::new(Tally::new(standstill)), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spinner(&self, message: String) -> ProgressBar {
        let template = if self.style.colour { "{spinner:.cyan} {wide_msg}" } else { "{spinner} {wide_msg}" };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = self.bars.add(ProgressBar::new_spinner().with_style(style).with_message(message));
        bar.enable_steady_tick(TURN);
        bar
    }

    fn wait(&self, state: &mut State, message: &str) {
        state.stop_waiting();
        state.waiting = Some(self.spinner(self.style.dim(message)));
    }

    /// Writes a line above the spinners.
    fn line(&self, state: &mut State, line: &str) {
        self.end_line(state);
        self.bars.suspend(|| to_stderr(&format!("{line}\n")));
    }

    fn end_line(&self, state: &mut State) {
        if std::mem::take(&mut state.within_line) {
            self.out.write("\n");
        }
    }

    fn call_ended(&self, state: &mut State, end: CallEnd<'_>) {
        let described = match state.calls.remove(&(end.agent.clone(), end.id.clone())) {
            Some((bar, described)) => {
                bar.finish_and_clear();
                described
            }
            None => end.name.to_owned(),
        };
        let mark = match end.status {
            CallStatus::Success => self.style.paint("✓", AnsiColor::Green),
            CallStatus::Error { .. } => self.style.paint("✗", AnsiColor::Red),
            CallStatus::Cancelled | CallStatus::Interrupted => self.style.paint("■", AnsiColor::Yellow),
        };
        let time = self.style.dim(&took(end.milliseconds));
        // A line is a line: what does not fit beside the rest is in the session log.
        let rest = described.chars().count() + took(end.milliseconds).len() + "   ✓  ·   … (cut)".chars().count();
        let room = usize::from(console::Term::stderr().size().1).saturating_sub(rest).max(SHORTEST_SUMMARY);
        let summary = visible(end.summary);
        let summary = cut(&summary, room);
        let indent = indent(end.agent);
        self.line(state, &format!("{indent}{mark} {described} · {summary} {time}"));
        if let Some(Display::Difference { unified, .. }) = end.display {
            for line in self.difference(unified) {
                self.line(state, &line);
            }
        }
    }

    /// Shows what a subagent does otherwise than the run's own agent; its calls are shown like any other.
    fn of_subagent(&self, state: &mut State, event: &Event<'_>) -> bool {
        let note = match event.kind {
            EventKind::ToolCallRequest { .. }
            | EventKind::ToolCallOutput { .. }
            | EventKind::ToolCallProgress { .. }
            | EventKind::ToolCallEnd { .. } => return false,
            EventKind::Thought { subject: Some(subject), .. } => format!("· {}", visible(subject)),
            EventKind::Retry { reason, wait_ms, attempt, attempts } => super::again(reason, wait_ms, attempt, attempts),
            EventKind::ModelSwitched { model, reason } => super::switched(model, reason),
            EventKind::ChatCompressed { status, tokens_before, tokens_after } => {
                super::compressed(status, tokens_before, tokens_after)
            }
            EventKind::LoopDetected { repeated } => super::circles(repeated),
            EventKind::RecoveryStarted { .. } => "a limit was met; it is asked for its best answer so far".to_owned(),
            EventKind::Error { message } => visible(message).into_owned(),
            EventKind::RunStarted { .. } => {
                let begins = format!("▸ {}", visible(event.agent));
                self.line(state, &begins);
                return true;
            }
            EventKind::TurnStarted { .. }
            | EventKind::Content { .. }
            | EventKind::Thought { subject: None, .. }
            | EventKind::InvalidStream { .. }
            | EventKind::Citation { .. }
            | EventKind::Finished { .. }
            | EventKind::ToolCallStart { .. }
            | EventKind::UserCancelled
            | EventKind::RunEnded { .. } => return true,
        };
        let name = visible(event.agent);
        let note = self.style.dim(&format!("{INDENT}{name} {note}"));
        self.line(state, &note);
        true
    }

    fn difference(&self, unified: &str) -> Vec<String> {
        let mut lines: Vec<String> = unified
            .lines()
            .take(DIFFERENCE_LINES)
            .map(|line| {
                let shown = visible(line);
                let painted = match line.bytes().next() {
                    Some(b'+') => self.style.paint(&shown, AnsiColor::Green),
                    Some(b'-') => self.style.paint(&shown, AnsiColor::Red),
                    Some(b'@') => self.style.paint(&shown, AnsiColor::Cyan),
                    _ => shown.into_owned(),
                };
                format!("  {painted}")
            })
            .collect();
        let left = unified.lines().count().saturating_sub(DIFFERENCE_LINES);
        if left > 0 {
            lines.push(self.style.dim(&format!("  … {left} more lines")));
        }
        lines
    }
}

struct CallEnd<'a> {
    agent: &'a AgentId,
    id: &'a CallId,
    name: &'a str,
    status: CallStatus,
    summary: &'a str,
    display: Option<&'a Display>,
    milliseconds: u64,
}

impl State {
    fn stop_waiting(&mut self) {
        if let Some(bar) = self.waiting.take() {
            bar.finish_and_clear();
        }
    }

    /// Forgets the reply that is being read, and says so in words where there was something of it.
    fn void_reply(&mut self) -> &'static str {
        match std::mem::take(&mut self.reply).is_empty() {
            true => "",
            false => "; what stands above of the reply is void",
        }
    }
}

impl Observer for Terminal {
    fn event(&self, event: &Event<'_>) {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).count(event);
        let mut guard = self.state();
        let state = &mut *guard;
        if event.agent_id.is_subagent() && self.of_subagent(state, event) {
            return;
        }
        match event.kind {
            EventKind::TurnStarted { .. } => {
                state.reply.clear();
                self.end_line(state);
                self.wait(state, "thinking");
            }
            EventKind::Thought { subject, .. } => {
                if let (Some(subject), Some(bar)) = (subject, &state.waiting) {
                    bar.set_message(self.style.dim(&visible(subject)));
                }
            }
            EventKind::Content { text } => {
                state.stop_waiting();
                state.reply.push_str(text);
                self.out.write(&visible(text));
                state.within_line = !text.ends_with('\n');
            }
            // The retry that follows says why.
            EventKind::InvalidStream { .. } => {}
            EventKind::ChatCompressed { status, tokens_before, tokens_after } => {
                let note = self.style.dim(&super::compressed(status, tokens_before, tokens_after));
                self.line(state, &note);
            }
            EventKind::ModelSwitched { model, reason } => {
                let note = format!("{}{}", super::switched(model, reason), state.void_reply());
                let note = self.style.dim(&note);
                self.line(state, &note);
            }
            EventKind::Retry { reason, wait_ms, attempt, attempts } => {
                let again = super::again(reason, wait_ms, attempt, attempts);
                let note = self.style.dim(&format!("{again}{}", state.void_reply()));
                self.line(state, &note);
            }
            EventKind::ToolCallRequest { call } => {
                state.stop_waiting();
                self.end_line(state);
                let described = describe(call);
                let bar = self.spinner(format!("{}{described}", indent(event.agent_id)));
                state.calls.insert((event.agent_id.clone(), call.id.clone()), (bar, described));
            }
            EventKind::ToolCallOutput { call_id, text, .. } => {
                if let (Some((bar, described)), Some(line)) =
                    (state.calls.get(&(event.agent_id.clone(), call_id.clone())), text.lines().last())
                {
                    let shown = cut(line, ARGUMENTS);
                    bar.set_message(format!("{described} {}", self.style.dim(&visible(&shown))));
                }
            }
            EventKind::ToolCallProgress { call_id, done, total, message, .. } => {
                if let Some((bar, described)) = state.calls.get(&(event.agent_id.clone(), call_id.clone())) {
                    let of = total.map(|total| format!("/{total}")).unwrap_or_default();
                    bar.set_message(format!(
                        "{described} {}",
                        self.style.dim(&format!("{done}{of} {}", visible(message)))
                    ));
                }
            }
            EventKind::ToolCallEnd { call_id, name, status, summary, display, duration_ms, .. } => {
                let agent = event.agent_id;
                let end = CallEnd {
                    agent,
                    id: call_id,
                    name: name.as_str(),
                    status,
                    summary,
                    display,
                    milliseconds: duration_ms,
                };
                self.call_ended(state, end);
            }
            EventKind::RecoveryStarted { .. } => {
                let note = self.style.dim("a limit was met; the model is asked for its best answer so far");
                self.line(state, &note);
            }
            EventKind::LoopDetected { repeated } => {
                state.stop_waiting();
                let void = state.void_reply();
                let note = self.style.dim(&format!("{}; the model is told{void}", super::circles(repeated)));
                self.line(state, &note);
            }
            EventKind::UserCancelled => {
                self.wait(state, "stopping; press Ctrl-C again to stop at once");
            }
            EventKind::RunEnded { .. } => {
                state.stop_waiting();
                self.end_line(state);
            }
            EventKind::RunStarted { .. }
            | EventKind::Citation { .. }
            | EventKind::Finished { .. }
            | EventKind::ToolCallStart { .. }
            | EventKind::Error { .. } => {}
        }
    }
}

impl Printer for Terminal {
    fn finish(&self, result: &RunResult, failure: Option<&Failure>) {
        let mut state = self.state();
        state.stop_waiting();
        self.end_line(&mut state);
        if let Some(answer) = &result.result
            && answer.trim() != state.reply.trim()
        {
            self.out.write(&visible(answer));
            self.out.write("\n");
        }
        if !self.out.is_gone() {
            to_stderr(&text::cut_short(result, self.style));
        }
        if let (Some(failure), false) = (failure, self.out.is_gone()) {
            // What it had is on the screen already, unless it is not.
            if result.partial.as_deref().is_some_and(|partial| partial.trim() != state.reply.trim()) {
                to_stderr(&text::partial(result));
            }
            to_stderr(&words(failure, self.style));
        }
        if !self.out.is_gone() {
            let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            let statistics = tally.statistics(result);
            let said = if self.stats { statistics.table() } else { format!("{}\n", statistics.line()) };
            to_stderr(&self.style.dim(&said));
        }
    }
}

/// What stands before a line about this agent.
fn indent(agent: &AgentId) -> &'static str {
    if agent.is_subagent() { INDENT } else { "" }
}

/// A call in a few words: its name, and the texts among its arguments.
fn describe(call: &FunctionCall) -> String {
    let mut words = String::new();
    for value in call.arguments.values() {
        if let Some(text) = value.as_str().or_else(|| value.as_array()?.first()?.as_str()) {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(text.lines().next().unwrap_or_default());
        }
    }
    let name = cut(call.name.as_str(), ARGUMENTS);
    let described = format!("{} {}", visible(&name), visible(&cut(&words, ARGUMENTS)));
    described.trim_end().to_owned()
}

fn took(milliseconds: u64) -> String {
    if milliseconds < 1000 {
        format!("({milliseconds} ms)")
    } else {
        format!("({:.1} s)", milliseconds as f64 / 1000.0)
    }
}
