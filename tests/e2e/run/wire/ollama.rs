//! A conversation with Ollama in its own words, and finding it where nobody named a model.

use super::*;

fn lines(values: impl IntoIterator<Item = Value>) -> Answer {
    let body: String = values.into_iter().map(|value| format!("{value}\n")).collect();
    Answer::ok(body).header("content-type", "application/x-ndjson")
}

fn message(message: Value) -> Value {
    json!({"model": "qwen3:8b", "message": message, "done": false})
}

fn done() -> Value {
    json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
           "prompt_eval_count": 50, "eval_count": 20})
}

#[tokio::test]
async fn a_conversation_with_ollama() {
    let called = calls().into_iter().map(|(name, arguments)| {
        message(json!({"content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}))
    });
    let thought = message(json!({"role": "assistant", "content": "", "thinking": "**Look** first"}));
    let first = lines(std::iter::once(thought).chain(called).chain([done()]));
    let second = lines([message(json!({"content": "It is "})), message(json!({"content": "done."})), done()]);
    let server = server(vec![first, second]).await;
    // As people set it: no scheme.
    let host = Host::new(["run", "--model", "ollama/qwen3:8b", "--output-format", "json", "Look"])
        .env("OLLAMA_HOST", format!("127.0.0.1:{}", server.port()));
    let (ended, _) = run(files(host)).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["response"], "It is done.");
    assert_eq!(ended.json()["stats"]["tokens"]["input"], 100);

    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].path.as_str()), (2, "/api/chat"));
    assert_eq!(requests[0].json()["model"], "qwen3:8b");
    assert_eq!(requests[0].json()["tools"].as_array().map(Vec::len), Some(14));
    let messages = requests[1].json()["messages"].clone();
    let of = |role: &str| -> Vec<Value> {
        let messages = messages.as_array().expect("there are messages").iter();
        messages.filter(|message| message["role"] == role).cloned().collect()
    };
    let results = of("tool");
    let names: Vec<_> = results.iter().map(|result| result["tool_name"].as_str().expect("a name")).collect();
    assert_eq!(names, calls().iter().map(|(name, _)| *name).collect::<Vec<_>>());
    assert_eq!(of("assistant")[0]["thinking"], "**Look** first");
    check_responses(&results.iter().map(|result| result["content"].to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn ollama_missing_model_is_reported_with_how_to_get_it() {
    for (status, words, help) in [
        (404, "model 'x' not found", "ollama pull x"),
        (400, "registry.ollama.ai/library/x:latest does not support tools", "tools = \"text\""),
    ] {
        let server = Server::start(move |_| Answer::status(status, &json!({"error": words}).to_string())).await;
        let host = Host::new(["run", "--model", "ollama/x", "Look"]).env("OLLAMA_HOST", server.url(""));
        let (ended, _) = run(host).await;
        assert_eq!(ended.code, Some(52), "{ended:?}");
        assert!(ended.stderr.contains(help), "{help} in {ended:?}");
    }
}

#[tokio::test]
async fn without_a_model_and_a_key_the_first_of_a_local_server_is_asked() {
    let server = Server::start(|request| match request.path.as_str() {
        "/api/tags" => {
            let embeds = json!({"name": "nomic-embed-text:latest", "details": {"family": "nomic-bert"}});
            Answer::ok(json!({"models": [embeds, {"name": "qwen3:8b", "details": {"family": "qwen3"}}]}).to_string())
        }
        _ => lines([message(json!({"content": "Hello."})), done()]),
    })
    .await;
    let (ended, _) = run(Host::new(["run", "Look"]).env("OLLAMA_HOST", server.url(""))).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Hello.\n"), "{ended:?}");
    assert_eq!(server.requests()[1].json()["model"], "qwen3:8b");
}
