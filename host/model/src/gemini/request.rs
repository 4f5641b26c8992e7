//! A request in the Gemini API's words.
//!
//! Thoughts stay here; signatures go back on the part that they came with. Ids go with calls and responses
//! where there are any: the service matches them, and ignores them where it made none.

use host_message::{Content, Part, PartData, ResponseBody, Role, ToolSpec};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Request, Settings};

/// The body of the request.
pub(super) fn body(request: &Request<'_>) -> Vec<u8> {
    let tools: Vec<_> = request.tools.iter().map(declaration).collect();
    let safety = request.settings.safety.iter().map(|(category, threshold)| SafetySetting { category, threshold });
    let body = Body {
        system_instruction: request.system.map(|text| WireContent { role: None, parts: vec![text_part(text)] }),
        contents: request.contents.iter().filter_map(content).collect(),
        tools: if tools.is_empty() { Vec::new() } else { vec![Tools { function_declarations: tools }] },
        generation_config: generation_config(request.model, request.settings),
        safety_settings: safety.collect(),
    };
    serde_json::to_vec(&body).expect("every key is text and no serialiser is our own")
}

/// A message, unless it was nothing but thoughts.
fn content(content: &Content) -> Option<WireContent<'_>> {
    let role = match content.role {
        Role::User => "user",
        Role::Model => "model",
    };
    let parts: Vec<_> = content.parts.iter().filter(|part| !part.thought).map(part).collect();
    (!parts.is_empty()).then_some(WireContent { role: Some(role), parts })
}

fn part(part: &Part) -> WirePart<'_> {
    let data = match &part.data {
        PartData::Text(text) => WireData::Text(text),
        PartData::InlineData(data) => WireData::InlineData { mime_type: &data.mime_type, data: &data.base64 },
        PartData::FileReference(file) => WireData::FileData { mime_type: &file.mime_type, file_uri: &file.uri },
        PartData::FunctionCall(call) => {
            WireData::FunctionCall { id: call.id.as_str(), name: call.name.as_str(), args: &call.arguments }
        }
        PartData::FunctionResponse(response) => WireData::FunctionResponse {
            id: response.id.as_str(),
            name: response.name.as_str(),
            response: match &response.body {
                ResponseBody::Output(text) => WireResponse::Output(text),
                ResponseBody::Error(text) => WireResponse::Error(text),
            },
        },
    };
    WirePart { data, thought_signature: part.signature_by(super::NAME) }
}

fn text_part(text: &str) -> WirePart<'_> {
    WirePart { data: WireData::Text(text), thought_signature: None }
}

fn declaration(tool: &ToolSpec) -> Declaration<'_> {
    Declaration { name: tool.name.as_str(), description: &tool.description, parameters_json_schema: &tool.input_schema }
}

fn generation_config<'a>(model: &str, settings: &'a Settings) -> GenerationConfig<'a> {
    let thinking_config = can_think(model).then(|| ThinkingConfig {
        include_thoughts: settings.thinking_budget != Some(0),
        thinking_budget: settings.thinking_budget,
    });
    GenerationConfig {
        temperature: settings.temperature,
        top_p: settings.top_p,
        max_output_tokens: settings.max_output_tokens,
        stop_sequences: &settings.stop,
        thinking_config,
    }
}

/// The service refuses a thinking configuration for a model that has no thoughts: those before 2.5, and the
/// open models that it also serves.
fn can_think(model: &str) -> bool {
    let model = model.trim_start_matches("models/");
    !["gemini-1", "gemini-2.0", "gemma", "learnlm"].iter().any(|old| model.starts_with(old))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<WireContent<'a>>,
    contents: Vec<WireContent<'a>>,
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
struct WireContent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<WirePart<'a>>,
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
        name: &'a str,
        args: &'a Map<String, Value>,
    },
    FunctionResponse {
        #[serde(skip_serializing_if = "str::is_empty")]
        id: &'a str,
        name: &'a str,
        response: WireResponse<'a>,
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
}

#[cfg(test)]
mod tests {
    use host_message::{CallId, FileReference, FunctionCall, FunctionResponse, InlineData, Signature, ToolName};
    use serde_json::json;

    use super::*;

    fn sent(contents: &[Content], tools: &[ToolSpec], settings: &Settings) -> Value {
        let request = Request { model: "gemini-2.5-pro", system: None, contents, tools, settings };
        serde_json::from_slice(&body(&request)).unwrap()
    }

