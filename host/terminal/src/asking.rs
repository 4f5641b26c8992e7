//! Questions: the queue, the one that is shown, and its answer.
//!
//! Promises: a question is drawn whole before it listens, what was shown before it stays above it, and text that comes
//! while it is open is held back until it is answered.
//!
//! Deliberately not here: the choices of a question and the keys for them (`question`).

use std::time::Instant;

use host_text::visible_line;
use tokio::sync::oneshot;

use super::question::{Answered, Line, Listening, Open, Reply};
use super::state::{End, Holder, State};
use super::wrap::wrapped_lines;
use super::{Chosen, Keyboard, Question, Shared, TerminalMode, raw};

impl Shared {
    /// Lets the open question listen, or takes the letter that nothing followed, if it is time for that.
    pub(super) fn question_is_due(&self) {
        let (mut guard, now) = (self.state(), Instant::now());
        let state = &mut *guard;
        let Some(open) = state.questions.open.front_mut() else { return };
        let marked = open.marked();
        if let Some(answered) = open.settles(now) {
            return self.answered(state, answered);
        }
        let is_due = open.listens_now(now) || marked != open.marked();
        self.begins_line(state, false);
        if is_due && self.setup.mode == TerminalMode::Dumb {
            self.shows_choices(state, false);
        }
        self.redraw(state);
    }

    /// Writes the choices of the open question, where they are not drawn again and again. The next Enter may be the end
    /// of the line with a digit that was taken already.
    pub(super) fn shows_choices(&self, state: &mut State, skips_enter: bool) {
        let columns = state.output.screen.columns();
        let Some(open) = state.questions.open.front_mut() else { return };
        open.skips_enter = skips_enter;
        let rows = open.look(self.setup.style, columns, usize::MAX).rows.join("\n");
        self.write(state, &(rows + "\n"));
    }

    /// Adds a question to the queue and returns its id; `None` if nobody can answer.
    pub(super) fn ask(&self, question: Question, line: Option<Line>, answer: oneshot::Sender<Reply>) -> Option<u64> {
        self.asks(|id| Open::new(id, question, line, answer))
    }

    /// Does the same with a question that is made for its id.
    pub(super) fn asks(&self, open: impl FnOnce(u64) -> Open) -> Option<u64> {
        let mut state = self.state();
        if self.setup.keyboard == Keyboard::Never || state.conversation.end != End::NotYet {
            return None;
        }
        let id = state.questions.add(open)?;
        self.next_question(&mut state);
        Some(id)
    }

    /// Shows the next question unless one is shown; without a question, the text that was held back for the last one.
    pub(super) fn next_question(&self, state: &mut State) {
        match state.questions.open.front_mut() {
            // Another program has the terminal: it is shown when that one returns it.
            Some(open) if open.state == Listening::Waits && state.output.holder == Holder::Other => {}
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
                    TerminalMode::Ansi => state.output.screen.columns(),
                    TerminalMode::Dumb => usize::MAX,
                };
                lines.iter().for_each(|line| text.extend([&wrapped_lines(line, columns), "\n"]));
                // Anything typed so far counts as typed before the question, or was meant for another program.
                if self.setup.keyboard == Keyboard::WhenAsked || self.setup.mode == TerminalMode::Dumb {
                    // From the terminal itself: what lies there was typed before the question could be seen.
                    raw::forget_typed();
                }
                if let Some(open) = state.questions.open.front_mut() {
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
        let Some(open) = state.questions.open.pop_front() else { return };
        let label = |at: usize| open.question.choices.get(at).map(|choice| choice.label.clone());
        let words = match answered.0 {
            Chosen::Choice(at) => {
                let marked = open.marked().into_iter().filter_map(label).collect::<Vec<_>>().join(", ");
                let what = if marked.is_empty() { String::new() } else { format!(" ({marked})") };
                label(at).map(|label| label + &what)
            }
            Chosen::Dismissed | Chosen::Nobody => None,
        };
        let text = Some(visible_line(&answered.1)).filter(|text| !text.is_empty());
        let text = text.map(|text| format!(": {text}")).unwrap_or_default();
        let line =
            self.setup.style.dim(&format!("› {}{text}", words.as_deref().unwrap_or(open.question.escape.participle())));
        // Before the text that was held back for it.
        state.output.held.text.insert_str(0, &format!("{line}\n"));
        open.answered(answered);
        self.next_question(state);
    }

    /// Withdraws a question whose caller no longer waits for the answer.
    pub(super) fn withdraw(&self, id: u64) {
        let mut state = self.state();
        let Some(at) = state.questions.open.iter().position(|open| open.id == id) else { return };
        let was_shown = state.questions.open.remove(at).is_some_and(|open| open.state != Listening::Waits);
        if was_shown {
            let line = self.setup.style.dim("› question withdrawn");
            state.output.held.text.insert_str(0, &format!("{line}\n"));
            self.next_question(&mut state);
        }
    }

    /// Shows the label of the line that a choice asks for, where it is not drawn in the place of the choices.
    pub(super) fn begins_line(&self, state: &mut State, skips_enter: bool) {
        if self.setup.mode != TerminalMode::Dumb {
            return;
        }
        let Some(open) = state.questions.open.front_mut() else { return };
        if let Some(label) = open.asks_for_line().map(str::to_owned) {
            open.skips_enter = skips_enter;
            self.write(state, &label);
        }
    }
}
