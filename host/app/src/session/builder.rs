//! What a run is put together from: the session that records it, the tools, the agents among them, the executor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_agent::{
    About, AgentDefinition, ChosenModel, Clock, Executor, Ledger, ModelConfig, Observer, Reopened, RunConfig,
    SessionLog, Setup, SubagentSetup,
};
use host_message::{AgentId, ModelId, ToolName};
use host_model::Recording;
use host_tool::{ApprovalMode, Bus, Gate, Registry, Responder, Spill, Standstill};

use crate::agents::Agents;
use crate::app_context::Workplace;
use crate::environment::Environment;
use crate::error::{ErrorKind, Failure};
use crate::grants::Granted;
use crate::models::{self, Model};
use crate::plugins::reload::{self, Renewed, When};
use crate::request::RunRequest;
use crate::session::subagents::{self, Asked};
use crate::session::{MAIN, main_agent};

/// What stays the same over all sessions of a process.
pub struct Workbench {
    pub run: RunRequest,
    pub place: Workplace,
    pub agents: Agents,
    pub environment: Environment,
    /// Where all that models say is recorded, when that was asked for.
    pub recording: Option<Recording>,
    /// Where calls are asked about; whoever answers listens there.
    pub bus: Bus,
    /// Held while the person is asked.
    standstill: Standstill,
    /// What was granted before a session's own folder was.
    granted: Granted,
}

/// A session under way.
pub struct Begun {
    pub executor: Executor,
    pub session: Arc<SessionLog>,
    observer: Arc<dyn Observer>,
    ledger: Arc<Ledger>,
    gate: Gate,
    spill: PathBuf,
}

/// What the agents beneath the main one share with it.
struct Around<'a> {
    session: &'a Arc<SessionLog>,
    observer: &'a Arc<dyn Observer>,
    ledger: &'a Arc<Ledger>,
    gate: &'a Gate,
    spill: &'a Path,
}

impl Workbench {
    pub fn new(
        run: RunRequest,
        place: Workplace,
        agents: Agents,
        environment: Environment,
        recording: Option<Recording>,
        standstill: Standstill,
    ) -> Self {
        let granted = place.granted.clone();
        Self { run, place, agents, environment, recording, bus: Bus::new(), standstill, granted }
    }

    /// Begins a session, or goes on with one.
    pub fn begin(
        &mut self,
        definition: AgentDefinition,
        model: &Model,
        reopened: Option<Reopened>,
        observer: Arc<dyn Observer>,
    ) -> Result<Begun, Failure> {
        let limits = subagents::tree_limits(&self.run, &self.place.configuration, definition.run);
        self.check_price(model, definition.run)?;
        let (session, past) = match reopened {
            Some(reopened) => {
                let (session, recorded) = reopened.resume(&model.id)?;
                let beneath = recorded.agents().filter(|(id, _)| id.is_subagent()).count();
                (session, Some((recorded.into_past(&AgentId::new(MAIN)), beneath)))
            }
            None => (self.create(&model.id)?, None),
        };
        let session = Arc::new(session);
        // Large results go there, and the model is told to read them there.
        let spill = session.path().with_extension("outputs");
        self.place.granted = self.granted.clone().also_reading(&spill)?;
        let standstill = self.standstill.clone();
        let ledger = Ledger::with_prices(AgentId::new(MAIN), limits, Arc::new(self.place.configuration.prices()));
        ledger.answered_by(model.id.as_str());
        if let Some((_, beneath)) = &past {
            ledger.skip(*beneath);
        }
        let plain = self.place.tools()?;
        self.place.warm(&plain);
        let gate = self.place.gate(self.bus.clone());
        let around = Around { session: &session, observer: &observer, ledger: &ledger, gate: &gate, spill: &spill };
        let tools = self.tools(plain, model, &around)?;
        let setup = Setup {
            provider: Arc::clone(&model.provider),
            tools,
            responder: Responder::new(Some(Spill::new(spill.clone()))),
            observer: Arc::clone(&observer),
            session: Some(Arc::clone(&session)),
            ledger: Arc::clone(&ledger),
            standstill,
            gate: Some(gate.clone()),
        };
        let mut executor =
            Executor::new(definition, setup).map_err(|error| Failure::of(ErrorKind::Configuration, &error))?;
        if let Some((past, _)) = past {
            executor = executor.resume(past);
        }
        Ok(Begun { executor, session, observer, ledger, gate, spill })
    }

