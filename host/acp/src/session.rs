//! One session of a client: a task that owns it and does one thing after the other.
//!
//! Promises: one prompt runs at a time; every request is answered once, and after all updates that belong to it; a
//! session that ends cancels its prompt and ends the programs that it started.
//!
//! Deliberately not here: what is decided about calls, modes and models (`host-app` and below).

mod command;

use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandsUpdate, ConfigOptionUpdate, ContentBlock, Cost, CurrentModeUpdate,
    NoticeSeverity, PromptResponse, SessionConfigOption, SessionId, SessionModeState, SessionUpdate,
    SetSessionConfigOptionResponse, SetSessionModeResponse, StopReason, UsageUpdate,
};
use host_agent::{PriceBasis, RunResult};
use host_app::app::{self, App, Opening, Tooling};
use host_app::attach::Attached;
use host_app::session::command::SessionCommand;
use host_app::session::hooks::SessionEnd;
use host_app::session::resume::Resume;
use host_app::session::{Session, SessionRequest};
use host_extensions::plugins::reload::ReloadTrigger;
use host_journal::{Left, TerminateReason};
use host_settings::configuration::Configuration;
use host_settings::error::{Failure, run_failure};
use host_settings::folder;
use host_settings::request::{AccessRequest, Attended, FolderRequest, McpServerRequest};
use host_text::{Notice, Wording};
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::calls::Tools;
use crate::commands::{self, Meaning};
use crate::connection::{Capabilities, Connection, Setup};
use crate::errors::{error, in_an_editor, not_now, run_error, words};
use crate::handle::{Handle, Job, Running};
use crate::options::{self, Chosen, Models};
use crate::outbox::Outbox;
use crate::prompt::Prompt;
use crate::questions::Asking;
use crate::replay;
use crate::updates::Updates;

/// Requests that may wait for a session while a prompt runs. Protects memory.
const WAITING: usize = 16;

/// How a session begins.
#[derive(Clone, Debug)]
pub(crate) enum Begins {
    /// As a new one.
    New,
    /// As it was, and the client is sent its conversation.
    Loads(SessionId),
    /// As it was; the client has its conversation.
    Resumes(SessionId),
}

impl Begins {
    fn resume(&self) -> Option<Resume> {
        match self {
            Self::New => None,
            Self::Loads(id) | Self::Resumes(id) => Some(Resume::WholeId(id.0.to_string())),
        }
    }
}

/// The request for a session.
pub(crate) struct Request {
    pub(crate) place: FolderRequest,
    pub(crate) mcp_servers: Vec<McpServerRequest>,
    pub(crate) begins: Begins,
    pub(crate) client: Capabilities,
    pub(crate) setup: Setup,
}

/// A session that was opened, for the client.
pub(crate) struct Opened {
    pub(crate) id: SessionId,
    pub(crate) modes: SessionModeState,
    pub(crate) options: Vec<SessionConfigOption>,
    pub(crate) configuration: Configuration,
}

/// Opens a session, and starts its task.
///
/// # Errors
///
/// If the folder, the configuration, a grant or the session to resume is invalid, or there is no model.
pub(crate) async fn open(
    request: Request,
    connection: Connection,
    outbox: Outbox,
    end: CancellationToken,
) -> Result<(Handle, Opened), Failure> {
    let Request { place, mcp_servers, begins, client, setup } = request;
    let (session, notices) = start(place, mcp_servers, begins.resume(), setup, &end).await?;
    let id = SessionId::new(session.id().as_str());
    let tools = Arc::new(Tools::new(&session));
    // Only if the client offers it: asking another one would be an error each time.
    if client.reads_files {
        crate::open_files::connect(&session, &connection, &id);
    }
    session.observers().add(Arc::new(Updates::new(id.clone(), outbox.clone(), Arc::clone(&tools))));
    let asking = Asking { connection, session: id.clone(), outbox: outbox.clone(), tools: Arc::clone(&tools) };
    // Questions are asked beside the session's task, which waits for the run.
    let asking = tokio::spawn(asking.ask_all(session.approvals().listen())).abort_handle();
    let models = Models::new(&session);
    let opened = Opened {
        id: id.clone(),
        modes: options::modes(&session),
        options: options::options(&session, &models),
        configuration: session.app().configuration().clone(),
    };
    // Replayed before the answer, as the protocol has it; resuming replays nothing.
    if let Begins::Loads(_) = begins {
        replay::send(&session, &id, &tools, &outbox)?;
        outbox.flush().await;
    }
    let (jobs, queue) = mpsc::channel(WAITING);
    let (running, begin) = (Running::default(), Arc::new(Notify::new()));
    let task = Task {
        session,
        id,
        outbox,
        models,
        running: Arc::clone(&running),
        end: end.clone(),
        has_title: !matches!(begins, Begins::New),
        listed: None,
        _asking: Ends(asking),
    };
    let task = tokio::spawn(task.run(queue, notices, Arc::clone(&begin)));
    Ok((Handle { jobs, running, begin, end, task }, opened))
}

