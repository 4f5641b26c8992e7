//! The server: every tool of the application, for agents that are not ours.
//!
//! Owns what a client sees of the tools and how its requests become calls, on standard streams and on HTTP, in the
//! revision 2026-07-28 (no handshake, questions as `input_required`) and in those before it (`initialize`, questions as
//! `elicitation/create`).
//!
//! Promises: a call goes through the registry, gate and sandbox of a run; no request grants or loads anything; what a
//! client sends or leaves open is limited; when the client goes, its calls end.
//!
//! Deliberately not here: prompts, resources, sampling, roots and logging; which tools there are and what a call may
//! touch (`host-extensions`).

mod bounded;
mod call;
mod definitions;
mod form;
mod http;
mod outcome;
mod parked;
mod progress;
mod token;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use host_app::tool_service::ToolService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use self::bounded::BoundedTransport;
use self::call::{RunningCall, Step};
use self::form::Asks;
pub use self::http::{HttpOptions, serve_http};
use self::parked::{ParkedCall, ParkedCalls};
use self::progress::Reporter;
pub use self::token::Token;

/// The longest message of a client, in bytes: a line on standard input, a body on HTTP. Protects memory. It has room
/// for a file that a call writes.
const MAX_MESSAGE: usize = 4 << 20;

/// The most calls at the same time, those that wait for an answer included. Protects memory, and the machine from a
/// client that starts programs without end.
const MAX_CALLS: usize = 64;

/// Maximum number of tools in a page of the list. Most users have fewer in all.
const PAGE: usize = 500;

/// How long the calls of a client that is gone may take to end: the grace of a call, and a little more.
const ENDING: Duration = Duration::from_secs(3);

/// What a client is told of the server as a whole.
const INSTRUCTIONS: &str = "Tools for the repository that this server was started in. Each call runs in a sandbox with \
    what the user granted; a call that needs more asks the user, or is denied with the reason.";

/// Why a server stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client did not speak the protocol.
    #[error("the client's first message was not a request of the Model Context Protocol")]
    Handshake(#[source] Box<ServerInitializeError>),
    /// No further connection can be accepted.
    #[error("cannot accept connections")]
    Accept(#[source] std::io::Error),
    /// The task that served the client was lost.
    #[error("the connection was lost")]
    Lost(#[source] tokio::task::JoinError),
}

/// Serves one client on a pair of streams until it closes its side, or `stop` is cancelled. Then its calls end.
///
/// # Errors
///
/// If the client does not speak the protocol.
pub async fn serve_stdio<R, W>(
    service: Arc<ToolService>,
    input: R,
    output: W,
    stop: CancellationToken,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let server = ToolServer::new(service);
    let shared = Arc::clone(&server.shared);
    let lines = AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_MESSAGE);
    let ended = match server.serve_with_ct(BoundedTransport::new(lines), stop).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(ServeError::Lost),
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(ServeError::Handshake(Box::new(error))),
    };
    shared.end().await;
    ended
}

/// The server for one client, or for one request of a client without a session. Clones share everything.
#[derive(Clone)]
struct ToolServer {
    shared: Arc<Shared>,
}

struct Shared {
    service: Arc<ToolService>,
    tools: Vec<Tool>,
    /// A permit for each call.
    slots: Arc<Semaphore>,
    parked: ParkedCalls,
}

impl Shared {
    /// Waits until the calls that were cancelled have ended.
    async fn end(&self) {
        self.parked.clear();
        let all = u32::try_from(MAX_CALLS).unwrap_or(u32::MAX);
        // What does not end by itself is dropped with the process.
        tokio::time::timeout(ENDING, self.slots.acquire_many(all)).await.ok();
    }
}

impl ToolServer {
    fn new(service: Arc<ToolService>) -> Self {
        let tools = service.specs().into_iter().map(definitions::tool).collect();
        let slots = Arc::new(Semaphore::new(MAX_CALLS));
        Self { shared: Arc::new(Shared { service, tools, slots, parked: ParkedCalls::default() }) }
    }

