//! The parts of a run: the agent and its model, the log that records it, and the tools, including subagents.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use host_agent::{
    ASK_USER, ActivateSkill, AgentDefinition, AskUser, Budget, DayBudget, DeferredTools, Executor, Observer,
    PresentPlan, Setup, SubagentSetup, TreeLimits,
};
use host_extensions::agents::Agents;
use host_extensions::grants::UserGrants;
use host_extensions::plugins::LoadedPlugin;
use host_extensions::servers::{Deferral, LoadedInto};
use host_journal::{About, Clock, Journal, MAIN, Opened, Past, Recorded, SessionError};
use host_message::{AgentId, Content, ModelId, ToolName, ToolSpec};
use host_model::Recording;
use host_plugin::{PastFiles, SeenFiles, Workspace};
use host_settings::error::{ErrorKind, Failure};
use host_settings::models::{self, Model};
use host_settings::request::{Attended, RunRequest};
use host_text::Notice;
use host_tool::{ApprovalMode, ApprovalQueue, Gate, ModeSwitch, PausableClock, Registry, Responder, Spill};
use serde_json::{Map, Value};

use super::model_search::ModelSearch;
use super::prompted::{self, Prompted};
use super::skills::SessionSkills;
use super::subagents::{self, Asked};
use super::{Conversation, Observers, main_agent, task, undo};
use crate::app::{App, Offered, SessionFiles};
use crate::context::{self, Context, ContextPart};

/// The agent to run, the inputs of its prompts, and its model.
pub(super) struct Job {
    pub(super) definition: AgentDefinition,
    pub(super) inputs: Map<String, Value>,
    pub(super) model: Model,
    /// Records all replies of models.
    pub(super) recording: Option<Recording>,
    /// What the user should know, a line each.
    pub(super) notices: Vec<Notice>,
    /// The context of the workspace; empty for a declared agent, which has its own prompt.
    pub(super) context: Context,
}

/// The job of a request. `model_before` is the model of the session that is resumed.
pub(super) async fn job(
    request: &RunRequest,
    model_before: Option<&str>,
    app: &App,
    agents: &Agents,
) -> Result<Job, Failure> {
    match &request.agent {
        Some(name) => declared_agent(request, name, app, agents).await,
        None => main(request, model_before, app).await,
    }
}

/// The main agent. The user's prompt comes later, and the system prompt when the tools are known.
async fn main(request: &RunRequest, before: Option<&str>, app: &App) -> Result<Job, Failure> {
    let wanted = request.model.as_deref().or(before);
    let chosen = models::choose(wanted, &app.configuration, &app.environment).await?;
    let (model, recording) = recorded(request, chosen)?;
    let definition = main_agent::definition(request, app, &model)?;
    let mut context = with_skills(app, app.grants());
    let mut notices: Vec<Notice> = std::mem::take(&mut context.warnings).into_iter().map(Notice::from).collect();
    notices.extend(models::choice_notice(wanted, &app.configuration, &app.environment));
    if request.verbosity.is_some() && model.settings.verbosity.is_none() {
        notices.push(no_verbosity(&model).into());
    }
    let search = model.search_address();
    for plugin in app.plugins.iter().filter(|plugin| plugin.searches_by_model()) {
        if plugin.searching(search.as_deref())?.is_none() {
            notices.push(no_search(&plugin.manifest.name, &model).into());
        }
    }
    Ok(Job { definition, inputs: Map::new(), model, recording, notices, context })
}

/// Says that a model does not let the user choose how wordy it is.
pub(super) fn no_verbosity(model: &Model) -> String {
    format!("{} has no verbosity to choose", model.id)
}

/// Says that a model's service has no search of its own, and no other is configured.
fn no_search(plugin: &str, model: &Model) -> String {
    format!(
        "`{plugin}` is left out: {} has no web search of its own; `config.instead` under `[plugins.{plugin}]` names another \
         service",
        model.id
    )
}

/// The context of the workspace, and behind it the list of skills.
pub(super) fn with_skills(app: &App, grants: &UserGrants) -> Context {
    let mut context = context::read(app, grants);
    let catalog = app.skills.catalog();
    if !catalog.is_empty() {
        context.parts.push((ContextPart::Skills, catalog));
    }
    context
}

