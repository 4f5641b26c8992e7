//! Google's Gemini API, `streamGenerateContent` with server-sent events.
//!
//! Owns both directions of the format, all of it private: [`request`] says a conversation in its words, this
//! file reads the reply. The format is the public `v1beta` of the Generative Language API; the same base
//! address may be a proxy of it.
//!
//! Deliberately not here: Vertex AI, with its other addresses and logins, and tools that run at the service
//! (search, code execution). Parts that stem from those are skipped.

mod request;

use host_message::{
    CallId, FileReference, FinishReason, FunctionCall, InlineData, Part, PartData, Signature, ToolName, Usage,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::text::clip;
use crate::transport::{Heard, Reader, Transport, Unheard};
use crate::{Access, Chunk, ModelError, ModelStream, Provider, ProviderKind, ReplyFault, Request};

/// Whose signatures its own are.
const NAME: &str = ProviderKind::Gemini.as_str();

/// The Gemini API at one address.
pub struct Gemini {
    transport: Transport,
}

impl Gemini {
    /// Checks key and address; nothing is sent.
    ///
    /// # Errors
    ///
    /// When there is no key at the service's own address, or key or address cannot be used. Another address
    /// may belong to a proxy that has the key.
    pub fn new(access: Access) -> Result<Self, ModelError> {
        if access.key.is_none() && access.address.is_none() {
            return Err(ModelError::MissingKey { provider: ProviderKind::Gemini });
        }
        Ok(Self { transport: Transport::new(ProviderKind::Gemini, access, ("x-goog-api-key", ""))? })
    }
}

impl Provider for Gemini {
    fn name(&self) -> &str {
        ProviderKind::Gemini.as_str()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        // A name with a slash is a whole resource, such as `tunedModels/mine`.
        let name = format!("{}:streamGenerateContent", request.model.trim_start_matches("models/"));
        let folder = if name.contains('/') { None } else { Some("models") };
        let mut url = self.transport.url(["v1beta"].into_iter().chain(folder).chain(name.split('/')));
        url.query_pairs_mut().append_pair("alt", "sse");
        self.transport.stream(url, move || request::body(&request), Reply::default())
    }
}

/// What must be remembered of a reply while it is read.
#[derive(Default)]
struct Reply {
    finished: bool,
}

impl Reader for Reply {
    fn event(&mut self, data: &[u8]) -> Result<Heard, Unheard> {
        let response: Response = serde_json::from_slice(data)?;
        if let Some(error) = &response.error {
            return Err(Unheard::Failed(Failure::from_error(error)));
        }
        if let Some(reason) = response.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            return Err(Unheard::Blocked(clip(&reason)));
        }
        let mut chunk = Chunk { usage: response.usage_metadata.map(usage), ..Chunk::default() };
        // One candidate is asked for, so one comes.
        if let Some(candidate) = response.candidates.unwrap_or_default().into_iter().next() {
            let parts = candidate.content.and_then(|content| content.parts).unwrap_or_default();
            chunk.parts = parts.into_iter().filter_map(part).collect();
            chunk.finish = candidate.finish_reason.map(|reason| finish(&reason));
            chunk.citations = candidate.citation_metadata.map(Citations::addresses).unwrap_or_default();
        }
        self.finished |= chunk.finish.is_some();
        Ok(Heard::More(chunk))
    }

    fn end(&mut self) -> Result<Chunk, ReplyFault> {
        // The service has no last event: the reason to stop is the only sign that nothing is missing.
        if self.finished { Ok(Chunk::default()) } else { Err(ReplyFault::Unfinished) }
    }
}

fn part(wire: WirePart) -> Option<Part> {
    let data = if let Some(call) = wire.function_call {
        PartData::FunctionCall(FunctionCall {
            id: CallId::new(call.id.unwrap_or_default()),
            name: ToolName::new(call.name),
            arguments: call.args.unwrap_or_default(),
        })
    } else if let Some(blob) = wire.inline_data {
        PartData::InlineData(InlineData { mime_type: blob.mime_type, base64: blob.data })
    } else if let Some(file) = wire.file_data {
        let mime_type = file.mime_type.unwrap_or_default();
        PartData::FileReference(FileReference { mime_type, uri: file.file_uri })
    } else {
        let text = wire.text.unwrap_or_default();
        // A signature can come with no text; it must go back all the same.
        if text.is_empty() && wire.thought_signature.is_none() {
            return None;
        }
        PartData::Text(text)
    };
    Some(Part {
        data,
        thought: wire.thought.unwrap_or(false),
        signature: wire.thought_signature.map(|data| Signature { by: NAME.to_owned(), data }),
    })
}

/// The reasons that the API's reference lists under `FinishReason`.
fn finish(reason: &str) -> FinishReason {
    match reason {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::MaxTokens,
        "SAFETY" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => FinishReason::Safety,
        "RECITATION" => FinishReason::Recitation,
        "MALFORMED_FUNCTION_CALL" => FinishReason::MalformedFunctionCall,
        other => FinishReason::Other(clip(other)),
    }
}

fn usage(wire: WireUsage) -> Usage {
    Usage {
        input: wire.prompt_token_count.unwrap_or(0),
        output: wire.candidates_token_count.unwrap_or(0),
        cached: wire.cached_content_token_count.unwrap_or(0),
        thought: wire.thoughts_token_count.unwrap_or(0),
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
struct WireUsage {
    prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

/// The reference says `citationSources`, the service also sends `citations`.
#[derive(Deserialize)]
struct Citations {
    #[serde(alias = "citationSources")]
    citations: Option<Vec<Citation>>,
}

#[derive(Deserialize)]
struct Citation {
    uri: Option<String>,
}

impl Citations {
    fn addresses(self) -> Vec<String> {
        self.citations.unwrap_or_default().into_iter().filter_map(|citation| citation.uri).collect()
    }
}

#[cfg(test)]
mod tests;
