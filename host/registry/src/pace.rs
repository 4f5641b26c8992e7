//! How long a transfer may take in all.
//!
//! Promises: a server that answers slowly, byte by byte, cannot make a pull or a push wait longer than the time for what
//! it has declared. The limits of a single pause and of a connection are the client's.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::RegistryError;

/// The time of a transfer besides its bytes: logins, manifests, lists of signatures. Protects the user from a server that
/// sends these byte by byte.
const BASE: Duration = Duration::from_secs(120);

/// The slowest average in bytes a second that is waited for: a bad mobile connection. Protects the user from a server that
/// sends a bundle byte by byte.
const SLOWEST: u32 = 32 << 10;

/// How long transfers may take. [`Pace::default`] suits any connection on which waiting makes sense.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The time besides the bytes.
    pub base: Duration,
    /// The slowest average, in bytes a second.
    pub slowest: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { base: BASE, slowest: SLOWEST }
    }
}

/// The time of one transfer, from its beginning until everything has come. It grows as sizes become known.
pub(crate) struct Timer {
    pace: Pace,
    begun: Instant,
    /// The bytes that the transfer is known to have.
    expected: u64,
}

impl Timer {
    pub(crate) fn start(pace: Pace) -> Self {
        Self { pace, begun: Instant::now(), expected: 0 }
    }

    /// Adds bytes that are still to come. The caller bounds them.
    pub(crate) fn expect(&mut self, more: u64) {
        self.expected = self.expected.saturating_add(more);
    }

    /// Sets how many bytes come in all, unless more were expected. The caller bounds them.
    pub(crate) fn expect_all(&mut self, all: u64) {
        self.expected = self.expected.max(all);
    }

    /// Waits for a part of the transfer, at most until the time for all of it is over.
    pub(crate) async fn wait<T>(
        &self,
        registry: &str,
        what: &str,
        work: impl Future<Output = Result<T, RegistryError>>,
    ) -> Result<T, RegistryError> {
        let limit = self.limit();
        tokio::time::timeout_at(self.begun + limit, work).await.unwrap_or_else(|_| {
            Err(RegistryError::TooSlow { registry: registry.to_owned(), what: what.to_owned(), limit })
        })
    }

    fn limit(&self) -> Duration {
        let seconds = self.expected as f64 / f64::from(self.pace.slowest.max(1));
        self.pace.base.saturating_add(Duration::from_secs_f64(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registry_time_grows_with_what_was_declared() {
        let mut timer = Timer::start(Pace { base: Duration::from_secs(2), slowest: 1 << 10 });
        for (more, all, seconds) in [(0, 0, 2), (1 << 10, 0, 3), (1 << 10, 0, 4), (0, 1 << 10, 4), (0, 4 << 10, 6)] {
            timer.expect(more);
            timer.expect_all(all);
            assert_eq!(timer.limit(), Duration::from_secs(seconds), "after {more} more and {all} in all");
        }
    }
}
