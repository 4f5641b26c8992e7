//! The agent's side of the protocol: each request checked, answered or handed to its session.
//!
//! Promises: a request about a session that is not open is an error; a session is open once it was started, loaded or
//! resumed in this process, by its exact id. Handlers return at once: what takes time is a task of its own, and a
//! request that the client cancels while it works is dropped.
//!
//! Deliberately not here: the work of a session (`session`).

mod opening;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthMethod, AuthMethodAgent, AuthMethodId, AuthenticateRequest, AuthenticateResponse,
    CancelNotification, CloseSessionRequest, CloseSessionResponse, Implementation, InitializeRequest,
    InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest, LoadSessionResponse,
    McpCapabilities, NewSessionRequest, NewSessionResponse, PromptCapabilities, PromptRequest, PromptResponse,
    ResumeSessionRequest, ResumeSessionResponse, SessionCapabilities, SessionCloseCapabilities, SessionId,
    SessionListCapabilities, SessionResumeCapabilities, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
    SetSessionModeRequest, SetSessionModeResponse,
};
use agent_client_protocol::{Error, JsonRpcResponse};
use futures::future::join_all;
use host_settings::configuration::Configuration;
use host_settings::models;
use host_text::excerpt;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::connection::{Capabilities, Connection, Setup};
use crate::errors::{error, invalid, not_found, not_now};
use crate::handle::{Handle, Job};
use crate::outbox::Outbox;
use crate::session::Begins;

/// How long all sessions may take to end with the connection: a cancelled call has this long to end by itself.
const ENDING: Duration = Duration::from_secs(5);

/// The most requests that are worked on beside the prompts of sessions. Protects memory from a client that floods the
/// agent.
const MAX_REQUESTS: usize = 64;

/// The id of the one way to authenticate.
const KEY: &str = "model-key";

/// How much of an unknown id a message repeats, in characters.
const SHOWN: usize = 64;

/// The agent that one client is connected with.
pub(crate) struct Agent {
    setup: Setup,
    outbox: Outbox,
    state: Mutex<State>,
    /// What is under way and belongs to no session.
    tasks: Mutex<JoinSet<()>>,
    /// The models that services list, asked for once.
    listed: Arc<OnceCell<Vec<String>>>,
    end: CancellationToken,
}

#[derive(Default)]
struct State {
    client: Option<Capabilities>,
    sessions: HashMap<SessionId, Handle>,
    opening: usize,
}

impl Agent {
    /// Creates an agent without sessions.
    pub(crate) fn new(setup: Setup, outbox: Outbox) -> Self {
        let (state, tasks, listed, end) = Default::default();
        Self { setup, outbox, state, tasks, listed, end }
    }

    /// Answers the first message of a client.
    pub(crate) fn initialize(&self, request: InitializeRequest) -> InitializeResponse {
        let client = request.client_capabilities;
        if client.session.is_some_and(|session| session.notices.is_some()) {
            self.outbox.has_notices();
        }
        // What the client can do is known from here on; before it no request is answered.
        self.state().client = Some(Capabilities { reads_files: client.fs.read_text_file });
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
            .mcp_capabilities(McpCapabilities::new().http(true))
            .session_capabilities(sessions);
        let key = AuthMethodAgent::new(KEY, "Key of a model service").description(
            "Run `host` in a terminal once: it helps to choose a model and saves its key. Or set GEMINI_API_KEY or the \
             key of another service in the environment of the editor."
                .to_owned(),
        );
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .auth_methods(vec![AuthMethod::Agent(key)])
            .agent_info(Implementation::new("host", env!("CARGO_PKG_VERSION")).title("host".to_owned()))
    }