/// Starts the session; returns with it what the user should know, which is collected, since the client does not know
/// the session yet.
async fn start(
    place: FolderRequest,
    servers: Vec<McpServerRequest>,
    resume: Option<Resume>,
    setup: Setup,
    end: &CancellationToken,
) -> Result<(Session, Vec<Notice>), Failure> {
    let folders = setup.environment.folders()?;
    let place = folder::configured(place, &setup.environment)?;
    // The project's trust is looked at before anything of it is used.
    let project = app::project(&place, &folders)?;
    let notices = Mutex::new(Vec::from_iter(project.note()));
    let notice = |note: &Notice| notices.lock().unwrap_or_else(PoisonError::into_inner).push(note.clone());
    // With the servers that the client hands over: they are its user's own.
    let access = AccessRequest { servers, ..setup.access };
    // What becomes part of an outcome is in the editor's terms, too.
    let tooling = Tooling { wording: Wording::new(in_an_editor), ..setup.tooling };
    let opening =
        Opening { place: &place, access: &access, project, environment: &setup.environment, tooling: &tooling };
    let app = App::open(opening, &notice, end).await?;
    let request = SessionRequest { run: setup.run, resume, has_prompt: true, attended: Attended::Yes };
    let mut session = Session::start(app, request).await?;
    let mut notices = notices.into_inner().unwrap_or_else(PoisonError::into_inner);
    notices.extend(session.take_notices().into_iter().chain(left(&session).map(Notice::from)));
    Ok((session, notices))
}

/// What the user has to know about the work that a resumed session has left.
fn left(session: &Session) -> Option<&'static str> {
    match session.left() {
        Left::Nothing => None,
        Left::Question => Some("the last prompt has no reply and is sent again with your next one"),
        Left::Outcomes => Some("the last prompt was not finished; it is continued with your next one"),
    }
}

/// A task that ends with this.
struct Ends(AbortHandle);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The owner of a session.
struct Task {
    session: Session,
    id: SessionId,
    outbox: Outbox,
    models: Models,
    running: Running,
    end: CancellationToken,
    has_title: bool,
    /// The commands that the client was told.
    listed: Option<Vec<AvailableCommand>>,
    _asking: Ends,
}

impl Task {
    async fn run(mut self, mut queue: mpsc::Receiver<Job>, notices: Vec<Notice>, begin: Arc<Notify>) {
        tokio::select! {
            // Nothing may be said of a session before the client knows it.
            () = begin.notified() => {}
            () = self.end.cancelled() => return,
        }
        self.push_commands();
        notices.iter().for_each(|notice| self.notice(NoticeSeverity::Warning, &in_an_editor(notice)));
        loop {
            let job = tokio::select! {
                biased;
                () = self.end.cancelled() => break,
                job = queue.recv() => job,
            };
            let Some(job) = job else { break };
            let answered = match job {
                Job::Prompt { blocks, cancel, responder } => self.prompt(blocks, &cancel, responder).await,
                Job::SetMode { id, responder } => {
                    let set = options::mode(&self.session, &id).and_then(|chosen| self.choose(&chosen));
                    responder.respond_with_result(set.map(|()| SetSessionModeResponse::new()))
                }
                Job::SetOption { id, value, responder } => {
                    let chosen = options::choice(&self.session, &self.models, &id, &value);
                    let set = chosen.and_then(|chosen| self.choose(&chosen));
                    let options = options::options(&self.session, &self.models);
                    responder.respond_with_result(set.map(|()| SetSessionConfigOptionResponse::new(options)))
                }
                Job::Models(models) => {
                    if self.models.add(models.iter().map(String::as_str)) {
                        self.push_options();
                    }
                    Ok(())
                }
            };
            if let Err(error) = answered {
                tracing::debug!(message = error.message, "a request has no answer");
            }
        }
        queue.close();
        while let Ok(job) = queue.try_recv() {
            // The connection may be gone.
            job.reject(not_now("the session has ended")).ok();
        }
        self.session.end(SessionEnd::Other).await;
    }

