//! Runs an agent: asks its model, runs the calls that the reply wants, and asks again, until one of six ends.
//!
//! An executor is one agent with one conversation; each [`Executor::run`] continues it. Dropping the future of a run
//! cancels its model request and its calls.
//!
//! Deliberately not here: where the definition, the tools and the model come from, and what anything looks like.

mod cached;
mod check;
mod compression;
mod cut_short;
mod declared;
mod hooks;
mod repeated;
mod result;
mod run;
mod step;
mod turn;
mod watch;
mod window;

use std::mem;
use std::sync::Arc;

use host_journal::{Fact, History, Journal, Past, PastParts, SessionError, TerminateReason};
use host_message::{AgentId, Content, ModelId, Part, Role, ToolSpec};
use host_model::{Provider, estimate_contents};
use host_tool::{Gate, ModeSwitch, PausableClock, Registry, RegistryError, Responder, Schema, SchemaError, Tool};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::cached::Caching;
use self::compression::{How, Size};
pub use self::declared::Declarations;
pub use self::hooks::MAX_STOP_HOOKS;
pub use self::result::{Partial, RunError, RunResult};
use self::run::Run;
use self::step::Stop;
pub use self::window::{MessageTokens, WindowUse};
use crate::complete::CompleteTask;
use crate::compress::{is_prompt, last_prompt};
use crate::deadline::Deadline;
use crate::event::CompressionStatus;
use crate::{
    AgentDefinition, Budget, Checks, Completion, ContextSource, Event, EventKind, KeptText, ModelConfig, Observer,
    Steering, ToolConfig, fill,
};

/// An agent that can be run.
pub struct Executor {
    agent: Agent,
    history: History,
    state: Conversation,
}

/// The parts of an executor other than the definition.
pub struct Setup {
    /// The model's service.
    pub provider: Arc<dyn Provider>,
    /// All available tools; the definition selects those of the agent.
    pub tools: Registry,
    /// Puts outcomes into words.
    pub responder: Responder,
    /// Observer of the events.
    pub observer: Arc<dyn Observer>,
    /// The log that records everything; `None` records nothing.
    pub session: Option<Arc<dyn Journal>>,
    /// Paused while the user is asked: that time does not count towards the limits of a run.
    pub run_clock: PausableClock,
    /// Counts what the agent uses, and holds its id. It is beneath the parent's budget if there is a parent.
    pub budget: Arc<Budget>,
    /// Decides about its calls. Without one each runs with what its tool may touch anyway.
    pub gate: Option<Gate>,
}

/// What belongs to a query, in the same message. It is sent as it is: no `${name}` in it is filled in.
#[derive(Clone, Debug, Default)]
pub struct PromptParts {
    /// Text that was piped into the prompt: a part of its own before the query. Models answer best if a question
    /// follows the text that it is about.
    pub piped: Option<String>,
    /// Further parts behind the query, such as files that the user attached. None may be a function call or response.
    pub attached: Vec<Part>,
}

impl From<Vec<Part>> for PromptParts {
    fn from(attached: Vec<Part>) -> Self {
        Self { piped: None, attached }
    }
}

impl PromptParts {
    /// Returns all that the user said: the query, and what was piped in.
    fn said(&self, query: &str) -> String {
        match &self.piped {
            Some(piped) => format!("{query}\n\n{piped}"),
            None => query.to_owned(),
        }
    }
}

/// A model that an agent asks in the place of another.
pub struct ChosenModel {
    /// Its service.
    pub provider: Arc<dyn Provider>,
    /// The most tokens that it takes at once.
    pub window: u64,
    /// See [`CompressionConfig::comfortable`](crate::CompressionConfig::comfortable).
    pub comfortable: Option<u64>,
    /// All available tools, as in [`Setup`]: agents among them may ask the same model.
    pub tools: Registry,
    /// Its system instructions, if what is said to it is not what was said to the model before; `None` keeps those that
    /// the conversation has, and the declarations of its tools.
    pub system: Option<String>,
}

/// Why an agent cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The agent's list of tools names an unknown tool.
    #[error("invalid tools of the agent `{agent}`")]
    Tools {
        /// The agent.
        agent: String,
        /// The fault.
        #[source]
        cause: RegistryError,
    },
    /// The agent's output has no usable schema.
    #[error("invalid output schema of the agent `{agent}`")]
    Output {
        /// The agent.
        agent: String,
        /// The fault.
        #[source]
        cause: SchemaError,
    },
}

