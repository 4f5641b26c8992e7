//! What a server sends by itself: progress, changes of its lists, and questions to the user.
//!
//! Declared is what is supported: elicitation, and tasks. Roots, sampling and logging are deprecated and not declared.

use std::sync::Arc;

use host_capability::McpServerName;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability, ErrorData,
    FormElicitationCapability, Implementation, ProgressNotificationParam, ProtocolVersion, TASKS_EXTENSION_ID,
    UrlElicitationCapability,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient};
use tokio::sync::Notify;

use super::activity::Requests;
use super::questions;

/// The newest revision that begins with a handshake, which servers of that time are asked for.
const HANDSHAKE: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// Answers what a server sends by itself.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    server: McpServerName,
    requests: Arc<Requests>,
    changed: Arc<Notify>,
}

impl Handler {
    /// Creates the handler of a server. `changed` is notified when a list changed.
    pub(super) fn new(server: McpServerName, requests: Arc<Requests>, changed: Arc<Notify>) -> Self {
        Self { server, requests, changed }
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        capabilities.extensions = Some([(TASKS_EXTENSION_ID.to_owned(), serde_json::Map::new())].into_iter().collect());
        let program = Implementation::new("host", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, program).with_protocol_version(HANDSHAKE)
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let question = questions::question(&self.server, &asked).map_err(|why| ErrorData::invalid_params(why, None))?;
        let origin = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            Some(InboundStreamOrigin::Unassociated) | None => None,
        };
        let answer = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(ErrorData::invalid_request("the question was cancelled", None)),
            answer = self.requests.elicit(origin, question) => answer,
        };
        Ok(questions::answer(answer, &asked))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.requests.progress(&progress);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
