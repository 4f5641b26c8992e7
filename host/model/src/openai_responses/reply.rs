//! Reads replies of the Responses API.
//!
//! A reply is a list of items: messages, thoughts and calls. Text and thoughts are returned as they arrive, a thought's
//! encrypted form when its item is complete. Calls are held until the end, with everything after them, so that the
//! order of the items is kept and an unreadable call can discard the others. An item without events of its own is taken
//! from the list that the last event repeats.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use host_message::{FinishReason, Part, Signature, TOOL_SEARCH, Usage};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{CLIENT, NAME};
use crate::failure::Failure;
use crate::openai::calls::{Malformed, whole};
use crate::text::clip;
use crate::transport::{Heard, Reader, Unheard, json};
use crate::{CallPiece, Chunk, CustomTool, ReplyFault};

/// The most calls of one reply; protects the host from a server that makes new ones endlessly.
const MAX_CALLS: usize = 1_000;

/// The state of reading a reply.
#[derive(Default)]
pub(super) struct Reply {
    /// The items that have sent text, by their positions in the list.
    said: HashSet<u64>,
    /// The items that are complete, by their positions.
    done: HashSet<u64>,
    /// The number of calls.
    calls: usize,
    /// The ids of the calls.
    called: HashSet<String>,
    /// The argument that is the text of a custom tool, by its name.
    custom: HashMap<String, String>,
    /// The addresses that were cited.
    cited: HashSet<String>,
    /// The first call, and everything after it.
    held: Vec<Part>,
    malformed: Option<Malformed>,
}

impl Reader for Reply {
    fn event(&mut self, data: &[u8]) -> Result<Heard, Unheard> {
        // Some servers end a reply as the Chat Completions API does; a different event shows that it is complete.
        if data.trim_ascii() == b"[DONE]" {
            return Ok(Heard::More(Chunk::default()));
        }
        let event: Event<'_> = json(data)?;
        // Some servers count nothing; then items come one behind the other.
        let at = event.output_index.unwrap_or(self.done.len() as u64);
        let mut chunk = Chunk::default();
        let delta = match event.delta {
            Some(Value::String(text)) => text,
            Some(_) | None => String::new(),
        };
        match &*event.kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                // So that the item's text is not said again when it is complete.
                self.said.insert(at);
                self.say(&mut chunk, Part::text(delta));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.said.insert(at);
                self.say(&mut chunk, Part::thought(delta));
            }
            // The parts of a summary are paragraphs; before the first there is nothing to part from.
            "response.reasoning_summary_part.added" if event.summary_index.is_some_and(|part| part > 0) => {
                self.say(&mut chunk, Part::thought("\n\n"));
            }
            "response.function_call_arguments.delta" => {
                chunk.forming.push(CallPiece { name: String::new(), json: delta });
            }
            // A text becomes the value of an argument, as it is written in JSON.
            "response.custom_tool_call_input.delta" => {
                let text = Value::String(delta).to_string();
                chunk.forming.push(CallPiece { name: String::new(), json: text[1..text.len() - 1].to_owned() });
            }
            "response.custom_tool_call_input.done" => {
                chunk.forming.push(CallPiece { name: String::new(), json: "\"}".to_owned() });
            }
            "response.output_text.annotation.added" => self.cite(&mut chunk, event.annotation.as_ref()),
            "response.output_item.added" => self.begin(&mut chunk, event.item.unwrap_or_default()),
            "response.output_item.done" => self.item(&mut chunk, at, event.item.unwrap_or_default()),
            "response.completed" | "response.incomplete" => {
                let stopped = event.kind == "response.incomplete";
                return Ok(Heard::Done(self.last(chunk, event.response.unwrap_or_default(), stopped)));
            }
            "response.failed" => {
                let error = event.response.and_then(|response| response.error);
                return Err(Unheard::Failed(Failure::from_error(&error.unwrap_or_default())));
            }
            // The error is the event itself, or is within it.
            "error" => {
                let error = event.error.filter(Value::is_object).map_or_else(|| serde_json::from_slice(data), Ok)?;
                return Err(Unheard::Failed(Failure::from_error(&error)));
            }
            _ => {
                if let Some(error) = event.error.filter(|error| !error.is_null()) {
                    return Err(Unheard::Failed(Failure::from_error(&error)));
                }
            }
        }
        Ok(Heard::More(chunk))
    }

    fn end(&mut self) -> Result<Chunk, ReplyFault> {
        // Reading stops at the event that ends a reply.
        Err(ReplyFault::Unfinished)
    }
}

