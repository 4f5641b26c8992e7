//! What a model gets to know, with the next prompt, of a run that was cut short.
//!
//! Deliberately not here: what stays of it. That is in the history: whole exchanges, and calls with what became of
//! them.

use host_journal::TerminateReason;
use host_message::Part;

const STOPPED: &str = "\n[The user stopped your work on the prompt before this one. What it changed until then is still \
                       changed. Do not continue it unless the user asks for that.]";

const FAILED: &str = "\n[Your work on the prompt before this one broke off because of an error. What it changed until \
                      then is still changed.]";

/// Returns the note behind the next prompt; `None` for a run that reached its end, or a limit that the model knows of.
pub(super) fn note(reason: TerminateReason) -> Option<Part> {
    match reason {
        TerminateReason::Aborted => Some(Part::text(STOPPED)),
        TerminateReason::Error => Some(Part::text(FAILED)),
        TerminateReason::Goal
        | TerminateReason::Timeout
        | TerminateReason::MaxTurns
        | TerminateReason::ErrorNoCompleteTaskCall => None,
    }
}
