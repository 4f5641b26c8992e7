//! The tools of the plugins, each with what its calls may touch.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, PoisonError};

use host_capability::{Grants, Scope};
use host_extensions::grants::UserGrants;
use host_extensions::plugins::sources::tool_taken;
use host_extensions::plugins::{LoadedPlugin, PluginOrigin};
use host_extensions::servers::{Deferral, McpSupply};
use host_message::ToolName;
use host_plugin::{Network, NetworkService, Plugin, SeenFiles};
use host_settings::editing::{ToolChoice, is_of_main_agent};
use host_settings::error::Failure;
use host_settings::mcp::SEPARATOR;
use host_tool::{ApprovalMode, OnlyReads, PluginTool, ProgramInput, Registry, RegistryError, Sandbox};
use host_undo::Recorder;

use super::App;
use crate::built_in::by_use;

/// Tools that are to be loaded before they are called.
pub(super) struct ColdTools {
    plugins: Vec<Arc<Plugin>>,
    tools: Registry,
}

/// What a session knows of files.
#[derive(Clone, Debug)]
pub(crate) struct SessionFiles {
    /// Keeps what its calls change.
    pub(crate) changes: Arc<Recorder>,
    /// How its model last saw them.
    pub(crate) seen: Arc<SeenFiles>,
}

/// The agent that holds the tools, which decides how much of the grants they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// The agent that the user runs: all of it.
    Run,
    /// An agent that this one calls: the part that only reads. What a tool imports beyond that is not linked.
    Subagent,
}

/// What of a session and its model decides which tools there are.
#[derive(Clone, Copy, Default)]
pub(crate) struct Offered<'a> {
    /// The files of the session.
    pub(crate) files: Option<&'a SessionFiles>,
    /// The search of the model's service.
    pub(crate) search: Option<&'a Arc<dyn NetworkService>>,
    /// Which of the built-in tools the model works well with; all of them if it is `None`.
    pub(crate) choice: Option<ToolChoice>,
}

impl App {
    /// The tools, each with what these grants let it touch; those of MCP servers as they come, which begin to be
    /// connected.
    ///
    /// # Errors
    ///
    /// If two tools have one name.
    pub fn tools(&self, grants: &UserGrants) -> Result<Registry, Failure> {
        let mut tools = self.tools_of(&self.plugins, grants, Offered::default())?;
        self.supply(&mut tools, &self.plugins, grants, None, None);
        Ok(tools)
    }

    /// The tools, with those of MCP servers that answered within [`PATIENCE`](host_extensions::servers::PATIENCE); a
    /// tool that is not a server's waits for none.
    ///
    /// # Errors
    ///
    /// If two tools have one name.
    pub async fn settled_tools(&self, grants: &UserGrants, wanted: Option<&str>) -> Result<Registry, Failure> {
        let is_wanted = wanted.is_none_or(|name| name.contains(SEPARATOR));
        if let Some(servers) = self.mcp.as_ref().filter(|_| is_wanted) {
            servers.settled_reports().await;
        }
        Ok(self.tools(grants)?.current(|_| false))
    }

    /// Lets the registry have the tools of MCP servers, as they come. The definitions are deferred as this says; with
    /// `None` all are declared.
    pub(crate) fn supply(
        &self,
        tools: &mut Registry,
        plugins: &[LoadedPlugin],
        grants: &UserGrants,
        changes: Option<&Arc<Recorder>>,
        deferral: Option<Deferral>,
    ) {
        let installed = plugins.iter().find(|plugin| plugin.origin == PluginOrigin::Mcp);
        let (Some(hub), Some(installed)) = (&self.mcp, installed) else { return };
        let (granted, ceiling) = (grants.granted_to(installed), grants.ceiling_of(installed));
        let sandbox = Sandbox {
            background: None,
            changes: changes.cloned(),
            ..self.sandbox(installed, grants, granted, ceiling)
        };
        let plugin = Arc::clone(&installed.plugin);
        tools.set_supply(Arc::new(McpSupply::new(Arc::clone(hub), plugin, sandbox, deferral)));
    }

    /// What the calls of a plugin get.
    fn sandbox(&self, installed: &LoadedPlugin, granted: &UserGrants, grants: Grants, ceiling: Grants) -> Sandbox {
        Sandbox {
            runtime: Arc::clone(&self.runtime),
            grants: Arc::new(grants),
            ceiling: Arc::new(ceiling),
            workspace: Arc::clone(&self.workspace),
            config: Arc::clone(&installed.config),
            secrets: Arc::clone(&installed.secrets),
            network: Network::Real,
            input: ProgramInput::Nothing,
            failures: installed.origin.failure_words(),
            only_reads: (granted.mode() == ApprovalMode::Plan).then_some(OnlyReads::Plan),
            background: Some(Arc::clone(&self.background)),
            changes: None,
            seen: None,
            mcp: None,
        }
    }

    /// The tools as a subagent has them: each with the part of its grants that only reads.
    ///
    /// # Errors
    ///
    /// If two tools have one name.
    pub fn reading_tools(&self, grants: &UserGrants) -> Result<Registry, Failure> {
        self.reading_tools_of(&self.plugins, grants)
    }

    /// The tools of these plugins, as a session and its model have them.
    pub(crate) fn tools_of(
        &self,
        plugins: &[LoadedPlugin],
        grants: &UserGrants,
        offered: Offered<'_>,
    ) -> Result<Registry, Failure> {
        self.registry(plugins, grants, Holder::Run, offered)
    }

