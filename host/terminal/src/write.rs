//! What keys do: to a question, to the text that is being written, to the run.

use std::time::Instant;

use host_text::visible_line;

use super::editor::Edited;
use super::keys::Key;
use super::question::Listening;
use super::{Chosen, End, Keyboard, Shared, State, TerminalInput, TerminalMode, Turn, raw};

/// The most lines of a prompt that stay on the screen once it was sent.
const SHOWN_LINES: usize = 20;

/// The most candidates that are shown.
const SHOWN_CANDIDATES: usize = 40;

impl Shared {
    /// Handles a key.
    pub(super) fn key(&self, key: Key) {
        if key == Key::Tab && self.complete() {
            return;
        }
        let mut guard = self.state();
        let state = &mut *guard;
        if key == Key::Interrupt {
            self.interrupt(state);
        } else if key == Key::Suspend {
            let out = if self.setup.mode == TerminalMode::Ansi { state.screen.leave() } else { String::new() };
            self.write(state, &out);
            raw::suspend();
        } else {
            match state.questions.front_mut() {
                Some(open) => match open.state {
                    Listening::Now => {
                        if let Some(chosen) = open.key(&key) {
                            return self.answered(state, chosen);
                        }
                    }
                    Listening::NotYet(_) | Listening::Waits => {
                        open.state = Listening::NotYet(Instant::now());
                        self.written(state, &key);
                    }
                },
                None => self.written(state, &key),
            }
        }
        self.redraw(state);
    }

    /// Handles a Ctrl-C: dismisses the question and stops the run; without a run, clears the text; without a text, the
    /// second one leaves.
    fn interrupt(&self, state: &mut State) {
        if self.setup.keyboard != Keyboard::Always {
            state.questions.drain(..).for_each(|open| open.answered(Chosen::Dismissed));
            self.next_question(state);
            return self.setup.interrupt.press();
        }
        while !state.questions.is_empty() {
            self.answered(state, Chosen::Dismissed);
        }
        match &state.turn {
            Turn::Model(Some(turn)) if turn.is_cancelled() => self.setup.interrupt.end_at_once(),
            Turn::Model(Some(turn)) => {
                turn.cancel();
                state.hint = Some("stopping · Ctrl-C again to quit now".to_owned());
            }
            Turn::User | Turn::Model(None) if !state.editor.is_empty() => {
                state.editor.take();
                state.history.left();
                state.hint = None;
            }
            Turn::User | Turn::Model(None) if state.leaves_next => self.left(state),
            Turn::User | Turn::Model(None) => {
                state.leaves_next = true;
                let words = "press Ctrl-C again, or Ctrl-D, to quit";
                match self.setup.mode {
                    TerminalMode::Ansi => state.hint = Some(words.to_owned()),
                    TerminalMode::Dumb => self.lines(state, &format!("{words}\n{}", state.prompt)),
                }
            }
        }
    }

    fn left(&self, state: &mut State) {
        if state.end == End::NotYet {
            state.end = End::Left;
        }
        self.said.notify_one();
    }

    /// Handles a key for the text that is being written.
    fn written(&self, state: &mut State, key: &Key) {
        if self.setup.keyboard != Keyboard::Always {
            return;
        }
        state.leaves_next = false;
        state.leaves_then = false;
        state.hint = None;
        let is_users_turn = matches!(state.turn, Turn::User);
        match key {
            Key::Enter => self.say(state),
            Key::EndOfInput if state.editor.is_empty() && is_users_turn => self.left(state),
            Key::EndOfInput if state.editor.is_empty() => {
                state.leaves_then = true;
                state.hint = Some("quitting when the model is done · any key to stay · Ctrl-C to stop now".to_owned());
            }
            Key::Escape => drop(state.editor.take()),
            Key::Redraw => {
                let out = format!("\u{1b}[2J\u{1b}[H{}", state.screen.leave());
                self.write(state, &out);
            }
            Key::Backspace if state.editor.is_empty() && !state.queued.is_empty() => {
                if let Some(last) = state.queued.pop_back() {
                    state.editor.set(last);
                }
            }
            key => match state.editor.key(key) {
                Edited::Yes => state.history.left(),
                Edited::Beyond => {
                    let text = state.editor.text().to_owned();
                    let found = match key {
                        Key::Up => state.history.back(&text),
                        _ => state.history.forward(&text),
                    };
                    if let Some(found) = found.map(str::to_owned) {
                        state.editor.set(found);
                    }
                }
                Edited::No => {}
            },
        }
        if !is_users_turn && !state.editor.is_empty() && state.hint.is_none() && self.setup.mode == TerminalMode::Ansi {
            state.hint = Some("Enter to send when the model is done · Esc to clear".to_owned());
        }
    }

