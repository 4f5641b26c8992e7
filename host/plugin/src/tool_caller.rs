//! How calls of other tools of the session are made by a layer above.
//!
//! Owns [`ToolCaller`], what it is asked for, what it answers and why it may not. Promises: a call is made with a
//! permit for its tool and no other way.
//!
//! Deliberately not here: which tools there are, what decides about a call, and what a guest sees of it (`tools`).

use std::fmt;

use futures::future::BoxFuture;
use host_capability::ToolPermit;
use serde_json::{Map, Value};

/// Calls other tools of the session on behalf of one call, its parent.
///
/// For the implementer:
///
/// * Each call is one of the model's own: its arguments are checked, it is decided about, recorded with its parent, and
///   settles exactly once.
/// * Dropping the future of [`call_all`](ToolCaller::call_all), and cancelling the parent, cancels the calls. The
///   future of a cancelled parent's calls ends when they have settled.
pub trait ToolCaller: Send + Sync {
    /// Makes calls, as if they were those of one reply; returns how each ended, in their order.
    fn call_all(&self, calls: Vec<ToolRequest>) -> BoxFuture<'static, Vec<Result<ToolAnswer, ToolCallError>>>;
}

impl fmt::Debug for dyn ToolCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolCaller")
    }
}

/// A call to make.
#[derive(Debug)]
pub struct ToolRequest {
    /// The permit, which names the tool.
    pub permit: ToolPermit,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// What a tool returned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolAnswer {
    /// Its text, with a note in the place of data.
    pub text: String,
    /// The same as one JSON value, as text.
    pub structured: Option<String>,
}

/// Why a call has no result. The texts are for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolCallError {
    /// There is no such tool, or none that may be called here.
    NotFound(String),
    /// The arguments do not match the tool's schema.
    Invalid(String),
    /// A rule, a grant or the user did not let it run.
    Refused(String),
    /// It was told to stop.
    Cancelled,
    /// The tool failed.
    Failed(String),
    /// No call can be made.
    Unavailable(String),
}
