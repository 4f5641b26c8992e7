//! Whether a service found in its cache what it must have: the requests of a conversation begin as the one before.
//!
//! Deliberately not here: what is sent, and what it costs.

use std::time::Duration;

use host_message::Usage;
use tokio::time::Instant;

/// How long services keep what they cached, according to the documentation of Anthropic and OpenAI. A reply that comes
/// later is not expected to have used it.
const KEPT: Duration = Duration::from_secs(5 * 60);

/// The shortest request that is expected in a cache, in tokens: services cache from 1,024 to 4,096 tokens on.
const SHORTEST: u64 = 8_192;

/// What is known about the cache of a conversation's service.
#[derive(Debug, Default)]
pub(super) struct Caching {
    /// Whether the service ever said that it caches: not all count it.
    counts: bool,
    /// When the last reply came.
    replied: Option<Instant>,
}

impl Caching {
    /// Takes note of a reply to a request that begins with one of `before` tokens; `None` if that was changed, or there
    /// was none. Returns whether the service did not have in its cache what it had been sent.
    pub(super) fn reply(&mut self, before: Option<u64>, usage: Usage) -> bool {
        let (counts, replied) = (self.counts, self.replied);
        self.counts |= usage.cached > 0 || usage.cache_write > 0;
        if usage.input > 0 {
            self.replied = Some(Instant::now());
        }
        let is_kept = replied.is_some_and(|replied| replied.elapsed() < KEPT);
        let expected = before.filter(|tokens| counts && is_kept && usage.input > 0 && *tokens >= SHORTEST);
        // Caches have blocks, and some keep only the latest of them.
        expected.is_some_and(|tokens| usage.cached < tokens / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cached: u64, cache_write: u64) -> Usage {
        Usage { input, cached, cache_write, ..Usage::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn cache_that_forgot_a_request_is_noticed_as_long_as_it_should_have_it() {
        let mut caching = Caching::default();
        assert!(!caching.reply(None, usage(10_000, 0, 9_000)), "nothing was sent before");
        assert!(!caching.reply(Some(10_000), usage(11_000, 9_900, 1_000)));
        assert!(caching.reply(Some(11_000), usage(12_000, 3_000, 9_000)));
        assert!(!caching.reply(None, usage(5_000, 0, 5_000)), "the conversation was shortened");
        assert!(!caching.reply(Some(5_000), usage(6_000, 0, 6_000)), "it was too short");
        assert!(!caching.reply(Some(10_000), Usage::default()), "nothing was counted");
        tokio::time::advance(KEPT).await;
        assert!(!caching.reply(Some(12_000), usage(13_000, 0, 13_000)), "it was long ago");
        let mut silent = Caching::default();
        assert!(!silent.reply(None, usage(10_000, 0, 0)) && !silent.reply(Some(10_000), usage(11_000, 0, 0)));
    }
}
