//! Writes a request for the Responses API.
//!
//! The model's thoughts are sent back as the items that they came as, in their place; the summary that was shown is not
//! sent. Neither are the texts at which a model should stop: the format does not support them. Data beside a function's
//! response goes into its output if the format has a part for it; otherwise a placeholder names it, so that the model
//! knows about it.

use std::borrow::Cow;

use host_message::{
    Content, FileReference, FunctionCall, FunctionResponse, InlineData, PartData, ResponseBody, Role, TOOL_SEARCH,
    ToolName, ToolSpec,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{CLIENT, NAME};
use crate::found::{declared, found};
use crate::openai::request::{Dialect, is_web, named};
use crate::{CustomTool, Effort, Request, Settings};

/// The status of items that this side adds.
const COMPLETED: &str = "completed";

/// Writes the body of the request.
pub(super) fn body(request: &Request<'_>, dialect: Dialect) -> Vec<u8> {
    let forms = Forms::of(request);
    let mut input = Vec::with_capacity(request.contents.len() * 2);
    for content in request.contents {
        match content.role {
            Role::User => push_user(&mut input, content, &forms),
            Role::Model => push_model(&mut input, content, &forms),
        }
    }
    let Settings { temperature, top_p, max_output_tokens, thinking_budget, effort, verbosity, .. } = request.settings;
    let reasons = reasons(request.model);
    // OpenAI's reasoning models reject sampling settings.
    let free = !reasons || dialect == Dialect::Compatible;
    let body = Body {
        model: request.model,
        instructions: request.system,
        input,
        tools: forms.declarations(request),
        stream: true,
        // Nothing of the conversation stays at the service; that is why thoughts come encrypted.
        store: false,
        include: if reasons { &["reasoning.encrypted_content"] } else { &[] },
        reasoning: reasons.then(|| Reasoning {
            effort: match thinking_budget {
                Some(budget) => {
                    let of_budget = Effort::of_budget(*budget).map(|effort| sendable(request.model, effort));
                    // A budget without a bound leaves the choice to the effort.
                    of_budget.or(effort.map(Effort::name))
                }
                None => effort.map(Effort::name),
            },
            summary: (*thinking_budget != Some(0) && *effort != Some(Effort::None)).then_some("auto"),
        }),
        text: verbosity.map(|verbosity| Text { verbosity: verbosity.name() }),
        temperature: temperature.filter(|_| free),
        top_p: top_p.filter(|_| free),
        max_output_tokens: *max_output_tokens,
        // Other servers may reject a field that they do not know.
        prompt_cache_key: request.conversation.filter(|_| dialect == Dialect::OpenAi),
        prompt_cache_retention: (request.settings.long_cache && dialect == Dialect::OpenAi).then_some("24h"),
    };
    serde_json::to_vec(&body).expect("every key is text and no serialiser is our own")
}

/// Returns the model's name without the maker that gateways put before it.
fn bare(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

/// Whether it is a reasoning model. OpenAI rejects a request for encrypted thoughts to the others, which are its older
/// models and those for chatting.
fn reasons(model: &str) -> bool {
    let model = bare(model);
    let old = ["gpt-3", "gpt-4", "chatgpt"].iter().any(|family| model.starts_with(family));
    !old && !model.contains("-chat")
}

/// Returns the effort that a thinking budget means for a model: no thinking is the least effort that it accepts, by its
/// name, since a budget is written without looking at the catalogue.
fn sendable(model: &str, effort: Effort) -> &'static str {
    match (effort, bare(model).strip_prefix("gpt-5")) {
        (Effort::None, Some(rest)) if rest.starts_with('.') => "none",
        (Effort::None, Some(_)) => "minimal",
        (Effort::None, None) => "low",
        (effort, _) => effort.name(),
    }
}

/// Adds results first, since they must directly follow their calls; then the user's text beside them.
fn push_user<'a>(input: &mut Vec<Entry<'a>>, content: &'a Content, forms: &Forms<'a>) {
    let mut said = Vec::new();
    // The response that the data after it belongs to.
    let mut response: Option<(&'a FunctionResponse, Vec<Piece>)> = None;
    // A response is complete when the next begins, since its data follows it.
    let settle = |input: &mut Vec<Entry<'a>>, response: Option<(&'a FunctionResponse, Vec<Piece>)>| {
        let Some((response, mut pieces)) = response else { return };
        let output = match &mut pieces[..] {
            // Plain text is a plain string: some servers accept nothing else.
            [Piece::InputText { text }] => Output::Text(std::mem::take(text)),
            _ => Output::Pieces(pieces),
        };
        let call_id = response.wire_id();
        input.push(Entry::Item(match forms.custom(&response.name) {
            Some(_) => Item::CustomToolCallOutput { call_id, output },
            None => Item::FunctionCallOutput { call_id, output },
        }));
    };
    for part in content.parts.iter().filter(|part| !part.thought) {
        match &part.data {
            PartData::FunctionResponse(next) if forms.is_search(&next.name) => {
                settle(input, response.take());
                let tools = forms.loaded_by(next);
                if tools.is_empty() {
                    // The item has no place for words, and the model must know why nothing came.
                    said.push(Piece::InputText { text: format!("{TOOL_SEARCH}: {}", next.body.text()) });
                }
                let (call_id, execution, status) = (next.wire_id(), CLIENT, COMPLETED);
                input.push(Entry::Item(Item::ToolSearchOutput { call_id, execution, status, tools }));
            }
            PartData::FunctionResponse(next) => {
                let text = match &next.body {
                    ResponseBody::Output(text) => text.clone(),
                    // The format has no mark for an error.
                    ResponseBody::Error(text) => format!("error: {text}"),
                };
                settle(input, response.replace((next, vec![Piece::InputText { text }])));
            }
            PartData::Text(text) => said.push(Piece::InputText { text: text.clone() }),
            PartData::InlineData(data) => match &mut response {
                // Data behind a response belongs to its tool.
                Some((_, pieces)) => pieces.push(data_piece(data)),
                None => said.push(data_piece(data)),
            },
            PartData::FileReference(file) => said.push(file_piece(file)),
            // A user message has no calls.
            PartData::FunctionCall(_) => {}
        }
    }
    settle(input, response);
    if !said.is_empty() {
        input.push(Entry::Item(Item::Message { role: "user", content: said, phase: None }));
    }
}

