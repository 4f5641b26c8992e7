//! How a command ended that checks a run before it ends.
//!
//! The serialised names are stable: the log and JSON lines have them.

use serde::{Deserialize, Serialize};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// With exit code 0.
    Passed,
    /// With another exit code, or by a signal.
    Failed,
    /// It took too long.
    TimedOut,
    /// It did not start.
    NotStarted,
}
