//! How the process ends: the one place that turns what went wrong into words and a code.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use anstyle::AnsiColor;
use host_agent::{RunError, RunResult, SessionError, TerminateReason};
use host_model::{ErrorKind, ModelError};

use crate::printer::{Style, visible};

/// The exit codes; part of the program's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Done = 0,
    Authentication = 41,
    Input = 42,
    Configuration = 52,
    TurnLimit = 53,
    Tool = 54,
    Untrusted = 55,
    Loop = 56,
    TimeLimit = 57,
    NoCompleteTask = 58,
    Service = 59,
    Cancelled = 130,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// Something that ends the process, in words: what failed, what caused it, and what to do next.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) causes: Vec<String>,
    pub(crate) help: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), causes: Vec::new(), help: None }
    }

    /// What the person gave is no good.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(Code::Input, message)
    }

    /// What the host was set up with is no good.
    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::new(Code::Configuration, message)
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    pub(crate) fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// A failure out of an error, with its chain of causes.
    pub(crate) fn of(code: Code, error: &dyn Error) -> Self {
        let mut failure = Self::new(code, error.to_string());
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
        let code = match error {
            SessionError::Create { .. }
            | SessionError::Write { .. }
            | SessionError::Broken { .. }
            | SessionError::List { .. }
            | SessionError::Lock { .. } => Code::Configuration,
            SessionError::Open { .. } | SessionError::Read { .. } | SessionError::Held { .. } => Code::Input,
        };
        Self::of(code, &error).help(error.help())
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        let failure = Self::of(model_code(&error), &error);
        Self { help: error.help(), ..failure }
    }
}

/// The code of a run, and what there is to say about it when it did not reach its end.
pub(crate) fn of_run(result: &RunResult) -> (Code, Option<Failure>) {
    let code = match result.terminate_reason {
        TerminateReason::Goal => return (Code::Done, None),
        TerminateReason::Timeout => Code::TimeLimit,
        TerminateReason::MaxTurns => Code::TurnLimit,
        TerminateReason::Aborted => Code::Cancelled,
        TerminateReason::ErrorNoCompleteTaskCall => Code::NoCompleteTask,
        TerminateReason::Error => result.error.as_ref().map_or(Code::Service, error_code),
    };
    let turns = result.turns;
    let mut failure = match (result.terminate_reason, &result.error) {
        (TerminateReason::Error, Some(error))
        | (TerminateReason::MaxTurns | TerminateReason::Timeout, Some(error @ RunError::Exceeded(_))) => {
            let failure = Failure::of(code, error);
            Failure { help: error.help(), ..failure }
        }
        (TerminateReason::Timeout, _) => Failure::new(code, format!("the time limit passed after {turns} turns"))
            .help("give it more time with --timeout, or a smaller task; host run --resume goes on from here"),
        (TerminateReason::MaxTurns, _) => Failure::new(code, format!("the limit of {turns} turns was met"))
            .help("allow more with --max-turns, or give it a smaller task; host run --resume goes on from here"),
        (TerminateReason::Aborted, _) => Failure::new(code, "cancelled"),
        (TerminateReason::ErrorNoCompleteTaskCall, _) => {
            Failure::new(code, "the model stopped without calling `complete_task`")
                .help("run it again, or with another model")
        }
        (TerminateReason::Error | TerminateReason::Goal, _) => Failure::new(code, "the run failed"),
    };
    if let Some(error) = &result.error
        && failure.message != error.to_string()
    {
        failure = failure.cause(error.to_string());
    }
    (code, Some(failure))
}

fn error_code(error: &RunError) -> Code {
    match error {
        RunError::Model(error) => model_code(error),
        RunError::Inputs(_) | RunError::Template(_) | RunError::NothingLeft => Code::Input,
        RunError::Session(_) | RunError::Tools(_) => Code::Configuration,
        RunError::Loop(_) => Code::Loop,
        RunError::Reply(_) | RunError::History(_) => Code::Service,
        RunError::Exceeded(exceeded) => match exceeded.reason() {
            TerminateReason::Timeout => Code::TimeLimit,
            _ => Code::TurnLimit,
        },
    }
}

fn model_code(error: &ModelError) -> Code {
    match error.kind() {
        ErrorKind::Authentication => Code::Authentication,
        ErrorKind::Input => Code::Input,
        ErrorKind::Configuration => Code::Configuration,
        ErrorKind::Quota | ErrorKind::Safety | ErrorKind::Network | ErrorKind::Server => Code::Service,
    }
}

/// Tells a failure on standard error, and answers the code to end with.
pub(crate) fn report(failure: &Failure, style: Style) -> Code {
    crate::printer::to_stderr(&words(failure, style));
    failure.code
}

/// A failure as it is told.
pub(crate) fn words(failure: &Failure, style: Style) -> String {
    let error = style.paint("error:", AnsiColor::Red);
    let mut text = format!("{error} {}\n", visible(&failure.message));
    for cause in &failure.causes {
        // A string takes everything.
        let _ = writeln!(text, "  caused by: {}", visible(cause));
    }
    if let Some(help) = &failure.help {
        let _ = writeln!(text, "{} {}", style.paint("help:", AnsiColor::Cyan), visible(help));
    }
    text
}
