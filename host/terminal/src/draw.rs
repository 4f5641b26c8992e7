//! Draws the terminal: text that stays, and the rows below it.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use host_text::visible_line;

use super::hint::Hint;
use super::menu::MENU_ROWS;
use super::screen::Live;
use super::state::{End, Holder, Panel, State, Turn};
use super::status::time;
use super::values::{Focus, Sent, When};
use super::width::{truncate_to_width, width};
use super::wrap::{wrap, wrapped_lines};
use super::{Activity, Chosen, Keyboard, Shared, TerminalMode, Voice, raw};

/// The frames of the spinner.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The shortest time between two drawings of a text that comes: 60 in a second look smooth, and more cost as much as
/// the rest of a run.
pub(super) const TEXT_FRAME: Duration = Duration::from_millis(16);

/// The key that stops a turn, behind its activity.
const STOPS: &str = "Ctrl-C to stop";

/// The fewest columns on which the key is shown: words matter more.
const ROOM_FOR_KEY: usize = 40;

/// How long an activity must take before its time is shown.
const LONG: Duration = Duration::from_secs(2);

/// The most rows for the choices of a question.
const QUESTION_ROWS: usize = 21;

/// The most rows for the text that is being written.
const WRITTEN_ROWS: usize = 10;

/// The most queued prompts that are shown.
const QUEUED_ROWS: usize = 3;

/// Whether a Ctrl-C stops the model's turn, and not yet does.
fn can_stop(state: &State) -> bool {
    matches!(&state.conversation.turn, Turn::Model { stop, .. } if !stop.is_cancelled())
}

impl Shared {
    /// Shows text that stays.
    pub(super) fn show(&self, state: &mut State, text: &str) {
        state.output.held.text.push_str(text);
        if state.holds_back() {
            // Nothing on the screen changes, and drawing the question again for each line of a flood would take long.
            return state.output.held.leave_out();
        }
        self.redraw(state);
    }

    /// Sets what goes on now.
    pub(super) fn goes_on(&self, state: &mut State, activity: Vec<Activity>) {
        let begins = state.output.activities.shown.is_empty() && !activity.is_empty();
        state.output.activities.shown = activity;
        if begins {
            // So that the spinner moves.
            self.wake();
        }
    }

    /// Adds an activity besides those that the caller sets; returns its number.
    pub(super) fn begins_besides(&self, state: &mut State, words: &str) -> u64 {
        let words = self.setup.style.dim(&visible_line(words));
        if self.setup.mode == TerminalMode::Dumb {
            // Nothing is drawn in place there.
            self.lines(state, &words);
        }
        let id = state.output.activities.begin(words);
        self.redraw(state);
        self.wake();
        id
    }

    /// Ends one of those.
    pub(super) fn ends_besides(&self, state: &mut State, id: u64) {
        state.output.activities.besides.retain(|(known, _)| *known != id);
        self.redraw(state);
    }

    /// Shows a piece of what the model says. The rows that it finishes, and those that may still change, are drawn at
    /// once, or soon if they were drawn a moment ago.
    pub(super) fn says(&self, state: &mut State, piece: &str, voice: Voice) {
        let columns = state.output.screen.columns();
        state.output.speech.push(piece, voice, columns);
        if self.setup.mode == TerminalMode::Dumb || state.output.drawn.elapsed() >= TEXT_FRAME {
            self.redraw(state);
        } else if !std::mem::replace(&mut state.output.changed, true) {
            self.wake();
        }
    }

    /// Ends what the model says: its last rows change no more.
    pub(super) fn end_speech(&self, state: &mut State) {
        let columns = state.output.screen.columns();
        state.output.speech.end(columns);
        let finished = state.output.speech.take_finished();
        state.output.held.text.push_str(&finished);
    }

