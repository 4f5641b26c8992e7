//! Language models, each behind one trait.
//!
//! Owns [`Provider`], one file for each wire format with the transport below them, and two models that need no
//! service: [`offline`](Offline), a planner in code, and [`scripted`](Scripted), which replays what a test
//! wrote down. A [`Selection`] is read from a model's name and makes the provider.
//!
//! A provider asks once and streams what comes. What belongs between it and the agent's loop is the same for
//! all of them, and stands above the trait, never within a provider:
//!
//! * asking again after network errors, 429 and 5xx, with [`ModelEvent::Retry`] where something was shown;
//! * judging whether a reply counts as one, and asking again when it does not;
//! * offering tools to a model that cannot call any: [`TextMode`], around any provider;
//! * picking a model, and going over to another one;
//! * counting the tokens of a request before it is sent.
//!
//! Deliberately not here: what a tool does, running a call, the conversation's history, and reading the
//! environment or printing.

mod anthropic;
mod error;
mod failure;
mod framing;
mod gemini;
mod key;
mod kind;
#[cfg(test)]
mod loopback;
mod offline;
mod ollama;
mod openai;
mod provider;
mod scripted;
mod text;
mod text_mode;
mod transport;

pub use anthropic::Anthropic;
pub use error::{Cause, ErrorKind, ModelError, ReplyFault, Service};
pub use gemini::Gemini;
pub use key::ApiKey;
pub use kind::{Access, ProviderKind, Selection};
pub use offline::Offline;
pub use ollama::Ollama;
pub use openai::OpenAi;
pub use provider::{Again, Chunk, ModelEvent, ModelStream, Provider, Request, Settings};
pub use scripted::{ScriptError, Scripted};
pub use text_mode::TextMode;
