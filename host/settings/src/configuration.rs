//! The user's configuration file, overridden by that of a trusted project: both are read once and strictly, and every
//! key has an effect.
//!
//! Flags override the environment, the environment overrides the project's file, and that overrides the user's file.
//! Here is a file as it is written, a type for each section. Deliberately not here: what holds (`resolved`), which is
//! all that readers see.

mod check;
mod commands;
mod fault;
mod hooks;
mod indexes;
mod mcp;
mod plugins;
mod project;
mod range;
mod resolved;
mod schema;
mod written;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, TryFromFloatSecsError};

use host_agent::{CompressionConfig, ReplyPolicy, RunConfig, TreeLimits};
use host_files::Access;
use host_model::{Effort, Gemini, ProviderId, RetryPolicy, Settings, Verbosity, Vertex};
use host_process::ConfineMode;
use host_text::{exact, expected_instead, with_plain_types};
use host_tool::ApprovalMode;
use schemars::JsonSchema;
use serde::Deserialize;

use self::check::Check;
pub use self::check::{CHECK_ATTEMPTS, CHECK_SECONDS, CheckSettings};
use self::commands::ToolCommands;
pub use self::commands::{Commands, CommandsFault, Owner};
pub use self::fault::{ConfigurationError, ConfigurationFault, ProjectRule, WhyNot};
pub use self::hooks::{ForeignAgent, HOOK_SECONDS, HookConfig, HooksConfig};
pub use self::indexes::IndexConfig;
pub use self::mcp::{McpConfig, McpFault, TIMEOUT_SECONDS};
pub use self::plugins::{
    ConfigValue, ConfigValueError, FileSecret, PluginConfig, PluginConfigs, PluginsVariableError, SecretSource,
    VARIABLE, VariableSecret, from_environment, overlay,
};
pub use self::range::{AtLeastOne, InnerShare, OutOfRange};
pub use self::resolved::{
    AgentSettings, Bell, Configuration, ConfineSettings, ContextNames, ConversationSettings, Preference, ShownAnswers,
};
pub use self::schema::schema;
pub use self::written::{NOT_SHOWN, Origin, Setting, Written, address as shown_address};
use crate::editing::Editing;
use crate::environment::{Environment, Folders};
use crate::error::Failure;

/// The largest file that is read.
const MAX_FILE: u64 = 1 << 20;

/// The names of context files, unless `[context] files` sets others. [`CONTEXT_FALLBACK`] is read only in a folder
/// without the first of them: where both are, they usually say the same.
pub const CONTEXT_FILES: &[&str] = &["AGENTS.md", CONTEXT_FALLBACK, "GEMINI.md"];

/// The share of a model's window that the tools of MCP servers may take, unless `[context] mcp_share` sets another: a
/// tenth, as Claude Code has it.
pub const MCP_SHARE: f64 = 0.1;

/// See [`CONTEXT_FILES`].
pub const CONTEXT_FALLBACK: &str = "CLAUDE.md";

