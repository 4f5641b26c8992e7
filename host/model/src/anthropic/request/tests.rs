//! Conversations in the format of Anthropic's Messages API.

use host_message::{CallId, FileReference, FunctionCall, FunctionResponse, Signature, ToolName};
use serde_json::json;

use super::*;
use crate::Settings;

fn sent(request: &Request<'_>) -> Value {
    serde_json::from_slice(&body(request)).expect("it is JSON")
}

/// Returns the messages without the cache's marks.
fn messages(contents: &[Content]) -> Value {
    let settings = Settings::default();
    let request = Request {
        model: "claude-haiku-4-5",
        system: None,
        contents,
        tools: &[],
        settings: &settings,
        conversation: None,
    };
    let mut messages = sent(&request)["messages"].take();
    for message in messages.as_array_mut().expect("a list") {
        for block in message["content"].as_array_mut().expect("a list") {
            block.as_object_mut().expect("a block").remove("cache_control");
        }
    }
    messages
}

fn call(id: &str) -> Part {
    let arguments = Map::from_iter([("path".to_owned(), json!("."))]);
    PartData::FunctionCall(FunctionCall::new(CallId::new(id), ToolName::new("ls"), arguments)).into()
}

fn response(id: &str, body: ResponseBody) -> Part {
    PartData::FunctionResponse(FunctionResponse::new(CallId::new(id), ToolName::new("ls"), body)).into()
}

fn output(text: &str) -> ResponseBody {
    ResponseBody::Output(text.to_owned())
}

fn data(mime_type: &str) -> Part {
    PartData::InlineData(InlineData { mime_type: mime_type.to_owned(), base64: "AAAA".to_owned() }).into()
}

fn signed(by: &str, data: &str) -> Part {
    Part { signature: Some(Signature { by: by.to_owned(), data: data.to_owned() }), ..Part::thought("") }
}

fn user(parts: Vec<Part>) -> Content {
    Content { role: Role::User, parts }
}

fn model(parts: Vec<Part>) -> Content {
    Content { role: Role::Model, parts }
}

#[test]
fn calls_and_their_results_have_their_shape() {
    let contents = [
        Content::user("look"),
        model(vec![Part::text("I look."), call("toolu_1"), call("toolu_2"), call("toolu_3")]),
        user(vec![
            response("toolu_1", output("x")),
            data("image/png"),
            data("application/pdf"),
            response("toolu_2", ResponseBody::Error("no".to_owned())),
            data("image/png"),
            Part::text("go on"),
            response("toolu_3", output(" ")),
        ]),
    ];
    let tool_use = |id: &str| json!({"type": "tool_use", "id": id, "name": "ls", "input": {"path": "."}});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let pdf =
        json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}});
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "look"}]},
        {"role": "assistant", "content":
            [{"type": "text", "text": "I look."}, tool_use("toolu_1"), tool_use("toolu_2"), tool_use("toolu_3")]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "x"}, image, pdf]},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "no"}],
             "is_error": true},
            {"type": "tool_result", "tool_use_id": "toolu_3", "content": []},
            image,
            {"type": "text", "text": "go on"},
        ]},
    ]);
    assert_eq!(messages(&contents), expected);
}

#[test]
fn neighbours_of_one_role_become_one_message() {
    let contents = [
        Content::user("a"),
        Content::user(" \n"),
        Content::user("b"),
        Content::model(""),
        Content::model("c"),
        Content::model("d"),
        Content::user("e"),
    ];
    let text = |text: &str| json!({"type": "text", "text": text});
    let expected = json!([
        {"role": "user", "content": [text("a"), text("b")]},
        {"role": "assistant", "content": [text("c"), text("d")]},
        {"role": "user", "content": [text("e")]},
    ]);
    assert_eq!(messages(&contents), expected);
}

#[test]
fn signed_thoughts_go_back_unchanged_and_in_their_place() {
    let thinking = r#"{"type":"thinking","thinking":"Let me","signature":"c2ln"}"#;
    let redacted = r#"{"type":"redacted_thinking","data":"RW5j"}"#;
    let contents = [
        Content::user("q"),
        model(vec![
            Part::thought("Let me"),
            signed("anthropic", thinking),
            Part::text("a"),
            signed("anthropic", redacted),
            signed("gemini", "c2ln"),
            signed("anthropic", "rubbish"),
            signed("anthropic", r#"{"type":"text","text":"forged"}"#),
            call("toolu_1"),
        ]),
    ];
    let expected = json!([
        {"type": "thinking", "thinking": "Let me", "signature": "c2ln"},
        {"type": "text", "text": "a"},
        {"type": "redacted_thinking", "data": "RW5j"},
        {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "."}},
    ]);
    assert_eq!(messages(&contents)[1]["content"], expected);
    assert_eq!(messages(&[model(vec![Part::thought("hm")])]), json!([]), "nothing else is sent of thoughts");
}

