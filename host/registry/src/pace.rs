//! How long an exchange with a server may take in all.
//!
//! Promises: a server that answers slowly, byte by byte, cannot make a command wait longer than the time for what it
//! has declared, whatever it answers. The limits of a single pause and of a connection are the client's.

use std::error::Error as _;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use host_http::words;
use reqwest::{RequestBuilder, Response};
use tokio::time::Instant;

use crate::RegistryError;

/// The time of a transfer besides its bytes: logins, manifests, lists of signatures. Protects the user from a server
/// that sends these byte by byte.
const BASE: Duration = Duration::from_secs(120);

/// The slowest average in bytes a second that is waited for: a bad mobile connection. Protects the user from a server
/// that sends a bundle byte by byte.
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

/// Does the work of one exchange with a server, in the time for all of it.
///
/// Each public function of this crate that asks a server is inside of one: nothing is sent without a [`Timer`], and
/// nothing else makes one.
pub(crate) async fn within<T, W>(pace: Pace, server: &str, work: impl FnOnce(Timer) -> W) -> Result<T, RegistryError>
where
    W: Future<Output = Result<T, RegistryError>>,
{
    let timer = Timer::new(pace, server);
    let mut work = pin!(work(timer.clone()));
    loop {
        let limit = timer.limit();
        match tokio::time::timeout_at(timer.begun + limit, work.as_mut()).await {
            Ok(ended) => return ended,
            // More was declared meanwhile.
            Err(_) if timer.limit() > limit => {}
            Err(_) => {
                let (registry, what) = (timer.server.to_string(), timer.known().what.clone());
                return Err(RegistryError::TooSlow { registry, what, limit });
            }
        }
    }
}

/// The time of one exchange, from its beginning until everything has come. It grows as sizes become known.
#[derive(Clone)]
pub(crate) struct Timer {
    pace: Pace,
    server: Arc<str>,
    begun: Instant,
    known: Arc<Mutex<Known>>,
}

/// What is known of an exchange.
#[derive(Default)]
struct Known {
    /// The bytes that it has.
    expected: u64,
    /// The part that is being transferred, for the error.
    what: String,
}

impl Timer {
    fn new(pace: Pace, server: &str) -> Self {
        Self { pace, server: server.into(), begun: Instant::now(), known: Arc::default() }
    }

    /// Sends a request to any server.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, RegistryError> {
        let failed = |error: reqwest::Error| {
            let registry = self.server.to_string();
            match error.source().filter(|_| error.is_redirect()) {
                // It answered, and where it sends the request is what is wrong, which the client's policy says.
                Some(policy) => RegistryError::Redirected { registry, why: policy.to_string() },
                None => RegistryError::Unreachable { registry, why: words(&error) },
            }
        };
        request.send().await.map_err(failed)
    }

    /// Names the part that is transferred from now on.
    pub(crate) fn begin(&self, what: impl Into<String>) {
        self.known().what = what.into();
    }

    /// Adds bytes that are still to come. The caller bounds them.
    pub(crate) fn expect(&self, more: u64) {
        let mut known = self.known();
        known.expected = known.expected.saturating_add(more);
    }

    /// Sets how many bytes come in all, unless more were expected. The caller bounds them.
    pub(crate) fn expect_all(&self, all: u64) {
        let mut known = self.known();
        known.expected = known.expected.max(all);
    }

    /// Returns how much of the time is left.
    pub(crate) fn left(&self) -> Duration {
        self.limit().saturating_sub(self.begun.elapsed())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn limit(&self) -> Duration {
        let seconds = self.known().expected as f64 / f64::from(self.pace.slowest.max(1));
        self.pace.base.saturating_add(Duration::from_secs_f64(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registry_time_grows_with_what_was_declared() {
        let timer = Timer::new(Pace { base: Duration::from_secs(2), slowest: 1 << 10 }, "a server");
        for (more, all, seconds) in [(0, 0, 2), (1 << 10, 0, 3), (1 << 10, 0, 4), (0, 1 << 10, 4), (0, 4 << 10, 6)] {
            timer.expect(more);
            timer.expect_all(all);
            assert_eq!(timer.limit(), Duration::from_secs(seconds), "after {more} more and {all} in all");
        }
    }
}
