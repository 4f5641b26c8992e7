//! Scripts that are read, matched and violated.

use futures::FutureExt;
use host_message::{
    CallId, Content, FinishReason, FunctionCall, FunctionResponse, Part, PartData, ResponseBody, Role, ToolName,
    ToolSpec, Usage,
};

use super::*;
use crate::ErrorKind;
use crate::Settings;

/// Requests one reply.
async fn ask(script: &Scripted, contents: &[Content], tools: &[ToolSpec]) -> Result<Vec<ModelEvent>, ModelError> {
    let settings = Settings::default();
    let request = Request {
        model: "scripted",
        system: Some("Be brief."),
        contents,
        tools,
        settings: &settings,
        conversation: None,
    };
    let events: Vec<_> = script.stream(request).collect().await;
    events.into_iter().collect()
}

fn call(id: &str) -> Part {
    let name = ToolName::new("ls");
    PartData::FunctionCall(FunctionCall::new(CallId::new(id), name, Default::default())).into()
}

fn response(id: &str) -> Part {
    let body = ResponseBody::Output(format!("listing of {id}"));
    PartData::FunctionResponse(FunctionResponse::new(CallId::new(id), ToolName::new("ls"), body)).into()
}

fn model(parts: Vec<Part>) -> Content {
    Content { role: Role::Model, parts }
}

fn user(parts: Vec<Part>) -> Content {
    Content { role: Role::User, parts }
}

