//! OpenAI's Chat Completions API, and the many servers that support it.
//!
//! Owns both directions of the format, all of it private: [`request`] writes a conversation in it, [`calls`] assembles
//! calls, this file reads the rest of the reply. The deviations of the compatible servers (llama.cpp, Ollama, vLLM,
//! gateways) are accepted: a missing id or index, arguments as an object, thoughts under two names, errors as plain
//! text.
//!
//! Deliberately not here: OpenAI's Responses API, which is a separate format, and thoughts written into the text
//! between tags, since a server that knows the model separates them itself.

pub(crate) mod calls;
pub(crate) mod embed;
pub(crate) mod request;

use std::sync::Arc;

use futures::future::BoxFuture;
use host_message::{FileReference, FinishReason, InlineData, Part, PartData, Usage};
use serde::Deserialize;
use serde_json::Value;

use self::calls::{Calls, WirePiece};
use crate::failure::Failure;
use crate::provider::spec::{AddressSpec, LoginSpec, ModelIds, ProviderId, ProviderSpec, UsualModels};
use crate::text::clip;
use crate::transport::{Heard, Reader, Transport, Unheard, json};
use crate::{Access, Chunk, ModelError, ModelSeries, ModelStream, Provider, ReplyFault, Request, listing};

/// The data of the event that ends a reply.
const DONE: &[u8] = b"[DONE]";

/// The Chat Completions API at one address.
pub struct OpenAi {
    transport: Transport,
}

impl OpenAi {
    /// The descriptor of this provider.
    pub const PROVIDER: ProviderId = ProviderId::new(&ProviderSpec {
        name: "openai",
        models: ModelIds::Named,
        key_variable: Some("OPENAI_API_KEY"),
        address: Some(AddressSpec::new("OPENAI_BASE_URL", "https://api.openai.com/v1")),
        login: LoginSpec::Never,
        usual_models: Some(UsualModels {
            main: "openai/gpt-6.1-terra",
            simple: "openai/gpt-6-luna",
            classifier: "openai/gpt-6-luna",
            series: ModelSeries { before: "gpt-", after: "-terra" },
            key_page: "https://platform.openai.com/api-keys",
        }),
        connect: |_, access| Ok(Arc::new(Self::new(access)?)),
    });

    /// Checks key and address; sends nothing.
    ///
    /// # Errors
    ///
    /// If there is no key for the service's own address, or if key or address cannot be used. A server at a different
    /// address may need no key, such as a local one.
    pub fn new(access: Access) -> Result<Self, ModelError> {
        if access.key.is_none() && access.address.is_none() {
            return Err(ModelError::MissingKey { provider: Self::PROVIDER });
        }
        Ok(Self { transport: Transport::new(Self::PROVIDER, access, ("authorization", "Bearer "))? })
    }

    fn dialect(&self) -> request::Dialect {
        request::Dialect::for_base(self.transport.base())
    }
}

impl Provider for OpenAi {
    fn name(&self) -> &str {
        Self::PROVIDER.name()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let url = self.transport.url(["chat", "completions"]);
        self.transport.stream(url, move || request::body(&request, self.dialect()), Reply::default())
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Option<Vec<String>>, ModelError>> {
        Box::pin(listing::ask(&self.transport, &["models"]))
    }

    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        Box::pin(embed::embed(&self.transport, model, texts))
    }
}

/// The state of reading a reply.
#[derive(Default)]
struct Reply {
    calls: Calls,
    finished: bool,
}

