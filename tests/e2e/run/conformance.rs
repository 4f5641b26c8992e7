//! The same conversation through every wire format: the trace of what happened is the same, to the last event.

use host_tests::host::{Ended, Host};
use serde_json::{Value, json};

use super::formats::{FORMATS, Format, Say, serve};

/// One conversation, for all formats: what the model says, turn by turn.
struct Conversation {
    name: &'static str,
    turns: fn() -> Vec<Vec<Say>>,
    arguments: &'static [&'static str],
    code: i32,
}

const CONVERSATIONS: &[Conversation] = &[
    Conversation {
        name: "an answer",
        turns: || vec![vec![Say::Text("It is 42. Ünïcödé 漢字 🦀.")]],
        arguments: &[],
        code: 0,
    },
    Conversation {
        name: "eight reads at once, a search, a refusal, a tool that is none, wrong arguments",
        turns: || {
            let mut calls = vec![Say::Text("I look.\n")];
            calls.extend((0..8).map(|at| Say::Call("read_file", json!({"path": format!("f{at}.txt")}))));
            calls.push(Say::Call("grep", json!({"pattern": "content 3"})));
            calls.push(Say::Call("write_file", json!({"path": "new.txt", "content": "a\n\"ü\"\n"})));
            calls.push(Say::Call("read_flie", json!({"path": "f0.txt"})));
            calls.push(Say::Call("read_file", json!({"file": "f0.txt"})));
            vec![calls, vec![Say::Text("Done.")]]
        },
        arguments: &[],
        code: 0,
    },
    Conversation {
        name: "one call after the other",
        turns: || {
            let mut turns: Vec<_> =
                (0..5).map(|at| vec![Say::Call("read_file", json!({"path": format!("f{at}.txt")}))]).collect();
            turns.push(vec![Say::Text("Read "), Say::Text("five.")]);
            turns
        },
        arguments: &[],
        code: 0,
    },
    Conversation {
        name: "an image that a tool returns",
        turns: || vec![vec![Say::Call("read_file", json!({"path": "dot.png"}))], vec![Say::Text("A dot.")]],
        arguments: &[],
        code: 0,
    },
    Conversation {
        name: "a run that meets its turn limit and gives its best answer",
        turns: || {
            let call = || vec![Say::Call("ls", json!({"path": "."}))];
            vec![call(), call(), vec![Say::Text("As far as I got.")]]
        },
        arguments: &["--max-turns", "2"],
        code: 53,
    },
    Conversation {
        name: "a run that meets its turn limit and does not",
        turns: || {
            let call = || vec![Say::Call("ls", json!({"path": "."}))];
            vec![call(), call()]
        },
        arguments: &["--max-turns", "1"],
        code: 53,
    },
];

/// The smallest PNG: one transparent dot.
const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82";

fn files(host: Host) -> Host {
    let host = (0..8).fold(host, |host, at| host.file(&format!("f{at}.txt"), format!("content {at}\n")));
    host.file("dot.png", DOT)
}

/// What happened, without what differs from run to run. Ids are numbered as they come, neighbouring pieces of text
/// joined: how a service cuts its text is its own affair.
fn trace(ended: &Ended) -> Vec<Value> {
    let mut ids: Vec<String> = Vec::new();
    let mut trace: Vec<Value> = Vec::new();
    for mut line in ended.lines() {
        forget(&mut line);
        let object = line.as_object_mut().expect("a line is an object");
        if let Some(Value::String(id)) = object.get("tool_id").cloned() {
            let at = ids.iter().position(|known| *known == id).unwrap_or_else(|| {
                ids.push(id);
                ids.len() - 1
            });
            object.insert("tool_id".to_owned(), json!(at));
        }
        if line["type"] == "message"
            && let Some(before) = trace.last_mut()
            && (&before["type"], &before["role"]) == (&line["type"], &line["role"])
        {
            let text = format!(
                "{}{}",
                before["content"].as_str().unwrap_or_default(),
                line["content"].as_str().unwrap_or_default()
            );
            before["content"] = json!(text);
            continue;
        }
        trace.push(line);
    }
    // Calls that run side by side end in any order.
    for results in trace.chunk_by_mut(|one, two| one["type"] == "tool_result" && two["type"] == "tool_result") {
        results.sort_by_key(|line| line["tool_id"].as_u64());
    }
    trace
}

/// Takes out what differs from run to run, however deep it lies.
fn forget(value: &mut Value) {
    match value {
        Value::Object(object) => {
            let told = ["session_id", "timestamp", "duration_ms", "model_ms", "tools_ms", "model"];
            object.retain(|key, _| !told.contains(&key.as_str()));
            object.values_mut().for_each(forget);
        }
        Value::Array(values) => values.iter_mut().for_each(forget),
        _ => {}
    }
}

async fn converse(format: &'static Format, conversation: &'static Conversation) -> (Vec<Value>, usize) {
    let turns = (conversation.turns)();
    let expected = turns.len();
    let server = serve(move |at| match turns.get(at) {
        Some(said) => format.reply(said),
        None => host_tests::server::Answer::status(400, "the conversation is over"),
    })
    .await;
    let arguments = [&["--output-format", "stream-json", "Look"], conversation.arguments].concat();
    let host = files(format.host(&server, &arguments, "editing = \"edit\"\n"));
    let running = tokio::task::spawn_blocking(move || (host.run(), host));
    let (mut ended, host) = running.await.expect("it ends");
    let what = format!("{} with {}", conversation.name, format.name());
    assert_eq!(ended.code, Some(conversation.code), "{what}: {ended:?}");
    assert_eq!(ended.lines()[0]["model"], format.model, "{what}: with the provider before it");
    assert_eq!(format.asked(&server).len(), expected, "{what}: {ended:?}");
    // A refusal names the file, which lies elsewhere for each.
    let place = std::fs::canonicalize(host.repository()).expect("it is there").display().to_string();
    // What is cut in it is as long as that place is.
    let cut = place.rsplit_once('/').map(|(_, name)| name.to_owned()).unwrap_or_default();
    let stdout = ended.stdout.replace(&place, "/w");
    let parts =
        (1..cut.len()).rev().fold(stdout, |text, end| text.replace(&format!("{}… (cut)", &cut[..end]), "… (cut)"));
    ended.stdout = parts;
    (trace(&ended), expected)
}

#[tokio::test]
async fn every_wire_format_gives_the_same_trace() {
    for conversation in CONVERSATIONS {
        let (first, turns) = converse(&FORMATS[0], conversation).await;
        assert!(first.len() >= turns, "{}: {first:?}", conversation.name);
        let others = futures::future::join_all(FORMATS[1..].iter().map(|format| converse(format, conversation))).await;
        for (format, (other, _)) in FORMATS[1..].iter().zip(others) {
            let what = format!("{} with {}", conversation.name, format.name());
            for (at, (one, two)) in first.iter().zip(&other).enumerate() {
                assert_eq!(two, one, "{what}: event {at}");
            }
            assert_eq!(other.len(), first.len(), "{what}: {other:#?}");
        }
    }
}
