//! The settings as they hold, with their defaults: what the sections of the files say, resolved once, in one place.
//!
//! Frontends and layers above see these values and not the files, in which most keys may be missing. A value is an
//! `Option` only where `None` means something by itself: no limit, nothing chosen, or the value of another place, such
//! as an agent's own file. Deliberately not here: the defaults of limits, which are beside what they guard.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host_agent::{CompressionConfig, Cost, DayLimits, LoopDetection, Price, ReplyPolicy, RunConfig, TreeLimits};
use host_model::{Effort, KnownModels, ProviderId, RetryPolicy, Verbosity};
use host_process::ConfineMode;
use host_tool::ApprovalMode;

use super::project::Layers;
use super::{
    Agent, Alert, Amount, AtLeastOne, CONTEXT_FALLBACK, CONTEXT_FILES, CheckSettings, Commands, Compression,
    ConfigurationError, ConfigurationFile, Confine, Conversation, DailyBudget, Deny, HooksConfig, IndexConfig,
    InnerShare, Keys, Limits, MCP_SHARE, McpConfig, Model, ModelPrice, Owner, PluginConfigs, Routing, Run, Service,
    Setting, Written,
};
use crate::editing::Editing;
use crate::environment::{Environment, Folders};
use crate::error::Failure;
use crate::models::saved::SavedModel;
use crate::models::{self, known};
use crate::project::ProjectFile;

/// The settings of the user's file, with what that of a trusted project may set, and their defaults.
///
/// It has the name that users know: a configuration is all that is set, a [`Setting`] one key of it with where it comes
/// from, and a section that is resolved is the settings of something. What a file says is a [`ConfigurationFile`].
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The model, as `--model` takes it; `None` if no file names one, so that it is chosen at the start.
    pub model: Option<String>,
    /// The model that the user saved at the first start; `None` if none was saved.
    pub saved: Option<SavedModel>,
    /// What is known about models, with the catalogue that the user fetched.
    pub known: KnownModels,
    /// How much the model thinks; `None` for the usual effort of the model's family.
    pub effort: Option<Effort>,
    /// How many words the model's answers have; `None` if the model decides.
    pub verbosity: Option<Verbosity>,
    /// The tools with which the model changes files; `None` for those of its family.
    pub editing: Option<Editing>,
    /// Whether the model can write scripts that call its tools; `None` for what is usual for its family.
    pub code_mode: Option<bool>,
    /// Confinement of the programs that tools start.
    pub confine: ConfineSettings,
    /// Files that no tool and no program may have.
    pub deny: Deny,
    /// Programs that are asked about events of a session. A key of a hook that is missing is a value of its own: it is
    /// about everything, is called by its line or its file, and has the usual time ([`HookConfig::limit`]).
    pub hooks: HooksConfig,
    /// What is checked before a run ends.
    pub check: CheckSettings,
    /// Services, by the provider's name. A key that is missing is the provider's own value.
    pub providers: BTreeMap<ProviderId, Service>,
    /// The choice that the model `auto` makes. A model that is missing is one of the service whose key is set.
    pub routing: Routing,
    /// Options of models, by their names as `--model` takes them. One that is missing is the service's own value.
    pub models: BTreeMap<String, Model>,
    /// Changes to declared agents.
    pub agents: AgentSettings,
    /// Settings of plugins, by their names.
    pub plugins: PluginConfigs,
    /// MCP servers, by their names. A key that is missing is as the file of a project says, which a server here may add
    /// to.
    pub mcp: BTreeMap<String, McpConfig>,
    /// Indexes of plugins, by the names that the user gives them.
    pub indexes: BTreeMap<String, IndexConfig>,
    approval_mode: Preference<ApprovalMode>,
    any_folder: bool,
    conversation: ConversationSettings,
    own_context_files: ContextNames,
    context_files: ContextNames,
    mcp_share: f64,
    run: RunSettings,
    tree_limits: TreeLimits,
    day_limits: DayLimits,
    limits: host_plugin::Limits,
    retry: RetryPolicy,
    compression: CompressionSettings,
    /// `None` if no file sets any.
    commands: Option<Commands>,
    written: Written,
}

/// Confinement of the programs that tools start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfineSettings {
    /// Whether programs are confined.
    pub mode: Preference<ConfineMode>,
    /// Further files and folders that they may read, as they were written.
    pub readable: Vec<PathBuf>,
    /// Further files and folders that they may change, as they were written.
    pub writable: Vec<PathBuf>,
    /// Servers that they may reach.
    pub net: Vec<String>,
    /// Variables of the user's environment that they get besides those on the host's list.
    pub variables: Vec<String>,
}

