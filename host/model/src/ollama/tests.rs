//! Replies in Ollama's format, read from bytes and over real connections.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::ErrorKind;
use crate::loopback::{Answer, End, Loopback, ask, text};

fn heard(line: &str) -> Chunk {
    match Reply.event(line.as_bytes()) {
        Ok(Heard::More(chunk) | Heard::Done(chunk)) => chunk,
        Err(_) => panic!("it is a good line: {line}"),
    }
}

const SAYING: &str = r#"{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"größe "},"done":false}"#;
const CALLING: &str = r#"{"message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"index":0,"name":"ls","arguments":{"path":"."}}},{"function":{"name":"ls"}}]},"done":false}"#;
const DONE: &str = r#"{"model":"m","message":{"role":"assistant","content":"😀"},"done_reason":"stop","done":true,"total_duration":5,"prompt_eval_count":26,"eval_count":9}"#;

#[test]
fn every_part_is_read() {
    let check = |message: &str, expected: &[Part]| {
        assert_eq!(heard(&format!(r#"{{"message":{message},"done":false}}"#)).parts, expected, "{message}");
    };
    check(r#"{"role":"assistant","content":"a\nü"}"#, &[Part::text("a\nü")]);
    check(r#"{"content":"","thinking":"hm"}"#, &[Part::thought("hm")]);
    check(r#"{"content":"a","thinking":"hm","tool_calls":null}"#, &[Part::thought("hm"), Part::text("a")]);
    check("null", &[]);
    check("{}", &[]);
    let calls: Vec<String> = heard(CALLING)
        .parts
        .iter()
        .map(|part| match &part.data {
            PartData::FunctionCall(call) => {
                format!("{} {} {}", call.id, call.name, Value::Object(call.arguments.clone()))
            }
            other => panic!("{other:?} is no call"),
        })
        .collect();
    assert_eq!(calls, [r#"call_1 ls {"path":"."}"#, " ls {}"]);
}

#[test]
fn the_last_line_has_the_reason_and_the_usage() {
    let check = |line: &str, finish: FinishReason, usage: Option<Usage>| {
        let chunk = heard(line);
        assert_eq!((chunk.finish, chunk.usage), (Some(finish), usage), "{line}");
    };
    check(DONE, FinishReason::Stop, Some(Usage { input: 26, output: 9, ..Usage::default() }));
    check(r#"{"done":true,"done_reason":"length"}"#, FinishReason::MaxTokens, None);
    check(r#"{"done":true,"done_reason":"load"}"#, FinishReason::Other("load".to_owned()), None);
    check(r#"{"done":true,"eval_count":1}"#, FinishReason::Stop, Some(Usage { output: 1, ..Usage::default() }));
}

fn lines<'p>(pieces: impl IntoIterator<Item = &'p [u8]>, end: End) -> Answer {
    Answer { headers: "content-type: application/x-ndjson\r\n", ..Answer::events(pieces, end) }
}

async fn reply(answer: Answer) -> (Vec<Chunk>, Option<ModelError>) {
    let service = Loopback::start(answer).await;
    ask(Arc::new(Ollama::new(service.access()).expect("the address is one"))).await
}

#[tokio::test]
async fn a_reply_cut_into_single_bytes_arrives_whole() {
    let body = format!("{SAYING}\n{CALLING}\n{DONE}\n");
    let (chunks, error) = reply(lines(body.as_bytes().chunks(1), End::Whole)).await;
    assert_eq!(error, None);
    assert_eq!(text(&chunks), "größe 😀");
    assert_eq!((chunks[1].parts.len(), chunks[2].finish.clone()), (2, Some(FinishReason::Stop)));
}

#[tokio::test]
async fn it_is_asked_without_a_key_at_an_address_without_a_scheme() {
    let service = Loopback::start(lines([DONE.as_bytes()], End::Whole)).await;
    let address = service.address.strip_prefix("http://").map(str::to_owned);
    let (_, error) = ask(Arc::new(Ollama::new(Access { address, ..Access::default() }).expect("it is one"))).await;
    assert_eq!(error, None);
    let request = service.request.await.expect("it was sent");
    assert!(request.starts_with("POST /api/chat HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("accept: application/x-ndjson\r\n") && !request.contains("authorization"), "{request}");
}

// promise model.stream: An invalid, interrupted or endless stream is an error, never a panic and never a shorter
//   answer.
#[tokio::test]
async fn a_reply_that_broke_off_is_an_error() {
    let check = async |tail: &str, end: End| {
        let (chunks, error) = reply(lines([format!("{SAYING}\n{tail}").as_bytes()], end)).await;
        assert_eq!(text(&chunks), "größe ");
        error.expect("the reply is not whole")
    };
    for tail in ["", r#"{"message":{"content":"a"#] {
        let error = check(tail, End::Whole).await;
        assert!(matches!(error, ModelError::Reply { fault: ReplyFault::Unfinished, .. }), "{error:?}");
    }
    let error = check("", End::Cut).await;
    assert!(matches!(error, ModelError::Interrupted { .. }), "{error:?}");
    let error = check("rubbish\n", End::Whole).await;
    assert!(matches!(error, ModelError::Reply { fault: ReplyFault::NotJson { .. }, .. }), "{error:?}");
}

#[tokio::test]
async fn an_error_within_the_reply_ends_it() {
    let body = format!("{SAYING}\n{{\"error\":\"the model runner has crashed\"}}\n");
    let (chunks, error) = reply(lines([body.as_bytes()], End::Whole)).await;
    let error = error.expect("the server reported one");
    assert_eq!((text(&chunks).as_str(), error.kind()), ("größe ", ErrorKind::Server));
    assert!(error.to_string().contains("runner has crashed"), "{error}");
}

#[tokio::test]
async fn ollama_error_names_what_to_do() {
    let check = async |status, body: &str, kind: ErrorKind, help: &str| {
        let (_, error) = reply(Answer::refusal(status, "content-type: application/json\r\n", body)).await;
        let error = error.expect("it was refused");
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.help().is_some_and(|words| words.contains(help)), "{help} in {error:?}");
        assert!(status.starts_with(&error.status().expect("it has one").to_string()), "{error:?}");
    };
    check("404 x", r#"{"error":"model 'm' not found"}"#, ErrorKind::Configuration, "`ollama pull m`").await;
    let toolless = r#"{"error":"registry.ollama.ai/library/m:latest does not support tools"}"#;
    check("400 x", toolless, ErrorKind::Configuration, r#"`tools = "text"` under `[models."ollama/m"]`"#).await;
    check("404 x", "404 page not found", ErrorKind::Configuration, "OLLAMA_HOST").await;
    check("500 x", r#"{"error":"out of memory"}"#, ErrorKind::Server, "try again later").await;
    check("401 x", r#"{"error":"unauthorized"}"#, ErrorKind::Authentication, "OLLAMA_API_KEY").await;
}

fn whole(body: &str) -> Answer {
    Answer { status: "200 OK", ..Answer::refusal("", "content-type: application/json\r\n", body) }
}

async fn embedded(answer: Answer) -> (Result<Option<Vec<Vec<f32>>>, ModelError>, String) {
    let service = Loopback::start(answer).await;
    let provider = Ollama::new(service.access()).expect("the address is one");
    let result = provider.embed("m", &["a".to_owned(), "b".to_owned()]).await;
    (result, service.request.await.expect("it was sent"))
}

#[tokio::test]
async fn texts_are_embedded_in_their_order() {
    let (result, request) = embedded(whole(r#"{"model":"m","embeddings":[[0.5,1],[-2,0]],"total_duration":1}"#)).await;
    assert_eq!(result, Ok(Some(vec![vec![0.5, 1.0], vec![-2.0, 0.0]])));
    assert!(request.starts_with("POST /api/embed "), "{request}");
    assert!(request.ends_with(r#"{"model":"m","input":["a","b"]}"#), "{request}");
    for body in [r#"{"embeddings":[[0.5]]}"#, "{}"] {
        let (result, _) = embedded(whole(body)).await;
        let error = result.expect_err("there are too few");
        assert!(
            matches!(error, ModelError::Reply { fault: ReplyFault::Miscounted { expected: 2, .. }, .. }),
            "{error:?}"
        );
    }
    let (result, _) = embedded(Answer::refusal("404 x", "", r#"{"error":"model \"m\" not found"}"#)).await;
    assert!(result.expect_err("it is not there").help().expect("there is help").contains("ollama pull m"));
}

#[tokio::test]
async fn the_models_that_can_talk_are_listed() {
    let check = async |body: &str, expected: &[&str]| {
        let service = Loopback::start(whole(body)).await;
        let models = Ollama::new(service.access()).expect("the address is one").models().await.expect("it answers");
        assert_eq!(models, expected);
        let request = service.request.await.expect("it was sent");
        assert!(request.starts_with("GET /api/tags "), "{request}");
    };
    check(r#"{"models":null}"#, &[]).await;
    let listed = r#"{"models":[{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},
        {"name":"qwen3:8b","size":5,"details":{"family":"qwen3","families":["qwen3"]}},{"name":"x"}]}"#;
    check(listed, &["qwen3:8b", "x"]).await;
}

proptest! {
    #[test]
    fn ollama_garbled_line_is_harmless(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut line = CALLING.as_bytes().to_vec();
        let at = at.index(line.len());
        line[at] = byte;
        if cut {
            line.truncate(at);
        }
        let heard = Reply.event(&line).is_ok();
        prop_assert!(!(cut && heard), "half a line is none");
    }
}
