//! A transport that limits what a client may leave open on its streams.
//!
//! Promises: no more than [`MAX_REQUESTS`] requests are without an answer; one beyond that is refused, and nothing else
//! is read until the refusal was written, so that a client which does not read cannot fill the memory; an id that is in
//! use is refused; what comes before the first request of a session does not end it.

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetMeta as _, JsonRpcMessage, ProtocolVersion,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;

/// The most requests of a client without an answer. Protects memory from a client that asks and does not read.
const MAX_REQUESTS: usize = 128;

/// A transport with limits around another one.
pub(super) struct BoundedTransport<T: Transport<RoleServer>> {
    inner: T,
    open: Open,
    /// The refusal that is being written.
    refusing: Option<BoxFuture<'static, Result<(), T::Error>>>,
    /// Whether the client has begun: with `initialize`, or with a request that has everything in itself.
    has_begun: bool,
}

/// The ids of the requests without an answer.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<HashSet<RequestId>>>);

impl Open {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request, unless it has to be refused.
    fn add(&self, id: &RequestId) -> Result<(), ErrorData> {
        let mut ids = self.ids();
        if ids.contains(id) {
            return Err(ErrorData::invalid_request("a request with this id is not answered yet", None));
        }
        if ids.len() >= MAX_REQUESTS {
            let words = format!("{MAX_REQUESTS} requests are not answered yet; wait for some of them");
            return Err(ErrorData::invalid_request(words, None));
        }
        ids.insert(id.clone());
        Ok(())
    }
}

impl<T: Transport<RoleServer>> BoundedTransport<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, open: Open::default(), refusing: None, has_begun: false }
    }

    /// Returns the message, if it is to be handled.
    fn admitted(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request) => {
                if let Err(error) = self.open.add(&request.id) {
                    let refusal = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
                    self.refusing = Some(self.inner.send(refusal).boxed());
                    return None;
                }
                self.has_begun |= begins(&request.request);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // It gets no answer any more.
                    self.open.ids().remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        let is_request = matches!(message, JsonRpcMessage::Request(_));
        (is_request || self.has_begun).then_some(message)
    }
}

/// Whether a session can begin with this request.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        _ => request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty(),
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for BoundedTransport<T> {
    type Error = T::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let open = self.open.clone();
        // It holds the message, and is moved a few times.
        let sent = self.inner.send(item).boxed();
        async move {
            let sent = sent.await;
            if let Some(id) = answered {
                open.ids().remove(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // It stays here if this future is dropped.
            if let Some(refusing) = &mut self.refusing {
                let written = refusing.await;
                self.refusing = None;
                written.ok()?;
            }
            let message = self.inner.receive().await?;
            if let Some(message) = self.admitted(message) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
