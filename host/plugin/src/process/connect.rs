//! The servers that a confined program reaches: those of its grant, each address checked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_capability::{Authority, Grants, PluginName, ProcessPermit, Resources, Scope};
use host_process::{Network, NotConnected, Server};
use tokio::net::TcpStream;

use crate::addresses::{Unresolved, resolve};
use crate::listener::CallListener;
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

/// What decides about the servers of a confined program, besides its grants.
#[derive(Clone)]
pub(crate) struct Doors {
    /// What it was kept from.
    pub(crate) kept_from: KeptFrom,
    /// The plugin that started it.
    pub(crate) plugin: PluginName,
    /// The servers that the user's configuration lets every program reach.
    pub(crate) configured: Vec<String>,
    /// Asks the user while the program waits; `None` if nobody can be asked.
    pub(crate) listener: Option<Arc<dyn CallListener>>,
}

/// Returns the network of a program with this permit.
pub(crate) fn network(permit: ProcessPermit, doors: Doors) -> Network {
    let configured = doors.permit_for(permit.argv(), &doors.configured);
    let (permits, doors) =
        (Arc::new([Some(permit), configured].into_iter().flatten().collect::<Vec<_>>()), Arc::new(doors));
    Network(Arc::new(move |server| Box::pin(reach(Arc::clone(&permits), Arc::clone(&doors), server))))
}

impl Doors {
    /// For a program of which nobody is asked.
    pub(crate) fn closed(kept_from: KeptFrom) -> Self {
        Self { kept_from, plugin: PluginName::new(""), configured: Vec::new(), listener: None }
    }

    /// Returns the permit of a command for these servers, as grants name them. One that is no valid name is left out.
    fn permit_for(&self, argv: &[String], servers: &[String]) -> Option<ProcessPermit> {
        let resources = Resources { servers: servers.to_vec(), ..Resources::default() };
        let scope = Scope::for_command_using(argv, &resources).ok().flatten()?;
        Grants::none().with(scope).permit_process(&self.plugin, argv).ok()
    }
}

/// Why a program is not connected.
enum Refused {
    /// Nothing that it was granted covers the server; a grant would call it so.
    Ungranted(String),
    Other(NotConnected),
}

/// Connects a program, and asks where nothing granted it the server: about its name, and once more if that leads to this
/// machine or a private network. Nothing is resolved before: a name alone can carry data out.
async fn reach(permits: Arc<Vec<ProcessPermit>>, doors: Arc<Doors>, server: Server) -> Result<TcpStream, NotConnected> {
    let mut permits: Vec<ProcessPermit> = permits.to_vec();
    let argv = permits.first().map(|permit| permit.argv().to_vec()).unwrap_or_default();
    loop {
        let wanted = match connect(&permits, &server).await {
            Ok(connected) => return Ok(connected),
            Err(Refused::Other(why)) => return Err(why),
            Err(Refused::Ungranted(wanted)) => wanted,
        };
        let allowed = match &doors.listener {
            Some(listener) => listener.may_reach(&argv, &wanted).await,
            None => false,
        };
        let reach = wanted.strip_prefix(&server.to_string()).unwrap_or_default();
        match doors.permit_for(&argv, std::slice::from_ref(&wanted)).filter(|_| allowed) {
            // It is asked about a name and then about the network behind it, and no third time.
            Some(permit) if permits.len() <= MOST_PERMITS => permits.insert(0, permit),
            Some(_) | None => return Err(doors.kept_from.add(&server, reach)),
        }
    }
}

/// The most permits that one connection is tried with: those of its call and of the configuration, and two that were asked for.
const MOST_PERMITS: usize = 3;

async fn connect(permits: &[ProcessPermit], server: &Server) -> Result<TcpStream, Refused> {
    let unreachable =
        |why: String| Refused::Other(NotConnected::Unreachable(format!("`{server}` cannot be reached: {why}")));
    let authority = Authority::new(&server.host, server.port).map_err(|error| unreachable(error.to_string()))?;
    let reach = if authority.is_plainly_private() { " +private" } else { "" };
    let permits: Vec<_> = permits.iter().filter_map(|permit| permit.permit_server(&authority).ok()).collect();
    if permits.is_empty() {
        return Err(Refused::Ungranted(format!("{server}{reach}")));
    }
    let permit_address = |address| {
        let mut denied = None;
        for permit in &permits {
            match permit.permit_address(address) {
                Ok(permitted) => return Ok(permitted),
                Err(why) => denied = Some(why),
            }
        }
        denied.map_or(Ok(()), Err)
    };
    let connecting = async {
        let addresses = resolve(&server.host, server.port, permit_address).await.map_err(|error| match error {
            Unresolved::Denied(_) => Refused::Ungranted(format!("{server} +private")),
            Unresolved::Unknown(error) => unreachable(error.to_string()),
        })?;
        TcpStream::connect(&*addresses).await.map_err(|error| unreachable(error.to_string()))
    };
    match tokio::time::timeout(PATIENCE, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err(unreachable(format!("no answer within {} seconds", PATIENCE.as_secs()))),
    }
}
