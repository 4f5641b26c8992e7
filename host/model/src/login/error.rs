//! Why there is no token.

/// What whoever is not logged in can do.
pub(crate) const LOG_IN: &str = "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a \
                                 file with credentials";

/// Why one could not log in at Google. It shows no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// The file with the credentials cannot be read.
    #[error("the credentials `{file}` cannot be read: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        why: String,
    },
    /// The credentials are not what they should be.
    #[error("{origin} cannot be used: {why}")]
    Unusable {
        /// Where they come from.
        origin: String,
        /// What is wrong with it.
        why: String,
    },
    /// Whoever hands out tokens cannot be reached.
    #[error("could not get a token with {origin}: `{endpoint}` cannot be reached ({why})")]
    Unreachable {
        /// Where the credentials come from.
        origin: String,
        /// Who was asked.
        endpoint: String,
        /// What the network said.
        why: String,
    },
    /// Whoever hands out tokens gave none.
    #[error("could not get a token with {origin}: `{endpoint}` answered with status {status}: {why}")]
    Refused {
        /// Where the credentials come from.
        origin: String,
        /// Who was asked.
        endpoint: String,
        /// The HTTP status.
        status: u16,
        /// Its own words.
        why: String,
    },
}

impl LoginError {
    /// What to do about it, as a sentence without a full stop.
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { .. } | Self::Unusable { .. } | Self::Refused { .. } => LOG_IN.to_owned(),
            Self::Unreachable { .. } => format!("check the network; if you are not logged in here, {LOG_IN}"),
        }
    }
}