    /// Handles Enter: sends the text, unless a backslash at its end continues it on another line.
    fn say(&self, state: &mut State) {
        if state.editor.before().ends_with('\\') && state.editor.before().len() == state.editor.text().len() {
            state.editor.key(&Key::Backspace);
            state.editor.key(&Key::NewLine);
            return;
        }
        if state.editor.text().trim().is_empty() {
            state.editor.take();
            if self.setup.mode == TerminalMode::Dumb && matches!(state.turn, Turn::User) {
                self.write(state, &state.prompt.clone());
            }
            return;
        }
        let text = state.editor.take();
        state.hint = state.history.add(&text);
        state.queued.push_back(text);
        self.said.notify_one();
    }

    /// Returns the next prompt if there is one; else the user's turn begins.
    pub(super) fn take_input(&self, label: &str) -> Option<TerminalInput> {
        let mut guard = self.state();
        let state = &mut *guard;
        label.clone_into(&mut state.prompt);
        match state.end {
            End::NotYet => {}
            End::Left | End::Gone | End::Closed => return Some(TerminalInput::Leave),
        }
        let Some(text) = state.queued.pop_front() else {
            if state.leaves_then {
                state.end = End::Left;
                return Some(TerminalInput::Leave);
            }
            let is_new = !matches!(state.turn, Turn::User);
            state.turn = Turn::User;
            // The hint about leaving stays.
            if !state.leaves_next {
                state.hint = None;
            }
            if is_new && self.setup.mode == TerminalMode::Dumb {
                self.lines(state, "");
                self.write(state, label);
            }
            self.redraw(state);
            return None;
        };
        state.turn = Turn::Model(None);
        state.leaves_next = false;
        state.hint = None;
        // A terminal that echoes what is typed shows it already.
        match self.setup.mode {
            TerminalMode::Ansi => self.lines(state, &self.said_lines(label, &text)),
            TerminalMode::Dumb => {}
        }
        Some(TerminalInput::Prompt(text))
    }

    /// Formats a prompt as it stays on the terminal.
    fn said_lines(&self, label: &str, text: &str) -> String {
        let indent = " ".repeat(super::width(label));
        let mut shown = String::new();
        for (number, line) in text.lines().take(SHOWN_LINES).enumerate() {
            let begin = if number == 0 { self.setup.style.dim(label) } else { indent.clone() };
            shown.push_str(&format!("{begin}{}\n", self.setup.style.bold(&visible_line(line))));
        }
        let left = text.lines().count().saturating_sub(SHOWN_LINES);
        if left > 0 {
            shown.push_str(&self.setup.style.dim(&format!("{indent}… {left} more lines\n")));
        }
        shown
    }

    /// Completes the text that is being written, as far as it is unambiguous. Candidates are looked up without holding
    /// the state, because folders can be slow. Returns false if the key is not for the editor.
    fn complete(&self) -> bool {
        let before = {
            let state = self.state();
            if self.setup.keyboard != Keyboard::Always || state.questions.front().is_some() {
                return false;
            }
            state.editor.before().to_owned()
        };
        let found = (self.setup.completer)(&before);
        let mut state = self.state();
        if state.editor.before() != before {
            return true;
        }
        let written = before.get(before.len().saturating_sub(found.replaced)..).unwrap_or_default();
        state.hint = match found.candidates.as_slice() {
            [] => None,
            [one] => {
                state.editor.complete(found.replaced, one);
                None
            }
            several => {
                let common = common_beginning(several);
                if common.len() > written.len() {
                    state.editor.complete(found.replaced, common);
                }
                Some(self.candidates(several, state.screen.columns()))
            }
        };
        self.redraw(&mut state);
        true
    }

    /// Formats the candidates side by side, as many as fit.
    fn candidates(&self, candidates: &[String], columns: usize) -> String {
        let mut lines = vec![String::new()];
        for candidate in candidates.iter().take(SHOWN_CANDIDATES) {
            let shown = visible_line(candidate.trim_end());
            if let Some(line) = lines.last_mut() {
                if !line.is_empty() && super::width(line) + super::width(&shown) + 3 > columns {
                    lines.push(shown.into_owned());
                } else {
                    if !line.is_empty() {
                        line.push_str("  ");
                    }
                    line.push_str(&shown);
                }
            }
        }
        if candidates.len() > SHOWN_CANDIDATES {
            lines.push(format!("… and {} more", candidates.len() - SHOWN_CANDIDATES));
        }
        lines.join("\n")
    }
}

/// Returns the longest common beginning.
fn common_beginning(texts: &[String]) -> &str {
    let Some((first, others)) = texts.split_first() else { return "" };
    let same = |other: &String| first.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b).count();
    let count = others.iter().map(same).min().unwrap_or(first.chars().count());
    let end = first.char_indices().nth(count).map_or(first.len(), |(at, _)| at);
    first.get(..end).unwrap_or_default()
}