/// Changes to declared agents, by their names. A key that is missing is as the agent's own file says.
#[derive(Clone, Debug, Default)]
pub struct AgentSettings {
    /// The user's.
    pub own: BTreeMap<String, Agent>,
    /// The project's, after the user's, which they can only narrow.
    pub project: BTreeMap<String, Agent>,
}

/// The limits and habits of a run.
#[derive(Clone, Copy, Debug)]
struct RunSettings {
    /// The most turns of the main agent; `None` for no limit.
    max_turns: Option<u32>,
    /// The longest time of the main agent; `None` for no limit.
    max_time: Option<Duration>,
    /// The time for the last request; `None` for that of the agent.
    grace: Option<Duration>,
    /// Whether an agent that repeats itself is stopped; `None` for what the agent says.
    loops: Option<LoopDetection>,
    reply: ReplyPolicy,
}

/// When a long conversation is shortened.
#[derive(Clone, Copy, Debug)]
struct CompressionSettings {
    /// The share of the model's window at which it is.
    threshold: Preference<f64>,
    summarised: f64,
}

/// A value that the user chose, or the usual one where nobody did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference<T> {
    /// The user, or a project that they trust, chose it.
    Chosen(T),
    /// Nobody chose.
    Usual(T),
}

impl<T: Copy> Preference<T> {
    /// Returns the value that holds.
    pub fn value(self) -> T {
        match self {
            Self::Chosen(value) | Self::Usual(value) => value,
        }
    }

    /// Returns the value that somebody chose; `None` if nobody did.
    pub fn chosen(self) -> Option<T> {
        match self {
            Self::Chosen(value) => Some(value),
            Self::Usual(_) => None,
        }
    }

    /// Returns whether somebody chose it.
    pub fn is_chosen(self) -> bool {
        matches!(self, Self::Chosen(_))
    }

    /// Returns the value of a flag if there is one, and else this.
    #[must_use]
    pub fn under(self, flag: Option<T>) -> Self {
        flag.map_or(self, Self::Chosen)
    }
}

/// How a conversation in a terminal behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationSettings {
    /// When the bell rings after a prompt, wherever the user looks.
    pub bell: Bell,
    /// What the terminal is sent if the user looks elsewhere.
    pub notify: Alert,
    /// A program with its arguments that is run then, too; empty if there is none.
    pub notify_command: Vec<String>,
    /// Whether the title of the terminal's window says what is going on.
    pub has_title: bool,
    /// How answers are shown.
    pub answers: ShownAnswers,
    /// Whose keys the input line has.
    pub keys: Keys,
    /// Whether there is a status row.
    pub has_status: bool,
}

/// When the bell rings after a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bell {
    /// Never.
    Never,
    /// If the prompt took this long.
    After(Duration),
}

/// How answers are shown on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownAnswers {
    /// As the Markdown says.
    Rendered,
    /// As the Markdown that the model wrote.
    Source,
}

/// The names of context files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextNames {
    /// The usual ones, of which some give way to others.
    Usual,
    /// Those that were named; none if that is empty.
    Named(Vec<String>),
}

impl ContextNames {
    fn new(named: Option<&Vec<String>>) -> Self {
        named.map_or(Self::Usual, |names| Self::Named(names.clone()))
    }

    /// Returns the names, the preferred ones first.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Usual => CONTEXT_FILES.iter().map(|name| (*name).to_owned()).collect(),
            Self::Named(names) => names.clone(),
        }
    }

    /// Returns the file that a file gives way to in a folder that has both.
    pub fn preferred_to(&self, name: &str) -> Option<&'static str> {
        match self {
            Self::Usual if name == CONTEXT_FALLBACK => CONTEXT_FILES.first().copied(),
            Self::Usual | Self::Named(_) => None,
        }
    }
}

impl Configuration {
    /// Returns the path of the user's file, and whether `HOST_CONFIG` names it.
    pub fn path(environment: &Environment, folders: &Folders) -> (PathBuf, bool) {
        match environment.variable("HOST_CONFIG") {
            Some(path) => (PathBuf::from(path), true),
            None => (folders.configuration.join("config.toml"), false),
        }
    }

