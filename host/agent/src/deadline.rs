//! When a run must end: its limit after it began, not counting the time in which a user was asked.

use std::time::Duration;

use host_tool::PausableClock;
use tokio::time::Instant;

/// Longer than any run: a hundred years. The machine may be unable to represent a later time.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// A time limit that runs from when it was made.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    began: Instant,
    limit: Duration,
    run_clock: PausableClock,
    /// How long the clock had been paused before this limit began.
    already: Duration,
}

impl Deadline {
    /// The limit, counted from now; `None` never ends.
    pub(crate) fn after(limit: Option<Duration>, run_clock: &PausableClock) -> Self {
        let (run_clock, already) = (run_clock.clone(), run_clock.paused_for());
        Self { began: Instant::now(), limit: limit.unwrap_or(FAR).min(FAR), run_clock, already }
    }

    /// Returns when the time is over, provided that the user is not asked anything in the meantime.
    pub(crate) fn at(&self) -> Instant {
        self.began + self.limit + self.run_clock.paused_for().saturating_sub(self.already)
    }

    /// Returns whether the time is over.
    pub(crate) fn has_passed(&self) -> bool {
        self.used() >= self.limit
    }

    /// Returns how much of the time has passed.
    pub(crate) fn used(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.run_clock.paused_for().saturating_sub(self.already))
    }

    /// Waits until it is over.
    pub(crate) async fn passed(&self) {
        self.run_clock.passed(self.began, self.already, self.limit).await;
    }
}
