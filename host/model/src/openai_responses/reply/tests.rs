//! Replies of the Responses API, read from events and over real connections.

use std::sync::Arc;

use host_message::ToolName;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::loopback::{Answer, End, Loopback, ask, text};
use crate::openai_responses::OpenAiResponses;
use crate::{Access, ErrorKind, Grammar, ModelError};

/// Returns the parts of the events, each as one line, and why the reply ended.
fn read(events: &[Value]) -> (Vec<String>, Option<FinishReason>) {
    let mut reply = Reply::default();
    let mut all = Vec::new();
    for event in events {
        match reply.event(event.to_string().as_bytes()) {
            Ok(Heard::More(chunk)) => {
                assert_eq!(chunk.finish, None, "{event}");
                all.extend(chunk.parts.iter().map(line));
            }
            Ok(Heard::Done(chunk)) => {
                all.extend(chunk.parts.iter().map(line));
                return (all, chunk.finish);
            }
            Err(_) => panic!("it is a good event: {event}"),
        }
    }
    assert_eq!(reply.end(), Err(ReplyFault::Unfinished));
    (all, None)
}

fn line(part: &Part) -> String {
    let what = match &part.data {
        host_message::PartData::Text(text) if part.thought => format!("thought {text:?}"),
        host_message::PartData::Text(text) => format!("text {text:?}"),
        host_message::PartData::FunctionCall(call) => {
            format!("call {} {} {}", call.id, call.name, Value::Object(call.arguments.clone()))
        }
        other => panic!("{other:?} is none of this format"),
    };
    match &part.signature {
        Some(signature) => {
            assert_eq!(signature.by, "openai-responses");
            format!("{what} signed {}", signature.data)
        }
        None => what,
    }
}

fn done(at: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": at, "item": item})
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": "ls", "arguments": arguments, "status": "completed"})
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "output": output}})
}

fn check(what: &str, events: &[Value], lines: &[&str], finish: Option<FinishReason>) {
    let (found, reason) = read(events);
    assert_eq!(found, lines, "{what}");
    assert_eq!(reason, finish, "{what}");
}

fn delta(kind: &str, at: u64, delta: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": at, "delta": delta})
}

#[test]
fn text_thoughts_and_refusals_are_handed_out_as_they_arrive() {
    let reasoning = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "b64", "status": null,
                           "summary": [{"type": "summary_text", "text": "**Plan** look"}]});
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "größe 😀"}]});
    check(
        "in the order of the items",
        &[
            json!({"type": "response.created", "response": {"id": "resp_1", "output": [], "usage": null, "error": null}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}}),
            json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
            delta("reasoning_summary_text", 0, "**Plan**"),
            json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1}),
            delta("reasoning_summary_text", 0, "look"),
            done(0, reasoning.clone()),
            json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "content": []}}),
            delta("output_text", 1, "größe "),
            delta("output_text", 1, "😀"),
            json!({"type": "response.output_text.done", "output_index": 1, "text": "größe 😀"}),
            done(1, message.clone()),
            completed(json!([reasoning, message])),
        ],
        &[
            "thought \"**Plan**\"",
            "thought \"\\n\\n\"",
            "thought \"look\"",
            "thought \"\" signed {\"id\":\"rs_1\",\"type\":\"reasoning\",\"encrypted_content\":\"b64\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"**Plan** look\"}]}",
            "text \"größe \"",
            "text \"😀\"",
        ],
        Some(FinishReason::Stop),
    );
    check(
        "a refusal is what it says",
        &[delta("refusal", 0, "I will not"), completed(json!([]))],
        &["text \"I will not\""],
        Some(FinishReason::Stop),
    );
    check("an open model's own thoughts", &[delta("reasoning_text", 0, "hm")], &["thought \"hm\""], None);
}

#[test]
fn openai_responses_content_that_was_not_streamed_is_taken_from_the_whole_item() {
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}]});
    let reasoning = json!({"type": "reasoning", "id": "r", "summary": [{"text": "hm"}], "content": [{"type": "reasoning_text", "text": "so"}]});
    let lines = [
        "thought \"hm\"",
        "thought \"so\"",
        "thought \"\" signed {\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[{\"text\":\"hm\"}],\"content\":[{\"type\":\"reasoning_text\",\"text\":\"so\"}]}",
        "text \"a\"",
        "text \"b\"",
        "call c ls {}",
    ];
    let items = [reasoning, message, call("c", "{}")];
    check("all at the end", &[completed(json!(items))], &lines, Some(FinishReason::Stop));
    let [reasoning, message, call] = items.clone();
    let events = [done(0, reasoning), done(1, message), done(2, call), completed(json!(items))];
    check("each when it was whole", &events, &lines, Some(FinishReason::Stop));
}