/// The configuration file, `config.toml`, as it was written: a key that is missing is `None`.
///
/// Readers get [`Configuration`], in which every key has a value.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Configuration", description = "The configuration file, `config.toml`.")]
pub(crate) struct ConfigurationFile {
    /// The model, as `--model` takes it.
    pub(crate) model: Option<String>,
    /// How much the model thinks, as `--effort` takes it. If it is not set, the usual effort of the model's family.
    #[schemars(schema_with = "schema::effort")]
    pub(crate) effort: Option<Effort>,
    /// How many words the model's answers have, as `--verbosity` takes it. If it is not set, the model decides.
    #[schemars(schema_with = "schema::verbosity")]
    pub(crate) verbosity: Option<Verbosity>,
    /// The tools with which the model changes files: `edit` means `edit` and `write_file`, `patch` means
    /// `apply_patch`. If it is not set, those that the model's family works best with.
    pub(crate) editing: Option<Editing>,
    /// Whether the model can write scripts that call its tools, with the tool `run_code`. If it is not set, models of
    /// the family `gpt` can, which are trained on it.
    pub(crate) code_mode: Option<bool>,
    /// What is allowed without asking, as `--approval-mode` takes it. If it is not set: `auto` where a user is there
    /// and programs can be confined, otherwise `default`.
    #[schemars(schema_with = "schema::approval_mode")]
    pub(crate) approval_mode: Option<ApprovalMode>,
    /// Whether to work in folders that are not in a repository without asking.
    #[schemars(extend("default" = false))]
    pub(crate) any_folder: Option<bool>,
    /// Confinement of the programs that tools start.
    pub(crate) confine: Confine,
    /// Files that no tool and no program may have.
    pub(crate) deny: Deny,
    /// Programs that are asked about events of a session.
    pub(crate) hooks: HooksConfig,
    /// Commands that run before a run that changed files ends.
    pub(crate) check: Check,
    /// Limits of a run.
    pub(crate) run: Run,
    /// Limits of all runs of a day together.
    pub(crate) budget: DailyBudget,
    /// What a model reads before the first request.
    pub(crate) context: Context,
    /// Behaviour of a conversation in a terminal.
    pub(crate) conversation: Conversation,
    /// Limits of one call.
    pub(crate) limits: Limits,
    /// Commands that list and call further tools.
    pub(crate) tools: ToolCommands,
    /// Retries of requests to a model.
    pub(crate) retry: Retry,
    /// Compression of a long history.
    pub(crate) compression: Compression,
    /// Services, by the provider's name.
    #[schemars(schema_with = "schema::providers")]
    pub(crate) providers: BTreeMap<ProviderId, Service>,
    /// The choice that the model `auto` makes.
    pub(crate) routing: Routing,
    /// Options of models, by their names as `--model` takes them.
    pub(crate) models: BTreeMap<String, Model>,
    /// Changes to declared agents, by their names.
    pub(crate) agents: BTreeMap<String, Agent>,
    /// Settings of plugins, by their names.
    #[schemars(with = "BTreeMap<String, PluginConfig>")]
    pub(crate) plugins: PluginConfigs,
    /// MCP servers, by their names.
    pub(crate) mcp: BTreeMap<String, McpConfig>,
    /// Indexes of plugins, by the names that you give them.
    pub(crate) indexes: BTreeMap<String, IndexConfig>,
    /// Which keys it sets, for a report; not a key of this file.
    #[serde(skip)]
    pub(crate) written: Written,
}

/// `[confine]`: what the programs that tools start may touch, besides the system, the toolchains and the workspace.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Confine {
    /// Whether programs are confined, as `--confine` takes it.
    #[schemars(extend("default" = ConfineMode::Auto.name()))]
    #[schemars(schema_with = "schema::confine_mode")]
    pub mode: Option<ConfineMode>,
    /// Further files and folders that they may read, such as `~/.config/tool`.
    pub readable: Vec<PathBuf>,
    /// Further files and folders that they may change, such as `~/.cache/tool`.
    pub writable: Vec<PathBuf>,
    /// Servers that they may reach, such as `*.crates.io` or `localhost:5432 +private`; port 443 if none is named. With
    /// `ssh://git@example.com` git may fetch from there over ssh, with `ssh://git@example.com +push` also send.
    pub net: Vec<String>,
    /// Variables of your environment that they get besides those on the host's list, such as `RAILS_ENV` or `APP_*`.
    pub variables: Vec<String>,
}

/// `[deny]`: files that neither tools nor programs may have, in every mode.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Deny {
    /// Files and folders that they neither read nor change, such as `.env`, `*.pem`, `secrets/**` or `~/notes`: a name
    /// alone is meant in every folder, another relative one beneath the workspace.
    pub read: Vec<String>,
}

