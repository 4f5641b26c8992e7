//! The reasons for which a run ends.

use serde::{Deserialize, Serialize};

/// The six ends of a run. Only `Goal` is an end that was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TerminateReason {
    /// The task is done.
    Goal,
    /// The time limit passed.
    Timeout,
    /// The turn limit was met.
    MaxTurns,
    /// The user cancelled.
    Aborted,
    /// Something failed.
    Error,
    /// The model ended a reply without a call, and had to call `complete_task`.
    ErrorNoCompleteTaskCall,
}

impl TerminateReason {
    /// The word that events, logs and models have for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Goal => "GOAL",
            Self::Timeout => "TIMEOUT",
            Self::MaxTurns => "MAX_TURNS",
            Self::Aborted => "ABORTED",
            Self::Error => "ERROR",
            Self::ErrorNoCompleteTaskCall => "ERROR_NO_COMPLETE_TASK_CALL",
        }
    }

    /// Returns whether the run was cut short, by the user or by a failure, and not by a limit.
    pub fn is_cut_short(self) -> bool {
        match self {
            Self::Aborted | Self::Error => true,
            Self::Goal | Self::Timeout | Self::MaxTurns | Self::ErrorNoCompleteTaskCall => false,
        }
    }

    /// Returns whether the model gets one last request.
    pub fn can_recover(self) -> bool {
        match self {
            Self::Timeout | Self::MaxTurns | Self::ErrorNoCompleteTaskCall => true,
            Self::Goal | Self::Aborted | Self::Error => false,
        }
    }
}
