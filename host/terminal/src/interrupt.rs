//! Ctrl-C as a value: the first press asks the work to stop, the second ends the process at once.
//!
//! Deliberately not here: the signals of the process, which the binary receives and hands on.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// The receiver of a Ctrl-C.
#[derive(Clone, Default)]
pub struct Interrupt {
    /// Is cancelled by the first Ctrl-C, or when the process is asked to end.
    pub stop: CancellationToken,
    /// Is cancelled when the process has to end at once.
    now: CancellationToken,
    instead: Arc<Mutex<Option<Instead>>>,
}

/// What a Ctrl-C does instead of stopping the work.
type Instead = Arc<dyn Fn() + Send + Sync>;

impl Interrupt {
    /// Handles a Ctrl-C.
    pub fn press(&self) {
        let instead = self.instead.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match instead {
            Some(instead) => instead(),
            None => self.end(),
        }
    }

    /// Makes Ctrl-C do this instead.
    pub fn divert(&self, instead: impl Fn() + Send + Sync + 'static) {
        *self.instead.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(instead));
    }

    /// Asks the process to end: in good order the first time, at once the second.
    pub fn end(&self) {
        if self.stop.is_cancelled() {
            self.now.cancel();
        }
        self.stop.cancel();
    }

    /// Waits until the process has to end at once.
    pub async fn ends_at_once(&self) {
        self.now.cancelled().await;
    }

    /// Makes the process end at once.
    pub fn end_at_once(&self) {
        self.stop.cancel();
        self.now.cancel();
    }
}
