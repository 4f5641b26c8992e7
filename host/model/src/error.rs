//! The errors between a request and the end of its reply.
//!
//! Every error knows its kind, from which the binary derives an exit code, and says what to do next. Text from a server
//! is cut to a limit and freed of control characters before it gets in here.
//!
//! Deliberately not here: which errors are worth a retry, and how long to wait.

use std::time::Duration;

use host_text::{Advice, Flag};
use serde::{Deserialize, Serialize};

use crate::login::LOG_IN;
use crate::provider::spec::{LoginSpec, ProviderId};
use crate::{LoginError, ScriptError};

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The service answered with an HTTP status other than success.
    #[error("{service} answered with status {status}{}", colon(message))]
    Status {
        /// The service.
        service: Service,
        /// The HTTP status.
        status: u16,
        /// The kind that the status means here.
        kind: ErrorKind,
        /// The service's own message, or empty.
        message: String,
        /// Its hints about retrying.
        again: Wanted,
    },
    /// The service reported an error after its reply had begun.
    #[error("{service} reported an error in its reply{}", colon(message))]
    Reported {
        /// The service.
        service: Service,
        /// The status in the error, if it is an HTTP status.
        status: Option<u16>,
        /// The kind that the status means here.
        kind: ErrorKind,
        /// The service's own message, or empty.
        message: String,
        /// Its hints about retrying.
        again: Wanted,
    },
    /// The service refused to answer this prompt.
    #[error("{service} refused the prompt: `{reason}`")]
    Blocked {
        /// The service.
        service: Service,
        /// The reason that the service gave.
        reason: String,
    },
    /// There is no connection over which the request could be sent.
    #[error("could not reach {service}")]
    Unreachable {
        /// The service.
        service: Service,
        /// The network's error.
        #[source]
        cause: Cause,
    },
    /// The connection broke while the reply arrived.
    #[error("the connection to {service} broke while it answered")]
    Interrupted {
        /// The service.
        service: Service,
        /// The network's error.
        #[source]
        cause: Cause,
    },
    /// Nothing arrived for too long.
    #[error("{service} sent nothing for {} s", limit.as_secs())]
    Silent {
        /// The service.
        service: Service,
        /// The limit.
        limit: Duration,
    },
    /// The reply violates the wire format.
    #[error("the reply of {service} cannot be used")]
    Reply {
        /// The service.
        service: Service,
        /// The fault.
        #[source]
        fault: ReplyFault,
    },
    /// The service does not have the model.
    #[error("{service} has no model `{model}`")]
    MissingModel {
        /// The service.
        service: Service,
        /// Its name.
        model: String,
    },
    /// The model does not support the service's tool calls.
    #[error("`{model}` at {service} cannot call tools by itself")]
    NoTools {
        /// The service.
        service: Service,
        /// Its name.
        model: String,
    },
    /// The service needs a key, but there is none.
    #[error("there is no key for `{provider}`")]
    MissingKey {
        /// The provider of the service.
        provider: ProviderId,
    },
    /// A key that cannot be sent.
    #[error("the key for `{provider}` has characters that no key can have")]
    UnusableKey {
        /// The provider of the key.
        provider: ProviderId,
    },
    /// There is no token, which the service uses instead of a key.
    #[error("could not log in to `{provider}`")]
    Login {
        /// The provider of the service.
        provider: ProviderId,
        /// The reason.
        #[source]
        cause: LoginError,
    },
    /// The service needs a project, but there is none.
    #[error("there is no project for `{provider}`")]
    MissingProject {
        /// The provider of the service.
        provider: ProviderId,
    },
    /// An invalid location.
    #[error("invalid location `{location}` for `{provider}`")]
    UnusableLocation {
        /// The provider of the location.
        provider: ProviderId,
        /// The given text.
        location: String,
    },
    /// A configured header that cannot be sent.
    #[error("the header `{name}` for `{provider}` has characters that no header can have")]
    UnusableHeader {
        /// The provider that the header is for.
        provider: ProviderId,
        /// Its name.
        name: String,
    },
    /// An invalid base address.
    #[error("invalid address `{address}` for `{provider}`: {why}")]
    Address {
        /// The provider that the address is for.
        provider: ProviderId,
        /// The given address, without user name, password and query.
        address: String,
        /// The reason.
        why: String,
    },
    /// An id of a model that no provider accepts.
    #[error("invalid model `{id}`: {why}")]
    UnknownModel {
        /// The given text.
        id: String,
        /// The reason.
        why: &'static str,
        /// The forms that an id can have.
        forms: String,
    },
    /// The HTTP client could not be created.
    #[error("could not set up the HTTP client")]
    Client {
        /// Its error.
        #[source]
        cause: Cause,
    },
    /// An error that was recorded with the reply that it ended.
    #[error("{message}")]
    Recorded {
        /// Its kind.
        kind: ErrorKind,
        /// The HTTP status, if there was one.
        status: Option<u16>,
        /// Its message, with those of its causes.
        message: String,
        /// Its help.
        help: Option<String>,
    },
    /// The replies cannot be recorded.
    #[error("the recording `{path}` cannot be written")]
    Recording {
        /// The file.
        path: String,
        /// The system's error.
        #[source]
        cause: Cause,
    },
    /// The scripted model's script is invalid, or the request is not what it expects.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// A service's hints about retrying.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// How long to wait: `Retry-After`, or Google's `RetryInfo`.
    pub delay: Option<Duration>,
    /// Waiting within a run does not help: the day's quota is used up, or the account has no credit left.
    pub never: bool,
    /// The request is longer than the model allows: only a shorter one can succeed.
    pub shorter: bool,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The key is missing or rejected.
    Authentication,
    /// The service does not accept the request.
    Input,
    /// A configured address or model does not exist or cannot be used.
    Configuration,
    /// Too many requests, or no credit left.
    Quota,
    /// A safety rule of the service.
    Safety,
    /// The connection to the service.
    Network,
    /// The service itself.
    Server,
}