fn push_model<'a>(input: &mut Vec<Entry<'a>>, content: &'a Content, forms: &Forms<'a>) {
    let mut message = Message::default();
    for part in &content.parts {
        // Only what this service has made: another one's signature means nothing here.
        let mark = part.signature_by(NAME).and_then(|data| serde_json::from_str::<Map<String, Value>>(data).ok());
        if let Some(mark) = mark {
            // Items keep their order: what was said before a thought stays before it.
            message.end(input);
            if mark.get("type").and_then(Value::as_str) == Some("reasoning") {
                input.push(Entry::Kept(mark));
            } else {
                message.phase = mark.get("phase").and_then(Value::as_str).map(str::to_owned);
            }
        }
        match &part.data {
            _ if part.thought => {}
            PartData::Text(more) => message.text.push_str(more),
            PartData::InlineData(InlineData { mime_type, .. }) => message.text.push_str(&named(mime_type)),
            PartData::FileReference(file) => message.text.push_str(&format!("[file `{}`]", file.uri)),
            PartData::FunctionCall(call) => {
                // A call ends the message around it.
                message.end(input);
                input.push(Entry::Item(forms.call(call)));
            }
            // A model's message has no responses.
            PartData::FunctionResponse(_) => {}
        }
    }
    message.end(input);
}

/// The model's text between two items of other kinds.
#[derive(Default)]
struct Message {
    text: String,
    phase: Option<String>,
}