/// `[run]`: the limits of a run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Run {
    /// The most turns of the main agent in one run; no limit if it is not set.
    pub max_turns: Option<AtLeastOne<u32>>,
    /// The longest time of such a run; no limit if it is not set.
    pub timeout_seconds: Option<AtLeastOne<u64>>,
    /// The time for the last request, which is made after a limit.
    #[schemars(extend("default" = RunConfig::default().grace.as_secs()))]
    pub grace_seconds: Option<u64>,
    /// Whether a model that repeats itself is stopped.
    #[schemars(extend("default" = true))]
    pub loop_detection: Option<bool>,
    /// How many tokens a run and its subagents may send and receive; no limit if it is not set.
    pub max_tokens: Option<AtLeastOne<u64>>,
    /// What they may cost; no limit if it is not set. Every model that may answer needs a price, configured or of the
    /// list that comes with the program.
    pub max_cost: Option<Amount>,
    /// How many subagents a run may start; 0 disables them.
    #[schemars(extend("default" = TreeLimits::default().subagents))]
    pub max_subagents: Option<u32>,
    /// How many turns a run and its subagents may take together.
    #[schemars(extend("default" = TreeLimits::default().turns))]
    pub max_total_turns: Option<AtLeastOne<u32>>,
}

/// `[budget]`: the limits of all runs of a day together, subagents included, in any folder of this machine. A day is
/// one of UTC.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DailyBudget {
    /// How many tokens all runs of a day may send and receive; no limit if it is not set.
    pub tokens_per_day: Option<AtLeastOne<u64>>,
    /// What they may cost; no limit if it is not set. Every model that may answer needs a price.
    pub cost_per_day: Option<Amount>,
}

/// Context that a model gets before the first message.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Context {
    /// The names of context files, without folders; an empty list disables them. By default `CLAUDE.md` is read only
    /// where there is no `AGENTS.md`.
    #[serde(deserialize_with = "file_names")]
    #[schemars(extend("default" = schema::context_files()))]
    pub files: Option<Vec<String>>,
    /// The share of the model's window that the tools of MCP servers may take; above it the model finds them with
    /// `tool_search`.
    #[schemars(extend("default" = MCP_SHARE))]
    pub mcp_share: Option<Share>,
}

/// Settings of a conversation.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Conversation {
    /// A prompt that took longer rings the bell when it is done, wherever the user looks; never if it is not set.
    pub bell_seconds: Option<u64>,
    /// What the terminal is sent when a prompt is done or a question waits, if it reports that the user looks
    /// elsewhere.
    #[schemars(extend("default" = "bell"))]
    pub notify: Option<Alert>,
    /// A program with its arguments that is run then too, with the message as a further argument.
    pub notify_command: Vec<String>,
    /// Whether the title of the terminal's window says what is going on.
    #[schemars(extend("default" = true))]
    pub title: Option<bool>,
    /// Show answers on the terminal as the Markdown that the model wrote, instead of rendered. `/raw` switches it.
    #[schemars(extend("default" = false))]
    pub raw: Option<bool>,
    /// Whose keys the input line has.
    #[schemars(extend("default" = "emacs"))]
    pub keys: Option<Keys>,
    /// Whether the row below the input line shows model, mode, use of the context, tokens, cost and branch.
    #[schemars(extend("default" = true))]
    pub status: Option<bool>,
}

/// What a terminal is sent to alert a user who looks elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Alert {
    /// The bell.
    #[default]
    Bell,
    /// The sequence OSC 9: a notification of the desktop in terminals that support it.
    Osc9,
    /// Nothing.
    Off,
}

/// Whose keys the input line of a conversation has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keys {
    /// As in a shell.
    #[default]
    Emacs,
    /// As in vim, beginning in the insert mode.
    Vim,
}

/// Changes to an agent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    /// Whether the agent can be run at all.
    #[schemars(extend("default" = true))]
    pub enabled: Option<bool>,
    /// The model that it asks instead of its caller's.
    pub model: Option<String>,
    /// The most turns.
    pub max_turns: Option<AtLeastOne<u32>>,
    /// The longest time.
    pub timeout_minutes: Option<AtLeastOne<u64>>,
    /// The temperature.
    pub temperature: Option<f32>,
}

