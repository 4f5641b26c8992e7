//! A running program, as a guest holds it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host_process::{Terminal, TerminalSize};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::process::{Chunk, Exit};

/// A running program, as a guest holds it. Dropping it ends the program and everything that it started.
#[derive(Debug)]
#[expect(unreachable_pub, reason = "the generated bindings name it")]
pub struct Child {
    pub(crate) output: mpsc::Receiver<Chunk>,
    pub(crate) exit: watch::Receiver<Option<Exit>>,
    pub(crate) kill: CancellationToken,
    /// How long it may run; `None` if that is not limited.
    pub(crate) longest: watch::Sender<Option<Duration>>,
    /// Whether that ended it.
    pub(crate) has_expired: Arc<AtomicBool>,
    /// Its terminal, and the size that this has at first.
    pub(crate) terminal: Option<(Terminal, TerminalSize)>,
    pub(crate) supervisor: AbortHandle,
}

impl Drop for Child {
    fn drop(&mut self) {
        // The supervisor owns the descendants, and ends them when it is dropped.
        self.supervisor.abort();
    }
}
