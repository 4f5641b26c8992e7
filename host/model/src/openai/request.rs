//! Writes a request for the Chat Completions API.
//!
//! Thoughts, signatures and the thinking budget are not sent: the format has no number for the budget. A tool's result
//! can only be text, so data beside it follows as a message of the user's. A placeholder names data of a type that the
//! format does not support, so that the model knows about it.

use std::borrow::Cow;

use host_message::{Content, InlineData, Part, PartData, ResponseBody, Role, ToolSpec};
use serde::Serialize;
use serde_json::Value;
use url::Url;

use crate::found::declared;
use crate::text::add_text;
use crate::{Effort, Request, Settings, Verbosity};

/// The differences between the service itself and the servers that copy its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// OpenAI: its newer models reject `max_tokens`, and its reasoning models reject sampling settings.
    OpenAi,
    /// Any other server: not all of them support `max_completion_tokens`.
    Compatible,
}

impl Dialect {
    /// Returns the dialect of the server with this base address.
    pub(crate) fn for_base(base: &Url) -> Self {
        match base.host_str() {
            Some("api.openai.com") => Self::OpenAi,
            Some(_) | None => Self::Compatible,
        }
    }
}

/// Writes the body of the request.
pub(super) fn body(request: &Request<'_>, dialect: Dialect) -> Vec<u8> {
    let mut messages = Vec::with_capacity(request.contents.len() + 1);
    messages.extend(request.system.map(|text| Message::System { content: text }));
    for content in request.contents {
        match content.role {
            Role::User => push_user(&mut messages, content),
            Role::Model => push_model(&mut messages, content),
        }
    }
    let Settings { temperature, top_p, max_output_tokens, effort, verbosity, stop, .. } = request.settings;
    // These models reject other values than their own.
    let fixed = dialect == Dialect::OpenAi && is_sampling_fixed(request.model);
    let body = Body {
        model: request.model,
        messages,
        tools: declared(request).into_iter().map(tool).collect(),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        temperature: temperature.filter(|_| !fixed),
        top_p: top_p.filter(|_| !fixed),
        // OpenAI's own service knows the newer name, and most compatible servers only the old one.
        max_tokens: max_output_tokens.filter(|_| dialect == Dialect::Compatible),
        max_completion_tokens: max_output_tokens.filter(|_| dialect == Dialect::OpenAi),
        reasoning_effort: effort.map(Effort::name),
        verbosity: verbosity.map(Verbosity::name),
        prompt_cache_key: request.conversation.filter(|_| dialect == Dialect::OpenAi),
        prompt_cache_retention: (request.settings.long_cache && dialect == Dialect::OpenAi).then_some("24h"),
        // Models that reason take no texts to stop at.
        stop: if fixed { &[] } else { stop },
    };
    serde_json::to_vec(&body).expect("every key is text and no serialiser is our own")
}

/// Whether it is one of OpenAI's reasoning models, which reject a temperature and a top-p.
fn is_sampling_fixed(model: &str) -> bool {
    let reasons = ["o1", "o3", "o4", "gpt-5"].iter().any(|family| model.starts_with(family));
    reasons && !model.contains("-chat")
}

