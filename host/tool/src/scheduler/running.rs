//! The calls of a wave that run.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::task::JoinSet;
use tracing::Instrument as _;

use crate::Outcome;

/// The place of a call in its reply, and how it ended.
type Ended = (usize, Outcome);

/// Calls that run. Dropping it drops them.
pub(super) struct Running {
    /// Whether the wave has only one call. No other runs beside it, so with a task of its own the runtime would only
    /// have to change tasks twice, and to wake a second thread for it.
    is_single: bool,
    single: Option<BoxFuture<'static, Ended>>,
    tasks: JoinSet<Ended>,
}

/// A call that was lost while it ran: the runtime shuts down, or a destructor panicked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    #[error(transparent)]
    Task(tokio::task::JoinError),
    #[error("it panicked while it ended")]
    Single,
}

impl Running {
    /// Creates the room for a wave of so many calls.
    pub(super) fn with_capacity(calls: usize) -> Self {
        Self { is_single: calls == 1, single: None, tasks: JoinSet::new() }
    }

    /// Begins a call. It runs while [`next`](Self::next) is awaited.
    pub(super) fn begin(&mut self, call: impl Future<Output = Ended> + Send + 'static) {
        if self.is_single {
            self.single = Some(call.boxed());
        } else {
            self.tasks.spawn(call.in_current_span());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len() + usize::from(self.single.is_some())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits for the next call that ends; `None` if none runs. Nothing of the call is left then.
    pub(super) async fn next(&mut self) -> Option<Result<Ended, Lost>> {
        let Some(call) = &mut self.single else {
            return Some(self.tasks.join_next().await?.map_err(Lost::Task));
        };
        let ended = AssertUnwindSafe(call).catch_unwind().await;
        self.single = None;
        Some(ended.map_err(|_| Lost::Single))
    }
}
