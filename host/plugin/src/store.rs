//! What the store of one call holds. It is made for the call and dropped with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use host_capability::{Grants, PluginName};
use tokio_util::sync::CancellationToken;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::engine::Ticking;
use crate::limits::Meter;
use crate::listener::CallListener;
use crate::network::Network;
use crate::preview_guard::PreviewGuard;
use crate::secrets::Secrets;
use crate::shared::Shared;
use crate::workspace::Workspace;

/// Everything that host functions reach during one call.
pub(crate) struct CallState {
    /// Whose call it is, for refusals.
    pub(crate) plugin: PluginName,
    /// What it may touch.
    pub(crate) grants: Arc<Grants>,
    /// What its preview named, which is all that it may do.
    pub(crate) shown: PreviewGuard,
    /// Where relative paths start.
    pub(crate) workspace: Arc<Workspace>,
    /// What all calls share: the environment for programs, the web client, the folder of states.
    pub(crate) shared: Arc<Shared>,
    /// The plugin's own configuration, each value as JSON text.
    pub(crate) config: Arc<BTreeMap<String, String>>,
    /// What its requests may carry.
    pub(crate) secrets: Arc<Secrets>,
    /// Where its requests go.
    pub(crate) network: Network,
    /// Whether the call is to stop.
    pub(crate) cancel: CancellationToken,
    /// Who hears of live output.
    pub(crate) listener: Arc<dyn CallListener>,
    /// Bytes of live output until now.
    pub(crate) emitted: usize,
    /// What a panicking guest said, for the error that follows.
    pub(crate) panic: Option<String>,
    /// How much memory it has.
    pub(crate) meter: Meter,
    /// The handles of its walks and children.
    pub(crate) table: ResourceTable,
    /// The inert part of WASI, for plugins that ask for it.
    pub(crate) wasi: Option<WasiCtx>,
    /// Keeps the engine's clock going as long as the store lives.
    pub(crate) _ticking: Ticking,
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: self.wasi.get_or_insert_with(|| crate::wasi::inert(&self.plugin)), table: &mut self.table }
    }
}
