//! One request to a registry: with its login, within its limits.
//!
//! A registry that requires a login says so in its first answer (401), with the kind of login (RFC 9110, 11.6.1; the
//! token flow is Docker's, `https://distribution.github.io/distribution/spec/auth/token/`).

use std::future::Future;
use std::time::Duration;

use futures::StreamExt as _;
use host_http::{is_loopback, is_safe, words};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde::Deserialize;

use crate::pace::{Timer, within};
use crate::{Login, Reference, Registry, RegistryError};

/// How long opening a connection may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
/// How long a server may pause in the middle of an answer.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
/// The most redirects that are followed: a registry redirects to its storage, once.
const MAX_REDIRECTS: usize = 5;
/// The largest answer of a token server.
const MAX_TOKEN: u64 = 64 << 10;
/// The largest part of an error message that is read.
const MAX_WORDS: u64 = 4 << 10;

/// The value of an `Authorization` header.
#[derive(Clone)]
pub(crate) struct Token(HeaderValue);

#[derive(Debug)]
pub(crate) struct Http(pub(crate) Client);

impl Http {
    pub(crate) fn new() -> Result<Self, RegistryError> {
        let client = host_http::client()
            .connect_timeout(CONNECT_LIMIT)
            .read_timeout(SILENCE_LIMIT)
            // The library removes the login for a different server.
            .redirect(Policy::custom(|attempt| {
                if attempt.previous().len() > MAX_REDIRECTS {
                    attempt.error("there are too many in a row")
                } else if is_safe(attempt.url()) {
                    attempt.follow()
                } else {
                    attempt.error("it leads to an address without TLS")
                }
            }))
            .build();
        client.map(Self).map_err(|error| RegistryError::Client(words(&error)))
    }
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Pull,
    Push,
}

/// The parts of a request, which may be sent twice.
pub(crate) struct Asked<'a> {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<&'a [u8]>,
    pub(crate) access: Access,
}

impl<'a> Asked<'a> {
    pub(crate) fn get(url: Url) -> Self {
        Self { method: Method::GET, url, headers: HeaderMap::new(), body: None, access: Access::Pull }
    }

    pub(crate) fn to_push(method: Method, url: Url, body: Option<&'a [u8]>) -> Self {
        Self { method, url, headers: HeaderMap::new(), body, access: Access::Push }
    }
}

/// The requests of one command to one repository: with its login, in the time for all of them.
pub(crate) struct Exchange<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) reference: &'a Reference,
    pub(crate) timer: Timer,
}

impl Registry {
    /// Does what a command asks of a repository.
    pub(crate) async fn exchange<'a, T, W>(
        &'a self,
        reference: &'a Reference,
        work: impl FnOnce(Exchange<'a>) -> W,
    ) -> Result<T, RegistryError>
    where
        W: Future<Output = Result<T, RegistryError>>,
    {
        within(self.pace, reference.registry(), |timer| work(Exchange { registry: self, reference, timer })).await
    }
}

impl Exchange<'_> {
    /// Returns the address of something in the repository.
    pub(crate) fn url(&self, path: &str) -> Result<Url, RegistryError> {
        let reference = self.reference;
        // A registry on this machine has no certificate, and its traffic does not leave the machine.
        let local = Url::parse(&format!("http://{}/", reference.registry())).is_ok_and(|url| is_loopback(&url));
        let scheme = if local { "http" } else { "https" };
        let text = format!("{scheme}://{}/v2/{}/{path}", reference.registry(), reference.repository());
        Url::parse(&text).map_err(|error| protocol(reference, format!("`{text}`: {error}")))
    }

    /// Sends a request, and sends it again with the login if the registry asks for one.
    pub(crate) async fn ask(&self, asked: &Asked<'_>) -> Result<Response, RegistryError> {
        let reference = self.reference;
        if !is_safe(&asked.url) {
            return Err(insecure(reference, &asked.url));
        }
        let scope = scope(reference, asked.access);
        let known = self.token(&scope);
        let first = self.send(asked, known.as_ref()).await?;
        if first.status() != StatusCode::UNAUTHORIZED {
            return Ok(first);
        }
        let token = self.log_in(&first, &scope).await?;
        let second = self.send(asked, Some(&token)).await?;
        if matches!(second.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(self.unauthorized());
        }
        *self.registry.token.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some((scope, token));
        Ok(second)
    }

    fn token(&self, scope: &str) -> Option<Token> {
        let token = self.registry.token.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        token.as_ref().filter(|(known, _)| known == scope).map(|(_, token)| token.clone())
    }

    async fn send(&self, asked: &Asked<'_>, token: Option<&Token>) -> Result<Response, RegistryError> {
        let mut request =
            self.registry.http.0.request(asked.method.clone(), asked.url.clone()).headers(asked.headers.clone());
        // The login is for the registry; it is not sent to the upload or storage server that the registry names.
        if let Some(Token(value)) = token
            && is_of(self.reference, &asked.url)
        {
            request = request.header(AUTHORIZATION, value.clone());
        }
        if let Some(body) = asked.body {
            request = request.body(body.to_vec());
        }
        self.timer.send(request).await
    }

    async fn log_in(&self, answer: &Response, scope: &str) -> Result<Token, RegistryError> {
        let reference = self.reference;
        let challenge = challenge(reference, answer)?;
        let Challenge::Bearer { realm, service } = challenge else {
            return match &self.registry.login {
                Some(Login::Password { user, password }) => basic(reference, user, password),
                Some(Login::Token(_)) | None => Err(self.unauthorized()),
            };
        };
        // The registry names this address: a password must not follow it to where others could read it.
        if !is_safe(&realm) {
            return Err(insecure(reference, &realm));
        }
        let mut url = realm;
        // For exactly what is asked for: a token for more would be worth more to anyone who sees it.
        url.query_pairs_mut().append_pair("service", &service).append_pair("scope", scope);
        let mut request = self.registry.http.0.get(url);
        match &self.registry.login {
            Some(Login::Password { user, password }) => request = request.basic_auth(user, Some(password)),
            Some(Login::Token(token)) => request = request.bearer_auth(token),
            None => {}
        }
        // The login counts as part of the exchange, or a slow token service would be outside of every limit.
        let answer = self.timer.send(request).await?;
        match answer.status() {
            StatusCode::OK => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => return Err(self.unauthorized()),
            _ => return Err(refused(reference.registry(), "a token", answer).await),
        }
        let given = body(reference.registry(), "a token", answer, MAX_TOKEN).await?;
        let given: Given = serde_json::from_slice(&given)
            .map_err(|error| protocol(reference, format!("its answer for a token: {error}")))?;
        // Two names for the same, as the specification of the flow allows.
        let token = given.token.or(given.access_token).filter(|token| !token.is_empty());
        let token = token.ok_or_else(|| protocol(reference, "its answer for a token has none".to_owned()))?;
        secret(reference, &format!("Bearer {token}"))
    }

    fn unauthorized(&self) -> RegistryError {
        let who = if self.registry.login.is_some() { "with this login" } else { "without a login" };
        RegistryError::Unauthorized { registry: self.reference.registry().to_owned(), who }
    }
}

