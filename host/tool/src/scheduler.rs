//! Runs the calls of one reply, and settles each exactly once.
//!
//! Calls run in waves: neighbouring calls of tools that only read run in parallel, a call that can change something
//! runs alone in its place. Whether a call may run is decided when its wave comes, one call after the other, so that
//! the user sees the current state. A denied call stops none of its siblings and splits no wave; a call that the user
//! rejects stops those after it, and one with which a hook ends the run cancels all, with the hook's reason. Calls that
//! run in parallel are tasks of their own, so that computing guests use all cores; nothing of a call is left when it
//! settles.

mod after;
mod call_table;
mod running;

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt as _};
use host_message::{CallId, FunctionCall};
use host_plugin::ToolCaller;
use host_text::clip;
use tokio::sync::mpsc;

use self::after::After;
use self::call_table::{CallTable, Ready};
use self::running::Running;
use crate::gate::CallQuestions;
use crate::gate::{AtGate, Passed};
use crate::hooks::HookText;
use crate::live::{self, Piece};
use crate::nested::{NestedCalls, NestedRequest, may_be_nested};
use crate::{
    CallAsker, CallContext, CallEvent, CallFailure, Cancel, Decided, FailureKind, Gate, LiveOutput, Outcome,
    PausableClock, Question, Registry, SettledCall, Tool,
};

/// How many calls run in parallel. Protects memory (each has a sandbox of its own) and the disk.
const SIDE_BY_SIDE: usize = 16;

/// How many calls of one reply run. Protects the host from a model that repeats itself endlessly.
const CALLS_IN_A_REPLY: usize = 256;

/// The reason for calls that came after one that the user rejected.
const BEHIND_REJECTED: &str = "the user rejected an earlier call of the same reply";

/// The longest text of a panic that is passed to the model, in characters.
const PANIC_CHARACTERS: usize = 300;

/// The observer of everything that happens to calls. The scheduler waits for it, so it must be quick.
///
/// `Break` with a reason stops: calls that have not begun never begin, and running calls are cancelled with that
/// reason. So no call runs unrecorded when the log can no longer be written: a call begins only after the observer
/// returned `Continue` for its [`CallChange::Executing`](crate::CallChange::Executing).
pub type Observe<'a> = dyn Fn(CallEvent<'_>) -> ControlFlow<String> + Send + Sync + 'a;

/// Runs calls with the tools of a registry.
#[derive(Clone)]
pub struct Scheduler<'r> {
    registry: &'r Registry,
    run_clock: PausableClock,
    gate: Option<Gate>,
}

impl<'r> Scheduler<'r> {
    /// Creates a scheduler for the tools of this registry.
    pub fn new(registry: &'r Registry) -> Self {
        Self { registry, run_clock: PausableClock::default(), gate: None }
    }

    /// Sets the gate that calls pass before they run. Without one, every call runs with what its tool may touch anyway.
    #[must_use]
    pub fn with_gate(self, gate: Option<&Gate>) -> Self {
        Self { gate: gate.cloned(), ..self }
    }

    /// Sets the clock of the run, which is paused while the user is asked.
    #[must_use]
    pub fn with_standstill(self, run_clock: &PausableClock) -> Self {
        Self { run_clock: run_clock.clone(), ..self }
    }

    /// Runs the calls of one reply and returns all of them settled, in their order.
    ///
    /// When `cancel` is cancelled, running calls get [`Tool::cancel_grace`] to end by themselves, and waiting ones
    /// settle as cancelled without running. Dropping the future drops every running call.
    pub async fn run(self, calls: Vec<FunctionCall>, cancel: &Cancel, observe: &Observe<'_>) -> Vec<SettledCall> {
        self.run_all(None, calls, cancel, observe).await
    }

