//! What the caller does for the prompt line: completions, an editor, images, the next mode.
//!
//! Each is optional: without it the key does nothing. Functions that may take time are called without the lock, in a
//! thread that draws nothing meanwhile, so that no key press waits for them. Deliberately not here: when they are
//! called.

use crate::menu::Candidate;

/// What can be done for the prompt line.
#[derive(Default)]
pub struct Assist {
    /// Whose keys the prompt line has.
    pub keymap: Keymap,
    /// Completes what is being written.
    pub completer: Completer,
    /// Opens an editor on a text while this process leaves the terminal alone. Returns the edited text, `None` if it
    /// was left as it was, or why it could not be edited.
    pub edit: Option<Edit>,
    /// Returns a mention of the image in the clipboard, or why there is none. Called in a thread of its own.
    pub image: Option<TakeImage>,
    /// Returns what a pasted text is written as, if it is the path of a dropped image. Looks nothing up.
    pub dropped: Option<Dropped>,
    /// Selects the next approval mode, and returns what is shown of it.
    pub next_mode: Option<NextMode>,
    /// Returns whether a text that is sent while the model works can be delivered at its next turn.
    pub can_steer: Option<CanSteer>,
    /// The command that Esc sends when it is pressed twice on an empty line, with the words for it.
    pub twice: Option<(&'static str, &'static str)>,
    /// A first character that makes a text something else than a prompt, with the words that say so.
    pub special: Option<(char, &'static str)>,
}

/// See [`Assist::edit`].
pub type Edit = Box<dyn Fn(&str) -> Result<Option<String>, String> + Send + Sync>;

/// See [`Assist::image`].
pub type TakeImage = Box<dyn Fn() -> Result<Folded, String> + Send + Sync>;

/// See [`Assist::dropped`].
pub type Dropped = Box<dyn Fn(&str) -> Option<Folded> + Send + Sync>;

/// See [`Assist::next_mode`].
pub type NextMode = Box<dyn Fn() -> ModeShown + Send + Sync>;

/// See [`Assist::can_steer`].
pub type CanSteer = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Whose keys the prompt line has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keymap {
    /// As in a shell.
    #[default]
    Emacs,
    /// As in vim.
    Vim,
}

/// What is shown of a mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeShown {
    /// The label before the text that is being written.
    pub label: String,
    /// A description of one line.
    pub words: String,
}

/// A text that is shown as something shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// The text that is sent.
    pub text: String,
    /// What is shown of it.
    pub label: String,
}

/// Returns at once whether the text before the cursor can be completed, without reading or sending anything.
pub type Glance = Box<dyn Fn(&str) -> Lookup + Send + Sync>;

/// Returns the completions of the text before the cursor, which takes time. Called in a thread of its own.
pub type LookUp = Box<dyn Fn(&str) -> Completions + Send + Sync>;

/// Completes the text before the cursor.
#[derive(Default)]
pub struct Completer {
    /// Decides at once.
    pub at_once: Option<Glance>,
    /// Completes what takes time.
    pub looked_up: Option<LookUp>,
}

/// Whether a text can be completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// With these.
    Now(Completions),
    /// With what has to be looked up.
    Later,
    /// Not at all.
    Nothing,
}

/// The completions of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// How many bytes before the cursor are replaced.
    pub replaced: usize,
    /// What can replace them, the best first.
    pub candidates: Vec<Candidate>,
    /// Whether there may be more when it is asked for again: not everything was looked at yet.
    pub may_grow: bool,
    /// Why there are none, if the user can do something about it.
    pub note: Option<String>,
}
