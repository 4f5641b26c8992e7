//! Conversations in the Chat Completions format.

use host_message::{CallId, FileReference, FunctionCall, FunctionResponse, ToolName};
use serde_json::{Map, json};

use super::*;

fn sent(request: &Request<'_>, dialect: Dialect) -> Value {
    serde_json::from_slice(&body(request, dialect)).unwrap()
}

fn messages(contents: &[Content]) -> Value {
    let settings = Settings::default();
    let request = Request { model: "m", system: None, contents, tools: &[], settings: &settings, conversation: None };
    sent(&request, Dialect::Compatible)["messages"].take()
}

fn call(id: &str) -> Part {
    let arguments = Map::from_iter([("path".to_owned(), json!("."))]);
    PartData::FunctionCall(FunctionCall::new(CallId::new(id), ToolName::new("ls"), arguments)).into()
}

fn response(id: &str, body: ResponseBody) -> Part {
    PartData::FunctionResponse(FunctionResponse::new(CallId::new(id), ToolName::new("ls"), body)).into()
}

fn data(mime_type: &str) -> Part {
    PartData::InlineData(InlineData { mime_type: mime_type.to_owned(), base64: "AAAA".to_owned() }).into()
}

#[test]
fn calls_and_their_results_have_their_shape() {
    let contents = [
        Content::user("look"),
        Content {
            role: Role::Model,
            parts: vec![Part::thought("hm"), Part::text("I "), Part::text("look."), call("a"), call("b")],
        },
        Content {
            role: Role::User,
            parts: vec![
                response("a", ResponseBody::Output("x".to_owned())),
                data("image/png"),
                response("b", ResponseBody::Error("no".to_owned())),
            ],
        },
        Content { role: Role::Model, parts: vec![call("c")] },
    ];
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": "{\"path\":\".\"}"}});
    let expected = json!([
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "tool", "tool_call_id": "b", "content": "error: no"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
        {"role": "assistant", "content": null, "tool_calls": [call("c")]},
    ]);
    assert_eq!(messages(&contents), expected);
}

#[test]
fn a_message_of_thoughts_alone_is_not_sent() {
    assert_eq!(messages(&[Content { role: Role::Model, parts: vec![Part::thought("hm")] }]), json!([]));
}

#[test]
fn data_goes_where_the_format_has_a_part_for_it() {
    let check = |part: Part, expected: Value| {
        let contents = [Content { role: Role::User, parts: vec![Part::text("see"), part] }];
        assert_eq!(messages(&contents)[0]["content"][1], expected);
    };
    let file = |mime_type: &str, uri: &str| {
        PartData::FileReference(FileReference { mime_type: mime_type.to_owned(), uri: uri.to_owned() }).into()
    };
    check(data("audio/wav"), json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}));
    check(
        data("application/pdf"),
        json!({"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,AAAA"}}),
    );
    check(
        data("application/zip"),
        json!({"type": "text", "text": "[data of type `application/zip`, which this model cannot be sent]"}),
    );
    check(file("image/png", "https://a/b.png"), json!({"type": "image_url", "image_url": {"url": "https://a/b.png"}}));
    check(file("image/png", "gs://a"), json!({"type": "text", "text": "[file `gs://a` of type `image/png`]"}));
}

#[test]
fn settings_are_worded_for_the_server() {
    let settings = Settings {
        temperature: Some(0.5),
        top_p: Some(0.25),
        max_output_tokens: Some(9),
        thinking_budget: Some(-1),
        ..Settings::default()
    };
    let check = |model: &str, dialect: Dialect, expected: Value| {
        let request =
            Request { model, system: Some("s"), contents: &[], tools: &[], settings: &settings, conversation: None };
        let mut whole = json!({
            "model": model,
            "messages": [{"role": "system", "content": "s"}],
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        whole.as_object_mut().unwrap().extend(expected.as_object().unwrap().clone());
        assert_eq!(sent(&request, dialect), whole, "{model}");
    };
    let free = json!({"temperature": 0.5, "top_p": 0.25, "max_completion_tokens": 9});
    check("gpt-5", Dialect::Compatible, json!({"temperature": 0.5, "top_p": 0.25, "max_tokens": 9}));
    check("gpt-4.1", Dialect::OpenAi, free.clone());
    check("gpt-5-chat-latest", Dialect::OpenAi, free);
    check("gpt-5-mini", Dialect::OpenAi, json!({"max_completion_tokens": 9}));
}

#[test]
fn a_tool_has_its_shape() {
    let tool = ToolSpec {
        name: ToolName::new("ls"),
        title: None,
        description: "Lists".to_owned(),
        input_schema: json!({"type": "object"}).into(),
        output_schema: None,
        annotations: Default::default(),
    };
    let settings = Settings::default();
    let request =
        Request { model: "m", system: None, contents: &[], tools: &[tool], settings: &settings, conversation: None };
    let expected = json!([
        {"type": "function", "function": {"name": "ls", "description": "Lists", "parameters": {"type": "object"}}},
    ]);
    assert_eq!(sent(&request, Dialect::Compatible)["tools"], expected);
}

#[test]
fn effort_and_verbosity_are_sent_only_if_there_is_one() {
    let sent_effort = |effort| {
        let settings = Settings { effort, ..Settings::default() };
        let request =
            Request { model: "m", system: None, contents: &[], tools: &[], settings: &settings, conversation: None };
        sent(&request, Dialect::Compatible).get("reasoning_effort").cloned()
    };
    assert_eq!(sent_effort(None), None);
    assert_eq!(sent_effort(Some(Effort::Xhigh)), Some(json!("xhigh")));
    let sent_verbosity = |verbosity| {
        let settings = Settings { verbosity, ..Settings::default() };
        let request =
            Request { model: "m", system: None, contents: &[], tools: &[], settings: &settings, conversation: None };
        sent(&request, Dialect::OpenAi).get("verbosity").cloned()
    };
    assert_eq!(sent_verbosity(None), None);
    assert_eq!(sent_verbosity(Some(Verbosity::High)), Some(json!("high")));
}
