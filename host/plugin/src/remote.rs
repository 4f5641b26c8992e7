//! Requests to servers that the user configured by their address.
//!
//! Promises: `https`, or `http` on this machine; each address that a name leads to is checked at the moment of
//! connecting; redirects stay at the origin that was named; no proxy is used, since the host could not check the
//! address behind one.
//!
//! Deliberately not here: what is sent, and how large an answer may be.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_capability::{NotPublic, RemotePermit};
use host_http::words;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;

use crate::addresses::{Unresolved, resolve};
use crate::bindings::http::Error;
use crate::certificates::Certificates;
use crate::lock::lock;
use crate::origin::{address, server};
use crate::runtime::Runtime;

/// The most redirects that are followed: as many as browsers follow.
const MAX_REDIRECTS: usize = 10;

/// How long a connection to a server that the user configured may take to be made. Protects the session from a server
/// that drops what it is sent.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// What a request of a [`RemoteClient`] fails with, for a library that speaks a protocol over it.
pub type RemoteFailure = reqwest::Error;

/// Why a request failed, without the address, which the caller names.
pub fn remote_failure(error: &RemoteFailure) -> String {
    words(error)
}

/// Which redirects are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    /// Those that stay at the origin of the request.
    SameOrigin,
    /// None: the caller gets the redirect.
    None,
}

/// Sends requests to one server that the user configured.
#[derive(Clone, Debug)]
pub struct RemoteClient {
    client: reqwest::Client,
    permit: RemotePermit,
    denied: Arc<Mutex<Option<NotPublic>>>,
}

/// Why a server that the user configured is not reached. The texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// It is not an address that the host sends anything to.
    #[error("{0}")]
    Invalid(String),
    /// Its address is neither on this machine nor protected by TLS.
    #[error("`{0}` is not `https`: others on the way could read and change what is sent")]
    Unsafe(String),
    /// Its name leads to a private address.
    #[error(transparent)]
    NotPublic(#[from] NotPublic),
    /// It cannot be reached, or does not answer.
    #[error("{0}")]
    Unavailable(String),
    /// Its answer is over a limit.
    #[error("the answer of `{server}` is over {limit} bytes")]
    TooLarge {
        /// The server.
        server: String,
        /// The limit, in bytes.
        limit: usize,
    },
}

impl Runtime {
    /// Returns a client for the server at an address that the user configured. `reaches_private` is whether the user
    /// said that its name may lead to this machine or a private network.
    ///
    /// # Errors
    ///
    /// When the address is invalid or neither `https` nor on this machine, or the system's certificates cannot be used.
    pub fn remote_client(&self, url: &str, reaches_private: bool) -> Result<RemoteClient, RemoteError> {
        let url = accepted(url)?;
        let server = server(&url).map_err(|error| RemoteError::Invalid(error.to_string()))?;
        let permit = RemotePermit::configured(server, reaches_private);
        RemoteClient::new(&self.shared().certificates, permit, Redirects::SameOrigin)
    }

    /// Returns a client for a server that a configured one names: it may reach no more than that one.
    ///
    /// # Errors
    ///
    /// As [`Runtime::remote_client`].
    pub fn named_client(
        &self,
        by: &RemoteClient,
        url: &str,
        redirects: Redirects,
    ) -> Result<RemoteClient, RemoteError> {
        let url = accepted(url)?;
        let server = server(&url).map_err(|error| RemoteError::Invalid(error.to_string()))?;
        if server.is_plainly_private()
            && !by.permit.reaches_private()
            && let Some(address) = server.address()
        {
            // A host that is an address is not resolved, so it is checked here.
            by.permit.named_by_it(server).permit_address(address)?;
            return Err(RemoteError::Invalid(format!("`{address}` is not a public address")));
        }
        RemoteClient::new(&self.shared().certificates, by.permit.named_by_it(server), redirects)
    }
}

/// Parses an address that is `https`, or `http` on this machine.
fn accepted(text: &str) -> Result<Url, RemoteError> {
    let url = address(text).map_err(|error| match error {
        Error::Invalid(why) => RemoteError::Invalid(why),
        Error::Denied(_) | Error::RedirectDenied(_) | Error::Unavailable(_) | Error::TimedOut => {
            RemoteError::Invalid(format!("the address `{}` is invalid", host_text::exact(text)))
        }
    })?;
    match host_http::is_safe(&url) {
        true => Ok(url),
        false => Err(RemoteError::Unsafe(host_text::exact(text).into_owned())),
    }
}

impl RemoteClient {
    fn new(certificates: &Certificates, permit: RemotePermit, redirects: Redirects) -> Result<Self, RemoteError> {
        let tls = certificates
            .tls()
            .map_err(|error| RemoteError::Unavailable(format!("the system's certificates cannot be used: {error}")))?;
        let denied = Arc::default();
        let resolver = Checked { permit: permit.clone(), denied: Arc::clone(&denied) };
        let client = host_http::client()
            .tls_backend_preconfigured(tls)
            .dns_resolver(Arc::new(resolver))
            .redirect(match redirects {
                Redirects::SameOrigin => same_origin(),
                Redirects::None => Policy::none(),
            })
            .connect_timeout(CONNECT_LIMIT)
            .no_proxy()
            .build()
            .map_err(|error| RemoteError::Unavailable(words(&error)))?;
        Ok(Self { client, permit, denied })
    }

