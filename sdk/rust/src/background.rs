//! Programs that go on after the call, until they end, are stopped, or the session ends. It needs no grant of its own:
//! it reaches only programs that the plugin itself started with [`crate::process::spawn_background`].
//!
//! A tool that starts one says so in its preview with [`announce`], or [`announce_terminal`] for one on a terminal
//! ([`crate::process::spawn_terminal`]), so that the user is told; without that the host does not start it.

use crate::Failure;
pub use crate::bindings::host::tool::background::{Input, Output, Program, Screen, State, TerminalError};
#[cfg(target_family = "wasm")]
pub use crate::bindings::host::tool::background::{
    announce, announce_terminal, list, read, resize, send, stop, view, wait,
};
#[cfg(not(target_family = "wasm"))]
pub use crate::fake::background::{announce, announce_terminal, list, read, resize, send, stop, view, wait};

impl From<TerminalError> for Failure {
    fn from(error: TerminalError) -> Self {
        match error {
            TerminalError::NotFound => Self::NotFound("there is no such program in the background".to_owned()),
            TerminalError::NoTerminal => Self::Failed("this program has no terminal".to_owned()),
            TerminalError::Ended => Self::Conflict("this program has ended".to_owned()),
            TerminalError::Denied(denial) => Self::Denied(denial),
            TerminalError::Busy => Self::Unavailable("this program does not read what is typed".to_owned()),
            TerminalError::Invalid(why) => Self::InvalidArguments(why),
        }
    }
}