/// The parts of an executor that stay the same over all runs.
struct Agent {
    definition: AgentDefinition,
    id: AgentId,
    provider: Arc<dyn Provider>,
    tools: Registry,
    responder: Responder,
    observer: Arc<dyn Observer>,
    session: Option<Arc<dyn Journal>>,
    run_clock: PausableClock,
    budget: Arc<Budget>,
    gate: Option<Gate>,
    /// Set when the user chose another mode in an answer: the run ends then.
    switch: ModeSwitch,
    /// What joins the conversation between two turns.
    context: Vec<Arc<dyn ContextSource>>,
    /// Checks what a run changed before it ends.
    checks: Option<Arc<dyn Checks>>,
}

/// State of a conversation between runs.
#[derive(Debug, Default)]
struct Conversation {
    /// Whether the initial messages are in the history.
    begun: bool,
    /// Whether they are in the session log.
    recorded: bool,
    /// The number of the next request, from 0; the ids of calls are made with it, so it never starts again.
    next_prompt: u32,
    /// The tools that it declares.
    declared: Declarations,
    /// What its service keeps of it.
    caching: Caching,
    /// Size of the conversation.
    size: Size,
    /// A message without a reply, because the process ended or a limit was reached. The next run sends it again.
    question: Vec<Part>,
    /// How many changes of files the session had when they were last checked, or when the last run began. 0 where
    /// another process began the run: what it changed is unchecked.
    checked: usize,
    /// How the last run that had a reply was cut short, if it was. The model gets to know with the next prompt.
    cut_short: Option<TerminateReason>,
}

impl Executor {
    /// Makes an agent of a definition.
    ///
    /// # Errors
    ///
    /// When the definition names an unknown tool, or its output schema cannot be used.
    pub fn new(definition: AgentDefinition, setup: Setup) -> Result<Self, SetupError> {
        let Setup { provider, tools, responder, observer, session, budget, run_clock, gate } = setup;
        let gate = gate.map(|gate| gate.for_agent(&definition.name, budget.id()));
        let name = || definition.name.clone();
        // Before the first request: a definition that names an unknown tool must not cost anything.
        let tools = definition.tools.select(tools).map_err(|cause| SetupError::Tools { agent: name(), cause })?;
        // What a rule always denies is not declared, so that the model does not try it.
        let tools = undeclaring_denied(tools, gate.as_ref());
        if definition.completion == Completion::Tool {
            let complete = Arc::new(CompleteTask::new(definition.output.as_ref()));
            // The result is checked by it at the very end of a run, when an invalid schema would waste all of it.
            Schema::compile(&complete.spec().input_schema)
                .map_err(|cause| SetupError::Output { agent: name(), cause })?;
            tools.clone().register(complete).map_err(|cause| SetupError::Tools { agent: name(), cause })?;
        }
        let id = budget.id().clone();
        let switch = ModeSwitch::default();
        let agent = Agent {
            definition,
            id,
            provider,
            tools,
            responder,
            observer,
            session,
            run_clock,
            budget,
            gate,
            switch,
            context: Vec::new(),
            checks: None,
        };
        Ok(Self { agent, history: History::new(), state: Conversation::default() })
    }

    /// Continues a conversation that another process recorded. Its calls must have settled, and the executor's session
    /// log must be the log of that conversation.
    pub fn resume(mut self, past: Past) -> Self {
        let PastParts { history, next_prompt, question, cut_short } = past.into_parts();
        // An empty conversation never began: what it begins with is still to be said.
        let begun = !history.contents().is_empty();
        self.history = history;
        let declared = mem::take(&mut self.state.declared);
        let (caching, size) = (Caching::default(), Size::default());
        self.state = Conversation {
            begun,
            recorded: begun,
            next_prompt,
            question,
            cut_short,
            declared,
            caching,
            size,
            checked: 0,
        };
        self
    }

    /// Ends a run when the user has chosen another mode, in the answer about a plan or a call. [`Executor::go_on`]
    /// continues the conversation.
    pub fn ends_with(&mut self, switch: ModeSwitch) {
        self.agent.switch = switch;
    }

