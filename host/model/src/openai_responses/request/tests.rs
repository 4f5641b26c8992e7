//! Conversations in the format of the Responses API.

use host_message::{CallId, FunctionCall, FunctionResponse, Part, Signature, ToolName};
use serde_json::json;

use super::*;
use crate::{Grammar, Verbosity};

fn sent(request: &Request<'_>, dialect: Dialect) -> Value {
    serde_json::from_slice(&body(request, dialect)).unwrap()
}

fn input(contents: &[Content]) -> Value {
    let settings = Settings::default();
    let request = Request { model: "m", system: None, contents, tools: &[], settings: &settings, conversation: None };
    sent(&request, Dialect::OpenAi)["input"].take()
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

fn signed(part: Part, by: &str, data: &str) -> Part {
    Part { signature: Some(Signature { by: by.to_owned(), data: data.to_owned() }), ..part }
}

fn model(parts: Vec<Part>) -> Content {
    Content { role: Role::Model, parts }
}

fn says(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn calls(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "ls", "arguments": "{\"path\":\".\"}"})
}

#[test]
fn calls_and_their_results_have_their_shape() {
    let output = |text: &str| ResponseBody::Output(text.to_owned());
    let results = vec![
        response("a", output("x")),
        data("image/png"),
        data("application/pdf"),
        data("audio/wav"),
        response("b", ResponseBody::Error("no".to_owned())),
        Part::text("and this"),
    ];
    let contents = [
        Content::user("look"),
        model(vec![Part::text("I "), Part::text("look."), call("a"), call("b")]),
        Content { role: Role::User, parts: results },
        model(vec![call("c")]),
    ];
    let expected = json!([
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
        says("I look."),
        calls("a"),
        calls("b"),
        {"type": "function_call_output", "call_id": "a", "output": [
            {"type": "input_text", "text": "x"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
            {"type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,AAAA"},
            {"type": "input_text", "text": "[data of type `audio/wav`, which this model cannot be sent]"},
        ]},
        {"type": "function_call_output", "call_id": "b", "output": "error: no"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "and this"}]},
        calls("c"),
    ]);
    assert_eq!(input(&contents), expected);
}

