//! The host side of `host:cap/mcp`: calls of the tools of MCP servers.
//!
//! Owns [`McpClient`], by which a layer above makes the calls. Promises: a call is made with a permit for its tool and no
//! other way; what a server answers is limited in size before a guest gets it; a call that has to stop is cancelled at its
//! server.
//!
//! Deliberately not here: the protocol, and which servers there are.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use futures::future::BoxFuture;
use host_capability::{McpPermit, McpServerName};
use host_message::{InlineData, OutputPart};
use serde_json::{Map, Value};

use crate::bindings::denial::denial;
use crate::bindings::mcp as wit;
use crate::limits::{MAX_OUTPUT_DATA, MAX_OUTPUT_TEXT, MAX_PARTS};
use crate::listener::CallListener;
use crate::store::CallState;

/// Calls the tools of MCP servers.
///
/// For the implementer:
///
/// * Dropping the future of a [`call`](McpClient::call) cancels the call at the server, and frees what it holds.
/// * What a server says of itself is a claim: [`only_reads`](McpClient::only_reads) is true only if the user said that the
///   server's claims about reading count, too.
/// * A call that may have reached the server is never repeated: it may have had its effect.
pub trait McpClient: Send + Sync {
    /// Returns whether the host knows that the tool, as the server calls it, only reads.
    fn only_reads(&self, server: &McpServerName, tool: &str) -> bool;

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

/// A server's question to the user during a call (MCP: elicitation). Its texts are the server's: make them safe before they
/// are shown, and show them so that they cannot be mistaken for a question of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elicitation {
    /// The server that asks.
    pub server: McpServerName,
    /// What it wants to know, and why.
    pub message: String,
    /// How it is to be answered.
    pub form: ElicitationForm,
}

/// How a server's question is to be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElicitationForm {
    /// With a value for each field, or for some.
    Fields(Vec<ElicitationField>),
    /// By visiting an address in a browser, which the host does not open by itself.
    Visit {
        /// The address.
        url: String,
    },
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElicitationField {
    /// Its name in the answer.
    pub name: String,
    /// Its title for users.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Whether it needs a value.
    pub is_required: bool,
    /// Which values it takes.
    pub kind: ElicitationKind,
}

/// The values that a field takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElicitationKind {
    /// Any text. The server checks its form.
    Text,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// Yes or no.
    Boolean,
    /// One of these values, each with a title for users.
    Choice(Vec<(String, String)>),
    /// Some of these values, each with a title for users.
    Choices(Vec<(String, String)>),
}

/// The answer to a server's question.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationAnswer {
    /// These values; for [`ElicitationForm::Visit`] none.
    Accepted(Map<String, Value>),
    /// The user does not want to answer.
    Declined,
    /// The user closed the question, or nobody can be asked.
    Cancelled,
}

impl wit::Host for CallState {
    async fn call(
        &mut self,
        server: String,
        tool: String,
        arguments: String,
    ) -> wasmtime::Result<Result<wit::Answer, wit::Error>> {
        let (call, cancel) = match self.begin(&server, &tool, &arguments) {
            Ok(call) => (call, self.cancel.clone()),
            Err(error) => return Ok(Err(error)),
        };
        Ok(tokio::select! {
            biased;
            // Dropping the call cancels it at the server.
            () = cancel.cancelled() => Err(wit::Error::Cancelled),
            answer = call => answer.map_err(failed).and_then(handed_over),
        })
    }
}

impl CallState {
    /// Starts the call of a tool, if it is permitted.
    fn begin(&self, server: &str, tool: &str, arguments: &str) -> Result<Answering, wit::Error> {
        let unknown = || wit::Error::NotFound(format!("there is no MCP server `{}`", host_text::excerpt(server, 40)));
        let name = McpServerName::parse(server).map_err(|_| unknown())?;
        // What the grants do not cover is denied before anything of the server is known.
        let reads = self.mcp.as_ref().is_some_and(|client| client.only_reads(&name, tool));
        let permit = self.grants.permit_mcp(&self.plugin, &name, tool, reads);
        let permit = permit.map_err(|refused| wit::Error::Denied(denial(&refused)))?;
        let client = self.mcp.as_ref().ok_or_else(unknown)?;
        let arguments = serde_json::from_str::<Map<String, Value>>(arguments)
            .map_err(|error| wit::Error::Invalid(format!("the arguments are not a JSON object: {error}")))?;
        Ok(client.call(permit, arguments, Arc::clone(&self.listener)))
    }
}

fn failed(error: McpError) -> wit::Error {
    match error {
        McpError::NotFound(why) => wit::Error::NotFound(why),
        McpError::Invalid(why) => wit::Error::Invalid(why),
        McpError::Unavailable(why) | McpError::NeedsLogin(why) => wit::Error::Unavailable(why),
        McpError::Protocol(why) => wit::Error::Failed(why),
    }
}

/// Returns the answer as the guest gets it, if it is within the limits of a tool's outcome: it could return no more.
fn handed_over(answer: McpAnswer) -> Result<wit::Answer, wit::Error> {
    let McpAnswer { content, structured, is_error } = answer;
    let structured = structured.map(|value| value.to_string());
    let (mut text, mut data) = (structured.as_ref().map_or(0, String::len), 0_usize);
    for part in &content {
        let (words, bytes) = match part {
            OutputPart::Text(part) => (part.len(), 0),
            OutputPart::Data(InlineData { mime_type, base64 }) => (mime_type.len(), base64.len() / 4 * 3),
            OutputPart::Link { uri, title } => (uri.len() + title.as_ref().map_or(0, String::len), 0),
        };
        (text, data) = (text.saturating_add(words), data.saturating_add(bytes));
    }
    let over = [("bytes of text", text, MAX_OUTPUT_TEXT), ("bytes of data", data, MAX_OUTPUT_DATA)];
    let parts = ("parts", content.len(), MAX_PARTS);
    if let Some((what, size, limit)) = over.into_iter().chain([parts]).find(|(_, size, limit)| size > limit) {
        let why = format!("the server answered with {size} {what}, over the limit of {limit}; ask it for less");
        return Err(wit::Error::Failed(why));
    }
    let content = content.into_iter().map(|part| match part {
        OutputPart::Text(text) => Ok(wit::Content::Text(text)),
        OutputPart::Data(InlineData { mime_type, base64 }) => {
            let data = base64::engine::general_purpose::STANDARD.decode(base64);
            let data = data.map_err(|error| wit::Error::Failed(format!("the server sent invalid base64: {error}")))?;
            Ok(wit::Content::Blob(wit::Blob { mime_type, data }))
        }
        OutputPart::Link { uri, title } => Ok(wit::Content::Link(wit::Link { uri, title })),
    });
    Ok(wit::Answer { content: content.collect::<Result<_, _>>()?, structured, is_error })
}
