//! The calls that a running call makes of other tools.
//!
//! Promises: each is handed to the scheduler that runs its parent, which treats it as it treats a call of the model's;
//! a call that was denied is not decided again while its parent runs, and once the user has rejected one, no other
//! runs, so that nobody is asked again and again.
//!
//! Deliberately not here: running the calls (`scheduler`), and which of them a grant covers (`host-plugin`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use host_message::{CallId, FunctionCall, Output, OutputPart, ToolName};
use host_plugin::{ToolAnswer, ToolCallError, ToolCaller, ToolRequest};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::response::cancelled;
use crate::{CallFailure, Decided, FailureKind, Outcome, SettledCall, Tool};

/// What is said of calls that come after one that the user rejected.
const BEHIND_REJECTED: &str = "the user rejected an earlier call of the same script, and none after it is run";

/// Makes calls of other tools for one call.
#[derive(Clone)]
pub(crate) struct NestedCalls(Arc<Inner>);

struct Inner {
    /// The place of the parent in its reply.
    at: usize,
    parent: CallId,
    /// The ids of the calls of the same reply.
    taken: Vec<CallId>,
    /// Is cancelled when the parent has to stop.
    cancel: CancellationToken,
    requests: mpsc::Sender<NestedRequest>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many ids were given.
    numbered: usize,
    /// What was denied, by the tool and its arguments.
    denied: HashMap<(ToolName, String), String>,
    /// Whether the user rejected a call.
    is_rejected: bool,
}

/// Calls that a running call wants to make.
pub(crate) struct NestedRequest {
    /// The place of the parent in its reply.
    pub(crate) at: usize,
    /// The parent.
    pub(crate) parent: CallId,
    /// Cancels them.
    pub(crate) cancel: CancellationToken,
    /// The calls.
    pub(crate) calls: Vec<FunctionCall>,
    /// Gets them, settled, in their order.
    pub(crate) ended: oneshot::Sender<Vec<SettledCall>>,
}

/// Checks that a call may be made by another one.
///
/// # Errors
///
/// If the tool is the agent itself, or makes calls of its own.
pub(crate) fn may_be_nested(tool: &dyn Tool) -> Result<(), CallFailure> {
    let name = &tool.spec().name;
    let why = match (tool.calls_tools(), tool.origin()) {
        (true, _) => format!("`{name}` makes calls of its own, so no other call can make one of it"),
        (false, None) => format!("`{name}` is the agent's own, and is called by the agent alone"),
        (false, Some(_)) => return Ok(()),
    };
    Err(CallFailure::new(FailureKind::Unauthorized, why))
}

impl NestedCalls {
    /// Makes calls for the call at this place among those of its reply; `requests` leads to its scheduler.
    pub(crate) fn new(
        (at, parent): (usize, CallId),
        taken: Vec<CallId>,
        cancel: CancellationToken,
        requests: mpsc::Sender<NestedRequest>,
    ) -> Self {
        Self(Arc::new(Inner { at, parent, taken, cancel, requests, state: Mutex::default() }))
    }
}

impl ToolCaller for NestedCalls {
    fn call_all(&self, calls: Vec<ToolRequest>) -> BoxFuture<'static, Vec<Result<ToolAnswer, ToolCallError>>> {
        let inner = Arc::clone(&self.0);
        async move { inner.call_all(calls).await }.boxed()
    }
}

/// What of a batch is already decided.
enum Made {
    /// It is refused.
    Refused(String),
    /// It is made, with these arguments as text.
    Asked(ToolName, String),
}

