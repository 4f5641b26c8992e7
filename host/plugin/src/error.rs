//! The errors of a call.

use std::fmt;
use std::time::Duration;

use host_capability::Denied;

use crate::admission::AdmissionError;
use crate::compile_limits::CompileLimit;
use crate::component::ComponentError;
use crate::limits::Limit;
use crate::open_files;

/// A call that did not return an output.
///
/// All of these are answers for the model; the next call of the same plugin works.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The tool reported a failure, in the contract's own terms.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The component was not admitted.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// The guest trapped: a panic, an index out of bounds, an unreachable.
    #[error("`{tool}` crashed: {}{}", panic.as_deref().unwrap_or(trap), indented(backtrace))]
    Crashed {
        /// The tool.
        tool: String,
        /// The runtime's message.
        trap: String,
        /// The guest's message, if it panicked.
        panic: Option<String>,
        /// The backtrace, innermost first; empty if the component has no names.
        backtrace: String,
    },
    /// A limit stopped it.
    #[error("`{tool}` was stopped: {}", limit_words(*limit))]
    Limit {
        /// The tool.
        tool: String,
        /// The limit.
        limit: Limit,
    },
    /// It returned more than a call may return.
    #[error("`{tool}` returned {what} of {size} bytes, over the limit of {limit}")]
    TooMuch {
        /// The tool.
        tool: String,
        /// The kind of content.
        what: &'static str,
        /// Its size.
        size: usize,
        /// The largest size.
        limit: usize,
    },
    /// It returned more items than a call may return.
    #[error("`{tool}` returned {count} {what}, over the limit of {limit}")]
    TooMany {
        /// The tool.
        tool: String,
        /// The items, in the plural.
        what: &'static str,
        /// The number of them.
        count: usize,
        /// The largest number.
        limit: usize,
    },
    /// Its preview changes a file that has unsaved changes in the user's editor; no question is asked about that.
    #[error("{}", open_files::refusal(file))]
    Unsaved {
        /// The file, as it is shown.
        file: String,
    },
    /// Its preview changes a file that has changed since the model last read or wrote it.
    #[error("{}", changed_words(file, difference.as_deref()))]
    Changed {
        /// The file, as it is shown.
        file: String,
        /// What was changed, if it is known and short.
        difference: Option<String>,
    },
    /// It took too long.
    #[error("`{tool}` timed out after {} s", limit.as_secs_f32())]
    TimedOut {
        /// The tool.
        tool: String,
        /// The limit.
        limit: Duration,
    },
    /// Its result does not match the contract.
    #[error("`{tool}` returned {what} that is not JSON: {error}")]
    NotJson {
        /// The tool.
        tool: String,
        /// The field.
        what: &'static str,
        /// The reason.
        error: String,
    },
    /// The runtime itself failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

fn changed_words(file: &str, difference: Option<&str>) -> String {
    let what = format!("`{file}` was not written: it has changed since you last read or wrote it.");
    match difference {
        Some(difference) => {
            format!("{what} The change:\n\n{difference}\nMake the call again so that this change stays in the file.")
        }
        None => format!("{what} Read it again, and make the call so that the change stays in the file."),
    }
}

/// A failure that the tool itself reported; the cases of the contract's `failure`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The arguments match the schema but are invalid for the tool.
    #[error("{0}")]
    InvalidArguments(String),
    /// The grants do not cover it: the host denied it during the call, in these words.
    #[error("{help}")]
    Denied {
        /// The capability.
        capability: String,
        /// The path, command, address or other use that was denied.
        wanted: String,
        /// Why, and what would allow it, in whole sentences.
        help: String,
    },
    /// The tool says that the host did something, and the host did not.
    #[error("`{tool}` {claim}. Its words: {words}")]
    Claimed {
        /// The tool.
        tool: String,
        /// What it says that the host did.
        claim: Claim,
        /// Its words, in quotation marks on one line.
        words: String,
    },
    /// The named object does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The actual state differs from what the call assumed.
    #[error("{0}")]
    Conflict(String),
    /// It may work later.
    #[error("{0}")]
    Unavailable(String),
    /// The host cancelled it; contains its partial result.
    #[error("cancelled")]
    Cancelled(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

/// What a tool can say that the host did to its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It denied something.
    Denied,
    /// It cancelled the call.
    Cancelled,
}

impl fmt::Display for Claim {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Denied => "reports a denial that the host did not make",
            Self::Cancelled => "reports that it was cancelled, but it was not",
        })
    }
}

/// The runtime cannot be started, or cannot run a component that was admitted.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// This machine cannot run compiled code.
    #[error("cannot start the WebAssembly engine: {0:#}")]
    Engine(wasmtime::Error),
    /// The thread that keeps guests interruptible cannot be started.
    #[error("no thread for the engine's clock: {0}")]
    Ticker(std::io::Error),
    /// A component that is stored cannot be had.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// A component does not compile.
    #[error("`{plugin}` does not compile: {error:#}")]
    Compile {
        /// The plugin.
        plugin: String,
        /// The compiler's error.
        error: wasmtime::Error,
    },
    /// Compiling a component takes more than it may.
    #[error(
        "`{plugin}` was not compiled: its component of {size} bytes takes more than {limit} to compile; check where it \
         comes from, or ask its author for one with smaller functions"
    )]
    TooCostly {
        /// The plugin.
        plugin: String,
        /// The size of its component.
        size: usize,
        /// The limit.
        limit: CompileLimit,
    },
    /// The process that compiles does not start, or ended early.
    #[error("`{plugin}` cannot be compiled: {why}")]
    Compiler {
        /// The plugin.
        plugin: String,
        /// The reason.
        why: String,
    },
    /// A component does not link or start.
    #[error("`{plugin}` cannot be started: {error:#}")]
    Instantiate {
        /// The plugin.
        plugin: String,
        /// The linker's error.
        error: wasmtime::Error,
    },
    /// A component does not link, and was made for a newer contract than this host's.
    #[error(
        "`{plugin}` was made for a newer host: its contract is {contract}, and this host has {}; update the host ({error:#})",
        crate::admission::CONTRACT
    )]
    Newer {
        /// The plugin.
        plugin: String,
        /// The version of the contract that it imports.
        contract: semver::Version,
        /// The linker's error.
        error: wasmtime::Error,
    },
    /// A thread of the host panicked.
    #[error("a thread of the host ended early: {0}")]
    Thread(#[from] tokio::task::JoinError),
}

impl From<Denied> for CallError {
    fn from(denied: Denied) -> Self {
        Self::Admission(AdmissionError::Ungranted(denied))
    }
}

fn limit_words(limit: Limit) -> &'static str {
    match limit {
        Limit::Memory => "it asked for more memory than a call may have",
        Limit::Table => "it asked for a larger table than a call may have",
    }
}

fn indented(backtrace: &str) -> String {
    backtrace.lines().map(|line| format!("\n  {line}")).collect()
}
