//! How a transfer fails.

use std::io;
use std::path::PathBuf;

use host_bundle::{ContentError, OciDigest, UnpackError};

/// Why a bundle was not pulled or pushed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// There is no way to ask.
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
    /// It wants a login, or another.
    #[error("`{registry}` does not let {who} do this; `docker login {registry}` keeps a login where it is looked for")]
    Unauthorized {
        /// The server.
        registry: String,
        /// With what it was asked.
        who: &'static str,
    },
    /// It is not there.
    #[error("`{registry}` has no {what}")]
    NotFound {
        /// The server.
        registry: String,
        /// What was asked for.
        what: String,
    },
    /// It answered with something else.
    #[error("`{registry}` answered {status} to the request for {what}: {words}")]
    Status {
        /// The server.
        registry: String,
        /// What was asked for.
        what: String,
        /// The status.
        status: u16,
        /// The beginning of what it said.
        words: String,
    },
    /// What it said makes no sense.
    #[error("what `{registry}` says makes no sense: {why}")]
    Protocol {
        /// The server.
        registry: String,
        /// What is wrong.
        why: String,
    },
    /// It sends us where nothing may be sent.
    #[error("`{registry}` leads to `{url}`, which is no address with TLS")]
    Insecure {
        /// The server.
        registry: String,
        /// The address.
        url: String,
    },
    /// It sent more than there may be.
    #[error("`{registry}` sent more than {limit} bytes for {what}")]
    TooLarge {
        /// The server.
        registry: String,
        /// What was asked for.
        what: String,
        /// The most.
        limit: u64,
    },
    /// It broke off, time after time.
    #[error("`{registry}` broke off after {done}{} bytes of {digest}; the same command goes on from there", of(*total))]
    BrokeOff {
        /// The server.
        registry: String,
        /// The blob.
        digest: OciDigest,
        /// What is there.
        done: u64,
        /// What there should be, where that is known.
        total: Option<u64>,
    },
    /// It sent something else.
    #[error("`{registry}` sent {found} in the place of {wanted}")]
    Changed {
        /// The server.
        registry: String,
        /// What was asked for.
        wanted: OciDigest,
        /// What came.
        found: OciDigest,
    },
    /// What came is no plugin.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// What came is refused.
    #[error(transparent)]
    Refused(#[from] UnpackError),
    /// A download cannot be kept.
    #[error("`{}` cannot be used for downloads: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

fn of(total: Option<u64>) -> String {
    total.map(|total| format!(" of {total}")).unwrap_or_default()
}
