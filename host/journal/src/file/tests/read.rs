//! Logs that are read: whole, torn, damaged, newer, and hostile.

use host_message::{FunctionCall, FunctionResponse, PartData, ResponseBody, Role};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// One of each kind of fact. A new one has to be added here, or this does not compile.
fn each() -> Vec<Fact> {
    let (id, agent_id) = (SessionId::new("s1").expect("an id"), AgentId::new("main"));
    let (prompt, call_id, name) =
        (PromptId { agent: agent_id.clone(), turn: 0 }, CallId::new("main#0-0"), ToolName::new("ls"));
    let call = FunctionCall::new(call_id.clone(), name.clone(), Default::default());
    let content = Content { role: Role::Model, parts: vec![PartData::FunctionCall(call).into()] };
    let body = ResponseBody::Output("done".to_owned());
    let response = FunctionResponse::new(call_id.clone(), name.clone(), body);
    let display = Display::Difference { path: "a".to_owned(), unified: "+x".to_owned() };
    let report = CallReport { title: "src".to_owned(), failed: true, ..CallReport::default() };
    let (reason, usage) = (TerminateReason::Goal, Usage { input: 1, ..Usage::default() });
    let (found, text) = (vec![ChainFault::Cut { lines: 2 }], str::to_owned);
    let mut facts = vec![Fact::Session {
        version: 1,
        id: id.clone(),
        pid: Some(7),
        workspace: Some(text("/work")),
        model: Some(model()),
        copy_of: Some(id),
        found: found.clone(),
    }];
    loop {
        let (agent_id, prompt, call_id) = (agent_id.clone(), prompt.clone(), call_id.clone());
        let next = match facts.last().expect("it begins with one") {
            Fact::Session { .. } => Fact::Resumed { pid: 8, model: model(), torn_bytes: 3, found: found.clone() },
            Fact::Resumed { .. } => {
                Fact::RunStarted { agent: text("main"), agent_id, model: text("m"), system: Some(text("s")) }
            }
            Fact::RunStarted { .. } => Fact::HistoryReplaced { agent_id, contents: Arc::default() },
            Fact::HistoryReplaced { .. } => Fact::TakenBack { agent_id, messages: 0 },
            Fact::TakenBack { .. } => Fact::ModelChosen { model: model() },
            Fact::ModelChosen { .. } => Fact::Usage { prompt, usage },
            Fact::Usage { .. } => Fact::RecoveryStarted { agent_id, reason: TerminateReason::Timeout },
            Fact::RecoveryStarted { .. } => Fact::Discarded { prompt, reason: text("empty"), parts: Arc::default() },
            Fact::Discarded { .. } => Fact::Withdrawn { prompt },
            Fact::Withdrawn { .. } => Fact::Content { prompt, content: Arc::new(content.clone()) },
            Fact::Content { .. } => {
                let call = FunctionCall::new(CallId::new("main#0-0.1"), name.clone(), Default::default());
                Fact::NestedCall { prompt, parent: call_id, call: Arc::new(call) }
            }
            Fact::NestedCall { .. } => Fact::CallStarted {
                prompt,
                call_id,
                name: name.clone(),
                because: vec![text("granted")],
                title: text(""),
            },
            Fact::CallStarted { .. } => {
                let end = CallEnd {
                    status: CallStatus::Error { kind: host_tool::FailureKind::Denied },
                    decided: Some(host_tool::Decided::Denied),
                    duration_ms: 2,
                    parts: vec![PartData::FunctionResponse(response.clone()).into()],
                    display: Some(display.clone()),
                    report: Some(report.clone()),
                    mcp_meta: None,
                };
                Fact::CallSettled { prompt, call_id, end: Arc::new(end) }
            }
            Fact::CallSettled { .. } => Fact::CommandLine { command: text("/x"), call_id, line: text("ls") },
            Fact::CommandLine { .. } => Fact::HookEnded {
                agent_id,
                event: host_tool::HookEvent::PreToolUse,
                hook: text("check"),
                call_id: Some(call_id),
                result: HookResult::Denied,
                reason: text("no"),
                arguments: Some(serde_json::Map::from_iter([(text("n"), 1.into())])),
                message: None,
                duration_ms: 3,
            },
            Fact::HookEnded { .. } => Fact::CheckEnded {
                agent_id,
                command: text("cargo test"),
                result: CheckResult::Failed,
                reason: text("exit code 101"),
                output: text("no"),
                duration_ms: 4,
            },
            Fact::CheckEnded { .. } => Fact::Error { agent_id, message: text("no") },
            Fact::Error { .. } => Fact::RunEnded {
                agent_id,
                terminate_reason: reason,
                recovered_from: None,
                result: Some(text("r")),
                turns: 1,
                usage,
            },
            Fact::RunEnded { .. } => return facts,
        };
        facts.push(next);
    }
}

