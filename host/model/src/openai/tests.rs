//! Replies in the Chat Completions format, read from bytes and over real connections.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use host_message::Content;
use proptest::prelude::*;

use super::*;
use crate::loopback::{Answer, End, Loopback, ask, text};
use crate::{CallPiece, ErrorKind, ModelEvent, Settings};

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

fn calls(chunk: &Chunk) -> Vec<String> {
    let names = chunk.parts.iter().filter_map(|part| match &part.data {
        PartData::FunctionCall(call) => Some(format!("{} {}", call.id, call.name)),
        _ => None,
    });
    names.collect()
}

const CALL: &str = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]},"finish_reason":null}]}"#;
const CUT_CALL: &str =
    r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"ls","arguments":"{\"p"}}]}}]}"#;

fn finishing(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

#[test]
fn text_and_thoughts_are_read() {
    let check = |delta: &str, expected: &[Part]| {
        let event = format!(
            r#"{{"id":"x","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":null}}]}}"#
        );
        assert_eq!(read(&[&event, "[DONE]"]).unwrap()[0].parts, expected, "{delta}");
    };
    check(r#"{"role":"assistant","content":"","refusal":null}"#, &[]);
    check(r#"{"content":"a\nü"}"#, &[Part::text("a\nü")]);
    check(r#"{"content":null,"reasoning_content":"hm"}"#, &[Part::thought("hm")]);
    check(r#"{"content":"a","reasoning":"hm"}"#, &[Part::thought("hm"), Part::text("a")]);
    check(r#"{"refusal":"I will not"}"#, &[Part::text("I will not")]);
    let drawn = InlineData { mime_type: "image/png".to_owned(), base64: "AAAA".to_owned() };
    check(
        r#"{"content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#,
        &[PartData::InlineData(drawn).into()],
    );
    let elsewhere = FileReference { mime_type: "image/*".to_owned(), uri: "https://a/b".to_owned() };
    check(r#"{"images":[{"image_url":{"url":"https://a/b"}}]}"#, &[PartData::FileReference(elsewhere).into()]);
    check(r#"{"images":[{"image_url":{"url":"file:///etc/passwd"}}]}"#, &[]);
    check("{}", &[]);
    check("null", &[]);
}

#[test]
fn the_reason_to_stop_is_read() {
    let check = |reason: &str, expected: FinishReason| {
        assert_eq!(read(&[&finishing(reason)]).unwrap()[0].finish, Some(expected));
    };
    check("stop", FinishReason::Stop);
    check("tool_calls", FinishReason::Stop);
    check("length", FinishReason::MaxTokens);
    check("content_filter", FinishReason::Safety);
    check("eos", FinishReason::Other("eos".to_owned()));
}

#[test]
fn usage_and_citations_are_read() {
    let events = [
        r#"{"choices":[{"delta":{"annotations":[{"type":"url_citation","url_citation":{"url":"https://a"}}]}}],"usage":null}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":8,"total_tokens":18,
            "prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}}}"#,
        "[DONE]",
    ];
    let chunks = read(&events).unwrap();
    assert_eq!(chunks[0].citations, ["https://a"]);
    assert_eq!(chunks[1].usage, Some(Usage { input: 10, output: 3, cached: 4, thought: 5, ..Usage::default() }));
}

#[test]
fn a_call_is_handed_out_with_the_reason_to_stop_and_not_before() {
    let chunks = read(&[CALL, &finishing("tool_calls"), "[DONE]"]).unwrap();
    // A user can be told of it before.
    let piece = CallPiece { name: "ls".to_owned(), json: "{}".to_owned() };
    assert_eq!(chunks[0], Chunk { forming: vec![piece], ..Chunk::default() });
    assert_eq!(calls(&chunks[1]), ["a ls"]);
    assert_eq!(chunks[1].finish, Some(FinishReason::Stop));
    assert!(chunks[2].is_empty());
}

#[test]
fn a_call_without_a_reason_to_stop_is_handed_out_when_the_reply_is_declared_over() {
    let chunks = read(&[CALL, "[DONE]"]).unwrap();
    assert_eq!(calls(&chunks[1]), ["a ls"]);
    assert_eq!(read(&[CALL]), Err(ReplyFault::Unfinished), "a cut connection declares nothing");
}

#[test]
fn openai_one_unreadable_call_discards_the_others() {
    let check = |reason: &str, expected: FinishReason| {
        let chunks = read(&[CALL, CUT_CALL, &finishing(reason)]).unwrap();
        assert_eq!(calls(&chunks[2]), [""; 0]);
        assert_eq!(chunks[2].finish, Some(expected));
    };
    check("tool_calls", FinishReason::MalformedFunctionCall);
    check("stop", FinishReason::MalformedFunctionCall);
    check("length", FinishReason::MaxTokens);
}

async fn reply(answer: Answer) -> (Vec<Chunk>, Option<ModelError>) {
    let service = Loopback::start(answer).await;
    ask(Arc::new(OpenAi::new(service.access()).unwrap())).await
}

#[tokio::test]
async fn texts_are_embedded_in_their_order() {
    let answer = r#"{"object":"list","data":[{"index":1,"embedding":[2,0.5]},{"index":0,"embedding":[1]}],"usage":{}}"#;
    let service = Loopback::start(Answer::json(answer)).await;
    let texts = ["a".to_owned(), "b".to_owned()];
    let vectors = OpenAi::new(service.access()).unwrap().embed("e", &texts).await;
    assert_eq!(vectors, Ok(Some(vec![vec![1.0], vec![2.0, 0.5]])));
    let request = service.request.await.unwrap();
    assert!(request.starts_with("POST /embeddings HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with(r#"{"model":"e","input":["a","b"],"encoding_format":"float"}"#), "{request}");
}

#[tokio::test]
async fn embeddings_that_are_not_one_for_each_text_are_an_error() {
    let check = async |data: &str, given: usize| {
        let service = Loopback::start(Answer::json(&format!("{{\"data\":[{data}]}}"))).await;
        let texts = ["a".to_owned(), "b".to_owned()];
        let error = OpenAi::new(service.access()).unwrap().embed("e", &texts).await.expect_err(data);
        let fault = ReplyFault::Miscounted { expected: 2, got: given };
        assert!(matches!(&error, ModelError::Reply { fault: found, .. } if *found == fault), "{error:?}");
    };
    check("", 0).await;
    check(r#"{"index":0,"embedding":[1]}"#, 1).await;
    check(r#"{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}"#, 1).await;
    check(r#"{"index":0,"embedding":[1]},{"index":7,"embedding":[2]}"#, 1).await;
}

fn saying(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

#[tokio::test]
async fn a_reply_cut_into_single_bytes_arrives_whole() {
    let body = format!(
        ": OPENROUTER PROCESSING\n\n{}{}data: {CALL}\n\ndata: {}\n\ndata: [DONE]\n\n",
        saying("größe "),
        saying("😀"),
        finishing("tool_calls")
    );
    let (chunks, error) = reply(Answer::events(body.as_bytes().chunks(1), End::Whole)).await;
    assert_eq!(error, None);
    assert_eq!(text(&chunks), "größe 😀");
    assert_eq!(calls(chunks.last().unwrap()), ["a ls"]);
}

#[tokio::test]
async fn the_key_goes_into_its_header() {
    let service = Loopback::start(Answer::events([&b"data: [DONE]\n\n"[..]], End::Whole)).await;
    let access = Access { address: Some(format!("{}/v1", service.address)), ..service.access() };
    assert_eq!(ask(Arc::new(OpenAi::new(access).unwrap())).await, (vec![], None));
    let request = service.request.await.unwrap();
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer secret-key-1234\r\n"), "{request}");
}

#[tokio::test]
async fn openai_sends_no_key_to_a_server_without_one() {
    let service = Loopback::start(Answer::events([&b"data: [DONE]\n\n"[..]], End::Whole)).await;
    let access = Access { address: Some(service.address), ..Access::default() };
    assert_eq!(ask(Arc::new(OpenAi::new(access).unwrap())).await, (vec![], None));
    assert!(!service.request.await.unwrap().contains("authorization"));
}

// promise model.key
#[tokio::test]
async fn a_refusal_gives_kind_words_and_delay_and_never_the_key() {
    let check = async |status, headers, body: &str, kind: ErrorKind, words: &str| {
        let (chunks, error) = reply(Answer::refusal(status, headers, body)).await;
        let error = error.expect("it was refused");
        assert_eq!((chunks.len(), error.kind()), (0, kind), "{status}");
        assert!(status.starts_with(&error.status().unwrap().to_string()), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(!format!("{error:?} {error}").contains("secret-key-1234"), "{error:?}");
        error
    };
    let wrong_key = r#"{"error":{"message":"Incorrect API key provided: secret-key-1234","code":"invalid_api_key"}}"#;
    let error =
        check("401 Unauthorized", "", wrong_key, ErrorKind::Authentication, "Incorrect API key provided: (key)").await;
    assert!(error.help().unwrap().contains("OPENAI_API_KEY"));
    let error = check("429 Too Many Requests", "retry-after: 7\r\n", "{}", ErrorKind::Quota, "429").await;
    assert_eq!(error.wanted().delay, Some(Duration::from_secs(7)));
    let error =
        check("500 Oh", "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n", "\x1b[2Jboom", ErrorKind::Server, "[2Jboom")
            .await;
    assert_eq!(error.wanted().delay, Some(Duration::ZERO), "that day has passed");
    assert!(!error.to_string().contains('\x1b'));
    check("302 Found", "location: http://127.0.0.1:1/\r\n", "", ErrorKind::Configuration, "302").await;
    check("500 Oh", "", &"x".repeat(1 << 20), ErrorKind::Server, "(cut)").await;
}

#[tokio::test]
async fn openai_answer_that_is_not_an_event_stream_is_an_error() {
    let answer = |headers, body: &str| Answer { status: "200 OK", ..Answer::refusal("", headers, body) };
    let (_, error) = reply(answer("content-type: text/html; charset=utf-8\r\n", "<html>")).await;
    assert!(matches!(&error, Some(ModelError::Reply { fault: ReplyFault::NotAStream { .. }, .. })), "{error:?}");
    assert!(error.unwrap().help().unwrap().contains("OPENAI_BASE_URL"));
    let (_, error) = reply(answer("content-type: application/json\r\n", r#"{"error":"no such model"}"#)).await;
    assert!(error.unwrap().to_string().contains("no such model"));
}

#[tokio::test]
async fn openai_unreachable_address_is_a_network_error_that_names_it() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://user:pass@{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let (_, error) = ask(Arc::new(OpenAi::new(Access { address: Some(address), ..Access::default() }).unwrap())).await;
    let error = error.expect("nobody answers");
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains("127.0.0.1:") && error.help().unwrap().contains("OPENAI_BASE_URL"));
    assert!(!format!("{error:?}").contains("pass"), "{error:?}");
}

/// Reads the first chunk of a reply that stays open, and returns the rest of its stream.
async fn begun(provider: &OpenAi) -> ModelStream<'_> {
    static SETTINGS: Settings = Settings {
        temperature: None,
        top_p: None,
        max_output_tokens: None,
        thinking_budget: None,
        effort: None,
        verbosity: None,
        long_cache: false,
        deferred_tools: false,
        custom_tools: Vec::new(),
        stop: Vec::new(),
        safety: Vec::new(),
    };
    let contents: &'static [Content] = &[];
    let request = Request { model: "m", system: None, contents, tools: &[], settings: &SETTINGS, conversation: None };
    let mut stream = provider.stream(request);
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Chunk(_)))));
    stream
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let service = Loopback::start(Answer::events([saying("a").as_bytes()], End::Open)).await;
    let provider = OpenAi::new(service.access()).unwrap();
    let stream = begun(&provider).await;
    drop(stream);
    service.closed.await.expect("the service saw the connection close");
}

#[tokio::test]
async fn a_service_that_goes_silent_is_given_up() {
    let service = Loopback::start(Answer::events([saying("a").as_bytes()], End::Open)).await;
    let provider = OpenAi::new(service.access()).unwrap();
    let mut stream = begun(&provider).await;
    tokio::time::pause();
    let ended = stream.next().await;
    assert!(matches!(&ended, Some(Err(ModelError::Silent { .. }))), "{ended:?}");
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn an_error_within_the_reply_ends_it() {
    let body = format!("{}data: {{\"error\":{{\"message\":\"out of memory\",\"code\":500}}}}\n\n", saying("a"));
    let (chunks, error) = reply(Answer::events([body.as_bytes()], End::Whole)).await;
    assert_eq!(text(&chunks), "a");
    let error = error.expect("the server reported one");
    assert_eq!((error.kind(), error.status()), (ErrorKind::Server, Some(500)));
}

#[test]
fn an_invalid_address_is_a_configuration_error() {
    for address in ["", "localhost:8080", "ftp://a", "http://", "not an address", "file:///etc/passwd"] {
        let error =
            OpenAi::new(Access { address: Some(address.to_owned()), ..Access::default() }).err().expect(address);
        assert_eq!(error.kind(), ErrorKind::Configuration, "{address}");
        assert!(error.help().unwrap().contains("OPENAI_BASE_URL"), "{address}");
    }
}

proptest! {
    #[test]
    fn openai_garbled_event_is_harmless(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut event = CALL.as_bytes().to_vec();
        let at = at.index(event.len());
        event[at] = byte;
        if cut {
            event.truncate(at);
        }
        let mut reply = Reply::default();
        let heard = reply.event(&event).is_ok();
        prop_assert!(!(cut && heard), "half an event is none");
        prop_assert!(calls(&reply.rest()).len() <= 1);
    }

    #[test]
    fn arguments_cut_anywhere_come_whole(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let arguments = r#"{"path":"größe \\ \"x\"","list":[1,{"a":null}]}"#;
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(arguments.len())).filter(|at| arguments.is_char_boundary(*at)).collect();
        at.extend([0, arguments.len()]);
        at.sort_unstable();
        let mut events = vec![r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"ls"}}]}}]}"#.to_owned()];
        for ends in at.windows(2) {
            let piece = serde_json::to_string(&arguments[ends[0]..ends[1]]).unwrap();
            events.push(format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":{piece}}}}}]}}}}]}}"#));
        }
        events.push(finishing("tool_calls"));
        let chunks = read(&events.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        let PartData::FunctionCall(call) = &chunks[chunks.len() - 2].parts[0].data else { panic!("it is a call") };
        prop_assert_eq!(Value::Object(call.arguments.clone()), serde_json::from_str::<Value>(arguments).unwrap());
    }
}
