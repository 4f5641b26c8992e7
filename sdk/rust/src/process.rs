//! The capability `process`: running programs of this machine, outside the sandbox.

use crate::Failure;
#[cfg(target_family = "wasm")]
pub use crate::bindings::host::cap::process::{Child, spawn, spawn_background, spawn_terminal};
pub use crate::bindings::host::cap::process::{Chunk, Command, Error, Exit, Source, TerminalSize};
#[cfg(not(target_family = "wasm"))]
pub use crate::fake::process::{Child, spawn, spawn_background, spawn_terminal};

impl Command {
    /// A program with its arguments, in the workspace, with nothing to read and the host's own limit.
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            directory: String::new(),
            environment: Vec::new(),
            stdin: None,
            silence_limit: None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Denied(denial) => denial.into(),
            Error::NotFound(what) => Self::NotFound(format!("there is no `{what}`")),
            Error::Invalid(why) => Self::InvalidArguments(why),
            Error::Io(why) => Self::Failed(why),
        }
    }
}
