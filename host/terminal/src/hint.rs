//! The line below the text that is being written, and when it ends.
//!
//! Promises that what answers a key stays until the next key: the model may end its turn right behind that key, and the
//! user would wait for an answer that was there for a moment. Deliberately not here: how the line is drawn.

/// A line below the text that is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// The answer to a key, which the next key ends.
    Key(String),
    /// A line about the turn, which the next key ends or the next turn.
    Turn(String),
}

impl Hint {
    /// Returns its words.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Key(words) | Self::Turn(words) => words,
        }
    }

    /// Removes a line about a turn that has ended.
    pub(super) fn end_turn(hint: &mut Option<Self>) {
        hint.take_if(|hint| matches!(hint, Self::Turn(_)));
    }
}
