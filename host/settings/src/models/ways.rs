//! The ways to a model for a user who has none yet: a key of a service, a server on this machine that answers, offline.
//!
//! Deliberately not here: asking, and saving the answer (`saved`).

use std::fmt;
use std::time::Duration;

use host_model::{Access, ModelError, Offline, Ollama, OpenAi, PROVIDERS, Provider, ProviderId};
use host_text::{Advice, exact};
use tokio::time::timeout;

use super::saved::{SavedKey, SavedModel};
use super::{AUTO, LOCAL_LIMIT, access, by_key, local};
use crate::configuration::Configuration;
use crate::environment::Environment;
use crate::error::{ErrorKind, Fault};

/// How long a service may take to accept or reject a key.
const KEY_LIMIT: Duration = Duration::from_secs(8);

/// Servers that speak OpenAI's format, at the addresses that they have on this machine by default.
const SERVERS: [(&str, &str); 3] = [
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("vLLM", "http://127.0.0.1:8000/v1"),
];

/// A way to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// A service, with a key that the user has or makes.
    Key(ProviderId),
    /// A model of a server on this machine that answers.
    Local {
        /// The name of the server.
        server: &'static str,
        /// The choice that it is.
        model: SavedModel,
    },
    /// A server of this machine that does not answer, and could be started.
    NotRunning {
        /// The name of the server.
        server: &'static str,
        /// The command that starts it.
        start: &'static str,
    },
    /// A server whose address the user types.
    Address,
    /// The planner in code, which is not a language model.
    Offline,
}

/// What a user reads of it, safe to show.
impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(provider) => write!(f, "{}: paste an API key", service_name(*provider)),
            Self::Local { server, model } => {
                let id = match model {
                    SavedModel::Model { id, .. } => exact(id),
                    SavedModel::Service { provider, .. } => provider.name().into(),
                };
                write!(f, "{id}, from {server} on this machine")
            }
            Self::NotRunning { server, start } => write!(f, "{server}: not running; start it with `{start}`"),
            Self::Address => f.write_str("Another server: type its address"),
            Self::Offline => f.write_str("Try it offline: a planner in code, not a language model"),
        }
    }
}

fn service_name(provider: ProviderId) -> &'static str {
    match provider.name() {
        "gemini" => "Gemini",
        "openai" => "OpenAI",
        "anthropic" => "Anthropic",
        name => name,
    }
}

/// The models of a server at an address that the user typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedServer {
    /// The address, without white space around it.
    address: String,
    /// The names of its models, in its order: at least one.
    pub models: Vec<String>,
}

impl TypedServer {
    /// Returns the choice of one of its models; `None` if there is none at this index.
    pub fn model(&self, at: usize) -> Option<SavedModel> {
        let id = format!("{}/{}", OpenAi::PROVIDER, self.models.get(at)?);
        Some(SavedModel::Model { id, address: Some(self.address.clone()) })
    }
}

/// Why no models were found at an address.
#[derive(Debug, thiserror::Error)]
pub enum ServerAtError {
    /// It is no address, or the server cannot be asked.
    #[error("no models were found at `{address}`: {cause}")]
    Model {
        /// The address, safe to show.
        address: String,
        /// Why.
        cause: ModelError,
    },
    /// The server lists no models.
    #[error("no models were found at `{0}`: it lists none")]
    ListsNone(String),
    /// The server has no model.
    #[error("no models were found at `{0}`: it has none")]
    HasNone(String),
    /// The server does not answer.
    #[error("no models were found at `{0}`: no answer within {limit} s", limit = KEY_LIMIT.as_secs())]
    Silent(String),
}

impl Fault for ServerAtError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        Some("type the base address of a server in OpenAI's format, such as http://192.168.0.7:8000/v1".into())
    }
}

/// Asks the server at an address in OpenAI's format, such as `http://192.168.0.7:8000/v1`, for its models.
///
/// # Errors
///
/// If it is no address, the server does not list models there, or it has none.
pub async fn server_at(address: &str) -> Result<TypedServer, ServerAtError> {
    let address = address.trim().to_owned();
    let shown = exact(&address).into_owned();
    let failed = |cause| ServerAtError::Model { address: shown.clone(), cause };
    // Without a key: what answers there may be anything.
    let access = Access { address: Some(address.clone()), ..Access::default() };
    let server = OpenAi::new(access).map_err(failed)?;
    let models = match timeout(KEY_LIMIT, server.list_models()).await {
        Ok(Ok(Some(models))) => models,
        Ok(Ok(None)) => return Err(ServerAtError::ListsNone(shown)),
        Ok(Err(cause)) => return Err(failed(cause)),
        Err(_) => return Err(ServerAtError::Silent(shown)),
    };
    if models.is_empty() {
        return Err(ServerAtError::HasNone(shown));
    }
    Ok(TypedServer { address, models })
}

