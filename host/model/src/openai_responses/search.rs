//! A search by the service's own tool `web_search`, as one request whose answer is not a stream.

use host_message::Usage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::reply::{WireUsage, usage};
use crate::search::{INSTRUCTIONS, MAX_TOKENS};
use crate::{WebSearch, WebSource};

/// Writes the body of the request. The model has to search: without that it may answer from memory.
pub(super) fn body(model: &str, query: &str) -> Vec<u8> {
    let body = Body {
        model,
        instructions: INSTRUCTIONS,
        input: query,
        tools: [Tool { kind: "web_search" }],
        tool_choice: "required",
        include: ["web_search_call.action.sources"],
        max_output_tokens: MAX_TOKENS,
        store: false,
    };
    serde_json::to_vec(&body).expect("every key is text and no serialiser is our own")
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    instructions: &'a str,
    input: &'a str,
    tools: [Tool; 1],
    tool_choice: &'static str,
    include: [&'static str; 1],
    max_output_tokens: u32,
    store: bool,
}

#[derive(Serialize)]
struct Tool {
    #[serde(rename = "type")]
    kind: &'static str,
}

/// The answer: a list of items, among them the searches and the message that cites what they found.
#[derive(Deserialize)]
pub(super) struct Answer {
    /// The error of a request that was accepted and failed.
    pub(super) error: Option<Value>,
    output: Option<Vec<Map<String, Value>>>,
    usage: Option<WireUsage>,
}

impl Answer {
    /// Returns what was found: first the pages that the message cites, then the others.
    pub(super) fn found(self) -> WebSearch {
        let Self { output, usage: counted, .. } = self;
        let items = output.unwrap_or_default();
        let (mut said, mut cited, mut others) = (String::new(), Vec::new(), Vec::new());
        for item in &items {
            for piece in list(item.get("content")) {
                said.push_str(text(piece, "text"));
                cited.extend(list(piece.get("annotations")).map(source));
            }
            others.extend(list(item.get("action").and_then(|action| action.get("sources"))).map(source));
        }
        WebSearch::new(&said, cited.into_iter().chain(others), counted.map_or(Usage::default(), usage))
    }
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn source(value: &Value) -> WebSource {
    let [url, title] = ["url", "title"].map(|key| text(value, key).to_owned());
    WebSource { url, title, ..WebSource::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::loopback::{Answer as Served, Loopback};
    use crate::{OpenAiResponses, Provider as _};

    /// An answer as the service's documentation has it.
    fn answer() -> Value {
        json!({
            "id": "resp_1", "object": "response", "status": "completed", "error": null, "model": "gpt-6.1-terra",
            "output": [
                {"id": "rs_1", "type": "reasoning", "summary": []},
                {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {
                    "type": "search", "query": "fuel", "queries": ["fuel"],
                    "sources": [{"type": "url", "url": "https://a.example/"}, {"type": "url", "url": "https://b.example/"}],
                }},
                {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{
                    "type": "output_text", "text": "It burns.", "annotations": [{
                        "type": "url_citation", "start_index": 0, "end_index": 9,
                        "url": "https://a.example/", "title": "Fuel & fire",
                    }],
                }]},
            ],
            "usage": {"input_tokens": 900, "input_tokens_details": {"cached_tokens": 100}, "output_tokens": 50,
                      "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 950},
        })
    }

    #[tokio::test]
    async fn search_is_one_request_with_the_services_tool_and_its_answer_is_read() {
        let loopback = Loopback::start(Served::json(&answer().to_string())).await;
        let provider = OpenAiResponses::new(loopback.access()).expect("it can be asked");
        let address = provider.search_address("gpt-6.1-terra");
        assert_eq!(address, Some(format!("{}/responses", loopback.address)));
        let found = provider.search("gpt-6.1-terra", "fuel").await.expect("it answers").expect("it searches");
        let source =
            |url: &str, title: &str| WebSource { url: url.to_owned(), title: title.to_owned(), ..WebSource::default() };
        let usage = Usage { input: 900, output: 30, cached: 100, thought: 20, ..Usage::default() };
        let sources = vec![source("https://a.example/", "Fuel & fire"), source("https://b.example/", "")];
        assert_eq!(found, WebSearch { answer: "It burns.".to_owned(), sources, usage });
        let request = loopback.request.await.expect("it was sent");
        let (head, body) = request.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("POST /responses ") && head.contains("Bearer secret-key-1234"), "{head}");
        let expected = json!({
            "model": "gpt-6.1-terra", "instructions": INSTRUCTIONS, "input": "fuel", "tools": [{"type": "web_search"}],
            "tool_choice": "required", "include": ["web_search_call.action.sources"],
            "max_output_tokens": MAX_TOKENS, "store": false,
        });
        assert_eq!(serde_json::from_str::<Value>(body).expect("it is JSON"), expected);
    }

    #[tokio::test]
    async fn search_that_the_service_rejects_is_its_error() {
        for body in [
            r#"{"error": {"message": "the tool web_search is not supported", "type": "invalid_request_error"}}"#,
            r#"{"status": "failed", "output": [], "error": {"code": "server_error", "message": "web_search is not there"}}"#,
            "[]",
        ] {
            let loopback = Loopback::start(Served::json(body)).await;
            let provider = OpenAiResponses::new(loopback.access()).expect("it can be asked");
            let error = provider.search("gpt-6.1-terra", "fuel").await.expect_err("it failed").to_string();
            assert!(!error.contains("secret-key"), "{error}");
        }
    }
}
