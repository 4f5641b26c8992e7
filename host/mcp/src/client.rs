//! The client: the servers that a user configured, each kept connected by a task of its own.
//!
//! Owns the revisions and transports of the protocol, the login at a server, and what is known of each server.
//! Promises: no server delays the start; a call is made with a permit, once, and cancelled at the server when it is
//! dropped; whatever a server sends is limited in size where it enters.
//!
//! Deliberately not here: which servers there are, who is asked what, and what becomes a tool.

mod activity;
mod call;
mod challenge;
mod connection;
mod content;
mod end;
mod exchange;
mod failures;
mod handler;
mod lines;
mod lists;
mod login;
mod program;
mod questions;
mod remote;
mod revisions;
mod server;
mod shared;
mod tokens;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use host_capability::{McpPermit, McpServerName};
use host_message::OutputPart;
use host_plugin::{Answering, CallListener, McpClient, McpError};
use host_settings::mcp::{McpConnector, McpMessage, McpServers, McpSetup, McpStatus, McpTransport};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use connection::Opener;
use shared::Shared;

/// How long a call waits for an MCP server that is still being connected. Protects the run.
const START_LIMIT: Duration = Duration::from_secs(30);

/// What an answer that does not come means for a call.
const CALL: &str = "the call may have had its effect: find out before you repeat it";

/// What an answer that does not come means for what only reads.
const READING: &str = "try again later";

/// Connects servers of the Model Context Protocol. Must be used within a tokio runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct Connector;

impl McpConnector for Connector {
    fn connect(&self, setup: McpSetup) -> Arc<dyn McpServers> {
        let (counter, changes) = watch::channel(0);
        let McpSetup { servers, runtime, folder } = setup;
        let connect = |config| {
            let shared = Arc::new(Shared::new(config, counter.clone()));
            let opener = || Opener { runtime: Arc::clone(&runtime), folder: folder.clone() };
            let task = tokio::spawn(server::run(Arc::clone(&shared), opener()));
            Server { shared, opener: opener(), task }
        };
        Arc::new(Servers { servers: servers.into_iter().map(connect).collect(), changes })
    }
}

/// The servers of a session.
struct Servers {
    servers: Vec<Server>,
    changes: watch::Receiver<u64>,
}

/// One server. Dropping it ends its task, and so its connection and its program.
struct Server {
    shared: Arc<Shared>,
    opener: Opener,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Servers {
    fn server(&self, name: &McpServerName) -> Result<&Server, McpError> {
        let found = self.servers.iter().find(|server| server.shared.config.name == *name);
        found.ok_or_else(|| McpError::NotFound(format!("there is no MCP server `{name}`")))
    }
}

/// Waits a moment for a server that is being connected for the first time.
async fn started(shared: &Shared, mut changes: watch::Receiver<u64>) {
    let started = async { while shared.is_starting() && changes.changed().await.is_ok() {} };
    // What is still away then says so.
    tokio::time::timeout(START_LIMIT, started).await.ok();
}

/// Connects a server anew if the failure shows that it has to be.
fn noticed<T>(shared: &Shared, answer: Result<T, McpError>) -> Result<T, McpError> {
    if answer.as_ref().err().is_some_and(failures::shows_that_it_is_away) {
        shared.again.notify_one();
    }
    answer
}

impl McpClient for Servers {
    fn only_reads(&self, server: &McpServerName, tool: &str) -> bool {
        self.server(server).is_ok_and(|server| server.shared.only_reads(tool))
    }

    fn is_program(&self, server: &McpServerName) -> bool {
        self.server(server).is_ok_and(|server| matches!(server.shared.config.transport, McpTransport::Program(_)))
    }

    fn call(&self, permit: McpPermit, arguments: Map<String, Value>, listener: Arc<dyn CallListener>) -> Answering {
        let (shared, changes) = match self.server(permit.server()) {
            Ok(server) => (Arc::clone(&server.shared), self.changes.clone()),
            Err(error) => return Box::pin(async { Err(error) }),
        };
        Box::pin(async move {
            started(&shared, changes).await;
            let exchange = shared.exchange(listener, CALL)?;
            noticed(&shared, call::tool(&exchange, permit.tool(), arguments).await)
        })
    }
}

impl McpServers for Servers {
    fn statuses(&self) -> Vec<McpStatus> {
        self.servers.iter().map(|server| server.shared.status()).collect()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }

    fn settled<'a>(&'a self, which: &'a (dyn Fn(&McpServerName) -> bool + Send + Sync)) -> BoxFuture<'a, ()> {
        let mut changes = self.changes.clone();
        Box::pin(async move {
            let is_awaited = |server: &Server| server.shared.is_starting() && which(&server.shared.config.name);
            while self.servers.iter().any(is_awaited) && changes.changed().await.is_ok() {}
        })
    }

    fn resource<'a>(
        &'a self,
        server: &'a McpServerName,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Vec<OutputPart>, McpError>> {
        Box::pin(async move {
            let shared = &self.server(server)?.shared;
            started(shared, self.changes.clone()).await;
            let exchange = shared.exchange(Arc::new(()), READING)?;
            noticed(shared, call::resource(&exchange, uri).await)
        })
    }

    fn prompt<'a>(
        &'a self,
        server: &'a McpServerName,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Vec<McpMessage>, McpError>> {
        Box::pin(async move {
            let shared = &self.server(server)?.shared;
            started(shared, self.changes.clone()).await;
            let exchange = shared.exchange(Arc::new(()), READING)?;
            noticed(shared, call::prompt(&exchange, name, arguments).await)
        })
    }

    fn login<'a>(
        &'a self,
        server: &'a McpServerName,
        show: &'a (dyn Fn(&str) + Send + Sync),
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            let server = self.server(server)?;
            // What the server answers when it wants a login says where.
            started(&server.shared, self.changes.clone()).await;
            login::login(&server.shared, &server.opener, show, cancel).await
        })
    }
}