#[test]
fn calls_keep_their_place_among_what_the_model_thought() {
    let thought = |id: &str| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "x"});
    let kept = |id: &str| {
        format!(
            "thought \"\" signed {{\"type\":\"reasoning\",\"id\":\"{id}\",\"summary\":[],\"encrypted_content\":\"x\"}}"
        )
    };
    let events = [
        done(0, thought("r1")),
        done(1, call("a", "{\"path\":\".\"}")),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{"}),
        json!({"type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{}"}),
        done(2, call("b", "{}")),
        done(3, thought("r2")),
        done(4, call("c", "")),
        completed(json!([])),
    ];
    let (r1, r2) = (kept("r1"), kept("r2"));
    let lines = [&r1, "call a ls {\"path\":\".\"}", "call b ls {}", &r2, "call c ls {}"];
    check("thoughts between calls", &events, &lines, Some(FinishReason::Stop));
    assert_eq!(read(&events[..7]).0, [r1], "no call is handed out before the reply is whole");
}

#[test]
fn openai_responses_call_is_told_in_pieces_while_it_is_written() {
    let begun = json!({"type": "function_call", "id": "fc_1", "call_id": "a", "name": "edit", "arguments": ""});
    let delta =
        |delta: &str| json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": delta});
    let events = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": begun}),
        delta("{\"path\":"),
        delta("\"a\"}"),
    ];
    let mut reply = Reply::default();
    let told = events.iter().flat_map(|event| match reply.event(event.to_string().as_bytes()) {
        Ok(Heard::More(chunk)) => chunk.forming,
        Ok(Heard::Done(_)) | Err(_) => panic!("it is not the end: {event}"),
    });
    let told: Vec<String> = told.map(|piece| format!("{}|{}", piece.name, piece.json)).collect();
    assert_eq!(told, ["edit|", "|{\"path\":", "|\"a\"}"]);
}

#[test]
fn openai_responses_one_unreadable_call_discards_the_others() {
    let incomplete =
        json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}});
    let cut = done(1, call("b", "{\"pa"));
    let check_calls = |last: Value, reason: FinishReason| {
        check("cut", &[done(0, call("a", "{}")), cut.clone(), last], &[], Some(reason))
    };
    check_calls(completed(json!([])), FinishReason::MalformedFunctionCall);
    check_calls(incomplete, FinishReason::MaxTokens);
    let nameless = done(0, json!({"type": "function_call", "call_id": "a", "arguments": "{}"}));
    check("no name", &[nameless, completed(json!([]))], &[], Some(FinishReason::MalformedFunctionCall));
}

#[test]
fn a_reply_cannot_hold_more_calls_than_the_limit() {
    let mut events: Vec<_> = (0..=MAX_CALLS as u64).map(|at| done(at, call(&at.to_string(), "{}"))).collect();
    events.push(completed(json!([])));
    check("one too many", &events, &[], Some(FinishReason::MalformedFunctionCall));
    events.remove(0);
    assert_eq!(read(&events).0.len(), MAX_CALLS);
}

#[test]
fn a_thought_with_nothing_in_it_is_not_kept() {
    let events = [
        done(0, json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": null})),
        completed(json!([])),
    ];
    check("it would be looked for at the service", &events, &[], Some(FinishReason::Stop));
}

#[test]
fn a_messages_phase_is_kept_with_it() {
    let begun = json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "phase": "commentary"}});
    check(
        "it comes first",
        &[begun, delta("output_text", 0, "I look.")],
        &["text \"\" signed {\"phase\":\"commentary\"}", "text \"I look.\""],
        None,
    );
}

#[test]
fn the_reason_to_stop_is_read() {
    let check = |details: Value, expected: FinishReason| {
        let event = json!({"type": "response.incomplete", "response": {"incomplete_details": details}});
        assert_eq!(read(&[event]).1, Some(expected));
    };
    check(json!({"reason": "max_output_tokens"}), FinishReason::MaxTokens);
    check(json!({"reason": "content_filter"}), FinishReason::Safety);
    check(json!({"reason": "cosmic\u{1b} rays"}), FinishReason::Other("cosmic\\u{1b} rays".to_owned()));
    check(json!(null), FinishReason::Other("incomplete".to_owned()));
}

