//! One request to a server and its answer: limits of time, the questions in between, and cancelling.
//!
//! Promises: a request is never repeated by itself, since it may have had its effect, except when the server asks for
//! input and says to send it again with the answers; one that is dropped or takes too long is cancelled at the server.

use std::sync::Arc;
use std::time::Duration;

use host_capability::McpServerName;
use host_plugin::{CallListener, McpError};
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, InputRequest, InputRequests, InputResponses,
    RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};

use super::activity::{Requests, UnderWay};
use super::challenge::Challenge;
use super::end::End;
use super::{failures, questions};

/// The longest request to an MCP server in all, however much progress it reports. Protects the run from a server that
/// never ends: builds take long.
pub(super) const TOTAL_LIMIT: Duration = Duration::from_secs(3600);

/// How often an MCP server may ask for input before it answers. Protects the user from questions without end.
const MAX_ROUNDS: usize = 10;

/// The most questions that an MCP server asks at once. See [`MAX_ROUNDS`].
const MAX_QUESTIONS: usize = 10;

/// The pause before a request is sent again for a server that only asked for that. Protects the server.
const PAUSE: Duration = Duration::from_secs(1);

/// Sends requests to one server.
pub(super) struct Exchange {
    pub(super) server: McpServerName,
    pub(super) peer: Peer<RoleClient>,
    pub(super) requests: Arc<Requests>,
    /// The longest silence.
    pub(super) silence: Duration,
    /// Gets what the server answers when it wants the user to log in.
    pub(super) challenge: Challenge,
    /// Has how the server's program ended.
    pub(super) end: End,
    /// Hears of progress, and asks the user.
    pub(super) listener: Arc<dyn CallListener>,
    /// What an answer that does not come means, for the end of an error.
    pub(super) consequence: &'static str,
}

impl Exchange {
    /// Sends a request and returns the answer.
    pub(super) async fn send(&self, request: ClientRequest) -> Result<ServerResult, McpError> {
        let under_way = self.requests.begin(Arc::clone(&self.listener));
        self.send_as(request, &under_way).await
    }

    async fn send_as(&self, request: ClientRequest, under_way: &UnderWay) -> Result<ServerResult, McpError> {
        let failed = |error: ServiceError| {
            self.challenge.set(error.auth_challenge());
            failures::of_request(&self.server, &error, &self.end, self.consequence)
        };
        under_way.activity.heard();
        let sending = self.peer.send_request_with_option(request, PeerRequestOptions::no_options());
        let mut handle = sending.await.map_err(failed)?;
        // Before the wait: progress can come before the answer, and is known by this token.
        under_way.sent_as(handle.id.clone(), handle.progress_token.clone());
        // Cancels at the server when this future is dropped.
        let mut unanswered = Unanswered { peer: &self.peer, id: Some(handle.id.clone()) };
        tokio::select! {
            // An answer that came in time counts, even if the limit passes in the same moment.
            biased;
            answer = &mut handle.rx => {
                // An answered request must not be cancelled.
                unanswered.id = None;
                answer.unwrap_or(Err(ServiceError::TransportClosed)).map_err(failed)
            }
            // Progress makes the silence start again, and the total limit holds all the same.
            limit = under_way.activity.over(self.silence, TOTAL_LIMIT) => Err(McpError::Unavailable(format!(
                "the MCP server `{}` did not answer within {}, so the request was cancelled; {}",
                self.server,
                seconds(limit),
                self.consequence
            ))),
        }
    }

    /// Sends a request, answers what the server asks, and sends it again with the answers, until the server has
    /// answered it.
    pub(super) async fn send_with_input(
        &self,
        request: impl Fn(Option<InputResponses>, Option<String>) -> ClientRequest + Send + Sync,
    ) -> Result<ServerResult, McpError> {
        let under_way = self.requests.begin(Arc::clone(&self.listener));
        let mut sent = request(None, None);
        for _ in 0..MAX_ROUNDS {
            let asked = match self.send_as(sent, &under_way).await? {
                ServerResult::InputRequiredResult(asked) => asked,
                answer => return Ok(answer),
            };
            let answers = match &asked.input_requests {
                Some(questions) => Some(self.ask(questions, &under_way).await?),
                None => {
                    tokio::time::sleep(PAUSE).await;
                    None
                }
            };
            sent = request(answers, asked.request_state);
        }
        Err(self.protocol(format!("asked for input over {MAX_ROUNDS} times")))
    }

    /// Asks the user what a server wants to know, one question after another.
    pub(super) async fn ask(&self, asked: &InputRequests, under_way: &UnderWay) -> Result<InputResponses, McpError> {
        if asked.len() > MAX_QUESTIONS {
            return Err(self.protocol(format!("asked over {MAX_QUESTIONS} questions at once")));
        }
        let mut answers = InputResponses::new();
        for (key, request) in asked {
            let InputRequest::Elicitation(request) = request else {
                return Err(self.protocol("asked for what this client does not offer".to_owned()));
            };
            let question = questions::question(&self.server, &request.params)
                .map_err(|why| self.protocol(format!("asked a question that cannot be shown: {why}")))?;
            let answer = under_way.activity.ask(&*self.listener, question).await;
            let answer = serde_json::to_value(questions::answer(answer, &request.params))
                .map_err(|error| self.protocol(format!("gets no answer: {error}")))?;
            answers.insert(key.clone(), answer);
        }
        Ok(answers)
    }

    /// Returns the error of an answer that is not what the protocol says.
    pub(super) fn protocol(&self, what: String) -> McpError {
        McpError::Protocol(format!("the MCP server `{}` {what}", self.server))
    }
}

/// A duration in words.
pub(super) fn seconds(limit: Duration) -> String {
    match limit.as_secs() {
        0 => format!("{} ms", limit.as_millis()),
        seconds => host_text::counted(seconds, "second"),
    }
}

/// A request without an answer. Dropping it cancels the request at the server.
struct Unanswered<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let peer = self.peer.clone();
        let cancelled = CancelledNotificationParam::new(Some(id), None);
        runtime.spawn(async move { peer.send_notification(CancelledNotification::new(cancelled).into()).await.ok() });
    }
}