#[derive(Deserialize)]
struct Given {
    token: Option<String>,
    access_token: Option<String>,
}

/// The login that a registry requires.
#[derive(Debug, PartialEq, Eq)]
enum Challenge {
    Basic,
    Bearer { realm: Url, service: String },
}

fn challenge(reference: &Reference, answer: &Response) -> Result<Challenge, RegistryError> {
    let no = || protocol(reference, "it requires a login and does not say which kind".to_owned());
    for value in answer.headers().get_all(WWW_AUTHENTICATE) {
        let text = value.to_str().map_err(|_| no())?;
        for challenge in http_auth::parse_challenges(text).map_err(|_| no())? {
            let parameter = |name: &str| {
                let found = challenge.params.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
                found.map(|(_, value)| value.to_unescaped())
            };
            if challenge.scheme.eq_ignore_ascii_case("basic") {
                return Ok(Challenge::Basic);
            }
            if challenge.scheme.eq_ignore_ascii_case("bearer") {
                let realm = parameter("realm").and_then(|realm| Url::parse(&realm).ok()).ok_or_else(no)?;
                return Ok(Challenge::Bearer { realm, service: parameter("service").unwrap_or_default() });
            }
        }
    }
    Err(no())
}

fn basic(reference: &Reference, user: &str, password: &str) -> Result<Token, RegistryError> {
    use base64::Engine as _;
    let both = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    secret(reference, &format!("Basic {both}"))
}

fn secret(reference: &Reference, value: &str) -> Result<Token, RegistryError> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| protocol(reference, "a login or token that no header can hold".to_owned()))?;
    value.set_sensitive(true);
    Ok(Token(value))
}

fn scope(reference: &Reference, access: Access) -> String {
    let actions = match access {
        Access::Pull => "pull",
        Access::Push => "pull,push",
    };
    format!("repository:{}:{actions}", reference.repository())
}

/// Reads the body of an answer, if it is at most this long.
pub(crate) async fn body(registry: &str, what: &str, answer: Response, limit: u64) -> Result<Vec<u8>, RegistryError> {
    let mut bytes = Vec::new();
    let mut stream = answer.bytes_stream();
    while let Some(piece) = stream.next().await {
        let piece =
            piece.map_err(|error| RegistryError::Unreachable { registry: registry.to_owned(), why: words(&error) })?;
        if (bytes.len() + piece.len()) as u64 > limit {
            let (registry, what) = (registry.to_owned(), what.to_owned());
            return Err(RegistryError::TooLarge { registry, what, limit });
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// Builds the error for an unexpected answer.
pub(crate) async fn refused(registry: &str, what: &str, answer: Response) -> RegistryError {
    let registry = registry.to_owned();
    let status = answer.status();
    match status {
        StatusCode::NOT_FOUND => RegistryError::NotFound { registry, what: what.to_owned() },
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            RegistryError::Unauthorized { registry, who: "to this request" }
        }
        _ => {
            let mut said = Vec::new();
            let mut stream = answer.bytes_stream();
            while let Some(Ok(piece)) = stream.next().await {
                said.extend_from_slice(&piece);
                if said.len() as u64 >= MAX_WORDS {
                    break;
                }
            }
            let words: String = String::from_utf8_lossy(&said).chars().take(300).collect();
            RegistryError::Status { registry, what: what.to_owned(), status: status.as_u16(), words }
        }
    }
}

pub(crate) fn protocol(reference: &Reference, why: String) -> RegistryError {
    RegistryError::Protocol { registry: reference.registry().to_owned(), why }
}

fn insecure(reference: &Reference, url: &Url) -> RegistryError {
    RegistryError::Insecure { registry: reference.registry().to_owned(), url: url.to_string() }
}

/// Whether an address belongs to the registry itself.
fn is_of(reference: &Reference, url: &Url) -> bool {
    let own = Url::parse(&format!("{}://{}/", url.scheme(), reference.registry()));
    own.is_ok_and(|own| own.origin() == url.origin())
}
