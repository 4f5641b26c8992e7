//! From a model's name to a provider: which one is asked, where it is, with which key and options.
//!
//! The flag wins over the configuration, the configuration over the keys that are set, and a key over a server on this
//! machine; a choice that the user saved wins over a key in the environment. Deliberately not here: any wire format,
//! and how asking again works; `host-model` has both.

pub mod known;
mod newest;
pub mod prices;
pub mod saved;
pub mod ways;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host_agent::Prices;
use host_agent::prompts::PromptFamily;
use host_message::ModelId;
use host_model::{
    Access, Anthropic, ApiKey, Asked, Auto, Effort, Fallback, Family, LoggingProvider, Login, LoginSpec, ModelFacts,
    Offline, Ollama, OpenAi, OpenAiResponses, PROVIDERS, Provider, ProviderId, Recording, Retrying, Route, Selection,
    Settings, TextMode, ToolKind, UsualModels, Verbosity, Wire,
};
use host_text::{Advice, Flag, Notice, exact};
use tokio::time::timeout;

use self::saved::SavedModel;
use crate::configuration::{Auth, Configuration, Routing, Tools};
use crate::editing;
use crate::environment::Environment;
use crate::error::{ErrorKind, Failure, Fault};

/// Descriptions of the tasks for the usual models.
const SIMPLE: &str = "a simple task: one question, or a change of a few lines in a known place, done in a step or two";
/// See [`SIMPLE`].
const COMPLEX: &str = "everything else: a task of many steps, debugging, design, or one that is not clear yet";

/// The id of the model that picks a different one.
pub const AUTO: &str = "auto";

/// How long to wait for a local server to list its models. Users without one must not notice the wait.
const LOCAL_LIMIT: Duration = Duration::from_secs(1);

/// A model that can be asked.
#[derive(Clone)]
pub struct Model {
    /// As the user named it.
    pub id: ModelId,
    /// As its service knows it.
    pub name: String,
    /// The provider that answers.
    pub provider: Arc<dyn Provider>,
    /// Its configured settings.
    pub settings: Settings,
    /// The ids of all models that may answer when this one is asked.
    pub answering: Vec<String>,
    /// The most tokens that all of those take at once.
    pub window: u64,
    /// Up to how many tokens a conversation with it works well and costs its usual price, if that is less.
    pub comfortable: Option<u64>,
    /// Whether its service searches the web for it, as far as the catalogue says.
    searches: bool,
    /// The family whose instructions it gets; of several models that may answer, that of the first.
    pub prompts: PromptFamily,
}

/// Why no model is used.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    /// The wire of a model is known, and not where a server that speaks it is.
    #[error("no server is configured for the model `{id}`")]
    NoServer {
        /// The model.
        id: String,
        /// Who speaks its wire.
        provider: ProviderId,
    },
    /// Nothing names one, and there is no key and no local server.
    #[error("no model is configured")]
    NoModel,
    /// `auto` has no models.
    #[error("the model `auto` has no models to pick from")]
    NothingToPick,
    /// `auto` is among its models.
    #[error("the model `auto` cannot pick itself")]
    AutoPicksItself,
    /// The cost of a model is not known.
    #[error("the cost is limited, but the price of the model `{0}` is not known")]
    NoPrice(String),
    /// The file of a recording cannot be made.
    #[error("cannot create the recording `{}`: {cause}", .file.display())]
    Recording {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl Fault for ModelsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoModel => ErrorKind::Authentication,
            Self::NoServer { .. } | Self::NothingToPick | Self::AutoPicksItself | Self::NoPrice(_) => {
                ErrorKind::Configuration
            }
            Self::Recording { .. } => ErrorKind::Input,
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoModel => Some(no_model_help()),
            Self::NoServer { id, provider } => {
                let variable = provider.address.map_or("", |address| address.variable);
                Some(
                    format!(
                        "set {variable}, or `base_url` under `[providers.{provider}]` in the configuration, to the \
                         address of a service that has it; or name the provider, as in `{provider}/{id}`"
                    )
                    .into(),
                )
            }
            Self::NothingToPick => Some(
                "set `default` and `[routing.models]` under `[routing]` in the configuration, or the key of a service"
                    .into(),
            ),
            Self::AutoPicksItself => Some("name other models under `[routing]` in the configuration".into()),
            Self::NoPrice(cause) => Some(
                format!(
                    "add `[models.\"{cause}\"]` with `price = {{ input = …, output = … }}` (per million tokens) \
                         to the configuration"
                )
                .into(),
            ),
            Self::Recording { .. } => {
                Some("name a file that does not exist yet, in a folder that you may write".into())
            }
        }
    }
}

