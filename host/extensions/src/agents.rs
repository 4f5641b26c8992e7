//! All agents: the built-in ones, those in the user's folder, those of a trusted project and those that plugins bring,
//! with their configuration.
//!
//! An agent's file is parsed strictly, and an invalid one stops the command: a silently missing agent would be noticed
//! much later. Two agents with the same name also stop it, wherever they come from: a name must not call a different
//! agent from the one that the caller knows. What a plugin brings is not the user's to mend: an agent of it that is
//! invalid or has the name of another one is left out, and that is said.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host_agent::{AgentDefinition, Declared, DefinitionError, MAX_DEFINITION_BYTES, ModelConfig};
use host_files::FileError;
use host_manifest::FileKind;
use host_settings::brought::{Brought, BroughtText};
use host_settings::configuration::{self, AtLeastOne, Configuration};
use host_settings::environment::{Environment, Folders};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::models::{self, Model};
use host_settings::project::{Part, Project, ProjectFile};
use host_text::{Advice, Notice};

/// The folder for agents, in the user's configuration folder.
const FOLDER: &str = "agents";

/// Maximum number of files that are read. Protects the model's window: each agent is offered to it as a tool.
const MAX_AGENTS: usize = 64;

/// An agent and its configuration.
#[derive(Debug)]
pub struct Agent {
    /// Its definition, and the other values of its file.
    pub declared: Declared,
    /// Where it was found.
    pub source: Source,
    /// Whether it may be run.
    pub enabled: bool,
}

/// Where an agent comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the host.
    BuiltIn,
    /// In this file.
    File(PathBuf),
    /// In the plugin with this name.
    Plugin(String),
}

/// All agents, in the order of their names.
#[derive(Debug)]
pub struct Agents {
    agents: Vec<Agent>,
    /// Why agents of plugins are left out, a line each.
    left_out: Vec<String>,
}

impl Agents {
    /// Reads them; those of a project from the files that were trusted.
    pub fn read(
        folders: &Folders,
        configuration: &Configuration,
        of_project: &[ProjectFile],
        plugins: &[Brought<'_>],
    ) -> Result<Self, Failure> {
        let built_in = Declared::built_in().map_err(AgentsError::Definition)?;
        let mut agents: Vec<_> = built_in.into_iter().map(|declared| (declared, Source::BuiltIn)).collect();
        for file in files(&folders.configuration.join(FOLDER))? {
            let declared = Declared::parse(&read(&file)?, &file).map_err(AgentsError::Definition)?;
            agents.push((declared, Source::File(file)));
        }
        for file in of_project {
            let declared = Declared::parse(file.text()?, &file.path).map_err(AgentsError::Definition)?;
            agents.push((declared, Source::File(file.path.clone())));
        }
        let mut agents: Vec<_> =
            agents.into_iter().map(|(declared, source)| Agent { declared, source, enabled: true }).collect();
        agents.sort_by(|a, b| a.name().cmp(b.name()));
        for pair in agents.windows(2) {
            if let [one, other] = pair
                && one.name() == other.name()
            {
                let (name, one, other) = (one.name().to_owned(), one.source.to_string(), other.source.to_string());
                return Err(AgentsError::Twice { name, one, other }.into());
            }
        }
        let mut agents = Self { agents, left_out: Vec::new() };
        for brought in plugins.iter().flat_map(|plugin| plugin.texts(FileKind::Agent)) {
            agents.add_brought(brought);
        }
        for (name, settings) in &configuration.agents.own {
            agents.find_mut(name)?.configure(settings);
        }
        for (name, settings) in &configuration.agents.project {
            agents.find_mut(name)?.configure_within(settings);
        }
        Ok(agents)
    }

    fn add_brought(&mut self, brought: BroughtText) {
        let BroughtText { plugin, path, text } = brought;
        let left_out = match Declared::parse(&text, Path::new(&path)) {
            Ok(declared) => {
                let name = declared.definition.name.clone();
                match self.agents.binary_search_by(|agent| agent.name().cmp(&name)) {
                    Err(at) => {
                        let source = Source::Plugin(plugin);
                        return self.agents.insert(at, Agent { declared, source, enabled: true });
                    }
                    Ok(at) => {
                        let other = self.agents.get(at).map(|agent| agent.source.to_string()).unwrap_or_default();
                        format!("the agent `{name}` of the plugin `{plugin}` is not used: there is one {other}")
                    }
                }
            }
            Err(error) => format!("`{path}` of the plugin `{plugin}` is not used: {error}"),
        };
        self.left_out.push(left_out);
    }

    /// All of them.
    pub fn all(&self) -> &[Agent] {
        &self.agents
    }

    /// Returns why agents that plugins bring are left out, a line each.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Returns the agent with this name. The error mentions the project if that is not trusted and might declare it.
    pub fn find(&self, name: &str, project: &Project) -> Result<&Agent, Failure> {
        self.agents.iter().find(|agent| agent.name() == name).ok_or_else(|| {
            let unknown = || AgentsError::Unknown { name: name.to_owned(), known: self.names() };
            let withheld = project.withholds(Part::Agent).then(|| project.untrusted(unknown().to_string())).flatten();
            withheld.map_or_else(|| unknown().into(), Failure::from)
        })
    }

    fn find_mut(&mut self, name: &str) -> Result<&mut Agent, AgentsError> {
        match self.agents.iter().position(|agent| agent.name() == name) {
            Some(at) => Ok(&mut self.agents[at]),
            None => Err(AgentsError::UnknownSettings { name: name.to_owned(), known: self.names() }),
        }
    }

    fn names(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.name().to_owned()).collect()
    }
}