#[test]
fn data_goes_where_the_format_has_a_block_for_it() {
    let check = |part: Part, expected: Value| assert_eq!(messages(&[user(vec![part])])[0]["content"][0], expected);
    let file = |mime_type: &str, uri: &str| {
        PartData::FileReference(FileReference { mime_type: mime_type.to_owned(), uri: uri.to_owned() }).into()
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    check(data("audio/wav"), text("[data of type `audio/wav`, which this model cannot be sent]"));
    check(data("image/tiff"), text("[data of type `image/tiff`, which this model cannot be sent]"));
    let url = |kind: &str, url: &str| json!({"type": kind, "source": {"type": "url", "url": url}});
    check(file("image/png", "https://a/b.png"), url("image", "https://a/b.png"));
    check(file("application/pdf", "https://a/b.pdf"), url("document", "https://a/b.pdf"));
    check(file("image/png", "gs://a"), text("[file `gs://a` of type `image/png`]"));
    check(file("audio/wav", "https://a"), text("[file `https://a` of type `audio/wav`]"));
}

#[test]
fn ids_of_other_services_are_made_to_fit_and_stay_different() {
    let check = |id: &str, expected: &str| assert_eq!(fit(id), expected);
    check("toolu_01-A", "toolu_01-A");
    check("main#3-1", "xmain_23_3-1");
    check("main#31", "xmain_23_31");
    check("ü", "x_fc_");
    check("", "x");
}

#[test]
fn a_whole_request_has_its_shape_and_its_marks() {
    let tool = |name: &str| ToolSpec {
        name: ToolName::new(name),
        title: None,
        description: "Does".to_owned(),
        input_schema: json!({"type": "object"}).into(),
        output_schema: None,
        annotations: Default::default(),
    };
    let settings = Settings {
        temperature: Some(0.5),
        max_output_tokens: Some(9000),
        stop: vec!["END".to_owned()],
        ..Settings::default()
    };
    let contents = [
        Content::user("a"),
        Content::model("b"),
        Content::user("c"),
        Content::model("d"),
        user(vec![Part::text("e"), Part::text("f")]),
    ];
    let request = Request {
        model: "claude-haiku-4-5",
        system: Some("Be brief."),
        contents: &contents,
        tools: &[tool("ls"), tool("cat")],
        settings: &settings,
        conversation: None,
    };
    let mark = json!({"type": "ephemeral"});
    let text = |text: &str| json!({"type": "text", "text": text});
    let marked = |text: &str| json!({"type": "text", "text": text, "cache_control": mark});
    let expected = json!({
        "model": "claude-haiku-4-5",
        "max_tokens": 9000,
        "stream": true,
        "temperature": 0.5,
        "stop_sequences": ["END"],
        "system": [marked("Be brief.")],
        "tools": [
            {"name": "ls", "description": "Does", "input_schema": {"type": "object"}},
            {"name": "cat", "description": "Does", "input_schema": {"type": "object"}, "cache_control": mark},
        ],
        "messages": [
            {"role": "user", "content": [text("a")]},
            {"role": "assistant", "content": [text("b")]},
            {"role": "user", "content": [marked("c")]},
            {"role": "assistant", "content": [text("d")]},
            {"role": "user", "content": [text("e"), marked("f")]},
        ],
    });
    assert_eq!(sent(&request), expected);
    let settings = Settings { long_cache: true, ..settings.clone() };
    let long = sent(&Request { settings: &settings, ..request });
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!((&long["system"][0]["cache_control"], &long["tools"][1]["cache_control"]), (&mark, &mark));
}

#[test]
fn anthropic_requests_no_thinking_amid_the_calls_of_a_different_service() {
    let settings = Settings { thinking_budget: Some(2048), ..Settings::default() };
    let thinks = |parts: Vec<Part>, answer: Part| {
        let contents = [Content::user("q"), model(parts), user(vec![answer])];
        let request = Request {
            model: "claude-haiku-4-5",
            system: None,
            contents: &contents,
            tools: &[],
            settings: &settings,
            conversation: None,
        };
        sent(&request).get("thinking").cloned()
    };
    let enabled = Some(json!({"type": "enabled", "budget_tokens": 2048}));
    let thought = || signed("anthropic", r#"{"type":"redacted_thinking","data":"RW5j"}"#);
    assert_eq!(thinks(vec![thought(), call("a")], response("a", output("x"))), enabled);
    assert_eq!(thinks(vec![Part::text("a")], Part::text("q")), enabled);
    assert_eq!(thinks(vec![call("a")], response("a", output("x"))), None);
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        title: None,
        description: format!("Does {name}."),
        input_schema: json!({"type": "object"}).into(),
        output_schema: None,
        annotations: Default::default(),
    }
}

/// A conversation in which two searches found tools, and what a search said that found none.
fn searched() -> Vec<Content> {
    let search = |id: &str| {
        let arguments = Map::from_iter([("query".to_owned(), json!("mail"))]);
        model(vec![
            PartData::FunctionCall(FunctionCall::new(CallId::new(id), ToolName::new("tool_search"), arguments)).into(),
        ])
    };
    let answer = |id: &str, body: ResponseBody, found: &[&str]| {
        let mut response = FunctionResponse::new(CallId::new(id), ToolName::new("tool_search"), body);
        response.found = found.iter().map(|name| spec(name)).collect();
        user(vec![PartData::FunctionResponse(response).into()])
    };
    vec![
        Content::user("send a mail"),
        search("toolu_1"),
        answer("toolu_1", output("Loaded"), &["mail__send", "ls", "mail__list"]),
        search("toolu_2"),
        answer("toolu_2", output("Loaded"), &["ls"]),
        search("toolu_3"),
        answer("toolu_3", ResponseBody::Error("no tool fits".to_owned()), &[]),
    ]
}

#[test]
fn found_tools_are_defined_behind_the_mark_and_referred_to_where_they_were_found() {
    let contents = searched();
    let tools = [spec("ls"), spec("tool_search")];
    let settings = Settings { deferred_tools: true, ..Settings::default() };
    let request = Request {
        model: "claude-haiku-4-5",
        system: None,
        contents: &contents,
        tools: &tools,
        settings: &settings,
        conversation: None,
    };
    let body = sent(&request);
    let tool =
        |name: &str| json!({"name": name, "description": format!("Does {name}."), "input_schema": {"type": "object"}});
    let with = |mut tool: Value, key: &str, value: Value| {
        tool[key] = value;
        tool
    };
    let deferred = |name: &str| with(tool(name), "defer_loading", json!(true));
    let marked = with(tool("tool_search"), "cache_control", json!({"type": "ephemeral"}));
    assert_eq!(body["tools"], json!([tool("ls"), marked, deferred("mail__send"), deferred("mail__list")]));
    let reference = |name: &str| json!({"type": "tool_reference", "tool_name": name});
    let result = |at: usize| body["messages"][at]["content"][0]["content"].clone();
    assert_eq!(result(2), json!([reference("mail__send"), reference("mail__list")]), "and not what is declared");
    assert_eq!(result(4), json!([{"type": "text", "text": "Loaded"}]));
    assert_eq!(
        (result(6), &body["messages"][6]["content"][0]["is_error"]),
        (json!([{"type": "text", "text": "no tool fits"}]), &json!(true))
    );
    let count: Value = serde_json::from_slice(&count_body(&request)).expect("it is JSON");
    assert_eq!((&count["tools"], &count["messages"]), (&body["tools"], &body["messages"]), "it counts the same");

    // Where the service cannot, they are declared, and the words say so.
    let settings = Settings::default();
    let body = sent(&Request { settings: &settings, ..request });
    let last = with(tool("mail__list"), "cache_control", json!({"type": "ephemeral"}));
    assert_eq!(body["tools"], json!([tool("ls"), tool("tool_search"), tool("mail__send"), last]));
    assert_eq!(body["messages"][2]["content"][0]["content"], json!([{"type": "text", "text": "Loaded"}]));
    // The service rejects a request in which all tools are deferred.
    let settings = Settings { deferred_tools: true, ..Settings::default() };
    let body = sent(&Request { tools: &[], settings: &settings, ..request });
    assert_eq!(body.get("tools"), None);
    assert_eq!(body["messages"][2]["content"][0]["content"], json!([{"type": "text", "text": "Loaded"}]));
}
