//! The end of the process: the one place that turns a failure into text and an exit code.
//!
//! The numbers are part of the public interface and never change. JSON reports them too, as `error.code`.

use std::fmt::Write as _;
use std::process::ExitCode;

use anstyle::AnsiColor;
use host_settings::error::{ErrorKind, Failure};
use host_text::visible;

use crate::printer::Style;

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// It did what was asked: exit code 0.
    Done,
    /// It failed and has said so itself: the exit code is the number of the kind.
    Failed(ErrorKind),
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        match code {
            Code::Done => Self::SUCCESS,
            Code::Failed(kind) => Self::from(number(kind)),
        }
    }
}

impl From<Option<&Failure>> for Code {
    fn from(failure: Option<&Failure>) -> Self {
        failure.map_or(Self::Done, |failure| Self::Failed(failure.kind))
    }
}

/// Returns the exit code of a kind of failure.
pub(crate) fn number(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Authentication => 41,
        ErrorKind::Input => 42,
        ErrorKind::Configuration => 52,
        ErrorKind::TurnLimit => 53,
        ErrorKind::Tool => 54,
        ErrorKind::Untrusted => 55,
        ErrorKind::Loop => 56,
        ErrorKind::TimeLimit => 57,
        ErrorKind::NoCompleteTask => 58,
        ErrorKind::Service => 59,
        ErrorKind::Check => 60,
        ErrorKind::Altered => 65,
        ErrorKind::Write => 74,
        ErrorKind::Cancelled => 130,
    }
}

/// The kinds with which a run can end, each in a word or two.
const RUN_ENDS: [(ErrorKind, &str); 13] = [
    (ErrorKind::Authentication, "authentication"),
    (ErrorKind::Input, "input"),
    (ErrorKind::Configuration, "configuration"),
    (ErrorKind::TurnLimit, "turn limit"),
    (ErrorKind::Tool, "refused by a hook"),
    (ErrorKind::Untrusted, "project not trusted"),
    (ErrorKind::Loop, "loop"),
    (ErrorKind::TimeLimit, "time limit or budget"),
    (ErrorKind::NoCompleteTask, "no answer"),
    (ErrorKind::Service, "model service failed"),
    (ErrorKind::Check, "checks failed"),
    (ErrorKind::Write, "output or log not written"),
    (ErrorKind::Cancelled, "cancelled"),
];

/// Returns the exit codes of a run for its help.
pub(crate) fn codes_of_runs() -> String {
    let codes = RUN_ENDS.iter().map(|(kind, words)| format!("{} {words}", number(*kind)));
    std::iter::once("0 done".to_owned()).chain(codes).collect::<Vec<_>>().join(", ")
}

/// The terminal could not be opened.
pub(crate) fn terminal_unusable(error: std::io::Error) -> Failure {
    Failure::configuration(format!("cannot use the terminal: {error}"))
        .help("run it on a terminal, or give the prompt as an argument and redirect the output")
}

/// Prints a failure on standard error and returns the exit code.
pub(crate) fn report(failure: &Failure, style: Style) -> Code {
    crate::printer::to_stderr(&words(failure, style));
    Code::Failed(failure.kind)
}

/// A failure as text. Only its own words begin a line: those of a plugin or a file could look like more of it.
pub(crate) fn words(failure: &Failure, style: Style) -> String {
    let shown = |words: &str| visible(words.trim_end()).replace('\n', "\n    ");
    let error = style.paint("error:", AnsiColor::Red);
    let mut text = format!("{error} {}\n", shown(&failure.message));
    for cause in &failure.causes {
        // A string takes everything.
        let _ = writeln!(text, "  caused by: {}", shown(&cause.to_string()));
    }
    if let Some(help) = failure.help_text() {
        let _ = writeln!(text, "{} {}", style.paint("help:", AnsiColor::Cyan), shown(&help));
    }
    text
}