impl Reply {
    /// Reads the reply of a model that was declared these custom tools.
    pub(super) fn new(custom: &[CustomTool]) -> Self {
        let custom = custom.iter().map(|tool| (tool.name.to_string(), tool.argument.clone())).collect();
        Self { custom, ..Self::default() }
    }

    /// Returns the argument that is the text of a custom tool. One that was not declared has none, and its call fails
    /// as that of any unknown tool.
    fn argument(&self, name: &str) -> &str {
        self.custom.get(name).map_or("input", String::as_str)
    }

    /// Takes the whole reply in, which comes last.
    fn last(&mut self, mut chunk: Chunk, response: Response, stopped: bool) -> Chunk {
        // An item without events of its own is in this list alone.
        for (at, item) in (0..).zip(response.output.unwrap_or_default()) {
            self.item(&mut chunk, at, item);
        }
        chunk.usage = response.usage.map(usage);
        let why = response.incomplete_details.and_then(|details| details.reason);
        // Only here calls are handed over, in the order of the items.
        self.finish(&mut chunk, finish(why.as_deref(), stopped));
        chunk
    }

    /// Returns a part at once, or holds it behind a call.
    fn say(&mut self, chunk: &mut Chunk, part: Part) {
        if part.as_text() == Some("") && part.signature.is_none() {
            return;
        }
        if self.held.is_empty() { chunk.parts.push(part) } else { self.held.push(part) }
    }

    /// Handles the beginning of an item. New is a message's phase then, which the service needs back, and the name of a
    /// call.
    fn begin(&mut self, chunk: &mut Chunk, item: Map<String, Value>) {
        if is_search(&item) {
            chunk.forming.push(CallPiece { name: TOOL_SEARCH.to_owned(), json: String::new() });
        }
        if word(&item, "type") == "custom_tool_call" {
            let name = word(&item, "name");
            let json = format!("{{{}:\"", Value::from(self.argument(name)));
            chunk.forming.push(CallPiece { name: name.to_owned(), json });
        }
        if word(&item, "type") == "function_call" {
            chunk.forming.push(CallPiece { name: word(&item, "name").to_owned(), json: String::new() });
        }
        if word(&item, "type") == "message"
            && let Some(phase) = item.get("phase").filter(|phase| phase.is_string())
        {
            let mark = Map::from_iter([("phase".to_owned(), phase.clone())]);
            self.say(chunk, signed(Part::text(""), mark));
        }
    }

    /// Handles a complete item.
    fn item(&mut self, chunk: &mut Chunk, at: u64, item: Map<String, Value>) {
        // It comes once by itself and once in the last event.
        if !self.done.insert(at) {
            return;
        }
        match word(&item, "type") {
            "message" => {
                let silent = !self.said.contains(&at);
                for piece in pieces(&item, "content") {
                    if silent {
                        let text = piece.get("text").or_else(|| piece.get("refusal")).and_then(Value::as_str);
                        self.say(chunk, Part::text(text.unwrap_or_default()));
                    }
                    for annotation in piece.get("annotations").and_then(Value::as_array).into_iter().flatten() {
                        self.cite(chunk, Some(annotation));
                    }
                }
            }
            "reasoning" => {
                if !self.said.contains(&at) {
                    for piece in pieces(&item, "summary").chain(pieces(&item, "content")) {
                        let text = piece.get("text").and_then(Value::as_str).unwrap_or_default();
                        self.say(chunk, Part::thought(text));
                    }
                }
                // The encrypted form goes back in its place; without it the model thinks again.
                self.keep(chunk, item);
            }
            "function_call" => self.call(&item, word(&item, "name")),
            "custom_tool_call" => {
                let name = word(&item, "name");
                let input = Value::from(word(&item, "input"));
                let arguments = Map::from_iter([(self.argument(name).to_owned(), input)]);
                let call = Map::from_iter([
                    ("call_id".to_owned(), Value::from(word(&item, "call_id"))),
                    ("arguments".to_owned(), Value::Object(arguments)),
                ]);
                self.call(&call, name);
            }
            "tool_search_call" if is_search(&item) => self.call(&item, TOOL_SEARCH),
            // Items of tools that run at the service, none of which was requested.
            _ => {}
        }
    }

