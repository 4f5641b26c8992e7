//! Anthropic's Messages API, streamed as server-sent events, and the servers that support it.
//!
//! Owns both directions of the format, all of it private: [`request`] writes a conversation in it, [`thinking`] knows
//! how each model thinks, [`event`] has the shapes of a reply's events, and this file reads them. A reply is a sequence
//! of blocks; a thinking block is signed, and is sent back as a whole, in its place, through the signature of the part
//! where it ended.
//!
//! A search of the service's own ([`search`]) is a request of its own. Deliberately not here: tools that run at the
//! service within a conversation, whose blocks are skipped, and the clouds that host the same
//! models with other logins.

mod event;
mod request;
mod search;
mod thinking;

use std::sync::Arc;

use futures::future::BoxFuture;
use host_message::{CallId, FinishReason, FunctionCall, Part, PartData, Signature, ToolName, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::event::{Block, Delta, Event, WireUsage};
use crate::failure::Failure;
use crate::provider::spec::{AddressSpec, LoginSpec, ModelIds, ProviderId, ProviderSpec, UsualModels};
use crate::text::clip;
use crate::transport::{Heard, Reader, Transport, Unheard, json};
use crate::{
    Access, ApiKey, CallPiece, Chunk, ModelError, ModelSeries, ModelStream, Provider, ReplyFault, Request, WebSearch,
    listing,
};

/// The provider of its signatures.
const NAME: &str = Anthropic::PROVIDER.name();

/// The version of the format that this file implements; the service requires it with each request.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// The most calls of one reply; protects the host from a server that begins new ones endlessly.
const MAX_CALLS: usize = 1_000;

/// The Messages API at one address.
pub struct Anthropic {
    transport: Transport,
}

impl Anthropic {
    /// The descriptor of this provider.
    pub const PROVIDER: ProviderId = ProviderId::new(&ProviderSpec {
        name: "anthropic",
        models: ModelIds::Named,
        key_variable: Some("ANTHROPIC_API_KEY"),
        address: Some(AddressSpec::new("ANTHROPIC_BASE_URL", "https://api.anthropic.com")),
        login: LoginSpec::Never,
        usual_models: Some(UsualModels {
            main: "anthropic/claude-sonnet-5-5",
            simple: "anthropic/claude-haiku-5-5",
            classifier: "anthropic/claude-haiku-5-5",
            series: ModelSeries { before: "claude-sonnet-", after: "" },
            key_page: "https://platform.claude.com/settings/keys",
        }),
        connect: |_, access| Ok(Arc::new(Self::new(access)?)),
    });

    /// Checks key and address; sends nothing.
    ///
    /// # Errors
    ///
    /// If there is no key for the service's own address, or if key or address cannot be used. A server at a different
    /// address may need no key.
    pub fn new(mut access: Access) -> Result<Self, ModelError> {
        if access.key.is_none() && access.address.is_none() {
            return Err(ModelError::MissingKey { provider: Self::PROVIDER });
        }
        // Inserted first, so that a configured header replaces it.
        access.headers.splice(0..0, ApiKey::new(VERSION.1).map(|version| (VERSION.0.to_owned(), version)));
        Ok(Self { transport: Transport::new(Self::PROVIDER, access, ("x-api-key", ""))? })
    }
}

impl Provider for Anthropic {
    fn name(&self) -> &str {
        NAME
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let url = self.transport.url(["v1", "messages"]);
        self.transport.stream(url, move || request::body(&request), Reply::default())
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Option<Vec<String>>, ModelError>> {
        Box::pin(listing::ask(&self.transport, &["v1", "models"]))
    }

    fn count_tokens<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Option<u64>, ModelError>> {
        Box::pin(async move {
            let url = self.transport.url(["v1", "messages", "count_tokens"]);
            let count: Count = self.transport.ask(url, Some(request::count_body(&request))).await?;
            Ok(Some(count.input_tokens))
        })
    }

    fn search_address(&self, _model: &str) -> Option<String> {
        Some(self.transport.url(["v1", "messages"]).to_string())
    }

    fn search<'a>(&'a self, model: &'a str, query: &'a str) -> BoxFuture<'a, Result<Option<WebSearch>, ModelError>> {
        Box::pin(async move {
            let url = self.transport.url(["v1", "messages"]);
            let answer: search::Answer = self.transport.ask(url, Some(search::body(model, query))).await?;
            let found = answer.found().map_err(|error| self.transport.reported(Failure::from_error(&error)))?;
            Ok(Some(found))
        })
    }
}

