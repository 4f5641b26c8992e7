//! Bundles from an OCI registry, and to one: the distribution specification 1.1 as far as a plugin needs it.
//!
//! Promises: a server's answers are bounded where they enter, in size and in time; a blob is hashed while it arrives,
//! and an interrupted download resumes; a pulled bundle is checked as [`Bundle::read`] checks an untrusted file. A
//! password is sent to the registry that it is for, or where that registry gives out tokens, and never without TLS but
//! to this machine itself.
//!
//! Deliberately not here: where passwords come from, and which keys are trusted. `oci-client` (0.18) is not used: it
//! reads manifests, tokens and errors of any length into memory, so an endless answer would end the host.

mod client;
mod download;
mod error;
mod index;
mod pace;
mod part;
mod pull;
mod push;
mod reference;
mod referrers;
mod signatures;
mod versions;

use std::fmt;
use std::path::PathBuf;
use std::sync::Mutex;

use host_bundle::OciDigest;

pub use download::download;
pub use error::RegistryError;
pub use index::download_index;
pub use pace::Pace;
pub use push::{LatestTag, Pushed};
pub use reference::{NoReference, Reference, Which};
pub use versions::{Tagged, Tags};

/// A registry with a user's login.
pub struct Registry {
    http: client::Http,
    login: Option<Login>,
    /// Where the received part of a blob is kept until it is complete.
    downloads: PathBuf,
    pace: Pace,
    /// The token of the last login, with its scope.
    token: Mutex<Option<(String, client::Token)>>,
}

/// A user's login.
#[derive(Clone, PartialEq, Eq)]
pub enum Login {
    /// A name and a password.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
    /// A token that the registry accepts as a password: an identity token of Docker's.
    Token(String),
}

/// Shows neither name nor password.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login")
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registry")
    }
}

/// The progress of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The digest of the blob or manifest.
    pub digest: OciDigest,
    /// The bytes that have arrived.
    pub done: u64,
    /// Its size in bytes; 0 if it is unknown.
    pub total: u64,
}

/// Receives the progress of a transfer. It must not block.
pub type Progress<'a> = &'a (dyn Fn(Transfer) + Send + Sync);

impl Registry {
    /// Creates a registry with this login, or without one. Interrupted downloads are kept in the folder, which is
    /// created when needed.
    ///
    /// # Errors
    ///
    /// If the system's certificates cannot be used.
    pub fn new(login: Option<Login>, downloads: PathBuf) -> Result<Self, RegistryError> {
        Ok(Self { http: client::Http::new()?, login, downloads, pace: Pace::default(), token: Mutex::default() })
    }

    /// Sets how long transfers may take.
    #[must_use]
    pub fn with_pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }
}