/// `[limits]`: the limits of one call.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    /// The longest time of a call that runs no programs.
    #[schemars(extend("default" = host_plugin::Limits::default().time.as_secs()))]
    pub call_seconds: Option<AtLeastOne<u64>>,
    /// The longest time of a call that runs programs.
    #[schemars(extend("default" = host_plugin::Limits::default().process_time.as_secs()))]
    pub process_call_seconds: Option<AtLeastOne<u64>>,
    /// The memory of one call, in MiB.
    #[schemars(extend("default" = host_plugin::Limits::default().memory >> 20))]
    pub memory_mib: Option<AtLeastOne<usize>>,
}

/// Settings for retries of requests to a model.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Retry {
    /// Requests for one reply, if the failure may pass: the network, 429, 5xx.
    #[schemars(extend("default" = RetryPolicy::default().attempts))]
    pub attempts: Option<AtLeastOne<u32>>,
    /// The pause before the second request. Each further pause is twice as long, with 30 % of jitter.
    #[schemars(extend("default" = RetryPolicy::default().first_pause.as_secs_f64()))]
    pub first_pause_seconds: Option<Seconds>,
    /// The longest pause.
    #[schemars(extend("default" = RetryPolicy::default().longest_pause.as_secs_f64()))]
    pub longest_pause_seconds: Option<Seconds>,
    /// The longest pause that a service may name; a longer one is final.
    #[schemars(extend("default" = RetryPolicy::default().longest_named.as_secs_f64()))]
    pub longest_named_seconds: Option<Seconds>,
    /// Requests for one reply, if it arrived and is invalid: empty, cut, blocked.
    #[schemars(extend("default" = ReplyPolicy::default().attempts))]
    pub reply_attempts: Option<AtLeastOne<u32>>,
    /// The pause before another request after an invalid reply.
    #[schemars(extend("default" = ReplyPolicy::default().pause.as_secs_f64()))]
    pub reply_pause_seconds: Option<Seconds>,
}

/// A number that a key does not take.
#[derive(Debug, thiserror::Error)]
pub enum NumberError {
    /// It is no time.
    #[error("invalid time `{seconds}`: {cause}")]
    Seconds {
        /// The number.
        seconds: f64,
        /// Why.
        cause: TryFromFloatSecsError,
    },
    /// It is no share.
    #[error("`{0}` is out of range: it must be from 0 to 1")]
    Share(f64),
    /// It is no amount.
    #[error("invalid amount `{0}`")]
    Amount(f64),
}

/// A time in seconds, perhaps with a fraction; never negative.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
pub(crate) struct Seconds(pub Duration);

impl TryFrom<f64> for Seconds {
    type Error = NumberError;

    fn try_from(seconds: f64) -> Result<Self, NumberError> {
        Duration::try_from_secs_f64(seconds).map(Self).map_err(|cause| NumberError::Seconds { seconds, cause })
    }
}

impl Retry {
    /// Returns how a failed request is sent again.
    pub(crate) fn policy(&self) -> RetryPolicy {
        let usual = RetryPolicy::default();
        let time = |set: Option<Seconds>, usual: Duration| set.map_or(usual, |seconds| seconds.0);
        RetryPolicy {
            attempts: self.attempts.map_or(usual.attempts, AtLeastOne::get),
            first_pause: time(self.first_pause_seconds, usual.first_pause),
            longest_pause: time(self.longest_pause_seconds, usual.longest_pause),
            longest_named: time(self.longest_named_seconds, usual.longest_named),
            ..usual
        }
    }

    /// Returns how an invalid reply is requested again.
    pub(crate) fn reply(&self) -> ReplyPolicy {
        let usual = ReplyPolicy::default();
        ReplyPolicy {
            attempts: self.reply_attempts.map_or(usual.attempts, AtLeastOne::get),
            pause: self.reply_pause_seconds.map_or(usual.pause, |seconds| seconds.0),
            ..usual
        }
    }
}

