//! What joins a conversation between two turns, besides the user's words and the outcomes of calls.
//!
//! Deliberately not here: what it is and where it comes from.

use crate::KeptText;

/// A source of texts for the next turn of an agent.
///
/// For the implementer: `take` is called before each turn, must be quick, and does not return the same text again. Each
/// text is kept word for word.
pub trait ContextSource: Send + Sync {
    /// Takes the texts that are new since the last turn.
    fn take(&self) -> Vec<KeptText>;
}
