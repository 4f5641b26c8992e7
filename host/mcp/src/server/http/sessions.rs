//! The sessions of clients of revisions that have sessions, as many as are allowed.

use std::time::Duration;

use futures::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

/// The most sessions at the same time. Protects memory: each has tasks and buffers of its own.
const MAX_SESSIONS: usize = 64;

/// How long a session lives in which nothing happens. A client that comes back later begins a new one.
const IDLE_LIMIT: Duration = Duration::from_secs(60 * 60);

/// Sessions in memory, with a limit.
pub(super) struct BoundedSessions(LocalSessionManager);

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    /// There are too many.
    #[error("there are {MAX_SESSIONS} sessions; close one, or wait until one has been idle for an hour")]
    TooMany,
    /// Whatever else is wrong.
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl BoundedSessions {
    pub(super) fn new() -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(IDLE_LIMIT);
        Self(sessions)
    }
}

impl SessionManager for BoundedSessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        if self.0.sessions.read().await.len() >= MAX_SESSIONS {
            return Err(SessionsError::TooMany);
        }
        Ok(self.0.create_session().await?)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.0.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.0.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        Ok(self.0.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.0.create_stream(id, message).await?)
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        Ok(self.0.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.0.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.0.resume(id, last_event_id).await?)
    }
}