    /// Runs calls that a running one made.
    ///
    /// Not an `async fn`: what is awaited within is of its own kind.
    fn run_nested<'s>(
        &'s self,
        request: NestedRequest,
        whole: &'s Cancel,
        observe: &'s Observe<'s>,
    ) -> BoxFuture<'s, usize> {
        let NestedRequest { at, parent, cancel: token, calls, ended } = request;
        async move {
            let cancel = Cancel::under(&token);
            let settled = self.run_all(Some(&parent), calls, &cancel, observe).await;
            // Not by its parent: a hook ends the run, or the log cannot be written, and both are about all calls.
            if cancel.is_cancelled() && !token.is_cancelled() {
                whole.cancel(cancel.reason());
            }
            // Nobody waits for them any more if this cannot be sent: their parent has ended.
            ended.send(settled).ok();
            at
        }
        .boxed()
    }

    async fn run_all(
        &self,
        parent: Option<&CallId>,
        calls: Vec<FunctionCall>,
        cancel: &Cancel,
        observe: &Observe<'_>,
    ) -> Vec<SettledCall> {
        let mut table = CallTable::new(calls, parent, cancel, observe);
        for at in 0..table.len() {
            let admitted = if at < CALLS_IN_A_REPLY { self.registry.admit(table.call(at)) } else { Err(too_many()) };
            let admitted = admitted.and_then(|tool| {
                if parent.is_some() {
                    may_be_nested(tool.as_ref())?;
                }
                Ok(tool)
            });
            match admitted {
                Ok(tool) => table.admit(at, tool),
                Err(failure) => table.settle(at, failure.into()),
            }
        }
        let (live, pieces) = live::channel();
        let (questions, asked) = mpsc::channel(1);
        let (nested, requests) = mpsc::channel(1);
        let channels = Channels { live, questions, nested: parent.is_none().then_some(nested) };
        let mut incoming = Incoming { pieces, questions: asked, nested: requests };
        for wave in table.waves() {
            self.run_wave(&mut table, wave, (cancel, observe), &channels, &mut incoming).await;
        }
        table.settled()
    }

    /// Passes a call through the gate.
    fn passing<'p>(
        &'p self,
        gate: Gate,
        call: Arc<FunctionCall>,
        tool: Arc<dyn Tool>,
        cancel: &Cancel,
    ) -> impl FnOnce(mpsc::Sender<Arc<Question>>) -> BoxFuture<'p, Passed> {
        let cancel = cancel.token().child_token();
        move |asked| {
            async move {
                let at_gate = AtGate { registry: self.registry, cancel: &cancel, run_clock: &self.run_clock, asked };
                gate.pass(call, &tool, at_gate).await
            }
            .boxed()
        }
    }

    fn start(&self, table: &mut CallTable<'_>, at: usize, context: Vec<HookText>, wave: &mut Wave<'_>) {
        let Wave { cancel, channels, running } = wave;
        let cancel = *cancel;
        let live = LiveOutput::new(at, channels.live.clone());
        let Some(Ready { call, tool, allowance }) = table.start(at, live.clone()) else { return };
        let run_clock = self.run_clock.clone();
        let questions = self.gate.clone().map(|gate| {
            let (call, run_clock) = (Arc::clone(&call), run_clock.clone());
            Arc::new(CallQuestions::new(gate, call, run_clock, at, channels.questions.clone())) as Arc<dyn CallAsker>
        });
        let hooks = After { gate: self.gate.clone(), context, live: live.clone() };
        let own = cancel.token().child_token();
        let tools = channels.nested.as_ref().filter(|_| tool.calls_tools()).map(|requests| {
            let (parent, taken) = ((at, call.id.clone()), table.ids());
            Arc::new(NestedCalls::new(parent, taken, own.clone(), requests.clone())) as Arc<dyn ToolCaller>
        });
        let context = CallContext { cancel: own, live, run_clock, allowance, questions, tools };
        let task = execute(tool, Arc::clone(&call), context, cancel.clone());
        let cancel = cancel.clone();
        running.begin(async move { (at, hooks.heard(&call, task.await, &cancel).await) });
    }

    /// Does what was decided about a call.
    fn follow(&self, table: &mut CallTable<'_>, at: usize, passed: Passed, wave: &mut Wave<'_>) {
        match passed {
            Passed::Run { call, allowance, decided, context } => {
                table.schedule(at, call, allowance, decided);
                self.start(table, at, context, wave);
            }
            Passed::Stopped { reason } => {
                // The calls beside it end, and so does the run.
                wave.cancel.cancel(reason.as_str());
                table.settle_as(at, Outcome::Cancelled { reason, partial: None }, Some(Decided::Denied));
            }
            Passed::Denied { failure, decided } => table.settle_as(at, failure.into(), decided),
            Passed::Rejected { reason } => {
                // Before this one settles: an observer of the rejection must not see those behind it as still open.
                table.stop(BEHIND_REJECTED.to_owned());
                table.settle_as(at, Outcome::Cancelled { reason, partial: None }, Some(Decided::Rejected));
            }
        }
    }

    async fn run_wave(
        &self,
        table: &mut CallTable<'_>,
        calls: Vec<usize>,
        (cancel, observe): (&Cancel, &Observe<'_>),
        channels: &Channels,
        incoming: &mut Incoming,
    ) {
        let mut nested = Nested::default();
        let mut waiting = calls.iter().copied();
        let mut wave = Wave { cancel, channels, running: Running::with_capacity(calls.len()) };
        let mut deciding = Deciding::nothing();
        loop {
            // One decision at a time, so that the user sees the state after the call before, and one question.
            while deciding.is_idle() && wave.running.len() < SIDE_BY_SIDE {
                let Some(at) = waiting.next() else { break };
                // It may have been settled since: a rejected call ends those behind it.
                let Some((call, tool)) = table.pending(at) else { continue };
                match &self.gate {
                    Some(gate) => deciding.begin(at, self.passing(gate.clone(), call, tool, cancel)),
                    None => {
                        table.schedule(at, call, Arc::default(), Decided::Allowed);
                        self.start(table, at, Vec::new(), &mut wave);
                    }
                }
            }
            if deciding.is_idle() && wave.running.is_empty() && nested.running.is_empty() {
                break;
            }
            tokio::select! {
                // In this order: a cancelled wave asks nothing more, and an end comes before the next decision.
                biased;
                () = cancel.cancelled(), if !deciding.is_idle() => {
                    let at = deciding.end();
                    table.settle(at, Outcome::Cancelled { reason: cancel.reason().to_owned(), partial: None });
                }
                Some(ended) = wave.running.next(), if !wave.running.is_empty() => {
                    // The live output of a call comes before its end; that of other calls can wait.
                    show_waiting(table, &mut incoming.pieces);
                    match ended {
                        // The calls that it made have been cancelled by its end, and settle before it.
                        Ok((at, outcome)) if nested.has(at) => nested.ended.push((at, outcome)),
                        Ok((at, outcome)) => table.settle(at, outcome),
                        // It is settled below: a lost task does not report which call it belonged to.
                        Err(lost) => tracing::error!(%lost, "a call was lost"),
                    }
                }
                Some(at) = nested.running.next(), if !nested.running.is_empty() => {
                    if let Some(outcome) = nested.settle(at) {
                        table.settle(at, outcome);
                    }
                }
                // One that was sent before its parent ended is for nobody.
                Some(request) = incoming.nested.recv() => if !request.ended.is_closed() {
                    nested.of.push(request.at);
                    nested.running.push(self.run_nested(request, cancel, observe));
                },
                (at, decision) = deciding.next(), if !deciding.is_idle() => match decision {
                    Decision::Asked(question) => table.ask(at, question),
                    Decision::Passed(passed) => self.follow(table, at, passed, &mut wave),
                },
                // Questions of running calls, such as about a server, come here while others run on.
                Some((at, question)) = incoming.questions.recv() => table.ask_running(at, &question),
                Some((at, piece)) = incoming.pieces.recv() => table.show(at, &piece),
            }
        }
        // Nothing is left to do here unless a task was lost: the runtime shuts down, or a destructor panicked.
        for at in calls {
            table.settle(at, CallFailure::new(FailureKind::Crashed, "the call was lost while it ran").into());
        }
    }
}