    /// Checks what each run changed before it ends.
    pub fn checked_by(&mut self, checks: Arc<dyn Checks>) {
        self.agent.checks = Some(checks);
    }

    /// Lets texts of this source join the conversation between two turns, behind those of earlier sources.
    pub fn joined_by(&mut self, context: Arc<dyn ContextSource>) {
        self.agent.context.push(context);
    }

    /// Declares tools from the first request on, though their calls cannot run yet: the declarations that follow would
    /// otherwise come behind what a service has cached.
    pub fn declare(&mut self, tools: &[ToolSpec]) {
        self.state.declared.add(tools);
    }

    /// The conversation until now.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Runs the agent on these inputs until one of six ends. Never fails as a function: what failed is part of
    /// the result.
    pub async fn run(&mut self, inputs: &Map<String, Value>, cancel: &CancellationToken) -> RunResult {
        self.run_with(inputs, Vec::new(), cancel).await
    }

    /// The same with more in the message of the query.
    pub async fn run_with(
        &mut self,
        inputs: &Map<String, Value>,
        beside: impl Into<PromptParts>,
        cancel: &CancellationToken,
    ) -> RunResult {
        self.run_steered(inputs, beside.into(), None, cancel).await
    }

    /// The same, and the model gets at each turn what the user has said since the last one.
    pub async fn run_steered(
        &mut self,
        inputs: &Map<String, Value>,
        beside: PromptParts,
        steering: Option<&dyn Steering>,
        cancel: &CancellationToken,
    ) -> RunResult {
        let token = cancel.child_token();
        // Dropping the future of a run cancels its calls too, which run as tasks of their own.
        let _cancels_when_dropped = token.clone().drop_guard();
        let session = self.agent.session.as_ref().map(|session| session.id());
        self.agent.tell(EventKind::RunRequested { model: &self.agent.model(), session });
        let prompts = match self.begin(inputs) {
            Ok(prompts) => prompts,
            Err(error) => return RunResult::never_began(error, &self.agent),
        };
        let said = beside.said(&prompts.query);
        self.agent.tell(EventKind::Asked { text: &said });
        // Hooks see the prompt before it joins the conversation, and may end the run.
        let context = match self.agent.submit(&said, &token).await {
            Ok(context) => context,
            Err(error) => return RunResult::never_began(error, &self.agent),
        };
        // A question that never had a reply is part of what is asked now.
        let mut message = mem::take(&mut self.state.question);
        if self.history.contents().is_empty() {
            // What holds for the whole conversation comes before what is asked.
            let joining = self.agent.joining(&KeptText::all_of(&message));
            message.extend(joining.iter().map(KeptText::part));
        }
        message.extend(beside.piped.as_deref().map(Part::piped));
        message.push(Part::text(prompts.query));
        message.extend(beside.attached);
        message.extend(context);
        // The model must know that it was stopped, or it goes on as if the user had waited.
        message.extend(self.state.cut_short.and_then(cut_short::note));
        self.state.checked = self.agent.checks.as_ref().map_or(0, |checks| checks.changes());
        let run = Run::new(&self.agent, &token, &mut self.state, prompts.system).steered(steering);
        run.drive(&mut self.history, Some(message)).await
    }

    /// Shortens the conversation at the user's wish, whatever its size: its beginning gives way to a summary.
    ///
    /// # Errors
    ///
    /// When the session log cannot be written, the run's tools cannot be put together, or the budget of the day is used
    /// up.
    pub async fn compress(
        &mut self,
        cancel: &CancellationToken,
        keep: Option<&str>,
    ) -> Result<CompressionStatus, RunError> {
        let token = cancel.child_token();
        let _cancels_when_dropped = token.clone().drop_guard();
        let deadline = Deadline::after(self.agent.definition.run.max_time, &self.agent.run_clock);
        self.agent.budget.check_day()?;
        self.state.declared.add(self.agent.tools_with(None)?.specs());
        let tools = self.state.declared.specs();
        // The same beginning as in every other request, which the service has cached; with inputs it is not known here.
        let system = self.agent.definition.prompt.system.as_deref();
        let system = system.and_then(|system| fill(system, &Map::new()).ok());
        let mut run = Run::new(&self.agent, &token, &mut self.state, system);
        let half = estimate_contents(self.history.contents()) / 2;
        if let Some(why) = run.may_compress(true).await {
            run.tell_not_compressed(&self.history, &why);
            return Ok(CompressionStatus::Failed);
        }
        let status = match run.compress(&mut self.history, &tools, &deadline, How::Summary { keep }, half).await {
            Ok(status) => status,
            Err(Stop::Cancelled | Stop::Late | Stop::Looped(_)) => return Ok(CompressionStatus::Failed),
            Err(Stop::Failed(error)) => return Err(error),
        };
        Ok(run.fit(&mut self.history, None, &tools)?.unwrap_or(status))
    }

