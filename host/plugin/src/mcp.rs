//! The host side of `host:cap/mcp`: calls of the tools of MCP servers.
//!
//! Promises: what a server answers is limited in size before a guest gets it; a call that has to stop is cancelled at
//! its server.
//!
//! Deliberately not here: who makes the calls (`mcp_client`).

use std::sync::Arc;

use base64::Engine as _;
use host_capability::McpServerName;
use host_message::{InlineData, OutputPart};
use host_undo::CallRecorder;
use serde_json::{Map, Value};

use crate::bindings::denial::denial;
use crate::bindings::mcp as wit;
use crate::limits::{MAX_OUTPUT_DATA, MAX_OUTPUT_TEXT, MAX_PARTS};
use crate::mcp_client::{Answering, McpAnswer, McpError};
use crate::process::{AfterProgram, before_program};
use crate::store::StoreData;

/// The most bytes of JSON that an MCP server may say beside an answer, for programs; more is left out. Protects the
/// session log and what reads JSON lines, where it is beside each answer.
const MAX_MCP_META: usize = 64 << 10;

impl wit::Host for StoreData {
    async fn call(
        &mut self,
        server: String,
        tool: String,
        arguments: String,
    ) -> wasmtime::Result<Result<wit::Answer, wit::Error>> {
        let (call, cancel) = match self.begin(&server, &tool, &arguments) {
            Ok(call) => (call, self.call.cancel.clone()),
            Err(error) => return Ok(self.denials.noting(Err(error))),
        };
        // A server that changes files is undone like a program.
        let program = match before_program(self.changes_of(&server)).await {
            Ok(program) => program,
            Err(why) => {
                let why = format!("`{tool}` was not called, since what it may change cannot be kept: {why}");
                return Ok(Err(wit::Error::Failed(why)));
            }
        };
        let mut after = AfterProgram::new(program, None);
        let answer = tokio::select! {
            biased;
            // Dropping the call cancels it at the server.
            () = cancel.cancelled() => Err(wit::Error::Cancelled),
            answer = call => answer.map_err(failed).and_then(|answer| self.handed_over(answer)),
        };
        // Also after a cancelled call: the server may have changed something before it heard of it.
        after.look().await;
        Ok(answer)
    }
}

impl StoreData {
    /// Keeps what a server changes that is a program on this machine.
    fn changes_of(&self, server: &str) -> Option<CallRecorder> {
        let name = McpServerName::parse(server).ok()?;
        self.changes.clone().filter(|_| self.call.mcp.as_ref().is_some_and(|client| client.is_program(&name)))
    }

    /// Starts the call of a tool, if it is permitted.
    fn begin(&self, server: &str, tool: &str, arguments: &str) -> Result<Answering, wit::Error> {
        let unknown = || wit::Error::NotFound(format!("there is no MCP server `{}`", host_text::excerpt(server, 40)));
        let name = McpServerName::parse(server).map_err(|_| unknown())?;
        // What the grants do not cover is denied before anything of the server is known.
        let reads = self.call.mcp.as_ref().is_some_and(|client| client.only_reads(&name, tool));
        let permit = self.call.grants.permit_mcp(&self.plugin, &name, tool, reads);
        let permit = permit.map_err(|refused| wit::Error::Denied(denial(&refused, self.shared.wording)))?;
        let client = self.call.mcp.as_ref().ok_or_else(unknown)?;
        let arguments = serde_json::from_str::<Map<String, Value>>(arguments)
            .map_err(|error| wit::Error::Invalid(format!("the arguments are not a JSON object: {error}")))?;
        Ok(client.call(permit, arguments, Arc::clone(&self.call.listener)))
    }

    /// Returns the answer as the guest gets it. What the server says beside it passes by the guest.
    fn handed_over(&self, mut answer: McpAnswer) -> Result<wit::Answer, wit::Error> {
        let meta = answer.meta.take();
        let answer = for_guest(answer)?;
        if let Some(meta) = meta.filter(|meta| !meta.is_empty() && is_short(meta)) {
            self.call.listener.mcp_meta(meta);
        }
        Ok(answer)
    }
}

/// Returns whether what a server says beside an answer is within its limit.
fn is_short(meta: &Map<String, Value>) -> bool {
    serde_json::to_string(meta).is_ok_and(|text| text.len() <= MAX_MCP_META)
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
fn for_guest(answer: McpAnswer) -> Result<wit::Answer, wit::Error> {
    let McpAnswer { content, structured, is_error, meta: _ } = answer;
    let structured = structured.map(|value| value.to_string());
    let (mut text, mut data) = (structured.as_ref().map_or(0, String::len), 0_usize);
    for part in &content {
        let (words, bytes) = match part {
            OutputPart::Text(part) => (part.len(), 0),
            // Counted as bytes, as for every tool's data, before decoding makes a copy.
            OutputPart::Data(InlineData { mime_type, base64 }) => (mime_type.len(), base64.len() / 4 * 3),
            OutputPart::Link { uri, title } => (uri.len() + title.as_ref().map_or(0, String::len), 0),
        };
        (text, data) = (text.saturating_add(words), data.saturating_add(bytes));
    }
    let over = [("bytes of text", text, MAX_OUTPUT_TEXT), ("bytes of data", data, MAX_OUTPUT_DATA)];
    let parts = ("parts", content.len(), MAX_PARTS);
    // The limits of a tool's outcome: the guest could return no more, and would have to hold it.
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
