//! The interface of a tool: it has a spec, can be called, and returns an [`Outcome`].
//!
//! An outcome is an answer for the model. There is deliberately no error type here: a failed call is reported to the
//! model, and the run goes on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use host_capability::{Denied, Grants, PluginName, Resources};
use host_message::{FunctionCall, Output, ToolSpec};
use host_plugin::{Confirmation, ProgramReach, ToolCaller};
use host_text::Wording;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{CANCEL_GRACE, CallAsker, ForeignSource, LiveOutput, McpTarget, PausableClock, title};

/// Something that a model can call.
///
/// For the implementer:
///
/// * [`spec`](Tool::spec) is called often and must be cheap; it never changes while the tool is registered.
/// * [`call`](Tool::call) gets arguments that match the spec's input schema. Its future runs in
///   parallel with other calls if the spec says `read_only`, so it must yield now and then: work that blocks a thread
///   for long belongs on a blocking thread, with a limit of its own.
/// * When `context.cancel` is cancelled, the call has [`cancel_grace`](Tool::cancel_grace) to end with
///   [`Outcome::Cancelled`] and its partial result. After that its future is dropped, and dropping it must free
///   everything that the call holds: processes, stores, connections.
/// * A time limit is the tool's own, reported as [`FailureKind::TimedOut`]. A panic is caught and reported as
///   [`FailureKind::Crashed`]; it is a bug all the same.
pub trait Tool: Send + Sync {
    /// Returns its description for the model.
    fn spec(&self) -> &ToolSpec;

    /// Runs a call.
    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome>;

    /// Returns what a call is called on one line, beside the name of the tool: safe to show, as `title_line` of
    /// `host-text` makes it. A call that runs a command is called by the command instead.
    fn title(&self, call: &FunctionCall) -> String {
        title::of_tool(None, self.spec(), call)
    }

    /// Returns the plugin that it runs in; `None` for the agent's own tools.
    fn origin(&self) -> Option<Origin> {
        None
    }

    /// Returns where its results come from, if not from this machine alone: the model learns that it reads foreign
    /// text.
    fn source(&self) -> Option<ForeignSource> {
        None
    }

    /// Returns what a call would do, before it runs and without doing any of it. The agent's own tools touch nothing,
    /// and need no intent.
    ///
    /// # Errors
    ///
    /// If the call could not run anyway, with the message for the model.
    fn intent<'a>(&'a self, _call: &'a FunctionCall, _looking: Looking) -> IntentFuture<'a> {
        Box::pin(async { Ok(Intent::default()) })
    }

    /// Returns the arguments of a call that the user changed: `text` replaces the content or the command line that the
    /// intent proposed.
    ///
    /// # Errors
    ///
    /// If the call can be allowed or rejected, but not changed.
    fn revise<'a>(&'a self, call: &'a FunctionCall, _text: &'a str, _looking: Looking) -> ReviseFuture<'a> {
        let words = format!("calls of `{}` cannot be edited", call.name);
        Box::pin(async { Err(CallFailure::new(FailureKind::InvalidArguments, words)) })
    }

    /// Whether no call can run, whatever a rule or the user allows: what every call needs is not to be had in this
    /// mode.
    fn is_out_of_reach(&self) -> bool {
        false
    }

    /// Whether its calls can make calls of other tools. Those cannot make any: calls nest no further.
    fn calls_tools(&self) -> bool {
        false
    }

    /// How long a call may take to end by itself once it was cancelled. A tool that runs calls of its own gives them
    /// the usual time, and itself a little more.
    fn cancel_grace(&self) -> Duration {
        CANCEL_GRACE
    }
}

/// What a call would do; see [`Tool::intent`].
pub type IntentFuture<'a> = BoxFuture<'a, Result<Intent, CallFailure>>;

/// The arguments of a call that a user changed; see [`Tool::revise`].
pub type ReviseFuture<'a> = BoxFuture<'a, Result<Map<String, Value>, CallFailure>>;

/// What a tool gets when it looks at a call that does not run yet.
#[derive(Clone, Debug, Default)]
pub struct Looking {
    /// Is cancelled when nobody waits for the answer any more.
    pub cancel: CancellationToken,
    /// What is known of the files that it looks at outside of the workspace.
    pub outside: OutsideFiles,
}

/// What was decided about files outside of the workspace that a call wants to look at before it is asked about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutsideFiles {
    /// What the user let it read.
    pub readable: Grants,
    /// Files that are to be made, absolute. It is told that they are not there, so that it reads none that somebody
    /// else makes meanwhile.
    pub absent: Vec<PathBuf>,
}

/// A file outside of the workspace that a call has to read before it is known what it would do.
#[derive(Clone, Debug, PartialEq)]
pub struct OutsideRead {
    /// The file, absolute.
    pub path: PathBuf,
    /// Why it was not read.
    pub denied: Denied,
    /// The terms in which the model is told what would allow it.
    pub wording: Wording,
}