    /// Shows whole lines.
    pub(super) fn lines(&self, state: &mut State, text: &str) {
        self.end_speech(state);
        let wrapped = match self.setup.mode {
            TerminalMode::Ansi => wrapped_lines(text, state.output.screen.columns()),
            TerminalMode::Dumb => text.to_owned(),
        };
        let text = wrapped.as_str();
        let is_within_line = match state.output.held.text.is_empty() {
            true => self.is_within_line(state),
            // Colours that end are not text.
            false => match super::width(state.output.held.text.rsplit('\n').next().unwrap_or_default()) {
                0 => !state.output.held.text.contains('\n') && self.is_within_line(state),
                _ => true,
            },
        };
        let begin = if is_within_line { "\n" } else { "" };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        self.show(state, &format!("{begin}{text}{end}"));
    }

    /// Whether the last line that was shown is unfinished.
    pub(super) fn is_within_line(&self, state: &State) -> bool {
        match self.setup.mode {
            TerminalMode::Ansi => state.output.screen.is_within_line(),
            TerminalMode::Dumb => state.output.dumb_within_line,
        }
    }

    /// Draws everything again.
    pub(super) fn redraw(&self, state: &mut State) {
        let finished = state.output.speech.take_finished();
        state.output.held.text.push_str(&finished);
        let text = match state.holds_back() {
            true => {
                state.output.held.leave_out();
                String::new()
            }
            false => state.output.held.take(),
        };
        (state.output.drawn, state.output.changed) = (Instant::now(), false);
        self.draw(state, &text);
    }

    pub(super) fn draw(&self, state: &mut State, text: &str) {
        // The terminal is the shell's again: drawing now would write into its prompt.
        if state.conversation.end == End::Closed {
            return;
        }
        if state.output.holder == Holder::Other {
            // Another program has the terminal; what comes meanwhile is shown behind it.
            state.output.held.text.push_str(text);
            return state.output.held.leave_out();
        }
        let out = match self.setup.mode {
            TerminalMode::Dumb => {
                if !text.is_empty() {
                    state.output.dumb_within_line = !text.ends_with('\n');
                }
                text.to_owned()
            }
            TerminalMode::Ansi => {
                // The signal that there is a new size can come after the next frame, whose rows would be too long.
                state.output.screen.measured(raw::size());
                let live = self.live(state);
                self.new_title(state) + &state.output.screen.draw(text, &live)
            }
        };
        self.write(state, &out);
    }

