//! The application, opened once: settings, the project and its trust, plugins, the user's grants, rules and the runtime.
//!
//! Promises: nothing is compiled or run by opening it, except the command that lists tools where one is configured.
//! Deliberately not here: a conversation (`session`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_plugin::{Runtime, RuntimeOptions, Workspace};
use host_tool::{ApprovalMode, ApprovalQueue, Gate, Policy, Registry, RulesFile};
use tokio_util::sync::CancellationToken;

use crate::attach::{self, Attached};
use crate::configuration::Configuration;
use crate::environment::{Environment, Folders};
use crate::error::Failure;
use crate::grants::{self, Granted};
use crate::plugins::discovered::{self, Gathering};
use crate::plugins::reload::Watched;
use crate::plugins::settings::Settings;
use crate::plugins::{self, DISCOVERED, Holder, LoadedPlugin};
use crate::policies::{self, Policies};
use crate::project::{Part, Project, ProjectFile};
use crate::repository::repository_of;
use crate::request::{AccessRequest, FolderRequest};

/// Everything that a command with tools needs.
pub struct App {
    /// The environment of the process.
    pub environment: Environment,
    /// The folders of the host.
    pub folders: Folders,
    /// The configuration, with what a trusted project may set.
    pub configuration: Configuration,
    /// The folder that is worked in.
    pub workspace: Arc<Workspace>,
    /// The engine that runs plugins.
    pub runtime: Arc<Runtime>,
    /// The plugins whose tools can be called.
    pub plugins: Vec<LoadedPlugin>,
    /// What the user granted when the application was opened. A session holds its own copy, which a change of mode replaces.
    pub granted: Granted,
    /// The rules for its calls.
    pub policy: Policy,
    /// The project, and whether it is trusted.
    pub project: Project,
    /// The agents of the project, where it is trusted.
    pub project_agents: Vec<ProjectFile>,
    /// What a person set for the plugins.
    pub(crate) settings: Settings,
    /// By what it is known whether the plugins are still those that were gathered.
    pub(crate) watched: Watched,
}

impl App {
    /// Puts it together with what the project brings, as far as that is trusted. Nothing is compiled or run, but for the
    /// command that lists more tools where one is configured.
    pub async fn open(
        place: &FolderRequest,
        access: &AccessRequest,
        project: Project,
        environment: &Environment,
        notice: &(dyn Fn(&str) + Sync),
        stop: &CancellationToken,
    ) -> Result<Self, Failure> {
        let folders = environment.folders()?;
        let brought = project.brought();
        let configuration = Configuration::read(environment, &folders)?.with_project(brought.configuration.as_ref())?;
        let Policies { policy, notes } = policies::read(&folders, &brought.policies)?;
        notes.iter().for_each(|note| notice(note));
        let root = folder(place)?;
        let settings = Settings::read(&configuration, environment)?;
        let runtime = Arc::new(Runtime::new(RuntimeOptions {
            cache: Some(folders.cache.clone()),
            state: Some(folders.state.clone()),
            environment: settings.environment_for_programs(),
            limits: configuration.limits(),
        }));
        // Before they are read: what changes while they are is another fingerprint then.
        let watched = Watched::new(&access.plugin, configuration.commands(), &project, &folders);
        let gathered = plugins::gather(&access.plugin, &brought, &folders, &root, &settings)?;
        gathered.notes.iter().for_each(|note| notice(note));
        let watched = watched.told(&gathered.notes);
        let mut plugins = gathered.all()?;
        let workspace = Arc::new(Workspace::new(root.clone()));
        let gathering = Gathering {
            configuration: &configuration,
            programs: &brought.programs,
            agents: &brought.agents,
            plugins: &plugins,
            folders: &folders,
            runtime: &runtime,
            workspace: &workspace,
            tell: &|words| {
                if environment.stderr_is_terminal {
                    notice(&words);
                }
            },
        };
        plugins.extend(discovered::gather(gathering, stop).await?);
        let withheld =
            |name: &&str| project.withholds(if *name == DISCOVERED { Part::Program } else { Part::Component });
        if let Some(name) = grants::unknown_plugin(access, &plugins).filter(withheld)
            && let Some(failure) = project.untrusted(format!("there is no plugin `{name}` but perhaps the project's"))
        {
            return Err(failure);
        }
        let granted = Granted::read(access, configuration.approval_mode, &plugins, &root, &folders)?;
        Ok(Self {
            environment: environment.clone(),
            folders,
            configuration,
            workspace,
            runtime,
            plugins,
            granted,
            policy,
            project,
            project_agents: brought.agents,
            settings,
            watched,
        })
    }