/// Chooses the model of a run: the one named by the flag, or the configured one, or the one that the user saved, or
/// that of the first service whose key is set, or the first one of a local server that answers.
pub async fn choose(
    flag: Option<&str>,
    configuration: &Configuration,
    environment: &Environment,
) -> Result<Model, Failure> {
    if let Some(id) = flag.filter(|id| *id != AUTO) {
        // The value of a flag is the user's input, even if the same value in a file would be configuration.
        with_provider(id, configuration, environment)
            .map_err(|failure| Failure { kind: ErrorKind::Input, ..failure })?;
    }
    let saved = configuration.saved.as_ref().and_then(SavedModel::id);
    let named = flag.or(configuration.model.as_deref()).or(saved);
    match (named, by_key(configuration, environment)) {
        (Some(id), _) => connect(id, configuration, environment),
        (None, Some((provider, usual))) => {
            connect(&newest::main_model(provider, usual, configuration, environment).await, configuration, environment)
        }
        (None, None) => match local(configuration, environment).await?.first() {
            Some(name) => {
                let id = format!("{}/{name}", Ollama::PROVIDER);
                tracing::info!(model = id, "the local server's first model is asked");
                connect(&id, configuration, environment)
            }
            None => Err(ModelsError::NoModel.into()),
        },
    }
}

/// The service whose key the user saved, or else the first one whose key is set, with its usual models.
fn by_key(configuration: &Configuration, environment: &Environment) -> Option<(ProviderId, UsualModels)> {
    let saved = configuration.saved.as_ref();
    let is_saved = |provider: &ProviderId| saved.is_some_and(|saved| saved.key_of(*provider).is_some());
    let of_saved = PROVIDERS.iter().copied().find(is_saved);
    let provider = of_saved.or_else(|| services_with_keys(environment).next())?;
    Some((provider, provider.usual_models?))
}

/// The services with usual models whose keys are set, in the order in which they are preferred.
fn services_with_keys(environment: &Environment) -> impl Iterator<Item = ProviderId> {
    let is_set = |provider: &&ProviderId| provider.key_variable.is_some_and(|key| environment.variable(key).is_some());
    PROVIDERS.iter().filter(|provider| provider.usual_models.is_some()).filter(is_set).copied()
}

/// What decides which model is asked unless `--model` names one, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// `model` of the configuration.
    Configured {
        /// The model's id.
        id: String,
    },
    /// A model that the user chose at the first start.
    Saved {
        /// The model's id.
        id: String,
    },
    /// A service whose key the user saved at the first start.
    SavedKey {
        /// The service.
        provider: ProviderId,
    },
    /// The first service whose key is set.
    Key {
        /// The service.
        provider: ProviderId,
        /// The variable with the key.
        variable: &'static str,
    },
}

impl Decided {
    /// Returns whether the model is one of this provider.
    pub fn is_of(&self, provider: ProviderId) -> bool {
        match self {
            Self::Configured { id } | Self::Saved { id } => {
                id.parse::<Selection>().is_ok_and(|selection| selection.provider == provider)
            }
            Self::SavedKey { provider: decided } | Self::Key { provider: decided, .. } => *decided == provider,
        }
    }
}

impl std::fmt::Display for Decided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Configured { id } => write!(f, "`{}` is used, as `model` of the configuration says", exact(id)),
            Self::Saved { id } => write!(f, "`{}` is used, which you chose and saved", exact(id)),
            Self::SavedKey { provider } => write!(f, "a model of `{provider}` is used, with the key that you saved"),
            Self::Key { provider, variable } => {
                write!(f, "a model of `{provider}` is used, since {variable} is set")
            }
        }
    }
}

