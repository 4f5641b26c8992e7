//! Runs an agent: asks its model, runs the calls that the reply wants, and asks again, until one of six ends.
//!
//! An executor is one agent with one conversation; each [`Executor::run`] goes on with it. Dropping the future of
//! a run cancels its model request and its calls.
//!
//! Deliberately not here: where the definition, the tools and the model come from, and what anything looks like.

mod result;
mod run;
mod turn;

use std::sync::Arc;

use host_message::AgentId;
use host_model::Provider;
use host_tool::{Registry, RegistryError, Responder, Schema, SchemaError, Tool};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub(crate) use self::result::with_causes;
pub use self::result::{RunError, RunResult, TerminateReason};
use self::run::Run;
use crate::complete::CompleteTask;
use crate::{AgentDefinition, Completion, Event, EventKind, History, Ledger, Observer, SessionLog, ToolConfig, fill};

/// An agent that can be run.
pub struct Executor {
    agent: Agent,
    history: History,
    state: Conversation,
}

/// What an executor is made of besides the definition.
pub struct Setup {
    /// The model's service.
    pub provider: Arc<dyn Provider>,
    /// The tools that there are; the definition says which of them are the agent's.
    pub tools: Registry,
    /// Puts outcomes into words.
    pub responder: Responder,
    /// Who watches.
    pub observer: Arc<dyn Observer>,
    /// Where everything is written down; none records nothing.
    pub session: Option<Arc<SessionLog>>,
    /// Where what it uses up is counted, and its id: the agent's own, beneath its parent's where it has one.
    pub ledger: Arc<Ledger>,
}

/// Why an agent cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The agent's list of tools names one that there is not.
    #[error("the tools of the agent `{agent}` are not right")]
    Tools {
        /// The agent.
        agent: String,
        /// What is wrong with them.
        #[source]
        cause: RegistryError,
    },
    /// The agent's output has no usable schema.
    #[error("the output schema of the agent `{agent}` cannot be used")]
    Output {
        /// The agent.
        agent: String,
        /// What is wrong with it.
        #[source]
        cause: SchemaError,
    },
}

/// What stays the same over all runs.
struct Agent {
    definition: AgentDefinition,
    id: AgentId,
    provider: Arc<dyn Provider>,
    tools: Registry,
    responder: Responder,
    observer: Arc<dyn Observer>,
    session: Option<Arc<SessionLog>>,
    ledger: Arc<Ledger>,
}

/// Where a conversation stands between runs.
#[derive(Debug, Default)]
struct Conversation {
    /// Whether the initial messages are in the history.
    begun: bool,
    /// Whether they are in the session log.
    recorded: bool,
    /// The number of the next request, from 0; the ids of calls are made with it, so it never starts again.
    next_prompt: u32,
}

impl Executor {
    /// Makes an agent of a definition.
    ///
    /// # Errors
    ///
    /// When the definition names a tool that there is not, or its output schema cannot be used.
    pub fn new(definition: AgentDefinition, setup: Setup) -> Result<Self, SetupError> {
        let Setup { provider, tools, responder, observer, session, ledger } = setup;
        let name = || definition.name.clone();
        let tools = match &definition.tools {
            ToolConfig::All => Ok(tools),
            ToolConfig::Only(names) => tools.only(names.iter().map(String::as_str)),
        };
        let tools = tools.map_err(|cause| SetupError::Tools { agent: name(), cause })?;
        if definition.completion == Completion::Tool {
            let complete = Arc::new(CompleteTask::new(definition.output.as_ref()));
            Schema::compile(&complete.spec().input_schema)
                .map_err(|cause| SetupError::Output { agent: name(), cause })?;
            tools.clone().register(complete).map_err(|cause| SetupError::Tools { agent: name(), cause })?;
        }
        let id = ledger.id().clone();
        let agent = Agent { definition, id, provider, tools, responder, observer, session, ledger };
        Ok(Self { agent, history: History::new(), state: Conversation::default() })
    }

    /// The conversation until now.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Runs the agent on these inputs until one of six ends. Never fails as a function: what failed is part of
    /// the result.
    pub async fn run(&mut self, inputs: &Map<String, Value>, cancel: &CancellationToken) -> RunResult {
        let token = cancel.child_token();
        let _cancels_when_dropped = token.clone().drop_guard();
        let session = self.agent.session.as_ref().map(|session| session.id());
        self.agent.tell(EventKind::RunStarted { model: &self.agent.definition.model.model, session });
        let prompts = match self.begin(inputs) {
            Ok(prompts) => prompts,
            Err(error) => return RunResult::never_began(error, &self.agent),
        };
        Run::new(&self.agent, &token, &mut self.state, prompts.system).drive(&mut self.history, prompts.query).await
    }

    /// Fills in the prompts. The initial messages come before the first run's query only.
    fn begin(&mut self, inputs: &Map<String, Value>) -> Result<Prompts, RunError> {
        let AgentDefinition { prompt, inputs: wanted, .. } = &self.agent.definition;
        wanted.check(inputs)?;
        let inputs = &wanted.filled(inputs);
        let system = prompt.system.as_deref().map(|system| fill(system, inputs)).transpose()?;
        let query = fill(&prompt.query, inputs)?;
        if !self.state.begun {
            let texts = prompt.initial_messages.iter().map(|message| Ok((message.role, fill(&message.text, inputs)?)));
            self.history = History::beginning_with(texts.collect::<Result<Vec<_>, RunError>>()?);
            self.state.begun = true;
        }
        Ok(Prompts { system, query })
    }
}

/// The prompts of a run, filled in.
struct Prompts {
    system: Option<String>,
    query: String,
}

impl Agent {
    fn tell(&self, kind: EventKind<'_>) {
        self.observer.event(&Event { agent: &self.definition.name, agent_id: &self.id, kind });
    }

    /// The tools of one run: a run that ends by `complete_task` has its own, declared last.
    fn tools_with(&self, complete: Option<&CompleteTask>) -> Result<Registry, RegistryError> {
        let mut tools = self.tools.clone();
        if let Some(complete) = complete {
            tools.register(Arc::new(complete.clone()))?;
        }
        Ok(tools)
    }
}

#[cfg(test)]
mod tests;