    async fn prompt(
        &mut self,
        blocks: Vec<ContentBlock>,
        cancel: &CancellationToken,
        responder: Responder<PromptResponse>,
    ) -> Result<(), Error> {
        // Two ways to cancel: the protocol's notification, and a cancelled request.
        let request = responder.cancellation();
        let (mode, model) = (self.session.mode(), self.session.model().id.clone());
        let ended = {
            let work = self.work(blocks, cancel);
            tokio::pin!(work);
            tokio::select! {
                ended = &mut work => ended,
                // A request that is cancelled ends as a prompt that is.
                () = request.cancelled() => {
                    cancel.cancel();
                    // Waited for, so that every call settles and the log has it.
                    work.await
                }
            }
        };
        let notices = self.session.take_notices();
        notices.iter().for_each(|notice| self.notice(NoticeSeverity::Warning, &in_an_editor(notice)));
        // The user may have switched while answering a question, or by a command.
        if self.session.mode() != mode || self.session.model().id != model {
            self.models.add([self.session.model().id.as_str()]);
            self.push(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(self.session.mode().name())));
            self.push_options();
        }
        self.push_usage();
        self.push_commands();
        // The answer comes behind all updates of the prompt.
        self.outbox.flush().await;
        // Before the answer: the client may send the next prompt as soon as it has this one.
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
        responder.respond_with_result(ended.map(PromptResponse::new))
    }

    /// Does what a prompt says.
    async fn work(&mut self, blocks: Vec<ContentBlock>, cancel: &CancellationToken) -> Result<StopReason, Error> {
        let prompt = Prompt::read(blocks)?;
        for line in self.session.reload(ReloadTrigger::FilesChanged).await {
            self.notice(NoticeSeverity::Info, &in_an_editor(&line));
        }
        let Prompt { words, supplied } = prompt;
        // With attachments it is a prompt, however it begins.
        let meaning = match supplied.is_empty() {
            true => commands::meaning(&words, self.session.app()),
            false => Meaning::Prompt(words.clone()),
        };
        let is_said = matches!(meaning, Meaning::Prompt(_) | Meaning::Command(SessionCommand::Custom(_)));
        if !self.has_title && is_said {
            self.push_title(&words);
        }
        let text = match meaning {
            Meaning::Prompt(text) => text,
            Meaning::Command(command) => return self.command(command, cancel).await,
            Meaning::Invalid(failure) => return Err(error(&failure)),
        };
        match self.session.attach_supplied(&text, supplied, cancel).await {
            Ok(attached) => self.run_prompt(attached, cancel).await,
            // A cancelled prompt is no error for the client.
            Err(_) if cancel.is_cancelled() => Ok(StopReason::Cancelled),
            Err(failure) => Err(error(&failure)),
        }
    }

    async fn run_prompt(&mut self, prompt: Attached, cancel: &CancellationToken) -> Result<StopReason, Error> {
        prompt.notes.iter().for_each(|note| self.notice(NoticeSeverity::Info, note));
        let result = self.session.prompt(prompt, cancel).await;
        self.stop_reason(&result)
    }

    /// How a run ended, for the client.
    fn stop_reason(&self, result: &RunResult) -> Result<StopReason, Error> {
        let Some(failure) = run_failure(result) else { return Ok(StopReason::EndTurn) };
        match result.terminate_reason {
            TerminateReason::Goal => Ok(StopReason::EndTurn),
            TerminateReason::Aborted => Ok(StopReason::Cancelled),
            TerminateReason::MaxTurns => {
                self.notice(NoticeSeverity::Warning, &words(&failure));
                Ok(StopReason::MaxTurnRequests)
            }
            TerminateReason::Timeout | TerminateReason::Error | TerminateReason::ErrorNoCompleteTaskCall => {
                Err(run_error(&failure))
            }
        }
    }

    /// Changes what a client chose, and reports it in both ways that clients know.
    fn choose(&mut self, chosen: &Chosen) -> Result<(), Error> {
        let changed = match chosen {
            Chosen::Mode(mode) => self.session.set_mode(*mode),
            Chosen::Model(id) => self.session.set_model(id),
        };
        changed.map_err(|failure| error(&failure))?;
        self.push(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(self.session.mode().name())));
        self.push_options();
        Ok(())
    }

    fn push(&self, update: SessionUpdate) {
        self.outbox.push(&self.id, update, 0);
    }

    /// Lists the commands, if they are not those that the client has: servers come and go.
    fn push_commands(&mut self) {
        let commands = commands::available(self.session.app());
        if self.listed.as_ref() != Some(&commands) {
            self.listed = Some(commands.clone());
            self.push(SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(commands)));
        }
    }

    fn push_options(&self) {
        let options = options::options(&self.session, &self.models);
        self.push(SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(options)));
    }

    /// Reports the use of the model's window and, if it is known, the cost in US dollars.
    fn push_usage(&self) {
        let window = self.session.window();
        let usage = UsageUpdate::new(window.total.tokens(), window.window);
        // Configured prices are in a currency that only the user knows.
        let listed = self.session.costs().charge().filter(|charge| matches!(charge.basis, PriceBasis::Listed(_)));
        let usage = usage.cost(listed.map(|charge| Cost::new(charge.cost.amount(), "USD")));
        self.push(SessionUpdate::UsageUpdate(usage));
    }

    fn notice(&self, severity: NoticeSeverity, text: &str) {
        self.outbox.notice(&self.id, severity, text);
    }
}
