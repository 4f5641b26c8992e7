//! Models behind real HTTP, with streams of the shapes that the services send.

mod anthropic;
mod ollama;
mod text;

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
        // One script of calls for all wires.
        .configured("editing = \"edit\"\n")
}

fn files(host: Host) -> Host {
    (0..8).fold(host, |host, number| host.file(&format!("f{number}.txt"), format!("content {number}\n")))
}

/// The calls of one busy reply: eight reads, a search, a refused write, a tool that is none, wrong arguments.
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
    assert!(responses[11].contains("invalid arguments for `"), "{}", responses[11]);
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
    // The twelve tools that are built in and need no settings, `ask_user`, and the one agent.
    assert!(tools.as_array().is_some_and(|tools| tools.len() == 14), "{tools}");
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
async fn wire_piped_text_is_a_part_before_the_prompt_in_one_message_of_each_service() {
    let server = Server::start(|_| Answer::status(400, "the test looks at the request alone")).await;
    let (mark, end) = ("--- attached: piped input ---\n", "\n--- end of piped input ---\n\n");
    let piped = format!("{mark}+ a line\n{end}");
    let parts = |kind: &str| json!([{"type": kind, "text": piped}, {"type": kind, "text": "Review this"}]);
    let responses = Host::new(["run", "--model", "openai-responses/gpt-5", "Review this"])
        .env("OPENAI_API_KEY", "sk-secret")
        .env("OPENAI_BASE_URL", server.url("/v1"));
    let ollama = Host::new(["run", "--model", "ollama/qwen3:8b", "Review this"])
        .env("OLLAMA_HOST", format!("127.0.0.1:{}", server.port()));
    let prompt = &["Review this"];
    for (host, path, expected) in [
        (
            gemini(&server, prompt),
            "/contents",
            json!([{"role": "user", "parts": [{"text": piped}, {"text": "Review this"}]}]),
        ),
        (openai(&server, prompt), "/messages", json!([{"role": "user", "content": format!("{piped}Review this")}])),
        (
            text::host(&server, prompt),
            "/messages",
            json!([{"role": "user", "content": format!("{piped}\n\nReview this")}]),
        ),
        (responses, "/input", json!([{"role": "user", "content": parts("input_text")}])),
        (anthropic::host(&server, prompt), "/messages", json!([{"role": "user", "content": parts("text")}])),
        (ollama, "/messages", json!([{"role": "user", "content": format!("{piped}Review this")}])),
    ] {
        let (ended, _) = run(host.input("+ a line\n")).await;
        assert_ne!(ended.code, Some(0), "{ended:?}");
        let requests = server.requests();
        let request = requests.last().expect("it asked").json();
        let mut messages = request.pointer(path).unwrap_or_else(|| panic!("{request}")).clone();
        let list = messages.as_array_mut().expect("messages");
        list.retain(|message| message["role"] == "user");
        for message in list.iter_mut().filter_map(Value::as_object_mut) {
            // What services want besides is not looked at here.
            message.remove("type");
            let is_surroundings =
                |block: &Value| block["text"].as_str().is_some_and(|text| text.starts_with("[Kept in"));
            for name in ["content", "parts"] {
                match message.get_mut(name) {
                    Some(Value::Array(blocks)) => {
                        blocks.retain(|block| !is_surroundings(block));
                        blocks.iter_mut().filter_map(Value::as_object_mut).for_each(|block| {
                            block.remove("cache_control");
                        });
                    }
                    Some(Value::String(text)) => {
                        let said = text.rfind("[End: ").and_then(|at| text[at..].split_once("]\n\n"));
                        *text = said.expect("the surroundings come first").1.to_owned();
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(messages, expected);
    }
}

#[tokio::test]
async fn a_conversation_with_openais_responses() {
    let done = |at: usize, item: Value| json!({"type": "response.output_item.done", "output_index": at, "item": item});
    let completed = |usage: Value| json!({"type": "response.completed", "response": {"status": "completed", "output": [], "usage": usage}});
    let thought = |id: &str| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": format!("secret of {id}")});
    let mut first = vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "**Look** first"}),
        done(0, thought("rs_0")),
    ];
    for (at, (name, arguments)) in calls().iter().enumerate() {
        first.push(json!({"type": "response.function_call_arguments.delta", "output_index": at + 1, "delta": "{"}));
        first.push(done(
            at + 1,
            json!({"type": "function_call", "id": format!("fc_{at}"), "call_id": format!("call_{at}"),
                                       "name": name, "arguments": arguments.to_string(), "status": "completed"}),
        ));
    }
    first.push(done(13, thought("rs_1")));
    first.push(completed(
        json!({"input_tokens": 50, "output_tokens": 25, "output_tokens_details": {"reasoning_tokens": 5}}),
    ));
    let second = vec![
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "It is "}),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "done."}),
        completed(json!({"input_tokens": 80, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 3})),
    ];
    let server = server(vec![Answer::events(first), Answer::events(second)]).await;
    let host = Host::new(["run", "--model", "openai-responses/gpt-5", "--output-format", "json", "Look"])
        .env("OPENAI_API_KEY", "sk-secret")
        .env("OPENAI_BASE_URL", server.url("/v1"))
        .configured("editing = \"edit\"\n");
    let (ended, _) = run(files(host)).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["response"], "It is done.");
    assert_eq!(
        ended.json()["stats"]["tokens"],
        json!({"input": 130, "output": 23, "cached": 40, "thought": 5, "total": 158})
    );

    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].path, "/v1/responses");
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-secret"));
    let body = requests[1].json();
    assert_eq!((&body["store"], &body["include"]), (&json!(false), &json!(["reasoning.encrypted_content"])));
    let input = body["input"].as_array().expect("there are items").clone();
    assert_eq!(input[1], thought("rs_0"));
    for at in 0..12 {
        assert_eq!(input[2 + at]["call_id"], format!("call_{at}"));
        assert_eq!(input[15 + at]["call_id"], format!("call_{at}"));
    }
    assert_eq!(input[14], thought("rs_1"), "what was thought behind the calls stays behind them");
    check_responses(&input[15..].iter().map(|item| item["output"].to_string()).collect::<Vec<_>>());
}

