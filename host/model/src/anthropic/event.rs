//! The shapes of the events in which Anthropic's messages stream a reply.
//!
//! Nearly everything may be missing: an event has the fields of its type alone, and servers that copy the format leave
//! out more. Deliberately not here: what an event means.

use serde::Deserialize;
use serde_json::{Map, Value};

/// One event, whatever its type; what a type does not have is not there.
#[derive(Deserialize)]
pub(super) struct Event {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    pub(super) message: Option<Message>,
    pub(super) content_block: Option<Block>,
    pub(super) delta: Option<Delta>,
    pub(super) usage: Option<WireUsage>,
    pub(super) error: Option<Value>,
}

/// What a message begins with.
#[derive(Deserialize)]
pub(super) struct Message {
    pub(super) usage: Option<WireUsage>,
}

/// A block as it begins.
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

/// More of a block, or of the message.
#[derive(Default, Deserialize)]
pub(super) struct Delta {
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) signature: Option<String>,
    pub(super) partial_json: Option<String>,
    pub(super) citation: Option<Citation>,
    pub(super) stop_reason: Option<String>,
}

/// What a text rests on.
#[derive(Deserialize)]
pub(super) struct Citation {
    pub(super) url: Option<String>,
}

/// Tokens; those that came from the cache or went into it are not among those sent.
#[derive(Default, Deserialize)]
pub(super) struct WireUsage {
    pub(super) input_tokens: Option<u64>,
    pub(super) cache_creation_input_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) output_tokens_details: Option<OutputDetails>,
}

/// What of the answer was not said.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct OutputDetails {
    pub(super) thinking_tokens: Option<u64>,
}
