//! Opens a connection to a server: its transport, and the handshake of its era.
//!
//! A server of unknown era is asked with `server/discover`. One that answers with an error, or with nothing for ten
//! seconds, gets the older handshake on the same connection; some die of an unknown first request, and get it on a
//! connection of their own. What was found out is remembered, and found out again when it fails.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use host_plugin::{RemoteError, Runtime, ServerStartError};
use host_settings::mcp::{McpAddress, McpProgram, McpTransport};
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle};
use rmcp::transport::{AuthClient, IntoTransport, StreamableHttpClientTransport};

use super::exchange::seconds;
use super::failures;
use super::handler::Handler;
use super::program::{self, Program};
use super::remote;
use super::revisions::{Era, Revisions};
use super::shared::Shared;

/// The longest handshake with an MCP server. A server's own limit is used if it is shorter. Protects the session from a
/// server that never answers; some are downloaded when they start.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(60);

/// What is needed to open a connection.
pub(super) struct Opener {
    pub(super) runtime: Arc<Runtime>,
    pub(super) folder: std::path::PathBuf,
}

/// An open connection. Dropping it ends the server's program.
pub(super) struct Connection {
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) program: Option<Program>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("program", &self.program).finish_non_exhaustive()
    }
}

/// Why there is no connection. The texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotOpen {
    /// The server wants the user to log in; with what it answered.
    NeedsLogin(Option<String>),
    /// It was to be opened anew.
    Again,
    /// Another attempt would fail, too.
    Final(String),
    /// Another attempt may succeed.
    Failed(String),
}

impl Opener {
    fn revisions(&self) -> Revisions {
        Revisions::new(&self.folder)
    }

    /// Opens a connection to a server.
    pub(super) async fn open(&self, shared: &Shared) -> Result<Connection, NotOpen> {
        let identity = shared.config.identity();
        let remembered = {
            let (revisions, identity) = (self.revisions(), identity.clone());
            tokio::task::spawn_blocking(move || revisions.of(&identity)).await.ok().flatten()
        };
        let opened = match remembered {
            // As it was the last time: finding out again costs a second handshake, or ten seconds of silence.
            Some(era) => match self.begin(shared, mode(era)).await {
                Err(NotOpen::Failed(why)) => {
                    tracing::debug!(server = %shared.config.name, why, "the remembered revision failed");
                    // A server may have been updated since.
                    self.find_out(shared).await
                }
                opened => opened,
            },
            None => self.find_out(shared).await,
        };
        let found = opened.as_ref().ok().and_then(era);
        // What failed for lack of a login or a program says nothing about the era.
        if found != remembered && (found.is_some() || matches!(opened, Err(NotOpen::Failed(_)))) {
            let revisions = self.revisions();
            tokio::task::spawn_blocking(move || revisions.set(&identity, found)).await.ok();
        }
        opened
    }

    /// Opens a connection to a server whose era is not known.
    async fn find_out(&self, shared: &Shared) -> Result<Connection, NotOpen> {
        let either = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        match self.begin(shared, either).await {
            Err(NotOpen::Failed(why)) => {
                tracing::debug!(server = %shared.config.name, why, "tried again with the older handshake");
                self.begin(shared, ClientLifecycleMode::Initialize).await
            }
            opened => opened,
        }
    }

    async fn begin(&self, shared: &Shared, mode: ClientLifecycleMode) -> Result<Connection, NotOpen> {
        match &shared.config.transport {
            McpTransport::Program(program) => self.begin_program(shared, program, mode).await,
            McpTransport::Http(address) => self.begin_http(shared, address, mode).await,
        }
    }

    async fn begin_program(
        &self,
        shared: &Shared,
        configured: &McpProgram,
        mode: ClientLifecycleMode,
    ) -> Result<Connection, NotOpen> {
        let started = program::start(&shared.config.name, configured, &self.runtime);
        let (mut program, lines) = started.map_err(|error| match error {
            ServerStartError::NotFound(_) | ServerStartError::Resources(_) | ServerStartError::Failed(_) => {
                NotOpen::Final(error.to_string())
            }
        })?;
        let opened = tokio::select! {
            biased;
            opened = handshake(shared, lines, mode) => opened,
            why = program.left() => return Err(NotOpen::Failed(program.explain(why).await)),
        };
        match opened {
            Ok(service) => Ok(Connection { service, program: Some(program) }),
            Err(HandshakeFailure { is_silent: true, words, .. }) => Err(NotOpen::Failed(program.explain(words).await)),
            Err(HandshakeFailure { words, .. }) => Err(NotOpen::Failed(program.why(words).await)),
        }
    }

