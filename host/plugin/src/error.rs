//! How a call can end other than well.

use std::time::Duration;

use host_capability::Denied;

use crate::admission::AdmissionError;
use crate::limits::Limit;

/// A call that did not return an output.
///
/// All of these are answers for the model; the next call of the same plugin works.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The tool said no, in the contract's own terms.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The component was not let in.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// The guest trapped: a panic, an index out of bounds, an unreachable.
    #[error("`{tool}` crashed: {}{}", panic.as_deref().unwrap_or(trap), indented(backtrace))]
    Crashed {
        /// The tool.
        tool: String,
        /// What the machine said.
        trap: String,
        /// What the guest said before, when it panicked.
        panic: Option<String>,
        /// Where, innermost first; empty where the component has no names.
        backtrace: String,
    },
    /// A limit stopped it.
    #[error("`{tool}` was stopped: {}", limit_words(*limit))]
    Limit {
        /// The tool.
        tool: String,
        /// Which.
        limit: Limit,
    },
    /// It returned more than a call may return.
    #[error("`{tool}` returned {what} of {size} bytes, over the limit of {limit}")]
    TooMuch {
        /// The tool.
        tool: String,
        /// Of what.
        what: &'static str,
        /// How much.
        size: usize,
        /// How much is allowed.
        limit: usize,
    },
    /// It took too long.
    #[error("`{tool}` timed out after {} s", limit.as_secs_f32())]
    TimedOut {
        /// The tool.
        tool: String,
        /// The limit.
        limit: Duration,
    },
    /// What it returned is not what the contract says.
    #[error("`{tool}` returned {what} that is not JSON: {error}")]
    NotJson {
        /// The tool.
        tool: String,
        /// Which field.
        what: &'static str,
        /// Why.
        error: String,
    },
    /// The runtime itself could not do it.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

/// A failure that the tool itself reported; the cases of the contract's `failure`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The arguments meet the schema and make no sense.
    #[error("{0}")]
    InvalidArguments(String),
    /// The grants do not cover it.
    #[error("{help}")]
    Denied {
        /// The capability, as the guest named it.
        capability: String,
        /// What was wanted.
        wanted: String,
        /// Why not, and what would allow it, in whole sentences.
        help: String,
    },
    /// What was named is not there.
    #[error("{0}")]
    NotFound(String),
    /// The world is not as the call assumed.
    #[error("{0}")]
    Conflict(String),
    /// It may work later.
    #[error("{0}")]
    Unavailable(String),
    /// It was told to stop; carries what it had until then.
    #[error("cancelled")]
    Cancelled(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

/// The runtime cannot be started, or cannot run a component that was let in.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// This machine cannot run compiled code.
    #[error("cannot start the WebAssembly engine: {0:#}")]
    Engine(wasmtime::Error),
    /// The thread that keeps guests interruptible cannot be had.
    #[error("no thread for the engine's clock: {0}")]
    Ticker(std::io::Error),
    /// A component does not compile.
    #[error("`{plugin}` does not compile: {error:#}")]
    Compile {
        /// The plugin.
        plugin: String,
        /// What the compiler said.
        error: wasmtime::Error,
    },
    /// A component does not link or start.
    #[error("`{plugin}` cannot be started: {error:#}")]
    Instantiate {
        /// The plugin.
        plugin: String,
        /// What the linker said.
        error: wasmtime::Error,
    },
    /// A component does not link, and was made for a contract that has more in it than this host's.
    #[error(
        "`{plugin}` was made for a newer host: its contract is {contract}, and this host has {}; update the host ({error:#})",
        crate::admission::CONTRACT
    )]
    Newer {
        /// The plugin.
        plugin: String,
        /// The version of the contract that it imports.
        contract: semver::Version,
        /// What the linker said.
        error: wasmtime::Error,
    },
    /// A thread of the host's own panicked.
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