    /// Checks that there is a model to be asked: keys are set outside of the protocol.
    pub(crate) fn authenticate(
        &self,
        request: &AuthenticateRequest,
        responder: Responder<AuthenticateResponse>,
    ) -> Result<(), Error> {
        if let Err(error) = self.client() {
            return responder.respond_with_error(error);
        }
        if request.method_id != AuthMethodId::new(KEY) {
            let message = format!("there is no way to authenticate `{}`", excerpt(&request.method_id.0, SHOWN));
            return responder.respond_with_error(invalid(message, format!("use `{KEY}`")));
        }
        let setup = self.setup.clone();
        self.work(responder, async move {
            let folders = setup.environment.folders()?;
            let configuration = Configuration::read(&setup.environment, &folders, None)?;
            models::choose(setup.run.model.as_deref(), &configuration, &setup.environment).await?;
            Ok(AuthenticateResponse::new())
        })
    }

    /// Starts a session.
    pub(crate) fn new_session(
        self: &Arc<Self>,
        request: NewSessionRequest,
        responder: Responder<NewSessionResponse>,
        connection: Connection,
    ) -> Result<(), Error> {
        let NewSessionRequest { cwd, additional_directories, mcp_servers, .. } = request;
        let request = self.request(cwd, &additional_directories, mcp_servers, Begins::New);
        self.open(request, responder, connection, |opened| {
            NewSessionResponse::new(opened.id).modes(opened.modes).config_options(opened.options)
        })
    }

    /// Resumes a session, and sends its conversation first.
    pub(crate) fn load_session(
        self: &Arc<Self>,
        request: LoadSessionRequest,
        responder: Responder<LoadSessionResponse>,
        connection: Connection,
    ) -> Result<(), Error> {
        let LoadSessionRequest { cwd, additional_directories, mcp_servers, session_id, .. } = request;
        let request = self.request(cwd, &additional_directories, mcp_servers, Begins::Loads(session_id));
        self.open(request, responder, connection, |opened| {
            LoadSessionResponse::new().modes(opened.modes).config_options(opened.options)
        })
    }

    /// Resumes a session whose conversation the client has.
    pub(crate) fn resume_session(
        self: &Arc<Self>,
        request: ResumeSessionRequest,
        responder: Responder<ResumeSessionResponse>,
        connection: Connection,
    ) -> Result<(), Error> {
        let ResumeSessionRequest { cwd, additional_directories, mcp_servers, session_id, .. } = request;
        let request = self.request(cwd, &additional_directories, mcp_servers, Begins::Resumes(session_id));
        self.open(request, responder, connection, |opened| {
            ResumeSessionResponse::new().modes(opened.modes).config_options(opened.options)
        })
    }

    /// Lists the recorded sessions, a page at a time.
    pub(crate) fn list_sessions(
        &self,
        request: ListSessionsRequest,
        responder: Responder<ListSessionsResponse>,
    ) -> Result<(), Error> {
        if let Err(error) = self.client() {
            return responder.respond_with_error(error);
        }
        let environment = self.setup.environment.clone();
        self.work(responder, async move {
            let listed = tokio::task::spawn_blocking(move || crate::listing::list(&environment, request)).await;
            listed.unwrap_or_else(|error| Err(host_settings::error::Failure::configuration(error.to_string())))
        })
    }

    /// Ends a session and what it started.
    pub(crate) fn close_session(
        &self,
        request: &CloseSessionRequest,
        responder: Responder<CloseSessionResponse>,
    ) -> Result<(), Error> {
        let handle = match self.client() {
            Ok(_) => self.state().sessions.remove(&request.session_id),
            Err(error) => return responder.respond_with_error(error),
        };
        let Some(handle) = handle else { return responder.respond_with_error(not_open(&request.session_id)) };
        self.work(responder, async move {
            handle.end(ENDING).await;
            Ok(CloseSessionResponse::new())
        })
    }

    /// Runs a prompt in its session.
    pub(crate) fn prompt(&self, request: PromptRequest, responder: Responder<PromptResponse>) -> Result<(), Error> {
        let begun = self.with(&request.session_id, |handle| handle.begin_prompt());
        match begun.and_then(|begun| begun) {
            Ok((jobs, cancel)) => send(&jobs, Job::Prompt { blocks: request.prompt, cancel, responder }),
            Err(error) => responder.respond_with_error(error),
        }
    }