#[test]
fn usage_and_citations_are_read() {
    let annotation = json!({"type": "url_citation", "url": "https://a", "title": "A"});
    let mut reply = Reply::default();
    let mut heard = |event: Value| match reply.event(event.to_string().as_bytes()) {
        Ok(Heard::More(chunk) | Heard::Done(chunk)) => chunk,
        Err(_) => panic!("it is a good event: {event}"),
    };
    let added = heard(json!({"type": "response.output_text.annotation.added", "annotation": annotation}));
    assert_eq!(added.citations, ["https://a"]);
    let item = json!({"type": "message", "content": [{"type": "output_text", "text": "", "annotations": [annotation, {"type": "file_citation"}, {"url": "https://b"}]}]});
    assert_eq!(heard(done(0, item)).citations, ["https://b"], "the first was told already");
    let usage = json!({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 8,
                       "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 18});
    let last = heard(json!({"type": "response.completed", "response": {"usage": usage}}));
    assert_eq!(last.usage, Some(Usage { input: 10, output: 3, cached: 4, thought: 5, ..Usage::default() }));
}

async fn reply(answer: Answer) -> (Vec<Chunk>, Option<ModelError>) {
    let service = Loopback::start(answer).await;
    ask(Arc::new(OpenAiResponses::new(service.access()).unwrap())).await
}

/// Formats events as the service sends them, each with its name before it.
fn stream(events: &[Value]) -> String {
    let named = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message"));
    events.iter().map(named).collect()
}

#[tokio::test]
async fn a_reply_cut_into_single_bytes_arrives_whole() {
    let body = stream(&[
        delta("output_text", 0, "größe "),
        delta("output_text", 0, "😀"),
        done(1, call("a", "{}")),
        completed(json!([])),
    ]);
    let (chunks, error) = reply(Answer::events(body.as_bytes().chunks(1), End::Whole)).await;
    assert_eq!(error, None);
    assert_eq!(text(&chunks), "größe 😀");
    assert_eq!(chunks.last().unwrap().parts.iter().map(line).collect::<Vec<_>>(), ["call a ls {}"]);
}

#[tokio::test]
async fn the_request_goes_to_its_address_with_the_key_in_its_header() {
    let service = Loopback::start(Answer::events([stream(&[completed(json!([]))]).as_bytes()], End::Whole)).await;
    let access = Access { address: Some(format!("{}/v1", service.address)), ..service.access() };
    let (_, error) = ask(Arc::new(OpenAiResponses::new(access).unwrap())).await;
    assert_eq!(error, None);
    let request = service.request.await.unwrap();
    assert!(request.starts_with("POST /v1/responses HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer secret-key-1234\r\n"), "{request}");
}

// promise model.stream
#[tokio::test]
async fn a_reply_that_broke_off_is_an_error() {
    let begun = stream(&[delta("output_text", 0, "a"), done(1, call("a", "{}"))]);
    for ending in ["", "data: [DONE]\n\n", "data: {\"type\": \"response.compl"] {
        let body = format!("{begun}{ending}");
        let (chunks, error) = reply(Answer::events([body.as_bytes()], End::Whole)).await;
        assert_eq!(text(&chunks), "a");
        let unfinished = matches!(&error, Some(ModelError::Reply { fault: ReplyFault::Unfinished, .. }));
        assert!(unfinished && chunks.len() == 1, "{ending}: {error:?}");
    }
    let (_, error) = reply(Answer::events([begun.as_bytes()], End::Cut)).await;
    assert!(matches!(error, Some(ModelError::Interrupted { .. })), "{error:?}");
}

#[tokio::test]
async fn an_error_within_the_reply_ends_it() {
    let check = async |event: Value, kind: ErrorKind, says: &str| {
        let body = stream(&[delta("output_text", 0, "a"), event]);
        let (chunks, error) = reply(Answer::events([body.as_bytes()], End::Whole)).await;
        let error = error.expect("the service reported one");
        assert_eq!((text(&chunks).as_str(), error.kind()), ("a", kind), "{error:?}");
        assert!(error.to_string().contains(says), "{error}");
    };
    let failed = |error: Value| json!({"type": "response.failed", "response": {"status": "failed", "error": error}});
    check(failed(json!({"code": "rate_limit_exceeded", "message": "slow down"})), ErrorKind::Quota, "slow down").await;
    check(failed(json!({"code": "server_error", "message": "oh"})), ErrorKind::Server, "oh").await;
    check(failed(json!({"code": "invalid_prompt", "message": "flagged"})), ErrorKind::Safety, "flagged").await;
    check(failed(Value::Null), ErrorKind::Server, "reported an error").await;
    check(
        json!({"type": "error", "code": "insufficient_quota", "message": "pay", "param": null}),
        ErrorKind::Quota,
        "pay",
    )
    .await;
    let within = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}});
    check(within, ErrorKind::Input, "too long").await;
    check(json!({"error": {"message": "out of memory", "code": 500}}), ErrorKind::Server, "out of memory").await;
}

