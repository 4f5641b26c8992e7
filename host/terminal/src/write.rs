//! What keys do: to a question, to the text that is being written, to the run.

use std::time::Instant;

use super::assist::Folded;
use super::attention::Focus;
use super::completing::close;
use super::editor::Edited;
use super::hint::Hint;
use super::keys::{Key, MAX_PASTE};
use super::question::{Answered, Listening, Pressed};
use super::search::Search;
use super::sent::When;
use super::{Chosen, End, Keyboard, Shared, State, TerminalMode, Turn, raw};

impl Shared {
    /// Handles a key.
    pub(super) fn key(&self, key: Key) {
        let mut guard = self.state();
        let state = &mut *guard;
        // Before anything else: a window that gets the focus sends this, and it is no key.
        match key {
            // No key: it answers, closes and takes back nothing.
            Key::FocusIn => return state.focus = Focus::Here,
            Key::FocusOut => return state.focus = Focus::Elsewhere,
            _ => {}
        }
        let is_chord = std::mem::take(&mut state.is_chord);
        let opens_editor = key == Key::Edit || (is_chord && key == Key::End);
        if opens_editor && self.can_edit(state) {
            // The editor takes the terminal for minutes; nothing may wait for the lock meanwhile.
            drop(guard);
            return self.edit();
        }
        if key == Key::Interrupt {
            self.interrupt(state);
        } else if key == Key::Suspend {
            let out = if self.setup.mode == TerminalMode::Ansi { state.screen.leave() } else { String::new() };
            self.write(state, &out);
            raw::suspend();
            // Another program may have changed the modes, and the screen.
            self.begin_again(state);
        } else if key == Key::Chord {
            state.is_chord = true;
        } else {
            match state.questions.front_mut() {
                Some(open) => match open.state {
                    Listening::Now => {
                        let was_typed = open.types().is_some();
                        match open.key(&key, Instant::now()) {
                            Pressed::Answers(answered) => return self.answered(state, answered),
                            Pressed::Nothing if !was_typed => {
                                // The Enter behind a digit ends the line with that digit.
                                let skips_enter = matches!(key, Key::Char(_));
                                self.begins_line(state, skips_enter);
                            }
                            Pressed::Nothing => {}
                            // What was typed on is text: it goes into the line below, and the question listens again.
                            Pressed::Text(keys) => {
                                open.state = Listening::NotYet(Instant::now());
                                keys.iter().for_each(|key| self.written(state, key));
                            }
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

    /// Shows the label of the line that a choice asks for, where it is not drawn in the place of the choices.
    pub(super) fn begins_line(&self, state: &mut State, skips_enter: bool) {
        if self.setup.mode != TerminalMode::Dumb {
            return;
        }
        let Some(open) = state.questions.front_mut() else { return };
        if let Some(label) = open.asks_for_line().map(str::to_owned) {
            open.skips_enter = skips_enter;
            self.write(state, &label);
        }
    }

    /// Handles a Ctrl-C: dismisses the question and stops the run; without a run, clears the text; without a text, the
    /// second one leaves.
    fn interrupt(&self, state: &mut State) {
        // Without a line of text there is nothing else to stop.
        if self.setup.keyboard != Keyboard::Always {
            state.questions.drain(..).for_each(|open| open.answered(dismissed()));
            self.next_question(state);
            return self.setup.interrupt.press();
        }
        // All of them: a dismissed question may bring the next.
        while !state.questions.is_empty() {
            self.answered(state, dismissed());
        }
        state.shows_keys = false;
        close(state);
        if state.search.take().is_some() {
            return;
        }
        match &state.turn {
            // The second Ctrl-C does not wait for what the first one asked for.
            Turn::Model(Some(turn)) if turn.is_cancelled() => self.setup.interrupt.end_at_once(),
            Turn::Model(Some(_)) => Self::stop(state),
            Turn::User | Turn::Model(None) if !state.editor.is_empty() => {
                state.editor.clear();
                state.history.left();
                state.hint = None;
            }
            Turn::User | Turn::Model(None) if state.leaves_next => self.left(state),
            Turn::User | Turn::Model(None) => {
                state.leaves_next = true;
                let words = "press Ctrl-C again, or Ctrl-D, to quit";
                match self.setup.mode {
                    TerminalMode::Ansi => state.hint = Some(Hint::Key(words.to_owned())),
                    TerminalMode::Dumb => self.lines(state, &format!("{words}\n{}", state.prompt)),
                }
            }
        }
    }

    /// Stops what the model does, if it does something.
    fn stop(state: &mut State) {
        if let Turn::Model(Some(turn)) = &state.turn {
            turn.cancel();
            state.hint = Some(Hint::Turn("stopping · Ctrl-C again to quit now".to_owned()));
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
        // Any key means that the user stays.
        state.leaves_next = false;
        state.leaves_then = false;
        state.hint = None;
        let was_escape = std::mem::take(&mut state.was_escape);
        if std::mem::take(&mut state.shows_keys) && *key == Key::Escape {
            state.asked_for_keys = false;
            return;
        }
        if state.search.is_some() {
            return self.searching(state, key);
        }
        if self.menu_key(state, key) {
            return;
        }
        if *key == Key::Escape && self.escaped(state, was_escape) {
            return;
        }
        self.write_key(state, key);
        let is_users_turn = matches!(state.turn, Turn::User);
        if !is_users_turn && !state.editor.is_empty() && state.hint.is_none() && self.setup.mode == TerminalMode::Ansi {
            let can_steer = self.setup.assist.can_steer.as_ref();
            let words = match can_steer.is_some_and(|can_steer| can_steer(&state.editor.expanded())) {
                true => "Enter to send at its next turn · Tab when it is done · Esc to clear",
                false => "Enter to send when the model is done · Esc to clear",
            };
            state.hint = Some(Hint::Turn(words.to_owned()));
        }
    }

    /// Handles Esc on an empty line of the user's turn; `false` if it is something else's.
    fn escaped(&self, state: &mut State, was_escape: bool) -> bool {
        let Some((command, words)) = self.setup.assist.twice else { return false };
        // In the insert mode of vim it leaves that.
        let is_free = state.editor.is_empty() && state.editor.takes_commands() != Some(false);
        if !is_free || !matches!(state.turn, Turn::User) {
            return false;
        }
        if was_escape {
            state.editor.set(command.to_owned());
            self.say(state, When::NextTurn);
        } else {
            state.was_escape = true;
            state.hint = Some(Hint::Key(format!("Esc again {words}")));
        }
        true
    }

    fn write_key(&self, state: &mut State, key: &Key) {
        let is_users_turn = matches!(state.turn, Turn::User);
        let is_empty = state.editor.is_empty();
        match key {
            Key::Enter => {
                close(state);
                self.say(state, When::NextTurn);
            }
            Key::EndOfInput if is_empty && is_users_turn => self.left(state),
            Key::EndOfInput if is_empty => {
                state.leaves_then = true;
                let words = "quitting when the model is done · any key to stay · Ctrl-C to stop now";
                state.hint = Some(Hint::Turn(words.to_owned()));
            }
            Key::Tab => {
                // Completing comes first; where there is nothing to complete, Tab queues.
                if !self.tab(state) && !is_users_turn && !is_empty {
                    self.say(state, When::Done);
                }
            }
            Key::BackTab => self.next_mode(state),
            Key::Search if self.setup.mode == TerminalMode::Ansi => {
                close(state);
                state.search = Some(Search::new(&state.editor.expanded(), state.history.entries()));
            }
            Key::PasteImage => self.wants_image(state),
            // A file that is dropped on a terminal comes as a paste of its path.
            Key::Paste(text) => match self.setup.assist.dropped.as_ref().and_then(|dropped| dropped(text)) {
                Some(Folded { text, label }) => {
                    state.editor.insert_folded(&text, &label);
                    state.editor.insert(" ");
                    close(state);
                }
                // A paste that does not fit is left out whole: half of one could be sent unseen.
                None if state.editor.has_room_for(text) => self.edited(state, key),
                None => state.hint = Some(too_long()),
            },
            Key::LongPaste => state.hint = Some(too_long()),
            // A second `?` is one that is meant.
            Key::Char('?') if is_empty && self.setup.mode == TerminalMode::Ansi && !state.asked_for_keys => {
                state.shows_keys = true;
                state.asked_for_keys = true;
                return;
            }
            // A question is answered first.
            Key::Expand if state.questions.is_empty() => self.expand.notify_one(),
            Key::Expand => {}
            Key::Redraw => {
                let out = format!("\u{1b}[2J\u{1b}[H{}", state.screen.leave());
                self.write(state, &out);
            }
            // Back into the line: a queued prompt can be changed until its turn.
            Key::Backspace if is_empty && !state.queued.is_empty() => Self::unqueue_last(state),
            key => self.edited(state, key),
        }
        state.asked_for_keys = false;
    }

    fn edited(&self, state: &mut State, key: &Key) {
        match state.editor.key(key) {
            Edited::Yes => {
                // What was changed is a new text, and no earlier one.
                state.history.left();
                let is_typed = matches!(key, Key::Char(_) | Key::Backspace | Key::DeleteWord);
                // In vim's normal mode letters are no words to complete.
                if is_typed && state.editor.takes_commands() != Some(true) {
                    self.complete(state);
                } else {
                    close(state);
                }
            }
            beyond @ (Edited::Above | Edited::Below) => {
                close(state);
                let text = state.editor.expanded();
                let found = match beyond {
                    Edited::Above => state.history.back(&text),
                    Edited::Below | Edited::Yes | Edited::No => state.history.forward(&text),
                };
                if let Some(found) = found.map(str::to_owned) {
                    let takes_commands = state.editor.takes_commands();
                    state.editor.set(found);
                    if takes_commands == Some(true) {
                        // A text from the history begins in the mode that the user was in.
                        state.editor.key(&Key::Escape);
                    }
                }
            }
            Edited::No if *key == Key::Escape => {
                close(state);
                match state.editor.is_empty() {
                    true => Self::stop(state),
                    false => state.editor.clear(),
                }
            }
            Edited::No => {}
        }
    }

    /// Handles a key for the search through earlier prompts.
    fn searching(&self, state: &mut State, key: &Key) {
        let Some(search) = &mut state.search else { return };
        match key {
            Key::Enter | Key::Tab => {
                if let Some(found) = search.menu.as_ref().and_then(|menu| menu.selected()) {
                    // Into the line and not sent: the user may change it.
                    state.editor.set(found.text.clone());
                    state.history.left();
                }
                state.search = None;
            }
            Key::Escape | Key::Edit => state.search = None,
            Key::Search | Key::Down => search.menu.iter_mut().for_each(|menu| menu.moves(true)),
            Key::Up => search.menu.iter_mut().for_each(|menu| menu.moves(false)),
            Key::Char(_) | Key::Paste(_) | Key::Backspace | Key::DeleteToStart | Key::DeleteWord => {
                match key {
                    Key::Char(character) => search.push(character.encode_utf8(&mut [0; 4])),
                    Key::Paste(text) => search.push(text),
                    Key::Backspace => drop(search.query.pop()),
                    _ => search.query.clear(),
                }
                search.find(state.history.entries());
            }
            _ => {}
        }
    }

    fn next_mode(&self, state: &mut State) {
        let Some(next_mode) = &self.setup.assist.next_mode else { return };
        let shown = next_mode();
        let is_users_turn = matches!(state.turn, Turn::User);
        state.prompt = shown.label;
        state.hint = Some(match is_users_turn {
            true => Hint::Key(shown.words),
            false => Hint::Turn(format!("from the next prompt: {}", shown.words)),
        });
        state.has_new_mode = true;
        self.said.notify_one();
    }

    fn can_edit(&self, state: &State) -> bool {
        self.setup.assist.edit.is_some()
            && self.setup.keyboard == Keyboard::Always
            && self.setup.mode == TerminalMode::Ansi
            && state.questions.is_empty()
            && state.search.is_none()
            && state.end == End::NotYet
    }

    /// Opens the editor on the text. Keys are not read meanwhile: this is the thread that reads them.
    fn edit(&self) {
        let Some(edit) = &self.setup.assist.edit else { return };
        let text = {
            let mut state = self.state();
            close(&mut state);
            state.hint = None;
            state.editor.expanded()
        };
        self.lend();
        let edited = edit(&text);
        let mut state = self.state();
        match edited {
            // Editors end the last line.
            Ok(Some(edited)) => state.editor.set(edited.strip_suffix('\n').unwrap_or(&edited)),
            Ok(None) => {}
            Err(why) => state.hint = Some(Hint::Key(why)),
        }
        drop(state);
        self.take_back();
    }
}

/// What is said of a paste for which there is no room: nothing of it is in the line.
fn too_long() -> Hint {
    let most = MAX_PASTE >> 20;
    Hint::Key(format!("the paste was left out: over {most} MiB in all · save it as a file and name that with @"))
}

/// The answer of a user who does not choose.
fn dismissed() -> Answered {
    (Chosen::Dismissed, String::new())
}