    /// Loads the tools in the background, so that the first call does not wait for it. Nobody waits for the thread: it
    /// ends with the process.
    pub(crate) fn warm(&self, plugins: &[LoadedPlugin], tools: &Registry) {
        let (runtime, tools) = (Arc::clone(&self.runtime), tools.clone());
        let mut plugins: Vec<_> = plugins.iter().map(|installed| Arc::clone(&installed.plugin)).collect();
        // The small ones first: most are loaded before the first large one would be.
        plugins.sort_by_key(|plugin| plugin.component().len());
        let warming = std::thread::Builder::new().name("warm".to_owned()).spawn(move || {
            for plugin in plugins {
                runtime.warm(&plugin);
            }
            // An invalid schema is reported by the call that needs it.
            tools.verify().ok();
        });
        if let Err(error) = warming {
            tracing::info!(%error, "no thread to load the tools with; each is loaded at its first call");
        }
    }

    /// Decides about calls in this mode. Whoever listens to `approvals` answers questions.
    pub fn gate(&self, approvals: ApprovalQueue, mode: ApprovalMode) -> Gate {
        let answers = RulesFile::new(policies::answers(&self.folders));
        Gate::new(self.policy.clone(), approvals, mode, self.workspace.root(), Some(answers))
    }

    /// The plugin with this name.
    pub fn plugin(&self, name: &str) -> Option<&LoadedPlugin> {
        self.plugins.iter().find(|installed| installed.manifest.name == name)
    }

    /// The tools, each with what these grants let it touch.
    ///
    /// # Errors
    ///
    /// If two tools have one name.
    pub fn tools(&self, grants: &Granted) -> Result<Registry, Failure> {
        self.tools_of(&self.plugins, grants)
    }

    /// The tools as a subagent has them: each with the part of its grants that only reads.
    ///
    /// # Errors
    ///
    /// If two tools have one name.
    pub fn reading_tools(&self, grants: &Granted) -> Result<Registry, Failure> {
        self.reading_tools_of(&self.plugins, grants)
    }

    pub(crate) fn tools_of(&self, plugins: &[LoadedPlugin], grants: &Granted) -> Result<Registry, Failure> {
        plugins::registry(plugins, grants, Holder::Run, &self.runtime, &self.workspace)
    }

    pub(crate) fn reading_tools_of(&self, plugins: &[LoadedPlugin], grants: &Granted) -> Result<Registry, Failure> {
        plugins::registry(plugins, grants, Holder::Subagent, &self.runtime, &self.workspace)
    }

    /// Reads what a prompt attaches with `@path`, with the grants that the user gave.
    ///
    /// # Errors
    ///
    /// If something that is attached may not be read, or is too large.
    pub async fn attach(&self, prompt: &str, cancel: &CancellationToken) -> Result<Attached, Failure> {
        attach::attach(prompt, self, &self.granted, &self.tools(&self.granted)?, cancel).await
    }
}

/// The project of the folder to work in.
pub fn project(place: &FolderRequest, folders: &Folders) -> Result<Project, Failure> {
    Project::of(&folder(place)?, folders)
}

/// The folder to work in, with its symbolic links resolved.
fn folder(place: &FolderRequest) -> Result<PathBuf, Failure> {
    let wanted = place.folder.as_deref().unwrap_or(Path::new("."));
    let unreadable = |error: std::io::Error| {
        Failure::input(format!("the folder `{}` cannot be worked in: {error}", wanted.display()))
            .help("name a folder that is there and that you may read, with -C DIR")
    };
    let root = std::fs::canonicalize(wanted).map_err(unreadable)?;
    // Listing it now says what each tool would say later.
    std::fs::read_dir(&root).map_err(unreadable)?;
    if repository_of(&root).is_some() || place.any_folder {
        return Ok(root);
    }
    Err(Failure::input(format!("`{}` is not in a repository", root.display())).help(
        "go to one with -C DIR, make it one with `git init`, or say --any-folder to work in a folder where nothing can \
         be undone",
    ))
}