    /// The user's last prompt and everything that followed; empty if there is no prompt.
    pub fn last_exchange(&self) -> &[Content] {
        let contents = self.history.contents();
        last_prompt(contents).and_then(|at| contents.get(at..)).unwrap_or_default()
    }

    /// The indexes of the user's prompts among the messages of the history, oldest first. What a summary replaced is
    /// not there any more.
    pub fn prompts(&self) -> Vec<usize> {
        let begun_with = self.agent.definition.prompt.initial_messages.len();
        let contents = self.history.contents().iter().enumerate().skip(begun_with);
        contents.filter(|(_, content)| is_prompt(content)).map(|(at, _)| at).collect()
    }

    /// Takes back a prompt and everything that followed, also for a process that later resumes the session log: `at` is
    /// one of [`Executor::prompts`]. Returns its text; `None` if there is no such prompt.
    ///
    /// # Errors
    ///
    /// When the session log cannot be written; the conversation then stays as it was.
    pub fn take_back(&mut self, at: usize) -> Result<Option<String>, RunError> {
        if !self.prompts().contains(&at) {
            return Ok(None);
        }
        let text = self.history.contents().get(at).and_then(Content::prompt_text).unwrap_or_default();
        self.agent.record(&Fact::TakenBack { agent_id: self.agent.id.clone(), messages: at as u64 })?;
        self.history.take_back(at)?;
        self.state.question.clear();
        self.state.cut_short = None;
        self.state.size = Size::default();
        Ok(Some(text))
    }

    /// Takes back the user's last prompt, as [`Executor::take_back`].
    ///
    /// # Errors
    ///
    /// As [`Executor::take_back`].
    pub fn undo_last_prompt(&mut self) -> Result<Option<String>, RunError> {
        self.prompts().last().map_or(Ok(None), |at| self.take_back(*at))
    }

    /// How the last run was cut short, until the model knows of it; `None` if it was not, or if nothing of it was kept.
    pub fn cut_short(&self) -> Option<TerminateReason> {
        self.state.cut_short
    }

    /// Switches to a different model, starting with the next run. `id` is the name that the user gives it.
    ///
    /// # Errors
    ///
    /// When the session log cannot be written, or a tool of the agent is missing; the model then does not change.
    pub fn choose_model(&mut self, id: &ModelId, model: ModelConfig, chosen: ChosenModel) -> Result<(), RunError> {
        let ChosenModel { provider, window, comfortable, tools, system } = chosen;
        let tools = undeclaring_denied(self.agent.definition.tools.select(tools)?, self.agent.gate.as_ref());
        self.agent.record(&Fact::ModelChosen { model: id.clone() })?;
        self.agent.tools = tools;
        self.agent.budget.answered_by(id.as_str());
        self.agent.definition.model = model;
        if system.is_some() {
            self.agent.definition.prompt.system = system;
            self.state.declared.clear();
        }
        let compression = &mut self.agent.definition.run.compression;
        // A share of the user's own has no model's limit beside it, before and after.
        let comfortable = compression.comfortable.and(comfortable);
        (compression.window, compression.comfortable) = (Some(window), comfortable);
        self.agent.provider = provider;
        // Token counts of the previous model do not apply to this one.
        self.state.size = Size::default();
        Ok(())
    }

    /// Gives the agent other tools and another gate from the next run on: a user changed what needs no asking.
    ///
    /// # Errors
    ///
    /// When the definition names a tool that is not among them.
    pub fn regrant(&mut self, tools: Registry, gate: &Gate) -> Result<(), RunError> {
        let gate = gate.for_agent(&self.agent.definition.name, &self.agent.id);
        self.agent.tools = undeclaring_denied(self.agent.definition.tools.select(tools)?, Some(&gate));
        self.agent.gate = Some(gate);
        Ok(())
    }