    /// Runs a call until it ends or has to wait for an answer that comes with another request.
    async fn run(&self, mut call: RunningCall, context: &RequestContext<RoleServer>) -> CallToolResponse {
        let mut reporter = Reporter::from_request(context);
        let asks = Asks::from_request(context);
        loop {
            let step = tokio::select! {
                biased;
                // A cancelled call is waited for, so that nothing of it goes on behind its answer.
                () = context.ct.cancelled() => {
                    return outcome::result(call.cancelled().await).into();
                }
                step = call.next(&mut reporter) => step,
            };
            match (step, asks) {
                (Step::Ended(ended), _) => return outcome::result(*ended).into(),
                // Older revisions ask while the call is open.
                (Step::Asked { id, question }, Asks::InRequest) => {
                    let waits = tokio::select! {
                        biased;
                        // Back to the loop, where the cancelled call ends.
                        () = context.ct.cancelled() => continue,
                        answered = form::ask(&context.peer, &question, context.protocol_version()) => answered,
                    };
                    match waits {
                        Some(answer) => call.answer(id, answer),
                        // The client cannot ask its user after all.
                        None => call.leave(),
                    }
                }
                // Newer ones end the request with the question, and the call waits for the next one.
                (Step::Asked { id, question }, Asks::InResult) => {
                    return match form::required(&question) {
                        // Kept within bounds: a client may never come back.
                        Some(requests) => self.shared.parked.park(ParkedCall { call, id, question }, requests),
                        None => {
                            call.leave();
                            continue;
                        }
                    };
                }
                // Without a listener there is no question.
                (Step::Asked { .. }, Asks::Nobody) => call.leave(),
            }
        }
    }

    /// Continues the call that waits for the answer in this request. Without an answer it is asked about again.
    async fn resume(
        &self,
        state: &str,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, input_responses, .. } = request;
        let parked = self.shared.parked.take(state, &name, &arguments.unwrap_or_default());
        let ParkedCall { mut call, id, question } = parked.map_err(|error| {
            ErrorData::invalid_params(format!("{error}; call the tool again without `requestState`"), None)
        })?;
        match (input_responses.unwrap_or_default().remove(form::KEY), form::required(&question)) {
            (Some(answered), _) => call.answer(id, form::of_response(answered, &question)),
            (None, Some(requests)) => return Ok(self.shared.parked.park(ParkedCall { call, id, question }, requests)),
            (None, None) => call.leave(),
        }
        Ok(self.run(call, context).await)
    }
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let implementation = Implementation::new("host", env!("CARGO_PKG_VERSION")).with_title("host");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = &self.shared.tools;
        let from = match request.and_then(|request| request.cursor) {
            None => 0,
            Some(cursor) => {
                cursor.parse().ok().filter(|from| *from > 0 && *from < tools.len()).ok_or_else(|| {
                    ErrorData::invalid_params("unknown cursor: list the tools from the beginning", None)
                })?
            }
        };
        let until = from.saturating_add(PAGE).min(tools.len());
        let mut page = ListToolsResult::with_all_items(tools[from..until].to_vec());
        page.next_cursor = (until < tools.len()).then(|| until.to_string());
        Ok(page)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(state) = request.request_state.take() {
            return self.resume(&state, request, &context).boxed().await;
        }
        // An answer without a state belongs to no call: this one is new, and is asked about.
        if !self.shared.service.has(&request.name) {
            return Err(ErrorData::invalid_params(self.shared.service.unknown(&request.name), None));
        }
        let Ok(slot) = Arc::clone(&self.shared.slots).try_acquire_owned() else {
            let words = format!("not run: {MAX_CALLS} calls are running or waiting for an answer; call again later");
            return Ok(CallToolResult::error(vec![ContentBlock::text(words)]).into());
        };
        let asks = Asks::from_request(&context);
        let arguments = request.arguments.unwrap_or_default();
        let call = RunningCall::start(&self.shared.service, request.name.into_owned(), arguments, asks, slot);
        // What the library spawns for each request has room for the largest that any of them needs, and is moved a few
        // times.
        Ok(self.run(call, &context).boxed().await)
    }
}
