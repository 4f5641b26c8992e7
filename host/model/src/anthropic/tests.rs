//! Replies of Anthropic's Messages API, read from bytes and over real connections.

use std::sync::Arc;

use futures::StreamExt;
use host_message::Content;
use proptest::prelude::*;

use super::*;
use crate::loopback::{Answer, End, Loopback, ask, text};
use crate::{ErrorKind, ModelEvent, Settings};

/// Reads the events, and returns their chunks with those of the end.
fn read(events: &[&str]) -> Result<Vec<Chunk>, ReplyFault> {
    let mut reply = Reply::default();
    let mut chunks = Vec::new();
    for event in events {
        match reply.event(event.as_bytes()) {
            Ok(Heard::More(chunk)) => chunks.push(chunk),
            Ok(Heard::Done(chunk)) => {
                chunks.push(chunk);
                return Ok(chunks);
            }
            Err(_) => panic!("it is a good event: {event}"),
        }
    }
    chunks.push(reply.end()?);
    Ok(chunks)
}

/// Returns all parts of a reply, each in a word or two.
fn parts(events: &[&str]) -> Vec<String> {
    let chunks = read(events).expect("it is whole");
    let shown = chunks.into_iter().flat_map(|chunk| chunk.parts).map(|part| match (&part.data, &part.signature) {
        (PartData::FunctionCall(call), _) => {
            format!("{} {} {}", call.id, call.name, Value::Object(call.arguments.clone()))
        }
        (PartData::Text(text), Some(signature)) => format!("{text}|{} {}", signature.by, signature.data),
        (PartData::Text(text), None) if part.thought => format!("({text})"),
        (PartData::Text(text), None) => text.clone(),
        (other, _) => panic!("{other:?}"),
    });
    shown.collect()
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":1}}}"#;
const TEXT: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const STOP: &str = r#"{"type":"content_block_stop","index":0}"#;
const END: &str = r#"{"type":"message_stop"}"#;

fn delta(delta: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#)
}

fn said(text: &str) -> String {
    delta(&format!(r#"{{"type":"text_delta","text":"{text}"}}"#))
}

fn input(json: &str) -> String {
    let json = serde_json::to_string(json).expect("text");
    delta(&format!(r#"{{"type":"input_json_delta","partial_json":{json}}}"#))
}

fn calling(id: &str, name: &str) -> String {
    format!(
        r#"{{"type":"content_block_start","index":1,"content_block":{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}}}"#
    )
}

fn finishing(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":15}}}}"#
    )
}

#[test]
fn blocks_become_parts() {
    let check = |events: &[&str], expected: &[&str]| {
        let tail = [finishing("end_turn"), END.to_owned()];
        let all: Vec<&str> = events.iter().copied().chain(tail.iter().map(String::as_str)).collect();
        assert_eq!(parts(&all), expected, "{events:?}");
    };
    check(&[START, TEXT, r#"{"type":"ping"}"#, &said("größe "), &said("😀"), STOP], &["größe ", "😀"]);
    check(&[r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#, STOP], &["a"]);
    check(&[r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use"}}"#, STOP], &[]);
    check(&[r#"{"type":"something_new"}"#, "{}"], &[]);
    let thinking =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#;
    let signed = delta(r#"{"type":"signature_delta","signature":"c2ln"}"#);
    check(
        &[
            thinking,
            &delta(r#"{"type":"thinking_delta","thinking":"Let "}"#),
            &delta(r#"{"type":"thinking_delta","thinking":"me"}"#),
            &signed,
            STOP,
        ],
        &["(Let )", "(me)", r#"|anthropic {"type":"thinking","thinking":"Let me","signature":"c2ln"}"#],
    );
    check(&[thinking, &signed, STOP], &[r#"|anthropic {"type":"thinking","thinking":"","signature":"c2ln"}"#]);
    check(&[thinking, &delta(r#"{"type":"thinking_delta","thinking":"hm"}"#), STOP], &["(hm)"]);
    check(
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"RW5j"}}"#,
            STOP,
        ],
        &[r#"|anthropic {"type":"redacted_thinking","data":"RW5j"}"#],
    );
}

#[test]
fn calls_come_whole_and_in_their_place() {
    let thinking = r#"{"type":"content_block_start","index":2,"content_block":{"type":"thinking","thinking":"hm"}}"#;
    let events = [
        TEXT.to_owned(),
        said("I look."),
        STOP.to_owned(),
        calling("toolu_1", "ls"),
        input(""),
        input(r#"{"path":"#),
        input(r#""."}"#),
        STOP.to_owned(),
        thinking.to_owned(),
        delta(r#"{"type":"signature_delta","signature":"c2ln"}"#),
        STOP.to_owned(),
        calling("toolu_2", "ls"),
        STOP.to_owned(),
        finishing("tool_use"),
        END.to_owned(),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let expected = [
        "I look.",
        r#"toolu_1 ls {"path":"."}"#,
        "(hm)",
        r#"|anthropic {"type":"thinking","thinking":"hm","signature":"c2ln"}"#,
        "toolu_2 ls {}",
    ];
    assert_eq!(parts(&events), expected);
    let chunks = read(&events).expect("it is whole");
    let finishing = chunks.iter().position(|chunk| chunk.finish.is_some()).expect("it says why it ended");
    let calls = |chunk: &Chunk| chunk.parts.iter().any(|part| matches!(part.data, PartData::FunctionCall(_)));
    assert!(chunks.iter().enumerate().all(|(at, chunk)| !calls(chunk) || at == finishing), "not before the end");
    let whole =
        r#"{"type":"content_block_start","content_block":{"type":"tool_use","id":"a","name":"ls","input":{"p":1}}}"#;
    assert_eq!(parts(&[whole, END]), [r#"a ls {"p":1}"#], "a server that sends the input at once");
}

#[test]
fn anthropic_call_is_told_in_pieces_while_it_is_written() {
    let events = [calling("a", "edit"), input(r#"{"path":"#), input(r#""a"}"#), STOP.to_owned(), finishing("tool_use")];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let told = read(&[&events[..], &[END]].concat()).expect("it is whole").into_iter().flat_map(|chunk| chunk.forming);
    let told: Vec<String> = told.map(|piece| format!("{}|{}", piece.name, piece.json)).collect();
    assert_eq!(told, ["edit|", r#"|{"path":"#, r#"|"a"}"#]);
}

#[test]
fn anthropic_one_unreadable_call_discards_the_others() {
    let check = |broken: &[String], reason: &str, expected: FinishReason| {
        let mut events = vec![calling("a", "ls"), STOP.to_owned(), said("hm")];
        events.extend_from_slice(broken);
        events.push(finishing(reason));
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        assert_eq!(parts(&events), ["hm"], "{broken:?}");
        let chunks = read(&events).expect("it is whole");
        assert_eq!(chunks.into_iter().find_map(|chunk| chunk.finish), Some(expected), "{broken:?} {reason}");
    };
    let cut = [calling("b", "ls"), input(r#"{"path":"#)];
    check(&cut, "tool_use", FinishReason::MalformedFunctionCall);
    check(&cut, "max_tokens", FinishReason::MaxTokens);
    check(&[calling("b", "")], "tool_use", FinishReason::MalformedFunctionCall);
    check(&[calling("b", "ls"), input("[1]")], "end_turn", FinishReason::MalformedFunctionCall);
    check(&[], "refusal", FinishReason::Safety);
}

// promise model.stream
#[test]
fn a_message_cannot_hold_calls_without_end() {
    let begun = calling("a", "ls");
    let mut events = vec![begun.as_str(); MAX_CALLS + 1];
    let last = finishing("tool_use");
    events.push(&last);
    let chunks = read(&events).expect("it is whole");
    assert_eq!(chunks[MAX_CALLS + 1].finish, Some(FinishReason::MalformedFunctionCall));
    assert!(chunks.iter().all(|chunk| chunk.parts.is_empty()));
}

#[test]
fn the_reason_to_stop_is_read() {
    let check = |reason: &str, expected: FinishReason| {
        assert_eq!(read(&[&finishing(reason)]).expect("it is whole")[0].finish, Some(expected));
    };
    check("end_turn", FinishReason::Stop);
    check("tool_use", FinishReason::Stop);
    check("stop_sequence", FinishReason::Stop);
    check("max_tokens", FinishReason::MaxTokens);
    check("model_context_window_exceeded", FinishReason::MaxTokens);
    check("refusal", FinishReason::Safety);
    check("pause_turn", FinishReason::Other("pause_turn".to_owned()));
}

#[test]
fn usage_and_citations_are_read() {
    let cited = delta(
        r#"{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://a","title":"A"}}"#,
    );
    let counted = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":10,"output_tokens":15,"output_tokens_details":{"thinking_tokens":5}}}"#;
    let chunks = read(&[START, TEXT, &cited, counted]).expect("it is whole");
    assert_eq!(chunks[0].usage, Some(Usage { input: 1110, output: 1, cached: 1000, thought: 0, cache_write: 100 }));
    assert_eq!(chunks[2].citations, ["https://a"]);
    assert_eq!(chunks[3].usage, Some(Usage { input: 1110, output: 10, cached: 1000, thought: 5, cache_write: 100 }));
}

/// Formats events as the service sends them, with their names.
fn wire(events: &[&str]) -> String {
    events.iter().map(|event| format!("event: x\ndata: {event}\n\n")).collect()
}

async fn reply(answer: Answer) -> (Vec<Chunk>, Option<ModelError>) {
    let service = Loopback::start(answer).await;
    ask(Arc::new(Anthropic::new(service.access()).expect("it has a key"))).await
}

#[tokio::test]
async fn a_reply_cut_into_single_bytes_arrives_whole() {
    let (first, second) = (said("größe "), said("😀"));
    let (call, json) = (calling("a", "ls"), input("{}"));
    let last = finishing("tool_use");
    let body = wire(&[START, TEXT, &first, &second, STOP, &call, &json, STOP, &last, END]);
    let (chunks, error) = reply(Answer::events(body.as_bytes().chunks(1), End::Whole)).await;
    assert_eq!(error, None);
    assert_eq!(text(&chunks), "größe 😀");
    let last = chunks.last().expect("there are some");
    assert_eq!((last.parts.len(), last.finish.clone()), (1, Some(FinishReason::Stop)));
}

#[tokio::test]
async fn the_key_and_the_version_go_into_their_headers() {
    let body = wire(&[&finishing("end_turn"), END]);
    let service = Loopback::start(Answer::events([body.as_bytes()], End::Whole)).await;
    let access = Access { address: Some(format!("{}/proxy/", service.address)), ..service.access() };
    let (_, error) = ask(Arc::new(Anthropic::new(access).expect("it has a key"))).await;
    assert_eq!(error, None);
    let request = service.request.await.expect("it was sent");
    assert!(request.starts_with("POST /proxy/v1/messages HTTP/1.1\r\n"), "{request}");
    for header in ["x-api-key: secret-key-1234", "anthropic-version: 2023-06-01", "accept: text/event-stream"] {
        assert!(request.contains(&format!("{header}\r\n")), "{header} in {request}");
    }
}

#[tokio::test]
async fn a_configured_version_replaces_the_usual_one() {
    let service = Loopback::start(Answer::events([&b""[..]], End::Whole)).await;
    let headers = vec![("Anthropic-Version".to_owned(), ApiKey::new("2099-01-01").expect("it has letters"))];
    let access = Access { headers, ..service.access() };
    ask(Arc::new(Anthropic::new(access).expect("it has a key"))).await;
    let request = service.request.await.expect("it was sent");
    assert!(request.contains("anthropic-version: 2099-01-01\r\n") && !request.contains("2023"), "{request}");
}

// promise model.stream
#[tokio::test]
async fn a_reply_that_broke_off_is_an_error() {
    let hm = said("hm");
    let check = async |events: &[&str], tail: &str, end: End| {
        let body = wire(events) + tail;
        let (chunks, error) = reply(Answer::events([body.as_bytes()], end)).await;
        assert_eq!(text(&chunks), "hm");
        error.expect("the reply is not whole")
    };
    let unfinished = |error: &ModelError| matches!(error, ModelError::Reply { fault: ReplyFault::Unfinished, .. });
    let error = check(&[START, &hm], "", End::Whole).await;
    assert!(unfinished(&error), "{error:?}");
    let error = check(&[START, &hm], "data: {\"type\":\"mess", End::Whole).await;
    assert!(unfinished(&error), "{error:?}");
    let error = check(&[START, &hm], "", End::Cut).await;
    assert!(matches!(error, ModelError::Interrupted { .. }), "{error:?}");
    let error = check(&[&hm], "data: rubbish\n\n", End::Whole).await;
    assert!(matches!(error, ModelError::Reply { fault: ReplyFault::NotJson { .. }, .. }), "{error:?}");
}

#[tokio::test]
async fn an_error_within_the_reply_ends_it() {
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let (chunks, error) = reply(Answer::events([wire(&[START, &said("a"), overloaded]).as_bytes()], End::Whole)).await;
    let error = error.expect("the service reported one");
    assert_eq!((text(&chunks).as_str(), error.kind(), error.status()), ("a", ErrorKind::Server, Some(529)));
    assert!(error.to_string().contains("Overloaded"), "{error}");
}

#[tokio::test]
async fn a_refusal_gives_kind_and_words_and_never_the_key() {
    let check = async |status, kind: ErrorKind, word: &str| {
        let body = format!(
            r#"{{"type":"error","error":{{"type":"{word}","message":"no: secret-key-1234"}},"request_id":"req_1"}}"#
        );
        let (_, error) = reply(Answer::refusal(status, "", &body)).await;
        let error = error.expect("it was refused");
        assert_eq!(error.kind(), kind, "{status}");
        assert!(error.to_string().ends_with(": no: (key)"), "{error}");
        error
    };
    let error = check("401 x", ErrorKind::Authentication, "authentication_error").await;
    assert!(error.help().expect("there is help").contains("ANTHROPIC_API_KEY"));
    check("400 x", ErrorKind::Input, "invalid_request_error").await;
    check("404 x", ErrorKind::Configuration, "not_found_error").await;
    check("413 x", ErrorKind::Input, "request_too_large").await;
    check("429 x", ErrorKind::Quota, "rate_limit_error").await;
    check("529 x", ErrorKind::Server, "overloaded_error").await;
}

#[tokio::test]
async fn a_request_that_is_dropped_closes_the_connection() {
    let service = Loopback::start(Answer::events([wire(&[&said("a")]).as_bytes()], End::Open)).await;
    let provider = Anthropic::new(service.access()).expect("it has a key");
    let settings = Settings::default();
    let request =
        Request { model: "m", system: None, contents: &[], tools: &[], settings: &settings, conversation: None };
    let mut stream = provider.stream(request);
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Chunk(_)))));
    drop(stream);
    service.closed.await.expect("the service saw the connection close");
}

/// Counts tokens with this answer of the service.
async fn count(answer: Answer) -> (Result<Option<u64>, ModelError>, String) {
    let service = Loopback::start(answer).await;
    let provider = Anthropic::new(service.access()).expect("it has a key");
    let settings = Settings { temperature: Some(0.5), stop: vec!["x".to_owned()], ..Settings::default() };
    let contents = [Content::user("hi")];
    let request = Request {
        model: "m",
        system: Some("s"),
        contents: &contents,
        tools: &[],
        settings: &settings,
        conversation: None,
    };
    let counted = provider.count_tokens(request).await;
    (counted, service.request.await.expect("it was sent"))
}

#[tokio::test]
async fn tokens_are_counted_by_the_service() {
    let json = "content-type: application/json\r\n";
    let answer = |body: &str, end: End| Answer { status: "200 OK", end, ..Answer::refusal("", json, body) };
    let (counted, request) = count(answer(r#"{"input_tokens": 42}"#, End::Whole)).await;
    assert_eq!(counted, Ok(Some(42)));
    assert!(request.starts_with("POST /v1/messages/count_tokens "), "{request}");
    for absent in ["max_tokens", "temperature", "stream", "stop_sequences"] {
        assert!(!request.contains(&format!("\"{absent}\"")), "{absent} in {request}");
    }
    let (counted, _) = count(answer("rubbish", End::Whole)).await;
    let error = counted.expect_err("it is no count");
    assert!(matches!(error, ModelError::Reply { fault: ReplyFault::NotJson { .. }, .. }), "{error:?}");
    let (counted, _) = count(answer(r#"{"input_tok"#, End::Cut)).await;
    let error = counted.expect_err("it was cut");
    assert!(matches!(error, ModelError::Interrupted { .. }), "{error:?}");
    let (counted, _) = count(Answer::refusal("404 x", "", "{}")).await;
    assert_eq!(counted.expect_err("it was refused").kind(), ErrorKind::Configuration);
}

#[test]
fn anthropic_key_is_required_only_at_the_services_own_address() {
    let error = Anthropic::new(Access::default()).err().expect("there is no key");
    assert!(error.help().expect("there is help").contains("ANTHROPIC_API_KEY"));
    let access = Access { address: Some("http://127.0.0.1:1".to_owned()), ..Access::default() };
    assert_eq!(Anthropic::new(access).expect("it may have none").name(), "anthropic");
}

proptest! {
    #[test]
    fn anthropic_garbled_event_is_harmless(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut event = calling("a", "ls").into_bytes();
        let at = at.index(event.len());
        event[at] = byte;
        if cut {
            event.truncate(at);
        }
        let mut reply = Reply::default();
        let heard = reply.event(&event).is_ok();
        prop_assert!(!(cut && heard), "half an event is none");
        prop_assert!(reply.rest().parts.len() <= 1);
    }

    #[test]
    fn events_in_any_order_are_no_trouble(order in prop::collection::vec(0..9_usize, 0..20)) {
        let events = [
            START.to_owned(), TEXT.to_owned(), said("a"), STOP.to_owned(), calling("a", "ls"), input("{}"),
            delta(r#"{"type":"signature_delta","signature":"c2ln"}"#), finishing("tool_use"),
            r#"{"type":"content_block_start","content_block":{"type":"thinking"}}"#.to_owned(),
        ];
        let events: Vec<&str> = order.iter().map(|at| events[*at].as_str()).collect();
        let calls = order.iter().filter(|at| **at == 4).count();
        if let Ok(chunks) = read(&events) {
            let read = chunks.iter().flat_map(|chunk| &chunk.parts);
            prop_assert!(read.filter(|part| matches!(part.data, PartData::FunctionCall(_))).count() <= calls);
        }
    }
}
