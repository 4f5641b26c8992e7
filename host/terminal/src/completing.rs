//! Completing while the user types: the list below the text, and the thread that looks things up for it.
//!
//! What needs no lookup is listed in the key's own time; everything else by the thread, which drops what is no longer
//! asked for. The list opens when the user types, and never by itself: a text that was brought back from the history
//! has none. Deliberately not here: what the completions are, which the caller knows.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

use super::assist::{Completions, Folded, Lookup};
use super::hint::Hint;
use super::keys::Key;
use super::menu::Menu;
use super::state::{Panel, State};
use super::values::Looking;
use super::{Keyboard, Shared, TerminalMode};

/// What the thread is to do.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    wanted: Mutex<Wanted>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Wanted {
    /// The text to complete.
    text: Option<String>,
    /// Whether the image in the clipboard is wanted.
    image: bool,
    ends: bool,
}

impl Jobs {
    fn ask(&self, ask: impl FnOnce(&mut Wanted)) {
        ask(&mut self.wanted.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
    }

    /// Ends the thread.
    pub(super) fn end(&self) {
        self.ask(|wanted| wanted.ends = true);
    }

    /// Waits for something to do; `None` at the end.
    fn next(&self) -> Option<(Option<String>, bool)> {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if wanted.ends {
                return None;
            }
            let (text, image) = (wanted.text.take(), std::mem::take(&mut wanted.image));
            if text.is_some() || image {
                return Some((text, image));
            }
            wanted = self.changed.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Starts the thread that looks things up. It ends with the terminal.
pub(super) fn start(shared: &Arc<Shared>) -> std::io::Result<()> {
    let assist = &shared.setup.assist;
    let is_needed = assist.completer.looked_up.is_some() || assist.image.is_some();
    if !is_needed || shared.setup.keyboard != Keyboard::Always || shared.setup.mode != TerminalMode::Ansi {
        return Ok(());
    }
    let (jobs, weak) = (Arc::clone(&shared.jobs), Arc::downgrade(shared));
    std::thread::Builder::new().name("completions".to_owned()).spawn(move || work(&jobs, &weak))?;
    Ok(())
}

fn work(jobs: &Jobs, shared: &Weak<Shared>) {
    while let Some((text, image)) = jobs.next() {
        let Some(shared) = shared.upgrade() else { return };
        if image && let Some(take) = &shared.setup.assist.image {
            let taken = take();
            shared.image_taken(taken);
        }
        if let Some(text) = text
            && let Some(look_up) = &shared.setup.assist.completer.looked_up
        {
            let found = look_up(&text);
            shared.looked_up(&text, found);
        }
    }
}

impl Shared {
    /// Opens, changes or closes the list after the text was edited.
    pub(super) fn complete(&self, state: &mut State) {
        self.complete_with(state, false);
    }

    fn complete_with(&self, state: &mut State, continues: bool) {
        if !state.input.editor.is_behind_word() {
            return state.input.close_menu();
        }
        let before = state.input.editor.before();
        match self.lookup(before) {
            Lookup::Now(found) => {
                state.input.looking = None;
                list(state, found, continues);
            }
            Lookup::Later => {
                // The list stays until there is a newer one, so that it does not flicker.
                let before = before.to_owned();
                state.input.looking = Some(Looking { before: before.clone(), inserts: false, continues });
                self.jobs.ask(|wanted| wanted.text = Some(before));
            }
            Lookup::Nothing => state.input.close_menu(),
        }
    }

    fn lookup(&self, before: &str) -> Lookup {
        match &self.setup.assist.completer.at_once {
            Some(at_once) if self.setup.mode == TerminalMode::Ansi => at_once(before),
            Some(_) | None => Lookup::Nothing,
        }
    }

    /// Handles Tab. Returns false if there is nothing to complete.
    pub(super) fn tab(&self, state: &mut State) -> bool {
        let before = state.input.editor.before().to_owned();
        if state.input.menu().is_some_and(|menu| menu.made_for == before) {
            self.accept(state);
            return true;
        }
        match self.lookup(&before) {
            Lookup::Now(found) => {
                list(state, found, false);
                let is_completed = state.input.menu().is_some();
                self.accept(state);
                is_completed
            }
            Lookup::Later => {
                state.input.looking = Some(Looking { before: before.clone(), inserts: true, continues: false });
                self.jobs.ask(|wanted| wanted.text = Some(before));
                true
            }
            Lookup::Nothing => false,
        }
    }

    /// Inserts the selected entry. Returns whether the line is complete with it.
    pub(super) fn accept(&self, state: &mut State) -> bool {
        let Some(menu) = state.input.take_menu() else { return false };
        let Some(selected) = menu.selected() else { return false };
        state.input.editor.complete(menu.replaced, &selected.text);
        state.input.looking = None;
        let sends = selected.sends;
        // A folder, or a command with an argument, is completed further.
        if !sends && matches!(self.lookup(state.input.editor.before()), Lookup::Now(_) | Lookup::Later) {
            self.complete_with(state, true);
        }
        sends
    }

    /// Handles a key for the list. Returns false if it is not one.
    pub(super) fn menu_key(&self, state: &mut State, key: &Key) -> bool {
        let Panel::Menu(menu) = &mut state.input.panel else { return false };
        match key {
            Key::Up | Key::Down => menu.moves(*key == Key::Down),
            Key::Escape => state.input.close_menu(),
            Key::Enter => {
                // The user may have typed on since the list was made.
                let Some(written) = menu.written_now(state.input.editor.before()).map(str::trim_end) else {
                    state.input.close_menu();
                    return false;
                };
                // What is written out is sent as it is, unless the user chose something else; so is a folder that was
                // inserted, and what the list has no entry for yet.
                let is_whole = menu.candidates.iter().any(|candidate| candidate.text.trim_end() == written);
                let is_made_for_it = menu.made_for == state.input.editor.before()
                    || menu.selected().is_some_and(|selected| selected.text.contains(written));
                let is_wanted = !(is_whole || written.is_empty() || menu.continues);
                if !is_made_for_it || !(menu.was_moved || is_wanted) {
                    state.input.close_menu();
                    return false;
                }
                menu.replaced = written.len();
                // Enter on a command that is complete also sends it.
                return !self.accept(state);
            }
            _ => return false,
        }
        true
    }

    /// Takes what was looked up, unless the text has changed since.
    fn looked_up(&self, text: &str, found: Completions) {
        let mut guard = self.state();
        let state = &mut *guard;
        let Some(looking) = state.input.looking.take_if(|looking| looking.before == text) else { return };
        if state.input.editor.before() != text {
            return state.input.close_menu();
        }
        let may_grow = found.may_grow;
        if let Some(note) = &found.note {
            state.input.hint = Some(Hint::Key(note.clone()));
        }
        list(state, found, looking.continues);
        if looking.inserts && !may_grow {
            self.accept(state);
        } else if may_grow {
            state.input.looking = Some(looking);
            let text = text.to_owned();
            self.jobs.ask(|wanted| {
                wanted.text.get_or_insert(text);
            });
        }
        self.redraw(state);
    }

    /// Asks for the image in the clipboard.
    pub(super) fn wants_image(&self, state: &mut State) {
        if self.setup.assist.image.is_some() && self.setup.mode == TerminalMode::Ansi {
            state.input.hint = Some(Hint::Key("reading the clipboard".to_owned()));
            self.jobs.ask(|wanted| wanted.image = true);
        }
    }

    fn image_taken(&self, taken: Result<Folded, String>) {
        let mut state = self.state();
        match taken {
            Ok(Folded { text, label }) => {
                state.input.hint = None;
                state.input.editor.insert_folded(&text, &label);
                state.input.editor.insert(" ");
            }
            Err(why) => state.input.hint = Some(Hint::Key(why)),
        }
        self.redraw(&mut state);
    }
}

fn list(state: &mut State, found: Completions, continues: bool) {
    let before = state.input.take_menu();
    let Some(mut menu) = Menu::new(state.input.editor.before(), found.replaced, found.candidates) else { return };
    if let Some(before) = &before {
        menu.select_again(before);
    }
    menu.continues = continues;
    state.input.panel = Panel::Menu(menu);
}