#[tokio::test]
async fn a_reply_is_said_as_it_is_written() {
    let check = async |chunks: &str, expected: Vec<ModelEvent>| {
        let script = Scripted::parse("s", &format!(r#"{{"chunks":[{chunks}]}}"#)).unwrap();
        assert_eq!(ask(&script, &[], &[]).await, Ok(expected), "{chunks}");
    };
    let part = |part: Part| ModelEvent::Chunk(Chunk { parts: vec![part], ..Chunk::default() });
    let finish = |finish| ModelEvent::Chunk(Chunk { finish: Some(finish), ..Chunk::default() });
    let stop = || finish(FinishReason::Stop);
    check("", vec![stop()]).await;
    check(r#"{"text":"a"},{"thought":"b"}"#, vec![part(Part::text("a")), part(Part::thought("b")), stop()]).await;
    check(r#"{"call":{"name":"ls"}},{"call":{"name":"ls","id":"x"}}"#, vec![part(call("")), part(call("x")), stop()])
        .await;
    check(r#"{"text":"a"},{"finish":null}"#, vec![part(Part::text("a"))]).await;
    check(r#"{"finish":"max_tokens"}"#, vec![finish(FinishReason::MaxTokens)]).await;
    check(r#"{"finish":{"other":"x"}}"#, vec![finish(FinishReason::Other("x".to_owned()))]).await;
    let usage = Some(Usage { input: 3, output: 1, ..Usage::default() });
    check(r#"{"usage":{"input":3,"output":1}}"#, vec![ModelEvent::Chunk(Chunk { usage, ..Chunk::default() }), stop()])
        .await;
    let (reason, wait) = ("the script says so".to_owned(), std::time::Duration::ZERO);
    let again = Again { reason, wait, attempt: 2, attempts: 2 };
    check(r#"{"text":"a"},{"retry":true}"#, vec![part(Part::text("a")), ModelEvent::Retry(again), stop()]).await;
}

#[tokio::test]
async fn an_error_ends_the_reply_with_its_kind() {
    let check = async |error: &str, kind: ErrorKind, status: Option<u16>| {
        let script = Scripted::parse("s", &format!(r#"{{"chunks":[{{"text":"a"}},{{"error":{error}}}]}}"#)).unwrap();
        let error = ask(&script, &[], &[]).await.expect_err(error);
        assert_eq!((error.kind(), error.status()), (kind, status));
        assert!(error.to_string().contains("boom"), "{error}");
    };
    check(r#"{"kind":"server","message":"boom"}"#, ErrorKind::Server, None).await;
    check(r#"{"kind":"quota","message":"boom","status":429}"#, ErrorKind::Quota, Some(429)).await;
    check(r#"{"kind":"network","message":"boom"}"#, ErrorKind::Network, None).await;
}

#[tokio::test]
async fn scripted_hang_sends_nothing_more() {
    let script = Scripted::parse("s", r#"{"chunks":[{"text":"a"},{"hang":true}]}"#).unwrap();
    let settings = Settings::default();
    let request =
        Request { model: "m", system: None, contents: &[], tools: &[], settings: &settings, conversation: None };
    let mut stream = script.stream(request);
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Chunk(_)))));
    assert!(stream.next().now_or_never().is_none());
}

#[tokio::test]
async fn replies_come_in_order_until_there_are_no_more() {
    let script =
        Scripted::parse("s.jsonl", "{\"chunks\":[{\"text\":\"1\"}]}\n\n{\"chunks\":[{\"text\":\"2\"}]}\n").unwrap();
    assert_eq!(script.left(), 2);
    assert!(ask(&script, &[], &[]).await.is_ok());
    assert!(ask(&script, &[], &[]).await.is_ok());
    assert_eq!(script.left(), 0);
    let error = ask(&script, &[], &[]).await.expect_err("there are only two");
    assert_eq!(error.to_string(), "the script `s.jsonl` has 2 replies and was asked for one more");
    assert_eq!(script.left(), 0);
}

#[tokio::test]
async fn scripted_continuation_skips_what_the_conversation_has() {
    let text = "{\"goes_on\":true}\n{\"chunks\":[{\"text\":\"1\"}]}\n{\"chunks\":[{\"text\":\"2\"}]}\n";
    let part = |text: &str| ModelEvent::Chunk(Chunk { parts: vec![Part::text(text)], ..Chunk::default() });
    let conversation = [Content::user("q"), Content::model("1"), Content::user("q")];
    for (contents, first) in [(&conversation[..1], "1"), (&conversation[..], "2")] {
        let script = Scripted::parse("s", text).unwrap();
        assert_eq!(ask(&script, contents, &[]).await.unwrap()[0], part(first));
    }
    // Only the first request skips replies.
    let script = Scripted::parse("s", text).unwrap();
    ask(&script, &[], &[]).await.unwrap();
    assert_eq!(ask(&script, &[], &[]).await.unwrap()[0], part("2"));
}

#[test]
fn scripted_line_that_is_not_a_reply_is_named() {
    let check = |line: &str, why: &str| {
        let text = format!("{{\"chunks\":[]}}\n\n{line}\n");
        let error = Scripted::parse("s", &text).err().expect(line).to_string();
        assert!(error.starts_with("invalid reply in line 3 of the script `s`") && error.contains(why), "{error}");
    };
    check("{", "EOF");
    check("{}", "chunks");
    check("7", "struct Line");
    check(r#"{"chunks":[{"texts":"a"}]}"#, "texts");
    check(r#"{"chunks":[{"text":"a","thought":"b"}]}"#, "expected");
    check(r#"{"chunks":[],"expects":{}}"#, "expects");
    check(r#"{"chunks":[],"expect":{"last":"x"}}"#, "last");
    check(r#"{"chunks":[{"call":{"name":"ls","args":{}}}]}"#, "args");
    check(r#"{"chunks":[{"usage":{"in":1}}]}"#, "in");
    check(r#"{"chunks":[{"error":{"kind":"odd","message":""}}]}"#, "odd");
    check(r#"{"goes_on":true}"#, "goes_on");
    check(r#"{"chunks":[{"hang":false}]}"#, "`true`");
    check(r#"{"chunks":[{"hang":true},{"text":"a"}]}"#, "follows");
}

#[test]
fn a_script_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.jsonl");
    let error = Scripted::open(&file).err().expect("there is no file");
    assert!(error.to_string().contains("none.jsonl"), "{error}");
    std::fs::write(&file, "{\"chunks\":[]}\n").unwrap();
    assert_eq!(Scripted::open(&file).expect("now there is").left(), 1);
}

#[tokio::test]
async fn a_request_that_is_not_as_expected_fails_with_both_sides() {
    let contents = [
        Content::user("go"),
        model(vec![call("a"), call("b")]),
        user(vec![response("a"), response("b"), Part::text("more")]),
    ];
    let tools = [ToolSpec {
        name: ToolName::new("ls"),
        title: None,
        description: String::new(),
        input_schema: serde_json::json!({"type": "object"}).into(),
        output_schema: None,
        annotations: Default::default(),
    }];
    let check = async |expect: &str, error: Option<&str>| {
        let script = Scripted::parse("s", &format!(r#"{{"expect":{expect},"chunks":[]}}"#)).unwrap();
        let found = ask(&script, &contents, &tools).await.err().map(|error| error.to_string());
        let error = error.map(|error| format!("line 1 of the script `s` expects {error}"));
        assert_eq!(found, error, "{expect}");
    };
    check("{}", None).await;
    check(r#"{"responses":["of a","of b"],"last_text":"more","system":"brief","tools":["ls"]}"#, None).await;
    check(
        r#"{"responses":["of a","of c"]}"#,
        Some("`of c` in function response 1, but the request has `listing of b`"),
    )
    .await;
    check(r#"{"responses":["of a"]}"#, Some("1 function responses, but the request has 2 in the last message")).await;
    check(r#"{"last_text":"go"}"#, Some("`go` in the last message, but the request has `more`")).await;
    check(r#"{"system":"long"}"#, Some("`long` in what the host told the model, but the request has `Be brief.`"))
        .await;
    check(r#"{"tools":["grep"]}"#, Some("the tool `grep`, but the request has `ls`")).await;
}

#[tokio::test]
async fn scripted_call_without_its_response_fails_whatever_the_script_contains() {
    let check = async |contents: &[Content], fault: Option<&str>| {
        let script = Scripted::parse("s", "{\"chunks\":[]}").unwrap();
        let found = ask(&script, contents, &[]).await.err().map(|error| error.to_string());
        match (fault, found) {
            (None, None) => {}
            (Some(fault), Some(found)) => assert!(found.contains(fault), "{found}"),
            (fault, found) => panic!("expected {fault:?}, found {found:?}"),
        }
    };
    check(&[], None).await;
    check(&[Content::user("q"), Content::model("a"), Content::user("q")], None).await;
    check(
        &[model(vec![call("a")]), user(vec![response("a")]), model(vec![call("b")]), user(vec![response("b")])],
        None,
    )
    .await;
    check(&[model(vec![call("a")])], Some("followed by answers to `a`")).await;
    check(&[model(vec![call("a")]), Content::user("q")], Some("message 1 has to answer `a`, and answers nothing"))
        .await;
    check(&[model(vec![call("a"), call("b")]), user(vec![response("a")])], Some("answer `a`, `b`, and answers `a`"))
        .await;
    check(&[model(vec![call("a"), call("b")]), user(vec![response("b"), response("a")])], Some("answers `b`, `a`"))
        .await;
    check(&[model(vec![call("a")]), user(vec![response("a"), response("a")])], Some("answers `a`, `a`")).await;
    check(&[model(vec![call("a")]), Content::model("x"), user(vec![response("a")])], Some("message 1")).await;
    check(&[user(vec![response("a")])], Some("message 0 has to answer nothing, and answers `a`")).await;
    check(&[model(vec![call("")]), user(vec![response("")])], Some("empty")).await;
    check(
        &[model(vec![call("a")]), user(vec![response("a")]), model(vec![call("a")]), user(vec![response("a")])],
        Some("was there before"),
    )
    .await;
    check(&[user(vec![call("a")]), user(vec![response("a")])], Some("is the user's")).await;
}
