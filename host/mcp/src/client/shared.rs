//! What a server's task and those who ask for it share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host_plugin::{CallListener, McpError};
use host_settings::mcp::{McpServer, McpState, McpStatus};
use rmcp::service::{Peer, RoleClient};
use tokio::sync::{Notify, watch};

use super::activity::Requests;
use super::challenge::Challenge;
use super::end::End;
use super::exchange::Exchange;
use super::failures;
use super::program::Hints;

/// A server, as its task and those who ask for it share it.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) config: McpServer,
    pub(super) requests: Arc<Requests>,
    /// Notified when the server says that a list changed.
    pub(super) lists_changed: Arc<Notify>,
    /// Notified when the server is to be connected anew: the user logged in, or it cannot be reached.
    pub(super) again: Notify,
    counter: watch::Sender<u64>,
    known: Mutex<Known>,
    /// What the server answered when it wanted the user to log in.
    challenge: Challenge,
    pub(super) end: End,
}

#[derive(Debug)]
struct Known {
    status: McpStatus,
    peer: Option<Peer<RoleClient>>,
    hints: Option<Hints>,
}

impl Shared {
    pub(super) fn new(config: McpServer, counter: watch::Sender<u64>) -> Self {
        let status = McpStatus {
            name: config.name.clone(),
            state: McpState::Starting,
            program: None,
            revision: None,
            instructions: None,
            tools: Vec::new(),
            resources: Vec::new(),
            prompts: Vec::new(),
            notes: Vec::new(),
        };
        Self {
            config,
            requests: Arc::default(),
            lists_changed: Arc::default(),
            again: Notify::new(),
            counter,
            known: Mutex::new(Known { status, peer: None, hints: None }),
            challenge: Challenge::default(),
            end: End::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is known now, with what confinement kept the server from so far.
    pub(super) fn status(&self) -> McpStatus {
        let known = self.known();
        let mut status = known.status.clone();
        status.notes.extend(known.hints.iter().flat_map(Hints::kept_from));
        status
    }

    /// Whether it is being connected for the first time.
    pub(super) fn is_starting(&self) -> bool {
        self.known().status.state == McpState::Starting
    }

    /// Returns whether the user said that the server's claims count, and the server claims that the tool only reads.
    pub(super) fn only_reads(&self, tool: &str) -> bool {
        let known = self.known();
        self.config.trusts_hints
            && known.status.tools.iter().any(|listed| listed.name == tool && listed.annotations.read_only)
    }

    /// Changes the status. Who waits for a change is told if there is one.
    pub(super) fn update(&self, change: impl FnOnce(&mut McpStatus)) {
        let mut known = self.known();
        let mut status = known.status.clone();
        change(&mut status);
        if status != known.status {
            known.status = status;
            drop(known);
            self.counter.send_modify(|counter| *counter += 1);
        }
    }

    /// Sets by whom requests are sent; `None` if the server is away.
    pub(super) fn set_peer(&self, peer: Option<Peer<RoleClient>>) {
        self.known().peer = peer;
    }

    /// Sets what explains the failures of the server's program.
    pub(super) fn set_hints(&self, hints: Option<Hints>) {
        self.known().hints = hints;
    }

    /// Returns what the server answered when it wanted the user to log in.
    pub(super) fn challenge(&self) -> &Challenge {
        &self.challenge
    }

    /// Returns what sends requests to the server now.
    ///
    /// # Errors
    ///
    /// When the server is away; says why.
    pub(super) fn exchange(
        &self,
        listener: Arc<dyn CallListener>,
        consequence: &'static str,
    ) -> Result<Exchange, McpError> {
        let known = self.known();
        let server = self.config.name.clone();
        let unavailable = |why: &str| McpError::Unavailable(format!("the MCP server `{server}` is unavailable: {why}"));
        match (&known.peer, &known.status.state) {
            (Some(peer), _) => Ok(Exchange {
                peer: peer.clone(),
                requests: Arc::clone(&self.requests),
                silence: self.config.timeout,
                challenge: self.challenge.clone(),
                end: self.end.clone(),
                server,
                listener,
                consequence,
            }),
            (None, McpState::NeedsLogin) => Err(McpError::NeedsLogin(failures::needs_login(&server))),
            (None, McpState::Starting) => Err(unavailable("it is still connecting; try again later")),
            (None, McpState::Ready) => Err(unavailable("it went away")),
            (None, McpState::Unavailable { why, is_retried: true }) => {
                Err(unavailable(&format!("{why}; it is connected again as soon as it answers")))
            }
            (None, McpState::Unavailable { why, is_retried: false }) => Err(unavailable(why)),
        }
    }
}
