//! What the user has sent: prompts that wait for their turn, and texts for the model's next turn.
//!
//! Deliberately not here: keys (`write`), and what a prompt leads to.

use anstyle::AnsiColor;
use host_text::visible_line;

use super::editor::Draft;
use super::hint::Hint;
use super::keys::Key;
use super::state::{End, Leaving, State, Turn};
use super::values::{Sent, When};
use super::width::width;
use super::wrap::wrap;
use super::{Shared, TerminalInput, TerminalMode};

/// The most lines of a prompt that stay on the screen once it was sent.
const SHOWN_LINES: usize = 20;

/// What begins each row of a prompt that was sent.
const BAR: &str = "▌ ";

/// The fewest columns for the text of a prompt.
const FEWEST_COLUMNS: usize = 8;

impl Shared {
    /// Handles Enter: sends the text, unless a backslash at its end continues it on another line.
    pub(super) fn say(&self, state: &mut State, when: When) {
        // Only at the very end of the text; within it a backslash is one.
        if state.input.editor.before().ends_with('\\')
            && state.input.editor.before().len() == state.input.editor.text().len()
        {
            state.input.editor.key(&Key::Backspace);
            state.input.editor.key(&Key::NewLine);
            return;
        }
        let text = state.input.editor.expanded();
        // Nothing to send; a dumb terminal needs its prompt again.
        if text.trim().is_empty() {
            state.input.editor.clear();
            if self.setup.mode == TerminalMode::Dumb && state.conversation.is_users_turn() {
                self.write(state, &state.input.label.clone());
            }
            return;
        }
        let begins_special = |special: char| text.trim_start().starts_with(special);
        let special = self.setup.assist.special.map(|(special, _)| special);
        if state.input.editor.begins_folded() && (begins_special('/') || special.is_some_and(begins_special)) {
            // A command must be seen before it is run.
            state.input.editor.unfold();
            let words = "this paste begins as a command · Enter to run it · Esc to clear";
            state.input.hint = Some(Hint::Key(words.to_owned()));
            return;
        }
        state.input.hint = state.input.history.add(&text).map(Hint::Key);
        let can_steer = self.setup.assist.can_steer.as_ref().is_some_and(|can_steer| can_steer(&text));
        let when = if can_steer { when } else { When::Done };
        state.input.queued.push_back(Sent { draft: state.input.editor.take_draft(), when });
        self.said.notify_one();
    }

    /// Takes the last queued text back for editing.
    pub(super) fn unqueue_last(state: &mut State) {
        if let Some(last) = state.input.queued.pop_back() {
            state.input.editor.restore(last.draft);
        }
    }

    /// Takes all queued texts back for editing.
    pub(super) fn unqueue(&self, state: &mut State) {
        let mut queued: Vec<Draft> = state.input.queued.drain(..).map(|sent| sent.draft).collect();
        if queued.is_empty() {
            return;
        }
        queued.push(state.input.editor.take_draft());
        if queued.len() == 2 && queued.last().is_some_and(|last| last.expanded().is_empty()) {
            return state.input.editor.restore(queued.swap_remove(0));
        }
        let text: Vec<String> = queued.iter().map(Draft::expanded).collect();
        state.input.editor.set(text.join("\n").trim_end());
    }

    /// Takes the next text for the model's next turn, and shows it as sent.
    pub(super) fn take_steering(&self) -> Option<String> {
        let mut guard = self.state();
        let state = &mut *guard;
        let at = state.input.queued.iter().position(|sent| sent.when == When::NextTurn)?;
        let draft = state.input.queued.remove(at)?.draft;
        let label = state.input.label.clone();
        let said = self.said_lines(&label, &draft.shown(), state.output.screen.columns());
        self.lines(state, &said);
        Some(draft.expanded())
    }

    /// Returns the next prompt if there is one; else the user's turn begins.
    pub(super) fn take_input(&self, label: &str) -> Option<TerminalInput> {
        let mut guard = self.state();
        let state = &mut *guard;
        match state.conversation.end {
            End::NotYet => {}
            End::Left | End::Gone | End::Closed => return Some(TerminalInput::Leave),
        }
        if std::mem::take(&mut state.conversation.has_new_mode) {
            return Some(TerminalInput::Mode);
        }
        label.clone_into(&mut state.input.label);
        let Some(Sent { draft, .. }) = state.input.queued.pop_front() else {
            if state.conversation.leaving == Leaving::WhenDone {
                state.conversation.end = End::Left;
                return Some(TerminalInput::Leave);
            }
            // The label is written once for each turn on a terminal without a cursor.
            let is_new = !state.conversation.is_users_turn();
            state.conversation.turn = Turn::User;
            if is_new {
                Hint::end_turn(&mut state.input.hint);
            }
            if is_new && self.setup.mode == TerminalMode::Dumb {
                self.lines(state, "");
                self.write(state, label);
            }
            self.redraw(state);
            return None;
        };
        state.conversation.turn = Turn::Between;
        if state.conversation.leaving == Leaving::WithInterrupt {
            state.conversation.leaving = Leaving::No;
            // It would no longer be true.
            state.input.hint = None;
        }
        Hint::end_turn(&mut state.input.hint);
        // A terminal that echoes what is typed shows it already.
        match self.setup.mode {
            TerminalMode::Ansi => {
                let said = self.said_lines(label, &draft.shown(), state.output.screen.columns());
                self.lines(state, &said);
            }
            TerminalMode::Dumb => {}
        }
        Some(TerminalInput::Prompt(draft.expanded()))
    }

    /// Formats a prompt as it stays on the terminal: each of its rows behind a bar, where the next prompt is found
    /// again.
    pub(super) fn said_lines(&self, label: &str, text: &str, columns: usize) -> String {
        let style = self.setup.style;
        let bar = match self.setup.mode {
            TerminalMode::Ansi => style.paint(BAR, AnsiColor::Cyan),
            TerminalMode::Dumb => String::new(),
        };
        let indent = " ".repeat(width(label));
        let room = columns.saturating_sub(width(&bar) + indent.len());
        let mut shown = String::new();
        for (number, line) in text.lines().take(SHOWN_LINES).enumerate() {
            for (part, row) in wrap(&visible_line(line), room.max(FEWEST_COLUMNS)).iter().enumerate() {
                let begin = if number == 0 && part == 0 { style.dim(label) } else { indent.clone() };
                shown.push_str(&format!("{bar}{begin}{}\n", style.bold(row)));
            }
        }
        let left = text.lines().count().saturating_sub(SHOWN_LINES);
        if left > 0 {
            shown.push_str(&format!("{bar}{}\n", style.dim(&format!("{indent}… {left} more lines"))));
        }
        shown
    }
}
