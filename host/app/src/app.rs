//! The application, opened once: settings, the project and its trust, plugins, the user's grants, rules and the
//! runtime.
//!
//! Promises: opening it compiles and runs nothing, except the command that lists tools if one is configured; MCP
//! servers are connected when a session, or a command about tools, wants theirs.
//! Deliberately not here: a conversation (`session`).

mod reload;
mod tools;

use self::tools::ColdTools;
pub(crate) use self::tools::SessionFiles;

use std::sync::{Arc, Mutex};

use host_agent::{ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, Observer, PRESENT_PLAN, TOOL_SEARCH};
use host_extensions::agents::{Agent, Agents};
use host_extensions::grants::{self, UserGrants};
use host_extensions::hooks::{HookPlace, HookSet, HookSources, Wiring};
use host_extensions::plugins::settings::PluginSettings;
use host_extensions::plugins::sources::{OnInvalid, PluginSources, SourceContext};
use host_extensions::plugins::{self, DISCOVERED, LoadedPlugin, MCP};
use host_extensions::servers::{ConfiguredServers, McpHub, Places};
use host_journal::{Journal, Journals};
use host_plugin::{
    BackgroundPrograms, CompileOptions, CurrentAccess, ProgramAccess, Runtime, RuntimeOptions, Workspace,
};
use host_settings::configuration::{Configuration, Owner};
use host_settings::confinement::{self, program_access, program_walls};
use host_settings::denied_files::DeniedFiles;
use host_settings::environment::{Environment, Folders};
use host_settings::error::Failure;
use host_settings::folder;
use host_settings::mcp::{McpConnector, SEPARATOR};
use host_settings::policies::{self, Policies};
use host_settings::project::{Part, Project, ProjectFile};
use host_settings::request::{AccessRequest, FolderRequest};
use host_settings::skills::{self, Skills};
use host_settings::slash_commands::{self, SlashCommands};
use host_tool::{
    ApprovalMode, ApprovalQueue, Gate, GateOptions, Hooks, McpDefinitions, Policy, ProgramEnvironment, RulesFile,
};
use host_undo::Recorder;
use tokio_util::sync::CancellationToken;

/// Everything that a command with tools needs.
pub struct App {
    /// The environment of the process.
    pub environment: Environment,
    /// The folders of the host.
    pub folders: Folders,
    /// The recorded sessions.
    pub journals: Arc<dyn Journals>,
    /// The configuration, with what a trusted project may set.
    pub configuration: Configuration,
    /// The access that the user asked for, as the flags have it.
    pub access: AccessRequest,
    /// The folder that the user asked for.
    pub place: FolderRequest,
    /// The folder to work in.
    pub workspace: Arc<Workspace>,
    /// The engine that runs plugins.
    pub runtime: Arc<Runtime>,
    /// The programs that run in the background. They end with the application, which has one session.
    pub background: Arc<BackgroundPrograms>,
    /// The tools that are not loaded yet.
    cold: Mutex<Option<ColdTools>>,
    /// The MCP servers; `None` if there are none.
    pub mcp: Option<Arc<McpHub>>,
    /// The plugins whose tools can be called.
    pub plugins: Vec<LoadedPlugin>,
    /// The user's grants as they are now.
    grants: UserGrants,
    /// What calls may touch by these grants: the runtime and every gate read it.
    current: CurrentAccess,
    /// The rules for its calls.
    pub policy: Policy,
    /// What programs may touch, without the folders that a session adds.
    pub(crate) programs: ProgramAccess,
    /// The hooks, of the user and of the project if it is trusted.
    pub hooks: HookSet,
    /// The project, and whether it is trusted.
    pub project: Project,
    /// The agents of the project, if it is trusted.
    pub project_agents: Vec<ProjectFile>,
    /// The skills.
    pub skills: Arc<Skills>,
    /// The command files.
    pub(crate) commands: Arc<SlashCommands>,
    pub(crate) sources: PluginSources,
    /// Why plugins were skipped at the last search, so that the user does not get the same message again.
    pub(crate) skipped: Vec<String>,
}

