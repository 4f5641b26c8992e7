//! A session: one conversation of a user with a model, its tools and its agents, for any frontend.
//!
//! Owns the parts of a run and every later change of them: the next prompt, the approval mode, the model, reloaded
//! plugins. Events go to the subscribed observers; a frontend that can answer questions listens to the approval queue.
//!
//! Promises: a change that fails leaves the session as it was; what a session may touch comes from the user's grants of
//! this process and never from a session log.
//!
//! Deliberately not here: showing anything, and the loop itself (`host-agent`).

pub mod allowed;
pub mod aside;
pub mod command;
mod command_files;
pub mod costs;
pub mod cut_short;
pub mod hooks;
pub mod main_agent;
mod memory;
mod model_search;
mod observers;
pub mod pages;
mod plan;
pub mod prompt_report;
mod prompted;
mod proposed_checks;
pub mod resume;
pub mod rewind;
pub mod servers;
pub mod settings;
mod setup;
pub(crate) mod skills;
pub mod stats;
pub mod status;
pub(crate) mod subagents;
pub mod task;
pub mod tasks;
mod undo;
mod undone;
pub mod user_command;
pub mod window;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use host_agent::{
    AgentDefinition, Budget, ChosenModel, CompressionStatus, DeferredTools, Executor, ModelConfig, PromptParts,
    RunResult,
};
use host_extensions::agents::Agents;
use host_extensions::grants::UserGrants;
use host_extensions::plugins::reload::{ReloadOutcome, ReloadTrigger};
use host_extensions::plugins::{self, LoadedPlugin};
use host_journal::{History, Journal, Left, MAIN, TerminateReason};
use host_message::{AgentId, ChecklistItem, Content, ModelId, SessionId};
use host_model::{Effort, Recording, Verbosity};
use host_plugin::BackgroundPrograms;
use host_sessions::report::About;
use host_sessions::{find, title, transcript};
use host_settings::configuration::Configuration;
use host_settings::error::{ErrorKind, Failure};
use host_settings::models::{self, Model};
use host_settings::request::{Attended, RunRequest};
use host_text::Notice;
use host_tool::{ApprovalMode, ApprovalQueue, Gate, ModeSwitch, PausableClock, Registry};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::aside::{Attaching, Ran, RanCommand, Steering};
use self::hooks::Beginning;
pub use self::observers::Observers;
use self::prompted::{AskedModel, Prompted, Surrounded};
use self::resume::Resume;
use self::skills::SessionSkills;
use self::stats::StatsCounter;
use self::status::StatusTracker;
use self::tasks::BeforeReview;
pub use self::undone::Undone;
use crate::app::{App, SessionFiles};
use crate::attach::{self, Attached, Author, Supplied};
use crate::context::ContextFile;
use crate::context::entered::EnteredFolders;
use crate::context::surroundings::Surroundings;
use crate::start_mode;

/// The request to start a session.
#[derive(Debug, Default)]
pub struct SessionRequest {
    /// The agent, its model and its limits.
    pub run: RunRequest,
    /// The session to resume; `None` starts a new one.
    pub resume: Option<Resume>,
    /// Whether there will be something to do in a resumed session that has no unfinished work. Without it, resuming
    /// such a session is an error.
    pub has_prompt: bool,
    /// Whether a user is there to answer questions about calls. The system prompt depends on it.
    pub attended: Attended,
}

/// A session under way.
pub struct Session {
    app: App,
    agents: Agents,
    request: RunRequest,
    attended: Attended,
    /// The approval mode at the start.
    began_in: ApprovalMode,
    model: Model,
    definition: AgentDefinition,
    /// The inputs of the prompts, except the user's prompt itself.
    inputs: Map<String, Value>,
    recording: Option<Recording>,
    observers: Arc<Observers>,
    status: Arc<StatusTracker>,
    approvals: ApprovalQueue,
    run_clock: PausableClock,
    conversation: Conversation,
    left: Left,
    is_resumed: bool,
    notices: Vec<Notice>,
    context_files: Vec<ContextFile>,
    /// What the conversation begins with; `None` for a declared agent, which has its own prompt.
    surroundings: Option<Arc<Surroundings>>,
    /// The commands that the user ran since the last prompt.
    ran: Ran,
    /// The context files of folders that the model entered.
    entered: Arc<EnteredFolders>,
    beginning: Beginning,
    stats: Arc<StatsCounter>,
    /// What the tools might touch before the review that is asked for or runs.
    reviewing: Option<BeforeReview>,
}

