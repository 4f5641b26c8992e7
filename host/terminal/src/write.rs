//! What keys do: to a question, to the text that is being written, to the run.

use std::time::Instant;

use super::assist::Folded;
use super::editor::Edited;
use super::hint::Hint;
use super::keys::{Key, MAX_PASTE};
use super::question::{Answered, Listening, Pressed};
use super::search::Search;
use super::state::{End, Leaving, Panel, Previous, State, Turn};
use super::values::{Focus, When};
use super::{Chosen, Keyboard, Shared, TerminalMode, raw};

impl Shared {
    /// Handles a key.
    pub(super) fn key(&self, key: Key) {
        let mut guard = self.state();
        let state = &mut *guard;
        // Before anything else: a window that gets the focus sends this, and it is not a key.
        match key {
            // No key: it answers, closes and takes back nothing.
            Key::FocusIn => return state.conversation.focus = Focus::Here,
            Key::FocusOut => return state.conversation.focus = Focus::Elsewhere,
            _ => {}
        }
        let previous = std::mem::take(&mut state.input.previous);
        let opens_editor = key == Key::Edit || (previous == Previous::Chord && key == Key::End);
        if opens_editor && self.can_edit(state) {
            // The editor takes the terminal for minutes; nothing may wait for the lock meanwhile.
            drop(guard);
            return self.edit();
        }
        if key == Key::Interrupt {
            self.interrupt(state);
        } else if key == Key::Suspend {
            let out = if self.setup.mode == TerminalMode::Ansi { state.output.screen.leave() } else { String::new() };
            self.write(state, &out);
            raw::suspend();
            // Another program may have changed the modes, and the screen.
            self.begin_again(state);
        } else if key == Key::Chord {
            state.input.previous = Previous::Chord;
        } else if state.questions.open.is_empty() {
            self.written(state, &key, previous);
        } else if let Some(answered) = self.key_of_question(state, &key, previous) {
            return self.answered(state, answered);
        }
        self.redraw(state);
    }

    /// Handles a key while a question is open. Returns the answer if the key gives one.
    fn key_of_question(&self, state: &mut State, key: &Key, previous: Previous) -> Option<Answered> {
        let open = state.questions.open.front_mut()?;
        if open.state != Listening::Now {
            open.state = Listening::NotYet(Instant::now());
            self.written(state, key, previous);
            return None;
        }
        let was_typed = open.types().is_some();
        let marked = open.marked();
        match open.key(key, Instant::now()) {
            Pressed::Answers(answered) => return Some(answered),
            // Where nothing is drawn again, the choices are shown anew, and the Enter behind the digit is none.
            Pressed::Nothing if self.setup.mode == TerminalMode::Dumb && marked != open.marked() => {
                self.shows_choices(state, matches!(key, Key::Char(_)));
            }
            Pressed::Nothing if !was_typed => {
                // The Enter behind a digit ends the line with that digit.
                let skips_enter = matches!(key, Key::Char(_));
                self.begins_line(state, skips_enter);
            }
            Pressed::Nothing => {}
            // What was typed on is text: it goes into the line below, and the question listens again.
            Pressed::Text(keys) => {
                open.state = Listening::NotYet(Instant::now());
                keys.iter().for_each(|key| self.written(state, key, Previous::Nothing));
            }
        }
        None
    }

    /// Handles a Ctrl-C: dismisses the question and stops the run; without a run, clears the text; without a text, the
    /// second one leaves.
    fn interrupt(&self, state: &mut State) {
        // Without a line of text there is nothing else to stop.
        if self.setup.keyboard != Keyboard::Always {
            state.questions.end(Chosen::Dismissed);
            self.next_question(state);
            return self.setup.interrupt.press();
        }
        // All of them: a dismissed question may bring the next.
        while !state.questions.open.is_empty() {
            self.answered(state, dismissed());
        }
        state.input.looking = None;
        if let Panel::Search(_) = std::mem::take(&mut state.input.panel) {
            return;
        }
        match &state.conversation.turn {
            // The second Ctrl-C does not wait for what the first one asked for.
            Turn::Model { stop, .. } if stop.is_cancelled() => self.setup.interrupt.end_at_once(),
            Turn::Model { .. } => Self::stop(state),
            Turn::User | Turn::Between if !state.input.editor.is_empty() => {
                state.input.editor.clear();
                state.input.history.left();
                state.input.hint = None;
            }
            Turn::User | Turn::Between if state.conversation.leaving != Leaving::No => self.left(state),
            Turn::User | Turn::Between => {
                state.conversation.leaving = Leaving::WithInterrupt;
                let words = "press Ctrl-C again, or Ctrl-D, to quit";
                match self.setup.mode {
                    TerminalMode::Ansi => state.input.hint = Some(Hint::Key(words.to_owned())),
                    TerminalMode::Dumb => self.lines(state, &format!("{words}\n{}", state.input.label)),
                }
            }
        }
    }