/// A declared agent on the inputs of the request.
async fn declared_agent(request: &RunRequest, name: &str, app: &App, agents: &Agents) -> Result<Job, Failure> {
    let agent = agents.find(name, &app.project)?;
    if !agent.enabled {
        return Err(Failure::configuration(format!("the agent `{name}` is disabled"))
            .help(format!("remove `enabled = false` from `[agents.{name}]` in the configuration")));
    }
    let inputs = task::inputs(name, &agent.declared.definition.inputs, &request.input)?;
    // The flag wins over what the agent declares.
    let model = match agent.declared.model.as_deref().filter(|_| request.model.is_none()) {
        Some(_) => agent.own_model(&app.configuration, &app.environment)?,
        None => models::choose(request.model.as_deref(), &app.configuration, &app.environment).await?,
    };
    let (model, recording) = recorded(request, model)?;
    let (definition, model) = agent.asking(model, &app.configuration);
    let mut definition = prompted::own(definition, &model, app.plugins.iter().flat_map(LoadedPlugin::tools));
    definition.run.max_turns = request.max_turns.or(definition.run.max_turns);
    definition.run.max_time = request.timeout.or(definition.run.max_time);
    Ok(Job { definition, inputs, model, recording, notices: Vec::new(), context: Context::default() })
}

/// The model, recorded if the request asks for it.
fn recorded(request: &RunRequest, model: Model) -> Result<(Model, Option<Recording>), Failure> {
    let Some(file) = &request.record else { return Ok((model, None)) };
    let recording = models::recording(file)?;
    Ok((model.recorded(&recording), Some(recording)))
}

/// The parts needed to start a conversation.
pub(super) struct Start<'a> {
    pub(super) app: &'a App,
    pub(super) agents: &'a Agents,
    pub(super) request: &'a RunRequest,
    pub(super) definition: &'a AgentDefinition,
    pub(super) model: &'a Model,
    pub(super) recording: Option<&'a Recording>,
    pub(super) observers: &'a Arc<Observers>,
    pub(super) approvals: &'a ApprovalQueue,
    pub(super) run_clock: &'a PausableClock,
    /// Whether a user is there to be asked.
    pub(super) attended: Attended,
}

/// What a conversation begins with: its log, what its model saw of files, and its past.
struct Begun {
    log: Arc<dyn Journal>,
    seen: SeenFiles,
    /// `None` for a new one.
    earlier: Option<Earlier>,
}

/// What a conversation that continues had before.
struct Earlier {
    past: Past,
    /// How many subagents were started.
    subagents: usize,
}

