//! The states of a call, and the events that tell of their changes.
//!
//! A call goes forward only: validating, scheduled, executing, settled; it can settle from each of the others.
//! A settled call never changes. (A state for a call that waits for a person's approval belongs between
//! scheduled and executing, once there is someone to ask.)

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use host_message::{CallId, FunctionCall, ToolName};
use tokio::time::Instant;

use crate::{Live, LiveOutput, Outcome, Tool};

/// Where a call is. Each state holds only what it has.
pub enum CallState {
    /// Its tool is looked up and its arguments are checked.
    Validating {
        /// The call as the model wrote it.
        call: Arc<FunctionCall>,
    },
    /// It can run, and waits for its wave.
    Scheduled {
        /// The call, whose arguments meet the tool's schema.
        call: Arc<FunctionCall>,
        /// The tool that will run it.
        tool: Arc<dyn Tool>,
    },
    /// It runs.
    Executing {
        /// The call.
        call: Arc<FunctionCall>,
        /// Since when.
        since: Instant,
        /// Its live output.
        live: LiveOutput,
    },
    /// It ended, one way or the other.
    Settled(SettledCall),
}

/// A call that ended, with everything that history needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledCall {
    /// The call.
    pub call: Arc<FunctionCall>,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it ran; zero when it never began.
    pub duration: Duration,
    /// How many bytes of its live output were dropped.
    pub dropped: u64,
}

/// Something happened to a call.
#[derive(Clone, Copy, Debug)]
pub struct CallEvent<'a> {
    /// The call's id.
    pub id: &'a CallId,
    /// The name that the model called.
    pub name: &'a ToolName,
    /// What happened.
    pub change: CallChange<'a>,
}

/// What happened to a call.
#[derive(Clone, Copy, Debug)]
pub enum CallChange<'a> {
    /// The model asked for it, with these arguments.
    Validating(&'a FunctionCall),
    /// It can run.
    Scheduled,
    /// It is about to run. Whoever must write that down first can still stop it.
    Executing,
    /// It shows something while it runs.
    Live(&'a Live),
    /// It ended.
    Settled(&'a SettledCall),
}

impl CallState {
    /// A call that nobody has looked at.
    pub fn new(call: FunctionCall) -> Self {
        Self::Validating { call: Arc::new(call) }
    }

    /// The call itself, in every state.
    pub fn call(&self) -> &Arc<FunctionCall> {
        match self {
            Self::Validating { call } | Self::Scheduled { call, .. } | Self::Executing { call, .. } => call,
            Self::Settled(settled) => &settled.call,
        }
    }

    /// The arguments are good and this tool will run it. Only a call that is validating changes.
    pub(crate) fn schedule(&mut self, tool: Arc<dyn Tool>) -> bool {
        let Self::Validating { call } = self else { return false };
        *self = Self::Scheduled { call: Arc::clone(call), tool };
        true
    }

    /// It begins to run now; hands over what running it takes. Only a call that is scheduled changes.
    pub(crate) fn start(&mut self, live: LiveOutput) -> Option<Arc<dyn Tool>> {
        let Self::Scheduled { call, tool } = self else { return None };
        let tool = Arc::clone(tool);
        *self = Self::Executing { call: Arc::clone(call), since: Instant::now(), live };
        Some(tool)
    }

    /// It ended. A call that is settled does not change.
    pub(crate) fn settle(&mut self, outcome: Outcome) -> bool {
        let (call, duration, dropped) = match self {
            Self::Settled(_) => return false,
            Self::Validating { call } | Self::Scheduled { call, .. } => (call, Duration::ZERO, 0),
            Self::Executing { call, since, live } => (call, since.elapsed(), live.dropped()),
        };
        let settled = SettledCall { call: Arc::clone(call), outcome, duration, dropped };
        drop(mem::replace(self, Self::Settled(settled)));
        true
    }
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;
    use host_message::{Output, ToolSpec};
    use serde_json::Map;

    use super::*;
    use crate::CallContext;

    struct Never;

    impl Tool for Never {
        fn spec(&self) -> &ToolSpec {
            unreachable!("the states do not look into the tool")
        }

        fn call<'a>(&'a self, _: &'a FunctionCall, _: CallContext) -> BoxFuture<'a, Outcome> {
            unreachable!("the states do not run the tool")
        }
    }

    fn fresh() -> CallState {
        CallState::new(FunctionCall { id: CallId::new("1"), name: ToolName::new("t"), arguments: Map::new() })
    }

    fn word(state: &CallState) -> &'static str {
        match state {
            CallState::Validating { .. } => "validating",
            CallState::Scheduled { .. } => "scheduled",
            CallState::Executing { .. } => "executing",
            CallState::Settled(_) => "settled",
        }
    }

    /// Applies steps (`s`chedule, e`x`ecute, `e`nd) and compares the state after each.
    fn check(steps: &str, want: &[&str]) {
        let mut state = fresh();
        let got: Vec<_> = steps
            .chars()
            .map(|step| {
                match step {
                    's' => drop(state.schedule(Arc::new(Never))),
                    'x' => drop(state.start(LiveOutput::nowhere())),
                    _ => drop(state.settle(Outcome::Success(Output::default()))),
                }
                word(&state)
            })
            .collect();
        assert_eq!(got, want, "{steps}");
    }

    #[test]
    fn a_call_goes_forward_only() {
        check("sxe", &["scheduled", "executing", "settled"]);
        check("xsse", &["validating", "scheduled", "scheduled", "settled"]);
        check("sxs", &["scheduled", "executing", "executing"]);
        check("esx", &["settled", "settled", "settled"]);
    }

    #[test]
    fn a_settled_call_keeps_its_first_outcome() {
        let mut state = fresh();
        assert!(state.settle(Outcome::Success(Output::text("first"))));
        assert!(!state.settle(Outcome::Success(Output::text("second"))));
        let CallState::Settled(settled) = state else { panic!("it was settled") };
        assert_eq!(settled.outcome, Outcome::Success(Output::text("first")));
    }
}
