//! What a server answered when it wanted the user to log in: it says where that is done, and for what.

use std::sync::{Arc, Mutex, PoisonError};

/// What a server answered when it wanted the user to log in.
#[derive(Clone, Debug, Default)]
pub(super) struct Challenge(Arc<Mutex<Option<String>>>);

impl Challenge {
    pub(super) fn set(&self, challenge: Option<&str>) {
        if let Some(challenge) = challenge {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(challenge.to_owned());
        }
    }

    pub(super) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
