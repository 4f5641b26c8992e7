//! The system prompts of a session's agents: the instructions for the model and the tools that they have, and where the
//! agent works.
//!
//! Deliberately not here: the words of the instructions (`host-agent`), the context of the workspace (`context`), and
//! where both stand in a conversation (`surroundings`).

use std::collections::BTreeSet;
use std::path::Path;

use host_agent::prompts::{self, Environment, GitState, PromptFamily, PromptSection, Situation};
use host_agent::{AgentDefinition, Completion, PromptConfig, ToolConfig};
use host_capability::{Capability, Scope};
use host_extensions::grants::UserGrants;
use host_message::{ToolName, ToolSpec};
use host_settings::configuration::Configuration;
use host_settings::editing::ToolChoice;
use host_settings::error::Failure;
use host_settings::models::Model;
use host_settings::repository::repository_of;
use host_text::clip;
use host_tool::{ApprovalMode, Gate, Registry};

use crate::app::App;
use crate::context;

/// The built-in tool that fetches.
const WEB_FETCH: &str = "web_fetch";
/// The built-in tool that runs commands.
const SHELL: &str = "shell";

/// The most characters about servers. Protects the model's window.
const MAX_SERVERS: usize = 600;

/// The model that is asked, as far as a prompt depends on it.
#[derive(Clone, Copy)]
pub(super) struct AskedModel<'a> {
    pub(super) id: &'a str,
    pub(super) family: PromptFamily,
}

impl<'a> From<&'a Model> for AskedModel<'a> {
    fn from(model: &'a Model) -> Self {
        Self { id: model.id.as_str(), family: model.prompts }
    }
}

/// What the system prompt of the main agent depends on.
pub(super) struct Prompted<'a> {
    pub(super) app: &'a App,
    pub(super) model: AskedModel<'a>,
    pub(super) is_attended: bool,
    /// The tools that the model is offered in this conversation, at its beginning or later.
    pub(super) tools: &'a BTreeSet<ToolName>,
}

/// Returns the tools that a model is offered, as they are now.
pub(super) fn offered(tools: &Registry, gate: &Gate) -> BTreeSet<ToolName> {
    specs(tools, gate).into_iter().map(|spec| spec.name).collect()
}

/// Returns which of the built-in tools a model of this family is offered.
pub(super) fn choice(configuration: &Configuration, family: PromptFamily) -> ToolChoice {
    ToolChoice::new(family, configuration.editing, configuration.code_mode)
}

/// Returns the declarations of those tools, in their order.
pub(super) fn specs(tools: &Registry, gate: &Gate) -> Vec<ToolSpec> {
    let offered = tools.current(|tool| gate.never(tool)).undeclaring(|tool| gate.never(tool));
    offered.specs().to_vec()
}

/// Returns the tools that a conversation in the mode `plan` declares in front of its own, although it may not call them
/// yet: when the user switches to another mode, nothing that the service cached changes. `tools` are those of a mode.
pub(super) fn ahead(
    grants: &UserGrants,
    root: &Path,
    gate: &Gate,
    tools: impl FnOnce(&UserGrants, &Gate) -> Result<Vec<ToolSpec>, Failure>,
) -> Result<Vec<ToolSpec>, Failure> {
    if grants.mode() != ApprovalMode::Plan {
        return Ok(Vec::new());
    }
    // A mode that this session cannot have declares nothing.
    let Ok(grants) = grants.clone().in_mode(ApprovalMode::Default, root) else { return Ok(Vec::new()) };
    tools(&grants, &gate.in_mode(grants.mode()))
}

impl Prompted<'_> {
    /// Returns the main agent with its system prompt.
    pub(super) fn main(&self, definition: AgentDefinition) -> AgentDefinition {
        let instructions = prompts::joined(&self.instructions(definition.completion));
        with_system(definition, instructions)
    }

    /// Returns the sections of its instructions.
    pub(super) fn instructions(&self, completion: Completion) -> Vec<PromptSection> {
        prompts::instructions(&Situation {
            family: self.model.family,
            tools: self.tools,
            is_attended: self.is_attended,
            has_git: repository_of(self.app.workspace.root()).is_some_and(is_git),
            has_context: true,
            completes: completion == Completion::Tool,
        })
    }
}

