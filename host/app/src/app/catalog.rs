//! The second stage of an application: what there is to use, which is plugins, MCP servers, hooks, skills and commands.
//!
//! Promises: nothing is compiled, and nothing runs but the command that lists tools if one is configured; no MCP server
//! is connected. Deliberately not here: what any of it may touch.

use std::sync::Arc;

use host_agent::{ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, PRESENT_PLAN, TOOL_SEARCH};
use host_extensions::agents::{Agent, Agents};
use host_extensions::grants::{self, UserGrants};
use host_extensions::hooks::{HookSet, HookSources};
use host_extensions::plugins::sources::{OnInvalid, PluginSources, SearchResult, SourceContext};
use host_extensions::plugins::{self, DISCOVERED, LoadedPlugin, MCP};
use host_extensions::servers::{ConfiguredServers, McpHub, Places};
use host_plugin::{CurrentAccess, ProgramAccess, Runtime, RuntimeOptions, Workspace};
use host_settings::brought::Brought;
use host_settings::error::Failure;
use host_settings::mcp::SEPARATOR;
use host_settings::policies;
use host_settings::project::Part;
use host_settings::skills::{self, Skills};
use host_settings::slash_commands::{self, SlashCommands};
use host_text::Notice;
use tokio_util::sync::CancellationToken;

use super::opened::Opened;

/// What there is to use in an opened folder.
pub struct Catalog {
    pub(super) opened: Opened,
    pub(super) runtime: Arc<Runtime>,
    /// What calls may touch; the runtime reads it.
    pub(super) current: CurrentAccess,
    pub(super) workspace: Arc<Workspace>,
    /// The MCP servers; `None` if there are none.
    pub(super) mcp: Option<Arc<McpHub>>,
    /// Why MCP servers that are configured cannot be used, a line each.
    pub(super) mcp_left_out: Vec<String>,
    pub(super) sources: PluginSources,
    pub(super) plugins: Vec<LoadedPlugin>,
    /// Why plugins were skipped.
    pub(super) skipped: Vec<Notice>,
    pub(super) hooks: HookSet,
    pub(super) skills: Skills,
    pub(super) commands: SlashCommands,
    /// What programs may touch, with the skills, before added folders.
    pub(super) programs: ProgramAccess,
}

impl Catalog {
    /// Finds it. `notice` gets what the user should know, and on a terminal what is waited for.
    ///
    /// # Errors
    ///
    /// If a plugin, an MCP server or a hook is invalid.
    pub async fn load(
        opened: Opened,
        notice: &(dyn Fn(&Notice) + Sync),
        stop: &CancellationToken,
    ) -> Result<Self, Failure> {
        let notices = |notes: &[String]| notes.iter().for_each(|note| notice(&note.into()));
        // Until the grants are known, only the command that lists tools runs.
        let current = CurrentAccess::from(opened.programs.clone());
        let runtime = Arc::new(opened.runtime(current.clone()));
        let (mcp, mcp_left_out) = opened.servers(&runtime)?;
        notices(&mcp_left_out);
        let commands = opened.configuration.commands().cloned();
        let mut sources = PluginSources::new(&opened.access.plugin, commands, mcp.is_some(), opened.settings.clone());
        sources.look(&opened.project.root, &opened.folders);
        let workspace = Arc::new(Workspace::new(opened.root.clone()));
        let context = SourceContext {
            configuration: &opened.configuration,
            project: &opened.files,
            folders: &opened.folders,
            workspace: &workspace,
            runtime: &runtime,
            progress: &|words| {
                if opened.environment.stderr_is_terminal {
                    notice(&words.into());
                }
            },
        };
        let SearchResult { plugins, skipped, .. } = sources.find(&context, OnInvalid::Fail, stop).await?;
        skipped.iter().for_each(notice);
        let brought = plugins::brought(&plugins);
        let hooks = opened.hooks(&brought)?;
        hooks.notes().iter().for_each(notice);
        let skills = opened.skills(&brought)?;
        skills.notices.iter().for_each(notice);
        let commands = opened.commands(&brought);
        notices(&commands.notices);
        let programs = skills.readable_by(opened.programs.clone());
        Ok(Self {
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
        })
    }