    /// Stops what the model does, if it does something.
    fn stop(state: &mut State) {
        if let Turn::Model { stop, .. } = &state.conversation.turn {
            stop.cancel();
            state.input.hint = Some(Hint::Turn("stopping · Ctrl-C again to quit now".to_owned()));
        }
    }

    fn left(&self, state: &mut State) {
        if state.conversation.end == End::NotYet {
            state.conversation.end = End::Left;
        }
        self.said.notify_one();
    }

    /// Handles a key for the text that is being written.
    fn written(&self, state: &mut State, key: &Key, previous: Previous) {
        if self.setup.keyboard != Keyboard::Always {
            return;
        }
        // Any key means that the user stays.
        state.conversation.leaving = Leaving::No;
        state.input.hint = None;
        match &state.input.panel {
            Panel::Keys => {
                state.input.panel = Panel::Nothing;
                if *key == Key::Escape {
                    return;
                }
            }
            Panel::Search(_) => return Self::searching(state, key),
            Panel::Nothing | Panel::Menu(_) => {}
        }
        if self.menu_key(state, key) {
            return;
        }
        if *key == Key::Escape && self.escaped(state, previous) {
            return;
        }
        self.write_key(state, key, previous);
        let is_users_turn = state.conversation.is_users_turn();
        if !is_users_turn
            && !state.input.editor.is_empty()
            && state.input.hint.is_none()
            && self.setup.mode == TerminalMode::Ansi
        {
            let can_steer = self.setup.assist.can_steer.as_ref();
            let words = match can_steer.is_some_and(|can_steer| can_steer(&state.input.editor.expanded())) {
                true => "Enter to send at its next turn · Tab when it is done · Esc to clear",
                false => "Enter to send when the model is done · Esc to clear",
            };
            state.input.hint = Some(Hint::Turn(words.to_owned()));
        }
    }

    /// Handles Esc on an empty line of the user's turn; `false` if it is something else's.
    fn escaped(&self, state: &mut State, previous: Previous) -> bool {
        let Some((command, words)) = self.setup.assist.twice else { return false };
        // In the insert mode of vim it leaves that.
        let is_free = state.input.editor.is_empty() && state.input.editor.takes_commands() != Some(false);
        if !is_free || !state.conversation.is_users_turn() {
            return false;
        }
        if previous == Previous::Escape {
            state.input.editor.set(command.to_owned());
            self.say(state, When::NextTurn);
        } else {
            state.input.previous = Previous::Escape;
            state.input.hint = Some(Hint::Key(format!("Esc again {words}")));
        }
        true
    }

    fn write_key(&self, state: &mut State, key: &Key, previous: Previous) {
        let is_users_turn = state.conversation.is_users_turn();
        let is_empty = state.input.editor.is_empty();
        match key {
            Key::Enter => {
                state.input.close_menu();
                self.say(state, When::NextTurn);
            }
            Key::EndOfInput if is_empty && is_users_turn => self.left(state),
            Key::EndOfInput if is_empty => {
                state.conversation.leaving = Leaving::WhenDone;
                let words = "quitting when the model is done · any key to stay · Ctrl-C to stop now";
                state.input.hint = Some(Hint::Turn(words.to_owned()));
            }
            Key::Tab => {
                // Completing comes first; where there is nothing to complete, Tab queues.
                if !self.tab(state) && !is_users_turn && !is_empty {
                    self.say(state, When::Done);
                }
            }
            Key::BackTab => self.next_mode(state),
            Key::Search if self.setup.mode == TerminalMode::Ansi => {
                state.input.close_menu();
                let search = Search::new(&state.input.editor.expanded(), state.input.history.entries());
                state.input.panel = Panel::Search(search);
            }
            Key::PasteImage => self.wants_image(state),
            // A file that is dropped on a terminal comes as a paste of its path.
            Key::Paste(text) => match self.setup.assist.dropped.as_ref().and_then(|dropped| dropped(text)) {
                Some(Folded { text, label }) => {
                    state.input.editor.insert_folded(&text, &label);
                    state.input.editor.insert(" ");
                    state.input.close_menu();
                }
                // A paste that does not fit is left out whole: half of one could be sent unseen.
                None if state.input.editor.has_room_for(text) => self.edited(state, key),
                None => state.input.hint = Some(too_long()),
            },
            Key::LongPaste => state.input.hint = Some(too_long()),
            // A second `?` is one that is meant.
            Key::Char('?') if is_empty && self.setup.mode == TerminalMode::Ansi && previous != Previous::Keys => {
                state.input.panel = Panel::Keys;
                state.input.previous = Previous::Keys;
            }
            // A question is answered first.
            Key::Expand if state.questions.open.is_empty() => self.expand.notify_one(),
            Key::Expand => {}
            Key::Redraw => {
                let out = format!("\u{1b}[2J\u{1b}[H{}", state.output.screen.leave());
                self.write(state, &out);
            }
            // Back into the line: a queued prompt can be changed until its turn.
            Key::Backspace if is_empty && !state.input.queued.is_empty() => Self::unqueue_last(state),
            key => self.edited(state, key),
        }
    }

