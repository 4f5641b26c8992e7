//! The agents as tools for clients: listed from their definitions, started with a model at their first call.
//!
//! Each call is a session of its own, with its own log and its own limits. Its calls only read, and ask nobody.
//!
//! Deliberately not here: the run of an agent (`host-agent`).

use std::sync::Arc;

use host_agent::{Budget, DayBudget, Event, EventKind, Observer, Subagent, SubagentSetup};
use host_extensions::agents::Agents;
use host_extensions::plugins;
use host_journal::{About, Clock, Fact, MAIN};
use host_message::{AgentId, FunctionCall, ToolName, ToolSpec};
use host_settings::error::Failure;
use host_settings::models::{self, Model, ways};
use host_settings::request::RunRequest;
use host_text::{Flag, Notice};
use host_tool::{ApprovalQueue, Gate, Registry, Schema};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{CallProgress, ProgressSink};
use crate::app::App;
use crate::session::subagents::{self, Asked};

/// The agents that clients can call.
pub(super) struct ServedAgents {
    agents: Agents,
    specs: Vec<ToolSpec>,
    /// The limits of each call, and the model that the user named.
    request: RunRequest,
    /// The model, once an agent was called.
    model: OnceCell<Model>,
    /// Whether agents are missing because nothing decides which model they ask.
    lacks_model: bool,
}

impl ServedAgents {
    /// Reads the agents. Without a model none is listed.
    pub(super) fn read(app: &App, model: Option<String>) -> Result<Self, Failure> {
        let agents =
            Agents::read(&app.folders, &app.configuration, &app.project_agents, &plugins::brought(&app.plugins))?;
        let is_undecided = ways::is_undecided(model.as_deref(), &app.configuration, &app.environment);
        let has_any = app.configuration.tree_limits().subagents > 0;
        let enabled = agents.all().iter().filter(|agent| agent.enabled && has_any);
        let all: Vec<ToolSpec> = enabled.map(|agent| Subagent::spec_of(&agent.declared.definition)).collect();
        let lacks_model = is_undecided && !all.is_empty();
        let specs = if is_undecided { Vec::new() } else { all };
        let request = RunRequest { model, ..RunRequest::default() };
        Ok(Self { agents, specs, request, model: OnceCell::new(), lacks_model })
    }

    /// Their descriptions.
    pub(super) fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Whether one has this name.
    pub(super) fn has(&self, name: &ToolName) -> bool {
        self.specs.iter().any(|spec| spec.name == *name)
    }

    /// Returns why agents are not listed, if they are not.
    pub(super) fn notice(&self) -> Option<Notice> {
        self.lacks_model.then(|| {
            let not_served =
                "agents such as `codebase_investigator` are not served: no model is configured; set a key, or ";
            Notice::from(not_served).flag(Flag::Model)
        })
    }

    /// Checks a call's arguments, so that no session is begun for a call that does not run.
    fn check(&self, call: &FunctionCall) -> Result<(), Failure> {
        let Some(spec) = self.specs.iter().find(|spec| spec.name == call.name) else { return Ok(()) };
        let schema = Schema::compile(&spec.input_schema).map_err(|error| Failure::input(error.to_string()))?;
        schema
            .check(&Value::Object(call.arguments.clone()))
            .map_err(|violations| Failure::input(format!("invalid arguments for `{}`: {violations}", call.name)))
    }

    /// Returns the agents as tools for one call, whose progress is reported.
    pub(super) async fn registry(
        &self,
        app: &App,
        call: &FunctionCall,
        gate: &Gate,
        progress: &ProgressSink,
    ) -> Result<Registry, Failure> {
        self.check(call)?;
        let named = self.request.model.as_deref();
        let choosing = || models::choose(named, &app.configuration, &app.environment);
        let model = self.model.get_or_try_init(choosing).await?;
        subagents::check_price(&self.request, app, model)?;
        let log = app.journals.create(About { workspace: app.workspace.root(), model: &model.id })?;
        let outputs = log.artifacts().outputs();
        let grants = app.grants().clone().reading_outputs(&outputs)?;
        let limits = subagents::tree_limits(&self.request, &app.configuration);
        let day = DayBudget::new(&app.folders.spending, app.configuration.day_limits(), Clock::system());
        let prices = Arc::new(models::prices::of(&app.configuration, &app.environment));
        let setup = SubagentSetup {
            model: model.id.clone(),
            provider: Arc::clone(&model.provider),
            tools: app.reading_tools(&grants)?,
            spill: Some(outputs),
            observer: Arc::new(Steps(Arc::clone(progress))),
            session: Some(log),
            parent: Budget::with_day(AgentId::new(MAIN), limits, prices, day),
            // Nobody is asked about what an agent's own calls do.
            gate: Some(gate.asking(ApprovalQueue::new())),
        };
        let mut registry = Registry::new();
        let asked = Asked { model, recording: None };
        subagents::add(&mut registry, &self.agents, &setup, asked, &app.configuration, &app.environment)?;
        Ok(registry)
    }
}

/// Reports the steps of an agent as the progress of its call.
struct Steps(ProgressSink);

impl Observer for Steps {
    fn event(&self, event: &Event<'_>) {
        if let EventKind::TurnStarted { turn } = event.kind {
            (self.0)(CallProgress::Step(&format!("turn {}", turn.saturating_add(1))));
        }
        if let EventKind::Fact(Fact::CallStarted { name, title, .. }) = event.kind {
            (self.0)(CallProgress::Step(&format!("{name} {title}")));
        }
    }
}