/// What the environment of the main agent depends on.
pub(super) struct Surrounded<'a> {
    pub(super) app: &'a App,
    /// The model's id, as the user names it.
    pub(super) model: &'a str,
    pub(super) grants: &'a UserGrants,
    pub(super) is_attended: bool,
}

impl Surrounded<'_> {
    /// Returns the environment as it is now.
    pub(super) fn environment(&self) -> Environment {
        let Self { app, model, grants, is_attended } = *self;
        let root = app.workspace.root();
        let git = repository_of(root).filter(|top| is_git(top)).map(|top| GitState {
            top: (top != root).then(|| plain(&top.display().to_string())),
            branch: host_git::branch(root).map(|branch| plain(&branch)),
            changed: host_git::changed_files(root),
        });
        Environment {
            workspace: plain(&root.display().to_string()),
            git,
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            date: jiff::Zoned::now().strftime("%Y-%m-%d").to_string(),
            model: plain(model),
            mode: grants.mode(),
            is_attended,
            added: grants.added().iter().map(|folder| plain(&folder.display().to_string())).collect(),
            servers: self.servers(),
            has_servers: app.mcp.is_some(),
        }
    }

    /// The requests that need no question: those of the tool that fetches, and commands with the servers that they
    /// reach.
    fn servers(&self) -> Option<String> {
        let scope = |plugin, capability| {
            let granted = self.app.plugin(plugin).map(|plugin| self.grants.granted_to(plugin))?;
            granted.scope(capability).cloned()
        };
        let fetched = match scope(WEB_FETCH, Capability::Http) {
            Some(Scope::Http(requests)) => Some(format!("{} by `{WEB_FETCH}`", requests.in_words())),
            _ => None,
        };
        let commands = scope(SHELL, Capability::Process).map(|commands| commands.to_string());
        let commands = commands.filter(|commands| commands.contains("net=")).map(|commands| match commands.as_str() {
            "*;net=*:*" => "any server by a command".to_owned(),
            _ => format!("`{commands}` by a command"),
        });
        let all: Vec<String> = fetched.into_iter().chain(commands).map(|words| plain(&words)).collect();
        (!all.is_empty()).then(|| clip(&all.join("; "), MAX_SERVERS).into_owned())
    }
}

/// Returns an agent that has a prompt of its own, with the part of the instructions that holds for it, too. Nobody
/// answers it: it is called by another agent, or runs its task alone. `available` are the tools of which the agent's
/// list selects.
pub(super) fn own<'t>(
    definition: AgentDefinition,
    model: &Model,
    available: impl IntoIterator<Item = &'t str>,
) -> AgentDefinition {
    let is_listed = |name: &&str| match &definition.tools {
        ToolConfig::All => true,
        ToolConfig::Only(only) => only.iter().any(|listed| listed == name),
    };
    let tools = available.into_iter().filter(is_listed).map(ToolName::new).collect();
    let AskedModel { family, .. } = model.into();
    let situation =
        Situation { family, tools: &tools, is_attended: false, has_git: false, has_context: false, completes: true };
    let instructions = prompts::instructions_of_others(&situation);
    let system = match definition.prompt.system.as_deref() {
        Some(own) => format!("{}\n\n{instructions}", own.trim_end()),
        None => instructions,
    };
    with_system(definition, system)
}

fn with_system(definition: AgentDefinition, system: String) -> AgentDefinition {
    let prompt = PromptConfig { system: Some(system), ..definition.prompt };
    AgentDefinition { prompt, ..definition }
}

/// Returns whether the top of a repository is that of a git repository.
fn is_git(top: &Path) -> bool {
    top.join(".git").symlink_metadata().is_ok()
}

/// A name on one line, which it does not break.
fn plain(text: &str) -> String {
    context::name(text).into_owned()
}
