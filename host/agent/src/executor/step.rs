//! What a turn is taken with, and how it ends: it took the run a step further, or it stops it.

use host_message::{PromptId, ToolSpec};
use host_tool::Registry;

use super::RunError;
use crate::Repeated;
use crate::deadline::Deadline;
use crate::reply::ReplyError;

/// What a turn is taken with.
#[derive(Clone, Copy)]
pub(super) struct Turn<'t> {
    /// The id of its request.
    pub(super) prompt: &'t PromptId,
    /// The tools that the model is told of.
    pub(super) declared: &'t [ToolSpec],
    /// Those of them that run when they are called.
    pub(super) runnable: &'t Registry,
    pub(super) deadline: &'t Deadline,
}

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
