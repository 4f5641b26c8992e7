//! What one script saves of forty reads: turns, and tokens of all requests.

use std::sync::atomic::{AtomicUsize, Ordering};

use host_tests::host::Host;
use host_tests::server::{Answer, Server};
use serde_json::{Value, json};

/// The files.
const FILES: usize = 40;

/// The lines of each, of which one matters.
const LINES: usize = 120;

/// A call of a tool.
type Call = (&'static str, Value);

fn with_files(mut host: Host) -> Host {
    for file in 0..FILES {
        let line = |at: usize| {
            format!("line {at} of file {file}: nothing that matters here{}\n", if at == 60 { " TODO" } else { "" })
        };
        host = host.file(&format!("src/f{file}.txt"), (0..LINES).map(line).collect::<String>());
    }
    host
}

/// The events of a reply of a chat service with these calls, or with the last words.
fn reply(calls: &[Call]) -> Answer {
    let call = |(at, (name, arguments)): (usize, &Call)| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"index": at, "id": format!("c{at}"), "type": "function", "function": function})
    };
    let (delta, reason) = match calls {
        [] => (json!({"content": "Done."}), "stop"),
        calls => (json!({"tool_calls": calls.iter().enumerate().map(call).collect::<Vec<_>>()}), "tool_calls"),
    };
    let event = |delta: Value, reason: Option<&str>| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
    };
    let text = event(delta, None) + &event(json!({}), Some(reason)) + "data: [DONE]\n\n";
    Answer::ok(text).header("content-type", "text/event-stream")
}

/// The requests of a run whose model makes these calls, turn by turn, and their tokens at four bytes each.
async fn measured(turns: Vec<Vec<Call>>) -> (usize, usize) {
    let asked = AtomicUsize::new(0);
    let server = Server::start(move |_| {
        let turn = asked.fetch_add(1, Ordering::Relaxed);
        reply(turns.get(turn).map_or(&[], Vec::as_slice))
    })
    .await;
    let host = Host::new(["run", "--model", "openai/gpt-5", "--max-turns", "50", "Find the TODOs"])
        .env("OPENAI_API_KEY", "sk-secret-1234")
        .env("OPENAI_BASE_URL", server.url("/v1"));
    let host = with_files(host);
    let ended = tokio::task::spawn_blocking(move || host.run()).await.expect("it runs");
    assert_eq!((ended.code, ended.stdout.trim()), (Some(0), "Done."), "{ended:?}");
    let requests = server.requests();
    let last = &requests.last().expect("a request").body;
    assert!(last.contains("f39") && !last.contains("was not run"), "{last}");
    (requests.len(), requests.iter().map(|request| request.body.len()).sum::<usize>() / 4)
}

// The table of docs/tools.md.
#[tokio::test(flavor = "multi_thread")]
async fn code_of_forty_reads_takes_two_turns_and_a_fraction_of_the_tokens() {
    let read = |file: usize| ("read_file", json!({"path": format!("src/f{file}.txt")}));
    let turns = |calls: usize| {
        let files: Vec<usize> = (0..FILES).collect();
        files.chunks(calls).map(|files| files.iter().map(|file| read(*file)).collect()).collect()
    };
    let code = "const paths = Array.from({length: 40}, (_, file) => `src/f${file}.txt`);
        const texts = await Promise.all(paths.map((path) => tools.read_file({path})));
        return texts.flatMap((text, at) => text.split('\\n').filter((line) => line.includes('TODO'))
            .map((line) => paths[at] + ': ' + line));";
    let one_by_one = measured(turns(1)).await;
    let ten_at_once = measured(turns(10)).await;
    let script = measured(vec![vec![("run_code", json!({"code": code}))]]).await;
    println!("one by one {one_by_one:?}, ten at once {ten_at_once:?}, a script {script:?}");
    assert_eq!((one_by_one.0, ten_at_once.0, script.0), (41, 5, 2));
    assert!(script.1 * 20 < one_by_one.1 && script.1 * 5 < ten_at_once.1, "{one_by_one:?} {ten_at_once:?} {script:?}");
}
