//! Models behind real HTTP, with streams of the shapes that the services send.

use std::sync::atomic::{AtomicUsize, Ordering};

use host_tests::host::{Ended, Host};
use host_tests::server::{Answer, Request, Server};
use serde_json::{Value, json};

/// A server that answers with one after the other.
async fn server(answers: Vec<Answer>) -> Server {
    let next = AtomicUsize::new(0);
    Server::start(move |_| {
        let at = next.fetch_add(1, Ordering::SeqCst);
        answers.get(at).cloned().unwrap_or_else(|| Answer::status(500, "the test has no more answers"))
    })
    .await
}

async fn run(host: Host) -> (Ended, Host) {
    // The server runs on this thread's runtime, so the process is waited for on another.
    tokio::task::spawn_blocking(move || (host.run(), host)).await.expect("it ends")
}

fn gemini(server: &Server, arguments: &[&str]) -> Host {
    Host::new(["run", "--model", "gemini/gemini-2.5-pro"])
        .args(arguments)
        .env("GEMINI_API_KEY", "AIza-secret")
        .env("GOOGLE_GEMINI_BASE_URL", server.url(""))
}

fn openai(server: &Server, arguments: &[&str]) -> Host {
    Host::new(["run", "--model", "openai/gpt-5"])
        .args(arguments)
        .env("OPENAI_API_KEY", "sk-secret")
        .env("OPENAI_BASE_URL", server.url("/v1"))
}

fn files(host: Host) -> Host {
    (0..8).fold(host, |host, number| host.file(&format!("f{number}.txt"), format!("content {number}\n")))
}

/// The calls of the issue of life: eight reads, a search, a refused write, a tool that is none, wrong arguments.
fn calls() -> Vec<(&'static str, Value)> {
    let mut calls: Vec<_> = (0..8).map(|number| ("read_file", json!({"path": format!("f{number}.txt")}))).collect();
    calls.push(("grep", json!({"pattern": "content 3"})));
    calls.push(("write_file", json!({"path": "new.txt", "content": "x"})));
    calls.push(("read_flie", json!({"path": "f0.txt"})));
    calls.push(("read_file", json!({"file": "f0.txt"})));
    calls
}

/// What each of them must be answered with.
fn check_responses(responses: &[String]) {
    assert_eq!(responses.len(), 12, "{responses:?}");
    for (number, response) in responses.iter().take(8).enumerate() {
        assert!(response.contains(&format!("content {number}")), "{response}");
    }
    assert!(responses[8].contains("f3.txt:1: content 3"), "{}", responses[8]);
    assert!(responses[9].contains("--approval-mode auto-edit"), "{}", responses[9]);
    assert!(responses[10].contains("`read_file`"), "{}", responses[10]);
    assert!(responses[11].contains("do not meet its schema"), "{}", responses[11]);
}

#[tokio::test]
async fn a_conversation_with_gemini() {
    let parts: Vec<Value> = calls()
        .iter()
        .enumerate()
        .map(|(at, (name, arguments))| {
            let mut part = json!({"functionCall": {"name": name, "args": arguments}});
            if at == 0 {
                part["thoughtSignature"] = json!("c2lnbmF0dXJl");
            }
            part
        })
        .collect();
    let first = [
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "**Look** first", "thought": true}]}}]}),
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
               "usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 20, "thoughtsTokenCount": 5}}),
    ];
    let second = [
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "It is "}]}}]}),
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "done."}]}, "finishReason": "STOP"}],
               "usageMetadata": {"promptTokenCount": 80, "candidatesTokenCount": 3}}),
    ];
    let server = server(vec![Answer::events(first), Answer::events(second)]).await;
    let (ended, host) = run(files(gemini(&server, &["--output-format", "json", "Look"]))).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["response"], "It is done.");
    assert_eq!(ended.json()["stats"]["tokens"]["thought"], 5);
    assert!(!host.repository().join("new.txt").exists());

    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!(request.path, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse");
        assert_eq!(request.header("x-goog-api-key"), Some("AIza-secret"));
    }
    let tools = &requests[0].json()["tools"][0]["functionDeclarations"];
    // The ten tools that are built in, and the one agent.
    assert!(tools.as_array().is_some_and(|tools| tools.len() == 11), "{tools}");
    let contents = requests[1].json()["contents"].clone();
    assert_eq!(contents[1]["parts"][0]["thoughtSignature"], "c2lnbmF0dXJl");
    let responses: Vec<String> = contents[2]["parts"]
        .as_array()
        .expect("there are parts")
        .iter()
        .map(|part| part["functionResponse"]["response"].to_string())
        .collect();
    check_responses(&responses);
}

