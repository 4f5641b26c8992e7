//! Sends one request to a model's service and reads the events of its reply, the same for every wire format.
//!
//! Owns the HTTP client, the time limits, and the conversion of an error response to a [`ModelError`]. Promises that
//! nothing is sent before the stream is polled, that dropping the stream closes the connection, that no redirect is
//! followed, and that the key goes into one header and nowhere else. [`Transport::ask`] does the same for the few
//! requests whose answer is one JSON value.
//!
//! Deliberately not here: what a request and an event look like ([`Reader`] is the wire format's part), and retries.
//! The one exception is a token that the service no longer accepts: it is replaced, once. Without a configured proxy
//! the client uses the environment's by itself, as every program does.

mod address;
mod network;
mod receiving;
mod whole;

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use host_http::{is_plain_loopback, words};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Proxy, StatusCode};
use serde::Deserialize;
use tokio::time::timeout;
use url::Url;

use self::address::{base_url, shown};
use self::network::{Answer, Body, Network};
use self::receiving::Receiving;
use crate::client::client;
use crate::error::{Cause, Service};
use crate::failure::Failure;
use crate::framing::Framing;
use crate::login::Tokens;
use crate::text::{clip, clip_bytes};
use crate::{Access, ApiKey, Chunk, ModelError, ModelEvent, ModelStream, ProviderId, ReplyFault, Wanted};

/// The default limit of a service's silence. Long, since a model may think long before its first word, and a local one
/// reads the whole prompt before it.
const SILENCE_LIMIT: Duration = Duration::from_secs(300);

/// Limits the wait for the message of an error: the status is already known.
const ERROR_BODY_LIMIT: Duration = Duration::from_secs(10);

/// The most bytes of an error's body. Protects the memory.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// Keys shorter than this are placeholders for local servers (`none`, `ollama`), and ordinary words.
const SHORTEST_SECRET: usize = 8;

/// The header that names the project to which Google's services bill a request.
const QUOTA_PROJECT: &str = "x-goog-user-project";

/// Reads the events of one reply in one wire format.
///
/// # For implementers
///
/// Store incomplete data, and return it once it is complete. After `Done` or an error it is not called again.
pub(crate) trait Reader: Send {
    /// How the format splits a reply into events.
    const FRAMING: Framing = Framing::Events;

    /// Reads the data of one event.
    fn event(&mut self, data: &[u8]) -> Result<Heard, Unheard>;

    /// Handles the end of the connection in good order. Returns the stored data if the reply is complete; otherwise
    /// fails with [`ReplyFault::Unfinished`].
    fn end(&mut self) -> Result<Chunk, ReplyFault>;
}

/// The result of an event.
pub(crate) enum Heard {
    /// A piece of the reply, perhaps an empty one; more may follow.
    More(Chunk),
    /// The last piece: the event ends the reply.
    Done(Chunk),
}

/// Why an event has no result.
pub(crate) enum Unheard {
    /// It is not JSON of the expected shape.
    NotJson(serde_json::Error),
    /// The service reports an error.
    Failed(Failure),
    /// The service does not answer this prompt, for this reason.
    Blocked(String),
}

impl From<serde_json::Error> for Unheard {
    fn from(error: serde_json::Error) -> Self {
        Self::NotJson(error)
    }
}

/// Reads the data of an event.
pub(crate) fn json<'d, T: Deserialize<'d>>(data: &'d [u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(data) {
        // Checking all of it at once takes less time than checking each of its strings.
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(data),
    }
}

/// The connection to one service.
pub(crate) struct Transport {
    service: Service,
    base: Url,
    key: Option<ApiKey>,
    /// Used instead of the key.
    tokens: Option<Tokens>,
    headers: HeaderMap,
    /// Used instead of the environment's proxy.
    proxy: Option<Proxy>,
    /// How long the service may send nothing.
    silence: Duration,
    /// Created at the first request: reading the machine's root certificates takes some milliseconds.
    client: OnceLock<Client>,
    /// Started at the first request.
    network: OnceLock<Network>,
}

