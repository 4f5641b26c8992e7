//! Conversations in Ollama's format.

use host_message::{CallId, FileReference, FunctionCall, FunctionResponse, ToolName};
use serde_json::json;

use super::*;
use crate::Settings;

fn sent(request: &Request<'_>) -> Value {
    serde_json::from_slice(&body(request)).expect("it is JSON")
}

fn messages(contents: &[Content]) -> Value {
    let settings = Settings::default();
    sent(&Request { model: "m", system: None, contents, tools: &[], settings: &settings, conversation: None })["messages"].take()
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
fn calls_their_results_and_the_thoughts_between_have_their_shape() {
    let contents = [
        Content::user("first"),
        Content { role: Role::Model, parts: vec![Part::thought("old"), Part::text("done")] },
        Content::user("look"),
        Content {
            role: Role::Model,
            parts: vec![Part::thought("h"), Part::thought("m"), Part::text("I look."), call("a"), call("b")],
        },
        Content {
            role: Role::User,
            parts: vec![
                response("a", ResponseBody::Output("x".to_owned())),
                data("image/png"),
                response("b", ResponseBody::Error("no".to_owned())),
            ],
        },
    ];
    let call = |id: &str| json!({"id": id, "function": {"name": "ls", "arguments": {"path": "."}}});
    let expected = json!([
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "done", "thinking": "old"},
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": "I look.", "thinking": "hm", "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "content": "x", "tool_name": "ls", "tool_call_id": "a"},
        {"role": "tool", "content": "error: no", "tool_name": "ls", "tool_call_id": "b"},
        {"role": "user", "content": "", "images": ["AAAA"]},
    ]);
    assert_eq!(messages(&contents), expected);
    assert_eq!(messages(&[Content { role: Role::Model, parts: vec![Part::thought("hm")] }]), json!([]));
}

#[test]
fn data_without_a_place_is_named() {
    let check = |part: Part, expected: &str| {
        let contents = [Content { role: Role::User, parts: vec![Part::text("see "), part] }];
        assert_eq!(messages(&contents)[0]["content"], expected);
    };
    check(data("application/pdf"), "see [data of type `application/pdf`, which this model cannot be sent]");
    let file = FileReference { mime_type: "image/png".to_owned(), uri: "https://a".to_owned() };
    check(PartData::FileReference(file).into(), "see [file `https://a`]");
}

#[test]
fn settings_and_tools_have_their_shape() {
    let tool = ToolSpec {
        name: ToolName::new("ls"),
        title: None,
        description: "Lists".to_owned(),
        input_schema: json!({"type": "object"}).into(),
        output_schema: None,
        annotations: Default::default(),
    };
    let settings = Settings {
        temperature: Some(0.5),
        top_p: Some(0.25),
        max_output_tokens: Some(9),
        thinking_budget: Some(-1),
        stop: vec!["END".to_owned()],
        ..Settings::default()
    };
    let request = Request {
        model: "m",
        system: Some("s"),
        contents: &[],
        tools: std::slice::from_ref(&tool),
        settings: &settings,
        conversation: None,
    };
    let expected = json!({
        "model": "m",
        "messages": [{"role": "system", "content": "s"}],
        "tools": [{"type": "function",
            "function": {"name": "ls", "description": "Lists", "parameters": {"type": "object"}}}],
        "stream": true,
        "think": true,
        "options": {"temperature": 0.5, "top_p": 0.25, "num_predict": 9, "stop": ["END"]},
    });
    assert_eq!(sent(&request), expected);
    let thinks = |thinking_budget: Option<i32>| {
        let settings = Settings { thinking_budget, ..Settings::default() };
        let request =
            Request { model: "m", system: None, contents: &[], tools: &[], settings: &settings, conversation: None };
        sent(&request).get("think").cloned()
    };
    assert_eq!((thinks(None), thinks(Some(0)), thinks(Some(5))), (None, Some(json!(false)), Some(json!(true))));
}

#[test]
fn effort_is_a_switch_or_a_level_of_the_models_that_have_some() {
    let thinks = |model: &str, effort| {
        let settings = Settings { effort: Some(effort), ..Settings::default() };
        sent(&Request { model, system: None, contents: &[], tools: &[], settings: &settings, conversation: None })["think"].take()
    };
    assert_eq!(thinks("qwen3:8b", Effort::Low), json!(true));
    assert_eq!(thinks("qwen3:8b", Effort::None), json!(false));
    assert_eq!(thinks("gpt-oss:20b", Effort::Max), json!("high"));
    assert_eq!(thinks("gpt-oss:20b", Effort::Minimal), json!("low"));
}
