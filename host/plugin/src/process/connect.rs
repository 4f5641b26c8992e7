//! The servers that a confined program reaches: those of its grant, each address checked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_capability::{Authority, ProcessPermit};
use host_process::{Network, NotConnected, Server};
use tokio::net::TcpStream;

use crate::addresses::{Unresolved, resolve};
use crate::lock::lock;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most denials that are kept for the user.
const KEPT: usize = 16;

/// What a program was kept from.
#[derive(Clone, Debug)]
pub(crate) struct KeptFrom {
    allowed_by: AllowedBy,
    /// What a user is told about each, by what a grant calls it.
    servers: Arc<Mutex<BTreeMap<String, String>>>,
}

/// What would allow a program more.
#[derive(Clone, Debug)]
pub(crate) enum AllowedBy {
    /// A grant of a plugin's program, each as a grant names it.
    Grant { plugin: String, program: String },
    /// A setting of the MCP server with this name.
    Server(String),
    /// A setting of hooks.
    Hooks,
}

impl KeptFrom {
    pub(crate) fn new(allowed_by: AllowedBy) -> Self {
        Self { allowed_by, servers: Arc::default() }
    }

    /// Records a server; `reach` is what a grant for it has to say besides its name.
    fn add(&self, server: &Server, reach: &str) -> NotConnected {
        let allow = match &self.allowed_by {
            AllowedBy::Grant { plugin, program } => {
                format!("add --grant '{plugin}:process={program};net={server}{reach}'")
            }
            AllowedBy::Server(name) => format!("add `net = [\"{server}{reach}\"]` to [mcp.{name}]"),
            AllowedBy::Hooks => format!("add `net = [\"{server}{reach}\"]` to [hooks]"),
        };
        let words = format!("this program may not connect to `{server}`; to allow it, {allow}");
        let mut servers = lock(&self.servers);
        if servers.len() < KEPT {
            servers.insert(format!("{server}{reach}"), words.clone());
        }
        NotConnected::Denied(words)
    }

    /// Returns a line for each.
    pub(crate) fn lines(&self) -> Vec<String> {
        lock(&self.servers).values().cloned().collect()
    }

    /// Returns what a grant calls each.
    pub(crate) fn servers(&self) -> Vec<String> {
        lock(&self.servers).keys().cloned().collect()
    }
}

/// Returns the network of a program with this permit.
pub(crate) fn network(permit: ProcessPermit, kept_from: KeptFrom) -> Network {
    let permit = Arc::new(permit);
    Network(Arc::new(move |server| Box::pin(connect(Arc::clone(&permit), kept_from.clone(), server))))
}

async fn connect(permit: Arc<ProcessPermit>, kept_from: KeptFrom, server: Server) -> Result<TcpStream, NotConnected> {
    let unreachable = |why: String| NotConnected::Unreachable(format!("`{server}` cannot be reached: {why}"));
    let authority = Authority::new(&server.host, server.port).map_err(|error| unreachable(error.to_string()))?;
    let reach = if authority.is_plainly_private() { " +private" } else { "" };
    let permit = permit.permit_server(&authority).map_err(|_| kept_from.add(&server, reach))?;
    let connecting = async {
        let resolved = resolve(&server.host, server.port, |address| permit.permit_address(address)).await;
        let addresses = resolved.map_err(|error| match error {
            Unresolved::Denied(_) => kept_from.add(&server, " +private"),
            Unresolved::Unknown(error) => unreachable(error.to_string()),
        })?;
        TcpStream::connect(&*addresses).await.map_err(|error| unreachable(error.to_string()))
    };
    match tokio::time::timeout(PATIENCE, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err(unreachable(format!("no answer within {} seconds", PATIENCE.as_secs()))),
    }
}
