use std::sync::Mutex;

use futures::{FutureExt, stream};
use host_message::{AgentId, FunctionCall, Signature, ToolName};
use host_model::Again;
use serde_json::Map;

use super::*;

fn call(id: &str) -> Part {
    let call = FunctionCall::new(CallId::new(id), ToolName::new("ls"), Map::new());
    PartData::FunctionCall(call).into()
}

fn signed(part: Part, signature: &str) -> Part {
    Part { signature: Some(Signature { by: "gemini".to_owned(), data: signature.to_owned() }), ..part }
}

fn again() -> ModelEvent {
    let (reason, wait) = ("it broke off".to_owned(), std::time::Duration::ZERO);
    ModelEvent::Retry(Again { reason, wait, attempt: 2, attempts: 3 })
}

fn chunk(parts: Vec<Part>) -> ModelEvent {
    ModelEvent::Chunk(Chunk { parts, ..Chunk::default() })
}

fn finish(finish: FinishReason) -> ModelEvent {
    ModelEvent::Chunk(Chunk { finish: Some(finish), ..Chunk::default() })
}

/// Reads events in which nothing waits; returns the reply and the kinds of the reported events.
fn read_all(events: Vec<ModelEvent>, after_outcomes: bool) -> (Result<Reply, ReplyError>, Vec<String>) {
    let prompt = PromptId { agent: AgentId::new("main"), turn: 2 };
    let mut builder = ReplyBuilder::new(&prompt);
    let told = Mutex::new(Vec::new());
    let tell = |kind: EventKind<'_>| {
        let word = match kind {
            EventKind::Content { text } => text.to_owned(),
            EventKind::Thought { subject, text } => format!("{text} ({})", subject.unwrap_or("-")),
            EventKind::Citation { uri } => uri.to_owned(),
            EventKind::Retry { .. } => "retry".to_owned(),
            EventKind::ModelSwitched { model, .. } => format!("switched to {model}"),
            EventKind::Finished { usage, .. } => format!("finished {}", usage.map_or(0, |usage| usage.output)),
            other => panic!("a reply does not tell {other:?}"),
        };
        told.lock().expect("no test panics with it").push(word);
    };
    let stream = stream::iter(events.into_iter().map(Ok)).boxed();
    read(stream, &mut builder, &tell).now_or_never().expect("nothing waits").expect("no error is in it");
    let reply = builder.finish(|id| id.as_str() == "taken", after_outcomes);
    (reply.map_err(|(error, _)| error), told.into_inner().expect("no test panics with it"))
}

/// A call as the host names the first of the reply.
fn named(service_id: &str) -> Part {
    let id = PromptId { agent: AgentId::new("main"), turn: 2 }.call(0);
    let call = FunctionCall::new(id, ToolName::new("ls"), Map::new());
    PartData::FunctionCall(FunctionCall { service_id: Some(CallId::new(service_id)), ..call }).into()
}

fn check(pieces: Vec<Part>, want: Vec<Part>) {
    let mut events: Vec<_> = pieces.into_iter().map(|part| chunk(vec![part])).collect();
    events.push(finish(FinishReason::Stop));
    let (reply, _) = read_all(events, true);
    assert_eq!(reply.map(|reply| reply.content.parts), Ok(want));
}

#[test]
fn adjacent_text_joins_and_thoughts_stay_apart() {
    check(vec![Part::text("a"), Part::text(""), Part::text("b")], vec![Part::text("ab")]);
    check(
        vec![Part::thought("a"), Part::thought("b"), Part::text("c"), Part::thought("d"), Part::text("e")],
        vec![Part::thought("ab"), Part::text("c"), Part::thought("d"), Part::text("e")],
    );
    check(vec![Part::text("a"), call("1"), Part::text("b")], vec![Part::text("a"), named("1"), Part::text("b")]);
}

#[test]
fn a_signature_stays_on_its_part() {
    let pieces = vec![Part::text("a"), signed(Part::text("b"), "s"), Part::text("c"), signed(Part::text(""), "t")];
    check(pieces.clone(), pieces);
    check(vec![signed(call("1"), "s")], vec![signed(named("1"), "s")]);
}

#[test]
fn reply_part_with_only_a_signature_is_kept_and_not_reported() {
    let parts = vec![signed(Part::thought(""), "c2ln"), signed(Part::text(""), "c2ln"), Part::text("a")];
    let (reply, told) = read_all(vec![chunk(parts.clone()), finish(FinishReason::Stop)], false);
    assert_eq!(reply.map(|reply| reply.content.parts), Ok(parts));
    assert_eq!(told, ["a", "finished 0"]);
}

#[test]
fn reply_calls_have_ids_of_the_host_and_keep_those_of_the_service_for_its_wire() {
    let ids = |given: &[&str]| {
        let (reply, _) =
            read_all(vec![chunk(given.iter().map(|id| call(id)).collect()), finish(FinishReason::Stop)], false);
        let content = reply.expect("it has calls").content;
        let both = |call: &FunctionCall| format!("{} {}", call.id, call.wire_id());
        content.function_calls().map(both).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["", "x", ""]), ["main#2-0 main#2-0", "main#2-1 x", "main#2-2 main#2-2"]);
    assert_eq!(ids(&["x", "x", "taken"]), ["main#2-0 x", "main#2-1 main#2-1", "main#2-2 main#2-2"]);
    assert_eq!(ids(&["main#2-1", ""]), ["main#2-0 main#2-1", "main#2-1+ main#2-1+"]);
}

