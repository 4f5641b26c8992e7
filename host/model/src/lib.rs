//! Language models, each behind one trait.
//!
//! Owns [`Provider`], one file for each wire format with the transport below them, the [login](Login) at Google, and
//! two models that need no service: [`offline`](Offline), a planner in code, and [`scripted`](Scripted), which replays
//! what a test wrote down. [`PROVIDERS`] lists them; a [`Selection`] is read from the id of a model and creates the
//! provider.
//!
//! A provider sends one request and streams the reply. Everything between it and the agent's loop is the same for all
//! providers, and is implemented above the trait, never within a provider:
//!
//! * retrying after network errors, 429 and 5xx, and switching to a different model when a quota stays used up:
//!   [`Retrying`];
//! * picking a model: [`Auto`];
//! * offering tools to a model that cannot call them: [`TextMode`];
//! * judging whether a reply is acceptable, and asking again if it is not: the agent does that, since it knows the
//!   request.
//!
//! Deliberately not here: what a tool does, running a call, the conversation's history, and reading the environment or
//! printing.

mod access;
mod anthropic;
mod auto;
mod catalogue;
mod client;
mod custom;
mod effort;
mod error;
mod failure;
mod found;
mod framing;
mod gemini;
mod key;
mod listing;
mod logging;
mod login;
#[cfg(test)]
mod loopback;
mod offline;
mod ollama;
mod openai;
mod openai_responses;
mod provider;
mod retry;
mod script_error;
mod scripted;
mod search;
mod selection;
mod series;
mod text;
mod text_mode;
mod tokens;
mod transport;
mod verbosity;
mod vertex;

pub use access::Access;
pub use anthropic::Anthropic;
pub use auto::{Asked, Auto, Route};
pub use catalogue::{
    Catalogue, Family, FetchError, KnownModels, ListPrice, LongPrice, MAX_CATALOGUE, ModelFacts, ModelsDevError,
    ToolKind, Wire, fetch, is_snapshot,
};
pub use custom::{CustomTool, Grammar};
pub use effort::{Effort, UnknownEffort};
pub use error::{Cause, ErrorKind, ModelError, ReplyFault, Service, Wanted};

pub use gemini::Gemini;
pub use key::ApiKey;
pub use logging::{LoggingProvider, Recording};
pub use login::{CredentialsFile, Login, LoginError};
pub use offline::Offline;
pub use ollama::Ollama;
pub use openai::OpenAi;
pub use openai_responses::OpenAiResponses;
pub use provider::spec::{AddressSpec, LoginSpec, ModelIds, ProviderId, ProviderSpec, UsualModels};
pub use provider::{Again, CallPiece, Chunk, ModelEvent, ModelStream, Provider, Request, Settings, Switched};
pub use retry::{Fallback, RetryPolicy, Retrying};
pub use script_error::ScriptError;
pub use scripted::Scripted;
pub use search::{WebSearch, WebSource};
pub use selection::{PROVIDERS, Selection, model_forms};
pub use series::ModelSeries;
pub use text_mode::TextMode;
pub use tokens::{estimate, estimate_contents, estimate_part, estimate_text, estimate_tools};
pub use verbosity::{UnknownVerbosity, Verbosity};
pub use vertex::Vertex;
