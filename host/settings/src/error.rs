//! Why a request or a run failed: a kind, a message, its causes and what to do next.
//!
//! Each module has its own errors, whose variants hold the values. What can fail for reasons of several modules returns
//! a [`Failure`], which every such error becomes and which is what a frontend gets. The help is data ([`Advice`]): each
//! frontend names options, commands and settings in its own terms.
//! Deliberately not here: the numbers of the kinds, printing a failure and ending the process.

use std::error::Error;

use host_agent::{RunError, RunResult};
use host_journal::{SessionError, TerminateReason};
use host_model::{ErrorKind as ModelErrorKind, ModelError};
use host_text::{Advice, Flag, Notice, counted};

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The model service rejected the credentials, or there are none.
    Authentication,
    /// Invalid user input.
    Input,
    /// Invalid configuration.
    Configuration,
    /// The run was cut by its turn limit.
    TurnLimit,
    /// A call failed or was denied (`host tool call`), a call of a run was refused (`--fail-on-refused`), a hook ended
    /// the run, or an undo left a file alone (`host undo`).
    Tool,
    /// The project is not trusted.
    Untrusted,
    /// What the run changed failed its checks.
    Check,
    /// The model repeated itself.
    Loop,
    /// The run was cut by its time limit or budget.
    TimeLimit,
    /// The model stopped without calling `complete_task`.
    NoCompleteTask,
    /// The model service failed, or refused the request.
    Service,
    /// A recorded session was changed since it was written, or cannot be verified (`host session verify`).
    Altered,
    /// Standard output or the session log could not be written: the disk is full, or the file cannot be changed.
    Write,
    /// The user cancelled the run.
    Cancelled,
}

/// An error that a frontend shows.
///
/// The error's own text says what failed, with the values. A cause that the text contains is not one of its causes.
pub trait Fault: Error {
    /// The kind of failure that it is.
    fn kind(&self) -> ErrorKind;

    /// The causes, outermost first.
    fn causes(&self) -> Vec<Notice> {
        chain(&self.to_string(), self.source())
    }

    /// What the user can do; `None` if there is nothing to say besides the error.
    fn help(&self) -> Option<Advice> {
        None
    }
}

/// A request or a run that failed: what failed, what caused it, and what to do next.
#[derive(Debug)]
pub struct Failure {
    /// The kind, of which a frontend makes a number.
    pub kind: ErrorKind,
    /// What failed, with the value.
    pub message: String,
    /// The causes, outermost first.
    pub causes: Vec<Notice>,
    /// What the user can do.
    pub help: Option<Advice>,
}

impl Failure {
    /// A failure without causes or help.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), causes: Vec::new(), help: None }
    }

    /// Invalid user input.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// Invalid configuration.
    pub fn configuration(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Configuration, message)
    }

    /// The failure with this help.
    pub fn help(self, help: impl Into<Advice>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The failure with the help of its error, if that has one.
    pub fn help_if(self, help: Option<Advice>) -> Self {
        Self { help: help.or(self.help), ..self }
    }

    /// The help in terms of the command line.
    pub fn help_text(&self) -> Option<String> {
        self.help.as_ref().map(ToString::to_string)
    }

    /// What failed and why, on one line, where others are reported too.
    pub fn notice(&self) -> Notice {
        let message = Notice::from(&self.message);
        self.causes.iter().fold(message, |notice, cause| notice.text(": ").then(cause.clone())).on_one_line()
    }

    /// The failure with one more cause.
    pub fn cause(mut self, cause: impl Into<Notice>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// A failure out of an error, with its chain of causes.
    pub fn from_error(kind: ErrorKind, error: &dyn Error) -> Self {
        let message = error.to_string();
        Self { kind, causes: chain(&message, error.source()), message, help: None }
    }
}

/// The texts of a cause and of its own causes, without those that the message contains.
fn chain(message: &str, cause: Option<&dyn Error>) -> Vec<Notice> {
    let mut causes = Vec::new();
    let mut next = cause;
    while let Some(cause) = next {
        let text = cause.to_string();
        if !message.contains(&text) {
            causes.push(text.into());
        }
        next = cause.source();
    }
    causes
}

impl<E: Fault> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { kind: error.kind(), message: error.to_string(), causes: error.causes(), help: error.help() }
    }
}

