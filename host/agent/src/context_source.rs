//! What joins a conversation between two turns, besides the user's words and the outcomes of calls.
//!
//! Deliberately not here: what it is and where it comes from.

use crate::KeptText;

/// A source of texts for the next turn of an agent.
///
/// For the implementer: `take` is called before each turn and must be quick. It gets the texts that the conversation
/// keeps already, and does not return one of them again. Each text is kept word for word. Those of the first turn stand
/// before the prompt.
pub trait ContextSource: Send + Sync {
    /// Takes the texts that the conversation does not have yet.
    fn take(&self, kept: &[KeptText]) -> Vec<KeptText>;
}
