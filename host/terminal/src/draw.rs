//! Draws the terminal: text that stays, and the rows below it.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use host_text::{counted, visible_line};
use tokio::sync::oneshot;

use super::attention::Focus;
use super::hint::Hint;
use super::menu::MENU_ROWS;
use super::question::{Answered, Line, Listening, Open};
use super::screen::Live;
use super::sent::{Sent, When};
use super::status::time;
use super::width::{truncate_to_width, width};
use super::wrap::{wrap, wrapped_lines};
use super::{Activity, Chosen, End, Keyboard, Question, Shared, State, TerminalMode, Turn, Voice, raw};

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

/// The most text that is held back until a question is answered, in bytes. Protects memory. Any more is left out, and
/// counted: shown at once it would stand between the words of the question and its choices.
const MAX_HELD: usize = 256 << 10;

/// The most rows for the choices of a question.
const QUESTION_ROWS: usize = 21;

/// The most rows for the text that is being written.
const WRITTEN_ROWS: usize = 10;

/// The most queued prompts that are shown.
const QUEUED_ROWS: usize = 3;

/// Whether a Ctrl-C stops the model's turn, and not yet does.
fn can_stop(state: &State) -> bool {
    matches!(&state.turn, Turn::Model(Some(turn)) if !turn.is_cancelled())
}

/// Whether text is held back: a question is open, or another program has the terminal.
fn holds_back(state: &State) -> bool {
    state.lent || state.questions.front().is_some_and(|open| open.state != Listening::Waits)
}

/// Shortens the text that is held back to what may be held.
fn leave_out(state: &mut State) {
    if state.held.len() <= MAX_HELD {
        return;
    }
    let most = state.held.floor_char_boundary(MAX_HELD);
    // Whole lines, so that no colour is cut in two.
    let kept = state.held[..most].rfind('\n').map_or(0, |end| end + 1);
    state.left_out += state.held[kept..].matches('\n').count().max(1);
    state.held.truncate(kept);
}

/// Takes the text that was held back, with a line about what was left out.
fn take_held(state: &mut State) -> String {
    let mut held = std::mem::take(&mut state.held);
    let left_out = std::mem::take(&mut state.left_out);
    if left_out > 0 {
        held.push_str(&format!("… {} left out while a question was open\n", counted(left_out, "line")));
    }
    held
}

impl Shared {
    /// Shows text that stays.
    pub(super) fn show(&self, state: &mut State, text: &str) {
        state.held.push_str(text);
        if holds_back(state) {
            // Nothing on the screen changes, and drawing the question again for each line of a flood would take long.
            return leave_out(state);
        }
        self.redraw(state);
    }

    /// Sets what goes on now.
    pub(super) fn goes_on(&self, state: &mut State, activity: Vec<Activity>) {
        let begins = state.activity.is_empty() && !activity.is_empty();
        state.activity = activity;
        if begins {
            // So that the spinner moves.
            self.wake();
        }
    }

    /// Adds an activity besides those that the caller sets; returns its number.
    pub(super) fn begins_besides(&self, state: &mut State, words: &str) -> u64 {
        let id = state.next_busy;
        state.next_busy += 1;
        let words = self.setup.style.dim(&visible_line(words));
        if self.setup.mode == TerminalMode::Dumb {
            // Nothing is drawn in place there.
            self.lines(state, &words);
        }
        state.besides.push((id, Activity { words, since: Some(Instant::now()), wait: None, below: Vec::new() }));
        self.redraw(state);
        self.wake();
        id
    }

    /// Ends one of those.
    pub(super) fn ends_besides(&self, state: &mut State, id: u64) {
        state.besides.retain(|(known, _)| *known != id);
        self.redraw(state);
    }

    /// Shows a piece of what the model says. The rows that it finishes, and those that may still change, are drawn at
    /// once, or soon if they were drawn a moment ago.
    pub(super) fn says(&self, state: &mut State, piece: &str, voice: Voice) {
        let columns = state.screen.columns();
        state.speech.push(piece, voice, columns);
        if self.setup.mode == TerminalMode::Dumb || state.drawn.elapsed() >= TEXT_FRAME {
            self.redraw(state);
        } else if !std::mem::replace(&mut state.changed, true) {
            self.wake();
        }
    }

