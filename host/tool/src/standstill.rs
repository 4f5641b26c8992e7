//! Time that does not count: while a person is asked, a run's deadline stands still.
//!
//! Whoever asks holds the standstill until the answer is there; whoever keeps a deadline reads how long it was held.
//! Clones are one standstill, which an agent shares with the agents beneath it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How long, in all, somebody was being asked.
#[derive(Clone, Debug, Default)]
pub struct Standstill(Arc<Shared>);

/// Somebody is being asked; dropping it says that they no longer are.
#[derive(Debug)]
#[must_use]
pub struct Asking(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// How many ask.
    asking: usize,
    /// When the first of them began.
    since: Option<Instant>,
    /// How long it was held before that.
    before: Duration,
}

impl Standstill {
    /// Stands still until what it returns is dropped. Several may hold it at once.
    pub fn hold(&self) -> Asking {
        let mut state = self.0.state();
        state.asking += 1;
        state.since.get_or_insert_with(Instant::now);
        drop(state);
        self.0.changed.notify_waiters();
        Asking(Arc::clone(&self.0))
    }

    /// How long it was held until now.
    pub fn held(&self) -> Duration {
        let state = self.0.state();
        state.before + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Waits until it has not been held for `limit` since `began`, of which `already` was held then. Ends at once when
    /// that is so already.
    pub async fn passed(&self, began: Instant, already: Duration, limit: Duration) {
        loop {
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let end = began + limit + self.held().saturating_sub(already);
            if self.0.state().asking > 0 {
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
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is whole before a panic could come.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.asking = state.asking.saturating_sub(1);
        if state.asking == 0
            && let Some(since) = state.since.take()
        {
            state.before += since.elapsed();
        }
        drop(state);
        self.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_limit_counts_the_time_in_which_nobody_is_asked() {
        let standstill = Standstill::default();
        let began = Instant::now();
        let passed = tokio::spawn({
            let standstill = standstill.clone();
            async move { standstill.passed(began, Duration::ZERO, 10 * SECOND).await }
        });
        tokio::time::sleep(4 * SECOND).await;
        let first = standstill.hold();
        tokio::time::sleep(60 * SECOND).await;
        let second = standstill.hold();
        drop(first);
        tokio::time::sleep(60 * SECOND).await;
        assert!(!passed.is_finished());
        drop(second);
        assert_eq!(standstill.held(), 120 * SECOND);
        passed.await.expect("it ends");
        assert_eq!(began.elapsed(), 130 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_held_before_the_limit_began_gives_no_more_time() {
        let standstill = Standstill::default();
        let asking = standstill.hold();
        tokio::time::sleep(50 * SECOND).await;
        drop(asking);
        let (began, already) = (Instant::now(), standstill.held());
        standstill.passed(began, already, 3 * SECOND).await;
        assert_eq!(began.elapsed(), 3 * SECOND);
    }
}