/// The parts that are new with each conversation of a session: `/clear` starts another one.
struct Conversation {
    executor: Executor,
    log: Arc<dyn Journal>,
    budget: Arc<Budget>,
    gate: Gate,
    /// The mode that the user just chose in an answer.
    switch: ModeSwitch,
    /// The tools of MCP servers that the model loaded.
    deferred: Arc<DeferredTools>,
    /// What its calls change in files, and how its model saw them.
    files: SessionFiles,
    /// The skills, and what activating one changes.
    skills: Arc<SessionSkills>,
    /// The folder for large outputs.
    outputs: PathBuf,
}

/// The parts that depend on the user's grants and the model. They are built as a whole before any of them replaces the
/// current ones.
struct Equipment {
    grants: UserGrants,
    gate: Gate,
    tools: Registry,
}

impl Conversation {
    /// Lets the surroundings and the context of folders that the model enters join it, in this order.
    fn joined_by(&mut self, surroundings: Surroundings, entered: &Arc<EnteredFolders>) -> Arc<Surroundings> {
        let surroundings = Arc::new(surroundings);
        self.executor.joined_by(Arc::clone(&surroundings) as Arc<_>);
        self.executor.joined_by(Arc::clone(entered) as Arc<_>);
        surroundings
    }

    /// What is reported of its status.
    fn status(&self, app: &App) -> StatusTracker {
        let ports = app.runtime.program_network().changes();
        let known = app.configuration.known.clone();
        StatusTracker::new(Arc::clone(&self.budget), Arc::clone(&app.background), ports, known)
    }
}

impl App {
    /// Takes what a request chooses for its session; returns what the user should know about the mode.
    fn take_choices(&mut self, run: &RunRequest, attended: Attended) -> Option<String> {
        if let Some(effort) = run.effort {
            self.configuration.choose_effort(effort);
        }
        if let Some(verbosity) = run.verbosity {
            self.configuration.choose_verbosity(verbosity);
        }
        match attended {
            Attended::Yes => start_mode::by_default(self),
            Attended::No => None,
        }
    }
}

impl Session {
    /// Starts a session or resumes one. Nothing is sent to the model yet; only a local server may be asked for its
    /// models, if no model is configured.
    ///
    /// # Errors
    ///
    /// If the session to resume cannot be found, is in use or has nothing left to do; if there is no model; if an
    /// agent, its inputs or its tools are invalid; if the session log cannot be written.
    pub async fn start(mut app: App, request: SessionRequest) -> Result<Self, Failure> {
        let SessionRequest { run, resume, has_prompt, attended } = request;
        let told = app.take_choices(&run, attended);
        let agents =
            Agents::read(&app.folders, &app.configuration, &app.project_agents, &plugins::brought(&app.plugins))?;
        let reopened = match resume {
            Some(resume) => Some(resume.reopen(&app, has_prompt).await?),
            None => None,
        };
        let recorded = reopened.as_ref().map(|opened| opened.recorded());
        let model_before = recorded.and_then(|recorded| recorded.model.clone());
        let left =
            recorded.and_then(|recorded| recorded.past(&AgentId::new(MAIN))).map_or(Left::Nothing, |past| past.left());
        let (is_resumed, observers) = (reopened.is_some(), Arc::new(Observers::default()));
        let (approvals, run_clock) = (ApprovalQueue::new(), PausableClock::default());
        let job = setup::job(&run, model_before.as_ref().map(ModelId::as_str), &app, &agents).await?;
        let setup::Job { definition, inputs, model, recording, mut notices, context } = job;
        notices.extend(agents.left_out().iter().map(Notice::from));
        notices.extend(told.map(Notice::from));
        let start = setup::Start {
            app: &app,
            agents: &agents,
            request: &run,
            definition: &definition,
            model: &model,
            recording: recording.as_ref(),
            observers: &observers,
            approvals: &approvals,
            run_clock: &run_clock,
            attended,
        };
        let (mut conversation, definition, grants) = start.conversation(app.grants().clone(), reopened)?;
        let began_in = grants.mode();
        app.take_up(grants);
        let entered = Arc::new(EnteredFolders::new(&app, app.grants(), AgentId::new(MAIN)));
        let surroundings = match run.agent {
            None => {
                observers.add(Arc::clone(&entered) as Arc<_>);
                let (model, is_attended) = (model.id.as_str(), attended == Attended::Yes);
                let surrounded = Surrounded { app: &app, model, grants: app.grants(), is_attended };
                Some(conversation.joined_by(Surroundings::new(surrounded.environment(), &context), &entered))
            }
            Some(_) => None,
        };
        notices.extend(
            conversation.skills.resume(conversation.executor.history().contents()).into_iter().map(Notice::from),
        );
        let status = Arc::new(conversation.status(&app));
        observers.add(Arc::clone(&status) as Arc<_>);
        let stats = Arc::new(StatsCounter::new());
        observers.add(Arc::clone(&stats) as Arc<_>);
        Ok(Self {
            app,
            agents,
            request: run,
            attended,
            began_in,
            model,
            definition,
            inputs,
            recording,
            observers,
            status,
            approvals,
            run_clock,
            conversation,
            left,
            is_resumed,
            notices,
            context_files: context.files,
            surroundings,
            ran: Ran::default(),
            entered,
            beginning: Beginning::new(if is_resumed { "resume" } else { "startup" }),
            stats,
            reviewing: None,
        })
    }