impl Start<'_> {
    /// Starts a conversation, or continues the reopened one. Also returns the agent with its system prompt, and the
    /// grants, extended by its folder of outputs.
    pub(super) fn conversation(
        &self,
        grants: UserGrants,
        reopened: Option<Box<dyn Opened>>,
    ) -> Result<(Conversation, AgentDefinition, UserGrants), Failure> {
        let Self { app, agents, request, model, .. } = *self;
        let limits = subagents::tree_limits(request, &app.configuration);
        subagents::check_price(request, app, model)?;
        let Begun { log, seen, earlier } = self.begun(reopened)?;
        // Large results are stored there, and the response tells the model to read them there.
        let outputs = log.artifacts().outputs();
        let grants = grants.reading_outputs(&outputs)?;
        let budget = self.budget(limits, earlier.as_ref());
        let recorder = host_plugin::recorder(log.artifacts().undo());
        let changes = Arc::new(recorder.chained(app.folders.chains()?));
        changes.set_roots(undo::roots(app, &grants));
        let observer = Arc::clone(self.observers) as Arc<dyn Observer>;
        let files = SessionFiles { changes: Arc::clone(&changes), seen: Arc::new(seen) };
        let hooks = app.session_hooks(Some(&log), Some(observer), Some(changes));
        let switch = ModeSwitch::default();
        let gate = app.gate(self.approvals.clone(), grants.mode()).with_hooks(hooks);
        let gate = match self.switches() {
            true => gate.switching(switch.clone(), grants.switches(app.workspace.root())),
            false => gate,
        };
        let names = app.plugins.iter().flat_map(LoadedPlugin::tools).map(str::to_owned).collect();
        let skills = SessionSkills::new(&app.skills, names, grants.reads(), &gate, app.workspace.root());
        let skills = Arc::new(skills);
        let context = SubagentContext {
            session: &log,
            observers: self.observers,
            budget: &budget,
            gate: &gate,
            outputs: &outputs,
        };
        let deferred = Arc::new(DeferredTools::default());
        let all = Tools {
            app,
            agents,
            plugins: &app.plugins,
            grants: &grants,
            request,
            model,
            recording: self.recording,
            switch: (self.attended == Attended::Yes).then_some(&switch),
            deferred: &deferred,
            files: &files,
            skills: &skills,
        };
        let tools = all.with_agents(&context)?;
        let (mut executor, definition) = self.executor(&all, &context, tools, earlier)?;
        executor.ends_with(switch.clone());
        if let Some(checks) = app.session_checks(&files.changes) {
            executor.checked_by(checks);
        }
        // What the conversation called stays declared: a service may reject calls of tools that are not.
        deferred.load(called(executor.history().contents()));
        let conversation = Conversation { executor, log, budget, gate, switch, deferred, files, skills, outputs };
        Ok((conversation, definition, grants))
    }

    /// Whether the user can change the mode of the conversation.
    fn switches(&self) -> bool {
        self.attended == Attended::Yes && self.request.agent.is_none()
    }

    /// Continues the log of a session that was reopened, or creates one.
    fn begun(&self, reopened: Option<Box<dyn Opened>>) -> Result<Begun, Failure> {
        let Some(reopened) = reopened else {
            return Ok(Begun { log: create(self.app, &self.model.id)?, seen: SeenFiles::default(), earlier: None });
        };
        let (log, recorded) = reopened.resume(&self.model.id)?;
        let subagents = recorded.agents().filter(|(id, _)| id.is_subagent()).count();
        let seen = SeenFiles::continued(past_files(&recorded, &self.app.workspace));
        let earlier = Earlier { past: recorded.into_past(&AgentId::new(MAIN)), subagents };
        Ok(Begun { log, seen, earlier: Some(earlier) })
    }

    /// The budget of all agents together.
    fn budget(&self, limits: TreeLimits, earlier: Option<&Earlier>) -> Arc<Budget> {
        let Self { app, model, .. } = *self;
        let day = DayBudget::new(&app.folders.spending, app.configuration.day_limits(), Clock::system());
        let prices = Arc::new(models::prices::of(&app.configuration, &app.environment));
        let budget = Budget::with_day(AgentId::new(MAIN), limits, prices, day);
        budget.answered_by(model.id.as_str());
        if let Some(earlier) = earlier {
            budget.skip(earlier.subagents);
        }
        budget
    }

    /// What runs the agent with these tools, and the agent with its system prompt.
    fn executor(
        &self,
        all: &Tools<'_>,
        context: &SubagentContext<'_>,
        tools: Registry,
        earlier: Option<Earlier>,
    ) -> Result<(Executor, AgentDefinition), Failure> {
        let Self { app, request, definition, model, .. } = *self;
        let ahead = match self.switches() {
            true => self.ahead(all, context)?,
            false => Vec::new(),
        };
        let definition = match request.agent {
            Some(_) => definition.clone(),
            None => {
                let is_attended = self.attended == Attended::Yes;
                let offered = prompted::specs(&tools, context.gate).into_iter().chain(ahead.iter().cloned());
                let tools = &offered.map(|spec| spec.name).collect();
                Prompted { app, model: model.into(), is_attended, tools }.main(definition.clone())
            }
        };
        let setup = Setup {
            provider: Arc::clone(&model.provider),
            tools,
            responder: Responder::new(Some(Spill::new(context.outputs.to_owned()))),
            observer: Arc::clone(self.observers) as Arc<dyn Observer>,
            session: Some(Arc::clone(context.session)),
            budget: Arc::clone(context.budget),
            run_clock: self.run_clock.clone(),
            gate: Some(context.gate.clone()),
        };
        let mut executor = Executor::new(definition.clone(), setup)
            .map_err(|error| Failure::from_error(ErrorKind::Configuration, &error))?;
        if let Some(earlier) = earlier {
            executor = executor.resume(earlier.past);
        }
        executor.declare(&ahead);
        Ok((executor, definition))
    }

    /// The tools that are declared ahead of their mode.
    fn ahead(&self, tools: &Tools<'_>, context: &SubagentContext<'_>) -> Result<Vec<ToolSpec>, Failure> {
        prompted::ahead(tools.grants, self.app.workspace.root(), context.gate, |grants, gate| {
            let tools = Tools { grants, ..*tools }.with_agents(&SubagentContext { gate, ..*context })?;
            Ok(prompted::specs(&tools, gate))
        })
    }
}

/// The parts that subagents share with the main agent.
#[derive(Clone, Copy)]
pub(super) struct SubagentContext<'a> {
    pub(super) session: &'a Arc<dyn Journal>,
    pub(super) observers: &'a Arc<Observers>,
    pub(super) budget: &'a Arc<Budget>,
    pub(super) gate: &'a Gate,
    pub(super) outputs: &'a Path,
}

/// The parts needed to build the tools of the main agent.
#[derive(Clone, Copy)]
pub(super) struct Tools<'a> {
    pub(super) app: &'a App,
    pub(super) agents: &'a Agents,
    pub(super) plugins: &'a [LoadedPlugin],
    pub(super) grants: &'a UserGrants,
    pub(super) request: &'a RunRequest,
    pub(super) model: &'a Model,
    pub(super) recording: Option<&'a Recording>,
    /// Receives the mode when the user approves a plan; `None` if there is no user to show one.
    pub(super) switch: Option<&'a ModeSwitch>,
    /// The tools of MCP servers that the model loaded in this conversation.
    pub(super) deferred: &'a Arc<DeferredTools>,
    /// What calls change in files in this conversation, and how its model saw them.
    pub(super) files: &'a SessionFiles,
    /// The skills of this conversation.
    pub(super) skills: &'a Arc<SessionSkills>,
}

