//! How calls of the tools of MCP servers are made by a layer above.
//!
//! Owns [`McpClient`], what it answers and why it may not. Promises: a call is made with a permit for its tool and no
//! other way.
//!
//! Deliberately not here: the protocol, which servers there are, and what a guest sees of it (`mcp`).

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use host_capability::{McpPermit, McpServerName};
use host_message::OutputPart;
use serde_json::{Map, Value};

use crate::listener::CallListener;

/// Calls the tools of MCP servers.
///
/// For the implementer:
///
/// * Dropping the future of a [`call`](McpClient::call) cancels the call at the server, and frees what it holds.
/// * What a server says of itself is a claim: [`only_reads`](McpClient::only_reads) is true only if the user said that
///   the server's claims about reading count, too.
/// * A call that may have reached the server is never repeated: it may have had its effect.
pub trait McpClient: Send + Sync {
    /// Returns whether the host knows that the tool, as the server calls it, only reads.
    fn only_reads(&self, server: &McpServerName, tool: &str) -> bool;

    /// Returns whether the server is a program on this machine, which may change files.
    fn is_program(&self, server: &McpServerName) -> bool;

    /// Calls a tool. `listener` gets its progress, and the questions that the server asks meanwhile.
    ///
    /// # Errors
    ///
    /// If the server does not answer with a result of the tool. A tool that failed is an answer.
    fn call(&self, permit: McpPermit, arguments: Map<String, Value>, listener: Arc<dyn CallListener>) -> Answering;
}

/// A call under way.
pub type Answering = BoxFuture<'static, Result<McpAnswer, McpError>>;

impl fmt::Debug for dyn McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("McpClient")
    }
}

/// What a tool of a server answered. Already limited in size; its texts are the server's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpAnswer {
    /// The content, in order.
    pub content: Vec<OutputPart>,
    /// The same as one JSON value, if the tool has an output schema.
    pub structured: Option<Value>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// What the server says beside it, `_meta` in the protocol: for programs, and never for a model.
    pub meta: Option<Arc<Map<String, Value>>>,
}

/// Why a server did not answer with a result. The texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// There is no such server, or it has no such tool, prompt or resource.
    #[error("{0}")]
    NotFound(String),
    /// The server says that the request is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The server is not connected, ended or does not answer. Says why, and what to do.
    #[error("{0}")]
    Unavailable(String),
    /// The server wants the user to log in first. Says how.
    #[error("{0}")]
    NeedsLogin(String),
    /// The server's answer is over a limit, or not what the protocol says.
    #[error("{0}")]
    Protocol(String),
}
