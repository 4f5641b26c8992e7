//! Errors of a transfer.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use host_bundle::{ContentError, OciDigest, UnpackError};

/// Why a bundle was not pulled or pushed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The HTTP client cannot be made.
    #[error("requests cannot be made: {0}")]
    Client(String),
    /// The server does not answer.
    #[error("`{registry}` does not answer: {why}")]
    Unreachable {
        /// The server.
        registry: String,
        /// What happened.
        why: String,
    },
    /// It redirects the request to where it is not sent.
    #[error("`{registry}` redirects the request, and the redirect is not followed: {why}")]
    Redirected {
        /// The server.
        registry: String,
        /// What is wrong with the redirect: a clause about it.
        why: String,
    },
    /// It requires a login, or a different one.
    #[error("`{registry}` denies access {who}; log in with `docker login {registry}`, then try again")]
    Unauthorized {
        /// The server.
        registry: String,
        /// The identity that the request was sent with.
        who: &'static str,
    },
    /// It does not exist.
    #[error("`{registry}` has no {what}")]
    NotFound {
        /// The server.
        registry: String,
        /// The request.
        what: String,
    },
    /// It answered with an unexpected status.
    #[error("`{registry}` answered {status} to the request for {what}: {words}")]
    Status {
        /// The server.
        registry: String,
        /// The request.
        what: String,
        /// The status.
        status: u16,
        /// The beginning of its message.
        words: String,
    },
    /// Its answer is invalid.
    #[error("invalid response from `{registry}`: {why}")]
    Protocol {
        /// The server.
        registry: String,
        /// The reason.
        why: String,
    },
    /// It redirects to an address that nothing may be sent to.
    #[error("`{url}` does not use TLS; use an address that begins with `https://`")]
    Insecure {
        /// The server.
        registry: String,
        /// The address.
        url: String,
    },
    /// It sent more than allowed.
    #[error("`{registry}` sent more than {limit} bytes for {what}")]
    TooLarge {
        /// The server.
        registry: String,
        /// The request.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// The connection broke in every attempt.
    #[error("`{registry}` broke off after {done}{} bytes of {digest}; run the same command again to continue", out_of(*total))]
    BrokeOff {
        /// The server.
        registry: String,
        /// The blob.
        digest: OciDigest,
        /// The bytes that arrived.
        done: u64,
        /// The expected bytes, if known.
        total: Option<u64>,
    },
    /// It took longer than a transfer of this size may take.
    #[error(
        "`{registry}` is too slow: {what} was not complete after {} s; run the same command again to continue",
        limit.as_secs_f32().round()
    )]
    TooSlow {
        /// The server.
        registry: String,
        /// What was transferred.
        what: String,
        /// How long the transfer might take.
        limit: Duration,
    },
    /// It sent different content.
    #[error(
        "`{registry}` sent other content than was asked for: its digest is {found}, not {wanted}; ask the publisher \
         which \
         digest is right"
    )]
    Changed {
        /// The server.
        registry: String,
        /// The request.
        wanted: OciDigest,
        /// The digest that arrived.
        found: OciDigest,
    },
    /// The answer is not a plugin.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The bundle is rejected.
    #[error(transparent)]
    Refused(#[from] UnpackError),
    /// A download cannot be stored.
    #[error("`{}` cannot be used for downloads: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

fn out_of(total: Option<u64>) -> String {
    total.map(|total| format!(" of {total}")).unwrap_or_default()
}
