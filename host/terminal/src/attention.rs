//! The attention of a user who looks elsewhere: the title of the window, and an alert when a turn ends or a question
//! waits.
//!
//! The terminal reports whether keys go to it. One that never does gets no alert, since nobody knows where the user
//! looks. Promises: no text of others reaches the title or an alert unescaped; a terminal that cannot move its cursor
//! gets neither.
//!
//! Deliberately not here: the modes that ask for the reports and keep the title (`raw`), and running a program.

use super::state::{Holder, State, Turn};
use super::values::Focus;
use super::width::truncate_to_width;
use super::{Keyboard, Setup, Shared, Terminal, TerminalMode, raw};

/// The longest title, in columns. Window managers cut longer ones.
const TITLE: usize = 80;

/// How the attention of a user is drawn.
#[derive(Default)]
pub struct Attention {
    /// What the title and the alerts name: the program and the folder.
    pub name: String,
    /// Whether the title of the window is set.
    pub title: Title,
    /// What the terminal is sent.
    pub alert: Alert,
    /// Gets the words of each alert. It must not block.
    pub notify: Option<Notify>,
}

/// See [`Attention::notify`].
pub type Notify = Box<dyn Fn(&str) + Send + Sync>;

/// Whether the title of the window is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Title {
    /// It says what goes on, and is as before at the end.
    Set,
    /// It stays as it is.
    #[default]
    Kept,
}

/// What a terminal is sent to alert its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alert {
    /// Nothing.
    #[default]
    Nothing,
    /// The bell.
    Bell,
    /// The sequence OSC 9, which many terminals show as a notification of the desktop.
    Osc9,
}

/// Sets what the modes of the terminal include for this setup.
pub(super) fn prepare(setup: &mut Setup) {
    let is_used = setup.keyboard == Keyboard::Always && setup.mode == TerminalMode::Ansi;
    if !is_used {
        setup.attention = Attention::default();
    }
    let Attention { name, title, alert, notify } = &mut setup.attention;
    *name = host_text::visible_line(name).into_owned();
    let focus = *alert != Alert::Nothing || notify.is_some();
    if is_used {
        raw::set_extras(raw::Extras { focus, title: *title == Title::Set });
    }
}

impl Terminal {
    /// Alerts the user that a turn has ended, if the terminal reported that keys go elsewhere and nothing follows by
    /// itself. Returns whether the bell rang.
    pub fn alert(&self, words: &str) -> bool {
        let mut state = self.0.state();
        state.input.queued.is_empty() && self.0.alert(&mut state, words)
    }
}

impl Shared {
    /// Alerts the user, if the terminal reported that keys go elsewhere; returns whether the bell rang.
    pub(super) fn alert(&self, state: &mut State, words: &str) -> bool {
        let Attention { name, alert, notify, .. } = &self.setup.attention;
        if state.conversation.focus != Focus::Elsewhere || state.output.holder == Holder::Other {
            return false;
        }
        let words = format!("{name}: {}", host_text::visible_line(words));
        if let Some(notify) = notify {
            notify(&words);
        }
        match alert {
            Alert::Nothing => {}
            Alert::Bell => self.write(state, "\u{7}"),
            Alert::Osc9 => self.write(state, &format!("\u{1b}]9;{words}\u{1b}\\")),
        }
        *alert == Alert::Bell
    }

    /// Returns the sequence that sets the title, if it is no longer true; else an empty text.
    pub(super) fn new_title(&self, state: &mut State) -> String {
        let Attention { name, title: Title::Set, .. } = &self.setup.attention else { return String::new() };
        let is_asking = state.questions.shown().is_some();
        let mark = match &state.conversation.turn {
            _ if is_asking => "? ",
            Turn::Model { .. } => "◐ ",
            Turn::Between | Turn::User => "",
        };
        let title = truncate_to_width(&format!("{mark}{name}"), TITLE);
        if state.output.title.as_ref() == Some(&title) {
            return String::new();
        }
        let sequence = format!("\u{1b}]2;{title}\u{1b}\\");
        state.output.title = Some(title);
        sequence
    }
}