impl Fault for SessionError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Write { .. } | Self::Broken { .. } | Self::Remove { .. } => ErrorKind::Write,
            Self::Create { .. } | Self::List { .. } | Self::Chain(_) | Self::Key(_) | Self::Lock { .. } => {
                ErrorKind::Configuration
            }
            Self::Open { .. } | Self::Read { .. } | Self::Held { .. } => ErrorKind::Input,
        }
    }

    fn help(&self) -> Option<Advice> {
        Some(self.help().into())
    }
}

impl Fault for ModelError {
    fn kind(&self) -> ErrorKind {
        model_kind(self)
    }

    fn help(&self) -> Option<Advice> {
        self.advice()
    }
}

/// The failure of a run; `None` if it reached its end.
pub fn run_failure(result: &RunResult) -> Option<Failure> {
    let kind = match result.terminate_reason {
        TerminateReason::Goal => return None,
        TerminateReason::Timeout => ErrorKind::TimeLimit,
        TerminateReason::MaxTurns => ErrorKind::TurnLimit,
        TerminateReason::Aborted => ErrorKind::Cancelled,
        TerminateReason::ErrorNoCompleteTaskCall => ErrorKind::NoCompleteTask,
        TerminateReason::Error => result.error.as_ref().map_or(ErrorKind::Service, error_kind),
    };
    let turns = counted(result.turns, "turn");
    let mut failure = match (result.terminate_reason, &result.error) {
        (TerminateReason::Error, Some(error))
        | (TerminateReason::MaxTurns | TerminateReason::Timeout, Some(error @ RunError::Exceeded(_))) => {
            let failure = Failure::from_error(kind, error);
            Failure { help: error.advice(), ..failure }
        }
        (TerminateReason::Timeout, _) => {
            Failure::new(kind, format!("timed out after {turns}")).help(go_on(Flag::Timeout))
        }
        (TerminateReason::MaxTurns, _) => {
            Failure::new(kind, format!("stopped after {turns}, which is the limit")).help(go_on(Flag::MaxTurns))
        }
        (TerminateReason::Aborted, _) => Failure::new(kind, "cancelled"),
        (TerminateReason::ErrorNoCompleteTaskCall, _) => {
            Failure::new(kind, "the model stopped without calling `complete_task`")
                .help("run it again, or with another model")
        }
        (TerminateReason::Error | TerminateReason::Goal, _) => Failure::new(kind, "the run failed"),
    };
    if let Some(error) = &result.error
        && failure.message != error.to_string()
    {
        failure = failure.cause(error.to_string());
    }
    if result.best_answer().is_some() {
        failure.message.push_str("; the answer is the best so far and may be unfinished");
    }
    Some(failure)
}

/// What to do about a run that this limit cut.
fn go_on(limit: Flag) -> Advice {
    Advice::from("continue with ").command_for("run --resume \"…\"", "a new prompt").text(", or raise ").flag(limit)
}

fn error_kind(error: &RunError) -> ErrorKind {
    match error {
        RunError::Model(error) => model_kind(error),
        RunError::Inputs(_) | RunError::Template(_) | RunError::NothingLeft => ErrorKind::Input,
        RunError::Session(SessionError::Write { .. } | SessionError::Broken { .. }) => ErrorKind::Write,
        RunError::Session(_) | RunError::Tools(_) => ErrorKind::Configuration,
        RunError::Hook(_) => ErrorKind::Tool,
        RunError::Check { .. } => ErrorKind::Check,
        RunError::Loop(_) => ErrorKind::Loop,
        RunError::Reply(_) | RunError::History(_) => ErrorKind::Service,
        RunError::Exceeded(exceeded) => match exceeded.reason() {
            TerminateReason::Timeout => ErrorKind::TimeLimit,
            TerminateReason::Error => ErrorKind::Configuration,
            _ => ErrorKind::TurnLimit,
        },
    }
}

/// Returns the kind of a model's error. A rejection by a service is a failure of the service, not of the user: the user
/// provides only the script of the scripted model.
fn model_kind(error: &ModelError) -> ErrorKind {
    match error.kind() {
        ModelErrorKind::Authentication => ErrorKind::Authentication,
        ModelErrorKind::Input if matches!(error, ModelError::Script(_)) => ErrorKind::Input,
        ModelErrorKind::Input => ErrorKind::Service,
        ModelErrorKind::Configuration => ErrorKind::Configuration,
        ModelErrorKind::Quota | ModelErrorKind::Safety | ModelErrorKind::Network | ModelErrorKind::Server => {
            ErrorKind::Service
        }
    }
}
