//! What came of a hook, in one word.
//!
//! The serialised names are stable: the log and JSON lines have them. Deliberately not here: what a hook is asked
//! about, and what follows from its answer.

use serde::{Deserialize, Serialize};

/// What came of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookResult {
    /// It said nothing.
    Nothing,
    /// It added context for the model.
    Context,
    /// It allowed what it was asked about, as far as the grants reach.
    Allowed,
    /// It wants the user to be asked.
    Asked,
    /// It changed the arguments of a call, or its output.
    Changed,
    /// It denied what it was asked about.
    Denied,
    /// It ended the run.
    Stopped,
    /// It failed, and what it was asked about is denied.
    FailedClosed,
    /// It failed, and nothing depends on it.
    Failed,
}
