//! The MCP servers of an application: connected when they are first needed, and what they offer at a time.
//!
//! Promises: nothing is started or reached before a session, or a command about servers, wants their tools; to look at
//! what is offered waits for no server.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use host_capability::McpServerName;
use host_plugin::Runtime;
use host_settings::mcp::{McpConnector, McpServer, McpServers, McpSetup, McpState, McpStatus};
use host_text::Notice;

use super::offer::Offer;

/// How long the first request to a model waits for servers that the user called required. Protects the start from a
/// server that never answers.
pub const REQUIRED_PATIENCE: Duration = Duration::from_secs(3);

/// The servers of an application.
pub struct McpHub {
    setup: McpSetup,
    connector: Arc<dyn McpConnector>,
    connected: OnceLock<Arc<dyn McpServers>>,
    offer: Mutex<Option<(u64, Arc<Offer>)>>,
    /// What the user was told about each server.
    reported: Mutex<BTreeMap<McpServerName, McpState>>,
}

impl fmt::Debug for McpHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.setup.servers.iter().map(|server| server.name.as_str());
        f.debug_struct("McpHub").field("servers", &names.collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

impl McpHub {
    /// Takes the servers; nothing is connected yet.
    pub fn new(
        servers: Vec<McpServer>,
        connector: Arc<dyn McpConnector>,
        runtime: Arc<Runtime>,
        folder: PathBuf,
    ) -> Self {
        Self {
            setup: McpSetup { servers, runtime, folder },
            connector,
            connected: OnceLock::new(),
            offer: Mutex::default(),
            reported: Mutex::default(),
        }
    }

    /// The servers, in the order of their configuration.
    pub fn servers(&self) -> &[McpServer] {
        &self.setup.servers
    }

    /// The connected servers; begins to connect them, and does not wait for it.
    pub fn connected(&self) -> &Arc<dyn McpServers> {
        self.connected.get_or_init(|| self.connector.connect(self.setup.clone()))
    }

    /// What is known of the servers now.
    pub fn statuses(&self) -> Vec<McpStatus> {
        self.connected().statuses()
    }

    /// The state of their tools: it grows with each change.
    pub(crate) fn version(&self) -> u64 {
        *self.connected().changes().borrow()
    }

    /// What they offer now.
    pub fn offer(&self) -> Arc<Offer> {
        // Before the statuses: a change in between makes the next look different.
        let version = self.version();
        let mut offer = self.offer.lock().unwrap_or_else(PoisonError::into_inner);
        match &*offer {
            Some((of, offer)) if *of == version => Arc::clone(offer),
            Some(_) | None => {
                let now = Arc::new(Offer::new(&self.setup.servers, &self.connected().statuses()));
                *offer = Some((version, Arc::clone(&now)));
                now
            }
        }
    }

    /// Waits a moment for the servers that the user called required; returns at once if there are none.
    pub async fn wait_for_required(&self) {
        let is_required =
            |name: &McpServerName| self.setup.servers.iter().any(|server| server.name == *name && server.is_required);
        if self.setup.servers.iter().any(|server| server.is_required) {
            let settled = self.connected().settled(&is_required);
            // Those that are late come when they come, and the user is told.
            tokio::time::timeout(REQUIRED_PATIENCE, settled).await.ok();
        }
    }

    /// Returns what happened to servers since the last time, a line each: those that cannot be used, and those that can
    /// again.
    pub fn news(&self) -> Vec<Notice> {
        let Some(connected) = self.connected.get() else { return Vec::new() };
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Vec::new();
        for McpStatus { name, state, .. } in connected.statuses() {
            let before = reported.get(&name).cloned();
            let line = match (&state, &before) {
                (McpState::Starting, _) => None,
                (McpState::Ready, Some(McpState::Unavailable { .. } | McpState::NeedsLogin)) => {
                    Some(format!("the MCP server `{name}` is connected again").into())
                }
                (McpState::Ready, _) => None,
                (McpState::NeedsLogin, Some(McpState::NeedsLogin)) => None,
                (McpState::NeedsLogin, _) => {
                    let login = Notice::from(format!("the MCP server `{name}` needs a login: "));
                    Some(login.bare_command(format!("mcp login {name}")))
                }
                // One that fails again and again is reported once.
                (McpState::Unavailable { .. }, Some(McpState::Unavailable { .. })) => None,
                (McpState::Unavailable { why, .. }, _) => {
                    Some(format!("the MCP server `{name}` cannot be used: {why}").into())
                }
            };
            if state != McpState::Starting {
                reported.insert(name, state);
            }
            lines.extend(line);
        }
        lines
    }
}
