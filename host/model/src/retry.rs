//! Retries: the same request after a temporary error, and a different model when a quota stays used up.
//!
//! [`Retrying`] wraps a provider for an agent and is one itself. It promises that no request follows a failed one
//! without a pause, that a service which asks for a pause gets at least that, that there are never more requests for a
//! reply than its [`RetryPolicy`] allows, and that what a failed attempt had yielded is declared void before anything
//! else comes. Dropping the stream during a pause ends the pause.
//!
//! Deliberately not here: a complete reply that is not acceptable. The agent judges that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use host_http::Backoff;
use host_text::with_causes;

use crate::{Again, ErrorKind, ModelError, ModelEvent, ModelStream, Provider, Request, Settings, Switched, WebSearch};

/// How often and after which pauses a request is sent again. The default matches Gemini CLI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// The most requests for one reply.
    pub attempts: u32,
    /// The pause before the second request; each further pause is twice as long.
    pub first_pause: Duration,
    /// The longest pause of our own choice.
    pub longest_pause: Duration,
    /// By which share a pause of our own choice is randomly shorter or longer, so that the many clients of a service
    /// that was down do not all return at once.
    pub jitter: f64,
    /// The longest pause that a service may ask for; after a longer one the error is final.
    pub longest_named: Duration,
}

/// The most requests to a server whose name does not exist, as the system's resolver says. The name is nearly always a
/// slip, and the user waits for the error; a network that has just come back may say so once.
const UNKNOWN_SERVER_ATTEMPTS: u32 = 3;

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

/// The model that answers when the quota of the first one stays used up.
pub struct Fallback {
    /// Its id, as the user names models.
    pub id: String,
    /// The service's name for it.
    pub model: String,
    /// Its service.
    pub provider: Arc<dyn Provider>,
    /// Its settings, if the request has the settings that are configured for the first model.
    pub settings: Settings,
    /// The settings that are configured for the first model.
    pub instead_of: Settings,
}

/// A provider that retries.
pub struct Retrying {
    provider: Arc<dyn Provider>,
    policy: RetryPolicy,
    fallback: Option<Fallback>,
    /// Whether the fallback answers: once it does, it answers everything that follows.
    fallen: AtomicBool,
}

/// The state of one reply.
struct Asking<'a> {
    retrying: &'a Retrying,
    request: Request<'a>,
    /// The number of the request to the current model, from 1.
    attempt: u32,
    /// Whether the current model is the fallback.
    of_fallback: bool,
    stage: Stage<'a>,
}

enum Stage<'a> {
    /// The request is sent after this pause.
    Pausing(Duration),
    /// The reply is arriving.
    Arriving(ModelStream<'a>),
    /// The reply has ended.
    Ended,
}

impl Retrying {
    /// Creates a provider that asks this one, by these rules, and then the fallback.
    pub fn new(provider: Arc<dyn Provider>, policy: RetryPolicy, fallback: Option<Fallback>) -> Self {
        Self { provider, policy, fallback, fallen: AtomicBool::new(false) }
    }

    /// Returns the fallback, if it answers by now.
    fn in_place(&self) -> Option<&Fallback> {
        self.fallback.as_ref().filter(|_| self.fallen.load(Ordering::Relaxed))
    }
}

impl Fallback {
    fn instead<'a>(&'a self, request: Request<'a>) -> Request<'a> {
        // Other settings, of an agent or of a second attempt, apply to this model too.
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
        let stage = Stage::Pausing(Duration::ZERO);
        // Boxed, since the stream moves its state for each event.
        let asking = Box::new(Asking { retrying: self, request, attempt: 1, of_fallback: false, stage });
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

    fn search_address(&self, model: &str) -> Option<String> {
        match self.in_place() {
            Some(fallback) => fallback.provider.search_address(&fallback.model),
            None => self.provider.search_address(model),
        }
    }

    fn search<'a>(&'a self, model: &'a str, query: &'a str) -> BoxFuture<'a, Result<Option<WebSearch>, ModelError>> {
        match self.in_place() {
            Some(fallback) => fallback.provider.search(&fallback.model, query),
            None => self.provider.search(model, query),
        }
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
                    // Asked at each attempt: another request of the same agent may have met the quota meanwhile.
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

    /// Handles a failed request: retries, switches the model, or returns the error.
    fn failed(&mut self, error: ModelError) -> Result<ModelEvent, ModelError> {
        let policy = &self.retrying.policy;
        let wanted = error.wanted();
        // A service that asks for an hour is out of quota; a fallback helps sooner.
        let too_long = wanted.delay.is_some_and(|delay| delay > policy.longest_named);
        // A name that does not resolve is most often a wrong address, which no waiting mends.
        let attempts = match error.names_no_server() {
            true => policy.attempts.min(UNKNOWN_SERVER_ATTEMPTS),
            false => policy.attempts,
        };
        if error.may_pass() && !too_long && self.attempt < attempts {
            // At least what the service asks for, and never less than our own pause.
            let wait = policy.backoff().pause(self.attempt).max(wanted.delay.unwrap_or_default());
            self.attempt += 1;
            self.stage = Stage::Pausing(wait);
            let attempt = self.attempt;
            tracing::info!(%error, attempt, wait_ms = wait.as_millis() as u64, "the model is asked again");
            return Ok(ModelEvent::Retry(Again { reason: with_causes(&error), wait, attempt, attempts }));
        }
        // Only for a quota: another model is not a remedy for an invalid request.
        if error.kind() == ErrorKind::Quota
            && let Some(fallback) = &self.retrying.fallback
            && !self.of_fallback
        {
            // For the whole agent, so that the next request does not meet the used-up quota again.
            self.retrying.fallen.store(true, Ordering::Relaxed);
            // The other model has its own attempts.
            self.attempt = 1;
            self.stage = Stage::Pausing(Duration::ZERO);
            return Ok(ModelEvent::Switched(Switched { model: fallback.id.clone(), reason: with_causes(&error) }));
        }
        self.stage = Stage::Ended;
        Err(error)
    }
}

impl RetryPolicy {
    fn backoff(&self) -> Backoff {
        let Self { first_pause, longest_pause, jitter, .. } = *self;
        Backoff { first: first_pause, longest: longest_pause, shorter: jitter, longer: jitter }
    }
}

#[cfg(test)]
mod tests;
