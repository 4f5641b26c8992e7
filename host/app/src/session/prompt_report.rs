//! What a new conversation gives its model before the first prompt, section by section.
//!
//! Promises: it is made as a session makes it; nothing is sent, and nothing is recorded.
//! Deliberately not here: what it looks like, and tools of MCP servers, which come when a session connects them.

use std::sync::Arc;

use host_agent::prompts::{ENVIRONMENT, PromptFamily};
use host_agent::{ActivateSkill, AskUser, Completion, Declarations, KeptText, PresentPlan, Subagent};
use host_extensions::agents::Agents;
use host_extensions::grants::UserGrants;
use host_extensions::plugins::{self, LoadedPlugin};
use host_message::{ToolName, ToolSpec};
use host_model::{estimate_text, estimate_tools};
use host_settings::editing::ToolChoice;
use host_settings::error::{ErrorKind, Failure};
use host_settings::models;
use host_tool::{ApprovalMode, ApprovalQueue, Gate, ModeSwitch, RegistryError};

use super::prompted::{self, AskedModel, Prompted, Surrounded};
use super::setup;
use super::skills::SessionSkills;
use crate::app::{App, Offered};
use crate::start_mode;

/// What a model gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptReport {
    /// The model, as the user names it.
    pub model: String,
    /// The name of the family whose instructions it gets.
    pub family: &'static str,
    /// The approval mode.
    pub mode: ApprovalMode,
    /// The sections of the system prompt, and those of the first message before the prompt, in order.
    pub sections: Vec<ReportedSection>,
    /// The names of the tools, in order.
    pub tools: Vec<ToolName>,
    /// The declarations of the tools, in estimated tokens.
    pub tool_tokens: u64,
}

/// A section of what a model gets first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedSection {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

impl ReportedSection {
    /// Returns its length in characters.
    pub fn characters(&self) -> usize {
        self.text.chars().count()
    }

    /// Estimates how many tokens it has.
    pub fn tokens(&self) -> u64 {
        estimate_text(&self.text)
    }
}

/// Returns what the main agent's model would get in a conversation that starts now; `model` is the one that the user
/// asks for.
///
/// # Errors
///
/// If there is no model, or the tools cannot be put together.
pub async fn read(app: &App, model: Option<&str>, is_attended: bool) -> Result<PromptReport, Failure> {
    let (chosen, named);
    let model = match model {
        // Nothing is sent, so that no key is needed.
        Some(id) if id != models::AUTO => {
            named = models::with_provider(id, &app.configuration, &app.environment)
                .map_err(|failure| Failure { kind: ErrorKind::Input, ..failure })?;
            let id = named.as_str();
            AskedModel { id, family: PromptFamily::of(id, &app.configuration.known) }
        }
        asked => {
            chosen = models::choose(asked, &app.configuration, &app.environment).await?;
            AskedModel::from(&chosen)
        }
    };
    let grants = start_mode::usual(app).filter(|_| is_attended).unwrap_or_else(|| app.grants().clone());
    let root = app.workspace.root();
    let gate = app.gate(ApprovalQueue::new(), grants.mode());
    let agents = Agents::read(&app.folders, &app.configuration, &app.project_agents, &plugins::brought(&app.plugins))?;
    let choice = prompted::choice(&app.configuration, model.family);
    let declaring = Declaring { app, agents: &agents, choice, is_attended };
    let tools = |grants: &UserGrants, gate: &Gate| declaring.specs(grants, gate);
    let mut declarations = Declarations::default();
    if is_attended {
        declarations.add(&prompted::ahead(&grants, root, &gate, tools)?);
    }
    declarations.add(&tools(&grants, &gate)?);
    let specs = declarations.specs();
    let offered = specs.iter().map(|spec| spec.name.clone()).collect();
    let prompted = Prompted { app, model, is_attended, tools: &offered };
    let environment = Surrounded { app, model: model.id, grants: &grants, is_attended }.environment().text();
    let mut sections: Vec<ReportedSection> = prompted
        .instructions(Completion::Text)
        .into_iter()
        .map(|section| ReportedSection { name: section.name, text: section.text })
        .collect();
    let context = setup::with_skills(app, &grants).parts;
    let texts = std::iter::once((ENVIRONMENT, environment));
    sections.extend(texts.chain(context.into_iter().map(|(part, text)| (part.name(), text))).map(|(name, text)| {
        let kept = KeptText { heading: name.to_owned(), text };
        ReportedSection { name, text: kept.whole() }
    }));
    Ok(PromptReport {
        model: model.id.to_owned(),
        family: model.family.name(),
        mode: grants.mode(),
        sections,
        tools: specs.iter().map(|spec| spec.name.clone()).collect(),
        tool_tokens: estimate_tools(&specs),
    })
}

/// What decides which tools a conversation declares, besides its grants.
struct Declaring<'a> {
    app: &'a App,
    agents: &'a Agents,
    choice: ToolChoice,
    is_attended: bool,
}

impl Declaring<'_> {
    /// Returns the declarations of a conversation with these grants, the agents that the main one can call included.
    fn specs(&self, grants: &UserGrants, gate: &Gate) -> Result<Vec<ToolSpec>, Failure> {
        let Self { app, agents, choice, is_attended } = *self;
        let unusable = |error: RegistryError| Failure::from_error(ErrorKind::Configuration, &error);
        let root = app.workspace.root();
        let offered = Offered { choice: Some(choice), ..Offered::default() };
        let mut tools = app.tools_of(&app.plugins, grants, offered)?;
        if is_attended && grants.mode() == ApprovalMode::Plan {
            let plan = PresentPlan::new(ModeSwitch::default(), grants.plan_modes(root));
            tools.register(Arc::new(plan)).map_err(unusable)?;
        }
        let names = app.plugins.iter().flat_map(LoadedPlugin::tools).map(str::to_owned).collect();
        let skills = SessionSkills::new(&app.skills, names, grants.reads(), gate, root);
        if skills.has_any() {
            tools.register(Arc::new(ActivateSkill::new(Arc::new(skills) as Arc<_>))).map_err(unusable)?;
        }
        tools.register(Arc::new(AskUser::new(gate.queue().clone()))).map_err(unusable)?;
        let mut specs = prompted::specs(&tools, gate);
        if app.configuration.tree_limits().subagents > 0 {
            let enabled = agents.all().iter().filter(|agent| agent.enabled);
            specs.extend(enabled.map(|agent| Subagent::spec_of(&agent.declared.definition)));
        }
        Ok(specs)
    }
}