impl Inner {
    async fn call_all(&self, requests: Vec<ToolRequest>) -> Vec<Result<ToolAnswer, ToolCallError>> {
        let mut calls = Vec::with_capacity(requests.len());
        let made: Vec<Made> = requests
            .into_iter()
            .map(|ToolRequest { permit, arguments }| {
                let name = ToolName::new(permit.tool());
                let text = Value::Object(arguments.clone()).to_string();
                match self.refused(&name, &text) {
                    Some(why) => Made::Refused(why),
                    None => {
                        calls.push(FunctionCall::new(self.id(), name.clone(), arguments));
                        Made::Asked(name, text)
                    }
                }
            })
            .collect();
        let mut settled = self.run(calls).await.into_iter();
        let result = |made: Made| match made {
            Made::Refused(why) => Err(ToolCallError::Refused(why)),
            Made::Asked(name, arguments) => match settled.next() {
                Some(settled) => self.result(settled, name, arguments),
                None => Err(ToolCallError::Unavailable("the agent that makes the calls has ended".to_owned())),
            },
        };
        made.into_iter().map(result).collect()
    }

    /// Runs calls to their ends. None are returned if the run is over.
    async fn run(&self, calls: Vec<FunctionCall>) -> Vec<SettledCall> {
        if calls.is_empty() {
            return Vec::new();
        }
        let (ended, settled) = oneshot::channel();
        // A child, so that dropping this future cancels these calls and no other.
        let cancel = self.cancel.child_token();
        let _cancels_when_dropped = cancel.clone().drop_guard();
        let request = NestedRequest { at: self.at, parent: self.parent.clone(), cancel, calls, ended };
        if self.requests.send(request).await.is_err() {
            return Vec::new();
        }
        settled.await.unwrap_or_default()
    }

    /// Why a call is refused that was decided about before, in the words of that time.
    fn refused(&self, name: &ToolName, arguments: &str) -> Option<String> {
        let state = self.state();
        match state.is_rejected {
            true => Some(cancelled(BEHIND_REJECTED)),
            false => state.denied.get(&(name.clone(), arguments.to_owned())).cloned(),
        }
    }

    /// Returns a new id, which says whose call it is.
    fn id(&self) -> CallId {
        let mut state = self.state();
        loop {
            state.numbered += 1;
            let id = CallId::new(format!("{}.{}", self.parent, state.numbered));
            // A model may call its own calls like that.
            if !self.taken.contains(&id) {
                return id;
            }
        }
    }

    fn result(&self, settled: SettledCall, name: ToolName, text: String) -> Result<ToolAnswer, ToolCallError> {
        let notice = settled.change_notice();
        match settled.outcome {
            Outcome::Success(output) => {
                let text = notice.unwrap_or_default() + &text_of(&output);
                Ok(ToolAnswer { text, structured: output.structured.map(|value| value.to_string()) })
            }
            Outcome::Error(CallFailure { kind, message }) => Err(match kind {
                FailureKind::Denied => {
                    self.state().denied.insert((name, text), message.clone());
                    ToolCallError::Refused(message)
                }
                FailureKind::UnknownTool | FailureKind::Unauthorized => ToolCallError::NotFound(message),
                FailureKind::InvalidArguments => ToolCallError::Invalid(message),
                FailureKind::NotFound
                | FailureKind::Conflict
                | FailureKind::Unavailable
                | FailureKind::TimedOut
                | FailureKind::Crashed
                | FailureKind::Failed => ToolCallError::Failed(message),
            }),
            Outcome::Cancelled { .. } if self.cancel.is_cancelled() => Err(ToolCallError::Cancelled),
            Outcome::Cancelled { reason, .. } => {
                self.state().is_rejected |= settled.decided == Some(Decided::Rejected);
                Err(ToolCallError::Refused(cancelled(&reason)))
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the text of an output, with a note in the place of data.
fn text_of(output: &Output) -> String {
    let pieces = output.content.iter().map(|part| match part {
        OutputPart::Text(text) => text.clone(),
        OutputPart::Link { uri, title: Some(title) } => format!("[{title}]({uri})"),
        OutputPart::Link { uri, title: None } => uri.clone(),
        OutputPart::Data(data) => format!("[{}: {} bytes]", data.mime_type, data.base64.len() / 4 * 3),
    });
    match (output.content.is_empty(), &output.structured) {
        (true, Some(value)) => value.to_string(),
        (_, _) => pieces.collect::<Vec<_>>().join("\n"),
    }
}