    pub(crate) fn reading_tools_of(&self, plugins: &[LoadedPlugin], grants: &UserGrants) -> Result<Registry, Failure> {
        self.registry(plugins, grants, Holder::Subagent, Offered::default())
    }

    fn registry(
        &self,
        plugins: &[LoadedPlugin],
        granted: &UserGrants,
        holder: Holder,
        Offered { files, search, choice }: Offered<'_>,
    ) -> Result<Registry, Failure> {
        let mut registry = Registry::new();
        for installed in plugins {
            let is_unoffered = |name: &str| {
                choice.is_some_and(|choice| choice.leaves_out(name))
                    || (holder == Holder::Subagent && is_of_main_agent(name))
            };
            if matches!(installed.origin, PluginOrigin::BuiltIn(_)) && installed.tools().any(is_unoffered) {
                installed.tools().for_each(|name| registry.leave_out(ToolName::new(name)));
                continue;
            }
            let Some((installed, by_model)) = installed.searching(search.map(|search| search.address()))? else {
                // It has nobody to ask, with this model.
                installed.tools().for_each(|name| registry.leave_out(ToolName::new(name)));
                continue;
            };
            let installed = &*installed;
            let network = search.filter(|_| by_model).map(|search| Network::Service(Arc::clone(search)));
            let sandbox = self.held(holder, installed, granted, files);
            let sandbox = Sandbox { network: network.unwrap_or_default(), ..sandbox };
            for tool in &installed.manifest.tools {
                let needs = installed.plugin.declared().iter().filter(|scope| tool.needs(scope.capability())).cloned();
                let needs: Grants = needs.collect();
                let (needs, sandbox) = match installed.commands.get(&tool.spec.name) {
                    // No program only reads.
                    Some(_) if holder == Holder::Subagent => {
                        registry.leave_out(tool.spec.name.clone());
                        continue;
                    }
                    Some(command) => {
                        let only: Grants = Scope::for_command(command).map(Scope::requested).into_iter().collect();
                        let within = |grants: &Grants| Arc::new(grants.meet(&only));
                        let (grants, ceiling) = (within(&sandbox.grants), within(&sandbox.ceiling));
                        let input = ProgramInput::Arguments;
                        (needs.meet(&only), Sandbox { grants, ceiling, input, ..sandbox.clone() })
                    }
                    None => (needs, sandbox.clone()),
                };
                let plugin = Arc::clone(&installed.plugin);
                let tool =
                    PluginTool::new(tool.spec.clone(), needs, plugin, sandbox).with_title(tool.call_title.clone());
                registry.register(Arc::new(tool)).map_err(|error| match error {
                    RegistryError::Duplicate { name } => tool_taken(name.as_str(), installed, plugins).into(),
                    error @ (RegistryError::NotAnObject { .. }
                    | RegistryError::Schema { .. }
                    | RegistryError::NoSuchTool { .. }) => {
                        Failure::input(format!("the plugin `{}` cannot be used", installed.manifest.name))
                            .cause(error.to_string())
                    }
                })?;
            }
        }
        Ok(registry)
    }

    /// What the calls of a plugin get from the one who holds its tools.
    fn held(
        &self,
        holder: Holder,
        installed: &LoadedPlugin,
        granted: &UserGrants,
        files: Option<&SessionFiles>,
    ) -> Sandbox {
        let (grants, ceiling) = (granted.granted_to(installed), granted.ceiling_of(installed));
        match holder {
            Holder::Run => Sandbox {
                changes: files.map(|files| Arc::clone(&files.changes)),
                seen: files.map(|files| Arc::clone(&files.seen)),
                ..self.sandbox(installed, granted, grants, ceiling)
            },
            Holder::Subagent => Sandbox {
                secrets: Arc::default(),
                background: None,
                only_reads: Some(OnlyReads::Subagent),
                ..self.sandbox(installed, granted, grants.reading(), ceiling.reading())
            },
        }
    }

    /// Has these tools loaded by the next [`App::warming`].
    pub(crate) fn warm_next(&self, plugins: &[LoadedPlugin], tools: &Registry) {
        let mut plugins: Vec<_> = plugins.iter().map(|installed| Arc::clone(&installed.plugin)).collect();
        by_use(&mut plugins);
        *self.cold.lock().unwrap_or_else(PoisonError::into_inner) = Some(ColdTools { plugins, tools: tools.clone() });
    }

    /// Drives some work, and loads the tools in the background when it first waits: a run waits for the model then,
    /// which takes longer than loading them, and loading them before would keep its request back.
    pub(crate) async fn warming<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|context| {
            let polled = work.as_mut().poll(context);
            if polled.is_pending()
                && let Some(cold) = self.cold.lock().unwrap_or_else(PoisonError::into_inner).take()
            {
                self.warm(cold);
            }
            polled
        })
        .await
    }

    /// Loads tools in the background, so that the first call does not wait for it, and has the built-in ones compiled
    /// that never were, by a process of their own. No one waits for the thread: it ends with this process.
    fn warm(&self, ColdTools { plugins, tools }: ColdTools) {
        let runtime = Arc::clone(&self.runtime);
        let warming = std::thread::Builder::new().name("warm".to_owned()).spawn(move || {
            for plugin in &plugins {
                runtime.warm(plugin);
            }
            // An invalid schema is reported by the call that needs it.
            tools.verify().ok();
            runtime.compile_ahead(plugins.iter().map(Arc::as_ref));
        });
        if let Err(error) = warming {
            tracing::info!(%error, "no thread to load the tools with; each is loaded at its first call");
        }
    }
}
