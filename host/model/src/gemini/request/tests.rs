//! Conversations in Gemini's format.

use host_message::{CallId, FileReference, FunctionCall, FunctionResponse, InlineData, Signature, ToolName};
use serde_json::json;

use super::*;
use crate::Effort;

fn sent(contents: &[Content], tools: &[ToolSpec], settings: &Settings) -> Value {
    let request = Request { model: "gemini-2.5-pro", system: None, contents, tools, settings, conversation: None };
    serde_json::from_slice(&body(&request, Dialect::Gemini)).unwrap()
}

#[test]
fn every_part_has_its_shape() {
    let check = |role: Role, part: Part, expected: Value| {
        let sent = sent(&[Content { role, parts: vec![part] }], &[], &Settings::default());
        assert_eq!(sent["contents"][0]["parts"][0], expected);
    };
    let call = |id: &str| {
        let arguments = Map::from_iter([("path".to_owned(), json!("."))]);
        PartData::FunctionCall(FunctionCall::new(CallId::new(id), ToolName::new("ls"), arguments))
    };
    let response = |id: &str, body: ResponseBody| {
        PartData::FunctionResponse(FunctionResponse::new(CallId::new(id), ToolName::new("ls"), body))
    };
    let output = |text: &str| ResponseBody::Output(text.to_owned());
    check(Role::User, Part::text("hi"), json!({"text": "hi"}));
    check(
        Role::Model,
        call("").into(),
        json!({"functionCall": {"name": "ls", "args": {"path": "."}}, "thoughtSignature": NO_SIGNATURE}),
    );
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
        input_schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}).into(),
        output_schema: None,
        annotations: Default::default(),
    };
    let settings = Settings {
        temperature: Some(0.5),
        top_p: Some(0.25),
        max_output_tokens: Some(100),
        thinking_budget: Some(-1),
        effort: None,
        verbosity: None,
        long_cache: false,
        deferred_tools: false,
        custom_tools: Vec::new(),
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
        conversation: None,
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
    assert_eq!(serde_json::from_slice::<Value>(&body(&request, Dialect::Gemini)).unwrap(), expected);
}