/// Returns what decides which model is asked; `None` if only a server of this machine can.
pub fn decided(configuration: &Configuration, environment: &Environment) -> Option<Decided> {
    if let Some(id) = &configuration.model {
        return Some(Decided::Configured { id: id.clone() });
    }
    match &configuration.saved {
        Some(SavedModel::Model { id, .. }) => return Some(Decided::Saved { id: id.clone() }),
        Some(SavedModel::Service { provider, .. }) => return Some(Decided::SavedKey { provider: *provider }),
        None => {}
    }
    let provider = services_with_keys(environment).next()?;
    Some(Decided::Key { provider, variable: provider.key_variable? })
}

/// Returns the ids of configured models about which nothing is known and for which no window is configured.
pub fn unknown(configuration: &Configuration) -> Vec<String> {
    let saved = configuration.saved.as_ref().and_then(SavedModel::id);
    let named = configuration.model.as_deref().into_iter().chain(saved);
    let named = named.chain(configuration.models.keys().map(String::as_str));
    let mut unknown: Vec<String> = named
        .filter(|id| configuration.models.get(*id).is_none_or(|options| options.window.is_none()))
        .filter(|id| id.parse::<Selection>().is_ok_and(|selection| selection.provider.address.is_some()))
        .filter(|id| configuration.known.find(id).is_none())
        .map(str::to_owned)
        .collect();
    unknown.sort();
    unknown.dedup();
    unknown
}

/// What the user should know about the choice of a model that nobody named: the keys that it was made from, if there
/// are several.
pub fn choice_notice(flag: Option<&str>, configuration: &Configuration, environment: &Environment) -> Option<Notice> {
    if flag.or(configuration.model.as_deref()).is_some() || configuration.saved.is_some() {
        return None;
    }
    let keys: Vec<&str> = services_with_keys(environment).filter_map(|provider| provider.key_variable).collect();
    let (first, _) = keys.split_first().filter(|(_, others)| !others.is_empty())?;
    let set = format!("{} are set; using {first}. To choose: ", keys.join(" and "));
    Some(Notice::from(set).flag(Flag::Model).text(", or `model` in the configuration"))
}

fn no_model_help() -> Advice {
    let keys = PROVIDERS.iter().filter(|provider| provider.usual_models.is_some());
    let keys: Vec<&str> = keys.filter_map(|provider| provider.key_variable).collect();
    Advice::from(format!(
        "set {}, or start Ollama; on a terminal, `host` helps you choose; to try it without a model: ",
        one_of(&keys)
    ))
    .flag_with(Flag::Model, "offline")
}

