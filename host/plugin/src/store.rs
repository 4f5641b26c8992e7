//! The content of the store of one call. It is created for the call and dropped with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use host_capability::{Grants, PluginName, Scope};
use host_programs::ProgramReach;
use host_undo::CallRecorder;
use tokio_util::sync::CancellationToken;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::WasiCtx;

use crate::access::Access;
use crate::background::BackgroundPrograms;
use crate::denials::Denials;
use crate::engine::Ticking;
use crate::guest_log::GuestLog;
use crate::limits::Meter;
use crate::listener::CallListener;
use crate::mcp_client::McpClient;
use crate::network::Network;
use crate::preview_guard::PreviewGuard;
use crate::secrets::Secrets;
use crate::seen_files::{Looked, SeenFiles};
use crate::shared::Shared;
use crate::workspace::Workspace;

/// Everything that host functions use during one call.
pub(crate) struct CallState {
    /// The plugin of the call, for denials.
    pub(crate) plugin: PluginName,
    /// What it may touch.
    pub(crate) grants: Arc<Grants>,
    /// The servers that its plugin asks for, which is the most that a grant can give.
    pub(crate) asked_servers: Option<Scope>,
    /// What its preview named; it may do nothing else.
    pub(crate) shown: PreviewGuard,
    /// The folder where relative paths start.
    pub(crate) workspace: Arc<Workspace>,
    /// The state that all calls share: the environment for programs, the web client, the folder of states.
    pub(crate) shared: Arc<Shared>,
    /// What its programs may touch.
    pub(crate) access: Arc<Access>,
    /// The plugin's own configuration, each value as JSON text.
    pub(crate) config: Arc<BTreeMap<String, String>>,
    /// The secrets that its requests may carry.
    pub(crate) secrets: Arc<Secrets>,
    /// The destination of its requests.
    pub(crate) network: Network,
    /// Whether the call has to stop.
    pub(crate) cancel: CancellationToken,
    /// The programs in the background of its session; `None` if it can have none.
    pub(crate) background: Option<Arc<BackgroundPrograms>>,
    /// How far its programs reach.
    pub(crate) reach: ProgramReach,
    /// Keeps what it changes, to be undone; `None` outside of a session.
    pub(crate) changes: Option<CallRecorder>,
    /// The files that the model of its conversation saw; `None` outside of a conversation.
    pub(crate) seen: Option<Arc<SeenFiles>>,
    /// What it read so far, if that is of interest.
    pub(crate) looked: Looked,
    /// Calls the tools of MCP servers; `None` if there are no servers.
    pub(crate) mcp: Option<Arc<dyn McpClient>>,
    /// Whether a preview said that its command goes on after the call.
    pub(crate) announced: bool,
    /// What the host denied it so far.
    pub(crate) denials: Denials,
    /// The receiver of live output.
    pub(crate) listener: Arc<dyn CallListener>,
    /// Bytes of live output so far.
    pub(crate) emitted: usize,
    /// What it writes to the log.
    pub(crate) log: GuestLog,
    /// The message of a panicking guest, for the error that follows.
    pub(crate) panic: Option<String>,
    /// Limits its memory.
    pub(crate) meter: Meter,
    /// The handles of its walks and children.
    pub(crate) table: ResourceTable,
    /// The number of its walks in the table, at most `MAX_WALKS`.
    pub(crate) walks: usize,
    /// Whether it walked a folder: then it reads files from the disk, of which there may be thousands.
    pub(crate) has_walked: bool,
    /// The number of its children in the table, at most `MAX_PROGRAMS`.
    pub(crate) programs: usize,
    /// The inert part of WASI, for plugins that import it.
    pub(crate) wasi: Option<WasiCtx>,
    /// Keeps the engine's clock running while the store lives.
    pub(crate) _ticking: Ticking,
}
