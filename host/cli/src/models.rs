//! From a model's name to a provider: which one is asked, where it is, with which key and options.
//!
//! The flag wins over the configuration, the configuration over the keys that are set, and a key over a server on this
//! machine. Deliberately not here: any wire format, and how asking again works; `host-model` has both.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use host_message::ModelId;
use host_model::{
    Access, ApiKey, Fallback, LoggingProvider, Login, Ollama, Provider, ProviderKind, Recording, Retrying, Selection,
    Settings, TextMode,
};
use tokio::time::timeout;

use crate::configuration::{Auth, Configuration, Tools};
use crate::environment::Environment;
use crate::exit::{Code, Failure};

/// The models to take when only a key says which service.
const USUAL_MODELS: &[(ProviderKind, &str)] = &[
    (ProviderKind::Gemini, "gemini/gemini-2.5-pro"),
    (ProviderKind::OpenAi, "openai/gpt-5"),
    (ProviderKind::Anthropic, "anthropic/claude-sonnet-5"),
];

/// How long to wait for a local server to say which models it has. Whoever has none must not wait for it.
const LOCAL_LIMIT: Duration = Duration::from_secs(1);

/// A model that can be asked.
#[derive(Clone)]
pub(crate) struct Model {
    /// As the person named it.
    pub(crate) id: ModelId,
    /// As its service knows it.
    pub(crate) name: String,
    pub(crate) provider: Arc<dyn Provider>,
    /// What was configured for it.
    pub(crate) settings: Settings,
}

/// The model of a run: the flag's, else the configured one, else that of the first service whose key is set, else the
/// first of a local server that answers.
pub(crate) async fn choose(
    flag: Option<&str>,
    configuration: &Configuration,
    environment: &Environment,
) -> Result<Model, Failure> {
    let by_key = || {
        USUAL_MODELS.iter().find(|(kind, _)| kind.key_variable().is_some_and(|key| environment.variable(key).is_some()))
    };
    match flag.or(configuration.model.as_deref()).or_else(|| by_key().map(|(_, model)| *model)) {
        Some(id) => connect(id, configuration, environment),
        None => match local(configuration, environment).await?.first() {
            Some(name) => {
                let id = format!("{}/{name}", ProviderKind::Ollama);
                tracing::info!(model = id, "the local server's first model is asked");
                connect(&id, configuration, environment)
            }
            None => Err(no_model()),
        },
    }
}

fn no_model() -> Failure {
    let ways: Vec<String> = USUAL_MODELS
        .iter()
        .filter_map(|(kind, model)| Some(format!("{} set for {model}", kind.key_variable()?)))
        .collect();
    Failure::new(Code::Authentication, "there is no model to ask").help(format!(
        "run with {}, start Ollama with a model, name one with --model ({}), or try it without any: --model offline",
        ways.join(" or "),
        ProviderKind::FORMS
    ))
}

/// The models that Ollama has at its address; none when nothing answers there.
///
/// # Errors
///
/// When the address that was set for it is none.
pub(crate) async fn local(configuration: &Configuration, environment: &Environment) -> Result<Vec<String>, Failure> {
    let ollama = Ollama::new(access(ProviderKind::Ollama, configuration, environment))?;
    match timeout(LOCAL_LIMIT, ollama.models()).await {
        Ok(Ok(models)) => Ok(models),
        Ok(Err(error)) => {
            tracing::debug!(%error, "there is no local server");
            Ok(Vec::new())
        }
        Err(_) => {
            tracing::debug!("the local server does not answer");
            Ok(Vec::new())
        }
    }
}

/// The model with this id, asked again after what passes and handing over to its fallback. Nothing is sent.
pub(crate) fn connect(id: &str, configuration: &Configuration, environment: &Environment) -> Result<Model, Failure> {
    let model = connect_once(id, configuration, environment)?;
    match id.parse::<Selection>()?.provider() {
        // What needs no service has nothing that passes.
        ProviderKind::Offline | ProviderKind::Scripted => return Ok(model),
        ProviderKind::Anthropic
        | ProviderKind::Gemini
        | ProviderKind::Ollama
        | ProviderKind::OpenAi
        | ProviderKind::OpenAiResponses
        | ProviderKind::Vertex => {}
    }
    let fallback = match configuration.models.get(id).and_then(|options| options.fallback.as_deref()) {
        Some(fallback) => {
            let Model { id, name, provider, settings } = connect_once(fallback, configuration, environment)?;
            Some(Fallback { id: id.to_string(), model: name, provider, settings })
        }
        None => None,
    };
    let provider = Arc::new(Retrying::new(model.provider, configuration.retry.policy(), fallback));
    Ok(Model { provider, ..model })
}

fn connect_once(id: &str, configuration: &Configuration, environment: &Environment) -> Result<Model, Failure> {
    let selection: Selection = id.parse()?;
    let provider = selection.connect(access(selection.provider(), configuration, environment))?;
    let name = provider.stands_for().unwrap_or(selection.model()).to_owned();
    let options = configuration.models.get(id).cloned().unwrap_or_default();
    let provider = match options.tools {
        Tools::Native => provider,
        Tools::Text => Arc::new(TextMode::around(provider)),
    };
    Ok(Model { id: ModelId::new(id), name, provider, settings: options.settings() })
}

impl Model {
    /// The same model with all that it says recorded.
    pub(crate) fn recorded(self, recording: &Recording) -> Self {
        let provider = Arc::new(LoggingProvider::new(self.provider, recording));
        Self { provider, ..self }
    }
}

/// Makes a new file to record into, which only this user can read.
pub(crate) fn recording(file: &Path) -> Result<Recording, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let out = options.open(file).map_err(|error| {
        Failure::input(format!("the recording `{}` cannot be made: {error}", file.display()))
            .help("name a file that is not there yet, in a folder that can be written")
    })?;
    Ok(Recording::new(Box::new(out), &file.display().to_string()))
}

/// What it takes to reach a service: the environment wins over the configuration.
fn access(kind: ProviderKind, configuration: &Configuration, environment: &Environment) -> Access {
    let configured = configuration.providers.get(&kind).cloned().unwrap_or_default();
    let logs_in = kind == ProviderKind::Vertex || configured.auth == Some(Auth::Oauth);
    let login = logs_in.then(|| Login {
        file: environment.google_credentials(),
        metadata_host: environment.text("GCE_METADATA_HOST"),
    });
    let headers = configured.headers.iter().filter_map(|(name, value)| Some((name.clone(), ApiKey::new(value)?)));
    Access {
        address: kind.address_variable().and_then(|name| environment.text(name)).or(configured.base_url),
        key: kind.key_variable().and_then(|name| environment.text(name)).and_then(|key| ApiKey::new(&key)),
        login,
        project: environment.text("GOOGLE_CLOUD_PROJECT").or(configured.project),
        location: environment.text("GOOGLE_CLOUD_LOCATION").or(configured.location),
        headers: headers.collect(),
        proxy: configured.proxy,
        silence: configured.silence_seconds.map(Duration::from_secs),
    }
}