#[tokio::test]
async fn openai_responses_authentication_error_names_the_variable_to_set() {
    let body = r#"{"error":{"message":"Incorrect API key provided: secret-key-1234","code":"invalid_api_key"}}"#;
    let (_, error) = reply(Answer::refusal("401 Unauthorized", "", body)).await;
    let error = error.expect("it was refused");
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert!(error.help().unwrap().contains("OPENAI_API_KEY"));
    assert!(!format!("{error:?} {error}").contains("secret-key-1234"), "{error:?}");
}

proptest! {
    #[test]
    fn openai_responses_garbled_event_is_harmless(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut event = completed(json!([call("a", "{}"), {"type": "message", "content": [{"text": "b"}]}])).to_string().into_bytes();
        let at = at.index(event.len());
        event[at] = byte;
        if cut {
            event.truncate(at);
        }
        let heard = Reply::default().event(&event).is_ok();
        prop_assert!(!(cut && heard), "half an event is none");
    }
}

/// Events as the service's documentation has them, but for the ids.
fn search_events(execution: &str) -> Vec<Value> {
    let item = |status: &str, arguments: Value| {
        json!({"id": "tsc_1", "type": "tool_search_call", "status": status, "execution": execution, "call_id": "call_1",
               "arguments": arguments})
    };
    let whole = item("completed", json!({"query": "send a mail", "max_results": 3}));
    vec![
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", json!({}))}),
        done(0, whole.clone()),
        json!({"type": "response.completed", "response": {"status": "completed", "output": [whole]}}),
    ]
}

#[test]
fn openai_responses_search_for_tools_is_a_call_of_it_unless_the_service_runs_it() {
    let line = r#"call call_1 tool_search {"query":"send a mail","max_results":3}"#;
    check("here", &search_events("client"), &[line], Some(FinishReason::Stop));
    check("at the service", &search_events("server"), &[], Some(FinishReason::Stop));
    let mut reply = Reply::default();
    let Ok(Heard::More(chunk)) = reply.event(search_events("client")[0].to_string().as_bytes()) else {
        panic!("it is a good event")
    };
    assert_eq!(chunk.forming, [CallPiece { name: TOOL_SEARCH.to_owned(), json: String::new() }]);
    // A tool of a namespace is called by its own name.
    let item =
        json!({"type": "function_call", "call_id": "a", "name": "mail__send", "namespace": "mail", "arguments": "{}"});
    check("found", &[done(0, item), completed(json!([]))], &["call a mail__send {}"], Some(FinishReason::Stop));
}

#[test]
fn openai_responses_custom_tool_call_is_a_call_with_one_text_and_is_shown_as_it_is_written() {
    // As the service's documentation has the events of a custom tool, but for the ids.
    let item = |status: &str, input: &str| {
        json!({"id": "ctc_1", "type": "custom_tool_call", "status": status, "call_id": "call_1", "name": "apply_patch",
               "input": input})
    };
    let input = "*** Begin \"größe\"\n\\+1";
    let piece = |kind: &str, key: &str, value: &str| json!({"type": format!("response.custom_tool_call_input.{kind}"), "item_id": "ctc_1", "output_index": 0, key: value});
    let events = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", "")}),
        piece("delta", "delta", "*** Begin \"grö"),
        piece("delta", "delta", "ße\"\n\\+1"),
        piece("done", "input", input),
        done(0, item("completed", input)),
        completed(json!([item("completed", input)])),
    ];
    let read_by = |custom: &[CustomTool]| {
        let mut reply = Reply::new(custom);
        let (mut written, mut parts) = (String::new(), Vec::new());
        for event in &events {
            let (Ok(Heard::More(chunk)) | Ok(Heard::Done(chunk))) = reply.event(event.to_string().as_bytes()) else {
                panic!("it is a good event: {event}")
            };
            assert!(chunk.forming.iter().all(|piece| ["", "apply_patch"].contains(&piece.name.as_str())));
            written.extend(chunk.forming.into_iter().map(|piece| piece.json));
            parts.extend(chunk.parts.iter().map(line));
        }
        (serde_json::from_str::<Value>(&written).expect("the pieces are one JSON text"), parts)
    };
    let grammar = Grammar::Regex(".+".to_owned());
    let custom = CustomTool { name: ToolName::new("apply_patch"), argument: "patch".to_owned(), grammar };
    let call = |arguments: &Value| format!("call call_1 apply_patch {arguments}");
    let arguments = json!({"patch": input});
    assert_eq!(read_by(&[custom]), (arguments.clone(), vec![call(&arguments)]));
    // Nobody declared it: its call fails as that of an unknown tool.
    let arguments = json!({"input": input});
    assert_eq!(read_by(&[]), (arguments.clone(), vec![call(&arguments)]));
}
