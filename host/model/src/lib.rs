//! Language models, each behind one trait.
//!
//! Owns [`Provider`], one file for each wire format with the transport below them, the [login](Login) at Google, and
//! two models that need no service: [`offline`](Offline), a planner in code, and [`scripted`](Scripted), which replays
//! what a test wrote down. A [`Selection`] is read from a model's name and makes the provider.
//!
//! A provider asks once and streams what comes. What belongs between it and the agent's loop is the same for
//! all of them, and stands above the trait, never within a provider:
//!
//! * asking again after network errors, 429 and 5xx, with [`ModelEvent::Retry`] where something was shown;
//! * judging whether a reply counts as one, and asking again when it does not;
//! * picking a model, and going over to another one;
//! * counting the tokens of a request before it is sent.
//!
//! Deliberately not here: what a tool does, running a call, the conversation's history, and reading the
//! environment or printing.

mod error;
mod failure;
mod gemini;
mod key;
mod kind;
mod login;
#[cfg(test)]
mod loopback;
mod offline;
mod openai;
mod openai_responses;
mod provider;
mod scripted;
mod sse;
mod text;
mod transport;
mod vertex;

pub use error::{Cause, ErrorKind, ModelError, ReplyFault, Service};
pub use gemini::Gemini;
pub use key::ApiKey;
pub use kind::{Access, ProviderKind, Selection};
pub use login::{CredentialsFile, Login, LoginError};
pub use offline::Offline;
pub use openai::OpenAi;
pub use openai_responses::OpenAiResponses;
pub use provider::{Again, Chunk, ModelEvent, ModelStream, Provider, Request, Settings};
pub use scripted::{ScriptError, Scripted};
pub use vertex::Vertex;
