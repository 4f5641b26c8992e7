//! Writes a request for Anthropic's Messages API.
//!
//! The roles have to alternate, so neighbouring messages of one role become one. The results of calls come first in
//! their message, and a result contains the data that its tool returned. Thinking blocks are sent back in their place;
//! other thoughts are not sent. The service caches the prompt before a mark, so the marks are placed where the next
//! request is the same.

use std::borrow::Cow;

use host_message::{Content, InlineData, Part, PartData, ResponseBody, Role, ToolSpec};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Thought;
use super::thinking::{Plan, Thinking, plan};
use crate::Request;
use crate::found::{declared, found};

/// How many of the user's last messages are marked: the next request finds the last one in the cache, and this request
/// finds the one before it. The service accepts four marks in all.
const MARKED_MESSAGES: usize = 2;

/// Writes the body of the request.
pub(super) fn body(request: &Request<'_>) -> Vec<u8> {
    let (prompt, Plan { max_tokens, temperature, top_p, effort, .. }) = prompt(request);
    let stop_sequences = &request.settings.stop;
    let output_config = effort.map(|effort| OutputConfig { effort });
    written(&Body { prompt, max_tokens, stream: true, temperature, top_p, output_config, stop_sequences })
}

/// Writes the body of the request that counts its tokens: the same prompt, and no settings of the answer.
pub(super) fn count_body(request: &Request<'_>) -> Vec<u8> {
    written(&prompt(request).0)
}

fn written(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("every key is text and no serialiser is our own")
}

fn prompt<'a>(request: &Request<'a>) -> (Prompt<'a>, Plan) {
    // A tool that was found is defined beside the others, which it does not move: the service leaves it out of what it
    // caches, and puts it where a result refers to it.
    let loaded = if request.settings.deferred_tools { found(request) } else { Vec::new() };
    let mut messages: Vec<Message<'a>> = Vec::with_capacity(request.contents.len());
    for content in request.contents {
        let blocks = match content.role {
            Role::User => user_blocks(content, &loaded),
            Role::Model => content.parts.iter().filter_map(model_block).collect(),
        };
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            Some(last) if last.role == role(content.role) => last.content.extend(blocks.into_iter().map(Marked::from)),
            _ => {
                let content =
                    Message { role: role(content.role), content: blocks.into_iter().map(Marked::from).collect() };
                messages.push(content);
            }
        }
    }
    for message in &mut messages {
        // A stable sort: everything else keeps its order.
        message.content.sort_by_key(|marked| !matches!(marked.block, Block::ToolResult { .. }));
    }
    let mut plan = plan(request.model, request.settings, may_think(&messages));
    let users = messages.iter_mut().rev().filter(|message| message.role == role(Role::User));
    let mark = match request.settings.long_cache {
        true => CacheControl { kind: "ephemeral", ttl: Some("1h") },
        false => CacheControl { kind: "ephemeral", ttl: None },
    };
    // The service takes four marks: two are for tools and system.
    for marked in users.take(MARKED_MESSAGES).filter_map(|message| message.content.last_mut()) {
        marked.cache_control = Some(mark);
    }
    let mut tools: Vec<_> = match request.settings.deferred_tools {
        true => request.tools.iter().map(tool).collect(),
        false => declared(request).into_iter().map(tool).collect(),
    };
    if let Some(last) = tools.last_mut() {
        last.cache_control = Some(mark);
    }
    // Behind the mark: the service rejects one at a tool that it loads later.
    tools.extend(loaded.into_iter().map(|spec| Tool { defer_loading: true, ..tool(spec) }));
    let system = request.system.filter(|text| !text.trim().is_empty()).map(|text| {
        let block = Block::Text { text: Cow::Borrowed(text) };
        Marked { block, cache_control: Some(mark) }
    });
    let thinking = plan.thinking.take();
    (Prompt { model: request.model, system: system.into_iter().collect(), messages, tools, thinking }, plan)
}

/// Whether the service lets the model think here: not if calls are open that came without a thought, as do those from
/// another service's model.
fn may_think(messages: &[Message<'_>]) -> bool {
    let Some(last) = messages.iter().rev().find(|message| message.role == role(Role::Model)) else { return true };
    let first_is_thought = last.content.first().is_some_and(|marked| matches!(&marked.block, Block::Thought(_)));
    first_is_thought || !last.content.iter().any(|marked| matches!(marked.block, Block::ToolUse { .. }))
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Model => "assistant",
    }
}