/// When a long conversation is shortened.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Compression {
    /// The share of the model's window at which the history is compressed; 0 disables it.
    #[schemars(extend("default" = CompressionConfig::default().threshold))]
    pub threshold: Option<Share>,
    /// The share of the history's characters that the summary replaces.
    #[schemars(extend("default" = CompressionConfig::default().summarised))]
    pub summarised: Option<InnerShare>,
}

/// A share, from 0 to 1.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
pub(crate) struct Share(pub f64);

impl TryFrom<f64> for Share {
    type Error = NumberError;

    fn try_from(share: f64) -> Result<Self, NumberError> {
        if (0.0..=1.0).contains(&share) { Ok(Self(share)) } else { Err(NumberError::Share(share)) }
    }
}

/// Connection to a service.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Service {
    /// The address of the service.
    pub base_url: Option<String>,
    /// Further headers of each request; they may hold secrets.
    pub headers: BTreeMap<String, String>,
    /// The proxy, instead of the environment's.
    pub proxy: Option<String>,
    /// The longest silence within a reply.
    pub silence_seconds: Option<u64>,
    /// How `gemini` authenticates.
    pub auth: Option<Auth>,
    /// The Google Cloud project that pays, for `vertex`.
    pub project: Option<String>,
    /// The region, for `vertex`.
    pub location: Option<String>,
}

/// By what a service of Google's knows who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Auth {
    /// The key of its variable.
    Key,
    /// The application-default credentials.
    Oauth,
}

/// Shows no header: they may hold secrets.
impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// Settings for a model's replies; missing values are the service's own defaults.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// The temperature.
    pub temperature: Option<f32>,
    /// The nucleus sampling share.
    pub top_p: Option<f32>,
    /// The most tokens of a reply.
    pub max_output_tokens: Option<u32>,
    /// How much it thinks, as `effort` above; this wins.
    #[schemars(schema_with = "schema::effort")]
    pub effort: Option<Effort>,
    /// How many words its answers have, as `verbosity` above; this wins.
    #[schemars(schema_with = "schema::verbosity")]
    pub verbosity: Option<Verbosity>,
    /// Tokens for thinking; -1 for no limit, 0 for none. It wins over the effort where the service has budgets.
    pub thinking_budget: Option<i32>,
    /// Texts that end a reply.
    pub stop: Option<Vec<String>>,
    /// Safety settings of Gemini, by category.
    pub safety: BTreeMap<String, String>,
    /// The model that answers if this one's quota stays used up.
    pub fallback: Option<String>,
    /// The most tokens that it takes at once, if its name does not tell.
    pub window: Option<u64>,
    /// The price of a million tokens, in any currency; if it is not set, the list price that comes with the program, in
    /// US dollars, where there is one.
    pub price: Option<ModelPrice>,
    /// Whether its service keeps what it cached of a conversation for longer: an hour at Anthropic, where that costs
    /// twice as much to put there, and a day at OpenAI.
    #[schemars(extend("default" = false))]
    pub long_cache: Option<bool>,
    /// How it is offered its tools; if it is not set, in text if the catalogue says that it calls none.
    #[schemars(extend("default" = "native"))]
    pub tools: Option<Tools>,
    /// Whether its service loads the tools that `tool_search` finds in the course of a conversation, on the wires
    /// `anthropic` and `openai-responses`; if it is not set, as the catalogue says at the service's own address, and
    /// not at others.
    pub deferred_tools: Option<bool>,
    /// Whether `apply_patch` is declared with its grammar, so that the model writes the patch as it is and not as JSON,
    /// on the wire `openai-responses`; if it is not set, as `deferred_tools`.
    pub custom_tools: Option<bool>,
}