/// A service, as errors name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The provider of its wire format.
    pub provider: ProviderId,
    /// Its base address, without user name, password and query.
    pub address: String,
}

impl std::fmt::Display for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` at `{}`", self.provider, self.address)
    }
}

/// A fault of a reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyFault {
    /// An event, or an answer that is not streamed, is not valid JSON of the expected shape.
    #[error("a part of it is not the expected JSON ({why}): `{excerpt}`")]
    NotJson {
        /// The parser's error.
        why: String,
        /// Its beginning.
        excerpt: String,
    },
    /// The stream ended before the model reported that it was done.
    #[error("it ended before the model was done")]
    Unfinished,
    /// One event is larger than any legitimate one.
    #[error("one event is larger than {limit} bytes")]
    EventTooLarge {
        /// The limit.
        limit: usize,
    },
    /// The reply is larger than any legitimate one.
    #[error("it is larger than {limit} bytes")]
    ReplyTooLarge {
        /// The limit.
        limit: usize,
    },
    /// The number of answers differs from the number of questions.
    #[error("it has {got} answers to {expected} questions")]
    Miscounted {
        /// The expected number.
        expected: usize,
        /// The actual number.
        got: usize,
    },
    /// The answer is not an event stream.
    #[error("it is `{media_type}`, not an event stream")]
    NotAStream {
        /// Its media type.
        media_type: String,
    },
}

/// The error of a lower layer, as text that is safe to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Cause(pub(crate) String);

/// What the resolvers of glibc, musl and macOS say of a name that does not exist, or has no address.
const NO_SUCH_NAME: [&str; 4] = [
    "Name or service not known",
    "No address associated with hostname",
    "Name does not resolve",
    "nodename nor servname provided, or not known",
];

impl ModelError {
    /// Returns its kind.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Status { kind, .. } | Self::Reported { kind, .. } => *kind,
            Self::Blocked { .. } => ErrorKind::Safety,
            Self::Unreachable { .. } | Self::Interrupted { .. } | Self::Silent { .. } => ErrorKind::Network,
            Self::Reply { fault: ReplyFault::NotAStream { .. }, .. } => ErrorKind::Configuration,
            Self::Reply { .. } => ErrorKind::Server,
            Self::MissingKey { .. } | Self::UnusableKey { .. } | Self::Login { .. } => ErrorKind::Authentication,
            Self::MissingModel { .. }
            | Self::MissingProject { .. }
            | Self::NoTools { .. }
            | Self::UnusableHeader { .. }
            | Self::UnusableLocation { .. }
            | Self::Address { .. }
            | Self::UnknownModel { .. }
            | Self::Client { .. }
            | Self::Recording { .. } => ErrorKind::Configuration,
            Self::Recorded { kind, .. } => *kind,
            Self::Script(error) => error.kind(),
        }
    }

    /// Returns the HTTP status, if the service sent one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            Self::Reported { status, .. } | Self::Recorded { status, .. } => *status,
            Self::MissingModel { .. } => Some(404),
            Self::NoTools { .. } => Some(400),
            _ => None,
        }
    }

    /// Whether the service rejected the request because it is longer than the model allows.
    pub fn is_overflow(&self) -> bool {
        self.kind() == ErrorKind::Input && self.wanted().shorter
    }

    /// Returns the service's hints about retrying.
    pub fn wanted(&self) -> Wanted {
        match self {
            Self::Status { again, .. } | Self::Reported { again, .. } => *again,
            _ => Wanted::default(),
        }
    }

    /// Whether the same request may succeed later: the connection or the service failed, or there were too many
    /// requests at once. An invalid request stays invalid.
    pub fn may_pass(&self) -> bool {
        // Without a wildcard: a new error has to say whether it can pass.
        match self {
            Self::Status { status, again, .. } => may_pass(*status) && !again.never,
            Self::Reported { status: Some(status), again, .. } => may_pass(*status) && !again.never,
            Self::Reported { status: None, kind, again, .. } => {
                matches!(kind, ErrorKind::Quota | ErrorKind::Network | ErrorKind::Server) && !again.never
            }
            Self::Unreachable { .. } | Self::Interrupted { .. } | Self::Silent { .. } | Self::Reply { .. } => true,
            Self::Blocked { .. }
            | Self::MissingKey { .. }
            | Self::UnusableKey { .. }
            | Self::UnusableHeader { .. }
            | Self::Address { .. }
            | Self::UnknownModel { .. }
            | Self::Client { .. }
            | Self::Login { .. }
            | Self::MissingModel { .. }
            | Self::MissingProject { .. }
            | Self::NoTools { .. }
            | Self::Recorded { .. }
            | Self::Recording { .. }
            | Self::Script(_)
            | Self::UnusableLocation { .. } => false,
        }
    }

    /// Whether the system's resolver says that the server's name does not exist. A resolver that could not be asked
    /// says something else. The library passes on the text alone, which is that of `gai_strerror`.
    pub(crate) fn names_no_server(&self) -> bool {
        let Self::Unreachable { cause: Cause(cause), .. } = self else { return false };
        NO_SUCH_NAME.iter().any(|text| cause.contains(text))
    }

    /// Returns what to do about it on the command line, as a sentence without a full stop.
    pub fn help(&self) -> Option<String> {
        self.advice().map(|advice| advice.to_string())
    }

    /// Returns what to do about it, for any frontend.
    pub fn advice(&self) -> Option<Advice> {
        match self {
            Self::Status { kind: ErrorKind::Input, .. } | Self::Reported { kind: ErrorKind::Input, .. } => {
                Some(help_for_refusal(self.status(), self.is_overflow()))
            }
            Self::Status { service, kind, .. } | Self::Reported { service, kind, .. } => {
                help_for(service.provider, *kind)
            }
            Self::Blocked { service, .. } => help_for(service.provider, ErrorKind::Safety),
            Self::Unreachable { service, .. } => {
                let variable = service.provider.address.map(|address| address.variable)?;
                Some(format!(
                    // The address is named, since a wrong variable is the usual reason.
                    "check the network, that something answers at `{}`, and {variable} if it is set",
                    service.address
                ).into())
            }
            Self::Interrupted { .. } | Self::Silent { .. } => Some("check the network and try again".into()),
            Self::Reply { service, fault } => Some(match fault {
                ReplyFault::NotAStream { .. } => match service.provider.address.map(|address| address.variable) {
                    Some(variable) => format!("check that {variable} is the base address of a model's service"),
                    None => "check the base address".to_owned(),
                },
                _ => "try again, or try another model".to_owned(),
            }.into()),
            Self::MissingModel { model, .. } => Some(format!("get it with `ollama pull {model}`, or name another one").into()),
            Self::NoTools { service, model } => Some(format!(
                "put `tools = \"text\"` under `[models.\"{}/{model}\"]` in the configuration, or name another model",
                service.provider
            ).into()),
            Self::MissingKey { provider } | Self::UnusableKey { provider } => {
                help_for(*provider, ErrorKind::Authentication)
            }
            Self::Login { cause, .. } => Some(cause.help().into()),
            Self::MissingProject { provider } => Some(format!(
                "set GOOGLE_CLOUD_PROJECT to the project that pays, or `project` under `[providers.{provider}]` in the \
                 configuration"
            ).into()),
            Self::UnusableLocation { provider, .. } => Some(format!(
                "set GOOGLE_CLOUD_LOCATION to one such as `us-central1` or `global`, or `location` under \
                 `[providers.{provider}]` in the configuration"
            ).into()),
            Self::UnusableHeader { provider, name } => {
                Some(format!("fix `{name}` under `headers` of `[providers.{provider}]` in the configuration").into())
            }
            Self::Address { provider, .. } => {
                let address = provider.address?;
                Some(format!("give {} an address such as `{}`", address.variable, address.example).into())
            }
            Self::UnknownModel { forms, .. } => Some(format!("name one of {forms}").into()),
            Self::Client { .. } => Some("check the machine's root certificates and the proxy settings".into()),
            Self::Recorded { help, .. } => help.clone().map(Advice::from),
            Self::Recording { .. } => {
                Some("name a file that does not exist yet, in a folder that you may write".into())
            }
            Self::Script(_) => None,
        }
    }
}

