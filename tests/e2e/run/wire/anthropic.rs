//! A conversation in the words of Anthropic's messages.

use super::*;

pub(super) fn host(server: &Server, arguments: &[&str]) -> Host {
    Host::new(["run", "--model", "anthropic/claude-haiku-4-5"])
        .args(arguments)
        .env("ANTHROPIC_API_KEY", "sk-ant-secret")
        .env("ANTHROPIC_BASE_URL", server.url(""))
}

fn block(index: usize, block: Value, deltas: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut events = vec![json!({"type": "content_block_start", "index": index, "content_block": block})];
    events
        .extend(deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn reply(reason: &str, blocks: impl IntoIterator<Item = Vec<Value>>) -> Answer {
    let start = json!({"type": "message_start", "message": {"role": "assistant", "content": [],
                       "usage": {"input_tokens": 10, "cache_read_input_tokens": 40, "output_tokens": 1}}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 20}});
    let mut events = vec![start, json!({"type": "ping"})];
    events.extend(blocks.into_iter().flatten());
    events.extend([end, json!({"type": "message_stop"})]);
    Answer::events(events)
}

#[tokio::test]
async fn a_conversation_with_anthropic() {
    let thought = block(
        0,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        [
            json!({"type": "thinking_delta", "thinking": "**Look** first"}),
            json!({"type": "signature_delta", "signature": "c2ln"}),
        ],
    );
    let called = calls().into_iter().enumerate().map(|(at, (name, arguments))| {
        let text = arguments.to_string();
        let (head, tail) = text.split_at(5);
        block(
            at + 1,
            json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": name, "input": {}}),
            [head, tail].map(|json| json!({"type": "input_json_delta", "partial_json": json})),
        )
    });
    let first = reply("tool_use", std::iter::once(thought).chain(called));
    let said = ["It is ", "done."].map(|text| json!({"type": "text_delta", "text": text}));
    let second = reply("end_turn", [block(0, json!({"type": "text", "text": ""}), said)]);
    let server = server(vec![first, second]).await;
    let (ended, _) = run(files(host(&server, &["--output-format", "json", "Look"]))).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["response"], "It is done.");
    assert_eq!(
        ended.json()["stats"]["tokens"],
        json!({"input": 100, "output": 40, "cached": 80, "thought": 0, "total": 140})
    );

    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].path, "/v1/messages");
    assert_eq!(requests[0].header("x-api-key"), Some("sk-ant-secret"));
    assert_eq!(requests[0].header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(requests[0].json()["tools"].as_array().map(Vec::len), Some(14));
    let messages = requests[1].json()["messages"].clone();
    let thinking = json!({"type": "thinking", "thinking": "**Look** first", "signature": "c2ln"});
    assert_eq!(messages[1]["content"][0], thinking);
    let results = messages[2]["content"].as_array().expect("there are blocks").clone();
    let ids: Vec<_> = results.iter().map(|result| result["tool_use_id"].as_str().expect("an id").to_owned()).collect();
    assert_eq!(ids, (0..12).map(|at| format!("toolu_{at}")).collect::<Vec<_>>());
    assert_eq!((&results[0]["is_error"], &results[9]["is_error"]), (&Value::Null, &json!(true)));
    check_responses(&results.iter().map(|result| result["content"].to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn anthropic_overloaded_service_is_reported_as_such() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let server = Server::start(move |_| Answer::events([error.clone()])).await;
    let host = host(&server, &["Look"]).configured("[retry]\nattempts = 3\nfirst_pause_seconds = 0.02\n");
    let (ended, _) = run(host).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(59), ""), "{ended:?}");
    assert!(ended.stderr.contains("Overloaded") && !ended.stderr.contains("sk-ant"), "{ended:?}");
}