impl Agent {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.declared.definition.name
    }

    /// The model that it wants; it must want one.
    pub fn own_model(&self, configuration: &Configuration, environment: &Environment) -> Result<Model, Failure> {
        let id = self.declared.model.as_deref().unwrap_or_default();
        models::connect(id, configuration, environment).map_err(|failure| {
            let about = format!("the agent `{}` requires the model `{id}`", self.name());
            Failure { message: format!("{about}: {}", failure.message), ..failure }
        })
    }

    /// The agent, asking this model whichever it wants.
    pub fn asking(&self, model: Model, configuration: &Configuration) -> (AgentDefinition, Model) {
        let asking = ModelConfig { model: model.name.clone(), settings: model.settings.clone() };
        let definition = self.declared.clone().asking(asking);
        let run = configuration.with_run_defaults(definition.run, &model);
        (AgentDefinition { run, ..definition }, model)
    }

    fn configure(&mut self, settings: &configuration::Agent) {
        let configuration::Agent { enabled, model, max_turns, timeout_minutes, temperature } = settings;
        self.enabled = enabled.unwrap_or(true);
        let Declared { definition, model: wanted } = &mut self.declared;
        *wanted = model.clone().or(wanted.take());
        let AgentDefinition { run, model, .. } = definition;
        run.max_turns = max_turns.map(AtLeastOne::get).or(run.max_turns);
        let minutes = |minutes: AtLeastOne<u64>| Duration::from_secs(minutes.get().saturating_mul(60));
        run.max_time = timeout_minutes.map(minutes).or(run.max_time);
        model.settings.temperature = temperature.or(model.settings.temperature);
    }
}

impl Agent {
    /// Applies a project's settings: they cannot enable an agent that the user disabled, nor raise its limits.
    fn configure_within(&mut self, settings: &configuration::Agent) {
        let before = (self.enabled, self.declared.definition.run);
        self.configure(settings);
        let (enabled, within) = before;
        let run = &mut self.declared.definition.run;
        self.enabled &= enabled;
        run.max_turns = run.max_turns.into_iter().chain(within.max_turns).min();
        run.max_time = run.max_time.into_iter().chain(within.max_time).min();
    }
}

/// Why agents cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// The file of an agent is invalid.
    #[error("{0}")]
    Definition(DefinitionError),
    /// Two agents have one name.
    #[error("there are two agents `{name}`")]
    Twice {
        /// The name.
        name: String,
        /// Where one is from.
        one: String,
        /// Where the other one is from.
        other: String,
    },
    /// There is no such agent.
    #[error("there is no agent `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The agents that there are.
        known: Vec<String>,
    },
    /// The configuration is about an agent that is not there.
    #[error("`[agents.{name}]` has no effect: there is no agent `{name}`")]
    UnknownSettings {
        /// The name.
        name: String,
        /// The agents that there are.
        known: Vec<String>,
    },
    /// The folder with the files of agents cannot be read.
    #[error("cannot read the folder of agents `{}`", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The folder is not what it should be.
    #[error("the folder of agents `{}` has over {MAX_AGENTS} files", .0.display())]
    TooMany(PathBuf),
    /// The file of an agent cannot be read.
    #[error("the agent `{}` cannot be read", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: FileError,
    },
}

impl Fault for AgentsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Definition(_)
            | Self::Twice { .. }
            | Self::UnknownSettings { .. }
            | Self::Folder { .. }
            | Self::TooMany(_)
            | Self::File { .. } => ErrorKind::Configuration,
            Self::Unknown { .. } => ErrorKind::Input,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Definition(_) | Self::Unknown { .. } | Self::UnknownSettings { .. } | Self::TooMany(_) => Vec::new(),
            Self::Twice { one, other, .. } => vec![format!("one is {one}, the other {other}").into()],
            Self::Folder { cause, .. } => vec![cause.to_string().into()],
            Self::File { cause, .. } => vec![cause.to_string().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Definition(cause) => Some(cause.help()),
            Self::Twice { .. } => Some("give one of them another name".into()),
            Self::Unknown { name, known } | Self::UnknownSettings { name, known } => Some(help_on(name, known)),
            Self::Folder { .. } => Some("make it readable for you, or remove it".into()),
            Self::TooMany(_) => {
                Some("move unneeded files out of it: each agent is offered to the model as a tool".into())
            }
            Self::File { .. } => Some("fix or remove the file".into()),
        }
    }
}

/// What to do about the name of an agent that is not there.
fn help_on(name: &str, known: &[String]) -> Advice {
    let all = Advice::default().command("agent list").text(" lists all agents");
    Advice::on_name(name, known.iter().map(String::as_str), all)
}

/// As part of a sentence.
impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File(path) => write!(f, "in `{}`", path.display()),
            Self::Plugin(name) => write!(f, "in the plugin `{name}`"),
        }
    }
}

/// The files of the folder that declare an agent: `*.md`. There need not be a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, AgentsError> {
    let unreadable = |cause| AgentsError::Folder { folder: folder.to_owned(), cause };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|end| end == "md") {
            files.push(path);
        }
        if files.len() > MAX_AGENTS {
            return Err(AgentsError::TooMany(folder.to_owned()));
        }
    }
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> Result<String, AgentsError> {
    host_files::read_own(file, MAX_DEFINITION_BYTES as u64)
        .map_err(|cause| AgentsError::File { file: file.to_owned(), cause })
}
