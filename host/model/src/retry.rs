//! Asking again: the same request after what passes, and another model when a quota stays used up.
//!
//! [`Retrying`] stands between an agent and a provider and is one itself. It promises that no request follows a failed
//! one without a pause, that a service which names a pause gets at least that, that there are never more requests for
//! a reply than its [`RetryPolicy`] says, and that what a failed try had yielded is declared void before anything else
//! comes. Dropping the stream during a pause ends the pause.
//!
//! Deliberately not here: a reply that came whole and is no good. That is the agent's to judge.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use host_message::with_causes;

use crate::{Again, ErrorKind, ModelError, ModelEvent, ModelStream, Provider, Request, Settings, Switched};

/// How often and after which pauses a request is sent again. The default is what Gemini CLI does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Requests for one reply in all.
    pub attempts: u32,
    /// The pause before the second request; each further one is twice as long.
    pub first_pause: Duration,
    /// The longest pause of our own choice.
    pub longest_pause: Duration,
    /// By which share a pause of our own choice is shorter or longer at random, so that many clients of a service that
    /// was down do not come back all at once.
    pub jitter: f64,
    /// The longest pause that a service may name; a longer one is waited for by nobody, and the error is final.
    pub longest_named: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 10,
            first_pause: Duration::from_secs(5),
            longest_pause: Duration::from_secs(30),
            jitter: 0.3,
            longest_named: Duration::from_secs(300),
        }
    }
}

/// The model that answers when the quota of the first stays used up.
pub struct Fallback {
    /// Its id, as the user names models.
    pub id: String,
    /// Its name as its service knows it.
    pub model: String,
    /// Its service.
    pub provider: Arc<dyn Provider>,
    /// How it is to answer, where nothing else is asked of the first model than what is configured for that.
    pub settings: Settings,
    /// What is configured for the first model.
    pub instead_of: Settings,
}

/// A provider that asks again.
pub struct Retrying {
    provider: Arc<dyn Provider>,
    policy: RetryPolicy,
    fallback: Option<Fallback>,
    /// Whether the fallback answers: once it does, it does for all that follows.
    fallen: AtomicBool,
}

/// Where one reply stands.
struct Asking<'a> {
    retrying: &'a Retrying,
    request: Request<'a>,
    /// Which request of the model that is being asked it is, from 1.
    attempt: u32,
    /// Whether the fallback is being asked.
    of_fallback: bool,
    stage: Stage<'a>,
}

enum Stage<'a> {
    /// The request goes out after this pause.
    Pausing(Duration),
    /// A reply arrives.
    Arriving(ModelStream<'a>),
    /// Nothing more comes.
    Ended,
}

impl Retrying {
    /// Asks this provider, by these rules, and then the fallback.
    pub fn new(provider: Arc<dyn Provider>, policy: RetryPolicy, fallback: Option<Fallback>) -> Self {
        Self { provider, policy, fallback, fallen: AtomicBool::new(false) }
    }

    /// The fallback, if it answers by now.
    fn in_place(&self) -> Option<&Fallback> {
        self.fallback.as_ref().filter(|_| self.fallen.load(Ordering::Relaxed))
    }
}

impl Fallback {
    fn instead<'a>(&'a self, request: Request<'a>) -> Request<'a> {
        // What an agent asks of its model, or a second try, it asks of this one too.
        let settings = if *request.settings == self.instead_of { &self.settings } else { request.settings };
        Request { model: &self.model, settings, ..request }
    }
}

impl Provider for Retrying {
    fn name(&self) -> &str {
        self.in_place().map_or(&self.provider, |fallback| &fallback.provider).name()
    }

    fn stands_for(&self) -> Option<&str> {
        self.provider.stands_for()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let asking =
            Asking { retrying: self, request, attempt: 1, of_fallback: false, stage: Stage::Pausing(Duration::ZERO) };
        stream::unfold(asking, async |mut asking| Some((asking.next().await?, asking))).fuse().boxed()
    }

    fn count_tokens<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Option<u64>, ModelError>> {
        match self.in_place() {
            Some(fallback) => fallback.provider.count_tokens(fallback.instead(request)),
            None => self.provider.count_tokens(request),
        }
    }

    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        self.provider.embed(model, texts)
    }
}

impl<'a> Asking<'a> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            match &mut self.stage {
                Stage::Ended => return None,
                Stage::Pausing(pause) => {
                    if !pause.is_zero() {
                        tokio::time::sleep(*pause).await;
                    }
                    let fallback = self.retrying.in_place();
                    self.of_fallback = fallback.is_some();
                    self.stage = Stage::Arriving(match fallback {
                        Some(fallback) => fallback.provider.stream(fallback.instead(self.request)),
                        None => self.retrying.provider.stream(self.request),
                    });
                }
                Stage::Arriving(stream) => {
                    return match stream.next().await? {
                        Ok(event) => Some(Ok(event)),
                        Err(error) => Some(self.failed(error)),
                    };
                }
            }
        }
    }

    /// What follows a failed request: another one, another model, or the error.
    fn failed(&mut self, error: ModelError) -> Result<ModelEvent, ModelError> {
        let policy = &self.retrying.policy;
        let wanted = error.wanted();
        let too_long = wanted.delay.is_some_and(|delay| delay > policy.longest_named);
        if error.may_pass() && !too_long && self.attempt < policy.attempts {
            let wait = policy.pause(self.attempt, chance()).max(wanted.delay.unwrap_or_default());
            self.attempt += 1;
            self.stage = Stage::Pausing(wait);
            let (attempt, attempts) = (self.attempt, policy.attempts);
            tracing::info!(%error, attempt, wait_ms = wait.as_millis() as u64, "the model is asked again");
            return Ok(ModelEvent::Retry(Again { reason: with_causes(&error), wait, attempt, attempts }));
        }
        if error.kind() == ErrorKind::Quota
            && let Some(fallback) = &self.retrying.fallback
            && !self.of_fallback
        {
            self.retrying.fallen.store(true, Ordering::Relaxed);
            self.attempt = 1;
            self.stage = Stage::Pausing(Duration::ZERO);
            return Ok(ModelEvent::Switched(Switched { model: fallback.id.clone(), reason: with_causes(&error) }));
        }
        self.stage = Stage::Ended;
        Err(error)
    }
}

impl RetryPolicy {
    /// The pause after this many requests; `chance` is from 0 to 1.
    fn pause(&self, attempt: u32, chance: f64) -> Duration {
        let doubled = self.first_pause.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
        let pause = doubled.min(self.longest_pause);
        pause.mul_f64((1.0 + self.jitter * (chance * 2.0 - 1.0)).max(0.0))
    }
}

/// A number from 0 to 1 by chance; the middle where the system gives none.
fn chance() -> f64 {
    getrandom::u32().map_or(0.5, |number| f64::from(number) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests;
