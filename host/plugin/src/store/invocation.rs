//! One call, as the scheduler passes it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use host_capability::{Capability, CapabilitySet, Grants};
use host_message::{CallId, ToolName};
use host_programs::ProgramReach;
use host_undo::Recorder;
use tokio_util::sync::CancellationToken;

use crate::answer::Confirmation;
use crate::background::BackgroundPrograms;
use crate::bindings::tool_types::ToolCall;
use crate::listener::CallListener;
use crate::mcp_client::McpClient;
use crate::network::Network;
use crate::secrets::Secrets;
use crate::seen_files::SeenFiles;
use crate::tool_caller::ToolCaller;
use crate::workspace::Workspace;

/// One call, as the scheduler passes it.
#[derive(Clone)]
pub struct Invocation {
    /// The call's id.
    pub id: CallId,
    /// The tool.
    pub tool: ToolName,
    /// The arguments, a JSON object as text.
    pub arguments: String,
    /// What the call may touch: the effective grants, never more than the plugin's manifest requests.
    pub grants: Arc<Grants>,
    /// The preview, if there was a decision about it: the call then changes nothing else, whatever the grants cover.
    /// With `None` only the grants bind it.
    pub shown: Option<Arc<Confirmation>>,
    /// Files that are to be made outside of what it may read, absolute: it is told that they are not there, and nobody
    /// looks.
    pub absent: Vec<PathBuf>,
    /// The folder where relative paths start.
    pub workspace: Arc<Workspace>,
    /// The plugin's own configuration, each value as JSON text.
    pub config: Arc<BTreeMap<String, String>>,
    /// The secrets that its requests may carry.
    pub secrets: Arc<Secrets>,
    /// The destination of its requests.
    pub network: Network,
    /// The capabilities that the tool needs, by default all that its plugin imports. Of one that it does not need,
    /// nothing must be granted for the call.
    pub needs: CapabilitySet,
    /// The programs in the background of its session; with `None` it can start none.
    pub background: Option<Arc<BackgroundPrograms>>,
    /// Whether it may type into the terminals of those.
    pub may_type: bool,
    /// How far its programs reach, as it was decided.
    pub reach: ProgramReach,
    /// Keeps what it changes, to be undone; with `None` nothing is kept.
    pub changes: Option<Arc<Recorder>>,
    /// The files that the model of its conversation saw; with `None` it may change any.
    pub seen: Option<Arc<SeenFiles>>,
    /// Calls the tools of MCP servers; with `None` there are no servers.
    pub mcp: Option<Arc<dyn McpClient>>,
    /// Calls other tools of the session; with `None` it can call none.
    pub tools: Option<Arc<dyn ToolCaller>>,
    /// Asks the guest to stop. It does not end the call: dropping the future does.
    pub cancel: CancellationToken,
    /// The receiver of live output.
    pub listener: Arc<dyn CallListener>,
}

impl Invocation {
    /// Creates a call with these grants in this workspace: without configuration and secrets, bound only by its grants,
    /// with real requests, without cancellation and without a listener.
    pub fn new(id: CallId, tool: ToolName, arguments: String, grants: Arc<Grants>, workspace: Arc<Workspace>) -> Self {
        Self {
            id,
            tool,
            arguments,
            grants,
            shown: None,
            absent: Vec::new(),
            workspace,
            config: Arc::default(),
            secrets: Arc::default(),
            network: Network::Real,
            needs: Capability::ALL.into_iter().collect(),
            background: None,
            may_type: true,
            reach: ProgramReach::default(),
            changes: None,
            seen: None,
            mcp: None,
            tools: None,
            cancel: CancellationToken::new(),
            listener: Arc::new(()),
        }
    }

    /// Returns the call as the guest gets it.
    pub(crate) fn request(&self) -> ToolCall {
        ToolCall { id: self.id.to_string(), tool: self.tool.to_string(), arguments: self.arguments.clone() }
    }
}