/// Whether a status is temporary: too many requests, a timeout, a proxy that gave up (499), and failures of the service
/// itself (529 means that it is overloaded). A conflict (409) is not: the service reports that the request is wrong.
fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 499 | 500..=599)
}

/// Returns what to do about a request that the service rejected.
fn help_for_refusal(status: Option<u16>, is_overflow: bool) -> Advice {
    match status {
        _ if is_overflow => Advice::from("shorten the conversation with `/compress` (")
            .command_for("run --resume /compress", "a prompt of its own")
            .text(
                "), attach less, or use a model with a larger window; `window` under `[models]` in the configuration sets \
                 the size at which a model's conversation is compressed automatically",
            ),
        Some(409) => {
            "another request conflicts with it at the service: try again in a moment, or use another model".into()
        }
        _ => {
            "if it is about an option or about tools, change the model's entry under `[models]` in the configuration \
             (`tools = \"text\"` is for a model that cannot call tools), or use another model"
                .into()
        }
    }
}

fn help_for(provider: ProviderId, kind: ErrorKind) -> Option<Advice> {
    match kind {
        ErrorKind::Authentication => match provider.key_variable {
            Some(variable) if provider.login == LoginSpec::Optional => Some(without_a_key(format!(
                "set {variable} to a key that the service accepts (with `auth = \"oauth\"`: {LOG_IN})"
            ))),
            Some(variable) => Some(without_a_key(format!("set {variable} to a key that the service accepts"))),
            None if provider.login == LoginSpec::Required => {
                Some(format!("{LOG_IN}, with an account that may use the project").into())
            }
            None => None,
        },
        ErrorKind::Configuration => match provider.address.map(|address| address.variable) {
            Some(variable) => Some(format!("check the model's name, and {variable} if it is set").into()),
            None => Some("check the model's name".into()),
        },
        ErrorKind::Quota => Some("wait, use another model, or check the account's plan".into()),
        ErrorKind::Safety => Some("rephrase the prompt".into()),
        ErrorKind::Server => Some("try again later, or use another model".into()),
        ErrorKind::Network => Some("check the network and try again".into()),
        ErrorKind::Input => None,
    }
}

/// How to get a key, or to do without one.
fn without_a_key(how: String) -> Advice {
    Advice::from(how + ", or use ").code_flag(Flag::Model, Some("offline")).text(", which needs none")
}

/// Formats `: message`, or nothing.
fn colon(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

impl ScriptError {
    /// Returns its kind; never one for which a retry helps.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreadable { .. } | Self::Line { .. } => ErrorKind::Configuration,
            Self::Exhausted { .. } | Self::Unexpected { .. } | Self::History { .. } => ErrorKind::Input,
        }
    }
}