    /// Continues the conversation without a new message: with the question that has no reply, or with the outcomes of
    /// the last calls. The inputs need only contain what the system prompt names. The caller has checked with
    /// [`Past::left`] that something is left; if nothing is, the run ends with an error and no request is sent.
    pub async fn go_on(&mut self, inputs: &Map<String, Value>, cancel: &CancellationToken) -> RunResult {
        let token = cancel.child_token();
        let _cancels_when_dropped = token.clone().drop_guard();
        let session = self.agent.session.as_ref().map(|session| session.id());
        self.agent.tell(EventKind::RunRequested { model: &self.agent.model(), session });
        let system = self.agent.definition.prompt.system.as_deref().map(|system| fill(system, inputs)).transpose();
        let system = match system {
            Ok(system) => system,
            Err(error) => return RunResult::never_began(error.into(), &self.agent),
        };
        let question = mem::take(&mut self.state.question);
        let outcomes_last = self.history.contents().last().is_some_and(|last| last.role == Role::User);
        if question.is_empty() && !outcomes_last {
            return RunResult::never_began(RunError::NothingLeft, &self.agent);
        }
        let message = (!question.is_empty()).then_some(question);
        Run::new(&self.agent, &token, &mut self.state, system).drive(&mut self.history, message).await
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
            self.history.begin_with(texts.collect::<Result<Vec<_>, RunError>>()?);
            self.state.begun = true;
        }
        Ok(Prompts { system, query })
    }
}

impl ToolConfig {
    /// Selects the agent's tools among these.
    fn select(&self, tools: Registry) -> Result<Registry, RegistryError> {
        match self {
            Self::All => Ok(tools),
            Self::Only(names) => tools.only(names.iter().map(String::as_str)),
        }
    }
}

/// The prompts of a run, filled in.
struct Prompts {
    system: Option<String>,
    query: String,
}

impl Agent {
    /// The tools, with those of the supply as they are now.
    fn current_tools(&self) -> Registry {
        self.tools.current(|tool| self.gate.as_ref().is_some_and(|gate| gate.never(tool)))
    }

    /// The name under which a service finds what it cached.
    fn conversation(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.id().as_str())
    }

    /// Takes the texts that join a conversation which has these.
    fn joining(&self, kept: &[KeptText]) -> Vec<KeptText> {
        self.context.iter().flat_map(|context| context.take(kept)).collect()
    }

    /// Records a fact, and then reports it.
    fn record(&self, fact: &Fact) -> Result<(), SessionError> {
        self.append(fact)?;
        self.tell(EventKind::Fact(fact));
        Ok(())
    }

    /// Records a fact that is reported in another place.
    fn append(&self, fact: &Fact) -> Result<(), SessionError> {
        self.session.as_ref().map_or(Ok(()), |session| session.append(fact))
    }

    /// Reports a failure. Recording it is up to the run that it ends.
    fn tell_error(&self, message: String) {
        self.tell(EventKind::Fact(&Fact::Error { agent_id: self.id.clone(), message }));
    }

    fn tell(&self, kind: EventKind<'_>) {
        self.observer.event(&Event { agent: &self.definition.name, agent_id: &self.id, kind });
    }

    /// Returns the model as the user names it, if known.
    fn model(&self) -> String {
        self.budget.model().unwrap_or_else(|| self.definition.model.model.clone())
    }

    /// The tools as they are now: a run that ends by `complete_task` has its own, declared last.
    fn tools_with(&self, complete: Option<&CompleteTask>) -> Result<Registry, RegistryError> {
        let mut tools = self.current_tools();
        if let Some(complete) = complete {
            tools.register(Arc::new(complete.clone()))?;
        }
        Ok(tools)
    }
}

/// Returns the tools, without a declaration of those of which no call can run: a model need not know of them.
fn undeclaring_denied(tools: Registry, gate: Option<&Gate>) -> Registry {
    match gate {
        Some(gate) => tools.undeclaring(|tool| gate.never(tool)),
        None => tools,
    }
}

#[cfg(test)]
mod tests;