/// A thinking block to send back: the data of the signature, as JSON. It contains the text once more, since the service
/// accepts the block only unchanged, whatever happens to the parts that were shown.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thought {
    Thinking { thinking: String, signature: String },
    RedactedThinking { data: String },
}

impl Thought {
    /// Returns the part that carries it. It has no text of its own: that came in pieces before it.
    fn part(&self) -> Part {
        let data = serde_json::to_string(self).expect("an object of strings can be written");
        Part { signature: Some(Signature { by: NAME.to_owned(), data }), ..Part::thought("") }
    }

    /// Returns the block that a part carries, if it is one of this service's.
    fn from_part(part: &Part) -> Option<Self> {
        serde_json::from_str(part.signature_by(NAME)?).ok()
    }
}

/// The state of reading a reply.
#[derive(Default)]
struct Reply {
    /// The block that has begun and not ended.
    open: Option<Open>,
    /// Everything from the first call on. It is held until the end, so that no call is returned from a reply with
    /// another call that cannot be read, and so that the order is kept.
    held: Vec<Part>,
    calls: usize,
    malformed: Option<String>,
    usage: WireUsage,
    finished: bool,
}

/// A block that is not complete.
enum Open {
    Thinking { thinking: String, signature: String },
    Redacted { data: String },
    Call { id: String, name: String, input: Map<String, Value>, json: String },
}

impl Reader for Reply {
    fn event(&mut self, data: &[u8]) -> Result<Heard, Unheard> {
        let event: Event<'_> = json(data)?;
        // A service may report an error in the middle of a stream whose status was 200.
        if let Some(error) = &event.error {
            return Err(Unheard::Failed(Failure::from_error(error)));
        }
        let mut chunk = Chunk::default();
        match &*event.kind {
            "message_start" => {
                let usage = event.message.and_then(|message| message.usage).unwrap_or_default();
                chunk.usage = Some(self.count(usage));
            }
            "content_block_start" => {
                self.close(&mut chunk);
                self.begin(event.content_block.unwrap_or_default(), &mut chunk);
            }
            "content_block_delta" => self.add(event.delta.unwrap_or_default(), &mut chunk),
            "content_block_stop" => self.close(&mut chunk),
            "message_delta" => {
                if let Some(usage) = event.usage {
                    chunk.usage = Some(self.count(usage));
                }
                if let Some(reason) = event.delta.and_then(|delta| delta.stop_reason) {
                    self.finish(&mut chunk, finish(&reason));
                }
            }
            // Only with this event a reply is whole: one that breaks off before is an error and no shorter answer.
            "message_stop" => return Ok(Heard::Done(self.rest())),
            // `ping`, and future additions to the format.
            _ => {}
        }
        Ok(Heard::More(chunk))
    }

    fn end(&mut self) -> Result<Chunk, ReplyFault> {
        if self.finished { Ok(self.rest()) } else { Err(ReplyFault::Unfinished) }
    }
}

impl Reply {
    fn begin(&mut self, block: Block, chunk: &mut Chunk) {
        match block.kind.as_str() {
            "text" => self.say(Part::text(block.text.unwrap_or_default()), chunk),
            "thinking" => {
                let thinking = block.thinking.unwrap_or_default();
                self.say(Part::thought(thinking.clone()), chunk);
                self.open = Some(Open::Thinking { thinking, signature: block.signature.unwrap_or_default() });
            }
            "redacted_thinking" => self.open = Some(Open::Redacted { data: block.data.unwrap_or_default() }),
            "tool_use" => {
                self.calls += 1;
                let name = block.name.unwrap_or_default();
                chunk.forming.push(CallPiece { name: name.clone(), json: String::new() });
                self.open = Some(Open::Call {
                    id: block.id.unwrap_or_default(),
                    name,
                    input: block.input.unwrap_or_default(),
                    json: String::new(),
                });
            }
            _ => {}
        }
    }

    fn add(&mut self, delta: Delta, chunk: &mut Chunk) {
        if let Some(text) = delta.text {
            self.say(Part::text(text), chunk);
        }
        if let Some(more) = delta.thinking {
            if let Some(Open::Thinking { thinking, .. }) = &mut self.open {
                thinking.push_str(&more);
            }
            self.say(Part::thought(more), chunk);
        }
        if let (Some(more), Some(Open::Thinking { signature, .. })) = (delta.signature, &mut self.open) {
            signature.push_str(&more);
        }
        if let (Some(more), Some(Open::Call { json, .. })) = (delta.partial_json, &mut self.open) {
            json.push_str(&more);
            chunk.forming.push(CallPiece { name: String::new(), json: more });
        }
        chunk.citations.extend(delta.citation.and_then(|citation| citation.url));
    }