    /// Stores a thought in the form in which it is sent back. Without content the service would look for it in its
    /// store, where it is not.
    fn keep(&mut self, chunk: &mut Chunk, mut item: Map<String, Value>) {
        let in_it = item.get("encrypted_content").is_some_and(Value::is_string) || pieces(&item, "content").count() > 0;
        if in_it {
            // A null is an unset field, and the state of the item belongs to the service.
            item.retain(|key, value| !value.is_null() && key != "status");
            self.say(chunk, signed(Part::thought(""), item));
        }
    }

    fn call(&mut self, item: &Map<String, Value>, name: &str) {
        let id = word(item, "call_id");
        if !id.is_empty() && !self.called.insert(id.to_owned()) {
            return;
        }
        self.calls += 1;
        let arguments = match item.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        match whole(id.to_owned(), name.to_owned(), &arguments) {
            Ok(_) if self.calls > MAX_CALLS => self.malformed = Some(Malformed::too_many(MAX_CALLS)),
            Ok(call) => self.held.push(call),
            Err(malformed) => self.malformed = Some(malformed),
        }
    }

    fn cite(&mut self, chunk: &mut Chunk, annotation: Option<&Value>) {
        let address = annotation.and_then(|annotation| annotation.get("url")).and_then(Value::as_str);
        if let Some(address) = address.filter(|address| !self.cited.contains(*address)) {
            self.cited.insert(address.to_owned());
            chunk.citations.push(address.to_owned());
        }
    }

    /// Adds the held parts, and the reason.
    ///
    /// If a call cannot be read, none is returned: to run the others would answer a reply that the model did not give.
    /// The reason then says so, unless the model ran out of tokens within the call.
    fn finish(&mut self, chunk: &mut Chunk, reason: FinishReason) {
        let held = std::mem::take(&mut self.held);
        chunk.finish = Some(match &self.malformed {
            None => {
                chunk.parts.extend(held);
                reason
            }
            Some(malformed) => {
                tracing::debug!(%malformed, "the calls of this reply are dropped");
                if reason == FinishReason::MaxTokens { reason } else { FinishReason::MalformedFunctionCall }
            }
        });
    }
}

/// Returns a part with the item that is sent back in its place.
fn signed(part: Part, item: Map<String, Value>) -> Part {
    let signature = Signature { by: NAME.to_owned(), data: Value::Object(item).to_string() };
    Part { signature: Some(signature), ..part }
}

/// Whether it is a search for tools that this side has to run.
fn is_search(item: &Map<String, Value>) -> bool {
    word(item, "type") == "tool_search_call" && word(item, "execution") == CLIENT
}

fn word<'i>(item: &'i Map<String, Value>, key: &str) -> &'i str {
    item.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn pieces<'i>(item: &'i Map<String, Value>, key: &str) -> impl Iterator<Item = &'i Value> {
    item.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Converts the reasons that the reference lists under `incomplete_details`.
fn finish(reason: Option<&str>, stopped: bool) -> FinishReason {
    match reason {
        Some("max_output_tokens") => FinishReason::MaxTokens,
        Some("content_filter") => FinishReason::Safety,
        Some(other) => FinishReason::Other(clip(other)),
        None if stopped => FinishReason::Other("incomplete".to_owned()),
        None => FinishReason::Stop,
    }
}

/// Converts the usage. The service counts thoughts as part of the answer.
pub(super) fn usage(wire: WireUsage) -> Usage {
    let thought = wire.output_tokens_details.and_then(|details| details.reasoning_tokens).unwrap_or(0);
    Usage {
        input: wire.input_tokens.unwrap_or(0),
        output: wire.output_tokens.unwrap_or(0).saturating_sub(thought),
        cached: wire.input_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0),
        thought,
        ..Usage::default()
    }
}

#[derive(Deserialize)]
struct Event<'d> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'d, str>,
    output_index: Option<u64>,
    summary_index: Option<u64>,
    delta: Option<Value>,
    item: Option<Map<String, Value>>,
    annotation: Option<Value>,
    response: Option<Response>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
struct Response {
    output: Option<Vec<Map<String, Value>>>,
    usage: Option<WireUsage>,
    incomplete_details: Option<Incomplete>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

#[cfg(test)]
mod tests;
