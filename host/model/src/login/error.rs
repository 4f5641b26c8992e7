//! The errors of a login.

/// The help for a user who is not logged in.
pub(crate) const LOG_IN: &str = "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a \
                                 file with credentials";

/// Why a login at Google failed. Shows no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// The file with the credentials cannot be read.
    #[error("the credentials `{file}` cannot be read: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's error.
        why: String,
    },
    /// The credentials are invalid.
    #[error("{origin} cannot be used: {why}")]
    Unusable {
        /// Where they come from.
        origin: String,
        /// The reason.
        why: String,
    },
    /// The token endpoint cannot be reached.
    #[error("could not get a token with {origin}: `{endpoint}` cannot be reached ({why})")]
    Unreachable {
        /// Where the credentials come from.
        origin: String,
        /// The token endpoint.
        endpoint: String,
        /// The network's error.
        why: String,
    },
    /// The token endpoint returned no token.
    #[error("could not get a token with {origin}: `{endpoint}` answered with status {status}: {why}")]
    Refused {
        /// Where the credentials come from.
        origin: String,
        /// The token endpoint.
        endpoint: String,
        /// The HTTP status.
        status: u16,
        /// Its message.
        why: String,
    },
}

impl LoginError {
    /// Returns what to do about it, as a sentence without a full stop.
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { .. } | Self::Unusable { .. } | Self::Refused { .. } => LOG_IN.to_owned(),
            Self::Unreachable { .. } => format!("check the network; if you are not logged in here, {LOG_IN}"),
        }
    }
}
