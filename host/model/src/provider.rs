//! What every model is to the rest of the host: something that answers a request with a stream.
//!
//! Owns the trait and the plain data that goes in and comes out. Deliberately not here: how often a request is
//! asked again, which model is asked, and what a reply must have in order to count as one; those are the
//! caller's, so that they hold for every provider alike.

use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use host_message::{Content, FinishReason, Part, ToolSpec, Usage};
use serde::{Deserialize, Serialize};

use crate::ModelError;

/// A model's service, or something that stands in for one.
///
/// # For whoever implements it
///
/// * `stream` does no work by itself: the request goes out when the stream is first polled.
/// * Yield [`ModelEvent::Chunk`] as parts arrive. Text may come in pieces of any length. A function call must
///   never come in pieces: gather it, and yield it once its name and arguments are whole.
/// * A function call without an id from the service has `CallId::new("")`; the caller names it.
/// * The finish reason comes with the last parts or after them, and a later one replaces it. Usage may come in
///   any chunk, also after the finish reason; each one replaces the one before, it does not add to it.
/// * After an error the stream ends. A reply that broke off is an error, never a shorter reply; a reply which
///   the service says is complete is no error, even if nothing is in it.
/// * Dropping the stream at any moment closes the connection and leaves nothing running. Whoever cancels does
///   nothing else.
/// * Nothing that a service sends may panic, and all of it is limited in size before it is kept.
/// * No key and no token may reach an error, a log line or `Debug`.
pub trait Provider: Send + Sync {
    /// What messages and logs call it, such as `gemini`.
    fn name(&self) -> &str;

    /// The model that it stands in for, when it replays one that was recorded.
    fn stands_for(&self) -> Option<&str> {
        None
    }

    /// Asks for one reply.
    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a>;

    /// Asks the service how many tokens a request has; none when the service cannot be asked that, which is what a
    /// provider answers that says nothing of its own.
    fn count_tokens<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Option<u64>, ModelError>> {
        let _ = request;
        Box::pin(async { Ok(None) })
    }

    /// Asks the service for an embedding of each text, in order; none when the service makes no embeddings, which is
    /// what a provider answers that says nothing of its own.
    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        let _ = (model, texts);
        Box::pin(async { Ok(None) })
    }
}

/// A reply as it arrives; errors end it.
pub type ModelStream<'a> = BoxStream<'a, Result<ModelEvent, ModelError>>;

/// All that a model is given for one reply.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The model's name as its service knows it, without the provider before it.
    pub model: &'a str,
    /// The system instructions.
    pub system: Option<&'a str>,
    /// The conversation, oldest first. Each function call is followed by its response.
    pub contents: &'a [Content],
    /// The tools that the model may call.
    pub tools: &'a [ToolSpec],
    /// How to answer.
    pub settings: &'a Settings,
}

/// How a model is to answer. What is not set is the service's own default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// How freely it chooses its words; 0 is the least, most services take up to 2.
    pub temperature: Option<f32>,
    /// Out of which share of the likeliest words it chooses, from 0 to 1.
    pub top_p: Option<f32>,
    /// The most tokens that it may answer with.
    pub max_output_tokens: Option<u32>,
    /// The most tokens that it may think with; 0 is none, -1 is as many as it likes.
    pub thinking_budget: Option<i32>,
    /// Texts at which it stops; a service that knows none ignores them.
    pub stop: Vec<String>,
    /// What the service's own safety filter lets through, for a service that can be told: category and threshold in
    /// the service's words.
    pub safety: Vec<(String, String)>,
}

/// One thing that happens while a reply arrives.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// More of the reply.
    Chunk(Chunk),
    /// What was shown of this reply so far is void: it is being asked for again.
    Retry(Again),
    /// Another model answers, from this reply on; what was shown of this reply so far is void.
    Switched(Switched),
}

/// Why a reply is asked for again, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// What was wrong with the try before, in words for a user.
    pub reason: String,
    /// How long until the request goes out.
    pub wait: Duration,
    /// Which try it is, from 2.
    pub attempt: u32,
    /// How many there are in all.
    pub attempts: u32,
}

/// Another model than the one that was asked for answers from here on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switched {
    /// Its id, as the user names models.
    pub model: String,
    /// Why, in words for a user.
    pub reason: String,
}

/// A piece of a reply. Any of it can be missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// Text, thoughts, function calls and data, in order.
    pub parts: Vec<Part>,
    /// Why the model stopped, in the last chunk that has parts or in one after it.
    pub finish: Option<FinishReason>,
    /// What the reply has cost up to here.
    pub usage: Option<Usage>,
    /// Addresses of what the model cites.
    pub citations: Vec<String>,
}

impl Chunk {
    /// Whether there is nothing in it, so that it need not be yielded.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.finish.is_none() && self.usage.is_none() && self.citations.is_empty()
    }
}
