//! From a model's name to a provider: which one is asked, where it is, with which key and options.
//!
//! The flag wins over the configuration, the configuration over the keys that are set. Deliberately not here: any wire
//! format, and asking again; `host-model` has both.

use std::sync::Arc;
use std::time::Duration;

use host_model::{Access, ApiKey, Provider, ProviderKind, Selection, Settings};

use crate::configuration::Configuration;
use crate::environment::Environment;
use crate::exit::{Code, Failure};

/// The models to take when only a key says which service.
const USUAL_MODELS: &[(ProviderKind, &str)] =
    &[(ProviderKind::Gemini, "gemini/gemini-2.5-pro"), (ProviderKind::OpenAi, "openai/gpt-5")];

/// A model that can be asked.
#[derive(Clone)]
pub(crate) struct Model {
    /// As its service knows it.
    pub(crate) name: String,
    pub(crate) provider: Arc<dyn Provider>,
    /// What was configured for it.
    pub(crate) settings: Settings,
}

/// The model of a run: the flag's, else the configured one, else that of the first service whose key is set.
pub(crate) fn choose(
    flag: Option<&str>,
    configuration: &Configuration,
    environment: &Environment,
) -> Result<Model, Failure> {
    let by_key = || {
        USUAL_MODELS.iter().find(|(kind, _)| kind.key_variable().is_some_and(|key| environment.variable(key).is_some()))
    };
    match flag.or(configuration.model.as_deref()).or_else(|| by_key().map(|(_, model)| *model)) {
        Some(id) => connect(id, configuration, environment),
        None => {
            let ways: Vec<String> = USUAL_MODELS
                .iter()
                .filter_map(|(kind, model)| Some(format!("{} set for {model}", kind.key_variable()?)))
                .collect();
            Err(Failure::new(Code::Authentication, "there is no model to ask").help(format!(
                "run with {}, name a model with --model ({}), or try it without any: --model offline",
                ways.join(" or "),
                ProviderKind::FORMS
            )))
        }
    }
}

/// The model with this id. Nothing is sent.
pub(crate) fn connect(id: &str, configuration: &Configuration, environment: &Environment) -> Result<Model, Failure> {
    let selection: Selection = id.parse()?;
    let provider = selection.connect(access(selection.provider(), configuration, environment))?;
    let settings = configuration.models.get(id).map(|options| options.settings()).unwrap_or_default();
    Ok(Model { name: selection.model().to_owned(), provider, settings })
}

/// What it takes to reach a service: the environment wins over the configuration.
fn access(kind: ProviderKind, configuration: &Configuration, environment: &Environment) -> Access {
    let configured = configuration.providers.get(&kind).cloned().unwrap_or_default();
    let headers = configured.headers.iter().filter_map(|(name, value)| Some((name.clone(), ApiKey::new(value)?)));
    Access {
        address: kind.address_variable().and_then(|name| environment.text(name)).or(configured.base_url),
        key: kind.key_variable().and_then(|name| environment.text(name)).and_then(|key| ApiKey::new(&key)),
        headers: headers.collect(),
        proxy: configured.proxy,
        silence: configured.silence_seconds.map(Duration::from_secs),
    }
}