/// Shows what the running calls have printed by now.
fn show_waiting(table: &mut CallTable<'_>, receiver: &mut mpsc::Receiver<Piece>) {
    for _ in 0..receiver.len() {
        if let Ok((at, piece)) = receiver.try_recv() {
            table.show(at, &piece);
        }
    }
}

/// A wave under way.
struct Wave<'w> {
    cancel: &'w Cancel,
    channels: &'w Channels,
    /// The tasks end when it is dropped: cancelling a wave leaves none behind.
    running: Running,
}

/// The ways from the running calls of a reply to their scheduler.
struct Channels {
    live: mpsc::Sender<Piece>,
    /// Questions about what a call wants to read.
    questions: mpsc::Sender<(usize, Arc<Question>)>,
    /// Calls that a call makes; `None` for calls that were made like that.
    nested: Option<mpsc::Sender<NestedRequest>>,
}

/// Their other ends.
struct Incoming {
    pieces: mpsc::Receiver<Piece>,
    questions: mpsc::Receiver<(usize, Arc<Question>)>,
    nested: mpsc::Receiver<NestedRequest>,
}

/// The calls that the calls of a wave make.
#[derive(Default)]
struct Nested<'n> {
    running: FuturesUnordered<BoxFuture<'n, usize>>,
    /// The parent of each that runs.
    of: Vec<usize>,
    /// Parents that have ended before them.
    ended: Vec<(usize, Outcome)>,
}