/// What a call would do and touch. The default does nothing that needs a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intent {
    /// What the user is shown when asked about it; `None` if no question is needed.
    pub confirmation: Option<Confirmation>,
    /// The most that it may touch once it is allowed.
    pub touches: Grants,
    /// The part of it that is granted without asking.
    pub granted: Grants,
    /// The most that the tool could be allowed, for an approval of every call.
    pub at_most: Grants,
    /// The plugin that it runs in; `None` for the agent's own tools.
    pub origin: Option<Origin>,
    /// The denial for the model if the call ran with what is granted; `None` if that covers it.
    pub refusal: Option<String>,
    /// What the command that it runs may use besides what every confined one may; `None` if it runs none, or one that
    /// is not confined.
    pub uses: Option<Resources>,
    /// What of its changes cannot be undone, as far as that is known: a noun phrase each.
    pub not_undone: Vec<String>,
    /// What of that which its command runs was changed in this session: a clause each.
    pub changed_before: Vec<String>,
    /// Whether its command failed before because it needs what no door in the walls leads to.
    pub is_fenced: bool,
    /// The tool of an MCP server that it calls.
    pub mcp: Option<Arc<McpTarget>>,
    /// What it looked at outside of the workspace.
    pub outside: OutsideFiles,
    /// The files outside of the workspace that it changes and its tool is not granted: absolute, without links.
    pub changes_outside: Vec<PathBuf>,
    /// What it has to read first: then nothing but this is known about the call, which does not run.
    pub reads_first: Option<OutsideRead>,
}

/// The origin of a tool's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The plugin.
    pub plugin: PluginName,
    /// The SHA-256 of its component, as hexadecimal digits; for a tool of an MCP server that of the tool's definition.
    pub digest: String,
}

/// What a running call gets from the host.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// Is cancelled when the call has to stop, and when its future is dropped.
    pub cancel: CancellationToken,
    /// The receiver of its live output.
    pub live: LiveOutput,
    /// The clock of the run, to be paused while a user is asked.
    pub run_clock: PausableClock,
    /// What was allowed for this call.
    pub allowance: Arc<Allowance>,
    /// Asks the user on behalf of the call; `None` if the call is not one of an agent.
    pub questions: Option<Arc<dyn CallAsker>>,
    /// Makes calls of other tools for the call; `None` if it can make none.
    pub tools: Option<Arc<dyn ToolCaller>>,
}

/// What a call may do, as decided. The default is what its tool is granted for all of its calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allowance {
    /// What it may touch besides what its tool is granted for all calls.
    pub besides: Grants,
    /// The preview that was decided about: the call does nothing else, whatever its tool is granted. `None` if the
    /// preview named nothing.
    pub shown: Option<Arc<Confirmation>>,
    /// Files that it is told are not there; see [`OutsideFiles::absent`].
    pub absent: Vec<PathBuf>,
    /// How far its programs reach.
    pub reach: ProgramReach,
    /// Why it may run, for the record: a line each, safe to show.
    pub because: Vec<String>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It succeeded.
    Success(Output),
    /// It failed.
    Error(CallFailure),
    /// It was cancelled, or never began.
    Cancelled {
        /// The reason, for the model.
        reason: String,
        /// Its partial result.
        partial: Option<String>,
    },
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// What went wrong and what to do about it, for the model.
    pub message: String,
}

/// The kinds of failure, for counting and display; the model reads the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No tool has that name.
    UnknownTool,
    /// The arguments do not match the schema, or are invalid for the tool.
    InvalidArguments,
    /// A capability denied it.
    Denied,
    /// The named object does not exist.
    NotFound,
    /// The actual state differs from what the call assumed.
    Conflict,
    /// It may work later.
    Unavailable,
    /// The tool's time limit was reached.
    TimedOut,
    /// The tool trapped, panicked, or reached a limit of its sandbox.
    Crashed,
    /// Anything else.
    Failed,
    /// The tool exists, but belongs to a different agent.
    Unauthorized,
}

impl FailureKind {
    /// Whether the message is the tool's own words, and not the host's.
    pub fn is_said_by_the_tool(self) -> bool {
        match self {
            Self::InvalidArguments | Self::NotFound | Self::Conflict | Self::Unavailable | Self::Failed => true,
            Self::UnknownTool | Self::Denied | Self::TimedOut | Self::Crashed | Self::Unauthorized => false,
        }
    }
}

impl CallFailure {
    /// Creates a failure of this kind, with this message for the model.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl From<CallFailure> for Outcome {
    fn from(failure: CallFailure) -> Self {
        Self::Error(failure)
    }
}
