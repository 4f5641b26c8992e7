//! The time limit of a guest, which stands still while the guest waits for what has limits of its own.
//!
//! Deliberately not here: how long a guest may take (`limits`).

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::lock::lock;

/// A clock that can be paused. Clones share one clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct GuestClock(Arc<Shared>);

/// Pauses the clock until it is dropped.
#[must_use]
pub(crate) struct Paused(GuestClock);

/// The limit has passed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Elapsed;

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Since when it stands still. A guest makes one host call at a time, so one pause is enough.
    since: Option<Instant>,
    /// How long it stood still before that.
    before: Duration,
}

impl GuestClock {
    /// Pauses the clock until the guard is dropped.
    pub(crate) fn pause(&self) -> Paused {
        self.state().since.get_or_insert_with(Instant::now);
        self.0.changed.notify_one();
        Paused(self.clone())
    }

    /// Runs work until it is done, or until the clock has run for `limit` meanwhile.
    pub(crate) async fn timeout<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Result<T, Elapsed> {
        let began = Instant::now();
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = self.passed(began, limit) => Err(Elapsed),
        }
    }

    async fn passed(&self, began: Instant, limit: Duration) {
        loop {
            let (is_paused, before) = {
                let state = self.state();
                (state.since.is_some(), state.before)
            };
            // One permit is kept for a change that comes before this waits.
            let changed = self.0.changed.notified();
            let end = began + limit + before;
            if is_paused {
                changed.await;
            } else if Instant::now() >= end {
                return;
            } else {
                tokio::select! {
                    () = tokio::time::sleep_until(end) => {}
                    () = changed => {}
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        let mut state = self.0.state();
        if let Some(since) = state.since.take() {
            state.before += since.elapsed();
        }
        drop(state);
        self.0.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn guest_that_takes_too_long_is_ended_and_one_that_waits_is_not() {
        let clock = GuestClock::default();
        assert_eq!(clock.timeout(SECOND, std::future::pending::<()>()).await, Err(Elapsed));
        let waits = async |clock: &GuestClock, own: Duration| {
            let paused = clock.pause();
            tokio::time::sleep(SECOND * 3600).await;
            drop(paused);
            tokio::time::sleep(own).await;
        };
        assert_eq!(clock.timeout(SECOND, waits(&clock, SECOND / 2)).await, Ok(()));
        // The pause before this one began does not count for it.
        let clock = GuestClock::default();
        assert_eq!(clock.timeout(SECOND, waits(&clock, SECOND * 2)).await, Err(Elapsed));
    }
}
