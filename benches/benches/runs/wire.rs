//! The wire formats that the host speaks, as their services send an answer.
//!
//! Each event has the fields that the service sends, those that the host ignores included: skipping them is work, too.
//! Vertex AI's format is Gemini's, and is read by the same code.

use serde_json::{Value, json};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    Anthropic,
    Gemini,
    Ollama,
}

impl Wire {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// What the host calls a model of it.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Chat => "openai/x",
            Self::Responses => "openai-responses/x",
            Self::Anthropic => "anthropic/x",
            Self::Gemini => "gemini/x",
            Self::Ollama => "ollama/x",
        }
    }

    /// The name of its provider.
    pub(crate) fn provider(self) -> &'static str {
        let model = self.model();
        model.split_once('/').map_or(model, |(provider, _)| provider)
    }

    /// The environment variable with the service's address.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses => "OPENAI_BASE_URL",
            Self::Anthropic => "ANTHROPIC_BASE_URL",
            Self::Gemini => "GOOGLE_GEMINI_BASE_URL",
            Self::Ollama => "OLLAMA_HOST",
        }
    }

    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses | Self::Anthropic | Self::Gemini => "text/event-stream",
            Self::Ollama => "application/x-ndjson",
        }
    }

    /// The events of an answer in these pieces, as they are sent.
    pub(crate) fn answer(self, pieces: &[String]) -> Vec<String> {
        let counted = pieces.iter().enumerate();
        match self {
            Self::Chat => {
                let last = chat(&json!({}), &json!("stop"));
                let events = pieces.iter().map(|piece| chat(&json!({"content": piece}), &Value::Null));
                events.chain([last, "data: [DONE]\n\n".to_owned()]).collect()
            }
            Self::Responses => responses(pieces),
            Self::Anthropic => anthropic(pieces),
            Self::Gemini => counted.map(|(at, piece)| gemini(piece, at, at + 1 == pieces.len())).collect(),
            Self::Ollama => pieces.iter().map(|piece| ollama(piece, false)).chain([ollama("", true)]).collect(),
        }
    }
}

fn chat(delta: &Value, finish: &Value) -> String {
    let event = json!({
        "id": "chatcmpl-C9x2Vb7TqLk4WmZ1sRjN8hPd", "object": "chat.completion.chunk", "created": 1_760_000_000,
        "model": "gpt-5-2025-08-07", "service_tier": "default", "system_fingerprint": "fp_3f58d112f7",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
        "usage": null, "obfuscation": "k3J9xQ2w",
    });
    format!("data: {event}\n\n")
}

/// The whole text comes four times at the end, as the service repeats it for each level that is complete.
fn responses(pieces: &[String]) -> Vec<String> {
    let id = "msg_68e7c4b1a2f48190b7d3e5f60718293a4b5c6d7e8f901234";
    let place = |kind: &str, number: usize| {
        json!({
            "type": format!("response.{kind}"), "sequence_number": number, "item_id": id, "output_index": 0,
            "content_index": 0,
        })
    };
    let with = |mut event: Value, more: Value| {
        if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
            event.extend(more);
        }
        event
    };
    let text = pieces.concat();
    let part = json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
    let item = json!({"id": id, "type": "message", "status": "completed", "content": [part], "role": "assistant"});
    let usage = json!({
        "input_tokens": 900, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": pieces.len(),
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 900 + pieces.len(),
    });
    let begun = json!({"id": id, "type": "message", "status": "in_progress", "content": [], "role": "assistant"});
    let mut events = vec![
        json!({"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1", "output": []}}),
        json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": begun}),
    ];
    let delta = |(at, piece): (usize, &String)| {
        let more = json!({"delta": piece, "logprobs": [], "obfuscation": "k3J9xQ2w"});
        with(place("output_text.delta", at + 2), more)
    };
    events.extend(pieces.iter().enumerate().map(delta));
    let next = pieces.len() + 2;
    events.extend([
        with(place("output_text.done", next), json!({"text": text, "logprobs": []})),
        with(place("content_part.done", next + 1), json!({"part": part})),
        json!({"type": "response.output_item.done", "sequence_number": next + 2, "output_index": 0, "item": item}),
        json!({
            "type": "response.completed", "sequence_number": next + 3,
            "response": {"id": "resp_1", "status": "completed", "output": [item], "usage": usage},
        }),
    ]);
    events.iter().map(named).collect()
}

fn anthropic(pieces: &[String]) -> Vec<String> {
    let usage = json!({
        "input_tokens": 900, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1,
    });
    let message = json!({
        "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let mut events = vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    events.extend(pieces.iter().map(
        |piece| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}),
    ));
    events.extend([
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
            "usage": {"output_tokens": pieces.len()},
        }),
        json!({"type": "message_stop"}),
    ]);
    events.iter().map(named).collect()
}

/// An event that its type is repeated before.
fn named(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

fn gemini(piece: &str, at: usize, is_last: bool) -> String {
    let mut candidate = json!({"content": {"parts": [{"text": piece}], "role": "model"}, "index": 0});
    if is_last {
        candidate["finishReason"] = json!("STOP");
    }
    let event = json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": 900, "candidatesTokenCount": at, "totalTokenCount": 900 + at,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 900}],
        },
        "modelVersion": "gemini-3.6-flash", "responseId": "s0TnaJ3fLsDt7M8P5Nyq8Ao",
    });
    format!("data: {event}\r\n\r\n")
}

fn ollama(piece: &str, is_last: bool) -> String {
    let mut event = json!({
        "model": "qwen3:8b", "created_at": "2026-01-01T00:00:00.123456789Z",
        "message": {"role": "assistant", "content": piece}, "done": is_last,
    });
    if let (true, Some(event)) = (is_last, event.as_object_mut()) {
        event.insert("done_reason".to_owned(), json!("stop"));
        event.insert("prompt_eval_count".to_owned(), json!(900));
        event.insert("eval_count".to_owned(), json!(8_000));
    }
    format!("{event}\n")
}