impl Message {
    fn end(&mut self, input: &mut Vec<Entry<'_>>) {
        let Self { text, phase } = std::mem::take(self);
        if !text.is_empty() {
            let content = vec![Piece::OutputText { text }];
            input.push(Entry::Item(Item::Message { role: "assistant", content, phase }));
        }
    }
}

/// Returns data as the part that the format has for it, or its placeholder.
fn data_piece(data: &InlineData) -> Piece {
    let InlineData { mime_type, base64 } = data;
    match mime_type.as_str() {
        image if image.starts_with("image/") => {
            Piece::InputImage { image_url: format!("data:{image};base64,{base64}"), detail: "auto" }
        }
        "application/pdf" => Piece::InputFile(File::Data {
            filename: "document.pdf",
            file_data: format!("data:application/pdf;base64,{base64}"),
        }),
        other => Piece::InputText { text: named(other) },
    }
}

fn file_piece(file: &FileReference) -> Piece {
    let FileReference { mime_type, uri } = file;
    match mime_type.as_str() {
        image if image.starts_with("image/") && is_web(uri) => {
            Piece::InputImage { image_url: uri.clone(), detail: "auto" }
        }
        "application/pdf" if is_web(uri) => Piece::InputFile(File::Address { file_url: uri.clone() }),
        _ => Piece::InputText { text: format!("[file `{uri}` of type `{mime_type}`]") },
    }
}

/// The forms of tools, calls and results. The tools that `tool_search` finds reach the model with the result of a
/// search, in the service's own form, or declared as all others.
struct Forms<'a> {
    /// Whether searches have the service's form. It rejects their results without a declared search.
    is_native: bool,
    /// What was found and is not declared; empty unless the form is the service's.
    found: Vec<&'a ToolSpec>,
    /// What has a grammar.
    custom: &'a [CustomTool],
}

impl<'a> Forms<'a> {
    fn of(request: &Request<'a>) -> Self {
        let has_search = request.tools.iter().any(|tool| tool.name.as_str() == TOOL_SEARCH);
        let is_native = request.settings.deferred_tools && has_search;
        let found = if is_native { found(request) } else { Vec::new() };
        Self { is_native, found, custom: &request.settings.custom_tools }
    }

