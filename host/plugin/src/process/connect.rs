//! The servers that a confined program reaches: those of its grant, each address checked.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_capability::{Authority, ProcessPermit};
use host_process::{Network, NotConnected, Server};
use tokio::net::{TcpStream, lookup_host};

use crate::lock::lock;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most denials that are kept for the user.
const KEPT: usize = 16;

/// What a program was kept from.
#[derive(Clone, Debug)]
pub(super) struct KeptFrom {
    /// The plugin and the program, as a grant names them.
    plugin: String,
    program: String,
    /// What a user is told about each, by what a grant calls it.
    servers: Arc<Mutex<BTreeMap<String, String>>>,
}

impl KeptFrom {
    pub(super) fn new(plugin: &str, program: &str) -> Self {
        Self { plugin: plugin.to_owned(), program: program.to_owned(), servers: Arc::default() }
    }

    /// Records a server; `reach` is what a grant for it has to say besides its name.
    fn add(&self, server: &Server, reach: &str) -> NotConnected {
        let Self { plugin, program, servers } = self;
        let words = format!(
            "this program may not connect to `{server}`; to allow it, add --grant \
             '{plugin}:process={program};net={server}{reach}'"
        );
        let mut servers = lock(servers);
        if servers.len() < KEPT {
            servers.insert(format!("{server}{reach}"), words.clone());
        }
        NotConnected::Denied(words)
    }

    /// Returns a line for each.
    pub(super) fn lines(&self) -> Vec<String> {
        lock(&self.servers).values().cloned().collect()
    }

    /// Returns what a grant calls each.
    pub(super) fn servers(&self) -> Vec<String> {
        lock(&self.servers).keys().cloned().collect()
    }
}

/// Returns the network of a program with this permit.
pub(super) fn network(permit: ProcessPermit, kept_from: KeptFrom) -> Network {
    let permit = Arc::new(permit);
    Network(Arc::new(move |server| Box::pin(connect(Arc::clone(&permit), kept_from.clone(), server))))
}

async fn connect(permit: Arc<ProcessPermit>, kept_from: KeptFrom, server: Server) -> Result<TcpStream, NotConnected> {
    let unreachable = |why: String| NotConnected::Unreachable(format!("`{server}` cannot be reached: {why}"));
    let authority = Authority::new(&server.host, server.port).map_err(|error| unreachable(error.to_string()))?;
    let reach = if authority.is_plainly_private() { " +private" } else { "" };
    let permit = permit.permit_server(&authority).map_err(|_| kept_from.add(&server, reach))?;
    let connecting = async {
        let addresses: Vec<SocketAddr> = match server.host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, server.port)],
            Err(_) => {
                let found = lookup_host((server.host.as_str(), server.port)).await;
                found.map_err(|error| unreachable(error.to_string()))?.collect()
            }
        };
        // A single address that is not covered denies the name, because which one is used is arbitrary.
        for address in &addresses {
            permit.permit_address(address.ip()).map_err(|_| kept_from.add(&server, " +private"))?;
        }
        TcpStream::connect(&*addresses).await.map_err(|error| unreachable(error.to_string()))
    };
    match tokio::time::timeout(PATIENCE, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err(unreachable(format!("no answer within {} seconds", PATIENCE.as_secs()))),
    }
}
