//! Reads replies in Gemini's format, from either service that uses it.
//!
//! Deliberately not here: parts from tools that run at the service (search, code execution); they are skipped.

use host_message::{
    CallId, FileReference, FinishReason, FunctionCall, InlineData, Part, PartData, Signature, ToolName, Usage,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::text::clip;
use crate::transport::{Heard, Reader, Unheard, json};
use crate::{Chunk, ReplyFault};

/// The state of reading a reply.
pub(crate) struct Reply {
    /// The provider whose signatures these are.
    by: &'static str,
    /// Whether it gave a reason to end, or calls a tool: a call is never sent in pieces, and the model may end with one
    /// without a reason.
    pub(super) finished: bool,
}

impl Reply {
    pub(crate) fn new(by: &'static str) -> Self {
        Self { by, finished: false }
    }
}

impl Reader for Reply {
    fn event(&mut self, data: &[u8]) -> Result<Heard, Unheard> {
        let response: Response = json(data)?;
        if let Some(error) = &response.error {
            return Err(Unheard::Failed(Failure::from_error(error)));
        }
        if let Some(reason) = response.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            return Err(Unheard::Blocked(clip(&reason)));
        }
        let mut chunk = Chunk { usage: response.usage_metadata.map(usage), ..Chunk::default() };
        // Only one candidate is requested.
        if let Some(candidate) = response.candidates.unwrap_or_default().into_iter().next() {
            let parts = candidate.content.and_then(|content| content.parts).unwrap_or_default();
            chunk.parts = parts.into_iter().filter_map(|wire| part(wire, self.by)).collect();
            chunk.finish = candidate.finish_reason.map(|reason| finish(&reason));
            chunk.citations = candidate.citation_metadata.map(Citations::addresses).unwrap_or_default();
        }
        let calls = chunk.parts.iter().any(|part| matches!(part.data, PartData::FunctionCall(_)));
        self.finished |= chunk.finish.is_some() || calls;
        Ok(Heard::More(chunk))
    }

    fn end(&mut self) -> Result<Chunk, ReplyFault> {
        // The service has no last event: only a reason to stop, or a call, shows that nothing is missing.
        if self.finished { Ok(Chunk::default()) } else { Err(ReplyFault::Unfinished) }
    }
}

fn part(wire: WirePart, by: &str) -> Option<Part> {
    let data = if let Some(call) = wire.function_call {
        PartData::FunctionCall(FunctionCall::new(
            // Older models send none; then the service matches by order.
            CallId::new(call.id.unwrap_or_default()),
            ToolName::new(call.name),
            call.args.unwrap_or_default(),
        ))
    } else if let Some(blob) = wire.inline_data {
        PartData::InlineData(InlineData { mime_type: blob.mime_type, base64: blob.data })
    } else if let Some(file) = wire.file_data {
        let mime_type = file.mime_type.unwrap_or_default();
        PartData::FileReference(FileReference { mime_type, uri: file.file_uri })
    } else {
        let text = wire.text.unwrap_or_default();
        // A signature can come without text; it must be sent back all the same.
        if text.is_empty() && wire.thought_signature.is_none() {
            return None;
        }
        PartData::Text(text)
    };
    Some(Part {
        data,
        thought: wire.thought.unwrap_or(false),
        // A signature counts only for the service that made it: the conversation may go on at another.
        signature: wire.thought_signature.map(|data| Signature { by: by.to_owned(), data }),
    })
}

/// Converts the reasons that the API's reference lists under `FinishReason`.
fn finish(reason: &str) -> FinishReason {
    match reason {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::MaxTokens,
        "SAFETY" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "MODEL_ARMOR" => FinishReason::Safety,
        "IMAGE_SAFETY" | "IMAGE_PROHIBITED_CONTENT" => FinishReason::Safety,
        "RECITATION" | "IMAGE_RECITATION" => FinishReason::Recitation,
        // The second means a call of a tool that was not declared.
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => FinishReason::MalformedFunctionCall,
        other => FinishReason::Other(clip(other)),
    }
}

pub(super) fn usage(wire: WireUsage) -> Usage {
    Usage {
        input: wire.prompt_token_count.unwrap_or(0),
        output: wire.candidates_token_count.unwrap_or(0),
        cached: wire.cached_content_token_count.unwrap_or(0),
        thought: wire.thoughts_token_count.unwrap_or(0),
        ..Usage::default()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<PromptFeedback>,
    usage_metadata: Option<WireUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<WireContent>,
    finish_reason: Option<String>,
    citation_metadata: Option<Citations>,
}

#[derive(Deserialize)]
struct WireContent {
    parts: Option<Vec<WirePart>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WirePart {
    text: Option<String>,
    thought: Option<bool>,
    thought_signature: Option<String>,
    function_call: Option<WireCall>,
    inline_data: Option<Blob>,
    file_data: Option<FileData>,
}

#[derive(Deserialize)]
struct WireCall {
    id: Option<String>,
    name: String,
    args: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Blob {
    mime_type: String,
    data: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileData {
    mime_type: Option<String>,
    file_uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireUsage {
    prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

/// The Gemini API's reference has `citationSources`; Vertex AI, and sometimes the Gemini API too, sends `citations`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Citations {
    citations: Option<Vec<Citation>>,
    citation_sources: Option<Vec<Citation>>,
}

#[derive(Deserialize)]
struct Citation {
    uri: Option<String>,
}

impl Citations {
    fn addresses(self) -> Vec<String> {
        let all = self.citations.into_iter().chain(self.citation_sources).flatten();
        all.filter_map(|citation| citation.uri).collect()
    }
}
