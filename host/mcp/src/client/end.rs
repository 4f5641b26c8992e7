//! How a server's program ended, for the requests that it left without an answer.

use std::sync::{Arc, Mutex, PoisonError};

/// How the program of a connection ended, as far as its stream did not show that. The text is safe to show.
#[derive(Clone, Debug, Default)]
pub(super) struct End(Arc<Mutex<Option<String>>>);

impl End {
    /// Sets it; `None` for a program that runs.
    pub(super) fn set(&self, why: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    pub(super) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