/// A file of credentials of a user who logged in, for whom this server has the tokens.
fn credentials(server: &Server, folder: &tempfile::TempDir) -> String {
    let file = folder.path().join("credentials.json");
    let credentials = json!({"type": "authorized_user", "client_id": "id", "client_secret": "client-s3cret",
                             "refresh_token": "refresh-s3cret", "token_uri": server.url("/token")});
    std::fs::write(&file, credentials.to_string()).expect("the file is written");
    file.display().to_string()
}

#[tokio::test]
async fn a_conversation_with_vertex_by_the_credentials_of_a_login() {
    let part = |parts: Value| {
        Answer::events([
            json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}),
        ])
    };
    let token = |name: &str| Answer::ok(json!({"access_token": name, "expires_in": 3600}).to_string());
    let server = server(vec![
        token("t0ken-1"),
        part(json!([{"functionCall": {"id": "v1", "name": "read_file", "args": {"path": "f3.txt"}}}])),
        Answer::status(401, r#"{"error": {"code": 401, "message": "taken back", "status": "UNAUTHENTICATED"}}"#),
        token("t0ken-2"),
        part(json!([{"text": "It is done."}])),
    ])
    .await;
    let folder = tempfile::tempdir().expect("a folder");
    let host = Host::new(["run", "--model", "vertex/gemini-3-pro", "Look"])
        .env("GOOGLE_APPLICATION_CREDENTIALS", credentials(&server, &folder))
        .env("GOOGLE_CLOUD_PROJECT", "my-project")
        .env("GOOGLE_CLOUD_LOCATION", "europe-west4")
        .env("GOOGLE_VERTEX_BASE_URL", server.url(""));
    let (ended, _) = run(files(host)).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "It is done.\n"), "{ended:?}");
    let requests = server.requests();
    assert_eq!(requests.len(), 5);
    let place = "/v1/projects/my-project/locations/europe-west4/publishers/google/models";
    for (at, token) in [(1, "t0ken-1"), (2, "t0ken-1"), (4, "t0ken-2")] {
        assert_eq!(requests[at].path, format!("{place}/gemini-3-pro:streamGenerateContent?alt=sse"));
        assert_eq!(requests[at].header("authorization"), Some(format!("Bearer {token}").as_str()));
    }
    let contents = requests[4].json()["contents"].clone();
    assert_eq!(contents[1]["parts"][0]["thoughtSignature"], "skip_thought_signature_validator");
    let response = &contents[2]["parts"][0]["functionResponse"];
    assert!(response["response"].to_string().contains("content 3") && response["id"] == "v1", "{response}");
}

