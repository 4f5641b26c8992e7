//! Replies of the Gemini API, read from bytes and over real connections.

use std::sync::Arc;

use host_message::{
    CallId, Content, FinishReason, FunctionCall, InlineData, Part, PartData, Signature, ToolName, Usage,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::loopback::{Answer, End, Loopback, Series, ask, text};
use crate::transport::{Heard, Reader};
use crate::{Chunk, ErrorKind, Login, ReplyFault, Settings};

/// Returns the chunk of one event.
fn heard(event: &str) -> Chunk {
    match Reply::new(NAME).event(event.as_bytes()) {
        Ok(Heard::More(chunk)) => chunk,
        Ok(Heard::Done(_)) => panic!("this format has no last event"),
        Err(_) => panic!("it is a good event: {event}"),
    }
}

fn signed() -> Option<Signature> {
    Some(Signature { by: "gemini".into(), data: "c2ln".into() })
}

#[test]
fn every_part_is_read() {
    let check = |part: &str, expected: &[Part]| {
        let event = format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{part}]}},"index":0}}]}}"#);
        assert_eq!(heard(&event).parts, expected, "{part}");
    };
    let call = |id: &str, arguments: Map<String, Value>| {
        Part::from(PartData::FunctionCall(FunctionCall::new(CallId::new(id), ToolName::new("ls"), arguments)))
    };
    check(r#"{"text":"a\n\"b\" ü"}"#, &[Part::text("a\n\"b\" ü")]);
    check(r#"{"text":"hm","thought":true}"#, &[Part::thought("hm")]);
    check(r#"{"text":""}"#, &[]);
    check(r#"{"text":"","thoughtSignature":"c2ln"}"#, &[Part { signature: signed(), ..Part::text("") }]);
    check(r#"{"functionCall":{"name":"ls"}}"#, &[call("", Map::new())]);
    check(
        r#"{"functionCall":{"id":"c1","name":"ls","args":{"path":"."}},"thoughtSignature":"c2ln"}"#,
        &[Part { signature: signed(), ..call("c1", Map::from_iter([("path".to_owned(), Value::from("."))])) }],
    );
    check(
        r#"{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"name":"ls","args":{}}}"#,
        &[call("", Map::new()), call("", Map::new())],
    );
    check(
        r#"{"inlineData":{"mimeType":"image/png","data":"AAAA"}}"#,
        &[PartData::InlineData(InlineData { mime_type: "image/png".into(), base64: "AAAA".into() }).into()],
    );
    check(r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#, &[]);
}

#[test]
fn an_event_may_lack_anything() {
    for event in ["{}", r#"{"candidates":[]}"#, r#"{"candidates":[{}]}"#, r#"{"candidates":[{"content":{}}]}"#] {
        assert!(heard(event).is_empty(), "{event}");
    }
}

#[test]
fn the_reason_to_stop_is_read() {
    let check = |reason: &str, expected: FinishReason| {
        let event = format!(r#"{{"candidates":[{{"finishReason":"{reason}"}}]}}"#);
        assert_eq!(heard(&event).finish, Some(expected));
    };
    check("STOP", FinishReason::Stop);
    check("MAX_TOKENS", FinishReason::MaxTokens);
    check("SAFETY", FinishReason::Safety);
    check("PROHIBITED_CONTENT", FinishReason::Safety);
    check("RECITATION", FinishReason::Recitation);
    check("MALFORMED_FUNCTION_CALL", FinishReason::MalformedFunctionCall);
    check("LANGUAGE", FinishReason::Other("LANGUAGE".to_owned()));
}

#[test]
fn usage_and_citations_are_read() {
    let chunk = heard(
        r#"{"candidates":[{"citationMetadata":{"citationSources":[{"startIndex":1,"uri":"https://a"},{"license":"x"}]}}],
            "usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3,"cachedContentTokenCount":4,
            "thoughtsTokenCount":5,"totalTokenCount":18,"promptTokensDetails":[]}}"#,
    );
    assert_eq!(chunk.usage, Some(Usage { input: 10, output: 3, cached: 4, thought: 5, ..Usage::default() }));
    assert_eq!(chunk.citations, ["https://a"]);
    let both = r#"{"candidates":[{"citationMetadata":{"citations":[{"uri":"https://a"}],"citationSources":[{"uri":"https://b"}]}}]}"#;
    assert_eq!(heard(both).citations, ["https://a", "https://b"]);
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").expect("a head ends").1).expect("the body is JSON")
}

#[tokio::test]
async fn the_service_counts_the_tokens_of_the_whole_request() {
    let service = Loopback::start(Answer::json(r#"{"totalTokens": 31, "promptTokensDetails": []}"#)).await;
    let contents = [Content::user("hi")];
    let settings = Settings { safety: vec![("A".to_owned(), "B".to_owned())], ..Settings::default() };
    let request = Request {
        model: "gemini-2.0-x",
        system: Some("s"),
        contents: &contents,
        tools: &[],
        settings: &settings,
        conversation: None,
    };
    assert_eq!(Gemini::new(service.access()).unwrap().count_tokens(request).await, Ok(Some(31)));
    let request = service.request.await.unwrap();
    assert!(request.starts_with("POST /v1beta/models/gemini-2.0-x:countTokens HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("x-goog-api-key: secret-key-1234\r\n"), "{request}");
    let expected = json!({"generateContentRequest": {
        "model": "models/gemini-2.0-x",
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {},
    }});
    assert_eq!(body(&request), expected);
}

#[tokio::test]
async fn texts_are_embedded_in_batches_that_the_service_takes() {
    let vectors = |texts: usize| {
        let vectors: Vec<_> = (0..texts).map(|at| json!({"values": [at, 0.5]})).collect();
        Answer::json(&json!({"embeddings": vectors}).to_string())
    };
    let mut service = Series::start(vec![vectors(100), vectors(1)]).await;
    let access = Access { address: Some(service.address.clone()), ..Access::default() };
    let texts: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    let all = Gemini::new(access).unwrap().embed("e", &texts).await.unwrap().unwrap();
    assert_eq!((all.len(), &all[99], &all[100]), (101, &vec![99.0, 0.5], &vec![0.0, 0.5]));
    let request = service.next().await;
    assert!(request.starts_with("POST /v1beta/models/e:batchEmbedContents HTTP/1.1\r\n"), "{request}");
    assert_eq!(body(&request)["requests"][7], json!({"model": "models/e", "content": {"parts": [{"text": "7"}]}}));
    assert_eq!(body(&service.next().await)["requests"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_of_another_shape_is_an_error() {
    let check = async |answer: Answer, kind: ErrorKind, says: &str| {
        let service = Series::start(vec![answer]).await;
        let access = Access { address: Some(service.address), ..Access::default() };
        let error = Gemini::new(access).unwrap().embed("e", &["a".to_owned()]).await.expect_err(says);
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert_eq!(error.kind(), kind, "{error:?}");
        assert!(format!("{error} {cause}").contains(says), "{error:?}");
    };
    check(Answer::json("{}"), ErrorKind::Server, "missing field").await;
    check(Answer::json("<html>"), ErrorKind::Server, "<html>").await;
    check(Answer::json(r#"{"embeddings": []}"#), ErrorKind::Server, "0 answers to 1 questions").await;
    let absent = r#"{"error": {"message": "no such model", "code": 404}}"#;
    check(Answer::json(absent), ErrorKind::Configuration, "no such model").await;
    check(Answer::refusal("429 Slow", "connection: close\r\n", "{}"), ErrorKind::Quota, "429").await;
    check(Answer::json(&" ".repeat(33 << 20)), ErrorKind::Server, "larger than").await;
}

#[tokio::test]
async fn a_login_takes_the_place_of_the_key() {
    let events = Answer::events([format!("{LAST}\n\n").as_bytes()], End::Whole);
    let service = Loopback::start(events).await;
    let mut tokens = Series::start(vec![Answer::json(r#"{"access_token": "t0ken-1", "expires_in": 3600}"#)]).await;
    let metadata_host = tokens.address.strip_prefix("http://").map(str::to_owned);
    let login = Some(Login { file: None, metadata_host });
    let access = Access { login, ..service.access() };
    let (_, error) = ask(Arc::new(Gemini::new(access).unwrap())).await;
    assert_eq!(error, None);
    let request = service.request.await.unwrap();
    assert!(request.contains("authorization: Bearer t0ken-1\r\n") && !request.contains("secret-key"), "{request}");
    tokens.next().await;
}

const CALLING: &str = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls","args":{"a":[1]}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":2}}"#;

async fn reply(pieces: &[&[u8]], end: End) -> (Vec<Chunk>, Option<ModelError>) {
    let service = Loopback::start(Answer::events(pieces.iter().copied(), end)).await;
    ask(Arc::new(Gemini::new(service.access()).unwrap())).await
}

const FIRST: &str = r#"data: {"candidates":[{"content":{"parts":[{"text":"größe "}],"role":"model"},"index":0}]}"#;
const LAST: &str = r#"data: {"candidates":[{"content":{"parts":[{"text":"😀"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":3}}"#;

#[tokio::test]
async fn a_reply_cut_into_single_bytes_arrives_whole() {
    let body = format!("{FIRST}\r\n\r\n{LAST}\r\n\r\n");
    let (chunks, error) = reply(&body.as_bytes().chunks(1).collect::<Vec<_>>(), End::Whole).await;
    assert_eq!(error, None);
    assert_eq!(text(&chunks), "größe 😀");
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[1].finish, Some(FinishReason::Stop));
    assert_eq!(chunks[1].usage, Some(Usage { input: 2, output: 3, ..Usage::default() }));
}

// promise model.key
#[tokio::test]
async fn the_key_goes_into_its_header_and_not_into_the_address() {
    let service = Loopback::start(Answer::events([format!("{LAST}\n\n").as_bytes()], End::Whole)).await;
    let access = Access { address: Some(format!("{}/proxy/", service.address)), ..service.access() };
    let (_, error) = ask(Arc::new(Gemini::new(access).unwrap())).await;
    assert_eq!(error, None);
    let request = service.request.await.unwrap();
    assert!(request.starts_with("POST /proxy/v1beta/models/m:streamGenerateContent?alt=sse HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("x-goog-api-key: secret-key-1234\r\n"), "{request}");
    assert!(request.contains(concat!("user-agent: host/", env!("CARGO_PKG_VERSION"))), "{request}");
}

// promise model.stream
#[tokio::test]
async fn a_reply_that_broke_off_is_an_error() {
    let check = async |pieces: &[&[u8]], end: End, text_before: &str| {
        let (chunks, error) = reply(pieces, end).await;
        assert_eq!(text(&chunks), text_before);
        error.expect("the reply is not whole")
    };
    let first = format!("{FIRST}\n\n");
    let unfinished = |error| matches!(error, ModelError::Reply { fault: ReplyFault::Unfinished, .. });
    assert!(unfinished(check(&[], End::Whole, "").await));
    assert!(unfinished(check(&[first.as_bytes()], End::Whole, "größe ").await));
    assert!(unfinished(check(&[first.as_bytes(), b"data: {\"candidates\":[{"], End::Whole, "größe ").await));
    let cut = check(&[first.as_bytes()], End::Cut, "größe ").await;
    assert!(matches!(cut, ModelError::Interrupted { .. }), "{cut:?}");
    let garbled = check(&[first.as_bytes(), b"data: {\"candidates\":\x1b[31m\n\n"], End::Whole, "größe ").await;
    assert!(matches!(garbled, ModelError::Reply { fault: ReplyFault::NotJson { .. }, .. }), "{garbled:?}");
    assert!(!format!("{garbled:?}").contains('\u{1b}'));
    let not_text = check(&[b"data: {\"error\":\"\xff\"}\n\n"], End::Whole, "").await;
    assert_eq!(not_text.kind(), ErrorKind::Server);
}

#[tokio::test]
async fn gemini_call_without_a_finish_reason_ends_the_reply() {
    let call = CALLING.replace(r#","finishReason":"STOP""#, "");
    assert!(call.len() < CALLING.len());
    for pieces in [vec![format!("data: {call}\n\n")], vec![format!("{FIRST}\n\n"), format!("data: {call}\n\n")]] {
        let pieces: Vec<&[u8]> = pieces.iter().map(String::as_bytes).collect();
        let (chunks, error) = reply(&pieces, End::Whole).await;
        assert_eq!(error, None);
        assert!(chunks.iter().all(|chunk| chunk.finish.is_none()));
        let calls = chunks.iter().flat_map(|chunk| &chunk.parts).filter_map(Part::as_call);
        assert_eq!(calls.map(|call| call.name.as_str()).collect::<Vec<_>>(), ["ls"]);
        // A broken connection is still reported as one.
        let (_, error) = reply(&pieces, End::Cut).await;
        assert!(matches!(error, Some(ModelError::Interrupted { .. })), "{error:?}");
    }
}

#[tokio::test]
async fn an_error_within_the_reply_ends_it() {
    let overloaded = br#"data: {"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#;
    let (chunks, error) = reply(&[format!("{FIRST}\n\n").as_bytes(), overloaded], End::Whole).await;
    let error = error.expect("the service reported one");
    assert_eq!((text(&chunks).as_str(), error.kind(), error.status()), ("größe ", ErrorKind::Server, Some(503)));
    assert!(error.to_string().contains("overloaded"));
}

#[tokio::test]
async fn a_blocked_prompt_is_a_safety_error_with_the_services_word() {
    let (_, error) = reply(&[br#"data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#], End::Whole).await;
    let error = error.expect("the prompt was blocked");
    assert_eq!(error.kind(), ErrorKind::Safety);
    assert!(error.to_string().contains("PROHIBITED_CONTENT"));
}

proptest! {
    #[test]
    fn gemini_garbled_event_is_harmless(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut event = CALLING.as_bytes().to_vec();
        let at = at.index(event.len());
        event[at] = byte;
        if cut {
            event.truncate(at);
        }
        let mut reply = Reply::new(NAME);
        let heard = reply.event(&event).is_ok();
        prop_assert!(!(cut && heard), "half an event is none");
        prop_assert_eq!(reply.end().is_ok(), reply.finished);
    }
}