impl Transport {
    /// Checks address and key, and reads the credentials of a login; sends nothing. `key_header` is the header for the
    /// key and the text before the key in it. With a login there is no key.
    pub(crate) fn new(
        provider: ProviderId,
        access: Access,
        key_header: (&'static str, &'static str),
    ) -> Result<Self, ModelError> {
        let address =
            access.address.as_deref().or(provider.address.and_then(|address| address.default)).unwrap_or_default();
        let base =
            base_url(address).map_err(|why| ModelError::Address { provider, address: clip(&shown(address)), why })?;
        // A login is good for a whole project, a key for a model.
        if access.login.is_some() && base.scheme() != "https" && !is_plain_loopback(&base) {
            let why =
                "a token gives access to more than a model, so it is sent only over `https://` or to this machine"
                    .to_owned();
            return Err(ModelError::Address { provider, address: clip(&shown(address)), why });
        }
        let mut headers = headers(provider, &access, key_header)?;
        let key = access.key.filter(|_| access.login.is_none());
        let proxy = access.proxy.as_deref().map(|address| {
            // The user's own, for all addresses; without one that of the environment counts.
            Proxy::all(address).map_err(|error| {
                let why = format!("it cannot be a proxy: {}", cause(&error));
                ModelError::Address { provider, address: clip(&shown(address)), why }
            })
        });
        let proxy = proxy.transpose()?;
        let failed = |cause| ModelError::Login { provider, cause };
        let tokens = access.login.as_ref().map(|login| Tokens::new(login, proxy.clone()).map_err(failed));
        let tokens = tokens.transpose()?;
        if let Some(project) = tokens.as_ref().and_then(Tokens::quota_project) {
            let unusable = || ModelError::UnusableHeader { provider, name: QUOTA_PROJECT.to_owned() };
            // A configured value takes precedence.
            headers.entry(QUOTA_PROJECT).or_insert(HeaderValue::from_str(project).map_err(|_| unusable())?);
        }
        let service = Service { provider, address: clip(&shown(base.as_str())) };
        let silence = access.silence.unwrap_or(SILENCE_LIMIT);
        Ok(Self {
            service,
            base,
            key,
            tokens,
            headers,
            proxy,
            silence,
            client: OnceLock::new(),
            network: OnceLock::new(),
        })
    }

    /// Returns the base address, for settings that depend on the server.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// Returns the base address with more segments in its path.
    pub(crate) fn url<'s>(&self, segments: impl IntoIterator<Item = &'s str>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Posts a body and reads the reply's events. `body` is called when the stream is first polled.
    pub(crate) fn stream<'a, R: Reader + 'a>(
        &'a self,
        url: Url,
        body: impl FnOnce() -> Vec<u8> + Send + 'a,
        reader: R,
    ) -> ModelStream<'a> {
        let replies = async move {
            let answer = self.send(url, Some(body().into()), R::FRAMING.media_type()).await?;
            let body = self.event_stream(answer).await?;
            // Boxed, since the stream moves its state for each event.
            let receiving = Box::new(Receiving::new(self, body, reader));
            Ok::<_, ModelError>(stream::try_unfold(receiving, async |mut receiving| {
                let chunk = receiving.next().await?;
                Ok(chunk.map(|chunk| (ModelEvent::Chunk(chunk), receiving)))
            }))
        };
        stream::once(replies).try_flatten().boxed()
    }

    /// Posts the body, or gets the address without one, and checks that the answer is a success.
    async fn send(&self, url: Url, body: Option<Bytes>, accept: &'static str) -> Result<Answer, ModelError> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        let answer = match &self.tokens {
            None => self.send_with(url, headers, body).await?,
            Some(tokens) => {
                let token = self.sign(tokens, &mut headers).await?;
                let answer = self.send_with(url.clone(), headers.clone(), body.clone()).await?;
                if answer.status == StatusCode::UNAUTHORIZED {
                    // It was revoked before its expiry. If a new one is rejected too, that is the answer.
                    tokens.forget(&token);
                    self.sign(tokens, &mut headers).await?;
                    self.send_with(url, headers, body).await?
                } else {
                    answer
                }
            }
        };
        let status = answer.status;
        if status.is_success() {
            return Ok(answer);
        }
        // In a header or in the body, depending on the service; the longer one counts.
        let delay = delay(&answer.headers, Timestamp::now());
        let failure = Failure::from_body(status.as_u16(), &self.error_body(answer.body).await);
        let Failure { message, kind, again, .. } = failure;
        let again = Wanted { delay: delay.max(again.delay), ..again };
        Err(ModelError::Status { service: self.service.clone(), status: status.as_u16(), kind, message, again })
    }

    /// Adds a token to the headers, and returns it.
    async fn sign(&self, tokens: &Tokens, headers: &mut HeaderMap) -> Result<ApiKey, ModelError> {
        let provider = self.service.provider;
        let token = tokens.current().await.map_err(|cause| ModelError::Login { provider, cause })?;
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
            .map_err(|_| ModelError::UnusableKey { provider })?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
        Ok(token)
    }

    async fn send_with(&self, url: Url, headers: HeaderMap, body: Option<Bytes>) -> Result<Answer, ModelError> {
        tracing::debug!(provider = %self.service.provider, bytes = body.as_ref().map(Bytes::len), "request");
        let client = self.client()?;
        let request = match body {
            Some(body) => client.post(url).body(body),
            None => client.get(url),
        };
        let request = request.headers(headers);
        let answer = timeout(self.silence, self.network()?.send(request))
            .await
            .map_err(|_| self.silent())?
            .ok_or_else(|| self.interrupted(Cause("the HTTP client failed".to_owned())))?
            .map_err(|error| self.send_error(error))?;
        tracing::debug!(status = answer.status.as_u16(), "response");
        Ok(answer)
    }

    /// Checks that the answer is an event stream, and returns its body.
    async fn event_stream(&self, answer: Answer) -> Result<Body, ModelError> {
        let media_type = answer.headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        if [&b"application/json"[..], b"text/html"].iter().any(|other| starts_with_ignore_case(media_type, other)) {
            // Some servers send an error with the status of a success.
            let fault = ReplyFault::NotAStream { media_type: clip_bytes(media_type) };
            let body = self.error_body(answer.body).await;
            return Err(match serde_json::from_slice::<serde_json::Value>(&body) {
                Ok(value) if value.get("error").is_some() => self.reported(Failure::from_error(&value["error"])),
                _ => self.fault(fault),
            });
        }
        Ok(answer.body)
    }

    /// Returns the client for this address, which is created when first needed.
    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = client(&self.base, self.proxy.as_ref(), false);
        let made = made.map_err(|error| ModelError::Client { cause: cause(&error) })?;
        Ok(self.client.get_or_init(|| made))
    }

    /// Returns the thread for connections, which is started when first needed.
    fn network(&self) -> Result<&Network, ModelError> {
        if let Some(network) = self.network.get() {
            return Ok(network);
        }
        let started = Network::start();
        let started = started.map_err(|error| ModelError::Client { cause: Cause(clip(&error.to_string())) })?;
        Ok(self.network.get_or_init(|| started))
    }

    /// Returns the beginning of an error's body, as far as it arrives, without the key.
    async fn error_body(&self, mut body: Body) -> Vec<u8> {
        let mut read = Vec::new();
        let reading = async {
            while let Some(Ok(bytes)) = body.next().await {
                let room = MAX_ERROR_BYTES - read.len();
                read.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
                if read.len() >= MAX_ERROR_BYTES {
                    break;
                }
            }
        };
        // The part that came in time is shown; the status alone is an error already.
        let _ = timeout(ERROR_BODY_LIMIT, reading).await;
        self.without_key(&String::from_utf8_lossy(&read)).into_bytes()
    }

    /// Removes the key from a text: some services repeat the key, or the token, that they do not accept.
    fn without_key(&self, text: &str) -> String {
        match (&self.key, &self.tokens) {
            (Some(key), _) if key.expose().len() >= SHORTEST_SECRET => text.replace(key.expose(), "(key)"),
            (_, Some(tokens)) => tokens.hide(text),
            (Some(_) | None, None) => text.to_owned(),
        }
    }

    fn send_error(&self, error: reqwest::Error) -> ModelError {
        if error.is_builder() {
            ModelError::Client { cause: cause(&error) }
        } else if error.is_connect() || error.is_timeout() {
            ModelError::Unreachable { service: self.service.clone(), cause: cause(&error) }
        } else {
            self.interrupted(cause(&error))
        }
    }

    fn interrupted(&self, cause: Cause) -> ModelError {
        ModelError::Interrupted { service: self.service.clone(), cause }
    }

    fn silent(&self) -> ModelError {
        ModelError::Silent { service: self.service.clone(), limit: self.silence }
    }

    /// Returns the error for a request that the service does not answer, for this reason.
    pub(crate) fn blocked(&self, reason: &str) -> ModelError {
        ModelError::Blocked { service: self.service.clone(), reason: clip(reason) }
    }

    pub(crate) fn fault(&self, fault: ReplyFault) -> ModelError {
        ModelError::Reply { service: self.service.clone(), fault }
    }

    /// Returns the error for what the service reported.
    pub(crate) fn reported(&self, failure: Failure) -> ModelError {
        let Failure { message, status, kind, again } = failure;
        ModelError::Reported { service: self.service.clone(), status, kind, message: self.without_key(&message), again }
    }
}

