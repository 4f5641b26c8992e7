//! Runs the calls of one reply, and settles each exactly once.
//!
//! Calls run in waves: neighbouring calls of tools that only read run side by side, a call that can change
//! something runs alone in its place. A call that is refused before it runs stops none of its siblings and
//! splits no wave. Each call is a task of its own, so that computing guests use all cores; its task is dropped
//! before its call settles.

mod board;

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use host_message::FunctionCall;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::Instrument;

use self::board::Board;
use crate::live::{self, Piece};
use crate::{
    CallContext, CallEvent, CallFailure, Cancel, FailureKind, LiveOutput, Outcome, Registry, SettledCall, Standstill,
    Tool, cut,
};

/// How long a call that was told to stop may take to end by itself, with what it had, unless its tool says otherwise.
/// Then it is dropped.
pub const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// How many calls run side by side. Protects memory (each has a sandbox of its own) and the disk.
const SIDE_BY_SIDE: usize = 16;

/// How many calls of one reply run. Protects the host from a model that repeats itself without end.
const CALLS_IN_A_REPLY: usize = 256;

/// The longest text of a panic that the model is told, in characters.
const PANIC_CHARACTERS: usize = 300;

/// Who is told of everything that happens to calls. It is called in between, so it must be quick.
///
/// `Break` with a reason stops: what has not begun will not, and what runs is cancelled with that reason. This is
/// how a log that can no longer be written keeps calls from running unrecorded: a call begins only after its
/// [`CallChange::Executing`](crate::CallChange::Executing) was answered with `Continue`.
pub type Observe<'a> = dyn Fn(CallEvent<'_>) -> ControlFlow<String> + Send + Sync + 'a;

/// Runs calls with the tools of a registry.
#[derive(Clone)]
pub struct Scheduler<'r> {
    registry: &'r Registry,
    standstill: Standstill,
}

impl<'r> Scheduler<'r> {
    /// A scheduler for the tools of this registry.
    pub fn new(registry: &'r Registry) -> Self {
        Self { registry, standstill: Standstill::default() }
    }

    /// The same scheduler for a run whose time stands still with this.
    #[must_use]
    pub fn with_standstill(self, standstill: &Standstill) -> Self {
        Self { standstill: standstill.clone(), ..self }
    }

    /// Runs the calls of one reply and answers with each of them settled, in their order.
    ///
    /// When `cancel` fires, running calls get [`Tool::cancel_grace`] to end by themselves and waiting ones settle as
    /// cancelled without running. Dropping the future drops every running call.
    pub async fn run(self, calls: Vec<FunctionCall>, cancel: &Cancel, observe: &Observe<'_>) -> Vec<SettledCall> {
        let mut board = Board::new(calls, cancel, observe);
        for at in 0..board.len() {
            let admitted = if at < CALLS_IN_A_REPLY { self.registry.admit(board.call(at)) } else { Err(too_many()) };
            match admitted {
                Ok(tool) => board.schedule(at, tool),
                Err(failure) => board.settle(at, failure.into()),
            }
        }
        let (sender, mut receiver) = live::channel();
        for wave in board.waves() {
            self.run_wave(&mut board, wave, cancel, &sender, &mut receiver).await;
        }
        board.settled()
    }

    async fn run_wave(
        &self,
        board: &mut Board<'_>,
        wave: Vec<usize>,
        cancel: &Cancel,
        sender: &mpsc::Sender<Piece>,
        receiver: &mut mpsc::Receiver<Piece>,
    ) {
        let mut waiting = wave.iter().copied();
        let mut running = JoinSet::new();
        loop {
            while running.len() < SIDE_BY_SIDE {
                let Some(at) = waiting.next() else { break };
                let live = LiveOutput::new(at, sender.clone());
                if let Some((tool, call)) = board.start(at, live.clone()) {
                    let context =
                        CallContext { cancel: cancel.token().child_token(), live, standstill: self.standstill.clone() };
                    let task = execute(tool, call, context, cancel.clone());
                    running.spawn(async move { (at, task.await) }.in_current_span());
                }
            }
            tokio::select! {
                biased;
                ended = running.join_next() => {
                    // What the call showed comes before its end; what others show meanwhile can wait.
                    for _ in 0..receiver.len() {
                        if let Ok((at, piece)) = receiver.try_recv() {
                            board.show(at, &piece);
                        }
                    }
                    match ended {
                        Some(Ok((at, outcome))) => board.settle(at, outcome),
                        // Its call is settled below: a lost task does not say whose it was.
                        Some(Err(lost)) => tracing::error!(%lost, "the task of a call was lost"),
                        None => break,
                    }
                }
                Some((at, piece)) = receiver.recv() => board.show(at, &piece),
            }
        }
        // Nothing is left to do here unless a task was lost: the runtime shuts down, or a destructor panicked.
        for at in wave {
            board.settle(at, CallFailure::new(FailureKind::Crashed, "the call was lost while it ran").into());
        }
    }
}

/// Runs one call to its end or to the end of its grace, and turns a panic into an outcome.
async fn execute(tool: Arc<dyn Tool>, call: Arc<FunctionCall>, context: CallContext, cancel: Cancel) -> Outcome {
    let _fires_when_dropped = context.cancel.clone().drop_guard();
    let work = AssertUnwindSafe(async { tool.call(&call, context).await }).catch_unwind();
    let grace = async {
        cancel.cancelled().await;
        tokio::time::sleep(tool.cancel_grace()).await;
    };
    let ended = tokio::select! {
        biased;
        ended = work => ended.unwrap_or_else(|panic| crashed(panic.as_ref())),
        () = grace => Outcome::Cancelled { reason: String::new(), partial: None },
    };
    match ended {
        // The tool knows that it was told to stop; why is known here.
        Outcome::Cancelled { partial, .. } if cancel.is_cancelled() => {
            Outcome::Cancelled { reason: cancel.reason().to_owned(), partial }
        }
        ended => ended,
    }
}

fn crashed(panic: &(dyn Any + Send)) -> Outcome {
    let words = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it left no message");
    let message = format!("the tool panicked: {}", cut(words, PANIC_CHARACTERS));
    CallFailure::new(FailureKind::Crashed, message).into()
}

fn too_many() -> CallFailure {
    let message = format!("not run: a reply may hold at most {CALLS_IN_A_REPLY} calls; ask for the rest again");
    CallFailure::new(FailureKind::Failed, message)
}

#[cfg(test)]
mod tests;