impl Nested<'_> {
    fn has(&self, at: usize) -> bool {
        self.of.contains(&at)
    }

    /// Takes note that calls of this parent have settled; returns how the parent ended if it waited for the last of
    /// them.
    fn settle(&mut self, at: usize) -> Option<Outcome> {
        let place = self.of.iter().position(|of| *of == at)?;
        self.of.swap_remove(place);
        if self.has(at) {
            return None;
        }
        let place = self.ended.iter().position(|(of, _)| *of == at)?;
        Some(self.ended.swap_remove(place).1)
    }
}

/// The pending decision: at most one at a time, so that the user gets one question after the other.
struct Deciding<'d> {
    at: usize,
    passed: Option<BoxFuture<'d, Passed>>,
    questions: Option<mpsc::Receiver<Arc<Question>>>,
}

/// A step of a decision.
enum Decision {
    /// The user is asked.
    Asked(Arc<Question>),
    /// The decision is made.
    Passed(Passed),
}

impl<'d> Deciding<'d> {
    fn nothing() -> Self {
        Self { at: 0, passed: None, questions: None }
    }

    fn is_idle(&self) -> bool {
        self.passed.is_none()
    }

    fn begin(&mut self, at: usize, passing: impl FnOnce(mpsc::Sender<Arc<Question>>) -> BoxFuture<'d, Passed>) {
        let (asked, questions) = mpsc::channel(1);
        *self = Self { at, passed: Some(passing(asked)), questions: Some(questions) };
    }

    /// Abandons the decision; an open question is withdrawn.
    fn end(&mut self) -> usize {
        let at = self.at;
        *self = Self::nothing();
        at
    }

    async fn next(&mut self) -> (usize, Decision) {
        let (Some(passed), Some(questions)) = (&mut self.passed, &mut self.questions) else {
            return std::future::pending().await;
        };
        let decision = tokio::select! {
            biased;
            Some(question) = questions.recv() => Decision::Asked(question),
            passed = passed => Decision::Passed(passed),
        };
        let at = if let Decision::Passed(_) = decision { self.end() } else { self.at };
        (at, decision)
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
        // The tool knows that it was cancelled; the reason is known here.
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
    let message = format!("the tool panicked: {}", clip(words, PANIC_CHARACTERS));
    CallFailure::new(FailureKind::Crashed, message).into()
}

fn too_many() -> CallFailure {
    let message = format!("not run: a reply may hold at most {CALLS_IN_A_REPLY} calls; ask for the rest again");
    CallFailure::new(FailureKind::Failed, message)
}

#[cfg(test)]
mod tests;