    /// Reads the user's file, which is the one that `HOST_CONFIG` names and must be there, or the usual one, which need
    /// not; that of a project if it is trusted; and what the user has in files of the host's own making.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, is invalid, or says what it may not say.
    pub fn read(
        environment: &Environment,
        folders: &Folders,
        of_project: Option<&ProjectFile>,
    ) -> Result<Self, Failure> {
        let layers = ConfigurationFile::read(environment, folders)?.with_project(of_project)?;
        Ok(Self { saved: SavedModel::read(folders)?, known: known::read(folders)?, ..Self::resolve(layers) })
    }

    /// Checks the text of a user's file, which is at this path or will be.
    ///
    /// # Errors
    ///
    /// If it is invalid.
    pub fn check_text(text: &str, path: &Path) -> Result<(), ConfigurationError> {
        ConfigurationFile::parse(text, path).map(drop)
    }

    /// Returns the settings of files, without what the host's own files say.
    pub(super) fn resolve(Layers { file, of_project }: Layers) -> Self {
        let project_files = of_project.context_files.as_ref().or(file.context.files.as_ref());
        let run = file.run.resolved(file.retry.reply());
        Self {
            approval_mode: chosen_or(file.approval_mode, ApprovalMode::default()),
            any_folder: file.any_folder.unwrap_or(false),
            conversation: file.conversation.resolved(),
            own_context_files: ContextNames::new(file.context.files.as_ref()),
            context_files: ContextNames::new(project_files),
            mcp_share: file.context.mcp_share.map_or(MCP_SHARE, |share| share.0),
            run,
            tree_limits: file.run.of_tree(),
            day_limits: file.budget.resolved(),
            limits: file.limits.resolved(),
            retry: file.retry.policy(),
            compression: file.compression.resolved(),
            commands: of_project.tools.commands(Owner::Project).or_else(|| file.tools.commands(Owner::User)),
            confine: file.confine.resolved(),
            agents: AgentSettings { own: file.agents, project: of_project.agents },
            model: file.model,
            effort: file.effort,
            verbosity: file.verbosity,
            editing: file.editing,
            code_mode: file.code_mode,
            deny: file.deny,
            hooks: file.hooks,
            check: file.check.resolved(),
            providers: file.providers,
            routing: file.routing,
            models: file.models,
            plugins: file.plugins,
            mcp: file.mcp,
            indexes: file.indexes,
            written: file.written,
            saved: None,
            known: KnownModels::default(),
        }
    }

    /// Returns the settings of a user's file alone.
    #[cfg(test)]
    pub(crate) fn parsed(text: &str) -> Self {
        let file = ConfigurationFile::parse(text, Path::new("config.toml")).expect("it is right");
        Self::resolve(file.with_project(None).expect("there is no project"))
    }

    /// Returns the settings that hold by the files alone, with their defaults and where each comes from.
    pub fn settings(&self) -> Vec<Setting> {
        let modes = [
            ("approval_mode", self.approval_mode.chosen().map(ApprovalMode::name)),
            ("confine.mode", self.confine.mode.chosen().map(ConfineMode::name)),
        ];
        self.written.settings(&modes)
    }

    /// Returns what is allowed without asking.
    pub fn approval_mode(&self) -> Preference<ApprovalMode> {
        self.approval_mode
    }

    /// Uses the mode that the user just chose.
    pub fn choose_mode(&mut self, mode: ApprovalMode) {
        self.approval_mode = Preference::Chosen(mode);
    }

    /// Lets the user's choice of an effort win over what is configured for single models.
    pub fn choose_effort(&mut self, effort: Effort) {
        self.effort = Some(effort);
        self.models.values_mut().for_each(|model| model.effort = None);
    }

    /// Lets the user's choice of a verbosity win over what is configured for single models.
    pub fn choose_verbosity(&mut self, verbosity: Verbosity) {
        self.verbosity = Some(verbosity);
        self.models.values_mut().for_each(|model| model.verbosity = None);
    }

    /// Returns whether to work in folders that are not in a repository without asking.
    pub fn any_folder(&self) -> bool {
        self.any_folder
    }

    /// Returns how a conversation in a terminal behaves.
    pub fn conversation(&self) -> &ConversationSettings {
        &self.conversation
    }

    /// Returns the names of the context files in the user's own folder.
    pub fn own_context_files(&self) -> ContextNames {
        self.own_context_files.clone()
    }