/// Returns a log with one of each kind of fact.
fn log() -> String {
    let time = "2026-03-01T12:00:00Z".parse().expect("a time");
    let mut bytes = Vec::new();
    for fact in each() {
        put_line(&mut bytes, time, &fact).expect("memory has room");
        bytes.push(b'\n');
    }
    String::from_utf8(bytes).expect("JSON")
}

fn read(text: &[u8]) -> Result<Recorded, ReadError> {
    Recorded::read(&mut Records::new(text))
}

/// A log of the first version has each kind of fact byte for byte as it was written then.
#[test]
fn log_of_each_fact_is_written_as_ever() {
    assert_eq!(log(), include_str!("each.jsonl"));
}

#[test]
fn each_fact_that_is_written_is_read() {
    let text = log();
    let mut records = Records::new(text.as_bytes());
    let all: Vec<Logged> = records.by_ref().map(|logged| logged.expect("it is an entry")).collect();
    assert_eq!((all.len(), records.torn_bytes()), (text.lines().count(), 0));
    let facts: Vec<Fact> = all.into_iter().map(|logged| logged.fact).collect();
    assert_eq!(facts, each());
    let recorded = read(text.as_bytes()).expect("it makes sense");
    assert_eq!((recorded.workspace.as_deref(), recorded.model), (Some("/work"), Some(model())));
}

