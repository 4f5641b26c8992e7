//! The shapes of the events of Anthropic's Messages API.
//!
//! Nearly every field is optional: an event has only the fields of its type, and servers that copy the format leave out
//! more. Deliberately not here: what an event means.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

/// One event of any type; the fields of other types are `None`.
#[derive(Deserialize)]
pub(super) struct Event<'d> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Cow<'d, str>,
    pub(super) message: Option<Message>,
    pub(super) content_block: Option<Block>,
    pub(super) delta: Option<Delta>,
    pub(super) usage: Option<WireUsage>,
    pub(super) error: Option<Value>,
}

/// The beginning of a message.
#[derive(Deserialize)]
pub(super) struct Message {
    pub(super) usage: Option<WireUsage>,
}

/// The beginning of a block.
#[derive(Default, Deserialize)]
pub(super) struct Block {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) signature: Option<String>,
    pub(super) data: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) input: Option<Map<String, Value>>,
}

/// A further piece of a block, or of the message.
#[derive(Default, Deserialize)]
pub(super) struct Delta {
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) signature: Option<String>,
    pub(super) partial_json: Option<String>,
    pub(super) citation: Option<Citation>,
    pub(super) stop_reason: Option<String>,
}

/// The source of a text.
#[derive(Deserialize)]
pub(super) struct Citation {
    pub(super) url: Option<String>,
}

/// Token counts; those read from or written to the cache are not among those sent.
#[derive(Default, Deserialize)]
pub(super) struct WireUsage {
    pub(super) input_tokens: Option<u64>,
    pub(super) cache_creation_input_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) output_tokens_details: Option<OutputDetails>,
}

/// The part of the answer that is not visible text.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct OutputDetails {
    pub(super) thinking_tokens: Option<u64>,
}