/// The service's word about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyCheck {
    /// It listed its models.
    Accepted,
    /// It rejects the key, for this reason.
    Rejected(String),
    /// It could not be asked, for this reason.
    Unknown(String),
}

/// Returns whether nothing decides which model is used: no flag, no configuration, no key.
pub fn is_undecided(flag: Option<&str>, configuration: &Configuration, environment: &Environment) -> bool {
    let routed = configuration.routing.default.is_some() || !configuration.routing.models.is_empty();
    let named = flag.or(configuration.model.as_deref()).filter(|id| *id != AUTO || routed);
    named.is_none() && configuration.saved.is_none() && by_key(configuration, environment).is_none()
}

/// Returns the ways, those that need a key first. Servers of this machine are asked, and none else; Ollama is one of
/// the ways even if it does not answer.
pub async fn ways(configuration: &Configuration, environment: &Environment) -> Vec<Way> {
    let services = PROVIDERS.iter().filter(|provider| provider.usual_models.is_some());
    let mut ways: Vec<Way> = services.map(|provider| Way::Key(*provider)).collect();
    let ollama = async {
        let models = local(configuration, environment).await.unwrap_or_default();
        match models.first().map(|name| format!("{}/{name}", Ollama::PROVIDER)) {
            Some(id) => Way::Local { server: "Ollama", model: SavedModel::Model { id, address: None } },
            None => Way::NotRunning { server: "Ollama", start: "ollama serve" },
        }
    };
    let configured = access(OpenAi::PROVIDER, configuration, environment);
    let [first, second, third] = SERVERS;
    let servers = async {
        match configured.address {
            // An address that the user set is the only one.
            Some(_) => vec![server("the server at the configured address", None, configured).await],
            None => {
                let (first, second, third) = tokio::join!(usual(first), usual(second), usual(third));
                vec![first, second, third]
            }
        }
    };
    let (ollama, servers) = tokio::join!(ollama, servers);
    ways.push(ollama);
    ways.extend(servers.into_iter().flatten());
    ways.push(Way::Address);
    ways.push(Way::Offline);
    ways
}

async fn usual((name, address): (&'static str, &str)) -> Option<Way> {
    // Without a key: what answers there may be anything.
    let access = Access { address: Some(address.to_owned()), ..Access::default() };
    server(name, Some(address), access).await
}

/// The first model of a server, if one answers.
async fn server(name: &'static str, address: Option<&str>, access: Access) -> Option<Way> {
    let server = OpenAi::new(access).ok()?;
    let models = timeout(LOCAL_LIMIT, server.list_models()).await.ok()?.ok()??;
    let id = format!("{}/{}", OpenAi::PROVIDER, models.first()?);
    Some(Way::Local { server: name, model: SavedModel::Model { id, address: address.map(str::to_owned) } })
}

/// Returns the choice that needs nothing else.
pub fn offline() -> SavedModel {
    SavedModel::Model { id: Offline::PROVIDER.name().to_owned(), address: None }
}

/// Asks the service whether it accepts a key, by asking for the list of its models, which costs nothing.
pub async fn check_key(
    provider: ProviderId,
    key: &SavedKey,
    configuration: &Configuration,
    environment: &Environment,
) -> KeyCheck {
    let access = Access { key: key.api_key(), ..access(provider, configuration, environment) };
    let connected = match (provider.connect)("", access) {
        Ok(connected) => connected,
        Err(error) => return KeyCheck::Unknown(error.to_string()),
    };
    match timeout(KEY_LIMIT, connected.list_models()).await {
        Ok(Ok(_)) => KeyCheck::Accepted,
        Ok(Err(error)) => match error.kind() {
            host_model::ErrorKind::Authentication => KeyCheck::Rejected(error.to_string()),
            _ => KeyCheck::Unknown(error.to_string()),
        },
        Err(_) => KeyCheck::Unknown(format!("no answer within {} s", KEY_LIMIT.as_secs())),
    }
}
