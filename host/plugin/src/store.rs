//! The content of the store of one call. It is created for the call and dropped with it.

mod invocation;

use std::sync::Arc;

use host_capability::{PluginName, Scope};
use host_undo::CallRecorder;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::WasiCtx;

use crate::access::Access;
use crate::answer::{Ground, NamedChanges};
use crate::denials::Denials;
use crate::engine::Ticking;
use crate::guest_log::GuestLog;
use crate::limits::Meter;
use crate::made_calls::MadeCalls;
use crate::preview_guard::PreviewGuard;
use crate::seen_files::Looked;
use crate::shared::Shared;

pub use self::invocation::Invocation;

/// Everything that host functions use during one call.
pub(crate) struct StoreData {
    /// The plugin of the call, for denials.
    pub(crate) plugin: PluginName,
    /// The call, with its effective grants. What is kept of its changes and what its preview named are below.
    pub(crate) call: Invocation,
    /// The servers that its plugin asks for, which is the most that a grant can give.
    pub(crate) asked_servers: Option<Scope>,
    /// What its preview named; it may do nothing else.
    pub(crate) shown: PreviewGuard,
    /// The state that all calls share: the environment for programs, the web client, the folder of states.
    pub(crate) shared: Arc<Shared>,
    /// What its programs may touch.
    pub(crate) access: Arc<Access>,
    /// Keeps what it changes, to be undone; `None` outside of a session.
    pub(crate) changes: Option<CallRecorder>,
    /// What it read so far, if that is of interest.
    pub(crate) looked: Looked,
    /// Where a preview said that its command runs.
    pub(crate) announced: Ground,
    /// The calls of other tools that it made so far.
    pub(crate) made: MadeCalls,
    /// The changes to files that a preview named.
    pub(crate) named: NamedChanges,
    /// What the host denied it so far.
    pub(crate) denials: Denials,
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