#[tokio::test]
async fn gemini_uses_a_login_as_a_key_and_reports_what_is_wrong_with_it() {
    let gone = json!({"error": "invalid_grant", "error_description": "Token has been revoked: refresh-s3cret"});
    let server = server(vec![Answer::status(400, &gone.to_string())]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let host = gemini(&server, &["Look"])
        .env("GOOGLE_APPLICATION_CREDENTIALS", credentials(&server, &folder))
        .configured("[providers.gemini]\nauth = \"oauth\"\n");
    let (ended, _) = run(host).await;
    assert_eq!(ended.code, Some(41), "{ended:?}");
    for says in ["could not log in to `gemini`", "credentials.json", "Token has been revoked", "gcloud auth"] {
        assert!(ended.stderr.contains(says), "{says} in {ended:?}");
    }
    assert!(!ended.stderr.contains("s3cret"), "{ended:?}");
    let missing = Host::new(["run", "--model", "vertex/x", "Look"]).env("GOOGLE_CLOUD_PROJECT", "p");
    let (ended, _) = run(missing.env("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file.json")).await;
    assert_eq!(ended.code, Some(41), "{ended:?}");
    assert!(ended.stderr.contains("/no/such/file.json") && ended.stderr.contains("GOOGLE_APPLICATION"), "{ended:?}");
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

// promise plugin.misbehaves
#[tokio::test]
async fn wire_tool_that_loops_forever_is_stopped_and_the_run_continues() {
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
    assert!(said(0).contains("timed out after 1 s"), "{parts}");
    assert!(said(1).contains("the sky fell"), "{parts}");
    assert!(said(2).contains("still here"), "{parts}");
}

#[test]
fn a_service_that_is_not_there_is_named() {
    let ended = Host::new(["run", "--model", "openai/x", "Look"])
        .env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .configured("[retry]\nattempts = 3\nfirst_pause_seconds = 0.01\n")
        .run();
    assert_eq!(ended.code, Some(59), "{ended:?}");
    assert_eq!(ended.stderr.matches("; retrying").count(), 2, "{ended:?}");
    assert!(ended.stderr.contains("127.0.0.1:1") && ended.stderr.contains("help: "), "{ended:?}");
}

// promise process.secrets
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

#[tokio::test]
async fn wire_configured_proxy_and_headers_are_used_and_an_invalid_header_is_reported() {
    let reply = |text: &str| json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]});
    let server = server(vec![Answer::events([reply("Through the proxy.")])]).await;
    let host = |configuration: &str| {
        Host::new(["run", "--model", "gemini/gemini-2.5-pro", "Look"])
            .env("GEMINI_API_KEY", "AIza-secret")
            .env("GOOGLE_GEMINI_BASE_URL", "http://model.invalid/base")
            .configured(&format!("[providers.gemini]\nproxy = \"{}\"\n{configuration}", server.url("")))
    };
    let (ended, _) = run(host("headers = { x-team = \"sec-ret\" }\n")).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Through the proxy.\n"), "{ended:?}");
    let requests = server.requests();
    assert_eq!(
        requests[0].path,
        "http://model.invalid/base/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
    );
    assert_eq!(requests[0].header("x-team"), Some("sec-ret"));
    let (ended, _) = run(host("headers = { \"x team\" = \"sec-ret\" }\n")).await;
    assert_eq!(ended.code, Some(52), "{ended:?}");
    assert!(ended.stderr.contains("`x team`") && ended.stderr.contains("[providers.gemini]"), "{ended:?}");
    assert!(!ended.stderr.contains("sec-ret"), "{ended:?}");
}
