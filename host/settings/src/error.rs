//! Why a request or a run failed: a kind, a message, its causes and what to do next.
//!
//! Each kind has one published number, which frontends report: the exit code of the process, `error.code` in JSON.
//! Deliberately not here: printing a failure and ending the process.

use std::error::Error;

use host_agent::{RunError, RunResult};
use host_journal::{SessionError, TerminateReason};
use host_model::{ErrorKind as ModelErrorKind, ModelError};
use host_text::counted;

/// The kinds of failure. The numbers are part of the public interface and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The model service rejected the credentials, or there are none.
    Authentication = 41,
    /// Invalid user input.
    Input = 42,
    /// Invalid configuration.
    Configuration = 52,
    /// The run was cut by its turn limit.
    TurnLimit = 53,
    /// A call failed or was denied (`host tool call`), a call of a run was refused (`--fail-on-refused`), a hook ended
    /// the run, or an undo left a file alone (`host undo`).
    Tool = 54,
    /// The project is not trusted.
    Untrusted = 55,
    /// The model repeated itself.
    Loop = 56,
    /// The run was cut by its time limit or budget.
    TimeLimit = 57,
    /// The model stopped without calling `complete_task`.
    NoCompleteTask = 58,
    /// The model service failed, or refused the request.
    Service = 59,
    /// A recorded session was changed since it was written, or cannot be verified (`host session verify`).
    Altered = 65,
    /// Standard output or the session log could not be written: the disk is full, or the file cannot be changed.
    Write = 74,
    /// The user cancelled the run.
    Cancelled = 130,
}

impl ErrorKind {
    /// The published number of the kind.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// A request or a run that failed: what failed, what caused it, and what to do next.
#[derive(Debug)]
pub struct Failure {
    /// The kind, which decides the published number.
    pub kind: ErrorKind,
    /// What failed, with the value.
    pub message: String,
    /// The causes, outermost first.
    pub causes: Vec<String>,
    /// What the user can do.
    pub help: Option<String>,
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
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The failure with one more cause.
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// A failure out of an error, with its chain of causes.
    pub fn from_error(kind: ErrorKind, error: &dyn Error) -> Self {
        let mut failure = Self::new(kind, error.to_string());
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !failure.message.contains(&text) {
                failure.causes.push(text);
            }
            cause = error.source();
        }
        failure
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let kind = match error {
            SessionError::Write { .. } | SessionError::Broken { .. } | SessionError::Remove { .. } => ErrorKind::Write,
            SessionError::Create { .. }
            | SessionError::List { .. }
            | SessionError::Chain(_)
            | SessionError::Lock { .. } => ErrorKind::Configuration,
            SessionError::Open { .. } | SessionError::Read { .. } | SessionError::Held { .. } => ErrorKind::Input,
        };
        Self::from_error(kind, &error).help(error.help())
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        let failure = Self::from_error(model_kind(&error), &error);
        Self { help: error.help(), ..failure }
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
            Failure { help: error.help(), ..failure }
        }
        (TerminateReason::Timeout, _) => Failure::new(kind, format!("timed out after {turns}"))
            .help("continue with `host run --resume \"…\"`, or raise --timeout"),
        (TerminateReason::MaxTurns, _) => Failure::new(kind, format!("stopped after {turns}, the limit"))
            .help("continue with `host run --resume \"…\"`, or raise --max-turns"),
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

fn error_kind(error: &RunError) -> ErrorKind {
    match error {
        RunError::Model(error) => model_kind(error),
        RunError::Inputs(_) | RunError::Template(_) | RunError::NothingLeft => ErrorKind::Input,
        RunError::Session(SessionError::Write { .. } | SessionError::Broken { .. }) => ErrorKind::Write,
        RunError::Session(_) | RunError::Tools(_) => ErrorKind::Configuration,
        RunError::Hook(_) => ErrorKind::Tool,
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
