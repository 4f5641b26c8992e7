//! A conversation with a model that cannot call tools, behind an OpenAI-compatible server.

use super::*;

fn saying(pieces: &[&str]) -> Answer {
    let delta = |text: &&str| json!({"choices": [{"index": 0, "delta": {"content": text}}]}).to_string();
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).to_string();
    Answer::events(pieces.iter().map(delta).chain([end, "[DONE]".to_owned()]))
}

pub(super) fn host(server: &Server, arguments: &[&str]) -> Host {
    openai(server, arguments).configured("editing = \"edit\"\n[models.\"openai/gpt-5\"]\ntools = \"text\"\n")
}

#[tokio::test]
async fn a_conversation_in_text_mode() {
    let blocks: String = calls()
        .iter()
        .map(|(name, arguments)| format!("```tool_call\n{}\n```\n", json!({"name": name, "arguments": arguments})))
        .collect();
    let example = "A call looks so:\n\n~~~\n```tool_call\n{\"name\": \"ls\"}\n```\n~~~\n\n";
    let text = format!("{example}{blocks}");
    let letters: Vec<String> = text.chars().map(String::from).collect();
    let first = saying(&letters.iter().map(String::as_str).collect::<Vec<_>>());
    let server = server(vec![first, saying(&["It is ", "done."])]).await;
    let (ended, _) = run(files(host(&server, &["--output-format", "stream-json", "Look"]))).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let said = |line: &&Value| line["type"] == "message" && line["role"] != "user";
    let messages: Vec<Value> = ended.lines().iter().filter(said).cloned().collect();
    let shown = messages.iter().filter_map(|line| line["content"].as_str()).collect::<String>();
    assert_eq!(shown, format!("{example}It is done."), "{messages:?}");

    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].json().get("tools"), None);
    let system = requests[0].json()["messages"][0]["content"].to_string();
    assert!(system.contains("## read_file") && system.contains("tool_call"), "{system}");
    let messages = requests[1].json()["messages"].clone();
    assert!(messages[2]["content"].as_str().is_some_and(|text| text.starts_with(example)), "{messages}");
    let answer = messages[3]["content"].as_str().expect("one text").to_owned();
    let results: Vec<String> = (1..=12)
        .map(|number| {
            let begin = answer.find(&format!(" of call {number}, `")).expect("each has a result");
            let end = answer.find(&format!(" of call {}, `", number + 1)).unwrap_or(answer.len());
            answer[begin..end].to_owned()
        })
        .collect();
    check_responses(&results);
}

#[tokio::test]
async fn text_mode_unreadable_call_is_not_an_answer() {
    let server = Server::start(|_| saying(&["I look.\n```tool_call\n{\"name\": \"ls\"\n```\n"])).await;
    let (ended, _) = run(host(&server, &["Look"])).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(59), ""), "{ended:?}");
    assert!(ended.stderr.contains("could not be read"), "{ended:?}");
}
