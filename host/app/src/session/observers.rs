//! Observers of a session: any number of them, each of which gets every event in order.

use std::sync::{Arc, Mutex, PoisonError};

use host_agent::{Event, Observer};

/// A list of observers that is an observer itself.
#[derive(Default)]
pub struct Observers(Mutex<Vec<Arc<dyn Observer>>>);

impl Observers {
    /// Adds an observer, which gets every later event.
    pub fn add(&self, observer: Arc<dyn Observer>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(observer);
    }

    fn all(&self) -> Vec<Arc<dyn Observer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for Observers {
    fn event(&self, event: &Event<'_>) {
        // Not under the lock: an observer may add another one.
        for observer in self.all() {
            observer.event(event);
        }
    }
}
