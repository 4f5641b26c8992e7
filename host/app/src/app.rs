//! The application, opened once in three stages: [`Opened`] has the folder, its project with its trust and the
//! settings, [`Catalog`] what there is to use, [`App`] what it may touch.
//!
//! Promises: opening it compiles and runs nothing, except the command that lists tools if one is configured; MCP
//! servers are connected when a session, or a command about tools, wants theirs.
//! Deliberately not here: a conversation (`session`).

mod catalog;
mod opened;
mod reload;
mod tools;

pub use self::catalog::Catalog;
pub use self::opened::{Opened, Opening, Tooling};
use self::tools::ColdTools;
pub(crate) use self::tools::{Offered, SessionFiles};

use std::sync::{Arc, Mutex};

use host_agent::{Checks, Observer};
use host_extensions::checks::SessionChecks;
use host_extensions::grants::UserGrants;
use host_extensions::hooks::{HookPlace, HookSet, Wiring};
use host_extensions::plugins::LoadedPlugin;
use host_extensions::plugins::sources::PluginSources;
use host_extensions::servers::McpHub;
use host_journal::{Journal, Journals};
use host_plugin::{BackgroundPrograms, CurrentAccess, ProgramAccess, Runtime, Workspace};
use host_settings::configuration::Configuration;
use host_settings::environment::{Environment, Folders};
use host_settings::error::Failure;
use host_settings::folder;
use host_settings::models::saved::SavedModel;
use host_settings::policies;
use host_settings::project::{Project, ProjectFile};
use host_settings::request::{AccessRequest, FolderRequest};
use host_settings::skills::Skills;
use host_settings::slash_commands::SlashCommands;
use host_text::Notice;
use host_tool::{
    ApprovalMode, ApprovalQueue, Gate, GateOptions, Hooks, McpDefinitions, Policy, ProgramEnvironment, RulesFile,
};
use host_undo::Recorder;
use tokio_util::sync::CancellationToken;

/// Everything that a command with tools needs.
pub struct App {
    /// The environment of the process.
    pub(crate) environment: Environment,
    /// The folders of the host.
    pub(crate) folders: Folders,
    /// The recorded sessions.
    pub(crate) journals: Arc<dyn Journals>,
    /// The configuration, with what a trusted project may set.
    pub(crate) configuration: Configuration,
    /// The access that the user asked for, as the flags have it.
    pub(crate) access: AccessRequest,
    /// The folder that the user asked for.
    pub(crate) place: FolderRequest,
    /// The folder to work in.
    pub(crate) workspace: Arc<Workspace>,
    /// The engine that runs plugins.
    pub(crate) runtime: Arc<Runtime>,
    /// The programs that run in the background. They end with the application, which has one session.
    pub(crate) background: Arc<BackgroundPrograms>,
    /// The tools that are not loaded yet.
    cold: Mutex<Option<ColdTools>>,
    /// The MCP servers; `None` if there are none.
    pub(crate) mcp: Option<Arc<McpHub>>,
    mcp_left_out: Vec<String>,
    /// The plugins whose tools can be called.
    pub(crate) plugins: Vec<LoadedPlugin>,
    /// The user's grants as they are now.
    grants: UserGrants,
    /// What calls may touch by these grants: the runtime and every gate read it.
    current: CurrentAccess,
    /// The rules for its calls.
    pub(crate) policy: Policy,
    /// What programs may touch, without the folders that a session adds.
    pub(crate) programs: ProgramAccess,
    /// The hooks, of the user and of the project if it is trusted.
    pub(crate) hooks: HookSet,
    /// The project, and whether it is trusted.
    pub(crate) project: Project,
    /// The agents of the project, if it is trusted.
    pub(crate) project_agents: Vec<ProjectFile>,
    /// The skills.
    pub(crate) skills: Arc<Skills>,
    /// The command files.
    pub(crate) commands: Arc<SlashCommands>,
    pub(crate) sources: PluginSources,
    /// Why plugins were skipped at the last search, so that the user does not get the same message again.
    pub(crate) skipped: Vec<Notice>,
}

impl App {
    /// Opens the application, with the files of the project if it is trusted: the three stages one after the other.
    ///
    /// # Errors
    ///
    /// If the folder, a configuration file, a rule, a plugin or a grant is invalid.
    pub async fn open(
        opening: Opening<'_>,
        notice: &(dyn Fn(&Notice) + Sync),
        stop: &CancellationToken,
    ) -> Result<Self, Failure> {
        let opened = Opened::read(opening, notice)?;
        let catalog = Catalog::load(opened, notice, stop).await?;
        Self::new(catalog, notice)
    }