    /// Writes to the terminal. If that fails, the terminal is gone and the work is stopped.
    pub(super) fn write(&self, state: &mut State, text: &str) {
        if state.conversation.end == End::Gone || text.is_empty() {
            return;
        }
        let mut stdout = io::stdout().lock();
        if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
            self.gone(state);
        }
    }

    /// Leaves the terminal to another program.
    pub(super) fn lend(&self) {
        let mut state = self.state();
        if self.setup.mode == TerminalMode::Ansi {
            let out = state.output.screen.leave();
            self.write(&mut state, &out);
            raw::restore();
        }
        state.output.holder = Holder::Other;
        drop(state);
        self.wake();
    }

    /// Takes the terminal back when the other program is done.
    pub(super) fn take_back(&self) {
        let mut state = self.state();
        state.output.holder = Holder::Us(Some(Instant::now()));
        self.begin_again(&mut state);
        let reads = self.setup.keyboard == Keyboard::Always || !state.questions.open.is_empty();
        if reads && self.setup.mode == TerminalMode::Ansi && state.conversation.end == End::NotYet {
            raw::enter().ok();
        }
        // One that came meanwhile has not been shown.
        self.next_question(&mut state);
        self.redraw(&mut state);
        drop(state);
        self.wake();
    }

    /// Handles a terminal that is gone.
    pub(super) fn gone(&self, state: &mut State) {
        if state.conversation.end == End::NotYet || state.conversation.end == End::Left {
            state.conversation.end = End::Gone;
        }
        state.questions.end(Chosen::Nobody);
        self.setup.interrupt.stop.cancel();
        self.said.notify_one();
    }

    /// Handles a new size of the terminal.
    pub(super) fn resized(&self) {
        let mut state = self.state();
        let (columns, rows) = raw::size();
        state.output.screen.resized(columns, rows);
        // The signal may be that the process continues.
        state.output.title = None;
        self.redraw(&mut state);
    }

    /// Forgets what another program may have changed while it had the terminal.
    pub(super) fn begin_again(&self, state: &mut State) {
        (state.output.title, state.conversation.focus) = (None, Focus::Unknown);
    }

    /// Ends the use of the terminal.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.questions.end(Chosen::Nobody);
        state.output.activities.clear();
        self.end_speech(&mut state);
        let held = state.output.held.take();
        if self.setup.mode == TerminalMode::Ansi {
            // The text that is being written does not stay.
            state.conversation.turn = Turn::Between;
            state.input.editor.clear();
            self.draw(&mut state, &held);
            let out = state.output.screen.leave();
            self.write(&mut state, &out);
        } else {
            self.write(&mut state, &held);
        }
        state.conversation.end = End::Closed;
        drop(state);
        self.wake();
    }

    /// Returns the rows below the text.
    fn live(&self, state: &State) -> Live {
        let (columns, rows) = (state.output.screen.columns(), state.output.screen.rows());
        let writes = self.setup.keyboard == Keyboard::Always && state.conversation.end == End::NotYet;
        let mut below = match state.questions.shown() {
            Some(open) => {
                let mut live = open.look(self.setup.style, columns, rows.saturating_sub(1).min(QUESTION_ROWS));
                if writes && !state.input.editor.is_empty() {
                    live.rows.extend(state.input.editor.look(&state.input.label, columns, 1).rows);
                }
                live
            }
            None if writes => self.writing(state),
            None => Live::default(),
        };
        // One row less than the terminal has: a full screen would scroll with each frame.
        let left = rows.saturating_sub(below.rows.len() + 1);
        let is_asking = state.questions.shown().is_some();
        // Nothing that a model writes may stand between a question and its choices.
        let mut above = if is_asking { Vec::new() } else { state.output.speech.unfinished(columns) };
        // While the user is asked, the work waits for them, and nothing is drawn between a question and its choices.
        let besides = state.output.activities.besides.iter().map(|(_, activity)| activity);
        let activities: Vec<&Activity> = besides.chain(&state.output.activities.shown).filter(|_| !is_asking).collect();
        for (number, activity) in activities.iter().enumerate() {
            let is_last = number + 1 == activities.len();
            above.push(self.spinning(activity, state.output.activities.frame, columns, is_last && can_stop(state)));
            above.extend(activity.below.iter().map(|line| self.setup.style.dim(&format!("    {line}"))));
        }
        above.extend(self.queued(&state.input.queued));
        // The last rows matter most.
        above.drain(..above.len().saturating_sub(left));
        if let Some((row, _)) = &mut below.cursor {
            *row += above.len();
        }
        above.append(&mut below.rows);
        Live { rows: above, cursor: below.cursor }
    }

    /// Draws the text that is being written, and what belongs to it.
    fn writing(&self, state: &State) -> Live {
        let (columns, rows) = (state.output.screen.columns(), state.output.screen.rows());
        let style = self.setup.style;
        if let Panel::Search(search) = &state.input.panel {
            let label = "search › ";
            let query = format!("{label}{}", visible_line(&search.query));
            let column = width(&query).min(columns.saturating_sub(1));
            let mut live = Live { rows: vec![query], cursor: Some((0, column)) };
            let room = MENU_ROWS.min(rows.saturating_sub(3));
            live.rows.extend(match &search.menu {
                Some(menu) => menu.look(style, columns, room),
                None => vec![style.dim("  no earlier prompt has these words")],
            });
            live.rows.extend(self.hint("Enter to edit it · Ctrl-R or ↓ for an earlier one · Esc to cancel", columns));
            return live;
        }
        // At most half of the screen, so that what the text is about stays visible.
        let mut live = state.input.editor.look(&self.label(state), columns, WRITTEN_ROWS.min(rows / 2));
        let room = rows.saturating_sub(live.rows.len() + 1);
        match &state.input.panel {
            Panel::Keys => {
                live.rows.extend(super::bindings::look(style, columns, room));
                return live;
            }
            Panel::Menu(menu) => live.rows.extend(menu.look(style, columns, room.min(MENU_ROWS))),
            Panel::Nothing | Panel::Search(_) => {}
        }
        let special = self.setup.assist.special.filter(|(special, _)| state.input.editor.text().starts_with(*special));
        let hint = state.input.hint.as_ref().map(Hint::words).or(special.map(|(_, words)| words));
        live.rows.extend(hint.into_iter().flat_map(|hint| self.hint(hint, columns)).take((rows / 3).max(1)));
        if let Some(takes_commands) = state.input.editor.takes_commands() {
            live.rows.push(style.dim(if takes_commands { "-- NORMAL --" } else { "-- INSERT --" }));
        }
        // A hint takes its place, so that the rows do not jump.
        if hint.is_none() && state.input.menu().is_none() {
            live.rows.extend(super::status::look(state).map(|row| style.dim(&row)));
        }
        live
    }

    /// Breaks a hint into rows, at its blanks.
    fn hint(&self, hint: &str, columns: usize) -> Vec<String> {
        wrap(&visible_line(hint), columns.saturating_sub(1)).iter().map(|row| self.setup.style.dim(row)).collect()
    }

    fn label(&self, state: &State) -> String {
        match state.conversation.turn {
            Turn::User => self.setup.style.bold(&state.input.label),
            Turn::Between | Turn::Model { .. } => self.setup.style.dim(&state.input.label),
        }
    }

    /// Draws an activity, with the key that stops it if `can_stop`.
    fn spinning(&self, activity: &Activity, frame: usize, columns: usize, can_stop: bool) -> String {
        let frame = FRAMES.get(frame % FRAMES.len()).copied().unwrap_or_default();
        let frame = self.setup.style.paint(frame, anstyle::AnsiColor::Cyan);
        let left = activity.wait.as_ref().map(|wait| (wait, wait.until.saturating_duration_since(Instant::now())));
        let (words, elapsed) = match left {
            Some((wait, left)) if !left.is_zero() => {
                // It ends at 1 s and not at 0 s.
                let left = time(Duration::from_secs(left.as_secs() + 1));
                (self.setup.style.dim(&format!("waiting {left} {}", wait.words)), None)
            }
            Some(_) | None => {
                let elapsed = activity.since.map(|since| since.elapsed()).filter(|elapsed| *elapsed >= LONG);
                (activity.words.clone(), elapsed.map(time))
            }
        };
        let key = (can_stop && columns >= ROOM_FOR_KEY).then(|| STOPS.to_owned());
        let behind: Vec<String> = elapsed.into_iter().chain(key).collect();
        let behind = if behind.is_empty() { String::new() } else { format!(" ({})", behind.join(" · ")) };
        let room = columns.saturating_sub(width(&behind) + 3);
        format!("{frame} {}{}", truncate_to_width(&words, room), self.setup.style.dim(&behind))
    }

    fn queued(&self, queued: &VecDeque<Sent>) -> Vec<String> {
        let first = |sent: &Sent| {
            let text = sent.draft.shown();
            let line = text.lines().next().unwrap_or_default();
            let label = match sent.when {
                When::NextTurn => "next turn",
                When::Done => "queued",
            };
            self.setup.style.dim(&format!("{label} › {}", visible_line(line)))
        };
        let mut rows: Vec<String> = queued.iter().take(QUEUED_ROWS).map(first).collect();
        if queued.len() > QUEUED_ROWS {
            rows.push(self.setup.style.dim(&format!("… and {} more", queued.len() - QUEUED_ROWS)));
        }
        rows
    }

    /// Advances the time: moves the spinner.
    pub(super) fn tick(&self) {
        let mut state = self.state();
        state.output.activities.frame = state.output.activities.frame.wrapping_add(1);
        self.redraw(&mut state);
    }
}