    /// Returns the grants that the user gave to these plugins.
    ///
    /// # Errors
    ///
    /// If one is invalid; if it is about a plugin that may be one of the project, which is not trusted.
    pub(super) fn grants(&self) -> Result<UserGrants, Failure> {
        let Opened { access, project, .. } = &self.opened;
        let withheld = |name: &&str| {
            project.withholds(match *name {
                DISCOVERED => Part::Program,
                MCP => Part::Servers,
                _ => Part::Component,
            })
        };
        if let Some(name) = grants::unknown_plugin(access, &self.plugins).filter(withheld)
            && let Some(failure) =
                project.untrusted(format!("there is no plugin `{name}`, unless the untrusted project has it"))
        {
            return Err(failure.into());
        }
        let Opened { configuration, denied, root, folders, environment, .. } = &self.opened;
        let asked = (access, configuration.approval_mode(), denied);
        UserGrants::read(asked, &self.plugins, root, (folders, environment), &self.programs)
    }

    /// Returns a note for each rule about a tool that is not here.
    ///
    /// # Errors
    ///
    /// If an agent is invalid that a rule may be about.
    pub(super) fn rules_about_no_tool(&self) -> Result<Vec<String>, Failure> {
        let Opened { policy, project, folders, configuration, files, .. } = &self.opened;
        // What an untrusted project may bring is not known.
        if project.withholds(Part::Component) || project.withholds(Part::Program) {
            return Ok(Vec::new());
        }
        let mut tools: Vec<&str> = self
            .plugins
            .iter()
            .flat_map(LoadedPlugin::tools)
            .chain([ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, PRESENT_PLAN, TOOL_SEARCH])
            .collect();
        let is_of_server = |name: &str| {
            let server = name.split_once(SEPARATOR).map(|(server, _)| server);
            self.mcp.iter().flat_map(|servers| servers.servers()).any(|known| Some(known.name.as_str()) == server)
        };
        if policies::about_no_tool(policy, &tools, is_of_server).is_empty() {
            return Ok(Vec::new());
        }
        // Agents are read where a rule may be about one.
        let agents = Agents::read(folders, configuration, &files.agents, &plugins::brought(&self.plugins))?;
        tools.extend(agents.all().iter().map(Agent::name));
        Ok(policies::about_no_tool(policy, &tools, is_of_server))
    }
}

impl Opened {
    fn runtime(&self, access: CurrentAccess) -> Runtime {
        Runtime::new(RuntimeOptions {
            cache: Some(self.folders.cache.clone()),
            state: Some(self.folders.state.clone()),
            environment: self.settings.environment_for_programs(),
            variables: self.configuration.confine.variables.clone(),
            access,
            limits: self.configuration.limits(),
            compile: self.tooling.compile.clone(),
            wording: self.tooling.wording,
        })
    }

    /// Returns the MCP servers, and what the user should know about them.
    fn servers(&self, runtime: &Arc<Runtime>) -> Result<(Option<Arc<McpHub>>, Vec<String>), Failure> {
        let ConfiguredServers { servers, notes } = ConfiguredServers::read(&Places {
            configuration: &self.configuration,
            files: &self.files.servers,
            server_files: &self.files.server_files,
            is_trusted: self.project.is_trusted(),
            confine: self.configuration.confine.mode.under(self.access.confine).value(),
            environment: &self.environment,
            folders: &self.folders,
            workspace: &self.root,
            handed_over: &self.access.servers,
        })?;
        let connector = self.tooling.connector.clone().filter(|_| !servers.is_empty());
        let hub = connector
            .map(|connector| Arc::new(McpHub::new(servers, connector, Arc::clone(runtime), self.folders.mcp.clone())));
        Ok((hub, notes))
    }

    fn hooks(&self, brought: &[Brought<'_>]) -> Result<HookSet, Failure> {
        HookSet::read(&HookSources {
            configuration: &self.configuration,
            environment: &self.environment,
            folders: &self.folders,
            files: &self.files,
            project: &self.project.root,
            brought,
            confine: self.configuration.confine.mode.under(self.access.confine).value(),
        })
    }

    fn skills(&self, brought: &[Brought<'_>]) -> Result<Skills, Failure> {
        let Self { files, root, environment, folders, .. } = self;
        let found = skills::sources::find(&files.skills, root, environment, folders, brought)?;
        Ok(Skills::read(found, files.unlisted_skills))
    }

    fn commands(&self, brought: &[Brought<'_>]) -> SlashCommands {
        let Self { files, root, environment, folders, project, .. } = self;
        let found = slash_commands::sources::find(&files.commands, &project.root, root, folders, environment, brought);
        SlashCommands::read(found, files.unlisted_commands)
    }
}
