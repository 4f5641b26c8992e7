//! A terminal: the answer as it arrives, a line for each call, and the current activity drawn below. The thoughts and
//! calls of a subagent are indented under a line with its name; its text is for its parent, and not shown.

mod calls;
pub(crate) mod checklist;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use host_agent::{Event, EventKind, Observer, RunResult};
use host_journal::Fact;
use host_message::AgentId;
use host_sessions::report::answer_line::AnswerLine;
use host_sessions::report::run_stats::RunStats;
use host_sessions::report::{About, Report, notices};
use host_settings::error::Failure;
use host_terminal::{self as terminal, Activity, Answers, Keyboard, TerminalMode, Voice, Wait};
use host_text::{exact, visible, visible_line};

use self::calls::{Calls, Ended, INDENT, Layout};
use super::{Style, text};
use crate::exit::words;

/// Shows runs on a terminal.
pub(crate) struct Terminal {
    terminal: terminal::Terminal,
    style: Style,
    /// The statistics that are printed at the end.
    stats: Stats,
    run_stats: Mutex<RunStats>,
    state: Mutex<State>,
}

struct State {
    /// The reason for waiting, while nothing else is under way.
    waiting: Option<Waiting>,
    calls: Calls,
    /// The reason of the last retry, which was noted.
    noted_retry: Option<String>,
    /// The text of the current reply so far.
    reply: String,
    thoughts: Thoughts,
    answer_line: AnswerLine,
    /// Whether a piece of a thought was shown last.
    thinks: bool,
}

/// What the user waits for.
struct Waiting {
    words: String,
    since: Instant,
    wait: Option<Wait>,
}

/// The statistics that are printed at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stats {
    /// What lies behind an answer, as in a conversation.
    Answer,
    Line,
    Table,
}

/// The part of the model's thoughts that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thoughts {
    /// Their subjects.
    Subjects,
    /// All of them.
    Whole,
}

