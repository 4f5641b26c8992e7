//! The tools of MCP servers in the registry of an agent, as they come and go, and their definitions deferred if they
//! would take too much of the model's window.
//!
//! Promises: each tool is one of the built-in plugin `mcp`, and may call exactly that tool of that server; deferring
//! changes what is declared, never what may be called. Where the model's service loads tools in the course of a
//! conversation, nothing that comes after the first request is declared, if a search was before it.

use std::sync::{Arc, Mutex, PoisonError};

use host_agent::{DeferredTools, ToolSearch};
use host_capability::{Grants, Scope};
use host_message::{ToolName, ToolSpec};
use host_plugin::Plugin;
use host_tool::{Known, PluginTool, Sandbox, Supplied, Tool, ToolSupply};

use super::hub::McpHub;
use super::offer::{Offer, OfferedTool};

/// Supplies the tools of all servers.
pub struct McpSupply {
    hub: Arc<McpHub>,
    plugin: Arc<Plugin>,
    /// What all tools together may touch.
    sandbox: Sandbox,
    deferral: Option<Deferral>,
    supplied: Mutex<Option<Made>>,
}

/// The tools, as made for one state of the servers.
struct Made {
    /// The state, as the hub counts it.
    version: u64,
    tools: Vec<Arc<dyn Tool>>,
}

/// When definitions are deferred.
#[derive(Clone)]
pub struct Deferral {
    /// The most tokens that all definitions may take together.
    pub most_tokens: u64,
    /// What the model loaded.
    pub tools: Arc<DeferredTools>,
    /// Where what it loads is defined.
    pub loaded: LoadedInto,
}

/// Where a tool is defined that a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadedInto {
    /// Among the declarations.
    Declarations,
    /// In the conversation, by the model's service.
    Conversation,
}

impl McpSupply {
    /// Supplies the tools of these servers, which run in this plugin with at most these grants. Without a deferral all
    /// are declared.
    pub fn new(hub: Arc<McpHub>, plugin: Arc<Plugin>, sandbox: Sandbox, deferral: Option<Deferral>) -> Self {
        let client = Arc::clone(hub.connected());
        Self { hub, plugin, sandbox: Sandbox { mcp: Some(client), ..sandbox }, deferral, supplied: Mutex::default() }
    }

    fn tool(&self, offered: &OfferedTool) -> Arc<dyn Tool> {
        let needs = Grants::none().with(offered.scope.clone());
        let marked = self.hub.servers().iter().filter(|server| server.trusts_hints);
        let reading: Grants = marked.map(|server| Scope::for_reading_mcp_tools(&server.name)).collect();
        // What covers only a part, as in a mode that only reads, would let no call run.
        let ceiling = if needs.le(&self.sandbox.ceiling) { needs.clone() } else { Grants::none() };
        // The user marked the server, so that its tools that read need no question.
        let grants = self.sandbox.grants.join(&reading).meet(&ceiling);
        let sandbox = Sandbox {
            grants: Arc::new(grants),
            ceiling: Arc::new(ceiling),
            config: Arc::clone(&offered.config),
            ..self.sandbox.clone()
        };
        let tool = PluginTool::new(offered.spec.clone(), needs, Arc::clone(&self.plugin), sandbox);
        Arc::new(tool.calling(offered.target.clone()))
    }

    /// The tools, made once for each state of the servers.
    fn now(&self) -> (Arc<Offer>, Vec<Arc<dyn Tool>>) {
        let version = self.hub.version();
        let offer = self.hub.offer();
        let mut supplied = self.supplied.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = match &*supplied {
            Some(made) if made.version == version => made.tools.clone(),
            Some(_) | None => {
                let tools: Vec<_> = offer.tools.iter().map(|offered| self.tool(offered)).collect();
                *supplied = Some(Made { version, tools: tools.clone() });
                tools
            }
        };
        (offer, tools)
    }
}

impl ToolSupply for McpSupply {
    fn version(&self) -> u64 {
        // Both only grow.
        self.hub.version() + self.deferral.as_ref().map_or(0, |deferral| deferral.tools.loads())
    }

    fn tools(&self) -> Vec<Supplied> {
        let (offer, tools) = self.now();
        let tokens: u64 = offer.tokens.iter().map(|(_, tokens)| tokens).sum();
        let all_declared = |tools: Vec<Arc<dyn Tool>>| {
            tools.into_iter().map(|tool| Supplied { tool, known: Known::Declared }).collect()
        };
        let Some(Deferral { most_tokens, tools: deferred, loaded }) = &self.deferral else {
            return all_declared(tools);
        };
        let is_over = tokens > *most_tokens;
        let is_asked = deferred.is_asked();
        // What a service has in its cache stays there: a search that comes later would move it.
        let is_searched = match loaded {
            LoadedInto::Declarations => is_over,
            LoadedInto::Conversation => deferred.has_search(is_over || offer.is_starting && !is_asked),
        };
        if !is_searched {
            return all_declared(tools);
        }
        let known = |name: &ToolName| match loaded {
            LoadedInto::Declarations if deferred.is_loaded(name) => Known::Declared,
            LoadedInto::Declarations => Known::Undeclared,
            LoadedInto::Conversation if deferred.is_declared(name) || !is_over && !is_asked => Known::Declared,
            LoadedInto::Conversation if deferred.is_loaded(name) => Known::Found,
            LoadedInto::Conversation => Known::Unfound,
        };
        let rest: Vec<Supplied> =
            tools.into_iter().map(|tool| Supplied { known: known(&tool.spec().name), tool }).collect();
        let is_found = |tool: &&Supplied| *loaded == LoadedInto::Declarations || tool.known != Known::Declared;
        deferred.set(rest.iter().filter(is_found).map(|supplied| supplied.tool.spec().clone()).collect());
        let search: Arc<dyn Tool> = Arc::new(ToolSearch::new(Arc::clone(deferred)));
        let search = Supplied { tool: search, known: Known::Declared };
        std::iter::once(search).chain(rest).collect()
    }

    fn declared(&self, tools: &[ToolSpec]) {
        if let Some(deferral) = &self.deferral {
            deferral.tools.was_declared(tools);
        }
    }
}