    /// Returns text at once, or holds it behind a call.
    fn say(&mut self, part: Part, chunk: &mut Chunk) {
        if part.as_text() == Some("") && part.signature.is_none() {
            return;
        }
        if self.calls > 0 { self.held.push(part) } else { chunk.parts.push(part) }
    }

    /// Ends the open block.
    fn close(&mut self, chunk: &mut Chunk) {
        match self.open.take() {
            None => {}
            // A server without signatures needs nothing back.
            Some(Open::Thinking { signature, .. }) if signature.is_empty() => {}
            Some(Open::Thinking { thinking, signature }) => {
                // Kept as a block with its signature: the service rejects a conversation whose thinking was changed.
                self.say(Thought::Thinking { thinking, signature }.part(), chunk);
            }
            Some(Open::Redacted { data }) => self.say(Thought::RedactedThinking { data }.part(), chunk),
            // Calls wait for the end of the reply, so their number must be bounded.
            Some(Open::Call { .. }) if self.calls > MAX_CALLS => {
                self.malformed = Some(format!("the reply has more than {MAX_CALLS} calls"));
            }
            Some(Open::Call { id, name, input, json }) => {
                // The input comes in pieces or, from some servers, as a whole at the beginning of the block.
                let arguments = if json.trim().is_empty() { Ok(input) } else { serde_json::from_str(&json) };
                match arguments {
                    Ok(arguments) if !name.is_empty() => {
                        let call = FunctionCall::new(CallId::new(id), ToolName::new(name), arguments);
                        // Held until the end: of a reply with one unreadable call none runs.
                        self.held.push(PartData::FunctionCall(call).into());
                    }
                    Ok(_) => self.malformed = Some("a call has no name".to_owned()),
                    // Arguments that are cut are not arguments: a call without its last ones could do something else.
                    Err(error) => self.malformed = Some(format!("the call of `{}`: {error}", clip(&name))),
                }
            }
        }
    }

    /// Returns the held parts, and the reason. No call of a reply is returned if one of them cannot be read, or if the
    /// service blocked the reply: that would run half of what the model meant.
    fn finish(&mut self, chunk: &mut Chunk, reason: FinishReason) {
        self.finished = true;
        self.close(chunk);
        let mut held = std::mem::take(&mut self.held);
        let malformed = self.malformed.take();
        if malformed.is_some() || reason == FinishReason::Safety {
            held.retain(|part| !matches!(part.data, PartData::FunctionCall(_)));
        }
        chunk.parts.extend(held);
        chunk.finish = Some(match malformed {
            Some(why) => {
                tracing::debug!(why = clip(&why), "the calls of this reply are dropped");
                if reason == FinishReason::Stop { FinishReason::MalformedFunctionCall } else { reason }
            }
            None => reason,
        });
    }

    /// Returns the calls of a reply without a reason to stop.
    fn rest(&mut self) -> Chunk {
        let mut chunk = Chunk::default();
        if self.calls > 0 && !self.finished {
            self.finish(&mut chunk, FinishReason::Stop);
        }
        chunk
    }

    /// Updates the counts, which come at the beginning and again at the end, where some may be missing. The service
    /// does not count tokens read from or written to its cache as sent, and counts thoughts as part of the answer.
    fn count(&mut self, more: WireUsage) -> Usage {
        let known = &mut self.usage;
        known.input_tokens = more.input_tokens.or(known.input_tokens);
        known.cache_creation_input_tokens = more.cache_creation_input_tokens.or(known.cache_creation_input_tokens);
        known.cache_read_input_tokens = more.cache_read_input_tokens.or(known.cache_read_input_tokens);
        known.output_tokens = more.output_tokens.or(known.output_tokens);
        known.output_tokens_details = more.output_tokens_details.or(known.output_tokens_details);
        let cached = known.cache_read_input_tokens.unwrap_or(0);
        let written = known.cache_creation_input_tokens.unwrap_or(0);
        let thought = known.output_tokens_details.and_then(|details| details.thinking_tokens).unwrap_or(0);
        Usage {
            input: known.input_tokens.unwrap_or(0).saturating_add(cached).saturating_add(written),
            output: known.output_tokens.unwrap_or(0).saturating_sub(thought),
            cached,
            thought,
            cache_write: written,
        }
    }
}

/// Converts the reasons that the reference lists under `stop_reason`. `pause_turn` belongs to tools that run at the
/// service, which are never offered.
fn finish(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" | "tool_use" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::MaxTokens,
        "refusal" => FinishReason::Safety,
        other => FinishReason::Other(clip(other)),
    }
}

#[derive(Deserialize)]
struct Count {
    input_tokens: u64,
}

#[cfg(test)]
mod tests;
