//! The servers that a confined program reaches: those of its grant, each address checked.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_capability::{Authority, Denied, Grants, PluginName, ProcessPermit, Resources, Scope, ServerPermit};
use host_process::{GitSsh, Network, NotConnected, Server};
use host_text::{Advice, Flag, Wording};
use tokio::net::TcpStream;

use super::ssh::{self, SshDoor};
use crate::addresses::{Unresolved, resolve};
use crate::listener::CallListener;
use crate::lock::lock;

/// How long a server may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// The most denials that are kept for the user.
const KEPT: usize = 16;

/// What a program was kept from.
#[derive(Clone, Debug)]
pub(crate) struct KeptFrom {
    allowed_by: AllowedBy,
    /// What a user is told about each, by what a grant calls it.
    servers: Arc<Mutex<BTreeMap<String, String>>>,
    started_ssh: Arc<AtomicBool>,
}

/// What would allow a program more.
#[derive(Clone, Debug)]
pub(crate) enum AllowedBy {
    /// A grant of a plugin's program, each as a grant names it.
    Grant { plugin: String, program: String, wording: Wording },
    /// A setting of the MCP server with this name.
    Server(String),
    /// A setting of hooks.
    Hooks,
    /// A setting for every program.
    Confine,
}

impl KeptFrom {
    pub(crate) fn new(allowed_by: AllowedBy) -> Self {
        Self { allowed_by, servers: Arc::default(), started_ssh: Arc::default() }
    }

    /// Records a server, as a grant names it, and what the program would do there: ``connect to `example.com:443` ``.
    fn add(&self, wanted: &str, does: &str) -> NotConnected {
        let allow = match &self.allowed_by {
            AllowedBy::Grant { plugin, program, wording } => {
                let grant = format!("'{plugin}:process={program};net={wanted}'");
                wording.of(&Advice::from("add ").flag_with(Flag::Grant, grant))
            }
            AllowedBy::Server(name) => format!("add `net = [\"{wanted}\"]` to [mcp.{name}]"),
            AllowedBy::Hooks => format!("add `net = [\"{wanted}\"]` to [hooks]"),
            AllowedBy::Confine => format!("add `net = [\"{wanted}\"]` to [confine]"),
        };
        let words = format!("this program may not {does}; to allow it, {allow}");
        let mut servers = lock(&self.servers);
        if servers.len() < KEPT {
            servers.insert(wanted.to_owned(), words.clone());
        }
        NotConnected::Denied(words)
    }

    /// Records that the user's ssh ran for the program.
    pub(super) fn started_ssh(&self) {
        self.started_ssh.store(true, Ordering::Relaxed);
    }

    /// Whether the user's ssh ran for the program.
    pub(super) fn has_started_ssh(&self) -> bool {
        self.started_ssh.load(Ordering::Relaxed)
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
    /// Asks the user while the program waits; `None` if the user cannot be asked.
    pub(crate) listener: Option<Arc<dyn CallListener>>,
    /// The way to the user's ssh, if git may use it.
    pub(crate) ssh: Option<SshDoor>,
}

/// Returns the network of a program with this permit.
pub(crate) fn network(permit: ProcessPermit, doors: Doors) -> Network {
    let configured = doors.permit_for(permit.argv(), &doors.configured);
    let permits: Vec<_> = [Some(permit), configured].into_iter().flatten().collect();
    let doors = Arc::new(doors);
    let ssh = doors.ssh.clone().map(|door| {
        let (permits, doors, client) = (permits.clone(), Arc::clone(&doors), door.client().to_owned());
        let start = move |request| ssh::start(permits.clone(), Arc::clone(&doors), door.clone(), request);
        GitSsh { client, start: Arc::new(move |request| Box::pin(start(request))) }
    });
    let connect = move |server| reach(permits.clone(), Arc::clone(&doors), server);
    Network { connect: Arc::new(move |server| Box::pin(connect(server))), ssh }
}

impl Doors {
    /// For a program of which nobody is asked.
    pub(crate) fn closed(kept_from: KeptFrom) -> Self {
        Self { kept_from, plugin: PluginName::new(""), configured: Vec::new(), listener: None, ssh: None }
    }

    /// Returns the permit of a command for these servers, as grants name them. One that is no valid name is left out.
    fn permit_for(&self, argv: &[String], servers: &[String]) -> Option<ProcessPermit> {
        let resources = Resources { servers: servers.to_vec(), ..Resources::default() };
        let scope = Scope::for_command_using(argv, &resources).ok().flatten()?;
        Grants::none().with(scope).permit_process(&self.plugin, argv).ok()
    }
}

impl Doors {
    /// Asks for what nothing granted, as a grant names it, and adds the permit for it.
    pub(super) async fn ask(
        &self,
        permits: &mut Vec<ProcessPermit>,
        wanted: &str,
        does: &str,
    ) -> Result<(), NotConnected> {
        let argv = permits.first().map(|permit| permit.argv().to_vec()).unwrap_or_default();
        let allowed = match &self.listener {
            Some(listener) => listener.may_reach(&argv, wanted).await,
            None => false,
        };
        match self.permit_for(&argv, &[wanted.to_owned()]).filter(|_| allowed) {
            // It is asked about a name and then about the network behind it, and no third time.
            Some(permit) if permits.len() <= MOST_PERMITS => permits.insert(0, permit),
            Some(_) | None => return Err(self.kept_from.add(wanted, does)),
        }
        Ok(())
    }
}

/// Why a program is not connected.
pub(super) enum Refused {
    /// Nothing that it was granted covers the server; a grant would call it so.
    Ungranted(String),
    Other(NotConnected),
}

/// Connects a program, and asks where nothing granted it the server: about its name, and once more if that leads to
/// this machine or a private network. Nothing is resolved before: a name alone can carry data out.
async fn reach(mut permits: Vec<ProcessPermit>, doors: Arc<Doors>, server: Server) -> Result<TcpStream, NotConnected> {
    loop {
        match connect(&permits, &server).await {
            Ok(connected) => return Ok(connected),
            Err(Refused::Other(why)) => return Err(why),
            Err(Refused::Ungranted(wanted)) => {
                doors.ask(&mut permits, &wanted, &format!("connect to `{server}`")).await?;
            }
        }
    }
}

/// The most permits that one connection is tried with: those of its call and of the configuration, and two that were
/// asked for.
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
    let connecting = async {
        let addresses =
            resolve(&server.host, server.port, addresses_of(&permits)).await.map_err(|error| match error {
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

/// Returns what says whether one of these permits covers an address.
pub(super) fn addresses_of(permits: &[ServerPermit]) -> impl Fn(IpAddr) -> Result<(), Denied> {
    move |address| {
        let mut denied = None;
        for permit in permits {
            match permit.permit_address(address) {
                Ok(permitted) => return Ok(permitted),
                Err(why) => denied = Some(why),
            }
        }
        denied.map_or(Ok(()), Err)
    }
}