    async fn begin_http(
        &self,
        shared: &Shared,
        address: &McpAddress,
        mode: ClientLifecycleMode,
    ) -> Result<Connection, NotOpen> {
        let unusable = |error: RemoteError| NotOpen::Final(error.to_string());
        // The checked client: each address that the name leads to is looked at when it is connected to.
        let client = self.runtime.remote_client(&address.url, address.reaches_private).map_err(unusable)?;
        let configuration = remote::configuration(address).map_err(unusable)?;
        let no_tokens = |error: rmcp::transport::AuthError| match error {
            rmcp::transport::AuthError::AuthorizationRequired => NotOpen::NeedsLogin(None),
            other => NotOpen::Failed(failures::words(&other)),
        };
        let manager = remote::authorization(address, &client, &self.runtime, &self.folder).await;
        let mut manager = manager.map_err(no_tokens)?;
        // A login of an earlier session counts until the server says otherwise.
        if manager.initialize_from_store().await.map_err(no_tokens)? {
            remote::with_secret(&mut manager, address).map_err(no_tokens)?;
        }
        let transport = StreamableHttpClientTransport::with_client(
            AuthClient::new(client.client().clone(), manager),
            configuration,
        );
        match handshake(shared, transport, mode).await {
            Ok(service) => Ok(Connection { service, program: None }),
            // Not a failure: the user can do something about it, and is told what.
            Err(HandshakeFailure { needs_login: true, challenge, .. }) => Err(NotOpen::NeedsLogin(challenge)),
            Err(HandshakeFailure { words, .. }) => Err(match client.denied() {
                // The true reason: for the library a denied address is a broken connection.
                Some(denied) => NotOpen::Final(format!(
                    "{denied}; to allow it, add `private = true` to [mcp.{}]",
                    shared.config.name
                )),
                None => NotOpen::Failed(words),
            }),
        }
    }
}

/// Why a handshake failed.
struct HandshakeFailure {
    needs_login: bool,
    /// Whether nothing was answered in time.
    is_silent: bool,
    challenge: Option<String>,
    words: String,
}

async fn handshake<T, E, A>(
    shared: &Shared,
    transport: T,
    mode: ClientLifecycleMode,
) -> Result<RunningService<RoleClient, Handler>, HandshakeFailure>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let handler =
        Handler::new(shared.config.name.clone(), Arc::clone(&shared.requests), Arc::clone(&shared.lists_changed));
    let limit = shared.config.timeout.min(HANDSHAKE_LIMIT);
    match tokio::time::timeout(limit, serve_client_with_lifecycle(handler, transport, mode)).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error)) => Err(failure(&error)),
        Err(_) => Err(HandshakeFailure {
            needs_login: false,
            is_silent: true,
            challenge: None,
            words: format!("it did not finish the handshake within {}", seconds(limit)),
        }),
    }
}

fn failure(error: &ClientInitializeError) -> HandshakeFailure {
    let challenge = error.auth_challenge().map(str::to_owned);
    HandshakeFailure {
        needs_login: challenge.is_some() || error.is_authorization_required(),
        is_silent: false,
        challenge,
        words: match error {
            ClientInitializeError::ConnectionClosed(_) => "it went away during the handshake".to_owned(),
            ClientInitializeError::TransportError { error, .. } => failures::transport(&*error.error),
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => failure(fallback).words,
            // An answer may be large, and is the server's text.
            other => failures::words(other),
        },
    }
}

fn mode(era: Era) -> ClientLifecycleMode {
    match era {
        Era::Handshake => ClientLifecycleMode::Initialize,
        Era::Stateless => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    }
}

fn era(connection: &Connection) -> Option<Era> {
    let about = connection.service.peer().peer_info()?;
    Some(if about.protocol_version.has_initialize() { Era::Handshake } else { Era::Stateless })
}
