//! Calls that wait for an answer which comes with another request, in the revision without sessions.
//!
//! Promises: an answer counts once, for the very call that asked, and for the question that was asked; a state that was
//! not made here, was used before, has expired or belongs to another call is refused; what waits is limited.
//!
//! The state in the client's hands is only a random name: everything else stays here, so there is nothing to forge.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use host_tool::{Question, QuestionId};
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, InputRequests, InputRequiredResult};
use serde_json::{Map, Value};

use super::call::RunningCall;

/// The most calls that wait for an answer. Protects memory; the one that has waited longest is given up.
const MAX_PARKED: usize = 32;

/// How long a call waits for an answer before it is given up.
const ANSWER_LIMIT: Duration = Duration::from_secs(15 * 60);

/// The length of a state, in random bytes.
const STATE_BYTES: usize = 32;

/// A call that waits for an answer.
pub(super) struct ParkedCall {
    /// The call.
    pub(super) call: RunningCall,
    /// The id of its question.
    pub(super) id: QuestionId,
    /// The question.
    pub(super) question: Arc<Question>,
}

/// The calls that wait, by their states.
#[derive(Default)]
pub(super) struct ParkedCalls(Mutex<HashMap<String, (Instant, ParkedCall)>>);

/// Why a state is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StateError {
    /// No call waits under it.
    #[error("no call waits for this answer: `requestState` was used before, has expired or is invalid")]
    Unknown,
    /// It is that of a call of a different tool or with different arguments.
    #[error("`requestState` belongs to a different call")]
    Different,
}

impl ParkedCalls {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, (Instant, ParkedCall)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a call until its answer comes, and returns what the client has to answer.
    pub(super) fn park(&self, call: ParkedCall, requests: InputRequests) -> CallToolResponse {
        let Ok(state) = new_state() else {
            let words = "not run: the system has no random numbers for a question";
            return CallToolResult::error(vec![ContentBlock::text(words)]).into();
        };
        let mut waiting = self.waiting();
        waiting.retain(|_, (since, _)| since.elapsed() < ANSWER_LIMIT);
        if waiting.len() >= MAX_PARKED {
            let oldest = waiting.iter().min_by_key(|(_, (since, _))| *since).map(|(state, _)| state.clone());
            oldest.and_then(|state| waiting.remove(&state));
        }
        waiting.insert(state.clone(), (Instant::now(), call));
        InputRequiredResult::new(Some(requests), Some(state)).into()
    }

    /// Returns the call that waits under a state, if it is the same call again. Its state is used up then.
    pub(super) fn take(
        &self,
        state: &str,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<ParkedCall, StateError> {
        let mut waiting = self.waiting();
        waiting.retain(|_, (since, _)| since.elapsed() < ANSWER_LIMIT);
        let (_, parked) = waiting.get(state).ok_or(StateError::Unknown)?;
        if !parked.call.is(name, arguments) {
            return Err(StateError::Different);
        }
        waiting.remove(state).map(|(_, parked)| parked).ok_or(StateError::Unknown)
    }

    /// Gives up all calls.
    pub(super) fn clear(&self) {
        self.waiting().clear();
    }
}

fn new_state() -> Result<String, getrandom::Error> {
    let mut bytes = [0; STATE_BYTES];
    getrandom::fill(&mut bytes)?;
    let mut state = String::with_capacity(2 * STATE_BYTES);
    for byte in bytes {
        // A string takes everything.
        let _ = write!(state, "{byte:02x}");
    }
    Ok(state)
}