    /// Ends what the model says: its last rows change no more.
    pub(super) fn end_speech(&self, state: &mut State) {
        let columns = state.screen.columns();
        state.speech.end(columns);
        let finished = state.speech.take_finished();
        state.held.push_str(&finished);
    }

    /// Shows whole lines.
    pub(super) fn lines(&self, state: &mut State, text: &str) {
        self.end_speech(state);
        let wrapped = match self.setup.mode {
            TerminalMode::Ansi => wrapped_lines(text, state.screen.columns()),
            TerminalMode::Dumb => text.to_owned(),
        };
        let text = wrapped.as_str();
        let is_within_line = match state.held.is_empty() {
            true => self.is_within_line(state),
            // Colours that end are not text.
            false => match super::width(state.held.rsplit('\n').next().unwrap_or_default()) {
                0 => !state.held.contains('\n') && self.is_within_line(state),
                _ => true,
            },
        };
        let begin = if is_within_line { "\n" } else { "" };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        self.show(state, &format!("{begin}{text}{end}"));
    }

    /// Whether the last line that was shown is unfinished.
    fn is_within_line(&self, state: &State) -> bool {
        match self.setup.mode {
            TerminalMode::Ansi => state.screen.is_within_line(),
            TerminalMode::Dumb => state.dumb_within_line,
        }
    }

    /// Draws everything again.
    pub(super) fn redraw(&self, state: &mut State) {
        let finished = state.speech.take_finished();
        state.held.push_str(&finished);
        let text = match holds_back(state) {
            true => {
                leave_out(state);
                String::new()
            }
            false => take_held(state),
        };
        (state.drawn, state.changed) = (Instant::now(), false);
        self.draw(state, &text);
    }

    fn draw(&self, state: &mut State, text: &str) {
        // The terminal is the shell's again: drawing now would write into its prompt.
        if state.end == End::Closed {
            return;
        }
        if state.lent {
            // Another program has the terminal; what comes meanwhile is shown behind it.
            state.held.push_str(text);
            return leave_out(state);
        }
        let out = match self.setup.mode {
            TerminalMode::Dumb => {
                if !text.is_empty() {
                    state.dumb_within_line = !text.ends_with('\n');
                }
                text.to_owned()
            }
            TerminalMode::Ansi => {
                // The signal that there is a new size can come after the next frame, whose rows would be too long.
                state.screen.measured(raw::size());
                let live = self.live(state);
                self.new_title(state) + &state.screen.draw(text, &live)
            }
        };
        self.write(state, &out);
    }

    /// Writes to the terminal. If that fails, the terminal is gone and the work is stopped.
    pub(super) fn write(&self, state: &mut State, text: &str) {
        if state.end == End::Gone || text.is_empty() {
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
            let out = state.screen.leave();
            self.write(&mut state, &out);
            raw::restore();
        }
        state.lent = true;
        drop(state);
        self.wake();
    }

    /// Takes the terminal back when the other program is done.
    pub(super) fn take_back(&self) {
        let mut state = self.state();
        state.lent = false;
        state.given_back = Some(Instant::now());
        self.begin_again(&mut state);
        let reads = self.setup.keyboard == Keyboard::Always || !state.questions.is_empty();
        if reads && self.setup.mode == TerminalMode::Ansi && state.end == End::NotYet {
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
        if state.end == End::NotYet || state.end == End::Left {
            state.end = End::Gone;
        }
        state.questions.drain(..).for_each(|open| open.answered((Chosen::Nobody, String::new())));
        self.setup.interrupt.stop.cancel();
        self.said.notify_one();
    }

    /// Handles a new size of the terminal.
    pub(super) fn resized(&self) {
        let mut state = self.state();
        let (columns, rows) = raw::size();
        state.screen.resized(columns, rows);
        // The signal may be that the process continues.
        state.title = None;
        self.redraw(&mut state);
    }

    /// Forgets what another program may have changed while it had the terminal.
    pub(super) fn begin_again(&self, state: &mut State) {
        (state.title, state.focus) = (None, Focus::Unknown);
    }

    /// Ends the use of the terminal.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.questions.drain(..).for_each(|open| open.answered((Chosen::Nobody, String::new())));
        state.activity.clear();
        state.besides.clear();
        self.end_speech(&mut state);
        let held = take_held(&mut state);
        if self.setup.mode == TerminalMode::Ansi {
            // The text that is being written does not stay.
            state.turn = Turn::Model(None);
            state.editor.clear();
            self.draw(&mut state, &held);
            let out = state.screen.leave();
            self.write(&mut state, &out);
        } else {
            self.write(&mut state, &held);
        }
        state.end = End::Closed;
        drop(state);
        self.wake();
    }

