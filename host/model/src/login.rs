//! Logging in at Google: the tokens that its services accept instead of a key.
//!
//! Owns the application-default credentials as Google's own clients define them: a file of a service account or of a
//! user who logged in with `gcloud`, and the metadata server of a machine in Google's cloud if there is no file. A
//! token is fetched when a request first needs one and kept until a minute before it expires; one request fetches it
//! while the others wait.
//!
//! Promises that no secret reaches an error, a log line or `Debug`, and that secrets are sent only over `https`, to
//! this machine itself, or to the metadata server.
//!
//! Deliberately not here: the path of the file (the environment is not read here), retrying after a failure, and
//! credentials that are exchanged for others (federated and impersonated ones), which are rejected by name. No crate is
//! used for this, since the existing ones bring an HTTP client of their own and read the environment.

mod assertion;
mod credentials;
mod error;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use host_http::words;
use reqwest::{Client, Proxy, Response};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use self::credentials::{Credentials, Grant};
pub(crate) use self::error::LOG_IN;
pub use self::error::LoginError;
use crate::ApiKey;
use crate::client::client;
use crate::text::clip;

/// How long before its expiry a token is no longer used, so that a long request does not outlive it.
const SPARE: Duration = Duration::from_secs(60);

/// Limits the wait for a token, so that a run does not hang before its first request.
const TOKEN_LIMIT: Duration = Duration::from_secs(30);

/// Limits the wait for the metadata server. Short, since there is none on a machine outside Google's cloud, and
/// elsewhere it is near.
const METADATA_LIMIT: Duration = Duration::from_secs(5);

/// The largest answer with a token, in bytes. Protects the memory from the server.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// The source of the credentials. The default is the metadata server, under its usual name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Login {
    /// The file with the credentials.
    pub file: Option<CredentialsFile>,
    /// The metadata server's host, and port if it is not 80, instead of the usual one.
    pub metadata_host: Option<String>,
}

/// A file with credentials, and whether it has to exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialsFile {
    /// A file that the user named: without it the login fails.
    Named(PathBuf),
    /// The default path of `gcloud`: without this file the metadata server is used.
    Usual(PathBuf),
}

/// The tokens of one login.
pub(crate) struct Tokens {
    credentials: Credentials,
    proxy: Option<Proxy>,
    client: OnceLock<Client>,
    token: Mutex<Option<Token>>,
    /// Held while a request fetches a token.
    gate: Semaphore,
}

#[derive(Clone)]
struct Token {
    secret: ApiKey,
    /// When a new one has to be fetched.
    until: Instant,
}

impl Tokens {
    /// Reads the credentials; sends nothing.
    pub(crate) fn new(login: &Login, proxy: Option<Proxy>) -> Result<Self, LoginError> {
        let credentials = Credentials::read(login)?;
        let (client, token) = (OnceLock::new(), Mutex::new(None));
        Ok(Self { credentials, proxy, client, token, gate: Semaphore::new(1) })
    }

    /// Returns the project that requests are billed to, if the credentials name one.
    pub(crate) fn quota_project(&self) -> Option<&str> {
        self.credentials.quota_project.as_deref()
    }

    /// Returns a token that is valid for a while.
    pub(crate) async fn current(&self) -> Result<ApiKey, LoginError> {
        if let Some(token) = self.fresh() {
            return Ok(token);
        }
        // The semaphore is never closed, so this fails only if that changes; then each request fetches its own token.
        let _turn = self.gate.acquire().await.ok();
        // Another request may have fetched one while this one waited for its turn.
        if let Some(token) = self.fresh() {
            return Ok(token);
        }
        let token = self.fetch().await?;
        let secret = token.secret.clone();
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
        Ok(secret)
    }

    /// Forgets a token that a service rejected, unless it was replaced meanwhile.
    pub(crate) fn forget(&self, refused: &ApiKey) {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        token.take_if(|token| token.secret == *refused);
    }

    /// Removes the token from a text.
    pub(crate) fn hide(&self, text: &str) -> String {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        token.map_or_else(|| text.to_owned(), |token| text.replace(token.secret.expose(), "(token)"))
    }

