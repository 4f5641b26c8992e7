//! A clock that pauses while the user is asked, so that waiting for an answer does not count against a time limit.
//!
//! Asking takes a guard and drops it with the answer; a deadline reads how long the clock was paused. Clones share one
//! clock, as an agent does with its subagents.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The clock, which counts how long the user was asked in total.
#[derive(Clone, Debug, Default)]
pub struct PausableClock(Arc<Shared>);

/// Pauses the clock until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct PauseGuard(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The number of guards.
    guards: usize,
    /// When the first of them was taken.
    since: Option<Instant>,
    /// How long the clock was paused before that.
    before: Duration,
}

impl PausableClock {
    /// Pauses the clock until the guard is dropped. There may be several guards at once.
    pub fn pause(&self) -> PauseGuard {
        let mut state = self.0.state();
        state.guards += 1;
        state.since.get_or_insert_with(Instant::now);
        drop(state);
        self.0.changed.notify_waiters();
        PauseGuard(Arc::clone(&self.0))
    }

    /// Returns how long it was paused so far.
    pub fn paused_for(&self) -> Duration {
        let state = self.0.state();
        state.before + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Waits until it ran for `limit` since `began`, when it had been paused for `already`. Returns at once if it
    /// already has.
    pub async fn passed(&self, began: Instant, already: Duration, limit: Duration) {
        loop {
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let end = began + limit + self.paused_for().saturating_sub(already);
            if self.0.state().guards > 0 {
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
        // Each change is complete before a panic could occur.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PauseGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.guards = state.guards.saturating_sub(1);
        if state.guards == 0
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
    async fn clock_limit_does_not_count_pauses() {
        let run_clock = PausableClock::default();
        let began = Instant::now();
        let passed = tokio::spawn({
            let run_clock = run_clock.clone();
            async move { run_clock.passed(began, Duration::ZERO, 10 * SECOND).await }
        });
        tokio::time::sleep(4 * SECOND).await;
        let first = run_clock.pause();
        tokio::time::sleep(60 * SECOND).await;
        let second = run_clock.pause();
        drop(first);
        tokio::time::sleep(60 * SECOND).await;
        assert!(!passed.is_finished());
        drop(second);
        assert_eq!(run_clock.paused_for(), 120 * SECOND);
        passed.await.expect("it ends");
        assert_eq!(began.elapsed(), 130 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn clock_pause_before_the_limit_began_gives_no_more_time() {
        let run_clock = PausableClock::default();
        let guard = run_clock.pause();
        tokio::time::sleep(50 * SECOND).await;
        drop(guard);
        let (began, already) = (Instant::now(), run_clock.paused_for());
        run_clock.passed(began, already, 3 * SECOND).await;
        assert_eq!(began.elapsed(), 3 * SECOND);
    }
}