    fn edited(&self, state: &mut State, key: &Key) {
        match state.input.editor.key(key) {
            Edited::Yes => {
                // What was changed is a new text, and no earlier one.
                state.input.history.left();
                let is_typed = matches!(key, Key::Char(_) | Key::Backspace | Key::DeleteWord);
                // In vim's normal mode letters are not words to complete.
                if is_typed && state.input.editor.takes_commands() != Some(true) {
                    self.complete(state);
                } else {
                    state.input.close_menu();
                }
            }
            beyond @ (Edited::Above | Edited::Below) => {
                state.input.close_menu();
                let text = state.input.editor.expanded();
                let found = match beyond {
                    Edited::Above => state.input.history.back(&text),
                    Edited::Below | Edited::Yes | Edited::No => state.input.history.forward(&text),
                };
                if let Some(found) = found.map(str::to_owned) {
                    let takes_commands = state.input.editor.takes_commands();
                    state.input.editor.set(found);
                    if takes_commands == Some(true) {
                        // A text from the history begins in the mode that the user was in.
                        state.input.editor.key(&Key::Escape);
                    }
                }
            }
            Edited::No if *key == Key::Escape => {
                state.input.close_menu();
                match state.input.editor.is_empty() {
                    true => Self::stop(state),
                    false => state.input.editor.clear(),
                }
            }
            Edited::No => {}
        }
    }

    /// Handles a key for the search through earlier prompts.
    fn searching(state: &mut State, key: &Key) {
        let Panel::Search(search) = &mut state.input.panel else { return };
        match key {
            Key::Enter | Key::Tab => {
                if let Some(found) = search.menu.as_ref().and_then(|menu| menu.selected()) {
                    // Into the line and not sent: the user may change it.
                    state.input.editor.set(found.text.clone());
                    state.input.history.left();
                }
                state.input.panel = Panel::Nothing;
            }
            Key::Escape | Key::Edit => state.input.panel = Panel::Nothing,
            Key::Search | Key::Down => search.menu.iter_mut().for_each(|menu| menu.moves(true)),
            Key::Up => search.menu.iter_mut().for_each(|menu| menu.moves(false)),
            Key::Char(_) | Key::Paste(_) | Key::Backspace | Key::DeleteToStart | Key::DeleteWord => {
                match key {
                    Key::Char(character) => search.push(character.encode_utf8(&mut [0; 4])),
                    Key::Paste(text) => search.push(text),
                    Key::Backspace => drop(search.query.pop()),
                    _ => search.query.clear(),
                }
                search.find(state.input.history.entries());
            }
            _ => {}
        }
    }

    fn next_mode(&self, state: &mut State) {
        let Some(next_mode) = &self.setup.assist.next_mode else { return };
        let shown = next_mode();
        let is_users_turn = state.conversation.is_users_turn();
        state.input.label = shown.label;
        state.input.hint = Some(match is_users_turn {
            true => Hint::Key(shown.words),
            false => Hint::Turn(format!("from the next prompt: {}", shown.words)),
        });
        state.conversation.has_new_mode = true;
        self.said.notify_one();
    }

    fn can_edit(&self, state: &State) -> bool {
        self.setup.assist.edit.is_some()
            && self.setup.keyboard == Keyboard::Always
            && self.setup.mode == TerminalMode::Ansi
            && state.questions.open.is_empty()
            && !matches!(state.input.panel, Panel::Search(_))
            && state.conversation.end == End::NotYet
    }

    /// Opens the editor on the text. Keys are not read meanwhile: this is the thread that reads them.
    fn edit(&self) {
        let Some(edit) = &self.setup.assist.edit else { return };
        let text = {
            let mut state = self.state();
            state.input.close_menu();
            state.input.hint = None;
            state.input.editor.expanded()
        };
        self.lend();
        let edited = edit(&text);
        let mut state = self.state();
        match edited {
            // Editors end the last line.
            Ok(Some(edited)) => state.input.editor.set(edited.strip_suffix('\n').unwrap_or(&edited)),
            Ok(None) => {}
            Err(why) => state.input.hint = Some(Hint::Key(why)),
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
