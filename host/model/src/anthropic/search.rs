//! A search by the service's own tool, as one request whose answer is not a stream.
//!
//! The tool is the version of March 2025, which every current model has. Deliberately not here: the version that
//! filters by running code at the service.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Reply;
use super::event::WireUsage;
use crate::search::{INSTRUCTIONS, MAX_SEARCHES, MAX_TOKENS};
use crate::{WebSearch, WebSource};

/// Writes the body of the request.
pub(super) fn body(model: &str, query: &str) -> Vec<u8> {
    let body = Body {
        model,
        max_tokens: MAX_TOKENS,
        system: INSTRUCTIONS,
        messages: [Message { role: "user", content: query }],
        tools: [Tool { kind: "web_search_20250305", name: "web_search", max_uses: MAX_SEARCHES }],
    };
    serde_json::to_vec(&body).expect("every key is text and no serialiser is our own")
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    system: &'a str,
    messages: [Message<'a>; 1],
    tools: [Tool; 1],
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Tool {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    max_uses: u32,
}

/// The answer: blocks of text with citations, and the results of each search.
#[derive(Deserialize)]
pub(super) struct Answer {
    content: Vec<Block>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Block {
    text: Option<String>,
    citations: Option<Vec<Found>>,
    /// The results of a search; of one that failed, an object with the reason.
    content: Option<Value>,
}

/// A citation or a result: `cited_text` is the first one's, `page_age` the other's.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Found {
    url: Option<String>,
    title: Option<String>,
    cited_text: Option<String>,
    page_age: Option<String>,
}

impl Answer {
    /// Returns what was found: first the pages that the text cites, then the others. If every search failed, the error
    /// as the service reports one.
    pub(super) fn found(self) -> Result<WebSearch, Value> {
        let Self { content: blocks, usage } = self;
        let (mut said, mut cited, mut others, mut failed) = (String::new(), Vec::new(), Vec::new(), None);
        for Block { text, citations, content } in blocks {
            said.push_str(&text.unwrap_or_default());
            cited.extend(citations.unwrap_or_default());
            match content {
                Some(Value::Array(results)) => {
                    others.extend(results.into_iter().filter_map(|found| serde_json::from_value::<Found>(found).ok()));
                }
                Some(error) => failed = error.get("error_code").and_then(Value::as_str).map(str::to_owned).or(failed),
                None => {}
            }
        }
        if let Some(code) = failed.filter(|_| cited.is_empty() && others.is_empty()) {
            return Err(json!({"message": format!("the search failed: {code}"), "type": code}));
        }
        let usage = Reply::default().count(usage.unwrap_or_default());
        Ok(WebSearch::new(&said, cited.into_iter().chain(others).map(source), usage))
    }
}

fn source(Found { url, title, cited_text, page_age }: Found) -> WebSource {
    let [url, title, excerpt, date] = [url, title, cited_text, page_age].map(Option::unwrap_or_default);
    WebSource { url, title, excerpt, date }
}

#[cfg(test)]
mod tests {
    use host_message::Usage;

    use super::*;
    use crate::loopback::{Answer as Served, Loopback};
    use crate::{Anthropic, ErrorKind, Provider as _};

    /// An answer as the service's documentation has it.
    fn answer() -> Value {
        json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
            "content": [
                {"type": "text", "text": "I will search. "},
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "fuel"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
                    {"type": "web_search_result", "url": "https://a.example/", "title": "Fuel & fire",
                     "encrypted_content": "EqgfCioIARgB", "page_age": "November 1, 2026"},
                    {"type": "web_search_result", "url": "https://b.example/", "title": "More",
                     "encrypted_content": "EqgfCioIARgC", "page_age": null},
                ]},
                {"type": "text", "text": "It burns.", "citations": [
                    {"type": "web_search_result_location", "url": "https://b.example/", "title": "More",
                     "encrypted_index": "Eo8BCioI", "cited_text": "Fuel burns."},
                ]},
            ],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 900, "cache_read_input_tokens": 100, "output_tokens": 50,
                      "server_tool_use": {"web_search_requests": 1}},
        })
    }

    #[tokio::test]
    async fn search_is_one_request_with_the_services_tool_and_its_answer_is_read() {
        let loopback = Loopback::start(Served::json(&answer().to_string())).await;
        let provider = Anthropic::new(loopback.access()).expect("it can be asked");
        let address = provider.search_address("claude-sonnet-5-5");
        assert_eq!(address, Some(format!("{}/v1/messages", loopback.address)));
        let found = provider.search("claude-sonnet-5-5", "fuel").await.expect("it answers").expect("it searches");
        let source = |url: &str, title: &str, excerpt: &str, date: &str| WebSource {
            url: url.to_owned(),
            title: title.to_owned(),
            excerpt: excerpt.to_owned(),
            date: date.to_owned(),
        };
        let sources = vec![
            source("https://b.example/", "More", "Fuel burns.", ""),
            source("https://a.example/", "Fuel & fire", "", "November 1, 2026"),
        ];
        let usage = Usage { input: 1_000, output: 50, cached: 100, ..Usage::default() };
        assert_eq!(found, WebSearch { answer: "I will search. It burns.".to_owned(), sources, usage });
        let request = loopback.request.await.expect("it was sent");
        let (head, body) = request.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("POST /v1/messages ") && head.contains("x-api-key: secret-key-1234"), "{head}");
        let expected = json!({
            "model": "claude-sonnet-5-5", "max_tokens": MAX_TOKENS, "system": INSTRUCTIONS,
            "messages": [{"role": "user", "content": "fuel"}],
            "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": MAX_SEARCHES}],
        });
        assert_eq!(serde_json::from_str::<Value>(body).expect("it is JSON"), expected);
    }

    #[tokio::test]
    async fn search_that_failed_at_the_service_is_an_error_with_its_reason() {
        let body = json!({"content": [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "fuel"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
             "content": {"type": "web_search_tool_result_error", "error_code": "too_many_requests"}},
            {"type": "text", "text": "I could not search."},
        ]});
        let loopback = Loopback::start(Served::json(&body.to_string())).await;
        let provider = Anthropic::new(loopback.access()).expect("it can be asked");
        let error = provider.search("claude-sonnet-5-5", "fuel").await.expect_err("it failed");
        assert!(error.to_string().contains("the search failed: too_many_requests"), "{error}");
        assert_ne!(error.kind(), ErrorKind::Authentication);
    }
}
