//! What a tool is to the host: something with a spec that can be called once at a time and answers with an
//! [`Outcome`].
//!
//! An outcome is an answer for the model. There is deliberately no error type here: a call that failed is told
//! to the model, and the run goes on.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use host_capability::{Grants, PluginName};
use host_message::{FunctionCall, Output, ToolSpec};
use host_plugin::Confirmation;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{CANCEL_GRACE, LiveOutput, PausableClock};

/// Something that a model can call.
///
/// For the implementer:
///
/// * [`spec`](Tool::spec) is asked often and must be cheap; it never changes while the tool is registered.
/// * [`call`](Tool::call) gets arguments that met the spec's input schema. Its future runs as a task of its own,
///   beside other calls when the spec says `read_only`, so it must yield now and then: work that blocks a thread
///   for long belongs on a blocking thread, with a limit of its own.
/// * When `context.cancel` fires, the call has [`cancel_grace`](Tool::cancel_grace) to end with
///   [`Outcome::Cancelled`] and what it had until then. After that its future is dropped, and dropping it must
///   free everything that the call holds: processes, stores, connections.
/// * A time limit is the tool's own, as [`FailureKind::TimedOut`]. A panic is caught and told as
///   [`FailureKind::Crashed`]; it is a bug all the same.
pub trait Tool: Send + Sync {
    /// What the model is told about it.
    fn spec(&self) -> &ToolSpec;

    /// Does it.
    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome>;

    /// The plugin that it runs in; none for a tool that is the agent itself.
    fn origin(&self) -> Option<Origin> {
        None
    }

    /// What a call would do, before it runs and without doing any of it. A tool that is the agent itself touches
    /// nothing, and needs no intent of its own.
    ///
    /// # Errors
    ///
    /// When the call could not be done anyway, with what the model is told.
    fn intent<'a>(&'a self, _call: &'a FunctionCall, _cancel: CancellationToken) -> IntentFuture<'a> {
        Box::pin(async { Ok(Intent::default()) })
    }

    /// The arguments of the call that does what a user made of this one: `text` in the place of the content or the
    /// command line that the intent proposed.
    ///
    /// # Errors
    ///
    /// When the call can be allowed or refused, and not changed.
    fn revise<'a>(&'a self, call: &'a FunctionCall, _text: &'a str, _cancel: CancellationToken) -> ReviseFuture<'a> {
        let words = format!("calls of `{}` cannot be edited", call.name);
        Box::pin(async { Err(CallFailure::new(FailureKind::InvalidArguments, words)) })
    }

    /// How long a call may take to end by itself once it was told to stop. A tool that runs calls of its own gives
    /// them the usual time, and itself a little more.
    fn cancel_grace(&self) -> Duration {
        CANCEL_GRACE
    }
}

/// What a call would do; see [`Tool::intent`].
pub type IntentFuture<'a> = BoxFuture<'a, Result<Intent, CallFailure>>;

/// The arguments of a call that a user changed; see [`Tool::revise`].
pub type ReviseFuture<'a> = BoxFuture<'a, Result<Map<String, Value>, CallFailure>>;

/// What a call would do and touch. The default does nothing that anybody is asked about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intent {
    /// What a user is shown who is asked about it; none when there is nothing to ask.
    pub confirmation: Option<Confirmation>,
    /// All that it may touch once it is allowed.
    pub touches: Grants,
    /// What of that is granted without asking.
    pub granted: Grants,
    /// All that the tool could be allowed, for who allows it for every call.
    pub at_most: Grants,
    /// The plugin that it runs in; none for a tool that is the agent itself.
    pub origin: Option<Origin>,
    /// How it would be refused if it ran with what is granted, in words for the model; none when it is covered.
    pub refusal: Option<String>,
}

/// Where the code of a tool comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The plugin.
    pub plugin: PluginName,
    /// The SHA-256 of its component, as hexadecimal digits.
    pub digest: String,
}

/// What a running call gets from the host.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// Fires when the call is to stop, and when its future is dropped.
    pub cancel: CancellationToken,
    /// Where its live output goes.
    pub live: LiveOutput,
    /// What to hold while a user is asked, so that the time of the run stands still.
    pub run_clock: PausableClock,
    /// What was allowed for this call.
    pub allowance: Arc<Allowance>,
}

/// What a call may do, as it was decided. The default is what its tool is granted for all of its calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allowance {
    /// What it may touch besides what its tool is granted for all of them.
    pub besides: Grants,
    /// What its preview named, and was decided about: it does nothing else, whatever its tool is granted. None when
    /// nothing was named.
    pub shown: Option<Arc<Confirmation>>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It did what it was asked.
    Success(Output),
    /// It did not, and says why.
    Error(CallFailure),
    /// It was told to stop, or never began.
    Cancelled {
        /// Why, in words for the model.
        reason: String,
        /// What it had until then.
        partial: Option<String>,
    },
}

/// Why a call did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What went wrong and what to do about it, in words for the model.
    pub message: String,
}

/// The kinds of failure, for counting and display; the model reads the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No tool has that name.
    UnknownTool,
    /// The arguments do not meet the schema, or make no sense to the tool.
    InvalidArguments,
    /// A capability said no.
    Denied,
    /// What was named is not there.
    NotFound,
    /// The world is not as the call assumed.
    Conflict,
    /// It may work later.
    Unavailable,
    /// The tool's time limit passed.
    TimedOut,
    /// The tool trapped, panicked, or met a limit of its sandbox.
    Crashed,
    /// Anything else.
    Failed,
    /// The tool exists and is not this agent's.
    Unauthorized,
}

impl CallFailure {
    /// A failure of this kind, with these words for the model.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl From<CallFailure> for Outcome {
    fn from(failure: CallFailure) -> Self {
        Self::Error(failure)
    }
}