#[tokio::test]
async fn a_conversation_with_an_openai_compatible_server() {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}).to_string();
    let mut first = vec![delta(json!({"role": "assistant", "content": null}))];
    for (at, (name, arguments)) in calls().iter().enumerate() {
        let text = arguments.to_string();
        let (head, tail) = text.split_at(5);
        first.push(delta(json!({"tool_calls": [{"index": at, "id": format!("call_{at}"), "type": "function",
                                "function": {"name": name, "arguments": head}}]})));
        first.push(delta(json!({"tool_calls": [{"index": at, "function": {"arguments": tail}}]})));
    }
    first.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}).to_string());
    first.push(json!({"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 20}}).to_string());
    first.push("[DONE]".to_owned());
    let second = vec![
        delta(json!({"content": "It is "})),
        delta(json!({"content": "done."})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).to_string(),
        "[DONE]".to_owned(),
    ];
    let server = server(vec![Answer::events(first), Answer::events(second)]).await;
    let (ended, _) = run(files(openai(&server, &["Look"]))).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "It is done.\n"), "{ended:?}");

    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].path, "/v1/chat/completions");
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-secret"));
    let messages = requests[1].json()["messages"].clone();
    let answered: Vec<Value> = messages
        .as_array()
        .expect("there are messages")
        .iter()
        .filter(|message| message["role"] == "tool")
        .cloned()
        .collect();
    let ids: Vec<_> =
        answered.iter().map(|message| message["tool_call_id"].as_str().expect("each has an id").to_owned()).collect();
    assert_eq!(ids, (0..12).map(|at| format!("call_{at}")).collect::<Vec<_>>());
    check_responses(&answered.iter().map(|message| message["content"].to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_tool_that_loops_for_ever_is_stopped_and_the_run_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let guest = host_tests::host::guest_file("misbehave", folder.path()).await;
    let reply =
        |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
    let server = server(vec![
        Answer::events([reply(json!([
            {"functionCall": {"name": "loop_for_ever", "args": {}}},
            {"functionCall": {"name": "panic", "args": {"text": "the sky fell"}}},
            {"functionCall": {"name": "echo", "args": {"text": "still here"}}}
        ]))]),
        Answer::events([reply(json!([{"text": "Done."}]))]),
    ])
    .await;
    let host =
        gemini(&server, &["--plugin", &guest.display().to_string(), "Loop"]).configured("[limits]\ncall_seconds = 1\n");
    let (ended, _) = run(host).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    let parts = server.requests()[1].json()["contents"][2]["parts"].clone();
    let said = |at: usize| parts[at]["functionResponse"]["response"].to_string();
    assert!(said(0).contains("stopped after 1 s"), "{parts}");
    assert!(said(1).contains("the sky fell"), "{parts}");
    assert!(said(2).contains("still here"), "{parts}");
}

#[tokio::test]
async fn what_a_service_refuses_is_told_with_what_to_do_and_the_right_code() {
    let long = "x".repeat(1 << 20);
    for (answer, code, says) in [
        (Answer::status(401, r#"{"error": {"message": "Invalid API key"}}"#), 41, "GEMINI_API_KEY"),
        (Answer::status(403, r#"{"error": {"message": "no"}}"#), 41, "no"),
        (Answer::status(404, r#"{"error": {"message": "no such model"}}"#), 52, "no such model"),
        (Answer::status(429, r#"{"error": {"message": "slow down"}}"#), 59, "slow down"),
        (Answer::status(500, "boom \u{1b}[2J"), 59, "boom"),
        (Answer::status(502, &long), 59, "502"),
        (Answer::ok("<html>not a stream</html>"), 59, ""),
        (Answer::events(["{\"candidates\": [{\"content\": {\"pa"]), 59, ""),
        (Answer::events(["rubbish"]), 59, ""),
        (
            Answer::events([json!({"candidates": [{"content": {"parts": [{"text": "half an ans"}]}}]})]).torn(),
            59,
            "half an ans",
        ),
        (Answer::events([json!({"promptFeedback": {"blockReason": "SAFETY"}})]), 59, "SAFETY"),
        (Answer::redirect(302, "http://127.0.0.1:1/"), 52, "302"),
    ] {
        let server = server(vec![answer.clone()]).await;
        let (ended, host) = run(gemini(&server, &["Look"])).await;
        assert_eq!(ended.code, Some(code), "{ended:?} for {answer:?}");
        assert_eq!(ended.stdout, "", "{ended:?}");
        assert!(ended.stderr.contains("error: ") && ended.stderr.contains(says), "{says} in {ended:?}");
        assert!(
            !ended.stderr.contains('\u{1b}')
                && !ended.stderr.contains("panicked")
                && !ended.stderr.contains("AIza-secret"),
            "{ended:?}"
        );
        assert!(ended.stderr.len() < 10_000, "{}", ended.stderr.len());
        assert!(host.session().len() > 1, "the session is there");
    }
}

#[test]
fn a_service_that_is_not_there_is_named() {
    let ended = Host::new(["run", "--model", "openai/x", "Look"]).env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1").run();
    assert_eq!(ended.code, Some(59), "{ended:?}");
    assert!(ended.stderr.contains("127.0.0.1:1") && ended.stderr.contains("help: "), "{ended:?}");
}

/// The stream of a reply may be cut anywhere; the answer is the same.
#[tokio::test]
async fn programs_that_a_tool_runs_do_not_see_the_key() {
    let calls = json!([{"functionCall": {"name": "shell", "args": {"command": "env | grep -c -i -e secret -e api_key || true"}}}]);
    let reply =
        |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
    let server =
        server(vec![Answer::events([reply(calls)]), Answer::events([reply(json!([{"text": "Done."}]))])]).await;
    let (ended, _) = run(gemini(&server, &["--approval-mode", "yolo", "Look"])).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let requests: Vec<Request> = server.requests();
    let response = requests[1].json()["contents"][2]["parts"][0]["functionResponse"]["response"].to_string();
    assert!(response.contains('0') && !response.contains("AIza"), "{response}");
}