    /// The client, for a library that speaks a protocol over it.
    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// Returns why a name was denied since the last time this was asked.
    pub fn denied(&self) -> Option<NotPublic> {
        lock(&self.denied).take()
    }

    /// Sends a request to the server and returns the answer, of at most this many bytes.
    ///
    /// # Errors
    ///
    /// When the server is not reached, redirects elsewhere, or its answer is too large.
    pub async fn send(
        &self,
        request: http::Request<Vec<u8>>,
        limit: usize,
    ) -> Result<http::Response<Vec<u8>>, RemoteError> {
        let server = self.permit.authority().to_string();
        let asked = accepted(&request.uri().to_string())?;
        // The permit is for one server: a URL from an answer of that server must not lead elsewhere.
        if server_of(&asked).is_none_or(|asked| asked != server) {
            return Err(RemoteError::Invalid(format!("this client sends to `{server}` alone")));
        }
        // The connector reports a denied address as an error of the network; this finds the true reason.
        let failed = |error: reqwest::Error| match self.denied() {
            Some(denied) => RemoteError::NotPublic(denied),
            None => RemoteError::Unavailable(words(&error)),
        };
        let request = reqwest::Request::try_from(request).map_err(failed)?;
        let mut answer = self.client.execute(request).await.map_err(failed)?;
        let mut response = http::Response::builder().status(answer.status());
        for (name, value) in answer.headers() {
            response = response.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(failed)? {
            if body.len() + piece.len() > limit {
                // No cut answer: half of a JSON message is none.
                return Err(RemoteError::TooLarge { server, limit });
            }
            body.extend_from_slice(&piece);
        }
        response.body(body).map_err(|error| RemoteError::Unavailable(error.to_string()))
    }
}

fn server_of(url: &Url) -> Option<String> {
    server(url).ok().map(|server| server.to_string())
}

/// Follows redirects that stay at the origin of the request.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let Some(first) = attempt.previous().first() else { return attempt.stop() };
        if first.origin() != attempt.url().origin() {
            let to = host_text::excerpt(attempt.url().as_str(), 200);
            return attempt.error(format!("a redirect to another server, `{to}`, is not followed"));
        }
        match attempt.previous().len() > MAX_REDIRECTS {
            true => attempt.error(format!("over {MAX_REDIRECTS} redirects")),
            false => attempt.follow(),
        }
    })
}

/// Resolves the one name of a permit.
#[derive(Debug)]
struct Checked {
    permit: RemotePermit,
    denied: Arc<Mutex<Option<NotPublic>>>,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let (permit, denied) = (self.permit.clone(), Arc::clone(&self.denied));
        Box::pin(async move {
            if !name.as_str().eq_ignore_ascii_case(permit.authority().host()) {
                return Err("no permit for this name".into());
            }
            match resolve(permit.authority().host(), 0, |address| permit.permit_address(address)).await {
                Ok(found) => Ok(Box::new(found.into_iter()) as Addrs),
                Err(Unresolved::Unknown(error)) => Err(error.into()),
                Err(Unresolved::Denied(refused)) => {
                    let text = refused.to_string();
                    *lock(&denied) = Some(refused);
                    Err(text.into())
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RuntimeOptions;

    #[test]
    fn remote_address_is_https_or_on_this_machine() {
        let runtime = Runtime::new(RuntimeOptions::default());
        for (url, accepted) in [
            ("https://mcp.example.com/mcp", true),
            ("http://127.0.0.1:9/mcp", true),
            ("http://localhost:9/mcp", true),
            ("http://mcp.example.com/mcp", false),
            ("http://10.0.0.1/mcp", false),
            ("https://user:secret@mcp.example.com/mcp", false),
            ("file:///etc/passwd", false),
            ("https://", false),
        ] {
            assert_eq!(runtime.remote_client(url, false).is_ok(), accepted, "{url}");
        }
    }

    #[test]
    fn remote_server_names_no_private_server_unless_it_is_private_itself() {
        let runtime = Runtime::new(RuntimeOptions::default());
        let public = runtime.remote_client("https://mcp.example.com/mcp", false).expect("a client");
        let here = runtime.remote_client("http://127.0.0.1:9/mcp", false).expect("a client");
        for (url, by_public) in [
            ("https://login.example.com/token", true),
            ("https://127.0.0.1/token", false),
            ("https://[::1]/token", false),
            ("https://169.254.169.254/token", false),
            ("http://login.example.com/token", false),
        ] {
            assert_eq!(runtime.named_client(&public, url, Redirects::SameOrigin).is_ok(), by_public, "{url}");
        }
        runtime.named_client(&here, "http://127.0.0.1:10/token", Redirects::None).expect("it is private itself");
    }

    // A name that the machine itself resolves to a private address, as a rebinding one would at the second time: it is
    // resolved, and denied, each time a connection is made.
    #[tokio::test]
    async fn remote_name_that_leads_to_a_private_address_is_denied_each_time() {
        let permit =
            RemotePermit::configured(host_capability::Authority::new("example.com", 443).expect("a host"), false);
        let denied = Arc::new(Mutex::new(None));
        let resolver = Checked { permit: permit.clone(), denied: Arc::clone(&denied) };
        for _ in 0..2 {
            let found = resolve("localhost", 0, |address| permit.permit_address(address)).await;
            assert!(matches!(found, Err(Unresolved::Denied(_))), "{found:?}");
        }
        let other = resolver.resolve("other.example".parse().expect("a name")).await;
        assert!(other.is_err(), "it has a permit for its own name alone");
    }
}