    /// Stops the prompt of a session. Without one there is nothing to do.
    pub(crate) fn cancel(&self, request: &CancelNotification) {
        if self.with(&request.session_id, Handle::cancel).is_err() {
            tracing::debug!("a session was to be cancelled that is not open");
        }
    }

    /// Changes the approval mode of a session, after the prompt that runs.
    pub(crate) fn set_mode(
        &self,
        request: &SetSessionModeRequest,
        responder: Responder<SetSessionModeResponse>,
    ) -> Result<(), Error> {
        match self.with(&request.session_id, Handle::jobs) {
            Ok(jobs) => send(&jobs, Job::SetMode { id: request.mode_id.0.to_string(), responder }),
            Err(error) => responder.respond_with_error(error),
        }
    }

    /// Changes an option of a session, after the prompt that runs.
    pub(crate) fn set_option(
        &self,
        request: SetSessionConfigOptionRequest,
        responder: Responder<SetSessionConfigOptionResponse>,
    ) -> Result<(), Error> {
        match self.with(&request.session_id, Handle::jobs) {
            Ok(jobs) => {
                send(&jobs, Job::SetOption { id: request.config_id.0.to_string(), value: request.value, responder })
            }
            Err(error) => responder.respond_with_error(error),
        }
    }

    /// Ends all sessions and what they started, and what else is under way.
    pub(crate) async fn end(&self) {
        self.end.cancel();
        let handles: Vec<Handle> = self.state().sessions.drain().map(|(_, handle)| handle).collect();
        join_all(handles.into_iter().map(|handle| handle.end(ENDING))).await;
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.shutdown().await;
    }

    /// The client, if it has introduced itself.
    fn client(&self) -> Result<Capabilities, Error> {
        self.state().client.ok_or_else(|| not_now("the connection begins with `initialize`"))
    }

    fn with<T>(&self, id: &SessionId, work: impl FnOnce(&Handle) -> T) -> Result<T, Error> {
        self.client()?;
        self.state().sessions.get(id).map(work).ok_or_else(|| not_open(id))
    }

    /// Does the work of a request beside the connection, and answers it.
    fn work<T: JsonRpcResponse + 'static>(
        &self,
        responder: Responder<T>,
        work: impl Future<Output = Result<T, host_settings::error::Failure>> + Send + 'static,
    ) -> Result<(), Error> {
        if let Err(error) = self.has_room() {
            return responder.respond_with_error(error);
        }
        self.spawn(async move {
            let cancelled = responder.cancellation();
            let result = cancelled.run_until_cancelled(async { work.await.map_err(|failure| error(&failure)) }).await;
            if let Err(error) = responder.respond_with_result(result) {
                tracing::debug!(message = error.message, "a request has no answer");
            }
        });
        Ok(())
    }

    /// Checks that another request can be worked on.
    fn has_room(&self) -> Result<(), Error> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        if tasks.len() < MAX_REQUESTS { Ok(()) } else { Err(not_now("too many requests at once; wait for answers")) }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        if !self.end.is_cancelled() {
            tasks.spawn(task);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is complete before a panic could occur.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands a job to a session that has room for it.
fn send(jobs: &tokio::sync::mpsc::Sender<Job>, job: Job) -> Result<(), Error> {
    jobs.try_send(job).or_else(|rejected| match rejected {
        tokio::sync::mpsc::error::TrySendError::Full(job) => {
            job.reject(not_now("too many requests wait for the session"))
        }
        tokio::sync::mpsc::error::TrySendError::Closed(job) => job.reject(not_now("the session is ending")),
    })
}

fn not_open(id: &SessionId) -> Error {
    let shown = excerpt(&id.0, SHOWN);
    not_found(format!("the session `{shown}` is not open"), "start, load or resume it first")
}