    /// Returns the rows below the text.
    fn live(&self, state: &State) -> Live {
        let (columns, rows) = (state.screen.columns(), state.screen.rows());
        let writes = self.setup.keyboard == Keyboard::Always && state.end == End::NotYet;
        let mut below = match state.questions.front() {
            Some(open) if open.state != Listening::Waits => {
                let mut live = open.look(self.setup.style, columns, rows.saturating_sub(1).min(QUESTION_ROWS));
                if writes && !state.editor.is_empty() {
                    live.rows.extend(state.editor.look(&state.prompt, columns, 1).rows);
                }
                live
            }
            Some(_) | None if writes => self.writing(state),
            Some(_) | None => Live::default(),
        };
        // One row less than the terminal has: a full screen would scroll with each frame.
        let left = rows.saturating_sub(below.rows.len() + 1);
        let is_asking = state.questions.front().is_some_and(|open| open.state != Listening::Waits);
        // Nothing that a model writes may stand between a question and its choices.
        let mut above = if is_asking { Vec::new() } else { state.speech.unfinished(columns) };
        // While the user is asked, the work waits for them, and nothing is drawn between a question and its choices.
        let besides = state.besides.iter().map(|(_, activity)| activity);
        let activities: Vec<&Activity> = besides.chain(&state.activity).filter(|_| !is_asking).collect();
        for (number, activity) in activities.iter().enumerate() {
            let is_last = number + 1 == activities.len();
            above.push(self.spinning(activity, state.frame, columns, is_last && can_stop(state)));
            above.extend(activity.below.iter().map(|line| self.setup.style.dim(&format!("    {line}"))));
        }
        above.extend(self.queued(&state.queued));
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
        let (columns, rows) = (state.screen.columns(), state.screen.rows());
        let style = self.setup.style;
        if let Some(search) = &state.search {
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
        let mut live = state.editor.look(&self.label(state), columns, WRITTEN_ROWS.min(rows / 2));
        let room = rows.saturating_sub(live.rows.len() + 1);
        if state.shows_keys {
            live.rows.extend(super::bindings::look(style, columns, room));
            return live;
        }
        if let Some(menu) = &state.menu {
            live.rows.extend(menu.look(style, columns, room.min(MENU_ROWS)));
        }
        let special = self.setup.assist.special.filter(|(special, _)| state.editor.text().starts_with(*special));
        let hint = state.hint.as_ref().map(Hint::words).or(special.map(|(_, words)| words));
        live.rows.extend(hint.into_iter().flat_map(|hint| self.hint(hint, columns)).take((rows / 3).max(1)));
        if let Some(takes_commands) = state.editor.takes_commands() {
            live.rows.push(style.dim(if takes_commands { "-- NORMAL --" } else { "-- INSERT --" }));
        }
        // A hint takes its place, so that the rows do not jump.
        if hint.is_none() && state.menu.is_none() {
            live.rows.extend(super::status::look(state).map(|row| style.dim(&row)));
        }
        live
    }

    /// Breaks a hint into rows, at its blanks.
    fn hint(&self, hint: &str, columns: usize) -> Vec<String> {
        wrap(&visible_line(hint), columns.saturating_sub(1)).iter().map(|row| self.setup.style.dim(row)).collect()
    }

    fn label(&self, state: &State) -> String {
        match state.turn {
            Turn::User => self.setup.style.bold(&state.prompt),
            Turn::Model(_) => self.setup.style.dim(&state.prompt),
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
        state.frame = state.frame.wrapping_add(1);
        self.redraw(&mut state);
    }

    /// Lets the open question listen, or takes the letter that nothing followed, if it is time for that.
    pub(super) fn question_is_due(&self) {
        let (mut guard, now) = (self.state(), Instant::now());
        let state = &mut *guard;
        let Some(open) = state.questions.front_mut() else { return };
        if let Some(answered) = open.settles(now) {
            return self.answered(state, answered);
        }
        let listens = open.listens_now(now);
        self.begins_line(state, false);
        if listens && self.setup.mode == TerminalMode::Dumb {
            let columns = state.screen.columns();
            let look = |open: &Open| open.look(self.setup.style, columns, usize::MAX).rows.join("\n");
            let choices = state.questions.front().map(look);
            self.write(state, &choices.map(|choices| choices + "\n").unwrap_or_default());
        }
        self.redraw(state);
    }

    /// Adds a question to the queue and returns its id; `None` if nobody can answer.
    pub(super) fn ask(&self, question: Question, line: Option<Line>, answer: oneshot::Sender<Answered>) -> Option<u64> {
        self.asks(|id| Open::new(id, question, line, answer))
    }

    /// Does the same with a question that is made for its id.
    pub(super) fn asks(&self, open: impl FnOnce(u64) -> Open) -> Option<u64> {
        let mut state = self.state();
        let id = state.next_question;
        let open = open(id);
        let can_answer = self.setup.keyboard != Keyboard::Never && !open.question.choices.is_empty();
        if !can_answer || !matches!(state.end, End::NotYet) {
            return None;
        }
        state.next_question += 1;
        state.questions.push_back(open);
        self.next_question(&mut state);
        Some(id)
    }

    /// Shows the next question unless one is shown; without a question, the text that was held back for the last one.
    pub(super) fn next_question(&self, state: &mut State) {
        match state.questions.front_mut() {
            // Another program has the terminal: it is shown when that one returns it.
            Some(open) if open.state == Listening::Waits && state.lent => {}
            Some(open) if open.state == Listening::Waits => {
                // Taken out: a question that is drawn again must not repeat its lines.
                let lines = std::mem::take(&mut open.question.lines);
                // Only now are keys read without echo; until here the terminal is the shell's.
                if self.setup.keyboard == Keyboard::WhenAsked && self.setup.mode == TerminalMode::Ansi {
                    raw::enter().ok();
                }
                // First the text that was shown before it, then its own lines, and then nothing until it is answered.
                self.redraw(state);
                let mut text = if self.is_within_line(state) { "\n".to_owned() } else { String::new() };
                let columns = match self.setup.mode {
                    TerminalMode::Ansi => state.screen.columns(),
                    TerminalMode::Dumb => usize::MAX,
                };
                lines.iter().for_each(|line| text.extend([&wrapped_lines(line, columns), "\n"]));
                // Anything typed so far counts as typed before the question, or was meant for another program.
                if self.setup.keyboard == Keyboard::WhenAsked || self.setup.mode == TerminalMode::Dumb {
                    // From the terminal itself: what lies there was typed before the question could be seen.
                    raw::forget_typed();
                }
                if let Some(open) = state.questions.front_mut() {
                    // Listens only after a pause: a user who is typing goes on typing something else.
                    open.state = Listening::NotYet(Instant::now());
                }
                self.draw(state, &text);
                self.alert(state, "a question waits for you");
            }
            Some(_) => {}
            None => {
                if self.setup.keyboard == Keyboard::WhenAsked {
                    raw::restore();
                }
                self.redraw(state);
            }
        }
        self.wake();
    }

    /// Answers the open question.
    pub(super) fn answered(&self, state: &mut State, answered: Answered) {
        let Some(open) = state.questions.pop_front() else { return };
        let words = match answered.0 {
            Chosen::Choice(at) => open.question.choices.get(at).map(|choice| choice.label.clone()),
            Chosen::Dismissed | Chosen::Nobody => None,
        };
        let text = Some(visible_line(&answered.1)).filter(|text| !text.is_empty());
        let text = text.map(|text| format!(": {text}")).unwrap_or_default();
        let line = self.setup.style.dim(&format!("› {}{text}", words.as_deref().unwrap_or("rejected")));
        // Before the text that was held back for it.
        state.held.insert_str(0, &format!("{line}\n"));
        open.answered(answered);
        self.next_question(state);
    }

    /// Withdraws a question whose caller no longer waits for the answer.
    pub(super) fn withdraw(&self, id: u64) {
        let mut state = self.state();
        let Some(at) = state.questions.iter().position(|open| open.id == id) else { return };
        let was_shown = state.questions.remove(at).is_some_and(|open| open.state != Listening::Waits);
        if was_shown {
            let line = self.setup.style.dim("› question withdrawn");
            state.held.insert_str(0, &format!("{line}\n"));
            self.next_question(&mut state);
        }
    }
}