/// Price of a million tokens of a model, in any currency.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    /// Of tokens that are sent.
    pub input: Amount,
    /// Of tokens that are received.
    pub output: Amount,
    /// Of sent tokens that the service had cached; as `input` if it is not set.
    pub cached: Option<Amount>,
    /// Of sent tokens that the service puts into its cache; as `input` if it is not set.
    pub cache_write: Option<Amount>,
}

/// An amount of money: a number, not negative.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
pub struct Amount(pub f64);

impl TryFrom<f64> for Amount {
    type Error = NumberError;

    fn try_from(amount: f64) -> Result<Self, NumberError> {
        if amount.is_finite() && amount >= 0.0 { Ok(Self(amount)) } else { Err(NumberError::Amount(amount)) }
    }
}

/// The models from which the model `auto` picks, and the model that picks.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Routing {
    /// The model that answers if none is picked.
    pub default: Option<String>,
    /// The model that picks.
    pub classifier: Option<String>,
    /// What each further model is good for, by its name.
    pub models: BTreeMap<String, String>,
}

/// The way in which a model is offered its tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tools {
    /// As its service has it.
    #[default]
    Native,
    /// In text, for a model that cannot call any.
    Text,
}

impl Model {
    /// The options as a provider takes them.
    pub fn settings(&self) -> Settings {
        Settings {
            temperature: self.temperature,
            top_p: self.top_p,
            max_output_tokens: self.max_output_tokens,
            thinking_budget: self.thinking_budget,
            effort: self.effort,
            verbosity: self.verbosity,
            long_cache: self.long_cache.unwrap_or_default(),
            // Only with what is known about the model.
            deferred_tools: false,
            custom_tools: Vec::new(),
            stop: self.stop.clone().unwrap_or_default(),
            safety: self.safety.clone().into_iter().collect(),
        }
    }
}

impl ConfigurationFile {
    /// Reads the file that `HOST_CONFIG` names, which must be there, or the usual one, which need not.
    pub(crate) fn read(environment: &Environment, folders: &Folders) -> Result<Self, Failure> {
        let (path, named) = Configuration::path(environment, folders);
        let unreadable = |cause| ConfigurationError::Unreadable { path: path.clone(), cause };
        match host_files::Input::open(&path) {
            Ok(file) => {
                let about = file.metadata().map_err(unreadable)?;
                // It says which programs run and which guards there are, so that it is not left out in silence.
                if let Err(how) = host_files::check_own(&about) {
                    return Err(ConfigurationError::Exposed { path, how }.into());
                }
                let text = host_files::read_text_limited(file, MAX_FILE).map_err(|error| unreadable(error.into()))?;
                let read = Self::parse(&text, &path)?;
                let holds_a_secret =
                    plugins::holds_a_secret(&read.plugins) || read.mcp.values().any(McpConfig::holds_a_secret);
                if holds_a_secret && let Err(how) = host_files::check(&about, Access::ReadOrWrite) {
                    return Err(ConfigurationError::ExposedSecret { path, how }.into());
                }
                let programs = read.tools.check_programs(Owner::User);
                programs.map_err(|fault| ConfigurationError::of_commands(&path, fault))?;
                Ok(read)
            }
            Err(error) if error.is_missing() && !named => Ok(Self::default()),
            Err(error) => Err(unreadable(error.into()).into()),
        }
    }

    pub(crate) fn parse(text: &str, path: &Path) -> Result<Self, ConfigurationError> {
        let invalid = |fault| ConfigurationError::Invalid { path: path.display().to_string(), fault };
        let configuration: Self = toml::from_str(text).map_err(|error| {
            let expected = expected_instead(error.message()).map(str::to_owned);
            invalid(ConfigurationFault::Toml { text: with_plain_types(error.to_string().trim_end()), expected })
        })?;
        configuration.check().map_err(invalid)?;
        let pair = configuration.tools.check_pair();
        pair.map_err(|fault| ConfigurationError::of_commands(path, fault))?;
        Ok(Self { written: Written::read(text), ..configuration })
    }

