//! What the conversation does for its input line: completions, the editor, images, modes, and words for a run under
//! way.
//!
//! Deliberately not here: keys and drawing, which the terminal has.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use host_app::session::Session;
use host_app::session::aside::Steering;
use host_settings::configuration::Keys;
use host_settings::error::Failure;
use host_terminal::{self as terminal, Assist, Keymap, ModeShown, Terminal};
use host_text::visible;
use host_tool::ApprovalMode;

use super::commands;
use super::{Repl, complete, image};
use crate::approval::edit::Editor;
use crate::exit;
use crate::printer::Style;

/// What is shown beneath a line that begins with `!`.
const SHELL: &str = "runs as you, in no sandbox · the model gets the output with your next prompt";

/// The mode in use, and the one that the user selected since.
pub(super) type SharedModes = Arc<Mutex<Modes>>;

/// See [`SharedModes`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Modes {
    now: ApprovalMode,
    wanted: Option<ApprovalMode>,
}

/// Takes note of the mode in use.
pub(super) fn now(modes: &SharedModes, mode: ApprovalMode) {
    modes.lock().unwrap_or_else(PoisonError::into_inner).now = mode;
}

/// The label before the text that is being written.
pub(super) fn label(now: ApprovalMode) -> String {
    format!("{now} › ")
}

/// Puts together what is done for the input line.
pub(super) fn assist(session: &Session, modes: &SharedModes, outputs: &Arc<Mutex<PathBuf>>) -> Assist {
    let (app, possible) = (session.app(), session.possible_modes());
    let editor = Editor::from_environment(app.environment());
    let (environment, workspace) = (app.environment().clone(), app.workspace().root().to_owned());
    let (modes, outputs) = (Arc::clone(modes), Arc::clone(outputs));
    Assist {
        keymap: match app.configuration().conversation().keys {
            Keys::Emacs => Keymap::Emacs,
            Keys::Vim => Keymap::Vim,
        },
        completer: complete::completer(app),
        edit: Some(Box::new(move |text| editor.edit_now(text, "prompt.md"))),
        image: Some(Box::new(move || {
            let folder = outputs.lock().unwrap_or_else(PoisonError::into_inner).clone();
            image::take(&environment, &workspace, &folder)
        })),
        dropped: Some(Box::new(image::dropped)),
        next_mode: Some(Box::new(move || {
            let mut modes = modes.lock().unwrap_or_else(PoisonError::into_inner);
            let now = modes.wanted.unwrap_or(modes.now);
            let mut others =
                std::iter::successors(Some(now.next()), |mode| Some(mode.next())).take(ApprovalMode::ALL.len());
            let next = others.find(|mode| possible.contains(mode)).unwrap_or(now);
            modes.wanted = Some(next);
            ModeShown { label: label(next), words: format!("mode: {next} – {}", next.about()) }
        })),
        twice: Some(("/rewind", "to go back to an earlier prompt")),
        can_steer: Some(Box::new(|text| commands::prompt(text).is_some())),
        special: Some(('!', SHELL)),
    }
}

impl Repl {
    /// Changes to the mode that the user selected with the key.
    pub(super) fn next_mode(&mut self) {
        let wanted = {
            let mut modes = self.modes.lock().unwrap_or_else(PoisonError::into_inner);
            let wanted = modes.wanted.take();
            // The next press may come before the session has changed, and goes on from here.
            modes.now = wanted.unwrap_or(modes.now);
            wanted
        };
        if let Some(wanted) = wanted.filter(|wanted| *wanted != self.session.mode())
            && let Err(failure) = self.session.set_mode(wanted)
        {
            self.told(&failure);
        }
    }
}

/// What the user sends while the model works.
pub(super) struct Steered {
    pub(super) terminal: Terminal,
    pub(super) style: Style,
}

impl Steering for Steered {
    fn take(&self) -> Option<String> {
        // The terminal hands over prompts alone.
        commands::prompt(&self.terminal.take_steering()?)
    }

    fn rejected(&self, text: &str, failure: &Failure) {
        self.terminal.suggest(text);
        self.terminal.lines(&exit::words(failure, self.style));
    }

    fn note(&self, note: &str) {
        let note = terminal::wrapped(&visible(note), self.terminal.columns(), 0);
        self.terminal.lines(&self.style.dim(&note));
    }
}
