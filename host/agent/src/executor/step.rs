//! The two ways in which a turn can end: it took the run a step further, or it stops it.

use super::RunError;
use crate::Repeated;
use crate::reply::ReplyError;

/// The result of a turn.
pub(super) enum Step {
    /// Its calls have settled, and the model must get their outcomes.
    Called,
    /// The reply had no call; this is its text.
    Answered(String),
    /// `complete_task` accepted this.
    Completed(String),
    /// The user chose another approval mode, and the agent is to go on with the tools of that.
    Switched,
}

/// Why a turn did not finish.
pub(super) enum Stop {
    /// The user cancelled.
    Cancelled,
    /// The deadline passed.
    Late,
    /// The model repeats itself.
    Looped(Repeated),
    /// Something failed.
    Failed(RunError),
}

impl Stop {
    /// Returns whether what can be seen of the reply stays in the conversation: it broke off, and no request follows.
    /// What a service withdrew does not.
    pub(super) fn keeps_text(&self) -> bool {
        match self {
            Self::Cancelled | Self::Failed(RunError::Model(_) | RunError::Reply(ReplyError::Unfinished)) => true,
            Self::Late | Self::Looped(_) | Self::Failed(_) => false,
        }
    }
}

impl<E: Into<RunError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}