    /// Takes the messages for the user since the last time, a line each: about the start, and about MCP servers that
    /// cannot be used, or can again.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        let mut notices = std::mem::take(&mut self.notices);
        notices.extend(self.app.mcp.iter().flat_map(|servers| servers.news()));
        notices.extend(self.entered.take_warnings().into_iter().map(Notice::from));
        notices
    }

    /// The application that the session runs in.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Returns all agents.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// The id of the session log.
    pub fn id(&self) -> &SessionId {
        self.conversation.log.id()
    }

    /// Gives it a title, which is returned; a blank one takes its title away.
    ///
    /// # Errors
    ///
    /// If it is too long, or cannot be written.
    pub fn rename(&self, title: &str) -> Result<Option<String>, Failure> {
        let artifacts = self.conversation.log.artifacts();
        title::rename(&artifacts, title)?;
        Ok(title::title_of(&artifacts))
    }

    /// The present approval mode.
    pub fn mode(&self) -> ApprovalMode {
        self.grants().mode()
    }

    /// Returns the modes that this session can have, in their order.
    pub fn possible_modes(&self) -> Vec<ApprovalMode> {
        let root = self.app.workspace.root();
        ApprovalMode::ALL.into_iter().filter(|mode| self.grants().clone().in_mode(*mode, root).is_ok()).collect()
    }

    /// Returns what the tools may currently touch.
    pub fn grants(&self) -> &UserGrants {
        self.app.grants()
    }

    /// The present model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The conversation so far.
    pub fn history(&self) -> &History {
        self.conversation.executor.history()
    }

    /// Returns the list of steps that the model wrote last, from the session log: it is there after a resume and a
    /// compression too. Empty if it wrote none.
    ///
    /// # Errors
    ///
    /// If the log cannot be read.
    pub fn checklist(&self) -> Result<Vec<ChecklistItem>, Failure> {
        let stored = find::by_id(&*self.app.journals, self.id().as_str())?;
        Ok(transcript::Transcript::read(&stored).whole()?.checklist().to_vec())
    }

    /// Returns whether the session was resumed.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// The work that a resumed session has left.
    pub fn left(&self) -> Left {
        self.left
    }

    /// Returns the observers of the session's events. Any number of observers may be added at any time.
    pub fn observers(&self) -> &Arc<Observers> {
        &self.observers
    }

    /// The context files that the model reads first; none for a declared agent.
    pub fn context_files(&self) -> &[ContextFile] {
        &self.context_files
    }

    /// Returns the queue of questions about calls. Its listeners can answer.
    pub fn approvals(&self) -> &ApprovalQueue {
        &self.approvals
    }

    /// Returns the programs that run in the background, for a list or a status line; a clone can be kept while a prompt
    /// runs.
    pub fn background(&self) -> &Arc<BackgroundPrograms> {
        &self.app.background
    }

    /// Returns the session's data for a report. `stats` requests the full statistics.
    pub fn about(&self, stats: bool, code: fn(ErrorKind) -> u8) -> About {
        About { project_trust: self.app.project.trust_status(), run_clock: self.run_clock.clone(), stats, code }
    }

    /// Reads what a prompt of the user attaches with `@path`, with the session's grants. A path outside of the
    /// workspace counts as asked about.
    ///
    /// # Errors
    ///
    /// If something that is attached may not be read, or is too large.
    pub async fn attach(&self, prompt: &str, cancel: &CancellationToken) -> Result<Attached, Failure> {
        attach::attach(prompt, Author::User, &self.app, self.grants(), cancel).await
    }

    /// The same, with what the frontend attaches besides the words of the prompt.
    ///
    /// # Errors
    ///
    /// As [`Session::attach`].
    pub async fn attach_supplied(
        &self,
        prompt: &str,
        supplied: Vec<Supplied>,
        cancel: &CancellationToken,
    ) -> Result<Attached, Failure> {
        attach::attach_supplied(prompt, supplied, Author::User, &self.app, self.grants(), cancel).await
    }

    /// Runs a prompt to one of the six ends.
    pub async fn prompt(&mut self, prompt: Attached, cancel: &CancellationToken) -> RunResult {
        self.run_prompt(prompt, None, cancel).await
    }

    /// The same, and the model gets at each turn what the user has said since the last one.
    pub async fn prompt_steered(
        &mut self,
        prompt: Attached,
        steering: &dyn Steering,
        cancel: &CancellationToken,
    ) -> RunResult {
        self.run_prompt(prompt, Some(steering), cancel).await
    }

    async fn run_prompt(
        &mut self,
        prompt: Attached,
        steering: Option<&dyn Steering>,
        cancel: &CancellationToken,
    ) -> RunResult {
        let began = Instant::now();
        if !prompt.keeps_limits {
            self.conversation.gate.widen();
        }
        self.entered.follow(self.history().contents());
        let before = prompt.model.as_deref().and_then(|model| self.borrow_model(model));
        self.wait_for_servers(cancel).await;
        self.begins(cancel).await;
        let inputs = main_agent::with_prompt(&self.inputs, prompt.prompt);
        let changed = self.changed_by_cut_short();
        let parts = prompt.parts.into_iter().chain(self.ran.parts()).chain(self.beginning.context()).chain(changed);
        let beside = PromptParts { piped: prompt.piped, attached: parts.collect() };
        let attaching = steering.map(|steering| Attaching { app: &self.app, steering, cancel });
        let steering = attaching.as_ref().map(|attaching| attaching as &dyn host_agent::Steering);
        let running = self.conversation.executor.run_steered(&inputs, beside, steering, cancel);
        let result = self.app.warming(running).await;
        let result = self.carry_out(result, cancel).await;
        if let Some(before) = before
            && let Err(failure) = self.set_model(before.as_str())
        {
            self.notices.push(failure.message.into());
        }
        // After a prompt that was taken back, the next one needs again what belonged to it.
        if result.is_taken_back {
            self.forget_surroundings();
        } else {
            self.ran.clear();
            self.beginning.was_sent();
        }
        // Whatever came of a review, its end gives back what the tools might touch.
        if let Err(failure) = self.end_review_if_any() {
            self.notices.push(failure.message.into());
        }
        self.stats.ended(&result, began.elapsed());
        result
    }

    /// Ends the review whose prompt has run, or was never run.
    fn end_review_if_any(&mut self) -> Result<(), Failure> {
        self.reviewing.take().map_or(Ok(()), |before| self.end_review(before))
    }

    /// Switches to the model of a command; returns the session's own. One that cannot be used leaves that, with a
    /// notice.
    fn borrow_model(&mut self, model: &str) -> Option<ModelId> {
        let before = self.model.id.clone();
        match self.set_model(model) {
            Ok(()) => Some(before),
            Err(failure) => {
                let model = host_text::escape_name(model, 80);
                let kept =
                    format!("the command asks for the model `{model}`, and `{before}` answers: {}", failure.message);
                self.notices.push(kept.into());
                None
            }
        }
    }

    /// Waits a moment for the MCP servers that the user called required.
    async fn wait_for_servers(&self, cancel: &CancellationToken) {
        if let Some(servers) = &self.app.mcp {
            // The run itself ends by the cancel.
            cancel.run_until_cancelled(servers.wait_for_required()).await;
        }
    }

    /// Gives the model a command that the user ran, with the next prompt.
    pub fn add_command(&mut self, command: RanCommand) {
        self.ran.add(command);
    }

    /// The folder of the conversation's large outputs, which its tools may read.
    pub fn outputs(&self) -> &Path {
        &self.conversation.outputs
    }

    /// Goes on in the mode that the user chose in an answer of the run with this result: about a plan, or a call.
    async fn carry_out(&mut self, mut result: RunResult, cancel: &CancellationToken) -> RunResult {
        while let Some(mode) = self.conversation.switch.take() {
            let is_plan = self.mode() == ApprovalMode::Plan;
            // A plan whose run did not reach its end is not carried out, and its mode is not needed.
            if result.terminate_reason != TerminateReason::Goal && is_plan {
                return result;
            }
            if let Err(failure) = self.set_mode(mode) {
                self.notices.push(failure.message.into());
                return result;
            }
            if !is_plan {
                self.notices.push(format!("mode: {mode} – {}", mode.about()).into());
            }
            if result.terminate_reason != TerminateReason::Goal {
                return result;
            }
            if is_plan {
                match plan::keep(self.outputs(), self.history().contents()) {
                    Ok(Some(path)) => self.notices.push(format!("the plan is in {}", path.display()).into()),
                    Ok(None) => {}
                    Err(error) => self.notices.push(format!("the plan was not kept as a file: {error}").into()),
                }
            }
            result = self.conversation.executor.go_on(&self.inputs, cancel).await;
        }
        result
    }

    /// Runs a declared agent on the inputs that the session was started with.
    pub async fn run_agent(&mut self, cancel: &CancellationToken) -> RunResult {
        self.wait_for_servers(cancel).await;
        self.begins(cancel).await;
        let context = self.beginning.context().collect::<Vec<_>>();
        self.conversation.executor.run_with(&self.inputs, context, cancel).await
    }

    /// Finishes what a resumed session has left to do.
    pub async fn finish_left(&mut self, cancel: &CancellationToken) -> RunResult {
        self.left = Left::Nothing;
        let Conversation { skills, executor, .. } = &self.conversation;
        skills.limit_again(executor.last_exchange(), executor.history().contents());
        self.entered.follow(executor.history().contents());
        self.wait_for_servers(cancel).await;
        self.begins(cancel).await;
        let began = Instant::now();
        let result = self.conversation.executor.go_on(&self.inputs, cancel).await;
        let result = self.carry_out(result, cancel).await;
        self.stats.ended(&result, began.elapsed());
        result
    }

    /// Compresses the conversation now. The user may say what its summary should keep.
    ///
    /// # Errors
    ///
    /// If the session log cannot be written, or the tools cannot be put together.
    pub async fn compress(
        &mut self,
        cancel: &CancellationToken,
        keep: Option<&str>,
    ) -> Result<CompressionStatus, Failure> {
        self.conversation.executor.compress(cancel, keep).await.map_err(|error| run_failure(&error))
    }

    /// Starts an empty conversation with a session log of its own. The one before stays recorded; returns its id.
    ///
    /// # Errors
    ///
    /// If the new log cannot be written. The conversation is then the same as before.
    pub fn clear(&mut self) -> Result<SessionId, Failure> {
        let start = setup::Start {
            app: &self.app,
            agents: &self.agents,
            request: &self.request,
            definition: &self.definition,
            model: &self.model,
            recording: self.recording.as_ref(),
            observers: &self.observers,
            approvals: &self.approvals,
            run_clock: &self.run_clock,
            attended: self.attended,
        };
        let (mut conversation, definition, grants) = start.conversation(self.grants().clone().renewed(), None)?;
        self.entered.reset();
        if let Some(surroundings) = &self.surroundings {
            surroundings.forget();
            conversation.executor.joined_by(Arc::clone(surroundings) as Arc<_>);
            conversation.executor.joined_by(Arc::clone(&self.entered) as Arc<_>);
        }
        // Lasting answers that were given since the start are not in the rules that the application read.
        conversation.gate.inherit(&self.conversation.gate);
        let before = self.id().clone();
        // The new conversation knows nothing of them.
        self.app.background.clear();
        (self.conversation, self.definition) = (conversation, definition);
        self.status.begin(Arc::clone(&self.conversation.budget));
        self.app.take_up(grants);
        self.left = Left::Nothing;
        self.ran.clear();
        self.stats.begin();
        self.beginning = Beginning::new("clear");
        Ok(before)
    }

    /// The user's last prompt and everything that followed; empty if there is no prompt.
    pub fn last_exchange(&self) -> &[Content] {
        self.conversation.executor.last_exchange()
    }

    /// Changes the approval mode, from the next run on.
    ///
    /// # Errors
    ///
    /// If the tools cannot be put together for the mode. Everything then stays as it was.
    pub fn set_mode(&mut self, mode: ApprovalMode) -> Result<(), Failure> {
        let grants = self.grants().clone().in_mode(mode, self.app.workspace.root())?;
        let equipment = self.equip(&self.app.plugins, grants)?;
        self.take_up(equipment)
    }

    /// Switches to a different model, starting with the next run; also for agents without a model of their own.
    ///
    /// # Errors
    ///
    /// If the model cannot be reached with this configuration, or has no price where costs are limited. The model then
    /// stays the same.
    pub fn set_model(&mut self, id: &str) -> Result<(), Failure> {
        let model = models::connect(id, &self.app.configuration, &self.app.environment)?;
        let model = match &self.recording {
            Some(recording) => model.recorded(recording),
            None => model,
        };
        subagents::check_price(&self.request, &self.app, &model)?;
        let gate = &self.conversation.gate;
        let tools = self.tools_for(&self.app.plugins, self.grants(), gate, &model)?;
        let definition = self.defined(&model, &tools, gate)?;
        let is_as_before = definition.prompt.system == self.definition.prompt.system;
        let chosen = ChosenModel {
            provider: Arc::clone(&model.provider),
            window: model.window,
            comfortable: model.comfortable,
            tools,
            system: definition.prompt.system.clone().filter(|_| !is_as_before),
        };
        let config = ModelConfig { model: model.name.clone(), settings: model.settings.clone() };
        let executor = &mut self.conversation.executor;
        executor.choose_model(&model.id, config, chosen).map_err(|error| run_failure(&error))?;
        self.definition = definition;
        self.model = model;
        self.renew_environment();
        Ok(())
    }

    /// Changes how much the model thinks, starting with the next run.
    ///
    /// # Errors
    ///
    /// As [`Session::set_model`]; the effort then stays the same.
    pub fn set_effort(&mut self, effort: Effort) -> Result<(), Failure> {
        self.reconfigure(|configuration| configuration.choose_effort(effort))
    }

    /// Changes how many words the model's answers have, starting with the next run.
    ///
    /// # Errors
    ///
    /// As [`Session::set_model`]; the verbosity then stays the same.
    pub fn set_verbosity(&mut self, verbosity: Verbosity) -> Result<(), Failure> {
        self.reconfigure(|configuration| configuration.choose_verbosity(verbosity))
    }

    /// Changes the configuration and asks the same model by it; if that fails, nothing has changed.
    fn reconfigure(&mut self, change: impl FnOnce(&mut Configuration)) -> Result<(), Failure> {
        let before = self.app.configuration.clone();
        change(&mut self.app.configuration);
        let id = self.model.id.clone();
        let changed = self.set_model(id.as_str());
        if changed.is_err() {
            self.app.configuration = before;
        }
        changed
    }

    /// Reloads plugins that changed, from the next run on; returns what the user should know, a line each. What cannot
    /// be used leaves all of them as they were.
    pub async fn reload(&mut self, trigger: ReloadTrigger) -> Vec<Notice> {
        let ReloadOutcome { plugins, notices } = self.app.reload(trigger).await;
        let Some(plugins) = plugins else { return notices };
        let grants = self.grants().clone().with_plugins(&plugins, &self.app.folders);
        let equipment = grants.and_then(|grants| self.equip(&plugins, grants));
        match equipment.and_then(|equipment| self.take_up(equipment)) {
            Ok(()) => {
                self.app.plugins = plugins;
                notices
            }
            Err(failure) => ReloadOutcome::unchanged(&failure).notices,
        }
    }

    /// Builds the parts that depend on these plugins and grants. The session does not change.
    fn equip(&self, plugins: &[LoadedPlugin], grants: UserGrants) -> Result<Equipment, Failure> {
        let gate = self.conversation.gate.in_mode(grants.mode());
        let gate = match self.request.agent {
            None if self.attended == Attended::Yes => {
                gate.switching(self.conversation.switch.clone(), grants.switches(self.app.workspace.root()))
            }
            None | Some(_) => gate,
        };
        let tools = self.tools_for(plugins, &grants, &gate, &self.model)?;
        Ok(Equipment { grants, gate, tools })
    }

    /// Returns the agent as it is with this model. The instructions stay what they are as long as its family is the
    /// same, since the service has cached them; a declared agent keeps its own prompt.
    fn defined(&self, model: &Model, tools: &Registry, gate: &Gate) -> Result<AgentDefinition, Failure> {
        if self.request.agent.is_some() {
            return Ok(self.definition.clone());
        }
        let mut definition = main_agent::definition(&self.request, &self.app, model)?;
        let (before, asked) = (AskedModel::from(&self.model), AskedModel::from(model));
        if before.family == asked.family {
            definition.prompt.system.clone_from(&self.definition.prompt.system);
            return Ok(definition);
        }
        let mut tools = prompted::offered(tools, gate);
        tools.extend(self.conversation.executor.declared_tools());
        let choice = prompted::choice(&self.app.configuration, asked.family);
        tools.retain(|name| !choice.leaves_out(name.as_str()));
        let is_attended = self.attended == Attended::Yes;
        Ok(Prompted { app: &self.app, model: asked, is_attended, tools: &tools }.main(definition))
    }

    /// Tells the model with the next request what its environment is now, if that is something else.
    fn renew_environment(&self) {
        let Some(surroundings) = &self.surroundings else { return };
        let (model, is_attended) = (self.model.id.as_str(), self.attended == Attended::Yes);
        let surrounded = Surrounded { app: &self.app, model, grants: self.grants(), is_attended };
        surroundings.set_environment(surrounded.environment());
    }

    /// The conversation lost messages: what it began with is said again if it was in one of them.
    fn forget_surroundings(&self) {
        self.surroundings.iter().for_each(|surroundings| surroundings.forget());
    }

    /// Replaces what was decided before. The executor comes first: it is the only part that can refuse.
    fn take_up(&mut self, equipment: Equipment) -> Result<(), Failure> {
        let Equipment { grants, gate, tools } = equipment;
        self.conversation.executor.regrant(tools, &gate).map_err(|error| run_failure(&error))?;
        self.conversation.files.changes.set_roots(undo::roots(&self.app, &grants));
        self.app.take_up(grants);
        self.conversation.gate = gate;
        self.renew_environment();
        Ok(())
    }

    fn tools_for(
        &self,
        plugins: &[LoadedPlugin],
        grants: &UserGrants,
        gate: &Gate,
        model: &Model,
    ) -> Result<Registry, Failure> {
        let Conversation { log, budget, outputs, switch, deferred, files, skills, .. } = &self.conversation;
        let context = setup::SubagentContext { session: log, observers: &self.observers, budget, gate, outputs };
        let tools = setup::Tools {
            app: &self.app,
            agents: &self.agents,
            plugins,
            grants,
            request: &self.request,
            model,
            recording: self.recording.as_ref(),
            switch: (self.attended == Attended::Yes).then_some(switch),
            deferred,
            files,
            skills,
        };
        tools.with_agents(&context)
    }
}

fn run_failure(error: &host_agent::RunError) -> Failure {
    let failure = Failure::from_error(ErrorKind::Configuration, error);
    Failure { help: error.advice(), ..failure }
}

#[cfg(test)]
mod tests;
