//! The calls of one reply and where each of them is. Every change goes through here, so every change is told.

use std::ops::ControlFlow;
use std::sync::Arc;

use host_message::FunctionCall;

use super::Observe;
use crate::{
    CallChange, CallEvent, CallFailure, CallState, Cancel, FailureKind, Live, LiveOutput, Outcome, SettledCall, Tool,
};

pub(super) struct Board<'o> {
    states: Vec<CallState>,
    cancel: &'o Cancel,
    observe: &'o Observe<'o>,
}

impl<'o> Board<'o> {
    pub(super) fn new(calls: Vec<FunctionCall>, cancel: &'o Cancel, observe: &'o Observe<'o>) -> Self {
        let board = Self { states: calls.into_iter().map(CallState::new).collect(), cancel, observe };
        for state in &board.states {
            board.tell(state, CallChange::Validating(state.call()));
        }
        board
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn call(&self, at: usize) -> &FunctionCall {
        self.states[at].call()
    }

    pub(super) fn schedule(&mut self, at: usize, tool: Arc<dyn Tool>) {
        if self.states[at].schedule(tool) {
            self.tell(&self.states[at], CallChange::Scheduled);
        }
    }

    /// Hands over what it takes to run the call; none when it must not run, and is settled for that.
    pub(super) fn start(&mut self, at: usize, live: LiveOutput) -> Option<(Arc<dyn Tool>, Arc<FunctionCall>)> {
        if !self.cancel.is_cancelled() {
            let tool = self.states[at].start(live)?;
            self.tell(&self.states[at], CallChange::Executing);
            if !self.cancel.is_cancelled() {
                return Some((tool, Arc::clone(self.states[at].call())));
            }
        }
        self.settle(at, Outcome::Cancelled { reason: self.cancel.reason().to_owned(), partial: None });
        None
    }

    /// Passes live output on, unless the call is over: a clone of its handle may have outlived it.
    pub(super) fn show(&self, at: usize, piece: &Live) {
        if matches!(self.states[at], CallState::Executing { .. }) {
            self.tell(&self.states[at], CallChange::Live(piece));
        }
    }

    pub(super) fn settle(&mut self, at: usize, outcome: Outcome) {
        if self.states[at].settle(outcome)
            && let state @ CallState::Settled(settled) = &self.states[at]
        {
            self.tell(state, CallChange::Settled(settled));
        }
    }

    /// The calls that can run, in waves.
    pub(super) fn waves(&self) -> Vec<Vec<usize>> {
        let mut waves: Vec<Vec<usize>> = Vec::new();
        let mut reading = false;
        for (at, state) in self.states.iter().enumerate() {
            let CallState::Scheduled { tool, .. } = state else { continue };
            let reads = tool.spec().annotations.read_only;
            match waves.last_mut() {
                Some(wave) if reading && reads => wave.push(at),
                _ => waves.push(vec![at]),
            }
            reading = reads;
        }
        waves
    }

    /// All calls, settled; one that is not by now never will be.
    pub(super) fn settled(mut self) -> Vec<SettledCall> {
        for at in 0..self.states.len() {
            self.settle(at, CallFailure::new(FailureKind::Crashed, "the call was lost before it ran").into());
        }
        let settled = self.states.into_iter().filter_map(|state| match state {
            CallState::Settled(settled) => Some(settled),
            CallState::Validating { .. } | CallState::Scheduled { .. } | CallState::Executing { .. } => None,
        });
        settled.collect()
    }

    fn tell(&self, state: &CallState, change: CallChange<'_>) {
        let FunctionCall { id, name, .. } = state.call().as_ref();
        if let ControlFlow::Break(reason) = (self.observe)(CallEvent { id, name, change }) {
            self.cancel.cancel(reason);
        }
    }
}
