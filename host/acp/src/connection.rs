//! The connection with a client, and what holds for all of its sessions.

use agent_client_protocol::Client;
use host_app::app::Tooling;
use host_settings::environment::Environment;
use host_settings::request::{AccessRequest, RunRequest};

/// The connection with a client.
pub(crate) type Connection = agent_client_protocol::v1::ConnectionTo<Client>;

/// What holds for all sessions of a connection.
#[derive(Clone)]
pub struct Setup {
    /// The environment of the process.
    pub environment: Environment,
    /// What loads plugins and connects MCP servers.
    pub tooling: Tooling,
    /// What tools may touch, as the flags have it.
    pub access: AccessRequest,
    /// The model and the limits of each prompt.
    pub run: RunRequest,
    /// Also work in folders that are not in a repository.
    pub any_folder: bool,
}

/// What the client can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capabilities {
    /// Whether it returns the texts of open files.
    pub(crate) reads_files: bool,
}