    /// Returns the names of the context files of the project: it names its own files and not the user's, whose folder
    /// contains more than a model may see.
    pub fn context_files(&self) -> ContextNames {
        self.context_files.clone()
    }

    /// Returns the share of a model's window that the tools of MCP servers may take.
    pub fn mcp_share(&self) -> f64 {
        self.mcp_share
    }

    /// Returns the commands that list and call more tools; those of a project override the user's. `None` if neither
    /// configures any.
    pub fn commands(&self) -> Option<&Commands> {
        self.commands.as_ref()
    }

    /// Returns how a failed request to a model is sent again.
    pub fn retry(&self) -> RetryPolicy {
        self.retry
    }

    /// Returns the prices that are configured, by the ids of the models.
    pub fn prices(&self) -> BTreeMap<String, Price> {
        let price = |ModelPrice { input, output, cached, cache_write }: ModelPrice| {
            let (cached, cache_write) = (cached.unwrap_or(input), cache_write.unwrap_or(input));
            Price { input: input.0, cached: cached.0, cache_write: cache_write.0, output: output.0 }
        };
        self.models.iter().filter_map(|(id, options)| Some((id.clone(), price(options.price?)))).collect()
    }

    /// Returns the limits of a day.
    pub fn day_limits(&self) -> DayLimits {
        self.day_limits
    }

    /// Returns the limits of a run and its subagents together.
    pub fn tree_limits(&self) -> TreeLimits {
        self.tree_limits
    }

    /// Returns the limits of one call.
    pub fn limits(&self) -> host_plugin::Limits {
        self.limits.clone()
    }

    /// Returns the limits of a run of the main agent, which asks this model.
    pub fn main_run(&self, model: &models::Model) -> RunConfig {
        RunConfig {
            max_turns: self.run.max_turns,
            max_time: self.run.max_time,
            ..self.with_run_defaults(RunConfig::unlimited(), model)
        }
    }

    /// Returns an agent's limits with the defaults for every agent that asks this model.
    pub fn with_run_defaults(&self, run: RunConfig, model: &models::Model) -> RunConfig {
        RunConfig {
            grace: self.run.grace.unwrap_or(run.grace),
            reply: self.run.reply,
            compression: self.compression(model),
            loops: self.run.loops.unwrap_or(run.loops),
            ..run
        }
    }

    /// When the conversation with such a model is shortened.
    fn compression(&self, model: &models::Model) -> CompressionConfig {
        let CompressionSettings { threshold, summarised } = self.compression;
        CompressionConfig {
            window: Some(model.window),
            // A share that the user chose is of the window.
            comfortable: model.comfortable.filter(|_| !threshold.is_chosen()),
            threshold: threshold.value(),
            summarised,
        }
    }
}

/// The settings of a user who has no file.
impl Default for Configuration {
    fn default() -> Self {
        Self::resolve(Layers::default())
    }
}

/// Returns what a file chose, or the usual value.
fn chosen_or<T>(chosen: Option<T>, usual: T) -> Preference<T> {
    chosen.map_or(Preference::Usual(usual), Preference::Chosen)
}

impl Confine {
    fn resolved(self) -> ConfineSettings {
        let Self { mode, readable, writable, net, variables } = self;
        ConfineSettings { mode: chosen_or(mode, ConfineMode::Auto), readable, writable, net, variables }
    }
}

impl Conversation {
    fn resolved(self) -> ConversationSettings {
        let Self { bell_seconds, notify, notify_command, title, raw, keys, status } = self;
        ConversationSettings {
            bell: bell_seconds.map_or(Bell::Never, |seconds| Bell::After(Duration::from_secs(seconds))),
            notify: notify.unwrap_or_default(),
            notify_command,
            has_title: title.unwrap_or(true),
            answers: if raw.unwrap_or(false) { ShownAnswers::Source } else { ShownAnswers::Rendered },
            keys: keys.unwrap_or_default(),
            has_status: status.unwrap_or(true),
        }
    }
}

impl Run {
    fn resolved(&self, reply: ReplyPolicy) -> RunSettings {
        let loops = |on: bool| if on { LoopDetection::On } else { LoopDetection::Off };
        RunSettings {
            max_turns: self.max_turns.map(AtLeastOne::get),
            max_time: self.timeout_seconds.map(|seconds| Duration::from_secs(seconds.get())),
            grace: self.grace_seconds.map(Duration::from_secs),
            loops: self.loop_detection.map(loops),
            reply,
        }
    }

