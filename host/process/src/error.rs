//! Why a program did not start.

use std::io;

/// Why a program did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no such program, or no such folder.
    #[error("not found")]
    NotFound,
    /// A word or a variable contains a NUL character, or a variable has no name.
    #[error("a word or a variable of the command is invalid")]
    Invalid,
    /// The system did not start it.
    #[error("{step}: {source}")]
    System {
        /// The step that failed.
        step: &'static str,
        /// The system's error.
        source: io::Error,
    },
}