/// Adds results first, since they must directly follow their calls; then the user's text beside them.
fn push_user<'a>(messages: &mut Vec<Message<'a>>, content: &'a Content) {
    let mut pieces = Vec::new();
    for part in content.parts.iter().filter(|part| !part.thought) {
        match &part.data {
            PartData::FunctionResponse(response) => {
                let content = match &response.body {
                    ResponseBody::Output(text) => text.clone(),
                    // The format has no mark for an error.
                    ResponseBody::Error(text) => format!("error: {text}"),
                };
                messages.push(Message::Tool { tool_call_id: response.wire_id(), content });
            }
            PartData::Text(more) => match pieces.last_mut() {
                // Some servers take no message of several pieces.
                Some(Piece::Text { text }) => add_text(text, more),
                _ => pieces.push(Piece::Text { text: more.clone() }),
            },
            PartData::InlineData(data) => pieces.push(data_piece(data)),
            PartData::FileReference(file) if file.mime_type.starts_with("image/") && is_web(&file.uri) => {
                pieces.push(Piece::ImageUrl { image_url: Address { url: file.uri.clone() } });
            }
            PartData::FileReference(file) => {
                pieces.push(Piece::Text { text: format!("[file `{}` of type `{}`]", file.uri, file.mime_type) });
            }
            // A user message has no calls.
            PartData::FunctionCall(_) => {}
        }
    }
    match &mut pieces[..] {
        [] => {}
        // Plain text is a plain string: some servers accept nothing else.
        [Piece::Text { text }] => {
            messages.push(Message::User { content: UserContent::Text(std::mem::take(text)) });
        }
        _ => messages.push(Message::User { content: UserContent::Pieces(pieces) }),
    }
}

fn push_model<'a>(messages: &mut Vec<Message<'a>>, content: &'a Content) {
    let mut text = String::new();
    for part in content.parts.iter().filter(|part| !part.thought) {
        match &part.data {
            PartData::Text(more) => text.push_str(more),
            PartData::InlineData(InlineData { mime_type, .. }) => text.push_str(&named(mime_type)),
            PartData::FileReference(file) => text.push_str(&format!("[file `{}`]", file.uri)),
            PartData::FunctionCall(_) | PartData::FunctionResponse(_) => {}
        }
    }
    let tool_calls: Vec<_> = content.parts.iter().filter_map(call).collect();
    if !text.is_empty() || !tool_calls.is_empty() {
        messages.push(Message::Assistant { content: (!text.is_empty()).then_some(text), tool_calls });
    }
}

fn call(part: &Part) -> Option<Call<'_>> {
    let PartData::FunctionCall(call) = &part.data else { return None };
    let arguments = serde_json::to_string(&call.arguments).expect("a JSON object can be written");
    let function = CalledFunction { name: call.name.sendable(), arguments };
    Some(Call { id: call.wire_id(), kind: "function", function })
}

/// Returns data as the part that the format has for it, or its placeholder.
fn data_piece(data: &InlineData) -> Piece {
    let InlineData { mime_type, base64 } = data;
    match mime_type.as_str() {
        image if image.starts_with("image/") => {
            Piece::ImageUrl { image_url: Address { url: format!("data:{image};base64,{base64}") } }
        }
        "audio/wav" | "audio/x-wav" => audio_piece(base64, "wav"),
        "audio/mpeg" | "audio/mp3" => audio_piece(base64, "mp3"),
        "application/pdf" => Piece::File {
            file: File { filename: "document.pdf", file_data: format!("data:application/pdf;base64,{base64}") },
        },
        other => Piece::Text { text: named(other) },
    }
}

fn audio_piece(base64: &str, format: &'static str) -> Piece {
    Piece::InputAudio { input_audio: Audio { data: base64.to_owned(), format } }
}

/// Returns the placeholder for data that the format does not support.
pub(crate) fn named(mime_type: &str) -> String {
    format!("[data of type `{mime_type}`, which this model cannot be sent]")
}

/// Whether it is an address that the service can fetch itself.
pub(crate) fn is_web(uri: &str) -> bool {
    uri.starts_with("https://") || uri.starts_with("http://")
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
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_retention: Option<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: UserContent,
    },
    Assistant {
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: String,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum UserContent {
    Text(String),
    Pieces(Vec<Piece>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece {
    Text { text: String },
    ImageUrl { image_url: Address },
    InputAudio { input_audio: Audio },
    File { file: File },
}

#[derive(Serialize)]
struct Address {
    url: String,
}

#[derive(Serialize)]
struct Audio {
    data: String,
    format: &'static str,
}

#[derive(Serialize)]
struct File {
    filename: &'static str,
    file_data: String,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: Cow<'a, str>,
    arguments: String,
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
