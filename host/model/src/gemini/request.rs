//! Writes a request in Gemini's format.
//!
//! Thoughts are not sent; signatures are sent back with their part. Each of the model's turns has a signature on its
//! first call, since the service rejects a turn after the user's last message without one: if none came, a value takes
//! its place that disables the check. It stays in later requests, so that they begin as this one does. Calls and
//! responses are sent with their ids, if they have any: the service matches them, and ignores them if it made none.
//!
//! From the third generation on, data beside a function's response goes into the response, since these models reject it
//! beside the response; earlier ones have no such field.

use std::borrow::Cow;

use host_message::{Content, InlineData, Part, PartData, ResponseBody, Role, ToolSpec};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::found::declared;
use crate::{Request, Settings};

/// Replaces a missing signature: of a turn from a different model, or one that no model generated. Google's
/// documentation of thought signatures names it for this purpose, and Gemini CLI sends the same.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The types that the third generation accepts within a function's response, according to Google's documentation of
/// function calling.
const WITHIN_RESPONSES: &[&str] = &["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];

/// One of the two services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// The Gemini API.
    Gemini,
    /// Vertex AI: it rejects the ids of calls for models before the third generation, which never make any.
    Vertex,
}

impl Dialect {
    /// Returns the provider whose signatures are sent back to it.
    fn signer(self) -> &'static str {
        match self {
            Self::Gemini => crate::Gemini::PROVIDER.name(),
            Self::Vertex => crate::Vertex::PROVIDER.name(),
        }
    }
}

/// Writes the body of the request.
pub(crate) fn body(request: &Request<'_>, dialect: Dialect) -> Vec<u8> {
    written(&whole(request, dialect))
}

/// Writes the body of the request that counts tokens. `resource` is the model's.
pub(crate) fn count_body(request: &Request<'_>, dialect: Dialect, resource: &str) -> Vec<u8> {
    let whole = Body { safety_settings: Vec::new(), ..whole(request, dialect) };
    match dialect {
        Dialect::Gemini => written(&Count { generate_content_request: OfModel { model: resource, whole } }),
        Dialect::Vertex => written(&whole),
    }
}

fn written(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("every key is text and no serialiser is our own")
}

fn whole<'a>(request: &Request<'a>, dialect: Dialect) -> Body<'a> {
    let tools: Vec<_> = declared(request).into_iter().map(declaration).collect();
    let safety = request.settings.safety.iter().map(|(category, threshold)| SafetySetting { category, threshold });
    Body {
        system_instruction: request.system.map(Words::text),
        contents: contents(request, dialect),
        tools: if tools.is_empty() { Vec::new() } else { vec![Tools { function_declarations: tools }] },
        generation_config: generation_config(request.model, request.settings),
        safety_settings: safety.collect(),
    }
}

fn contents<'a>(request: &Request<'a>, dialect: Dialect) -> Vec<Words<'a>> {
    // By the name: the service says nothing about what a model accepts.
    let third = is_third_generation(request.model);
    let manner = Manner {
        signer: dialect.signer(),
        with_ids: dialect == Dialect::Gemini || third,
        data_within_responses: third,
    };
    let mut contents = Vec::with_capacity(request.contents.len());
    for content in request.contents {
        match content.role {
            Role::User => manner.push_user(&mut contents, content),
            Role::Model => {
                let mut words = Words { role: Some("model"), parts: manner.parts(content).collect() };
                // Models that do not think know no signatures.
                if can_think(request.model) {
                    // The service rejects a turn whose first call has none.
                    words.sign_first_call();
                }
                contents.push(words);
            }
        }
    }
    // A message that contains only thoughts is left out.
    contents.retain(|words| !words.parts.is_empty());
    contents
}

/// The rules of one service and one model for writing parts.
#[derive(Clone, Copy)]
struct Manner {
    signer: &'static str,
    with_ids: bool,
    data_within_responses: bool,
}