impl Terminal {
    pub(crate) fn new(terminal: terminal::Terminal, style: Style, about: About, stats: Stats) -> Self {
        let state = State {
            waiting: None,
            calls: Calls::default(),
            noted_retry: None,
            reply: String::new(),
            thoughts: Thoughts::Subjects,
            answer_line: AnswerLine::default(),
            thinks: false,
        };
        let run_stats = Mutex::new(RunStats::new(about.run_clock));
        Self { terminal, style, stats, run_stats, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches between subjects and whole thoughts; returns the new setting.
    pub(crate) fn toggle_thoughts(&self) -> Thoughts {
        let mut state = self.state();
        state.thoughts = match state.thoughts {
            Thoughts::Subjects => Thoughts::Whole,
            Thoughts::Whole => Thoughts::Subjects,
        };
        state.thoughts
    }

    /// Switches between rendered answers and their source; returns the new setting.
    pub(crate) fn toggle_answers(&self) -> Answers {
        self.terminal.set_answers(match self.terminal.answers() {
            Answers::Rendered => Answers::Source,
            Answers::Source => Answers::Rendered,
        })
    }

    /// Shows an answer that was given before.
    pub(crate) fn replay(&self, answer: &str) {
        let mut state = self.state();
        self.terminal.say(answer, Voice::Answer, self.activity(&state));
        self.lines(&mut state, "");
    }

    /// Shows that the user waits for something other than a run.
    pub(crate) fn waits_for(&self, words: &str) {
        let mut state = self.state();
        state.wait(words);
        self.update(&state);
    }

    /// Ends that.
    pub(crate) fn waits_no_more(&self) {
        let mut state = self.state();
        state.waiting = None;
        self.update(&state);
    }

    fn activity(&self, state: &State) -> Vec<Activity> {
        let waiting = state.waiting.as_ref().filter(|_| state.calls.is_empty());
        let mut activity = state.calls.activity(self.style);
        activity.extend(waiting.map(|Waiting { words, since, wait }| Activity {
            words: self.style.dim(words),
            since: Some(*since),
            wait: wait.clone(),
            below: Vec::new(),
        }));
        activity
    }

    /// How the lines of a call are laid out now.
    fn layout(&self) -> Layout {
        let expand = match (self.terminal.keyboard(), self.terminal.mode()) {
            (Keyboard::Always, TerminalMode::Ansi) => "Ctrl-O",
            (Keyboard::Always, TerminalMode::Dumb) => "/output",
            (Keyboard::Never | Keyboard::WhenAsked, _) => "",
        };
        Layout { style: self.style, columns: self.terminal.columns(), expand }
    }

    /// Draws the current activity.
    fn update(&self, state: &State) {
        self.terminal.show_with("", self.activity(state));
    }

    /// Shows whole lines that stay.
    fn lines(&self, state: &mut State, lines: &str) {
        state.thinks = false;
        self.terminal.lines_with(lines, self.activity(state));
    }

    fn note(&self, state: &mut State, note: &str) {
        let note = self.style.dim(note);
        self.lines(state, &note);
    }

    /// Shows what a subagent does otherwise than the run's own agent; its calls are shown like any other.
    fn of_subagent(&self, state: &mut State, event: &Event<'_>) -> bool {
        let note = match event.kind {
            EventKind::ToolCallRequest { .. }
            | EventKind::Fact(Fact::CallStarted { .. } | Fact::CallSettled { .. })
            | EventKind::ToolCallOutput { .. }
            | EventKind::ToolCallProgress { .. } => return false,
            EventKind::Thought { subject: Some(subject), .. } => format!("· {}", visible_line(subject)),
            EventKind::Retry { reason, wait_ms, attempt, attempts } => {
                notices::again(reason, wait_ms, attempt, attempts)
            }
            EventKind::ModelSwitched { model, reason } => notices::switched(model, reason),
            EventKind::ChatCompressed { status, tokens_before, tokens_after, reason } => {
                notices::compressed(status, tokens_before, tokens_after, reason)
            }
            EventKind::LoopDetected { repeated } => notices::repetition(repeated),
            EventKind::HookWaiting { event, hook } => notices::hook_waiting(event, hook),
            EventKind::Checking { command } => notices::checking(command),
            EventKind::Fact(Fact::RecoveryStarted { .. }) => "limit reached; asking it to wrap up".to_owned(),
            EventKind::Fact(Fact::Error { message, .. }) => visible(message).into_owned(),
            EventKind::Fact(other) => match notices::fact(other) {
                Some(note) => note,
                None => return true,
            },
            EventKind::RunRequested { .. } => {
                let begins = format!("▸ {}", exact(event.agent));
                self.lines(state, &begins);
                return true;
            }
            EventKind::TurnStarted { .. }
            | EventKind::Content { .. }
            | EventKind::ToolCallForming { .. }
            | EventKind::Thought { subject: None, .. }
            | EventKind::Citation { .. }
            | EventKind::Finished { .. }
            | EventKind::ToolCallConfirmation { .. }
            | EventKind::UserCancelled
            | EventKind::Asked { .. } => return true,
        };
        let name = exact(event.agent);
        self.note(state, &format!("{INDENT}{name} {note}"));
        true
    }

    fn fact(&self, state: &mut State, agent: &AgentId, fact: &Fact) {
        match fact {
            Fact::CallStarted { call_id, title, .. } => {
                state.calls.starts(agent, call_id, title);
                self.update(state);
            }
            Fact::CallSettled { call_id, end, .. } => {
                let ended = Ended { agent, id: call_id, name: end.tool(), end };
                let lines = state.calls.ended(&ended, self.layout());
                self.lines(state, &lines);
            }
            Fact::RecoveryStarted { .. } => {
                // The earlier text is not part of the answer that follows.
                state.reply.clear();
                self.note(state, "limit reached; asking the model to wrap up");
            }
            Fact::HookEnded { .. } | Fact::CheckEnded { .. } => {
                state.waiting = None;
                match notices::fact(fact) {
                    Some(note) => self.note(state, &note),
                    None => self.update(state),
                }
            }
            Fact::RunEnded { .. } => {
                state.waiting = None;
                state.calls.clear();
                self.lines(state, "");
            }
            other => {
                if let Some(note) = notices::fact(other) {
                    self.note(state, &note);
                }
            }
        }
    }

    fn thought(&self, state: &mut State, subject: Option<&str>, text: &str) {
        if let (Some(subject), Some(Waiting { words, .. })) = (subject, &mut state.waiting) {
            *words = visible_line(subject).into_owned();
        }
        match state.thoughts {
            Thoughts::Whole => {
                if !std::mem::replace(&mut state.thinks, true) {
                    self.terminal.lines("");
                }
                self.terminal.say(text, Voice::Thought, self.activity(state));
            }
            Thoughts::Subjects => self.update(state),
        }
    }

    /// Shows that a request is sent again, and counts down to it.
    fn retry(&self, state: &mut State, reason: &str, wait_ms: u64, attempt: u32, attempts: u32) {
        let discarded = state.void_reply();
        state.wait_to_retry(wait_ms, &format!("(attempt {attempt} of {attempts}): {}", visible_line(reason)));
        let was_noted = state.noted_retry.replace(reason.to_owned()).as_deref() == Some(reason);
        // The note stays, and the row below it counts down: a reason that was noted just before is not noted again.
        let has_a_row = self.terminal.mode() == TerminalMode::Ansi;
        if has_a_row && attempt > 2 && discarded.is_empty() && was_noted {
            self.update(state);
        } else {
            self.note(state, &format!("{}{discarded}", notices::again(reason, wait_ms, attempt, attempts)));
        }
    }

    fn content(&self, state: &mut State, text: &str) {
        // The text itself shows activity, until it stops for a while.
        state.wait("writing");
        if std::mem::take(&mut state.thinks) {
            self.terminal.lines("");
        }
        state.reply.push_str(text);
        self.terminal.say(text, Voice::Answer, self.activity(state));
    }
}

/// Returns the words about a call that the model still writes.
fn forming(name: &str, title: &str, lines: u64) -> String {
    let what = match title {
        "" => format!("a call of {}", visible_line(name)),
        title => visible_line(title).into_owned(),
    };
    let lines = if lines > 0 { format!(" · {lines} lines") } else { String::new() };
    format!("writing {what}{lines}")
}

impl State {
    fn wait(&mut self, words: &str) {
        self.waiting = Some(Waiting { words: words.to_owned(), since: Instant::now(), wait: None });
    }

    /// Waits for a call that the model still writes.
    fn wait_for_call(&mut self, name: &str, title: &str, lines: u64) {
        let words = forming(name, title, lines);
        match &mut self.waiting {
            // The time is that of the whole call.
            Some(waiting) if lines > 0 || !title.is_empty() => waiting.words = words,
            _ => self.wait(&words),
        }
    }

    /// Waits for another request, which is sent after this time.
    fn wait_to_retry(&mut self, milliseconds: u64, words: &str) {
        let now = Instant::now();
        let until = now.checked_add(Duration::from_millis(milliseconds)).unwrap_or(now);
        let wait = Wait { until, words: format!("before retry {words}") };
        self.waiting = Some(Waiting { words: format!("retrying {words}"), since: until, wait: Some(wait) });
    }

    /// Forgets the reply that is being read, and says so in words where there was something of it.
    fn void_reply(&mut self) -> &'static str {
        match std::mem::take(&mut self.reply).is_empty() {
            true => "",
            false => "; the partial reply above was discarded",
        }
    }
}

impl Observer for Terminal {
    fn event(&self, event: &Event<'_>) {
        self.run_stats.lock().unwrap_or_else(PoisonError::into_inner).count(event);
        let mut guard = self.state();
        let state = &mut *guard;
        state.answer_line.count(event);
        if event.agent_id.is_subagent() && self.of_subagent(state, event) {
            return;
        }
        match event.kind {
            EventKind::TurnStarted { .. } => {
                state.reply.clear();
                state.wait("thinking");
                self.lines(state, "");
            }
            EventKind::Thought { subject, text } => self.thought(state, subject, text),
            EventKind::Content { text } => self.content(state, text),
            EventKind::ToolCallForming { name, title, lines } => {
                state.wait_for_call(name, title, lines);
                self.update(state);
            }
            EventKind::ChatCompressed { status, tokens_before, tokens_after, reason } => {
                self.note(state, &notices::compressed(status, tokens_before, tokens_after, reason));
            }
            EventKind::ModelSwitched { model, reason } => {
                let note = format!("{}{}", notices::switched(model, reason), state.void_reply());
                self.note(state, &note);
            }
            EventKind::Retry { reason, wait_ms, attempt, attempts } => {
                self.retry(state, reason, wait_ms, attempt, attempts);
            }
            EventKind::ToolCallRequest { call, parent, title } => {
                state.waiting = None;
                state.calls.begin(event.agent_id, call, parent, title);
                self.lines(state, "");
            }
            EventKind::ToolCallOutput { call_id, text, .. } => {
                if state.calls.prints(event.agent_id, call_id, text) {
                    self.update(state);
                }
            }
            EventKind::ToolCallProgress { call_id, done, total, message, .. } => {
                let of = total.map(|total| format!("/{total}")).unwrap_or_default();
                let words = format!("{done}{of} {}", visible_line(message));
                if state.calls.progresses(event.agent_id, call_id, words) {
                    self.update(state);
                }
            }
            EventKind::Finished { .. } => {
                state.waiting = None;
                self.update(state);
            }
            EventKind::HookWaiting { event, hook } => {
                state.wait(&notices::hook_waiting(event, hook));
                self.update(state);
            }
            EventKind::Checking { command } => {
                state.wait(&notices::checking(command));
                self.update(state);
            }
            EventKind::LoopDetected { repeated } => {
                state.waiting = None;
                let void = state.void_reply();
                self.note(state, &format!("{}; asking it to try another way{void}", notices::repetition(repeated)));
            }
            EventKind::Fact(fact) => self.fact(state, event.agent_id, fact),
            EventKind::UserCancelled
            | EventKind::RunRequested { .. }
            | EventKind::Asked { .. }
            | EventKind::Citation { .. }
            | EventKind::ToolCallConfirmation { .. } => {}
        }
    }
}

impl Report for Terminal {
    fn finish(&self, result: &RunResult, failure: Option<&Failure>) {
        let mut state = self.state();
        state.waiting = None;
        state.calls.clear();
        if let Some(answer) = result.result.as_deref().or(result.best_answer())
            && answer.trim() != state.reply.trim()
        {
            self.terminal.say(answer, Voice::Answer, self.activity(&state));
            self.lines(&mut state, "");
        }
        let mut lines = text::cut_short(result, self.style);
        if let Some(failure) = failure {
            // Its text is usually on the screen already.
            if result.partial.as_ref().is_some_and(|partial| partial.text().trim() != state.reply.trim()) {
                lines.push_str(&text::partial(result));
            }
            lines.push_str(&words(failure, self.style));
        }
        let run_stats = self.run_stats.lock().unwrap_or_else(PoisonError::into_inner);
        let statistics = run_stats.statistics(result);
        let words = state.answer_line.end(result, &jiff::Zoned::now());
        match self.stats {
            Stats::Answer if result.result.is_some() && failure.is_none() => {
                let line =
                    terminal::truncate_to_width(&words, self.terminal.columns().saturating_sub(INDENT.len() + 1));
                lines.push_str(&format!("\n{INDENT}{}\n", self.style.dim(&line)));
            }
            Stats::Answer => {}
            Stats::Line => lines.push_str(&self.style.dim(&format!("{}\n", statistics.line()))),
            Stats::Table => lines.push_str(&self.style.dim(&statistics.table())),
        }
        self.lines(&mut state, &lines);
    }
}
