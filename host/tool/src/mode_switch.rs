//! The mode that the user chose in an answer, on its way to the one who can change the mode.
//!
//! An answer is given while a run goes on, and the tools of a run are what the mode let them be at its beginning. So
//! the run ends after the calls of that reply; its owner takes the mode, puts the tools together anew and lets the
//! agent go on.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ApprovalMode;

/// The mode that the user chose, until it is taken. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct ModeSwitch(Arc<Mutex<Option<ApprovalMode>>>);

impl ModeSwitch {
    /// Takes the mode; `None` if none was chosen since the last time.
    pub fn take(&self) -> Option<ApprovalMode> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether a mode was chosen that nobody has taken.
    pub fn is_chosen(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes note of the mode that the user chose. The last one counts.
    pub fn choose(&self, mode: ApprovalMode) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(mode);
    }
}
