//! Programs that go on after the call, until they end, are stopped, or the session ends. It needs no grant of its own:
//! it reaches only programs that the plugin itself started with [`crate::process::spawn_background`].
//!
//! A tool that starts one says so in its preview with [`announce`], so that the user is told; without that the host does
//! not start it.

pub use crate::bindings::host::tool::background::{Output, Program, State};
#[cfg(target_family = "wasm")]
pub use crate::bindings::host::tool::background::{announce, list, read, stop, wait};
#[cfg(not(target_family = "wasm"))]
pub use crate::fake::background::{announce, list, read, stop, wait};
