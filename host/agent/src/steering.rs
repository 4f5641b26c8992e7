//! What a user says to a run under way, which the model gets at its next turn.
//!
//! Such a message follows the outcomes of calls, and begins with a note that says what it is: the model goes on with
//! its task, and taking back the prompt takes it back too. Deliberately not here: where the words come from.

use futures::future::BoxFuture;
use host_message::{Content, Part};

/// The note before the user's words.
const NOTE: &str = "[The user says this while you work. Take it into account and continue.]";

/// A source of words for a run under way.
///
/// For the implementer: `take` is called before each turn but the first, and must return at once if there is nothing.
/// What it returns was said; the caller does not ask for it again. Dropping the future while the run is cancelled loses
/// what was taken.
pub trait Steering: Send + Sync {
    /// Takes the next message: its text first, then what is attached to it. `None` if there is none.
    fn take(&self) -> BoxFuture<'_, Option<Vec<Part>>>;
}

/// The message as the model gets it.
pub(crate) fn message(parts: Vec<Part>) -> Vec<Part> {
    std::iter::once(Part::text(NOTE)).chain(parts).collect()
}

/// Returns whether a message was said to a run under way.
pub(crate) fn is_steering(content: &Content) -> bool {
    content.parts.iter().any(|part| part.as_text() == Some(NOTE))
}