#[test]
fn openai_responses_reasoning_is_sent_back_in_its_place() {
    let item = |id: &str| json!({"type": "reasoning", "id": id, "encrypted_content": "x", "summary": []});
    let kept = |id: &str| signed(Part::thought(""), "openai-responses", &item(id).to_string());
    let phase = signed(Part::text(""), "openai-responses", r#"{"phase":"commentary"}"#);
    let contents = [model(vec![
        Part::thought("shown"),
        kept("r1"),
        Part::text("before"),
        phase,
        Part::text("after"),
        call("a"),
        kept("r2"),
        call("b"),
    ])];
    let mut after = says("after");
    after["phase"] = json!("commentary");
    assert_eq!(input(&contents), json!([item("r1"), says("before"), after, calls("a"), item("r2"), calls("b")]));
}

#[test]
fn openai_responses_foreign_thoughts_and_invalid_signatures_are_not_sent() {
    let contents = [model(vec![
        Part::thought("hm"),
        signed(Part::thought("hm"), "anthropic", r#"{"type":"reasoning"}"#),
        signed(Part::thought("hm"), "openai-responses", "no JSON"),
        signed(Part::text("a"), "gemini", "c2ln"),
    ])];
    assert_eq!(input(&contents), json!([says("a")]));
    assert_eq!(input(&[model(vec![Part::thought("hm")])]), json!([]));
}

#[test]
fn files_go_where_the_format_has_a_part_for_them() {
    let check = |mime_type: &str, uri: &str, expected: Value| {
        let file = FileReference { mime_type: mime_type.to_owned(), uri: uri.to_owned() };
        let contents = [Content { role: Role::User, parts: vec![PartData::FileReference(file).into()] }];
        assert_eq!(input(&contents)[0]["content"][0], expected);
    };
    check("image/png", "https://a/b", json!({"type": "input_image", "image_url": "https://a/b", "detail": "auto"}));
    check("application/pdf", "https://a/b", json!({"type": "input_file", "file_url": "https://a/b"}));
    check("image/png", "gs://a", json!({"type": "input_text", "text": "[file `gs://a` of type `image/png`]"}));
}

#[test]
fn a_whole_request_has_its_shape() {
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
        max_output_tokens: Some(100),
        thinking_budget: Some(1024),
        stop: vec!["END".to_owned()],
        ..Settings::default()
    };
    let check = |model: &str, dialect: Dialect, differs: Value| {
        let contents = [Content::user("hi")];
        let tools = [tool.clone()];
        let request = Request {
            model,
            system: Some("Be brief."),
            contents: &contents,
            tools: &tools,
            settings: &settings,
            conversation: None,
        };
        let mut whole = json!({
            "model": model,
            "instructions": "Be brief.",
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
            "tools": [{"type": "function", "name": "ls", "description": "Lists", "parameters": {"type": "object"}, "strict": false}],
            "stream": true,
            "store": false,
            "max_output_tokens": 100,
        });
        whole.as_object_mut().unwrap().extend(differs.as_object().unwrap().clone());
        assert_eq!(sent(&request, dialect), whole, "{model}");
    };
    let include = json!(["reasoning.encrypted_content"]);
    let reasoning = json!({"effort": "low", "summary": "auto"});
    check("gpt-5-mini", Dialect::OpenAi, json!({"include": include, "reasoning": reasoning}));
    check("gpt-4.1", Dialect::OpenAi, json!({"temperature": 0.5, "top_p": 0.25}));
    check("openai/gpt-5-chat-latest", Dialect::Compatible, json!({"temperature": 0.5, "top_p": 0.25}));
    let all = json!({"include": include, "reasoning": reasoning, "temperature": 0.5, "top_p": 0.25});
    check("gpt-oss-20b", Dialect::Compatible, all);
}

#[test]
fn a_thinking_budget_becomes_an_effort() {
    let check = |model: &str, budget: Option<i32>, expected: Value| {
        let settings = Settings { thinking_budget: budget, ..Settings::default() };
        let request =
            Request { model, system: None, contents: &[], tools: &[], settings: &settings, conversation: None };
        assert_eq!(sent(&request, Dialect::OpenAi)["reasoning"], expected, "{model} {budget:?}");
    };
    check("gpt-5", None, json!({"summary": "auto"}));
    check("gpt-5", Some(-1), json!({"summary": "auto"}));
    check("gpt-5", Some(1), json!({"effort": "low", "summary": "auto"}));
    check("gpt-5", Some(1025), json!({"effort": "medium", "summary": "auto"}));
    check("gpt-5", Some(8193), json!({"effort": "high", "summary": "auto"}));
    check("gpt-5-mini", Some(0), json!({"effort": "minimal"}));
    check("gpt-5.1", Some(0), json!({"effort": "none"}));
    check("o4-mini", Some(0), json!({"effort": "low"}));
    check("gpt-4o", Some(0), Value::Null);
}

#[test]
fn effort_is_sent_and_a_thinking_budget_wins() {
    let check = |effort, thinking_budget, expected: Value| {
        let settings = Settings { effort: Some(effort), thinking_budget, ..Settings::default() };
        let request = Request {
            model: "gpt-6.1-sol",
            system: None,
            contents: &[],
            tools: &[],
            settings: &settings,
            conversation: None,
        };
        assert_eq!(sent(&request, Dialect::OpenAi)["reasoning"], expected, "{effort} {thinking_budget:?}");
    };
    check(Effort::Max, None, json!({"effort": "max", "summary": "auto"}));
    check(Effort::None, None, json!({"effort": "none"}));
    check(Effort::Max, Some(1), json!({"effort": "low", "summary": "auto"}));
    check(Effort::Max, Some(-1), json!({"effort": "max", "summary": "auto"}));
}

#[test]
fn verbosity_is_part_of_the_text_and_absent_unless_chosen() {
    let check = |verbosity, expected: Value| {
        let settings = Settings { verbosity, ..Settings::default() };
        let model = "gpt-6.1-sol";
        let request =
            Request { model, system: None, contents: &[], tools: &[], settings: &settings, conversation: None };
        assert_eq!(sent(&request, Dialect::OpenAi).get("text"), Some(&expected).filter(|text| !text.is_null()));
    };
    check(Some(Verbosity::Low), json!({"verbosity": "low"}));
    check(Some(Verbosity::High), json!({"verbosity": "high"}));
    check(None, Value::Null);
}

#[test]
fn cache_is_kept_for_a_day_where_the_user_wants_it_and_the_service_can() {
    let kept = |dialect, long_cache| {
        let settings = Settings { long_cache, ..Settings::default() };
        let model = "gpt-6.1-sol";
        let request =
            Request { model, system: None, contents: &[], tools: &[], settings: &settings, conversation: None };
        sent(&request, dialect).get("prompt_cache_retention").cloned()
    };
    assert_eq!(kept(Dialect::OpenAi, true), Some(json!("24h")));
    assert_eq!((kept(Dialect::OpenAi, false), kept(Dialect::Compatible, true)), (None, None));
}

#[test]
fn conversation_has_a_key_for_the_cache_of_openais_own_service() {
    let key = |dialect, conversation| {
        let settings = Settings::default();
        let request = Request {
            model: "gpt-6.1-sol",
            system: None,
            contents: &[],
            tools: &[],
            settings: &settings,
            conversation,
        };
        sent(&request, dialect).get("prompt_cache_key").cloned()
    };
    assert_eq!(key(Dialect::OpenAi, Some("s1")), Some(json!("s1")));
    assert_eq!(key(Dialect::OpenAi, None), None);
    assert_eq!(key(Dialect::Compatible, Some("s1")), None);
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

fn function(name: &str) -> Value {
    let description = format!("Does {name}.");
    let mut function = json!({"type": "function", "name": name, "description": description, "strict": false});
    function["parameters"] = json!({"type": "object"});
    function
}

/// A conversation in which a search found tools of two servers, one of which was called, and another search found none.
fn searched() -> Vec<Content> {
    let call = |id: &str, name: &str| {
        let arguments = Map::from_iter([("query".to_owned(), json!("mail"))]);
        model(vec![PartData::FunctionCall(FunctionCall::new(CallId::new(id), ToolName::new(name), arguments)).into()])
    };
    let answer = |id: &str, name: &str, body: ResponseBody, found: &[&str]| {
        let mut response = FunctionResponse::new(CallId::new(id), ToolName::new(name), body);
        response.found = found.iter().map(|name| spec(name)).collect();
        Content { role: Role::User, parts: vec![PartData::FunctionResponse(response).into()] }
    };
    let output = |text: &str| ResponseBody::Output(text.to_owned());
    vec![
        Content::user("send a mail"),
        call("a", TOOL_SEARCH),
        answer("a", TOOL_SEARCH, output("Loaded"), &["mail__send", "ls", "web__get", "mail__list"]),
        call("b", "mail__send"),
        answer("b", "mail__send", output("sent"), &[]),
        call("c", TOOL_SEARCH),
        answer("c", TOOL_SEARCH, ResponseBody::Error("no tool fits".to_owned()), &[]),
    ]
}

#[test]
fn openai_responses_found_tools_come_with_the_result_of_the_search_and_nothing_before_moves() {
    let contents = searched();
    let tools = [spec("ls"), spec(TOOL_SEARCH)];
    let settings = Settings { deferred_tools: true, ..Settings::default() };
    let request = Request {
        model: "gpt-6.1-sol",
        system: None,
        contents: &contents,
        tools: &tools,
        settings: &settings,
        conversation: None,
    };
    let body = sent(&request, Dialect::OpenAi);
    let search = json!({"type": "tool_search", "execution": "client", "description": "Does tool_search.",
                        "parameters": {"type": "object"}});
    assert_eq!(body["tools"], json!([function("ls"), search]));
    let deferred = |name: &str| {
        let mut function = function(name);
        function["defer_loading"] = json!(true);
        function
    };
    let space = |name: &str, tools: Value| {
        let description = format!("Tools of `{name}`.");
        json!({"type": "namespace", "name": name, "description": description, "tools": tools})
    };
    let searches = |id: &str| {
        json!({"type": "tool_search_call", "call_id": id, "execution": "client", "status": "completed",
               "arguments": {"query": "mail"}})
    };
    let finds = |id: &str, tools: Value| {
        let mut item =
            json!({"type": "tool_search_output", "call_id": id, "execution": "client", "status": "completed"});
        item["tools"] = tools;
        item
    };
    let says =
        |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    let expected = json!([
        says("send a mail"),
        searches("a"),
        finds("a", json!([
            space("mail", json!([deferred("mail__send"), deferred("mail__list")])),
            space("web", json!([deferred("web__get")])),
        ])),
        {"type": "function_call", "call_id": "b", "name": "mail__send", "namespace": "mail",
         "arguments": "{\"query\":\"mail\"}"},
        {"type": "function_call_output", "call_id": "b", "output": "sent"},
        searches("c"),
        finds("c", json!([])),
        says("tool_search: no tool fits"),
    ]);
    assert_eq!(body["input"], expected);

    // Without a service that can, and without a declared search, which it requires, they are functions as all others.
    let plain = Settings::default();
    let without = [spec("ls")];
    for (request, search) in [
        (Request { settings: &plain, ..request }, Some(function(TOOL_SEARCH))),
        (Request { tools: &without, ..request }, None),
    ] {
        let body = sent(&request, Dialect::OpenAi);
        let found = ["mail__send", "web__get", "mail__list"].map(function);
        assert_eq!(body["tools"], Value::from_iter([function("ls")].into_iter().chain(search).chain(found)));
        let kinds: Vec<&str> =
            body["input"].as_array().unwrap().iter().filter_map(|item| item["type"].as_str()).collect();
        let pair = ["function_call", "function_call_output"];
        assert_eq!(kinds, [&["message"][..], &pair, &pair, &pair].concat());
        assert_eq!(body["input"][3].get("namespace"), None);
    }
}

fn patches() -> Settings {
    let grammar = Grammar::Lark("start: \"*** Begin\" /.+/".to_owned());
    let custom = CustomTool { name: ToolName::new("apply_patch"), argument: "patch".to_owned(), grammar };
    Settings { custom_tools: vec![custom], ..Settings::default() }
}

#[test]
fn openai_responses_custom_tool_has_its_grammar_and_its_calls_and_results_their_own_items() {
    let patch = |id: &str, argument: &str, value: Value| {
        let arguments = Map::from_iter([(argument.to_owned(), value)]);
        let call = FunctionCall::new(CallId::new(id), ToolName::new("apply_patch"), arguments);
        model(vec![PartData::FunctionCall(call).into()])
    };
    let answer = |id: &str, body: ResponseBody, beside: Option<Part>| {
        let response = FunctionResponse::new(CallId::new(id), ToolName::new("apply_patch"), body);
        let parts = [Some(PartData::FunctionResponse(response).into()), beside].into_iter().flatten().collect();
        Content { role: Role::User, parts }
    };
    let contents = [
        Content::user("patch it"),
        patch("a", "patch", json!("*** Begin\n\"x\"")),
        answer("a", ResponseBody::Output("done".to_owned()), None),
        // As another service's model called the function.
        patch("b", "diff", json!(1)),
        answer("b", ResponseBody::Error("no patch".to_owned()), Some(data("image/png"))),
        model(vec![call("c")]),
        Content { role: Role::User, parts: vec![response("c", ResponseBody::Output("x".to_owned()))] },
    ];
    let (tools, settings) = ([spec("ls"), spec("apply_patch")], patches());
    let request = Request {
        model: "gpt-6.1-sol",
        system: None,
        contents: &contents,
        tools: &tools,
        settings: &settings,
        conversation: None,
    };
    let body = sent(&request, Dialect::OpenAi);
    let format = json!({"type": "grammar", "syntax": "lark", "definition": "start: \"*** Begin\" /.+/"});
    let custom = json!({"type": "custom", "name": "apply_patch", "description": "Does apply_patch.", "format": format});
    assert_eq!(body["tools"], json!([function("ls"), custom]));
    let called = |id: &str, input: &str| json!({"type": "custom_tool_call", "call_id": id, "name": "apply_patch", "input": input});
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"});
    let expected = json!([
        called("a", "*** Begin\n\"x\""),
        {"type": "custom_tool_call_output", "call_id": "a", "output": "done"},
        called("b", "{\"diff\":1}"),
        {"type": "custom_tool_call_output", "call_id": "b", "output": [
            {"type": "input_text", "text": "error: no patch"}, image,
        ]},
        calls("c"),
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ]);
    assert_eq!(body["input"].as_array().map(|items| &items[1..]), expected.as_array().map(Vec::as_slice));
    // A model that takes none is declared the function, and gets its calls as those.
    let plain = Settings::default();
    let body = sent(&Request { settings: &plain, ..request }, Dialect::OpenAi);
    assert_eq!(body["tools"], json!([function("ls"), function("apply_patch")]));
    assert_eq!(
        (&body["input"][1]["type"], &body["input"][2]["type"]),
        (&json!("function_call"), &json!("function_call_output"))
    );
}