impl Reader for Reply {
    fn event(&mut self, data: &[u8]) -> Result<Heard, Unheard> {
        // This and no end of the connection says that the reply is whole.
        if data.trim_ascii() == DONE {
            return Ok(Heard::Done(self.rest()));
        }
        let response: Response = json(data)?;
        if let Some(error) = &response.error {
            return Err(Unheard::Failed(Failure::from_error(error)));
        }
        let mut chunk = Chunk { usage: response.usage.map(usage), ..Chunk::default() };
        // Only one choice is requested; the event with the usage has none.
        if let Some(choice) = response.choices.unwrap_or_default().into_iter().next() {
            let delta = choice.delta.unwrap_or_default();
            let not_empty = |text: &String| !text.is_empty();
            // Two names of the same, depending on the server.
            let thought = delta.reasoning_content.or(delta.reasoning).filter(not_empty);
            chunk.parts.extend(thought.map(Part::thought));
            chunk.parts.extend(delta.content.filter(not_empty).map(Part::text));
            chunk.parts.extend(delta.refusal.filter(not_empty).map(Part::text));
            // Some gateways send drawn images here, which the format has no place for.
            chunk.parts.extend(delta.images.into_iter().flatten().filter_map(image));
            let cited = delta.annotations.into_iter().flatten().filter_map(|annotation| annotation.url_citation);
            chunk.citations = cited.map(|citation| citation.url).collect();
            for piece in delta.tool_calls.into_iter().flatten() {
                chunk.forming.extend(self.calls.add(piece));
            }
            if let Some(reason) = choice.finish_reason {
                self.finished = true;
                // Calls are handed over here and not when they come: one that cannot be read takes the others with it.
                self.finish(&mut chunk, finish(&reason));
            }
        }
        Ok(Heard::More(chunk))
    }

    fn end(&mut self) -> Result<Chunk, ReplyFault> {
        // Some servers close without `[DONE]`; then the reason to stop shows that nothing is missing.
        if self.finished { Ok(self.rest()) } else { Err(ReplyFault::Unfinished) }
    }
}

impl Reply {
    /// Returns the calls without a reason to stop, and those that came after it.
    fn rest(&mut self) -> Chunk {
        let mut chunk = Chunk::default();
        if !self.calls.is_empty() {
            self.finish(&mut chunk, FinishReason::Stop);
        }
        chunk
    }

    /// Adds the calls, which are complete now, and the reason.
    ///
    /// If one of them cannot be read, none is returned: to run the others would answer a reply that the model did not
    /// give. The reason then says so, unless the model ran out of tokens within the call.
    fn finish(&mut self, chunk: &mut Chunk, reason: FinishReason) {
        chunk.finish = Some(match self.calls.take() {
            Ok(calls) => {
                chunk.parts.extend(calls);
                reason
            }
            Err(malformed) => {
                tracing::debug!(%malformed, "the calls of this reply are dropped");
                if reason == FinishReason::MaxTokens { reason } else { FinishReason::MalformedFunctionCall }
            }
        });
    }
}

/// Converts an image that the model made. One that was not sent inline is represented by its address alone.
fn image(image: Image) -> Option<Part> {
    let url = image.image_url.url;
    let Some((mime_type, base64)) = url.strip_prefix("data:").and_then(|data| data.split_once(";base64,")) else {
        let file = FileReference { mime_type: "image/*".to_owned(), uri: url };
        return request::is_web(&file.uri).then(|| PartData::FileReference(file).into());
    };
    let data = InlineData { mime_type: mime_type.to_owned(), base64: base64.to_owned() };
    Some(PartData::InlineData(data).into())
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "stop" | "tool_calls" | "function_call" => FinishReason::Stop,
        "length" => FinishReason::MaxTokens,
        "content_filter" => FinishReason::Safety,
        other => FinishReason::Other(clip(other)),
    }
}

/// Converts the usage. The service counts thoughts as part of the answer.
fn usage(wire: WireUsage) -> Usage {
    let thought = wire.completion_tokens_details.and_then(|details| details.reasoning_tokens).unwrap_or(0);
    Usage {
        input: wire.prompt_tokens.unwrap_or(0),
        output: wire.completion_tokens.unwrap_or(0).saturating_sub(thought),
        cached: wire.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0),
        thought,
        ..Usage::default()
    }
}

#[derive(Deserialize)]
struct Response {
    choices: Option<Vec<Choice>>,
    usage: Option<WireUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
    /// DeepSeek's name for it, which llama.cpp and vLLM also use.
    reasoning_content: Option<String>,
    /// The name that Ollama and OpenRouter use.
    reasoning: Option<String>,
    tool_calls: Option<Vec<WirePiece>>,
    annotations: Option<Vec<Annotation>>,
    /// OpenRouter's name for generated images.
    images: Option<Vec<Image>>,
}

#[derive(Deserialize)]
struct Image {
    image_url: ImageAddress,
}

#[derive(Deserialize)]
struct ImageAddress {
    url: String,
}

#[derive(Deserialize)]
struct Annotation {
    url_citation: Option<UrlCitation>,
}

#[derive(Deserialize)]
struct UrlCitation {
    url: String,
}

#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

#[cfg(test)]
mod tests;