    /// Makes the application of what there is: the user's grants and rules about it.
    ///
    /// # Errors
    ///
    /// If a grant is invalid, or an agent that a rule is about.
    pub fn new(catalog: Catalog, notice: &(dyn Fn(&Notice) + Sync)) -> Result<Self, Failure> {
        let grants = catalog.grants()?;
        catalog.rules_about_no_tool()?.iter().for_each(|note| notice(&note.into()));
        let Catalog {
            opened,
            runtime,
            current,
            workspace,
            mcp,
            mcp_left_out,
            sources,
            plugins,
            skipped,
            hooks,
            skills,
            commands,
            programs,
        } = catalog;
        let Opened { environment, folders, configuration, access, place, project, files, policy, .. } = opened;
        current.replace(grants.access(&programs));
        // As a program gets them that runs without a question.
        let given = runtime.variables_of_reading();
        let given = ProgramEnvironment::new(given.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())));
        // A program would read what the user keeps from tools.
        let policy = policy
            .letting_read(!grants.denies_reading())
            .hiding_files(!programs.shown.is_empty())
            .behind(programs.walls)
            .in_environment(given);
        Ok(Self {
            environment,
            journals: Arc::new(folders.journals()),
            folders,
            configuration,
            access,
            place,
            workspace,
            runtime,
            background: Arc::default(),
            cold: Mutex::default(),
            mcp,
            mcp_left_out,
            plugins,
            policy,
            grants,
            current,
            programs,
            hooks,
            project,
            project_agents: files.agents,
            skills: Arc::new(skills),
            commands: Arc::new(commands),
            sources,
            skipped,
        })
    }

    /// Returns the environment of the process.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns the folders of the host.
    pub fn folders(&self) -> &Folders {
        &self.folders
    }

    /// Returns the recorded sessions.
    pub fn journals(&self) -> &Arc<dyn Journals> {
        &self.journals
    }

    /// Returns the configuration, with what a trusted project may set.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// Returns the folder to work in.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// Returns the engine that runs plugins.
    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// Returns the MCP servers; `None` if there are none.
    pub fn mcp(&self) -> Option<&Arc<McpHub>> {
        self.mcp.as_ref()
    }

    /// Why MCP servers that are configured cannot be used, a line each.
    pub fn mcp_left_out(&self) -> &[String] {
        &self.mcp_left_out
    }

    /// Returns the plugins whose tools can be called.
    pub fn plugins(&self) -> &[LoadedPlugin] {
        &self.plugins
    }

    /// Returns the hooks, of the user and of the project if it is trusted.
    pub fn hooks(&self) -> &HookSet {
        &self.hooks
    }

    /// Returns the project, with its trust.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Uses the model that the user just saved.
    pub fn use_saved(&mut self, model: SavedModel) {
        self.configuration.saved = Some(model);
    }

    /// Returns the user's grants as they are now.
    pub fn grants(&self) -> &UserGrants {
        &self.grants
    }

    /// Replaces the user's grants for all calls that start from now on.
    pub(crate) fn take_up(&mut self, grants: UserGrants) {
        self.current.replace(grants.access(&self.programs));
        self.grants = grants;
    }

    /// Returns the gate that decides about calls in this mode. Questions go to the listeners of `approvals`.
    pub fn gate(&self, approvals: ApprovalQueue, mode: ApprovalMode) -> Gate {
        Gate::new(GateOptions {
            policy: self.policy.clone(),
            queue: approvals,
            mode,
            workspace: self.workspace.root().to_owned(),
            kept: Some(RulesFile::new(policies::answers(&self.folders))),
            definitions: Some(McpDefinitions::new(self.folders.mcp.join("definitions"))),
            access: self.current.clone(),
        })
    }

    /// Returns the hooks for a session with this log and this observer, or for calls without either; `None` if there
    /// are none.
    pub(crate) fn session_hooks(
        &self,
        log: Option<&Arc<dyn Journal>>,
        observer: Option<Arc<dyn Observer>>,
        changes: Option<Arc<Recorder>>,
    ) -> Option<Arc<dyn Hooks>> {
        let hooks = self.hooks.session(Wiring {
            runtime: Arc::clone(&self.runtime),
            place: HookPlace {
                session: log.map(|log| log.id().to_string()).unwrap_or_default(),
                transcript: log.map(|log| log.artifacts().log().to_owned()),
                workspace: self.workspace.root().to_owned(),
                project: self.project.root.clone(),
            },
            log: log.cloned(),
            observer,
            changes,
        });
        hooks.map(|hooks| hooks as Arc<dyn Hooks>)
    }

    /// Returns the checks of a session whose changes this records; `None` if nothing is checked.
    pub(crate) fn session_checks(&self, changes: &Arc<Recorder>) -> Option<Arc<dyn Checks>> {
        let settings = self.configuration.check.clone();
        if settings.commands.is_empty() {
            return None;
        }
        Some(Arc::new(SessionChecks {
            settings,
            runtime: Arc::clone(&self.runtime),
            workspace: self.workspace.root().to_owned(),
            confine: self.programs.walls.mode,
            changes: Arc::clone(changes),
        }))
    }

    /// The plugin with this name.
    pub fn plugin(&self, name: &str) -> Option<&LoadedPlugin> {
        self.plugins.iter().find(|installed| installed.name() == name)
    }
}

/// The project of the folder to work in.
pub fn project(place: &FolderRequest, folders: &Folders) -> Result<Project, Failure> {
    Project::find(&folder::work_in(place, folders)?, folders)
}