fn user_blocks<'a>(content: &'a Content, loaded: &[&ToolSpec]) -> Vec<Block<'a>> {
    let mut blocks = Vec::with_capacity(content.parts.len());
    for part in content.parts.iter().filter(|part| !part.thought) {
        match &part.data {
            PartData::Text(text) => blocks.extend(text_block(text)),
            PartData::InlineData(data) => match blocks.last_mut() {
                // Data after a result belongs to the tool. An error can contain only text.
                Some(Block::ToolResult { content, is_error: false, .. }) => content.push(data_block(data)),
                _ => blocks.push(data_block(data)),
            },
            PartData::FileReference(file) => {
                let source = Source::Url { url: &file.uri };
                blocks.push(match file.mime_type.as_str() {
                    // The service fetches addresses of the web alone.
                    _ if !is_web(&file.uri) => named(format!("[file `{}` of type `{}`]", file.uri, file.mime_type)),
                    "application/pdf" => Block::Document { source },
                    kind if kind.starts_with("image/") => Block::Image { source },
                    kind => named(format!("[file `{}` of type `{kind}`]", file.uri)),
                });
            }
            PartData::FunctionResponse(response) => {
                let (text, is_error) = match &response.body {
                    ResponseBody::Output(text) => (text, false),
                    ResponseBody::Error(text) => (text, true),
                };
                // The service puts the definitions there, which say all that the text does; it rejects both in one.
                let is_loaded = |tool: &&ToolSpec| loaded.iter().any(|loaded| loaded.name == tool.name);
                let mut content: Vec<_> = response.found.iter().filter(is_loaded).map(reference).collect();
                if content.is_empty() {
                    content.extend(text_block(text));
                }
                // The service limits the length of ids, and others made them.
                blocks.push(Block::ToolResult { tool_use_id: fit(response.wire_id()), content, is_error });
            }
            // A user message has no calls.
            PartData::FunctionCall(_) => {}
        }
    }
    blocks
}

fn model_block(part: &Part) -> Option<Block<'_>> {
    if part.thought {
        return Thought::from_part(part).map(Block::Thought);
    }
    match &part.data {
        PartData::Text(text) => text_block(text),
        PartData::InlineData(InlineData { mime_type, .. }) => Some(unsent(mime_type)),
        PartData::FileReference(file) => Some(named(format!("[file `{}`]", file.uri))),
        PartData::FunctionCall(call) => {
            Some(Block::ToolUse { id: fit(call.wire_id()), name: call.name.sendable(), input: &call.arguments })
        }
        PartData::FunctionResponse(_) => None,
    }
}

/// Writes where the service puts the definition of a tool that was found.
fn reference(tool: &ToolSpec) -> Block<'_> {
    Block::ToolReference { tool_name: tool.name.as_str() }
}

/// Writes text. The service rejects text of nothing but white space.
fn text_block(text: &str) -> Option<Block<'_>> {
    (!text.trim().is_empty()).then_some(Block::Text { text: Cow::Borrowed(text) })
}

fn data_block(data: &InlineData) -> Block<'_> {
    let InlineData { mime_type, base64 } = data;
    let source = Source::Base64 { media_type: mime_type, data: base64 };
    match mime_type.as_str() {
        "image/jpeg" | "image/png" | "image/gif" | "image/webp" => Block::Image { source },
        "application/pdf" => Block::Document { source },
        other => unsent(other),
    }
}

/// Writes a placeholder for data of a type that the service does not support, so that the model knows about it.
fn unsent(mime_type: &str) -> Block<'static> {
    named(format!("[data of type `{mime_type}`, which this model cannot be sent]"))
}

fn named(text: String) -> Block<'static> {
    Block::Text { text: Cow::Owned(text) }
}

fn is_web(uri: &str) -> bool {
    uri.starts_with("https://") || uri.starts_with("http://")
}

/// Returns an id with only the characters that the service accepts: letters, digits, `_` and `-`. The service's own ids
/// have no others; those of another service, or of the host, stay different from each other.
fn fit(text: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !text.is_empty() && text.chars().all(fits) {
        return Cow::Borrowed(text);
    }
    let mut fitted = String::from("x");
    for c in text.chars() {
        if fits(c) { fitted.push(c) } else { fitted.push_str(&format!("_{:x}_", u32::from(c))) }
    }
    Cow::Owned(fitted)
}

fn tool(tool: &ToolSpec) -> Tool<'_> {
    Tool {
        name: tool.name.as_str(),
        description: &tool.description,
        input_schema: &tool.input_schema,
        defer_loading: false,
        cache_control: None,
    }
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(flatten)]
    prompt: Prompt<'a>,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
}

#[derive(Serialize)]
struct OutputConfig {
    effort: &'static str,
}

#[derive(Serialize)]
struct Prompt<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Marked<'a>>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<Marked<'a>>,
}

/// A block, and whether the cache should contain the prompt up to its end.
#[derive(Serialize)]
struct Marked<'a> {
    #[serde(flatten)]
    block: Block<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

impl<'a> From<Block<'a>> for Marked<'a> {
    fn from(block: Block<'a>) -> Self {
        Self { block, cache_control: None }
    }
}

#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: &'a Map<String, Value>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "is_false")]
        is_error: bool,
    },
    ToolReference {
        tool_name: &'a str,
    },
    #[serde(untagged)]
    Thought(Thought),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "is_false")]
    defer_loading: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests;
