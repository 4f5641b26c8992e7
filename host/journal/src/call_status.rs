//! How a call ended, in one word.
//!
//! The serialised names are stable: the log, JSON lines, editors and hooks have them. Deliberately not here: what a
//! user reads about a call ([`CallReport`](crate::CallReport)), and what the model does.

use host_tool::{FailureKind, Outcome};
use serde::{Deserialize, Serialize};

/// How a call ended, in one word and the kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum CallStatus {
    /// Well.
    Success,
    /// Not well.
    Error {
        /// The kind of failure.
        kind: FailureKind,
    },
    /// It was stopped, or never began.
    Cancelled,
    /// The process ended while it ran, so it is unknown how far it got. Recorded when a session is resumed.
    Interrupted,
}

impl CallStatus {
    /// The status of an outcome.
    pub fn from_outcome(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Success(_) => Self::Success,
            Outcome::Error(failure) => Self::Error { kind: failure.kind },
            Outcome::Cancelled { .. } => Self::Cancelled,
        }
    }
}
