//! The values that the state holds and that several files change.
//!
//! Deliberately not here: what happens with them (`attention`, `completing`, `sent`, `status`).

use super::editor::Draft;

/// Whether keys go to the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Focus {
    /// It has not said.
    #[default]
    Unknown,
    Here,
    Elsewhere,
}

/// A text whose completions are being looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Looking {
    pub(super) before: String,
    /// Whether Tab was pressed meanwhile: the best completion is inserted.
    pub(super) inserts: bool,
    /// Whether it continues what was inserted.
    pub(super) continues: bool,
}

/// A text that was sent and that nobody took so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) draft: Draft,
    pub(super) when: When,
}

/// When a text is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// At the model's next turn; if there is none, when it is done.
    NextTurn,
    /// When the model is done.
    Done,
}

/// A part of the row below the input line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusPart {
    /// The words, safe to show and without line breaks.
    pub words: String,
    /// How important it is: where the row is too narrow, the part with the lowest number is left out first.
    pub importance: u8,
}
