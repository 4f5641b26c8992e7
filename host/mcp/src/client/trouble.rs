//! Why a connection ended, as far as the part that noticed it knows.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a connection ended. The texts are safe to show.
#[derive(Debug, Default)]
pub(super) struct Trouble(Mutex<Noticed>);

#[derive(Debug, Default)]
struct Noticed {
    why: Option<String>,
    hint: Option<String>,
}

impl Trouble {
    fn noticed(&self) -> MutexGuard<'_, Noticed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records why the connection ends; the first reason counts.
    pub(super) fn set(&self, why: String) {
        self.noticed().why.get_or_insert(why);
    }

    /// Records what may explain it, if nothing does yet.
    pub(super) fn hint(&self, hint: impl FnOnce() -> String) {
        self.noticed().hint.get_or_insert_with(hint);
    }

    /// Returns why the connection ended, and what was strange before; `None` if nothing was noticed.
    pub(super) fn why(&self) -> Option<String> {
        let noticed = self.noticed();
        match (&noticed.why, &noticed.hint) {
            (None, None) => None,
            (Some(one), None) | (None, Some(one)) => Some(one.clone()),
            (Some(why), Some(hint)) => Some(format!("{why}; {hint}")),
        }
    }
}