    fn custom(&self, name: &ToolName) -> Option<&'a CustomTool> {
        self.custom.iter().find(|custom| custom.name == *name)
    }

    fn tool(&self, spec: &'a ToolSpec) -> Declaration<'a> {
        let Some(custom) = self.custom(&spec.name) else { return function(spec, false) };
        let (syntax, definition) = custom.grammar.parts();
        let format = Format { kind: "grammar", syntax, definition };
        Declaration::Custom { name: spec.name.as_str(), description: &spec.description, format }
    }

    fn is_search(&self, name: &ToolName) -> bool {
        self.is_native && name.as_str() == TOOL_SEARCH
    }

    fn declarations(&self, request: &Request<'a>) -> Vec<Declaration<'a>> {
        if !self.is_native {
            return declared(request).into_iter().map(|spec| self.tool(spec)).collect();
        }
        let declaration = |spec: &'a ToolSpec| match self.is_search(&spec.name) {
            true => Declaration::ToolSearch {
                execution: CLIENT,
                description: &spec.description,
                parameters: &spec.input_schema,
            },
            false => self.tool(spec),
        };
        request.tools.iter().map(declaration).collect()
    }

    /// Returns the definitions that a search brings, those of a server together: the service recommends that form.
    fn loaded_by(&self, response: &'a FunctionResponse) -> Vec<Declaration<'a>> {
        let mut spaces: Vec<(&str, Vec<Declaration<'a>>)> = Vec::new();
        let is_loaded = |spec: &&ToolSpec| self.found.iter().any(|found| found.name == spec.name);
        for spec in response.found.iter().filter(is_loaded) {
            let name = namespace(&spec.name);
            let loaded = function(spec, true);
            match spaces.iter_mut().find(|(known, _)| *known == name) {
                Some((_, tools)) => tools.push(loaded),
                None => spaces.push((name, vec![loaded])),
            }
        }
        let space = |(name, tools)| Declaration::Namespace { name, description: format!("Tools of `{name}`."), tools };
        spaces.into_iter().map(space).collect()
    }

    fn call(&self, call: &'a FunctionCall) -> Item<'a> {
        let call_id = call.wire_id();
        if self.is_search(&call.name) {
            let (execution, status) = (CLIENT, COMPLETED);
            return Item::ToolSearchCall { call_id, execution, status, arguments: &call.arguments };
        }
        if let Some(custom) = self.custom(&call.name) {
            // Another service's model may have called the function with anything.
            let input = match call.arguments.get(&custom.argument) {
                Some(Value::String(input)) => Cow::Borrowed(input.as_str()),
                _ => Cow::Owned(Value::Object(call.arguments.clone()).to_string()),
            };
            return Item::CustomToolCall { call_id, name: call.name.sendable(), input };
        }
        let arguments = serde_json::to_string(&call.arguments).expect("a JSON object can be written");
        // The service rejects a call of a loaded tool without it, also one that the model of another service made.
        let is_loaded = self.found.iter().any(|found| found.name == call.name);
        let namespace = is_loaded.then(|| namespace(&call.name));
        Item::FunctionCall { call_id, name: call.name.sendable(), namespace, arguments }
    }
}

/// Returns the group in which a found tool is defined: that of its server.
fn namespace(name: &ToolName) -> &str {
    name.as_str().split_once("__").map_or(name.as_str(), |(server, _)| server)
}

fn function(tool: &ToolSpec, defer_loading: bool) -> Declaration<'_> {
    Declaration::Function {
        name: tool.name.as_str(),
        description: &tool.description,
        parameters: &tool.input_schema,
        strict: false,
        defer_loading,
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Declaration<'a>>,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_retention: Option<&'static str>,
}

#[derive(Serialize)]
struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
struct Text {
    verbosity: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Item(Item<'a>),
    /// As the service sent it.
    Kept(Map<String, Value>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'static str,
        content: Vec<Piece>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    FunctionCall {
        call_id: &'a str,
        name: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        arguments: String,
    },
    CustomToolCall {
        call_id: &'a str,
        name: Cow<'a, str>,
        input: Cow<'a, str>,
    },
    CustomToolCallOutput {
        call_id: &'a str,
        output: Output,
    },
    ToolSearchCall {
        call_id: &'a str,
        execution: &'static str,
        status: &'static str,
        arguments: &'a Map<String, Value>,
    },
    ToolSearchOutput {
        call_id: &'a str,
        execution: &'static str,
        status: &'static str,
        tools: Vec<Declaration<'a>>,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Output,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Output {
    Text(String),
    Pieces(Vec<Piece>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece {
    InputText { text: String },
    InputImage { image_url: String, detail: &'static str },
    InputFile(File),
    OutputText { text: String },
}

#[derive(Serialize)]
#[serde(untagged)]
enum File {
    Data { filename: &'static str, file_data: String },
    Address { file_url: String },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Declaration<'a> {
    Function {
        name: &'a str,
        description: &'a str,
        parameters: &'a Value,
        /// The format's own default is strict, which rejects most schemas.
        strict: bool,
        #[serde(skip_serializing_if = "is_false")]
        defer_loading: bool,
    },
    Custom {
        name: &'a str,
        description: &'a str,
        format: Format<'a>,
    },
    ToolSearch {
        execution: &'static str,
        description: &'a str,
        parameters: &'a Value,
    },
    Namespace {
        name: &'a str,
        description: String,
        tools: Vec<Declaration<'a>>,
    },
}

#[derive(Serialize)]
struct Format<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    syntax: &'static str,
    definition: &'a str,
}

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests;