/// What an application is opened for.
pub struct Opening<'a> {
    /// The folder to work in.
    pub place: &'a FolderRequest,
    /// The access that the user asked for.
    pub access: &'a AccessRequest,
    /// The project, whose trust was decided.
    pub project: Project,
    /// The environment of the process.
    pub environment: &'a Environment,
    /// What loads plugins and connects MCP servers.
    pub tooling: &'a Tooling,
}

/// What loads plugins and connects MCP servers.
#[derive(Clone, Default)]
pub struct Tooling {
    /// How components are compiled.
    pub compile: CompileOptions,
    /// Connects MCP servers; `None` if this frontend uses none.
    pub connector: Option<Arc<dyn McpConnector>>,
}

impl App {
    /// Opens the application, with the files of the project if it is trusted.
    ///
    /// # Errors
    ///
    /// If the folder, a configuration file, a rule, a plugin or a grant is invalid.
    pub async fn open(
        opening: Opening<'_>,
        notice: &(dyn Fn(&str) + Sync),
        stop: &CancellationToken,
    ) -> Result<Self, Failure> {
        let Opening { place, access, project, environment, tooling } = opening;
        let folders = environment.folders()?;
        let files = project.files();
        let configuration = Configuration::read(environment, &folders)?.with_project(files.configuration.as_ref())?;
        let Policies { policy, notes } = policies::read(&folders, &files.policies)?;
        notes.iter().for_each(|note| notice(note));
        let root = folder::work_in(place, &folders)?;
        let settings = PluginSettings::read(&configuration, environment)?;
        let mode = grants::approval_mode(access, configuration.approval_mode);
        let denied = DeniedFiles::read(&configuration.deny, access, &root, environment)?;
        let walls = denied.walls(program_walls(&configuration.confine, access.confine, mode)?);
        let mut programs = program_access(
            &configuration.confine,
            walls,
            &root,
            (environment, &folders),
            tooling.compile.program.as_deref(),
        );
        programs.shown = denied.left_to_programs();
        match configuration.commands() {
            Some(commands) if commands.owner == Owner::User => {
                for command in [&commands.discovery, &commands.call] {
                    let named = confinement::named_by(command, environment.home(), &programs.never_offered);
                    programs.readable.extend(named);
                }
            }
            // The copy of the bytes that were trusted.
            Some(_) => programs.readable.push(folders.programs.clone()),
            None => {}
        }
        if mode == ApprovalMode::Auto && !walls.are_complete() {
            notice("this machine cannot confine programs, so you are asked before each; `host doctor` says why");
        }
        let variables = settings.environment_for_programs();
        // Until the grants are known, only the command that lists tools runs.
        let current = CurrentAccess::from(programs.clone());
        let runtime = Arc::new(Runtime::new(RuntimeOptions {
            cache: Some(folders.cache.clone()),
            state: Some(folders.state.clone()),
            environment: variables,
            variables: configuration.confine.variables.clone(),
            access: current.clone(),
            limits: configuration.limits(),
            compile: tooling.compile.clone(),
        }));
        let places = Places {
            configuration: &configuration,
            files: &files.servers,
            server_files: &files.server_files,
            is_trusted: project.is_trusted(),
            confine: access.confine.or(configuration.confine.mode),
            environment,
            folders: &folders,
            workspace: &root,
            handed_over: &access.servers,
        };
        let ConfiguredServers { servers, notes } = ConfiguredServers::read(&places)?;
        notes.iter().for_each(|note| notice(note));
        let connector = tooling.connector.clone().filter(|_| !servers.is_empty());
        let mcp = connector
            .map(|connector| Arc::new(McpHub::new(servers, connector, Arc::clone(&runtime), folders.mcp.clone())));
        let mut sources = PluginSources::new(&access.plugin, configuration.commands(), mcp.is_some(), settings);
        sources.look(&project.root, &folders);
        let workspace = Arc::new(Workspace::new(root.clone()));
        let context = SourceContext {
            configuration: &configuration,
            project: &files,
            folders: &folders,
            workspace: &workspace,
            runtime: &runtime,
            progress: &|words| {
                if environment.stderr_is_terminal {
                    notice(words);
                }
            },
        };
        let found = sources.find(&context, OnInvalid::Fail, stop).await?;
        found.skipped.iter().for_each(|why| notice(why));
        let (plugins, skipped) = (found.plugins, found.skipped);
        let brought = plugins::brought(&plugins);
        let hooks = HookSet::read(&HookSources {
            configuration: &configuration,
            environment,
            folders: &folders,
            files: &files,
            project: &project.root,
            brought: &brought,
            confine: access.confine.or(configuration.confine.mode),
        })?;
        hooks.notes().iter().for_each(|note| notice(note));
        let found = skills::sources::find(&files.skills, &root, environment, &folders, &brought)?;
        let skills = Skills::read(found, files.unlisted_skills);
        skills.notices.iter().for_each(|note| notice(note));
        let programs = skills.readable_by(programs);
        let found =
            slash_commands::sources::find(&files.commands, &project.root, &root, &folders, environment, &brought);
        let commands = SlashCommands::read(found, files.unlisted_commands);
        commands.notices.iter().for_each(|note| notice(note));
        let withheld = |name: &&str| {
            project.withholds(match *name {
                DISCOVERED => Part::Program,
                MCP => Part::Servers,
                _ => Part::Component,
            })
        };
        if let Some(name) = grants::unknown_plugin(access, &plugins).filter(withheld)
            && let Some(failure) =
                project.untrusted(format!("there is no plugin `{name}`, unless the untrusted project has it"))
        {
            return Err(failure.into());
        }
        let own = (&folders, environment);
        let asked = (access, configuration.approval_mode, &denied);
        let grants = UserGrants::read(asked, &plugins, &root, own, &programs)?;
        current.replace(grants.access(&programs));
        let mut tools: Vec<&str> = plugins
            .iter()
            .flat_map(LoadedPlugin::tools)
            .chain([ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, PRESENT_PLAN, TOOL_SEARCH])
            .collect();
        // What an untrusted project may bring is not known; agents are read where a rule may be about one.
        let is_whole = !project.withholds(Part::Component) && !project.withholds(Part::Program);
        let is_of_server = |name: &str| {
            let server = name.split_once(SEPARATOR).map(|(server, _)| server);
            mcp.iter().flat_map(|servers| servers.servers()).any(|known| Some(known.name.as_str()) == server)
        };
        if is_whole && !policies::about_no_tool(&policy, &tools, is_of_server).is_empty() {
            let agents = Agents::read(&folders, &configuration, &files.agents, &brought)?;
            tools.extend(agents.all().iter().map(Agent::name));
            policies::about_no_tool(&policy, &tools, is_of_server).iter().for_each(|note| notice(note));
        }
        // As a program gets them that runs without a question.
        let given = runtime.variables_of_reading();
        let given = ProgramEnvironment::new(given.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())));
        Ok(Self {
            environment: environment.clone(),
            journals: Arc::new(folders.journals()),
            folders,
            configuration,
            access: access.clone(),
            place: place.clone(),
            workspace,
            runtime,
            background: Arc::default(),
            cold: Mutex::default(),
            mcp,
            plugins,
            // A program would read what the user keeps from tools.
            policy: policy
                .letting_read(!grants.denies_reading())
                .hiding_files(!programs.shown.is_empty())
                .behind(walls)
                .in_environment(given),
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

    /// The plugin with this name.
    pub fn plugin(&self, name: &str) -> Option<&LoadedPlugin> {
        self.plugins.iter().find(|installed| installed.name() == name)
    }
}

/// The project of the folder to work in.
pub fn project(place: &FolderRequest, folders: &Folders) -> Result<Project, Failure> {
    Project::find(&folder::work_in(place, folders)?, folders)
}
