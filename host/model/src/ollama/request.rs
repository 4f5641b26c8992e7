//! Writes a request for Ollama's chat API.
//!
//! A tool's result can only be text, so data beside it follows as a message of the user's. The format supports only
//! images; a placeholder names any other data, so that the model knows about it. A model gets back its thoughts: some
//! models otherwise forget why they made a call. Which of them it sees is up to its template at the server.

use std::borrow::Cow;
use std::fmt::Write as _;

use host_message::{Content, InlineData, Part, PartData, ResponseBody, Role, ToolSpec};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::found::declared;
use crate::text::add_text;
use crate::{Effort, Request, Settings};

/// Writes the body of the request.
pub(super) fn body(request: &Request<'_>) -> Vec<u8> {
    let mut messages = Vec::with_capacity(request.contents.len() + 1);
    messages.extend(request.system.map(|text| Message { content: text.to_owned(), ..Message::with_role("system") }));
    for content in request.contents {
        match content.role {
            Role::User => push_user(&mut messages, content),
            Role::Model => push_model(&mut messages, content),
        }
    }
    let settings = request.settings;
    let body = Body {
        model: request.model,
        messages,
        tools: declared(request).into_iter().map(tool).collect(),
        stream: true,
        think: think(request.model, settings),
        options: Options {
            temperature: settings.temperature,
            top_p: settings.top_p,
            num_predict: settings.max_output_tokens,
            stop: &settings.stop,
        },
    };
    serde_json::to_vec(&body).expect("every key is text and no serialiser is our own")
}

/// Returns whether and how much to think. The server rejects `true` for a model that cannot think, so it is set only on
/// request; only the models that have levels accept one.
fn think(model: &str, settings: &Settings) -> Option<Think> {
    let effort = match settings.thinking_budget {
        Some(budget) => return Some(Think::Switch(budget != 0)),
        None => settings.effort?,
    };
    let has_levels = model.rsplit('/').next().is_some_and(|name| name.starts_with("gpt-oss"));
    Some(match effort {
        Effort::None => Think::Switch(false),
        _ if !has_levels => Think::Switch(true),
        Effort::Minimal | Effort::Low => Think::Level("low"),
        Effort::Medium => Think::Level("medium"),
        Effort::High | Effort::Xhigh | Effort::Max => Think::Level("high"),
    })
}

/// Adds results first, since they must directly follow their calls; then the user's text beside them.
fn push_user<'a>(messages: &mut Vec<Message<'a>>, content: &'a Content) {
    let mut said = Message::with_role("user");
    for part in content.parts.iter().filter(|part| !part.thought) {
        match &part.data {
            // Results directly behind their calls, before what the user says beside them.
            PartData::FunctionResponse(response) => messages.push(Message {
                content: match &response.body {
                    ResponseBody::Output(text) => text.clone(),
                    // The format has no mark for an error.
                    ResponseBody::Error(text) => format!("error: {text}"),
                },
                tool_name: Some(response.name.sendable()),
                tool_call_id: Some(response.wire_id()),
                ..Message::with_role("tool")
            }),
            PartData::Text(text) => add_text(&mut said.content, text),
            PartData::InlineData(InlineData { mime_type, base64 }) if mime_type.starts_with("image/") => {
                said.images.push(base64);
            }
            // Only images have a place; anything else is named, so that the model knows of it.
            PartData::InlineData(InlineData { mime_type, .. }) => said.name_data(mime_type),
            PartData::FileReference(file) => said.name_file(&file.uri),
            // A user message has no calls.
            PartData::FunctionCall(_) => {}
        }
    }
    if !said.content.is_empty() || !said.images.is_empty() {
        messages.push(said);
    }
}

fn push_model<'a>(messages: &mut Vec<Message<'a>>, content: &'a Content) {
    let mut said = Message::with_role("assistant");
    for part in &content.parts {
        match &part.data {
            PartData::Text(text) if part.thought => said.thinking.push_str(text),
            PartData::Text(text) => said.content.push_str(text),
            PartData::InlineData(InlineData { mime_type, .. }) => said.name_data(mime_type),
            PartData::FileReference(file) => said.name_file(&file.uri),
            PartData::FunctionCall(_) | PartData::FunctionResponse(_) => {}
        }
    }
    said.tool_calls = content.parts.iter().filter_map(call).collect();
    if !said.content.is_empty() || !said.tool_calls.is_empty() {
        messages.push(said);
    }
}

fn call(part: &Part) -> Option<Call<'_>> {
    let PartData::FunctionCall(call) = &part.data else { return None };
    let function = CalledFunction { name: call.name.sendable(), arguments: &call.arguments };
    Some(Call { id: call.wire_id(), function })
}

fn tool(tool: &ToolSpec) -> Tool<'_> {
    let function =
        Declaration { name: tool.name.as_str(), description: &tool.description, parameters: &tool.input_schema };
    Tool { kind: "function", function }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<Think>,
    options: Options<'a>,
}

/// The request's `think`.
#[derive(Serialize)]
#[serde(untagged)]
enum Think {
    Switch(bool),
    Level(&'static str),
}

#[derive(Serialize)]
struct Options<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    thinking: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

impl Message<'_> {
    /// Creates an empty message.
    fn with_role(role: &'static str) -> Self {
        Self {
            role,
            content: String::new(),
            thinking: String::new(),
            images: Vec::new(),
            tool_calls: Vec::new(),
            tool_name: None,
            tool_call_id: None,
        }
    }

    fn name_data(&mut self, mime_type: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.content, "[data of type `{mime_type}`, which this model cannot be sent]");
    }

    fn name_file(&mut self, uri: &str) {
        let _ = write!(self.content, "[file `{uri}`]");
    }
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: Cow<'a, str>,
    arguments: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Declaration<'a>,
}

#[derive(Serialize)]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[cfg(test)]
mod tests;