    /// Asks another model from the next run on, also for the agents that have none of their own.
    pub fn choose(&self, begun: &mut Begun, model: &Model) -> Result<(), Failure> {
        self.check_price(model, RunConfig::default())?;
        let Begun { executor, session, observer, ledger, gate, spill } = begun;
        let around = Around { session, observer, ledger, gate, spill };
        let tools = self.tools(self.place.tools()?, model, &around)?;
        let chosen = ChosenModel { provider: Arc::clone(&model.provider), window: model.window, tools };
        let config = ModelConfig { model: model.name.clone(), settings: model.settings.clone() };
        executor.choose_model(&model.id, config, chosen).map_err(|error| {
            let failure = Failure::of(ErrorKind::Configuration, &error);
            Failure { help: error.help(), ..failure }
        })
    }

    /// Changes what needs no asking, and the tools, from the next run on. What is denied and never granted stays so.
    pub fn regrant(
        &mut self,
        begun: &mut Begun,
        mode: ApprovalMode,
        model: &Model,
    ) -> Result<AgentDefinition, Failure> {
        self.granted = self.granted.clone().in_mode(mode, self.place.workspace.root())?;
        self.place.granted = self.granted.clone().also_reading(&begun.spill)?;
        begun.gate = begun.gate.in_mode(mode);
        let definition = main_agent::definition(&self.run, &self.place, model)?;
        let Begun { executor, session, observer, ledger, gate, spill } = begun;
        let around = Around { session, observer, ledger, gate, spill };
        let plain = self.place.tools()?;
        self.place.warm(&plain);
        let tools = self.tools(plain, model, &around)?;
        executor.regrant(tools, gate, definition.prompt.system.clone()).map_err(|error| {
            let failure = Failure::of(ErrorKind::Configuration, &error);
            Failure { help: error.help(), ..failure }
        })?;
        Ok(definition)
    }

    /// Takes up plugins that are others than before, from the next run on; what there is to say of that, a line each. What
    /// cannot be taken up leaves all of them as they were.
    pub async fn renew(&mut self, begun: &mut Begun, model: &Model, when: When) -> Vec<String> {
        let Renewed { plugins, told } = self.place.renewed(when).await;
        let Some(plugins) = plugins else { return told };
        let granted = self.granted.clone().with_plugins(&plugins, &self.place.folders);
        let before = (std::mem::replace(&mut self.place.plugins, plugins), self.granted.clone());
        let renewed = granted.and_then(|granted| {
            self.granted = granted;
            self.regrant(begun, before.1.mode(), model)
        });
        match renewed {
            Ok(_) => told,
            Err(failure) => {
                (self.place.plugins, self.granted) = before;
                vec![reload::stays(&failure)]
            }
        }
    }

    fn check_price(&self, model: &Model, run: RunConfig) -> Result<(), Failure> {
        match subagents::tree_limits(&self.run, &self.place.configuration, run).cost {
            Some(_) => models::check_prices(model, &self.place.configuration),
            None => Ok(()),
        }
    }

    /// The tools with the agents that are tools of the main one.
    fn tools(&self, mut tools: Registry, model: &Model, around: &Around<'_>) -> Result<Registry, Failure> {
        if self.run.agent.is_some() {
            self.agents.all().iter().for_each(|agent| tools.leave_out(ToolName::new(agent.name())));
            return Ok(tools);
        }
        let setup = SubagentSetup {
            model: model.id.clone(),
            provider: Arc::clone(&model.provider),
            tools: self.place.reading_tools()?,
            spill: Some(around.spill.to_owned()),
            observer: Arc::clone(around.observer),
            session: Some(Arc::clone(around.session)),
            parent: Arc::clone(around.ledger),
            gate: Some(around.gate.clone()),
        };
        let asked = Asked { model, recording: self.recording.as_ref() };
        subagents::add(&mut tools, &self.agents, &setup, asked, &self.place.configuration, &self.environment)?;
        Ok(tools)
    }

    /// A log for a new session.
    fn create(&self, model: &ModelId) -> Result<SessionLog, Failure> {
        let about = About { workspace: self.place.workspace.root(), model };
        SessionLog::create(&self.place.folders.sessions, about, Clock::system()).map_err(|error| {
            let help = format!("{}, or set XDG_STATE_HOME to a folder that can be written", error.help());
            Failure::from(error).help(help)
        })
    }
}
