//! What can be wrong with a configuration, and what to do about it.
//!
//! Deliberately not here: finding it, and the ranges of numbers.

use std::io;
use std::path::{Path, PathBuf};

use host_files::Exposed;
use host_model::ProviderId;
use host_text::{Advice, Flag, Notice};
use host_tool::HookEvent;

use super::commands::CommandsFault;
use super::mcp::McpFault;
use crate::error::{ErrorKind, Fault};
use crate::project::shown;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    /// It cannot be read.
    #[error("cannot read the configuration `{}`", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// Other users could have written it.
    #[error("the configuration `{}` cannot be used", .path.display())]
    Exposed {
        /// The file or folder.
        path: PathBuf,
        /// What others may do.
        how: Exposed,
    },
    /// It contains a secret, which other users could have read.
    #[error("the configuration `{}` cannot be used", .path.display())]
    ExposedSecret {
        /// The file or folder.
        path: PathBuf,
        /// What others may do.
        how: Exposed,
    },
    /// Something in it is invalid.
    #[error("invalid configuration `{path}`")]
    Invalid {
        /// The file, safe to show.
        path: String,
        /// What is invalid.
        fault: ConfigurationFault,
    },
    /// A project sets what only the user may set.
    #[error("the project's configuration `{path}` cannot be used")]
    OfProject {
        /// The file, safe to show.
        path: String,
        /// The line.
        line: usize,
        /// The key, safe to show.
        key: String,
        /// What the project may not say.
        rule: ProjectRule,
    },
}

impl Fault for ConfigurationError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Unreadable { cause, .. } => vec![cause.to_string().into()],
            Self::Exposed { how, .. } => vec![how.to_string().into()],
            Self::ExposedSecret { how, .. } => {
                vec![format!("it contains a secret of a plugin or an MCP server, and {how}").into()]
            }
            Self::Invalid { fault, .. } => vec![fault.to_string().into()],
            Self::OfProject { line, key, rule, .. } => vec![format!("line {line}: `{key}` {}", rule.why()).into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unreadable { .. } => Some("fix or remove the file, or set HOST_CONFIG to a different one".into()),
            Self::Exposed { path, .. } => Some(
                format!("check what it says, then run `chmod go-w '{}'`, or change its owner", path.display()).into(),
            ),
            Self::ExposedSecret { path, .. } => {
                Some(format!("chmod 600 '{}', or write {{ env = \"VARIABLE\" }} for the secret", path.display()).into())
            }
            Self::Invalid { fault, .. } => Some(fault.help()),
            Self::OfProject { rule, .. } => Some(rule.help()),
        }
    }
}

/// Something invalid in a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationFault {
    /// It is not TOML, or not of the form that is expected.
    #[error("{text}")]
    Toml {
        /// What the parser says, with the line.
        text: String,
        /// The name that was probably meant.
        expected: Option<String>,
    },
    /// A budget that allows nothing.
    #[error("`{0}` is out of range: `0`; it must be more than 0")]
    NoBudget(&'static str),
    /// A key that only another service reads.
    #[error("`{key}` does not apply to `[providers.{service}]`")]
    OtherService {
        /// The key.
        key: &'static str,
        /// The service that has it.
        service: ProviderId,
        /// The service that reads it.
        reader: ProviderId,
    },
    /// An MCP server is invalid.
    #[error("`[mcp.{name}]`: {fault}")]
    Mcp {
        /// Its name, safe to show.
        name: String,
        /// What is invalid.
        fault: McpFault,
    },
    /// An index that nobody signs.
    #[error("`indexes.{0}` has no keys")]
    NoKeys(String),
    /// A hook runs nothing, or two things.
    #[error("a hook of `[[hooks.{}]]` has {}", .event.name(), commands_of(*.has_both))]
    Hook {
        /// The event.
        event: HookEvent,
        /// Whether it has both.
        has_both: bool,
    },
    /// The commands that list and call tools are invalid.
    #[error(transparent)]
    Commands(#[from] CommandsFault),
}

/// What a hook has that is invalid.
fn commands_of(has_both: bool) -> &'static str {
    match has_both {
        true => "both `command` and `component`",
        false => "no `command` and no `component`",
    }
}

impl ConfigurationFault {
    /// What to do about it.
    pub fn help(&self) -> Advice {
        match self {
            Self::Toml { expected: Some(name), .. } => format!("did you mean `{name}`?").into(),
            Self::Toml { expected: None, .. } => {
                "see the line and column above; `docs/configuration.md` lists all keys".into()
            }
            Self::NoBudget(_) => "omit it to run without a budget".into(),
            Self::OtherService { reader, .. } => format!("move it to `[providers.{reader}]`").into(),
            Self::Mcp { fault, .. } => fault.help(),
            Self::NoKeys(_) => "name the public key of its publisher: keys = [\"RW…\"]".into(),
            Self::Hook { .. } => "write the line of the shell that runs, or the file of a component".into(),
            Self::Commands(fault) => fault.help(),
        }
    }
}

impl ConfigurationError {
    /// The error of a file with such commands.
    pub(super) fn of_commands(path: &Path, fault: CommandsFault) -> Self {
        Self::Invalid { path: shown::path(path), fault: fault.into() }
    }
}

/// The rules that a project's configuration can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectRule {
    /// Only the user can set the key.
    NotAllowed(WhyNot),
    /// A project can only ask about more.
    Mode,
    /// A project cannot turn off the detection of loops.
    LoopDetection,
}

/// Why only the user can set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// It is about a service.
    Service,
    /// It is a secret.
    Secret,
    /// It is about repeated requests.
    Retry,
    /// It is about what a service lets through.
    Safety,
    /// It is none of a project's keys.
    Other,
}

impl ProjectRule {
    /// What is wrong with the key.
    pub fn why(self) -> &'static str {
        match self {
            Self::NotAllowed(_) => "is not allowed in a project",
            Self::Mode => "may only be `plan` or `default` in a project",
            Self::LoopDetection => "may only be `true` in a project",
        }
    }

    /// What the user can do.
    pub fn help(self) -> Advice {
        match self {
            Self::NotAllowed(WhyNot::Service) => {
                "it decides where your keys are sent and who pays: set it in your own configuration".into()
            }
            Self::NotAllowed(WhyNot::Secret) => "only you may provide secrets: set it in your own configuration".into(),
            Self::NotAllowed(WhyNot::Retry) => {
                "only you decide how often requests to your services are retried: set it in your own configuration"
                    .into()
            }
            Self::NotAllowed(WhyNot::Safety) => {
                "only you decide what your account lets through: set it in your own configuration".into()
            }
            Self::NotAllowed(WhyNot::Other) => {
                "set it in your own configuration; `docs/trust.md` lists the keys that a project may set".into()
            }
            Self::Mode => {
                Advice::from("for another mode use ").flag(Flag::ApprovalMode).text(" or your own configuration")
            }
            Self::LoopDetection => "turn it off in your own configuration".into(),
        }
    }
}