/// Returns the headers of each request: the key, if there is no login, and what the user configured. `key_header` is
/// the header for the key and the text before the key in it.
fn headers(
    provider: ProviderId,
    access: &Access,
    key_header: (&'static str, &'static str),
) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(key) = access.key.as_ref().filter(|_| access.login.is_none()) {
        let (name, before) = key_header;
        let mut value = HeaderValue::from_str(&format!("{before}{}", key.expose()))
            .map_err(|_| ModelError::UnusableKey { provider })?;
        // Keeps the key out of what the HTTP client logs.
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    // After the key, so that a configured header can take its place.
    for (name, value) in &access.headers {
        let unusable = || ModelError::UnusableHeader { provider, name: clip(name) };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable())?;
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| unusable())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Reads `Retry-After`, which is a number of seconds or a date (RFC 9110, section 10.2.3).
fn delay(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = rfc2822::parse(text).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

fn starts_with_ignore_case(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Converts the network's error.
pub(crate) fn cause(error: &reqwest::Error) -> Cause {
    Cause(clip(&words(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_named_in_seconds_or_by_a_date() {
        let now: Timestamp = "2026-03-01T08:00:00Z".parse().unwrap();
        let check = |text: &str, expected: Option<u64>| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(text).unwrap())]);
            assert_eq!(delay(&headers, now), expected.map(Duration::from_secs), "{text}");
        };
        check("7", Some(7));
        check(" 0 ", Some(0));
        check("Sun, 01 Mar 2026 08:00:30 GMT", Some(30));
        check("Sun, 01 Mar 2026 07:00:00 GMT", Some(0));
        check("soon", None);
        check("-1", None);
        assert_eq!(delay(&HeaderMap::new(), now), None);
    }
}
