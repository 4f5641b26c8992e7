//! A search by the service's own tool, grounding with Google Search, as one request whose answer is not a stream.
//!
//! Deliberately not here: the search suggestions that come with it, a piece of HTML for a page.

use host_message::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::reply::{WireUsage, usage};
use crate::search::{INSTRUCTIONS, MAX_TOKENS};
use crate::transport::Transport;
use crate::{ModelError, WebSearch, WebSource};

/// Sends the request to this address, which Gemini's own service and Vertex AI have apart.
pub(crate) async fn ask(transport: &Transport, url: Url, query: &str) -> Result<Option<WebSearch>, ModelError> {
    let answer: Answer = transport.ask(url, Some(body(query))).await?;
    answer.found().map(Some).map_err(|why| transport.blocked(&why))
}

/// Writes the body of the request.
fn body(query: &str) -> Vec<u8> {
    let body = Body {
        system_instruction: Words { role: None, parts: [Piece { text: INSTRUCTIONS }] },
        contents: [Words { role: Some("user"), parts: [Piece { text: query }] }],
        tools: [Tool { google_search: Nothing {} }],
        generation_config: Config { max_output_tokens: MAX_TOKENS },
    };
    serde_json::to_vec(&body).expect("every key is text and no serialiser is our own")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    system_instruction: Words<'a>,
    contents: [Words<'a>; 1],
    tools: [Tool; 1],
    generation_config: Config,
}

#[derive(Serialize)]
struct Words<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: [Piece<'a>; 1],
}

#[derive(Serialize)]
struct Piece<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    google_search: Nothing,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    max_output_tokens: u32,
}

/// The answer: a text, and beside it the pages and which piece of the text each supports.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<Value>,
    usage_metadata: Option<Counted>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counted {
    #[serde(flatten)]
    wire: WireUsage,
    /// What the tool read; the service counts it apart.
    tool_use_prompt_token_count: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Candidate {
    content: Said,
    grounding_metadata: Grounding,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    parts: Vec<SaidPiece>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SaidPiece {
    text: String,
    thought: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Grounding {
    grounding_chunks: Vec<Page>,
    grounding_supports: Vec<Support>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Page {
    web: Web,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Web {
    uri: String,
    title: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Support {
    segment: Segment,
    grounding_chunk_indices: Vec<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Segment {
    text: String,
}

impl Answer {
    /// Returns what was found: each page with the first piece of the text that it supports. If the service does not
    /// answer the query, why not.
    fn found(self) -> Result<WebSearch, String> {
        let Self { candidates, prompt_feedback, usage_metadata } = self;
        let blocked = prompt_feedback.as_ref().and_then(|feedback| feedback.get("blockReason")).and_then(Value::as_str);
        if let Some(why) = blocked {
            return Err(why.to_owned());
        }
        let Candidate { content, grounding_metadata } =
            candidates.and_then(|candidates| candidates.into_iter().next()).unwrap_or_default();
        let said: String =
            content.parts.iter().filter(|piece| !piece.thought).map(|piece| piece.text.as_str()).collect();
        let Grounding { grounding_chunks, grounding_supports } = grounding_metadata;
        let excerpt = |at: usize| {
            let mut supports = grounding_supports.iter();
            let found = supports.find(|support| support.grounding_chunk_indices.contains(&at));
            found.map(|support| support.segment.text.clone()).unwrap_or_default()
        };
        let sources = grounding_chunks.into_iter().enumerate().map(|(at, Page { web: Web { uri, title } })| {
            WebSource { url: uri, title, excerpt: excerpt(at), date: String::new() }
        });
        let usage = usage_metadata.map_or(Usage::default(), |Counted { wire, tool_use_prompt_token_count }| {
            let counted = usage(wire);
            Usage { input: counted.input.saturating_add(tool_use_prompt_token_count.unwrap_or(0)), ..counted }
        });
        Ok(WebSearch::new(&said, sources, usage))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::loopback::{Answer as Served, Loopback};
    use crate::{Gemini, Provider as _};

    /// An answer as the service's documentation has it.
    fn answer() -> Value {
        json!({
            "candidates": [{
                "content": {"role": "model", "parts": [{"text": "Thinking.", "thought": true}, {"text": "It burns. Always."}]},
                "finishReason": "STOP",
                "groundingMetadata": {
                    "webSearchQueries": ["fuel"],
                    "searchEntryPoint": {"renderedContent": "<style>.x{}</style><div>fuel</div>"},
                    "groundingChunks": [
                        {"web": {"uri": "https://vertexaisearch.cloud.google.com/grounding-api-redirect/A", "title": "a.example"}},
                        {"web": {"uri": "https://vertexaisearch.cloud.google.com/grounding-api-redirect/B", "title": "b.example"}},
                    ],
                    "groundingSupports": [
                        {"segment": {"startIndex": 0, "endIndex": 9, "text": "It burns."}, "groundingChunkIndices": [1]},
                    ],
                },
            }],
            "usageMetadata": {"promptTokenCount": 60, "candidatesTokenCount": 30, "thoughtsTokenCount": 20,
                              "toolUsePromptTokenCount": 400, "totalTokenCount": 510},
            "modelVersion": "gemini-3.8-flash",
        })
    }

    #[tokio::test]
    async fn search_is_one_request_with_the_services_tool_and_its_answer_is_read() {
        let loopback = Loopback::start(Served::json(&answer().to_string())).await;
        let provider = Gemini::new(loopback.access()).expect("it can be asked");
        let path = "/v1beta/models/gemini-3.8-flash:generateContent";
        assert_eq!(provider.search_address("gemini-3.8-flash"), Some(format!("{}{path}", loopback.address)));
        let found = provider.search("gemini-3.8-flash", "fuel").await.expect("it answers").expect("it searches");
        let source = |at: char, excerpt: &str| WebSource {
            url: format!("https://vertexaisearch.cloud.google.com/grounding-api-redirect/{}", at.to_ascii_uppercase()),
            title: format!("{at}.example"),
            excerpt: excerpt.to_owned(),
            date: String::new(),
        };
        let usage = Usage { input: 460, output: 30, thought: 20, ..Usage::default() };
        let sources = vec![source('a', ""), source('b', "It burns.")];
        assert_eq!(found, WebSearch { answer: "It burns. Always.".to_owned(), sources, usage });
        let request = loopback.request.await.expect("it was sent");
        let (head, body) = request.split_once("\r\n\r\n").expect("a head and a body");
        assert!(
            head.starts_with(&format!("POST {path} ")) && head.contains("x-goog-api-key: secret-key-1234"),
            "{head}"
        );
        let expected = json!({
            "systemInstruction": {"parts": [{"text": INSTRUCTIONS}]},
            "contents": [{"role": "user", "parts": [{"text": "fuel"}]}],
            "tools": [{"googleSearch": {}}],
            "generationConfig": {"maxOutputTokens": MAX_TOKENS},
        });
        assert_eq!(serde_json::from_str::<Value>(body).expect("it is JSON"), expected);
    }

    #[tokio::test]
    async fn search_that_the_service_blocks_is_an_error_with_its_reason() {
        let body = r#"{"promptFeedback": {"blockReason": "SAFETY"}}"#;
        let loopback = Loopback::start(Served::json(body)).await;
        let provider = Gemini::new(loopback.access()).expect("it can be asked");
        let error = provider.search("gemini-3.8-flash", "fuel").await.expect_err("it is blocked");
        assert!(error.to_string().contains("SAFETY"), "{error}");
    }
}