    /// The limits of a run and its subagents together.
    fn of_tree(&self) -> TreeLimits {
        let usual = TreeLimits::default();
        TreeLimits {
            tokens: self.max_tokens.map(AtLeastOne::get),
            cost: self.max_cost.map(|Amount(amount)| Cost::from_amount(amount)),
            subagents: self.max_subagents.unwrap_or(usual.subagents),
            turns: self.max_total_turns.map(AtLeastOne::get),
            ..usual
        }
    }
}

impl DailyBudget {
    pub(super) fn resolved(&self) -> DayLimits {
        DayLimits {
            tokens: self.tokens_per_day.map(AtLeastOne::get),
            cost: self.cost_per_day.map(|Amount(amount)| Cost::from_amount(amount)),
        }
    }
}

impl Limits {
    pub(super) fn resolved(&self) -> host_plugin::Limits {
        let usual = host_plugin::Limits::default();
        let seconds = |seconds: AtLeastOne<u64>| Duration::from_secs(seconds.get());
        host_plugin::Limits {
            time: self.call_seconds.map_or(usual.time, seconds),
            process_time: self.process_call_seconds.map_or(usual.process_time, seconds),
            memory: self.memory_mib.map_or(usual.memory, |mib| mib.get().saturating_mul(1 << 20)),
        }
    }
}

impl Compression {
    fn resolved(&self) -> CompressionSettings {
        let usual = CompressionConfig::default();
        CompressionSettings {
            threshold: chosen_or(self.threshold.map(|share| share.0), usual.threshold),
            summarised: self.summarised.map_or(usual.summarised, InnerShare::get),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_nobody_set_have_their_defaults() {
        let usual = Configuration::parsed("");
        assert_eq!(usual.approval_mode(), Preference::Usual(ApprovalMode::Default));
        assert_eq!(usual.confine.mode, Preference::Usual(ConfineMode::Auto));
        assert_eq!((usual.any_folder(), usual.context_files()), (false, ContextNames::Usual));
        let ConversationSettings { bell, notify, has_title, answers, keys, has_status, .. } = usual.conversation();
        let usual_ones = (Bell::Never, Alert::Bell, ShownAnswers::Rendered, Keys::Emacs);
        assert_eq!((*bell, *notify, *answers, *keys), usual_ones);
        assert!(*has_title && *has_status);
        assert_eq!(usual.tree_limits(), TreeLimits::default());
    }

    #[test]
    fn settings_that_are_set_hold_and_a_flag_wins() {
        let set = Configuration::parsed(
            "approval_mode = \"plan\"\nany_folder = true\nconfine.mode = \"off\"\ncontext.files = []\n\
             [conversation]\nbell_seconds = 9\nnotify = \"off\"\ntitle = false\nraw = true\nkeys = \"vim\"\n\
             status = false\n[run]\nmax_subagents = 0\nmax_tokens = 7\n",
        );
        assert_eq!(set.approval_mode(), Preference::Chosen(ApprovalMode::Plan));
        let flag = set.approval_mode().under(Some(ApprovalMode::Yolo));
        assert_eq!((flag.value(), set.approval_mode().under(None).value()), (ApprovalMode::Yolo, ApprovalMode::Plan));
        assert_eq!(set.confine.mode, Preference::Chosen(ConfineMode::Off));
        assert_eq!((set.any_folder(), set.own_context_files()), (true, ContextNames::Named(Vec::new())));
        let expected = ConversationSettings {
            bell: Bell::After(Duration::from_secs(9)),
            notify: Alert::Off,
            notify_command: Vec::new(),
            has_title: false,
            answers: ShownAnswers::Source,
            keys: Keys::Vim,
            has_status: false,
        };
        assert_eq!(set.conversation(), &expected);
        assert_eq!((set.tree_limits().subagents, set.tree_limits().tokens), (0, Some(7)));
    }

    #[test]
    fn context_files_of_the_usual_names_give_way_and_named_ones_do_not() {
        assert_eq!(ContextNames::Usual.preferred_to(CONTEXT_FALLBACK), Some("AGENTS.md"));
        assert_eq!(ContextNames::Usual.preferred_to("GEMINI.md"), None);
        let named = ContextNames::Named(vec![CONTEXT_FALLBACK.to_owned()]);
        assert_eq!((named.preferred_to(CONTEXT_FALLBACK), named.names()), (None, vec![CONTEXT_FALLBACK.to_owned()]));
    }
}