#[test]
fn gemini_settings_that_are_not_set_are_not_sent() {
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

fn call(id: &str, signature: Option<(&str, &str)>) -> Part {
    let call = FunctionCall::new(CallId::new(id), ToolName::new("ls"), Map::new());
    let signature = signature.map(|(by, data)| Signature { by: by.to_owned(), data: data.to_owned() });
    Part { data: PartData::FunctionCall(call), thought: false, signature }
}

fn response(id: &str) -> Part {
    let body = ResponseBody::Output("x".to_owned());
    PartData::FunctionResponse(FunctionResponse::new(CallId::new(id), ToolName::new("ls"), body)).into()
}

fn data(mime_type: &str) -> Part {
    PartData::InlineData(InlineData { mime_type: mime_type.to_owned(), base64: "AAAA".to_owned() }).into()
}

fn says(role: Role, parts: Vec<Part>) -> Content {
    Content { role, parts }
}

/// Returns the messages as they are sent to a model of this name.
fn contents_for(model: &str, dialect: Dialect, contents: &[Content]) -> Value {
    let request =
        Request { model, system: None, contents, tools: &[], settings: &Settings::default(), conversation: None };
    serde_json::from_slice::<Value>(&body(&request, dialect)).unwrap()["contents"].take()
}

#[test]
fn each_turns_first_call_carries_a_signature() {
    let turns = [
        Content::user("before"),
        says(Role::Model, vec![call("a", None)]),
        says(Role::User, vec![response("a")]),
        says(Role::Model, vec![Part::text("so")]),
        Content::user("now"),
        says(Role::Model, vec![Part::text("I look"), call("b", Some(("gemini", "c2ln"))), call("c", None)]),
        says(Role::User, vec![response("b"), response("c"), Part::text("and a remark of the host's")]),
        says(Role::Model, vec![call("d", Some(("anthropic", "bm8="))), call("e", None)]),
        says(Role::User, vec![response("d"), response("e")]),
    ];
    let check = |model: &str, dialect: Dialect, expected: [Option<&str>; 5]| {
        let contents = contents_for(model, dialect, &turns);
        let parts = contents.as_array().unwrap().iter().flat_map(|content| content["parts"].as_array().unwrap());
        let calls = parts.filter(|part| part.get("functionCall").is_some());
        let signatures: Vec<_> = calls.map(|part| part.get("thoughtSignature").and_then(Value::as_str)).collect();
        assert_eq!(signatures, expected, "{model}");
    };
    let none = Some("skip_thought_signature_validator");
    check("gemini-3-pro", Dialect::Gemini, [none, Some("c2ln"), None, none, None]);
    check("gemini-2.5-pro", Dialect::Gemini, [none, Some("c2ln"), None, none, None]);
    check("gemini-3-pro", Dialect::Vertex, [none, none, None, none, None]);
    check("gemini-2.0-flash", Dialect::Gemini, [None, Some("c2ln"), None, None, None]);
}

#[test]
fn data_of_a_response_goes_where_the_model_takes_it() {
    let turns = [says(
        Role::User,
        vec![
            response("a"),
            data("image/png"),
            data("audio/wav"),
            response("b"),
            data("application/pdf"),
            Part::text("t"),
        ],
    )];
    let inline = |mime_type: &str| json!({"inlineData": {"mimeType": mime_type, "data": "AAAA"}});
    let plain = |id: &str| json!({"functionResponse": {"id": id, "name": "ls", "response": {"output": "x"}}});
    let with = |id: &str, mime_type: &str| {
        let mut part = plain(id);
        part["functionResponse"]["parts"] = json!([inline(mime_type)]);
        part
    };
    let nested = json!([
        {"role": "user", "parts": [with("a", "image/png"), with("b", "application/pdf"), {"text": "t"}]},
        {"role": "user", "parts": [inline("audio/wav")]},
    ]);
    for model in ["gemini-3-pro-preview", "gemini-3.1-flash", "gemini-flash-latest", "models/gemini-10-pro"] {
        assert_eq!(contents_for(model, Dialect::Gemini, &turns), nested, "{model}");
    }
    let beside = json!([{"role": "user", "parts": [
        plain("a"), inline("image/png"), inline("audio/wav"), plain("b"), inline("application/pdf"), {"text": "t"},
    ]}]);
    for model in ["gemini-2.5-pro", "gemma-3-27b-it", "tunedModels/mine"] {
        assert_eq!(contents_for(model, Dialect::Gemini, &turns), beside, "{model}");
    }
    let from_the_user = [says(Role::User, vec![Part::text("see"), data("audio/wav"), data("image/png")])];
    let expected = json!([{"role": "user", "parts": [{"text": "see"}, inline("audio/wav"), inline("image/png")]}]);
    assert_eq!(contents_for("gemini-3-pro", Dialect::Gemini, &from_the_user), expected);
}

#[test]
fn vertex_is_sent_ids_from_the_third_generation_on() {
    let turns = [says(Role::Model, vec![call("a", None)]), says(Role::User, vec![response("a")])];
    let check = |model: &str, dialect: Dialect, id: Value| {
        let contents = contents_for(model, dialect, &turns);
        assert_eq!(contents[0]["parts"][0]["functionCall"].get("id").unwrap_or(&Value::Null), &id, "{model}");
        assert_eq!(contents[1]["parts"][0]["functionResponse"].get("id").unwrap_or(&Value::Null), &id, "{model}");
    };
    check("gemini-3-pro", Dialect::Vertex, json!("a"));
    check("gemini-2.5-pro", Dialect::Vertex, Value::Null);
    check("gemini-2.5-pro", Dialect::Gemini, json!("a"));
}

#[test]
fn effort_is_a_level_from_the_third_generation_on_and_a_budget_before_it() {
    let check = |model: &str, effort, thinking_budget, expected: Value| {
        let settings = Settings { effort: Some(effort), thinking_budget, ..Settings::default() };
        let config = serde_json::to_value(generation_config(model, &settings)).expect("it is JSON");
        assert_eq!(config["thinkingConfig"], expected, "{model} {effort}");
    };
    check("gemini-3.8-flash", Effort::High, None, json!({"includeThoughts": true, "thinkingLevel": "high"}));
    check("gemini-2.5-pro", Effort::Medium, None, json!({"includeThoughts": true, "thinkingBudget": 8_192}));
    check("gemini-2.5-flash", Effort::None, None, json!({"includeThoughts": false, "thinkingBudget": 0}));
    check("gemini-3.8-flash", Effort::High, Some(5), json!({"includeThoughts": true, "thinkingBudget": 5}));
    check("gemini-2.0-flash", Effort::High, None, Value::Null);
}