    #[test]
    fn every_part_has_its_shape() {
        let check = |role: Role, part: Part, expected: Value| {
            let sent = sent(&[Content { role, parts: vec![part] }], &[], &Settings::default());
            assert_eq!(sent["contents"][0]["parts"][0], expected);
        };
        let call = |id: &str| {
            let arguments = Map::from_iter([("path".to_owned(), json!("."))]);
            PartData::FunctionCall(FunctionCall { id: CallId::new(id), name: ToolName::new("ls"), arguments })
        };
        let response = |id: &str, body: ResponseBody| {
            PartData::FunctionResponse(FunctionResponse { id: CallId::new(id), name: ToolName::new("ls"), body })
        };
        let output = |text: &str| ResponseBody::Output(text.to_owned());
        check(Role::User, Part::text("hi"), json!({"text": "hi"}));
        check(Role::Model, call("").into(), json!({"functionCall": {"name": "ls", "args": {"path": "."}}}));
        check(
            Role::Model,
            Part {
                data: call("c1"),
                thought: false,
                signature: Some(Signature { by: "gemini".to_owned(), data: "c2ln".to_owned() }),
            },
            json!({"functionCall": {"id": "c1", "name": "ls", "args": {"path": "."}}, "thoughtSignature": "c2ln"}),
        );
        check(
            Role::User,
            response("", output("a")).into(),
            json!({"functionResponse": {"name": "ls", "response": {"output": "a"}}}),
        );
        check(
            Role::User,
            response("c1", ResponseBody::Error("no".to_owned())).into(),
            json!({"functionResponse": {"id": "c1", "name": "ls", "response": {"error": "no"}}}),
        );
        check(
            Role::User,
            PartData::InlineData(InlineData { mime_type: "image/png".to_owned(), base64: "AAAA".to_owned() }).into(),
            json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
        );
        check(
            Role::User,
            PartData::FileReference(FileReference { mime_type: "a/b".to_owned(), uri: "gs://x".to_owned() }).into(),
            json!({"fileData": {"mimeType": "a/b", "fileUri": "gs://x"}}),
        );
    }

    #[test]
    fn thoughts_are_not_sent_back() {
        let contents = [
            Content::user("q"),
            Content { role: Role::Model, parts: vec![Part::thought("only")] },
            Content { role: Role::Model, parts: vec![Part::thought("hm"), Part::text("a")] },
        ];
        let expected = json!([
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"text": "a"}]},
        ]);
        assert_eq!(sent(&contents, &[], &Settings::default())["contents"], expected);
    }

    #[test]
    fn a_whole_request_has_its_shape() {
        let tool = ToolSpec {
            name: ToolName::new("ls"),
            title: None,
            description: "Lists a folder".to_owned(),
            input_schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
            output_schema: None,
            annotations: Default::default(),
        };
        let settings = Settings {
            temperature: Some(0.5),
            top_p: Some(0.25),
            max_output_tokens: Some(100),
            thinking_budget: Some(-1),
            stop: vec!["END".to_owned()],
            safety: vec![("HARM_CATEGORY_HARASSMENT".to_owned(), "BLOCK_NONE".to_owned())],
        };
        let contents = [Content::user("hi")];
        let request = Request {
            model: "gemini-2.5-pro",
            system: Some("Be brief."),
            contents: &contents,
            tools: &[tool],
            settings: &settings,
        };
        let expected = json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "tools": [{"functionDeclarations": [{
                "name": "ls",
                "description": "Lists a folder",
                "parametersJsonSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
            }]}],
            "generationConfig": {
                "temperature": 0.5,
                "topP": 0.25,
                "maxOutputTokens": 100,
                "stopSequences": ["END"],
                "thinkingConfig": {"includeThoughts": true, "thinkingBudget": -1},
            },
            "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        });
        assert_eq!(serde_json::from_slice::<Value>(&body(&request)).unwrap(), expected);
    }

    #[test]
    fn what_is_not_set_is_not_sent() {
        let expected = json!({"contents": [], "generationConfig": {"thinkingConfig": {"includeThoughts": true}}});
        assert_eq!(sent(&[], &[], &Settings::default()), expected);
    }

    #[test]
    fn a_model_without_thoughts_is_not_asked_for_them() {
        let check = |model: &str, thinks: bool| assert_eq!(can_think(model), thinks, "{model}");
        check("gemini-2.5-pro", true);
        check("gemini-3-pro-preview", true);
        check("models/gemini-2.5-flash", true);
        check("gemini-2.0-flash", false);
        check("models/gemini-1.5-pro", false);
        check("gemma-3-27b-it", false);
    }
}
