//! The calls of one reply and their states. Every change goes through here, so every change is reported.

use std::ops::ControlFlow;
use std::sync::Arc;

use host_message::{CallId, FunctionCall};

use super::Observe;
use crate::call::Step;
use crate::{
    Allowance, CallChange, CallEvent, CallFailure, CallState, Cancel, Decided, FailureKind, Live, LiveOutput, Outcome,
    Question, SettledCall, Tool,
};

pub(super) struct CallTable<'o> {
    states: Vec<CallState>,
    /// The call that made these; `None` for those of a reply.
    parent: Option<&'o CallId>,
    cancel: &'o Cancel,
    observe: &'o Observe<'o>,
    /// Why no further call starts, after one was rejected.
    stopped: Option<String>,
}

/// Everything needed to run a call.
pub(super) struct Ready {
    pub(super) call: Arc<FunctionCall>,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) allowance: Arc<Allowance>,
}

impl<'o> CallTable<'o> {
    pub(super) fn new(
        calls: Vec<FunctionCall>,
        parent: Option<&'o CallId>,
        cancel: &'o Cancel,
        observe: &'o Observe<'o>,
    ) -> Self {
        let states = calls.into_iter().map(CallState::new).collect();
        let table = Self { states, parent, cancel, observe, stopped: None };
        for state in &table.states {
            table.tell(state, CallChange::Validating(state.call()));
        }
        table
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// The ids of the calls.
    pub(super) fn ids(&self) -> Vec<CallId> {
        self.states.iter().map(|state| state.call().id.clone()).collect()
    }

    pub(super) fn call(&self, at: usize) -> &FunctionCall {
        self.states[at].call()
    }

    pub(super) fn admit(&mut self, at: usize, tool: Arc<dyn Tool>) {
        self.states[at].step(Step::Admit(tool));
    }

    /// Returns the call to decide about and its tool. `None` if the call must not run; it is settled then.
    pub(super) fn pending(&mut self, at: usize) -> Option<(Arc<FunctionCall>, Arc<dyn Tool>)> {
        if let Some(reason) = self.stopped() {
            self.cancel(at, reason);
        }
        match &self.states[at] {
            CallState::Validating { call, tool: Some(tool) } => Some((Arc::clone(call), Arc::clone(tool))),
            CallState::Validating { tool: None, .. }
            | CallState::AwaitingApproval { .. }
            | CallState::Scheduled { .. }
            | CallState::Executing { .. }
            | CallState::Settled(_) => None,
        }
    }

    pub(super) fn ask(&mut self, at: usize, question: Arc<Question>) {
        if self.states[at].step(Step::Ask(question))
            && let state @ CallState::AwaitingApproval { question, .. } = &self.states[at]
        {
            self.tell(state, CallChange::AwaitingApproval(question));
        }
    }

    /// Reports a question about what a running call wants to read. The call goes on being executed.
    pub(super) fn ask_running(&self, at: usize, question: &Question) {
        if matches!(self.states[at], CallState::Executing { .. }) {
            self.tell(&self.states[at], CallChange::AwaitingApproval(question));
        }
    }

    pub(super) fn schedule(&mut self, at: usize, call: Arc<FunctionCall>, allowance: Arc<Allowance>, decided: Decided) {
        if self.states[at].step(Step::Schedule { call, allowance: Arc::clone(&allowance), decided }) {
            self.tell(&self.states[at], CallChange::Scheduled { decided, allowance: &allowance });
        }
    }

    /// Returns everything needed to run the call; `None` if it must not run; it is settled then.
    pub(super) fn start(&mut self, at: usize, live: LiveOutput) -> Option<Ready> {
        if let Some(reason) = self.stopped() {
            self.cancel(at, reason);
        }
        let CallState::Scheduled { call, tool, allowance, .. } = &self.states[at] else { return None };
        let ready = Ready { call: Arc::clone(call), tool: Arc::clone(tool), allowance: Arc::clone(allowance) };
        self.states[at].step(Step::Start(live));
        self.tell(&self.states[at], CallChange::Executing(&self.states[at].title()));
        if self.cancel.is_cancelled() {
            self.cancel(at, self.cancel.reason().to_owned());
            return None;
        }
        Some(ready)
    }

    /// Lets no further call begin, for this reason; running calls continue.
    pub(super) fn stop(&mut self, reason: String) {
        self.stopped.get_or_insert(reason);
    }

    fn stopped(&self) -> Option<String> {
        if self.cancel.is_cancelled() { Some(self.cancel.reason().to_owned()) } else { self.stopped.clone() }
    }

    fn cancel(&mut self, at: usize, reason: String) {
        self.settle(at, Outcome::Cancelled { reason, partial: None });
    }

    /// Passes live output on, unless the call is over: a clone of its handle may have outlived it.
    pub(super) fn show(&self, at: usize, piece: &Live) {
        if matches!(self.states[at], CallState::Executing { .. }) {
            self.tell(&self.states[at], CallChange::Live(piece));
        }
    }

    pub(super) fn settle(&mut self, at: usize, outcome: Outcome) {
        self.settle_as(at, outcome, None);
    }

    /// Settles a call that ends because of the decision about it.
    pub(super) fn settle_as(&mut self, at: usize, outcome: Outcome, decided: Option<Decided>) {
        if self.states[at].step(Step::Settle { outcome, decided })
            && let state @ CallState::Settled(settled) = &self.states[at]
        {
            self.tell(state, CallChange::Settled(settled));
        }
    }

    /// Returns the calls that can run, in waves.
    pub(super) fn waves(&self) -> Vec<Vec<usize>> {
        let mut waves: Vec<Vec<usize>> = Vec::new();
        let mut reading = false;
        for (at, state) in self.states.iter().enumerate() {
            let CallState::Validating { tool: Some(tool), .. } = state else { continue };
            let reads = tool.spec().annotations.read_only;
            match waves.last_mut() {
                Some(wave) if reading && reads => wave.push(at),
                _ => waves.push(vec![at]),
            }
            reading = reads;
        }
        waves
    }

    /// Returns all calls, settled; a call that is not settled by now never will be.
    pub(super) fn settled(mut self) -> Vec<SettledCall> {
        for at in 0..self.states.len() {
            self.settle(at, CallFailure::new(FailureKind::Crashed, "the call was lost before it ran").into());
        }
        let settled = self.states.into_iter().filter_map(|state| match state {
            CallState::Settled(settled) => Some(settled),
            CallState::Validating { .. }
            | CallState::AwaitingApproval { .. }
            | CallState::Scheduled { .. }
            | CallState::Executing { .. } => None,
        });
        settled.collect()
    }

    fn tell(&self, state: &CallState, change: CallChange<'_>) {
        let FunctionCall { id, name, .. } = state.call().as_ref();
        if let ControlFlow::Break(reason) = (self.observe)(CallEvent { id, name, parent: self.parent, change }) {
            self.cancel.cancel(reason);
        }
    }
}