impl Tools<'_> {
    /// When the definitions of MCP servers' tools are deferred.
    fn deferral(&self) -> Deferral {
        let window = self.model.window;
        let share = self.app.configuration.mcp_share();
        let loaded = match self.model.settings.deferred_tools {
            true => LoadedInto::Conversation,
            false => LoadedInto::Declarations,
        };
        Deferral { most_tokens: (window as f64 * share) as u64, tools: Arc::clone(self.deferred), loaded }
    }

    /// The tools, with the agents that are tools of the main one. They are loaded while the next prompt waits for the
    /// model.
    pub(super) fn with_agents(&self, context: &SubagentContext<'_>) -> Result<Registry, Failure> {
        let Self { app, agents, plugins, grants, request, model, recording, switch, .. } = *self;
        let search = ModelSearch::of(model, context.budget, context.session);
        let offered = Offered {
            files: Some(self.files),
            search: search.as_ref(),
            choice: Some(prompted::choice(&app.configuration, model.prompts)),
        };
        let mut tools = app.tools_of(plugins, grants, offered)?;
        app.supply(&mut tools, plugins, grants, Some(&self.files.changes), Some(self.deferral()));
        app.warm_next(plugins, &tools);
        if request.agent.is_some() {
            agents.all().iter().for_each(|agent| tools.leave_out(ToolName::new(agent.name())));
            return Ok(tools);
        }
        if let Some(switch) = switch.filter(|_| grants.mode() == ApprovalMode::Plan) {
            let tool = Arc::new(PresentPlan::new(switch.clone(), grants.plan_modes(app.workspace.root())));
            tools.register(tool).map_err(|error| Failure::from_error(ErrorKind::Configuration, &error))?;
        }
        if self.skills.has_any() {
            let tool = Arc::new(ActivateSkill::new(Arc::clone(self.skills) as Arc<_>));
            tools.register(tool).map_err(|error| {
                Failure::input(format!("a plugin cannot be used: {error}")).help("change the name of the plugin's tool")
            })?;
        }
        let mut reading = app.reading_tools_of(plugins, grants)?;
        reading.leave_out(ToolName::new(ASK_USER));
        let setup = SubagentSetup {
            model: model.id.clone(),
            provider: Arc::clone(&model.provider),
            tools: reading,
            spill: Some(context.outputs.to_owned()),
            observer: Arc::clone(context.observers) as Arc<dyn Observer>,
            session: Some(Arc::clone(context.session)),
            parent: Arc::clone(context.budget),
            gate: Some(context.gate.clone()),
        };
        let ask_user = AskUser::new(context.gate.queue().clone());
        tools.register(Arc::new(ask_user)).map_err(|error| {
            Failure::input(format!("a plugin cannot be used: {error}")).help("change the name of the plugin's tool")
        })?;
        subagents::add(&mut tools, agents, &setup, Asked { model, recording }, &app.configuration, &app.environment)?;
        Ok(tools)
    }
}

/// Returns when the calls of a session that continues were last about which files.
fn past_files(recorded: &Recorded, workspace: &Workspace) -> PastFiles {
    let named = recorded.named.iter().filter_map(|(text, time)| {
        // Most arguments are not paths.
        let real = std::fs::canonicalize(workspace.absolute(text).ok()?).ok()?;
        Some((real, SystemTime::from(*time)))
    });
    PastFiles { named: named.collect(), until: recorded.until.into() }
}

/// The tools that a conversation called, and those that it found.
fn called(contents: &[Content]) -> Vec<ToolName> {
    let calls = contents.iter().flat_map(Content::function_calls).map(|call| call.name.clone());
    let found = contents.iter().flat_map(Content::function_responses).flat_map(|response| &response.found);
    calls.chain(found.map(|tool| tool.name.clone())).collect()
}

/// A log for a new session.
fn create(app: &App, model: &ModelId) -> Result<Arc<dyn Journal>, Failure> {
    let about = About { workspace: app.workspace.root(), model };
    app.journals.create(about).map_err(|error| match error {
        // Another folder does not help against a key that others could have read.
        SessionError::Key(_) => Failure::from(error),
        error => {
            let help = format!("{}, or set XDG_STATE_HOME to a folder that can be written", error.help());
            Failure::from(error).help(help)
        }
    })
}