/// Names in a list: `A, B or C`.
fn one_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Returns the models of Ollama at its address; empty if nothing answers there.
///
/// # Errors
///
/// When its configured address is invalid.
pub async fn local(configuration: &Configuration, environment: &Environment) -> Result<Vec<String>, Failure> {
    let ollama = Ollama::new(access(Ollama::PROVIDER, configuration, environment))?;
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

/// Creates the model with this id, with retries after temporary failures and with its fallback. Sends nothing.
pub fn connect(id: &str, configuration: &Configuration, environment: &Environment) -> Result<Model, Failure> {
    if id == AUTO {
        return auto(configuration, environment);
    }
    connect_with(id, Loading::AsKnown, configuration, environment)
}

/// Whether a model's service may load tools in the course of a conversation.
#[derive(Clone, Copy)]
enum Loading {
    /// If it can.
    AsKnown,
    /// Never: the conversation is kept for a model whose service cannot, and this one answers in its place.
    Never,
}

fn connect_with(
    id: &str,
    loading: Loading,
    configuration: &Configuration,
    environment: &Environment,
) -> Result<Model, Failure> {
    let mut model = connect_once(id, loading, configuration, environment)?;
    // With its provider, by which it has its settings.
    let id = model.id.clone();
    let id = id.as_str();
    if id.parse::<Selection>()?.provider.address.is_none() {
        // A model without a service has no temporary failures.
        return Ok(model);
    }
    let fallback = match configuration.models.get(id).and_then(|options| options.fallback.as_deref()) {
        Some(fallback) => {
            let loading = if model.settings.deferred_tools { loading } else { Loading::Never };
            let fallback = connect_once(fallback, loading, configuration, environment)?;
            let Model { id, name, provider, settings, .. } = fallback;
            model.answering.push(id.to_string());
            let instead_of = model.settings.clone();
            Some(Fallback { id: id.to_string(), model: name, provider, settings, instead_of })
        }
        None => None,
    };
    let provider = Arc::new(Retrying::new(model.provider, configuration.retry(), fallback));
    Ok(Model { provider, ..model })
}

/// Returns the id of a model with its provider: a model that is named without one is spoken to on the wire that the
/// catalogue has for it.
///
/// # Errors
///
/// If it has no provider and nothing is known about the model, or nobody has it on its wire.
pub fn with_provider(id: &str, configuration: &Configuration, environment: &Environment) -> Result<String, Failure> {
    let invalid = match id.parse::<Selection>() {
        Ok(_) => return Ok(id.to_owned()),
        Err(error) => error,
    };
    let Some(wire) = configuration.known.wire(id).filter(|_| !id.contains('/')) else { return Err(invalid.into()) };
    let is_own = is_own_address(OpenAi::PROVIDER, configuration, environment);
    let provider = match wire {
        // A server of the user's with OpenAI's format mostly has chat completions alone.
        Wire::OpenAiResponses if !is_own => OpenAi::PROVIDER,
        Wire::OpenAi if is_own => {
            return Err(ModelsError::NoServer { id: exact(id).into_owned(), provider: OpenAi::PROVIDER }.into());
        }
        wire => wire.provider(),
    };
    Ok(format!("{provider}/{id}"))
}

fn connect_once(
    id: &str,
    loading: Loading,
    configuration: &Configuration,
    environment: &Environment,
) -> Result<Model, Failure> {
    let id = &*with_provider(id, configuration, environment)?;
    let selection: Selection = id.parse()?;
    let provider = selection.connect(access(selection.provider, configuration, environment))?;
    let name = provider.stands_for().unwrap_or(selection.model()).to_owned();
    let options = configuration.models.get(id).cloned().unwrap_or_default();
    let known = &configuration.known;
    let kinds = known.tools(&name);
    let has = |kind| kinds.is_none_or(|kinds| kinds.contains(&kind));
    let calls_none = kinds.is_some_and(<[ToolKind]>::is_empty);
    let tools = options.tools.unwrap_or(if calls_none { Tools::Text } else { Tools::Native });
    let provider = match tools {
        Tools::Native => provider,
        Tools::Text => Arc::new(TextMode::around(provider)),
    };
    let mut settings = options.settings();
    settings.effort = effort(selection.provider, &name, &settings, configuration);
    settings.verbosity = verbosity(selection.provider, &name, &settings, configuration);
    // Other servers with the format may reject what they do not know.
    let is_known =
        |kind| kinds.is_some() && has(kind) && is_own_address(selection.provider, configuration, environment);
    settings.deferred_tools = matches!((tools, loading), (Tools::Native, Loading::AsKnown))
        && [OpenAiResponses::PROVIDER, Anthropic::PROVIDER].contains(&selection.provider)
        && options.deferred_tools.unwrap_or_else(|| is_known(ToolKind::Deferred));
    let has_custom = tools == Tools::Native
        && selection.provider == OpenAiResponses::PROVIDER
        && options.custom_tools.unwrap_or_else(|| is_known(ToolKind::Custom));
    settings.custom_tools = has_custom.then(editing::patch_by_grammar).into_iter().collect();
    let searches = has(ToolKind::WebSearch);
    let window = options.window.unwrap_or_else(|| known.window(&name));
    // A window of the user's own is for the user to fill.
    let comfortable = if options.window.is_some() { None } else { known.comfortable(&name) };
    let (answering, prompts) = (vec![id.to_owned()], PromptFamily::of(id, known));
    Ok(Model { id: ModelId::new(id), name, provider, settings, answering, window, comfortable, searches, prompts })
}

/// Returns the effort that a model is asked for: the user's, as near as the model has it, or else the usual one of its
/// family. A thinking budget that the user set takes its place.
fn effort(provider: ProviderId, name: &str, settings: &Settings, configuration: &Configuration) -> Option<Effort> {
    let facts = configuration.known.find(name);
    match settings.effort.or(configuration.effort) {
        Some(wanted) => match facts {
            // A model of OpenAI's that does not reason rejects any effort.
            Some(facts) if facts.family == Family::Gpt || !facts.efforts.is_empty() => wanted.nearest(&facts.efforts),
            Some(_) | None => Some(wanted),
        },
        // Chat completions reject calls together with an effort for some models, and other services have models of
        // their own under known names.
        None => facts
            .filter(|_| settings.thinking_budget.is_none())
            .filter(|_| [OpenAiResponses::PROVIDER, Anthropic::PROVIDER].contains(&provider))
            .and_then(ModelFacts::usual_effort),
    }
}

/// Returns the verbosity that a model is asked for: the user's, if the model lets a client choose one; nothing to
/// anybody else, since a service rejects what it does not know.
fn verbosity(
    provider: ProviderId,
    name: &str,
    settings: &Settings,
    configuration: &Configuration,
) -> Option<Verbosity> {
    let has_it = [OpenAiResponses::PROVIDER, OpenAi::PROVIDER].contains(&provider);
    let accepted = configuration.known.verbosities(name);
    let wanted = settings.verbosity.or(configuration.verbosity)?;
    // About an unknown model the user knows more.
    let accepts = accepted.is_none_or(|accepted| accepted.contains(&wanted));
    (has_it && accepts).then_some(wanted)
}

/// Returns the id of a usual model with the wire on which it works best: OpenAI's own service has its models' thoughts
/// and efforts only in the Responses API, and other servers with OpenAI's format mostly have only chat completions.
fn on_best_wire(id: &str, configuration: &Configuration, environment: &Environment) -> String {
    match id.strip_prefix(OpenAi::PROVIDER.name()).and_then(|rest| rest.strip_prefix('/')) {
        Some(name) if is_own_address(OpenAi::PROVIDER, configuration, environment) => {
            format!("{}/{name}", OpenAiResponses::PROVIDER)
        }
        Some(_) | None => id.to_owned(),
    }
}

/// Returns whether a provider is asked at its service's own address, and not at one that the user gave.
fn is_own_address(provider: ProviderId, configuration: &Configuration, environment: &Environment) -> bool {
    let default = provider.address.and_then(|address| address.default);
    match access(provider, configuration, environment).address {
        None => true,
        Some(address) => default.is_some_and(|default| address.trim_end_matches('/') == default.trim_end_matches('/')),
    }
}

/// Creates the model `auto` from `[routing]`, or else from the usual models of the service whose key is set.
fn auto(configuration: &Configuration, environment: &Environment) -> Result<Model, Failure> {
    let Routing { default, classifier, models } = &configuration.routing;
    let configured = default.as_deref().or_else(|| models.keys().next().map(String::as_str));
    let usual_ids: [String; 3];
    let (default, classifier, others) = match (configured, by_key(configuration, environment)) {
        (Some(default), _) => {
            let others = models.iter().filter(|(id, _)| *id != default);
            (default, classifier.as_deref(), others.map(|(id, when)| (id.as_str(), when.as_str())).collect())
        }
        (None, Some((_, usual))) => {
            usual_ids =
                [usual.main, usual.simple, usual.classifier].map(|id| on_best_wire(id, configuration, environment));
            let [main, simple, picks] = &usual_ids;
            (main.as_str(), Some(classifier.as_deref().unwrap_or(picks)), vec![(simple.as_str(), SIMPLE)])
        }
        (None, None) => {
            return Err(ModelsError::NothingToPick.into());
        }
    };
    let mut answering = Vec::new();
    let (mut windows, mut comfortable, mut prompts) = (Vec::new(), Vec::new(), Vec::new());
    let mut searches = Vec::new();
    let mut route = |id: &str, when: &str| {
        if id == AUTO {
            return Err(Failure::from(ModelsError::AutoPicksItself));
        }
        let model = connect_with(id, Loading::Never, configuration, environment)?;
        answering.extend(model.answering);
        windows.push(model.window);
        comfortable.extend(model.comfortable);
        prompts.push(model.prompts);
        searches.push(model.searches);
        let asked = Asked { model: model.name, provider: model.provider, settings: model.settings };
        Ok(Route { id: id.to_owned(), when: when.to_owned(), asked })
    };
    let default = route(default, models.get(default).map_or(COMPLEX, String::as_str))?;
    let others = others.into_iter().map(|(id, when)| route(id, when)).collect::<Result<Vec<_>, _>>()?;
    let classifier = classifier
        .map(|id| {
            // It is asked only once: without it, the default answers.
            let picks = connect_once(id, Loading::Never, configuration, environment)?;
            let Model { name, provider, settings, .. } = picks;
            Ok::<_, Failure>(Asked { model: name, provider, settings })
        })
        .transpose()?;
    Ok(Model {
        id: ModelId::new(AUTO),
        name: AUTO.to_owned(),
        provider: Arc::new(Auto::new(default, others, classifier)),
        settings: Settings::default(),
        answering,
        window: windows.into_iter().min().expect("the default is one"),
        comfortable: comfortable.into_iter().min(),
        searches: searches.first().copied().expect("the default is one"),
        // The one that most likely answers.
        prompts: prompts.first().copied().expect("the default is one"),
    })
}

/// Sees that everything that may answer has a price, so that a limit of costs is one.
pub fn check_prices(model: &Model, prices: &Prices) -> Result<(), ModelsError> {
    let priced = |id: &&String| prices.of(id).is_some();
    let free = |id: &&String| id.as_str() == Offline::PROVIDER.name();
    match model.answering.iter().find(|id| !priced(id) && !free(id)) {
        None => Ok(()),
        Some(id) => Err(ModelsError::NoPrice(id.clone())),
    }
}

impl Model {
    /// Returns the address to which its service is sent searches of the web; `None` if it has no search.
    pub fn search_address(&self) -> Option<String> {
        if self.searches { self.provider.search_address(&self.name) } else { None }
    }

    /// Returns the same model with all its replies recorded.
    pub fn recorded(self, recording: &Recording) -> Self {
        let provider = Arc::new(LoggingProvider::new(self.provider, recording));
        Self { provider, ..self }
    }
}

/// Makes a new file to record into, which only this user can read.
pub fn recording(file: &Path) -> Result<Recording, ModelsError> {
    let created = host_files::create_private(file);
    let out = created.map_err(|cause| ModelsError::Recording { file: file.to_owned(), cause })?;
    Ok(Recording::new(Box::new(out), &file.display().to_string()))
}

/// Returns how to reach a service: the environment overrides the configuration.
pub(crate) fn access(provider: ProviderId, configuration: &Configuration, environment: &Environment) -> Access {
    let of = |provider: &ProviderId| configuration.providers.get(provider).cloned();
    let configured = match of(&provider) {
        // Both are one service: its key is the same, and so is the way to it.
        None if provider == OpenAiResponses::PROVIDER => of(&OpenAi::PROVIDER),
        configured => configured,
    };
    let configured = configured.unwrap_or_default();
    let logs_in = provider.login == LoginSpec::Required || configured.auth == Some(Auth::Oauth);
    let login = logs_in.then(|| Login {
        file: environment.google_credentials(),
        metadata_host: environment.text("GCE_METADATA_HOST"),
    });
    let saved = configuration.saved.as_ref();
    let address = provider.address.and_then(|address| environment.text(address.variable)).or(configured.base_url);
    let own_server = saved.and_then(|saved| saved.address_of(provider)).filter(|_| address.is_none());
    let key = provider.key_variable.and_then(|name| environment.text(name)).and_then(|key| ApiKey::new(&key));
    let key = match own_server {
        // A key in the environment is for the service, and not for what answers on this machine.
        Some(_) => None,
        None => key.or_else(|| saved?.key_of(provider)),
    };
    let headers = configured.headers.iter().filter_map(|(name, value)| Some((name.clone(), ApiKey::new(value)?)));
    Access {
        address: address.or_else(|| own_server.map(str::to_owned)),
        key,
        login,
        project: environment.text("GOOGLE_CLOUD_PROJECT").or(configured.project),
        location: environment.text("GOOGLE_CLOUD_LOCATION").or(configured.location),
        headers: headers.collect(),
        proxy: configured.proxy,
        silence: configured.silence_seconds.map(Duration::from_secs),
    }
}

#[cfg(test)]
mod tests;