impl Manner {
    fn parts<'a>(self, content: &'a Content) -> impl Iterator<Item = WirePart<'a>> {
        content.parts.iter().filter(|part| !part.thought).map(move |part| self.part(part))
    }

    /// Adds the user's message, and after it one with the data that fits neither into a response nor beside it.
    fn push_user<'a>(self, contents: &mut Vec<Words<'a>>, content: &'a Content) {
        let mut parts: Vec<WirePart<'a>> = Vec::with_capacity(content.parts.len());
        let mut behind = Vec::new();
        let apart = self.data_within_responses && content.function_responses().next().is_some();
        for part in self.parts(content) {
            let WireData::InlineData { mime_type, .. } = part.data else {
                parts.push(part);
                continue;
            };
            match parts.last_mut().map(|part| &mut part.data) {
                Some(WireData::FunctionResponse { parts: within, .. })
                    if apart && WITHIN_RESPONSES.contains(&mime_type) =>
                {
                    within.push(part.data);
                }
                _ if apart => behind.push(part),
                _ => parts.push(part),
            }
        }
        contents.push(Words { role: Some("user"), parts });
        contents.push(Words { role: Some("user"), parts: behind });
    }

    fn part(self, part: &Part) -> WirePart<'_> {
        let id = |id| if self.with_ids { id } else { "" };
        let data = match &part.data {
            PartData::Text(text) => WireData::Text(text),
            PartData::InlineData(InlineData { mime_type, base64 }) => WireData::InlineData { mime_type, data: base64 },
            PartData::FileReference(file) => WireData::FileData { mime_type: &file.mime_type, file_uri: &file.uri },
            PartData::FunctionCall(call) => {
                WireData::FunctionCall { id: id(call.wire_id()), name: call.name.sendable(), args: &call.arguments }
            }
            PartData::FunctionResponse(response) => WireData::FunctionResponse {
                id: id(response.wire_id()),
                name: response.name.sendable(),
                response: match &response.body {
                    ResponseBody::Output(text) => WireResponse::Output(text),
                    ResponseBody::Error(text) => WireResponse::Error(text),
                },
                parts: Vec::new(),
            },
        };
        WirePart { data, thought_signature: part.signature_by(self.signer) }
    }
}

/// Whether the model is of the third generation of Gemini or a later one, as are those whose name has no number
/// (`gemini-flash-latest`).
fn is_third_generation(model: &str) -> bool {
    let Some(rest) = model.trim_start_matches("models/").strip_prefix("gemini-") else { return false };
    let number = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    number.is_empty() || number.parse().is_ok_and(|generation: u32| generation >= 3)
}

fn declaration(tool: &ToolSpec) -> Declaration<'_> {
    Declaration { name: tool.name.as_str(), description: &tool.description, parameters_json_schema: &tool.input_schema }
}

fn generation_config<'a>(model: &str, settings: &'a Settings) -> GenerationConfig<'a> {
    // The third generation has levels, the one before it only budgets.
    let (thinking_budget, thinking_level) = match (settings.thinking_budget, settings.effort) {
        (None, Some(effort)) if is_third_generation(model) => (None, Some(effort.name())),
        (None, Some(effort)) => (Some(effort.budget()), None),
        (budget, _) => (budget, None),
    };
    let thinking_config = can_think(model).then_some(ThinkingConfig {
        include_thoughts: thinking_budget != Some(0),
        thinking_budget,
        thinking_level,
    });
    GenerationConfig {
        temperature: settings.temperature,
        top_p: settings.top_p,
        max_output_tokens: settings.max_output_tokens,
        stop_sequences: &settings.stop,
        thinking_config,
    }
}

/// Whether the model has thoughts: the service rejects a thinking configuration for those before 2.5, and for the open
/// models that it also serves.
fn can_think(model: &str) -> bool {
    let model = model.trim_start_matches("models/");
    !["gemini-1", "gemini-2.0", "gemma", "learnlm"].iter().any(|old| model.starts_with(old))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Words<'a>>,
    contents: Vec<Words<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    generation_config: GenerationConfig<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    safety_settings: Vec<SafetySetting<'a>>,
}

#[derive(Serialize)]
struct SafetySetting<'a> {
    category: &'a str,
    threshold: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Count<'a> {
    generate_content_request: OfModel<'a>,
}

#[derive(Serialize)]
struct OfModel<'a> {
    model: &'a str,
    #[serde(flatten)]
    whole: Body<'a>,
}

/// A message in the format.
#[derive(Serialize)]
pub(crate) struct Words<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<WirePart<'a>>,
}

impl<'a> Words<'a> {
    /// Creates a message without a role.
    pub(crate) fn text(text: &'a str) -> Self {
        Self { role: None, parts: vec![WirePart { data: WireData::Text(text), thought_signature: None }] }
    }

    fn sign_first_call(&mut self) {
        let first = self.parts.iter_mut().find(|part| matches!(part.data, WireData::FunctionCall { .. }));
        if let Some(call) = first {
            call.thought_signature.get_or_insert(NO_SIGNATURE);
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WirePart<'a> {
    #[serde(flatten)]
    data: WireData<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum WireData<'a> {
    Text(&'a str),
    InlineData {
        mime_type: &'a str,
        data: &'a str,
    },
    FileData {
        mime_type: &'a str,
        file_uri: &'a str,
    },
    FunctionCall {
        #[serde(skip_serializing_if = "str::is_empty")]
        id: &'a str,
        name: Cow<'a, str>,
        args: &'a Map<String, Value>,
    },
    FunctionResponse {
        #[serde(skip_serializing_if = "str::is_empty")]
        id: &'a str,
        name: Cow<'a, str>,
        response: WireResponse<'a>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        parts: Vec<WireData<'a>>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum WireResponse<'a> {
    Output(&'a str),
    Error(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
}

#[cfg(test)]
mod tests;