    fn fresh(&self) -> Option<ApiKey> {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        token.as_ref().filter(|token| Instant::now() < token.until).map(|token| token.secret.clone())
    }

    async fn fetch(&self) -> Result<Token, LoginError> {
        let asked = Instant::now();
        let limit = match self.credentials.grant {
            Grant::ServiceAccount(_) | Grant::AuthorizedUser(_) => TOKEN_LIMIT,
            Grant::Metadata => METADATA_LIMIT,
        };
        let silent = || self.unreachable(format!("no data for {} s", limit.as_secs()));
        let (status, answer) = timeout(limit, self.exchange()).await.map_err(|_| silent())??;
        let Ok(answer) = serde_json::from_slice::<Answer>(&answer) else {
            return Err(self.refused(status, "the answer is not the expected JSON".to_owned()));
        };
        let Some(secret) = answer.access_token.as_deref().and_then(ApiKey::new).filter(|_| status == 200) else {
            let words = [answer.error.as_str(), answer.error_description.as_deref()];
            let words: Vec<_> = words.into_iter().flatten().collect();
            let why = if words.is_empty() { "the answer contains no token".to_owned() } else { words.join(": ") };
            return Err(self.refused(status, clip(&self.credentials.hide(&why))));
        };
        let lasts = Duration::from_secs(answer.expires_in.unwrap_or(0)).saturating_sub(SPARE);
        // An expiry beyond the range of the clock counts as expired.
        Ok(Token { secret, until: asked.checked_add(lasts).unwrap_or(asked) })
    }

    /// Requests a token, and returns status and body of the answer.
    async fn exchange(&self) -> Result<(u16, Vec<u8>), LoginError> {
        let endpoint = self.credentials.endpoint.clone();
        // Made here: a login that is not needed costs no certificates.
        let client = self.client()?;
        let request = match self.credentials.form()? {
            Some(form) => {
                let media_type = "application/x-www-form-urlencoded";
                client.post(endpoint).header(reqwest::header::CONTENT_TYPE, media_type).body(form)
            }
            // The header shows that the request does not come from a page in a browser.
            None => client.get(endpoint).header("metadata-flavor", "Google"),
        };
        tracing::debug!(endpoint = %self.credentials.endpoint, "token");
        let lost = |error| self.unreachable(clip(&words(&error)));
        let mut response: Response = request.send().await.map_err(lost)?;
        let status = response.status().as_u16();
        let mut answer = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(lost)? {
            answer.extend(bytes);
            if answer.len() > MAX_ANSWER_BYTES {
                return Err(self.refused(status, format!("the answer is larger than {MAX_ANSWER_BYTES} bytes")));
            }
        }
        Ok((status, answer))
    }

    fn client(&self) -> Result<&Client, LoginError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let near = matches!(self.credentials.grant, Grant::Metadata);
        let made = client(&self.credentials.endpoint, self.proxy.as_ref().filter(|_| !near), near);
        let made = made.map_err(|error| self.unreachable(clip(&words(&error))))?;
        Ok(self.client.get_or_init(|| made))
    }

    fn unreachable(&self, why: String) -> LoginError {
        let origin = self.credentials.origin.clone();
        LoginError::Unreachable { origin, endpoint: self.credentials.endpoint.to_string(), why }
    }

    fn refused(&self, status: u16, why: String) -> LoginError {
        let origin = self.credentials.origin.clone();
        LoginError::Refused { origin, endpoint: self.credentials.endpoint.to_string(), status, why }
    }
}

/// Shows where the credentials come from, but not the credentials.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("origin", &self.credentials.origin).finish_non_exhaustive()
    }
}

/// The answer of a token endpoint, by RFC 6749, sections 5.1 and 5.2; that of the metadata server is the same.
#[derive(Deserialize)]
struct Answer {
    access_token: Option<String>,
    /// In seconds.
    expires_in: Option<u64>,
    #[serde(default)]
    error: serde_json::Value,
    error_description: Option<String>,
}

#[cfg(test)]
mod tests;
