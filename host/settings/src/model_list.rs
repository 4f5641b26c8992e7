//! The models that can be asked: those that each service lists whose key is set, and those of a local server.
//!
//! Services are asked side by side, each within a time limit; one that fails is named and leaves the others.
//! Deliberately not here: choosing one (`models`).

use std::time::Duration;

use host_model::{Access, LoginSpec, ModelIds, PROVIDERS, ProviderId};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::configuration::Configuration;
use crate::environment::Environment;
use crate::models::access;

/// How long a service may take to list its models. A user waits for it with a list open.
const LIMIT: Duration = Duration::from_secs(4);

/// The most models of one service. Protects the list of a user whose service has thousands.
const MAX_MODELS: usize = 500;

/// The models of all services that were asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedModels {
    /// The ids of the models, as a user names them, by service.
    pub models: Vec<String>,
    /// What kept a service from being listed, a line each.
    pub failures: Vec<String>,
}

/// Asks each service that this user can reach for its models.
pub async fn list(configuration: &Configuration, environment: &Environment) -> ListedModels {
    let mut asked = JoinSet::new();
    let mut services = Vec::new();
    for (at, provider) in PROVIDERS.iter().copied().enumerate() {
        // Two providers of one service have the same models; the first is the usual one.
        let service = provider.address.map(|address| address.variable);
        if services.contains(&service) {
            continue;
        }
        services.push(service);
        let access = access(provider, configuration, environment);
        if provider.models != ModelIds::Named || !is_reachable(provider, &access) {
            continue;
        }
        let has_key = access.key.is_some();
        // The list is the same for every model; the name is not sent.
        let connected = (provider.connect)("any", access);
        asked.spawn(async move {
            let listed = match connected {
                Ok(connected) => match timeout(LIMIT, connected.list_models()).await {
                    Ok(Ok(listed)) => Ok(listed.unwrap_or_default()),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err(format!("no answer within {} s", LIMIT.as_secs())),
                },
                Err(error) => Err(error.to_string()),
            };
            (at, provider, has_key, listed)
        });
    }
    let mut answers = asked.join_all().await;
    answers.sort_by_key(|(at, ..)| *at);
    let mut all = ListedModels::default();
    for (_, provider, has_key, listed) in answers {
        match listed {
            Ok(names) => all.models.extend(names.into_iter().take(MAX_MODELS).map(|name| format!("{provider}/{name}"))),
            // Most users have no local server, and one that is not there is no failure.
            Err(why) if has_key => {
                all.failures.push(format!("cannot list the models of `{provider}`: {why}"));
            }
            Err(why) => tracing::debug!(%provider, why, "no models were listed"),
        }
    }
    all
}

/// Whether a service can be asked without a key that is missing. A service at an address of the user's own may need
/// none.
fn is_reachable(provider: ProviderId, access: &Access) -> bool {
    // Ollama needs neither: its address is this machine's.
    let is_local = provider == host_model::Ollama::PROVIDER;
    let is_known = access.key.is_some() || access.address.is_some() || access.login.is_some();
    provider.login != LoginSpec::Required && (is_known || is_local)
}