#[test]
fn log_has_what_an_mcp_server_said_beside_an_answer() {
    let settled = each().into_iter().find_map(|fact| match fact {
        Fact::CallSettled { prompt, call_id, end } => Some((prompt, call_id, CallEnd::clone(&end))),
        _ => None,
    });
    let (prompt, call_id, mut end) = settled.expect("one is of that kind");
    end.mcp_meta = Some(Arc::new(serde_json::Map::from_iter([("acme.example/trace".to_owned(), 1.into())])));
    let fact = Fact::CallSettled { prompt, call_id, end: Arc::new(end) };
    let first = log().lines().next().expect("a first line").to_owned();
    let mut bytes = format!("{first}\n").into_bytes();
    put_line(&mut bytes, "2026-03-01T12:00:00Z".parse().expect("a time"), &fact).expect("memory has room");
    assert!(bytes.ends_with(br#","mcp_meta":{"acme.example/trace":1}}"#));
    bytes.push(b'\n');
    let last = Records::new(bytes.as_slice()).last().expect("two entries").expect("it is an entry");
    assert_eq!(last.fact, fact);
}

/// The order of fields is this host's own, and another program may have written the line anew.
#[test]
fn fields_of_an_entry_are_read_in_any_order() {
    let first = log().lines().next().expect("a first line").to_owned();
    let fields = [
        r#""time":"2026-01-01T00:00:00Z""#,
        r#""type":"taken_back""#,
        r#""agent_id":"main""#,
        r#""messages":3"#,
        r#""later":{"unknown":[1,{}]}"#,
    ];
    let check = |fields: &[&str], is_read: bool| {
        let text = format!("{first}\n{{{}}}\n", fields.join(","));
        let last = Records::new(text.as_bytes()).last().expect("two entries");
        match last {
            Ok(Logged { time, fact: Fact::TakenBack { agent_id, messages } }) if is_read => {
                assert_eq!(
                    (time.to_string().as_str(), agent_id.as_str(), messages),
                    ("2026-01-01T00:00:00Z", "main", 3)
                );
            }
            Err(ReadError::Damaged { line: 2, .. }) if !is_read => {}
            last => panic!("{text}: {last:?}"),
        }
    };
    for start in 0..fields.len() {
        let mut turned = fields;
        turned.rotate_left(start);
        check(&turned, true);
        turned.reverse();
        check(&turned, true);
    }
    for missing in 0..4 {
        let mut fewer = fields.to_vec();
        fewer.remove(missing);
        check(&fewer, false);
    }
    for twice in 0..4 {
        check(&[&fields[..], &fields[twice..=twice]].concat(), false);
        check(&[&fields[twice..=twice], &fields[..]].concat(), false);
    }
    check(&[fields[0], r#""type":"other""#, fields[2], fields[3]], false);
}

#[test]
fn a_call_of_an_older_log_is_read_without_a_report() {
    let line = r#"{"time":"2026-01-01T00:00:00Z","type":"call_settled","prompt":{"agent":"main","turn":0},"call_id":"c","status":"success","duration_ms":1,"parts":[]}"#;
    let first = log().lines().next().expect("a first line").to_owned();
    let text = format!("{first}\n{line}\n");
    let last = Records::new(text.as_bytes()).last().expect("two entries").expect("it is read");
    assert!(matches!(&last.fact, Fact::CallSettled { end, .. } if end.report.is_none()), "{last:?}");
}

#[test]
fn a_log_that_breaks_off_at_any_byte_is_read_up_to_there() {
    let text = log();
    for end in 0..text.len() {
        let mut records = Records::new(&text.as_bytes()[..end]);
        match Recorded::read(&mut records) {
            Ok(recorded) => {
                let whole = text[..end].rfind('\n').map_or(0, |at| at + 1);
                let torn = end - whole;
                // All but the line end is there of a line that is whole.
                let last_is_whole = text.as_bytes()[end] == b'\n';
                let torn = if last_is_whole { 0 } else { torn };
                assert_eq!(recorded.torn_bytes, torn as u64, "at {end}");
            }
            Err(error) => {
                assert!(matches!(error, ReadError::Empty), "at {end}: {error}");
                assert!(end < text.find('\n').expect("there are lines"), "at {end}");
            }
        }
    }
}

#[test]
fn a_log_that_two_threads_read_is_as_one_reads_it() {
    let first = log().lines().next().expect("a line").to_owned();
    // Some lines are longer than a block.
    let line = |number: usize| {
        let message = number.to_string().repeat([10, 2_500, 100, 150_000, 40][number % 5]);
        format!(r#"{{"time":"2026-03-01T12:00:00Z","type":"error","agent_id":"main","message":"{message}"}}"#)
    };
    let mut lines = vec![first];
    lines.extend((0..60).map(line));
    let whole = lines.join("\n");
    lines[41] = "{".to_owned();
    let damaged = lines.join("\n");
    let all = |mut records: Records<&[u8]>| {
        let mut entries = Vec::new();
        for logged in records.by_ref() {
            entries.push(logged.map(|logged| format!("{:?}", logged.fact)).map_err(|error| error.to_string()));
        }
        (entries, records.line(), records.whole_bytes(), records.torn_bytes(), records.ends_open())
    };
    let (half, torn) = (&whole[..whole.len() - 20], line(59).len() as u64 - 20);
    for (text, line, torn) in [(&whole[..], 61, 0), (&format!("{whole}\n"), 61, 0), (half, 60, torn), (&damaged, 41, 0)]
    {
        let alone = all(Records::new(text.as_bytes()));
        assert_eq!((alone.1, alone.3), (line, torn));
        let together = std::thread::scope(|scope| {
            let mut records = Records::new(text.as_bytes());
            let helper = records.helper();
            scope.spawn(|| helper.run());
            all(records)
        });
        assert_eq!(together, alone);
        let mut records = Records::new(text.as_bytes());
        drop(records.helper());
        assert_eq!(all(records), alone);
    }
}

#[test]
fn session_log_damage_is_reported_with_its_line() {
    let first = log().lines().next().expect("a line").to_owned();
    let check = |lines: &[&str], line: u64, why: &str| {
        let text = std::iter::once(first.as_str()).chain(lines.iter().copied()).collect::<Vec<_>>().join("\n") + "\n";
        match read(text.as_bytes()) {
            Err(ReadError::Damaged { line: found, why: said }) => {
                assert!(found == line && said.contains(why), "{lines:?}: line {found}: {said}");
            }
            other => panic!("{lines:?}: {other:?}"),
        }
    };
    let time = r#""time":"2026-03-01T12:00:00Z""#;
    let prompt = r#""prompt":{"agent":"main","turn":0}"#;
    let calls = format!(
        r#"{{{time},"type":"content",{prompt},"content":{{"role":"model","parts":[{{"function_call":{{"id":"c","name":"ls","arguments":{{}}}}}}]}}}}"#
    );
    let begun = format!(r#"{{{time},"type":"call_started",{prompt},"call_id":"c","name":"ls"}}"#);
    let settled = |id: &str| {
        format!(
            r#"{{{time},"type":"call_settled",{prompt},"call_id":"c","status":"success","duration_ms":0,"parts":[{{"function_response":{{"id":"{id}","name":"ls","body":{{"output":""}}}}}}]}}"#
        )
    };
    check(&["{"], 2, "EOF");
    check(&["", &begun], 2, "EOF");
    check(&[&first], 2, "second entry `session`");
    check(&[&format!(r#"{{{time},"type":"dance"}}"#)], 2, "unknown variant `dance`");
    check(&[r#"{"time":"noon","type":"resumed","pid":1,"model":"m","torn_bytes":0}"#], 2, "year");
    check(&[&begun], 2, "no call `c`");
    check(&[&calls, &settled("d")], 3, "not an outcome");
    check(&[&calls, &settled("c"), &settled("c")], 4, "second time");
    check(&[&calls, &begun, &begun], 4, "second time");
    check(&[&calls, &settled("c"), &calls, &calls], 4, "already a call `c`");
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    check(&[&deep], 2, "nested deeper");
    let replaced = r#""type":"history_replaced","agent_id":"main","contents""#;
    let call = r#"{"role":"model","parts":[{"function_call":{"id":"c","name":"ls","arguments":{}}}]}"#;
    check(&[&format!("{{{time},{replaced}:[{call}]}}")], 2, "order of calls");
    for text in ["\n", "{}\n", "null\n", r#"{"type":"resumed","version":1}"#] {
        let error = read(format!("{text}\n").as_bytes()).expect_err(text);
        assert!(matches!(error, ReadError::Damaged { line: 1, .. }), "{text}: {error}");
    }
}

#[test]
fn a_warning_that_was_never_said_takes_no_word_from_a_later_question() {
    let first = log().lines().next().expect("a line").to_owned();
    let time = r#""time":"2026-03-01T12:00:00Z""#;
    let entries = [
        r#""type":"recovery_started","agent_id":"main","reason":"TIMEOUT""#,
        r#""type":"resumed","pid":9,"model":"m","torn_bytes":0"#,
        r#""type":"run_started","agent":"main","agent_id":"main","model":"m","system":null"#,
        r#""type":"content","prompt":{"agent":"main","turn":1},"content":{"role":"user","parts":[{"text":"Now the tests"}]}"#,
    ];
    let lines = entries.map(|entry| format!("{{{time},{entry}}}\n"));
    let past = read(format!("{first}\n{}", lines.concat()).as_bytes()).expect("it makes sense");
    let question = past.into_past(&AgentId::new("main")).into_parts().question;
    assert_eq!(question, [host_message::Part::text("Now the tests")]);
}

#[test]
fn a_newer_log_is_refused_with_its_version() {
    let text = r#"{"type":"session","version":2,"names":"all changed"}"#.to_owned() + "\n";
    let error = read(text.as_bytes()).expect_err("it is newer");
    assert_eq!(error.to_string(), "its format has version 2, and this host reads version 1");
}

#[test]
fn arguments_as_deep_as_a_model_may_nest_them_come_back() {
    let mut deep = json!(1.000_000_000_000_000_2_f64);
    for _ in 0..126 {
        deep = json!([deep]);
    }
    let arguments = serde_json::Map::from_iter([("deep".to_owned(), deep)]);
    let call = FunctionCall::new(CallId::new("c"), ToolName::new("ls"), arguments);
    let content = Content { role: Role::Model, parts: vec![PartData::FunctionCall(call).into()] };
    let prompt = PromptId { agent: AgentId::new("main"), turn: 0 };
    let fact = Fact::Content { prompt, content: Arc::new(content) };
    let mut text = format!("{}\n", log().lines().next().expect("a line")).into_bytes();
    put_line(&mut text, clock().now(), &fact).expect("memory has room");
    let last = Records::new(&text[..]).last().expect("two entries").expect("it is an entry");
    assert_eq!(last.fact, fact);
}

/// Lines that are nearly entries.
fn nearly() -> impl Strategy<Value = String> {
    let lines: Vec<String> = log().lines().map(str::to_owned).collect();
    (prop::sample::select(lines), any::<prop::sample::Index>(), any::<Option<char>>()).prop_map(
        |(line, at, instead)| {
            let at = at.index(line.len());
            let mut changed: String = line[..at].to_owned();
            changed.extend(instead);
            changed.push_str(line.get(at + 1..).unwrap_or_default());
            changed
        },
    )
}

proptest! {
    // promise session.tampered: A manipulated log causes no panic and cannot control a terminal.
    #[test]
    fn no_log_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(read(&bytes));
        let mut text = log().into_bytes();
        text.extend(bytes);
        drop(read(&text));
    }

    #[test]
    fn entries_in_any_order_with_any_change_make_no_panic(
        order in prop::collection::vec(prop_oneof![3 => prop::sample::select(log().lines().map(str::to_owned).collect::<Vec<_>>()), 1 => nearly()], 0..30),
    ) {
        let first = log().lines().next().expect("a line").to_owned();
        let text = std::iter::once(first).chain(order).collect::<Vec<_>>().join("\n");
        if let Ok(recorded) = read(text.as_bytes()) {
            for (_, past) in recorded.agents() {
                past.left();
                prop_assert!(crate::History::from_contents(past.history().contents().to_vec()).is_ok());
            }
        }
    }
}