#[test]
fn a_retry_makes_what_came_before_it_void() {
    let usage = |output| Some(Usage { output, ..Usage::default() });
    let events = vec![
        chunk(vec![Part::thought("**One"), Part::text("wrong"), call("1")]),
        ModelEvent::Chunk(Chunk { usage: usage(7), ..Chunk::default() }),
        again(),
        chunk(vec![Part::thought("**Two** x"), Part::text("right")]),
        ModelEvent::Chunk(Chunk { usage: usage(1), citations: vec!["https://a.example".into()], ..Chunk::default() }),
        ModelEvent::Chunk(Chunk { usage: usage(3), finish: Some(FinishReason::Stop), ..Chunk::default() }),
    ];
    let (reply, told) = read_all(events, false);
    let want = vec![Part::thought("**Two** x"), Part::text("right")];
    assert_eq!(reply.map(|reply| reply.content.parts), Ok(want));
    let want = ["**One (-)", "wrong", "retry", "**Two** x (Two)", "right", "https://a.example", "finished 3"];
    assert_eq!(told, want);
}

#[test]
fn reply_begun_before_a_model_switch_is_discarded() {
    let switched = Switched { model: "b".to_owned(), reason: "the quota is used up".to_owned() };
    let events = vec![
        chunk(vec![Part::text("half"), call("1")]),
        ModelEvent::Switched(switched),
        chunk(vec![Part::text("whole")]),
        finish(FinishReason::Stop),
    ];
    let (reply, told) = read_all(events, false);
    assert_eq!(reply.map(|reply| reply.content.parts), Ok(vec![Part::text("whole")]));
    assert_eq!(told, ["half", "switched to b", "whole", "finished 0"]);
}

#[test]
fn reply_usage_of_every_attempt_is_counted() {
    let prompt = PromptId { agent: AgentId::new("main"), turn: 0 };
    let mut builder = ReplyBuilder::new(&prompt);
    let usage = |input, output| {
        let usage = Some(Usage { input, output, ..Usage::default() });
        ModelEvent::Chunk(Chunk { usage, ..Chunk::default() })
    };
    // A later report of usage for an attempt replaces an earlier one.
    let events = vec![usage(10, 1), usage(10, 2), again(), usage(12, 1), again(), usage(13, 4)];
    let stream = stream::iter(events.into_iter().map(Ok)).boxed();
    read(stream, &mut builder, &|_| {}).now_or_never().expect("nothing waits").expect("no error is in it");
    assert_eq!(builder.usage(), Usage { input: 35, output: 7, ..Usage::default() });
    assert_eq!(builder.prompt_tokens(), 13, "the prompt is as long as the last try says");
}

#[test]
fn reply_is_valid_or_names_the_reason() {
    use FinishReason::{MalformedFunctionCall, MaxTokens, Other, Recitation, Safety, Stop};
    let good = |part: Part, reason, after_outcomes| {
        let (reply, _) = read_all(vec![chunk(vec![part]), finish(reason)], after_outcomes);
        reply.map(|_| ())
    };
    assert_eq!(good(Part::text("a"), Stop, false), Ok(()));
    assert_eq!(good(Part::text("a"), MaxTokens, false), Ok(()));
    assert_eq!(good(Part::text("a"), Other("odd".into()), false), Ok(()));
    assert_eq!(good(call("1"), MaxTokens, false), Ok(()));
    assert_eq!(good(Part::text(" \n"), Stop, false), Err(ReplyError::Empty { finish: Stop }));
    assert_eq!(good(Part::text("\u{200b}\u{feff}"), Stop, false), Err(ReplyError::Empty { finish: Stop }));
    assert_eq!(good(Part::text("<!-- done -->\n"), Stop, false), Err(ReplyError::Empty { finish: Stop }));
    assert_eq!(good(Part::text("<!-- done -->"), Stop, true), Ok(()));
    assert_eq!(good(Part::thought("hm"), Stop, false), Err(ReplyError::Empty { finish: Stop }));
    assert_eq!(good(Part::thought("hm"), Stop, true), Ok(()));
    assert_eq!(good(Part::text("a"), Safety, false), Err(ReplyError::Blocked { finish: Safety }));
    assert_eq!(good(Part::text(""), Recitation, true), Err(ReplyError::Blocked { finish: Recitation }));
    assert_eq!(good(Part::text("a"), MalformedFunctionCall, true), Err(ReplyError::MalformedCall));
    let called = read_all(vec![chunk(vec![Part::text("a"), call("1")])], false).0.map(|reply| reply.finish);
    assert_eq!(called, Ok(Stop), "a call says by itself why the reply ended");
    assert_eq!(read_all(vec![chunk(vec![Part::text("a")])], true).0, Err(ReplyError::Unfinished));
    assert_eq!(read_all(vec![], true).0, Err(ReplyError::Unfinished));
}

#[test]
fn reply_text_before_an_error_is_kept() {
    let prompt = PromptId { agent: AgentId::new("main"), turn: 0 };
    let mut builder = ReplyBuilder::new(&prompt);
    let error = ModelError::MissingKey { provider: host_model::Gemini::PROVIDER };
    let events = vec![Ok(chunk(vec![Part::text("half")])), Err(error.clone()), Ok(chunk(vec![Part::text("never")]))];
    let tell = |_: EventKind<'_>| {};
    let got = read(stream::iter(events).boxed(), &mut builder, &tell).now_or_never().expect("nothing waits");
    assert_eq!((got, builder.visible_text().as_str()), (Err(error), "half"));
}