    /// Refuses keys that only some services read and another one has, and a budget that allows nothing.
    fn check(&self) -> Result<(), ConfigurationFault> {
        for (key, cost) in [("run.max_cost", self.run.max_cost), ("budget.cost_per_day", self.budget.cost_per_day)] {
            if cost.is_some_and(|Amount(amount)| amount <= 0.0) {
                return Err(ConfigurationFault::NoBudget(key));
            }
        }
        for (name, server) in &self.mcp {
            let shown = || exact(name).into_owned();
            server.check(name).map_err(|fault| ConfigurationFault::Mcp { name: shown(), fault })?;
        }
        for (name, index) in &self.indexes {
            index.check(name)?;
        }
        self.hooks.check()?;
        for (kind, service) in &self.providers {
            let keys = [
                ("auth", service.auth.is_some(), Gemini::PROVIDER),
                ("project", service.project.is_some(), Vertex::PROVIDER),
                ("location", service.location.is_some(), Vertex::PROVIDER),
            ];
            if let Some((key, _, reader)) = keys.into_iter().find(|(_, set, reader)| *set && kind != reader) {
                return Err(ConfigurationFault::OtherService { key, service: *kind, reader });
            }
        }
        Ok(())
    }
}

/// Names of files, without folders: each is looked for in several.
fn file_names<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let is_name = |name: &&String| !name.is_empty() && *name != "." && *name != ".." && !name.contains('/');
    match names.iter().find(|name| !is_name(name)) {
        Some(path) => Err(serde::de::Error::custom(format!("`{path}` is not a file name: write it without folders"))),
        None => Ok(Some(names)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ConfigurationFile, Failure> {
        Ok(ConfigurationFile::parse(text, Path::new("config.toml"))?)
    }

    #[test]
    fn configuration_unknown_key_is_reported_with_its_line_and_the_nearest_key() {
        let failure = parse("model = \"offline\"\naproval_mode = \"plan\"\n").expect_err("it has a mistake");
        assert!(failure.causes[0].to_string().contains("line 2"), "{failure:?}");
        assert_eq!(failure.help_text().as_deref(), Some("did you mean `approval_mode`?"));
        let failure = parse("[limits]\ncall_second = 3\n").expect_err("it has a mistake");
        assert_eq!(failure.help_text().as_deref(), Some("did you mean `call_seconds`?"));
    }

    #[test]
    fn a_service_and_a_model_have_their_options() {
        let configuration = parse(
            "[providers.gemini]\nheaders = { x-team = \"sec-ret\" }\nsilence_seconds = 9\n\
             [models.\"gemini/x\"]\ntemperature = 0.5\nstop = [\"END\"]\ntools = \"text\"\n",
        )
        .expect("it is right");
        let service = &configuration.providers[&Gemini::PROVIDER];
        assert_eq!((service.silence_seconds, service.headers["x-team"].as_str()), (Some(9), "sec-ret"));
        assert!(!format!("{configuration:?}").contains("sec-ret"));
        let settings = configuration.models["gemini/x"].settings();
        assert_eq!((settings.temperature, settings.stop), (Some(0.5), vec!["END".to_owned()]));
        assert_eq!(configuration.models["gemini/x"].tools, Some(Tools::Text));
        let failure = parse("[models.x]\ntools = \"txt\"\n").expect_err("there is no such way");
        assert_eq!(failure.help_text().as_deref(), Some("did you mean `text`?"));
        let failure = parse("[providers.gemeni]\n").expect_err("there is no such provider");
        assert_eq!(failure.help_text().as_deref(), Some("did you mean `gemini`?"));
    }

    #[test]
    fn configuration_key_that_its_service_does_not_read_is_reported() {
        let check = |text: &str, reader: &str| {
            let failure = parse(text).expect_err("nobody reads it");
            assert!(failure.help_text().as_deref().is_some_and(|help| help.contains(reader)), "{failure:?}");
        };
        check("[providers.openai]\nauth = \"oauth\"\n", "[providers.gemini]");
        check("[providers.gemini]\nproject = \"p\"\n", "[providers.vertex]");
        check("[providers.gemini]\nlocation = \"eu\"\n", "[providers.vertex]");
        let right = "[providers.gemini]\nauth = \"oauth\"\n[providers.vertex]\nproject = \"p\"\nlocation = \"eu\"\n";
        assert_eq!(parse(right).expect("it is right").providers[&Gemini::PROVIDER].auth, Some(Auth::Oauth));
    }

    #[test]
    fn context_files_are_names() {
        let files = |text: &str| parse(&format!("[context]\nfiles = {text}\n")).map(|parsed| parsed.context.files);
        assert_eq!(files("[\"NOTES.md\"]").expect("a name"), Some(vec!["NOTES.md".to_owned()]));
        assert_eq!(files("[]").expect("none at all"), Some(Vec::new()));
        for wrong in ["[\"../a.md\"]", "[\"\"]", "[\"..\"]", "\"a.md\""] {
            assert!(files(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn configuration_value_out_of_range_is_an_error_with_its_range() {
        for (text, value, range) in [
            ("run.max_turns = 0", "`0`", "the smallest value is 1"),
            ("run.max_turns = -3", "`-3`", "the smallest value is 1"),
            ("run.max_turns = 4294967296", "`4294967296`", "the largest value is 4294967295"),
            ("run.timeout_seconds = 0", "`0`", "the smallest value is 1"),
            ("run.max_tokens = 0", "`0`", "the smallest value is 1"),
            ("run.max_total_turns = 0", "`0`", "the smallest value is 1"),
            ("limits.call_seconds = 0", "`0`", "the smallest value is 1"),
            ("limits.process_call_seconds = 0", "`0`", "the smallest value is 1"),
            ("limits.memory_mib = 0", "`0`", "the smallest value is 1"),
            ("retry.attempts = 0", "`0`", "the smallest value is 1"),
            ("retry.reply_attempts = 0", "`0`", "the smallest value is 1"),
            ("agents.x.max_turns = 0", "`0`", "the smallest value is 1"),
            ("agents.x.timeout_minutes = 0", "`0`", "the smallest value is 1"),
            ("compression.summarised = 0", "`0`", "more than 0 and less than 1"),
            ("compression.summarised = 1.0", "`1`", "more than 0 and less than 1"),
            ("compression.summarised = -0.5", "`-0.5`", "more than 0 and less than 1"),
            ("compression.summarised = nan", "`NaN`", "more than 0 and less than 1"),
            ("run.max_cost = 0", "`0`", "more than 0"),
            ("budget.cost_per_day = 0", "`0`", "more than 0"),
            ("budget.tokens_per_day = 0", "`0`", "the smallest value is 1"),
        ] {
            let failure = parse(text).expect_err(text);
            assert_eq!(failure.kind, crate::error::ErrorKind::Configuration, "{text}");
            let key = text.split(' ').next().and_then(|key| key.rsplit('.').next()).expect("a key");
            let cause = failure.notice().to_string();
            assert!(cause.contains(value) && cause.contains(range) && cause.contains(key), "{text}: {failure:?}");
        }
        let least = "run = { max_turns = 1, timeout_seconds = 1 }\nretry = { attempts = 1, reply_attempts = 1 }\n\
                     compression.summarised = 0.01\n";
        let least = parse(least).expect("each is in its range");
        assert_eq!((least.retry.policy().attempts, least.retry.reply().attempts), (1, 1));
    }

    #[test]
    fn configuration_values_that_are_set_are_used() {
        let configuration = parse("approval_mode = \"auto-edit\"\n[limits]\ncall_seconds = 3\n").expect("it is right");
        assert_eq!(configuration.approval_mode, Some(ApprovalMode::AutoEdit));
        assert_eq!(configuration.limits.resolved().time, Duration::from_secs(3));
    }
}
