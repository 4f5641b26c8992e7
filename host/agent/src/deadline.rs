//! When a run must end: its limit after it began, not counting the time in which a user was asked.

use std::time::Duration;

use host_tool::PausableClock;
use tokio::time::Instant;

/// Longer than any run: a hundred years. A later time may be none that the machine can name.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// A time limit that runs from when it was made.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    began: Instant,
    limit: Duration,
    run_clock: PausableClock,
    /// How long it had been held before this limit began.
    already: Duration,
}

impl Deadline {
    /// The limit, counted from now; `None` never ends.
    pub(crate) fn after(limit: Option<Duration>, run_clock: &PausableClock) -> Self {
        let (run_clock, already) = (run_clock.clone(), run_clock.paused_for());
        Self { began: Instant::now(), limit: limit.unwrap_or(FAR).min(FAR), run_clock, already }
    }

    /// When it is over, if nobody is asked anything from now on.
    pub(crate) fn at(&self) -> Instant {
        self.began + self.limit + self.run_clock.paused_for().saturating_sub(self.already)
    }

    /// Whether it is over.
    pub(crate) fn has_passed(&self) -> bool {
        self.began.elapsed().saturating_sub(self.run_clock.paused_for().saturating_sub(self.already)) >= self.limit
    }

    /// Waits until it is over.
    pub(crate) async fn passed(&self) {
        self.run_clock.passed(self.began, self.already, self.limit).await;
    }
}
