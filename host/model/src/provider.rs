//! The interface of every model: it answers a request with a stream.
//!
//! Owns the trait and the plain data of requests and replies. Deliberately not here: how often a request is sent again,
//! which model is used, and whether a reply is acceptable; the caller decides these, so that they hold for every
//! provider alike.

pub(crate) mod spec;

use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use host_message::{Content, FinishReason, Part, ToolSpec, Usage};
use serde::{Deserialize, Serialize};

use crate::{CustomTool, Effort, ModelError, Verbosity, WebSearch};

/// A model's service, or a replacement for one.
///
/// # For implementers
///
/// * `stream` does no work by itself: the request is sent when the stream is first polled.
/// * Yield [`ModelEvent::Chunk`] as parts arrive. Text may come in pieces of any length. A function call must never
///   come in pieces: collect it, and yield it once its name and arguments are complete.
/// * A function call without an id from the service has `CallId::new("")`; the caller names it.
/// * The finish reason comes with the last parts or after them, and a later one replaces it. Usage may come in any
///   chunk, also after the finish reason; each one replaces the one before and is not added to it.
/// * After an error the stream ends. A reply that broke off is an error, never a shorter reply; a reply that the
///   service reports as complete is not an error, even if it is empty.
/// * Dropping the stream at any moment closes the connection and leaves nothing running. A caller cancels only in this
///   way.
/// * Nothing that a service sends may cause a panic, and all of it is limited in size before it is stored.
/// * No key and no token may reach an error, a log line or `Debug`.
pub trait Provider: Send + Sync {
    /// Returns its name in messages and logs, such as `gemini`.
    fn name(&self) -> &str;

    /// Returns the model that it replaces, if it replays a recording of one.
    fn stands_for(&self) -> Option<&str> {
        None
    }

    /// Requests one reply.
    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a>;

    /// Asks the service how many tokens a request has; `None` if the service cannot count them, which is the default.
    fn count_tokens<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Option<u64>, ModelError>> {
        let _ = request;
        Box::pin(async { Ok(None) })
    }

    /// Asks the service for the names of the models that it offers; `None` if it has no list, which is the default.
    /// What wraps another provider has none.
    fn list_models(&self) -> BoxFuture<'_, Result<Option<Vec<String>>, ModelError>> {
        Box::pin(async { Ok(None) })
    }

    /// Asks the service for an embedding of each text, in order; `None` if the service makes no embeddings, which is
    /// the default.
    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        let _ = (model, texts);
        Box::pin(async { Ok(None) })
    }

    /// Returns the address to which [`search`](Provider::search) sends the request for a model; `None` if the service
    /// has no search of its own, which is the default.
    fn search_address(&self, model: &str) -> Option<String> {
        let _ = model;
        None
    }

    /// Has the service search the web with its own tool, in one request that has nothing in common with a conversation;
    /// `None` if it has no such tool, which is the default.
    fn search<'a>(&'a self, model: &'a str, query: &'a str) -> BoxFuture<'a, Result<Option<WebSearch>, ModelError>> {
        let _ = (model, query);
        Box::pin(async { Ok(None) })
    }
}

/// A reply as it arrives; errors end it.
pub type ModelStream<'a> = BoxStream<'a, Result<ModelEvent, ModelError>>;

/// Everything that a model gets for one reply.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The service's name for the model, without the provider before it.
    pub model: &'a str,
    /// The system instructions.
    pub system: Option<&'a str>,
    /// The conversation, oldest first. Each function call is followed by its response.
    pub contents: &'a [Content],
    /// The tools that the model may call.
    pub tools: &'a [ToolSpec],
    /// The settings of the answer.
    pub settings: &'a Settings,
    /// A name for the conversation, under which a service finds what it cached of the requests before; `None` for a
    /// request that has nothing in common with others. It says nothing about the user.
    pub conversation: Option<&'a str>,
}

/// The settings of a model's answer. The service's own default applies to those that are not set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// How random its words are; 0 is the least, most services accept up to 2.
    pub temperature: Option<f32>,
    /// The share of the likeliest words from which it chooses, from 0 to 1.
    pub top_p: Option<f32>,
    /// The most tokens of its answer.
    pub max_output_tokens: Option<u32>,
    /// The most tokens of its thoughts; 0 is none, -1 is unlimited.
    pub thinking_budget: Option<i32>,
    /// How much it thinks, where its service has efforts; a thinking budget beside it wins where the service has that.
    pub effort: Option<Effort>,
    /// How many words its answers have, where its service lets a client choose.
    pub verbosity: Option<Verbosity>,
    /// Whether the service keeps what it cached of the conversation for longer than usual; ignored by a service that
    /// has no such choice.
    pub long_cache: bool,
    /// Whether its service loads tools in the course of a conversation, in a form of its own: what `tool_search` finds
    /// is then not declared in front of all messages, so that they stay in the cache. Ignored by a wire without it.
    pub deferred_tools: bool,
    /// The tools that it is declared with a grammar; ignored by a wire that has none, where they are functions.
    pub custom_tools: Vec<CustomTool>,
    /// Texts at which it stops; a service that does not support them ignores them.
    pub stop: Vec<String>,
    /// The thresholds of the service's own safety filter, if it can be configured: category and threshold in the
    /// service's terms.
    pub safety: Vec<(String, String)>,
}

/// An event while a reply arrives.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// More of the reply.
    Chunk(Chunk),
    /// The reply so far is void: it is requested again.
    Retry(Again),
    /// A different model answers from this reply on; the reply so far is void.
    Switched(Switched),
}

/// Why a reply is requested again, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// What was wrong with the last attempt, for a user.
    pub reason: String,
    /// How long until the request is sent.
    pub wait: Duration,
    /// The number of the attempt, from 2.
    pub attempt: u32,
    /// The number of attempts in all.
    pub attempts: u32,
}

/// A switch to a model other than the requested one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switched {
    /// Its id, as the user names models.
    pub model: String,
    /// The reason, for a user.
    pub reason: String,
}

/// A piece of a reply. Any field can be empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// Text, thoughts, function calls and data, in order.
    pub parts: Vec<Part>,
    /// Why the model stopped, in the last chunk that has parts or in one after it.
    pub finish: Option<FinishReason>,
    /// The usage of the reply so far.
    pub usage: Option<Usage>,
    /// Addresses that the model cites.
    pub citations: Vec<String>,
    /// What has come of calls that the model still writes, for a user who waits for them: a call that is complete comes
    /// as a part, with all its arguments. Not every service sends pieces, and no recording has them.
    pub forming: Vec<CallPiece>,
}

/// A piece of a call that the model still writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPiece {
    /// The name of the tool in the first piece of a call; empty in the others.
    pub name: String,
    /// More of the JSON text of its arguments.
    pub json: String,
}

impl Chunk {
    /// Whether it is empty, so that it need not be yielded.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
            && self.finish.is_none()
            && self.usage.is_none()
            && self.citations.is_empty()
            && self.forming.is_empty()
    }
}
