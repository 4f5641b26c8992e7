//! Proofs that the grants allow a use, and the checks that make them.
//!
//! Code that touches a file, a program, a server or the state takes a permit as an argument, so it cannot act without
//! the check. Only these checks make permits.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::address::is_public;
use crate::authorities::{Reach, naming, request};
use crate::list::quote;
use crate::paths::{Root, normal};
use crate::programs::command;
use crate::tool_names::is_tool_name;
use crate::{
    Authority, Capability, Denied, GitRemote, Grants, McpServerName, Paths, PluginName, Programs, Resources, Scope,
    StateAccess,
};

/// Proof that a file may be read, or a directory listed or walked.
#[derive(Clone, Debug)]
#[must_use = "a permit does nothing by itself"]
pub struct ReadPermit(PathPermit);

/// Proof that a file may be changed.
#[derive(Clone, Debug)]
#[must_use = "a permit does nothing by itself"]
pub struct WritePermit(PathPermit);

/// Proof that a command may be run.
#[derive(Clone, Debug)]
#[must_use = "a permit does nothing by itself"]
pub struct ProcessPermit {
    plugin: PluginName,
    argv: Vec<String>,
    /// The commands that it runs, as far as they are known.
    inner: Vec<Vec<String>>,
    held: Programs,
}

/// Proof that a command may connect to a server. Each address that its name leads to needs
/// [`ServerPermit::permit_address`].
#[derive(Clone, Debug)]
#[must_use = "a permit does nothing by itself"]
pub struct ServerPermit {
    reach: Reach,
    denied: Denied,
}

/// Proof that a server may be asked. Each address that its name leads to needs [`HttpPermit::permit_address`].
#[derive(Clone, Debug)]
#[must_use = "a permit does nothing by itself"]
pub struct HttpPermit {
    plugin: PluginName,
    method: String,
    authority: Authority,
    reach: Reach,
    held: Scope,
}

/// Proof that the plugin's own state may be used.
#[derive(Clone, Copy, Debug)]
#[must_use = "a permit does nothing by itself"]
pub struct StatePermit {
    access: StateAccess,
}

/// Proof that a tool of an MCP server may be called.
#[derive(Clone, Debug)]
#[must_use = "a permit does nothing by itself"]
pub struct McpPermit {
    server: McpServerName,
    tool: String,
}

/// Proof that another tool of the session may be called.
#[derive(Clone, Debug)]
#[must_use = "a permit does nothing by itself"]
pub struct ToolPermit {
    tool: String,
}

impl ToolPermit {
    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl Grants {
    /// Checks that the plugin may read the file or folder at the path, which is absolute. `.` and `..` are resolved
    /// lexically.
    ///
    /// # Errors
    ///
    /// When no granted root covers the path, each that does denies it, or the path is relative or leaves `/`.
    pub fn permit_read(&self, plugin: &PluginName, path: &Path) -> Result<ReadPermit, Denied> {
        self.permit_path(plugin, Capability::FsRead, path).map(ReadPermit)
    }

    /// Checks that the plugin may change the file or folder at the path; as [`Grants::permit_read`].
    ///
    /// # Errors
    ///
    /// As [`Grants::permit_read`].
    pub fn permit_write(&self, plugin: &PluginName, path: &Path) -> Result<WritePermit, Denied> {
        self.permit_path(plugin, Capability::FsWrite, path).map(WritePermit)
    }

    fn permit_path(&self, plugin: &PluginName, capability: Capability, path: &Path) -> Result<PathPermit, Denied> {
        let held = self.scope(capability);
        let denied = |path: &Path| denied_path(plugin, capability, path, held);
        let path = normal(path).ok_or_else(|| denied(path))?;
        let root = match held {
            Some(Scope::FsRead(paths) | Scope::FsWrite(paths)) => paths.permitting(&path),
            Some(Scope::Process(_) | Scope::Http(_) | Scope::State(_) | Scope::Mcp(_) | Scope::Tools(_)) | None => None,
        };
        let root = root.ok_or_else(|| denied(&path))?;
        let relative = path.strip_prefix(root.path()).map_err(|_| denied(&path))?.to_owned();
        Ok(PathPermit { plugin: plugin.clone(), capability, root: root.clone(), relative })
    }

    /// Checks that the plugin may run the command: the program's name and its arguments.
    ///
    /// # Errors
    ///
    /// When no granted prefix covers it, or it has no program.
    pub fn permit_process(&self, plugin: &PluginName, argv: &[String]) -> Result<ProcessPermit, Denied> {
        let held = self.scope(Capability::Process);
        match held {
            // The permit keeps the words that were checked: what starts is taken from it and from nowhere else.
            Some(Scope::Process(programs)) if programs.permits(argv) => Ok(ProcessPermit {
                plugin: plugin.clone(),
                argv: argv.to_vec(),
                inner: Vec::new(),
                held: programs.clone(),
            }),
            _ => {
                let program = argv.first().is_some_and(|program| !program.is_empty());
                let wanted = if argv.is_empty() { String::new() } else { command(argv) };
                Err(Denied::new(plugin, Capability::Process, &wanted, program.then_some(wanted.as_str()), held))
            }
        }
    }

    /// Checks that the plugin may send a request with the method, in capital letters, to the server.
    ///
    /// # Errors
    ///
    /// When no granted item covers host, port and method.
    pub fn permit_http(&self, plugin: &PluginName, method: &str, to: &Authority) -> Result<HttpPermit, Denied> {
        let held = self.scope(Capability::Http);
        if let Some(held @ Scope::Http(authorities)) = held
            && let Some(reach) = authorities.reach(method, to)
        {
            let (plugin, method) = (plugin.clone(), method.to_owned());
            return Ok(HttpPermit { plugin, method, authority: to.clone(), reach, held: held.clone() });
        }
        Err(Denied::new(plugin, Capability::Http, &request(method, to), naming(method, to).as_deref(), held))
    }

    /// Checks that the plugin may call a tool of an MCP server. `reads` says whether the host knows that the tool
    /// reads.
    ///
    /// # Errors
    ///
    /// When no granted item covers the tool.
    pub fn permit_mcp(
        &self,
        plugin: &PluginName,
        server: &McpServerName,
        tool: &str,
        reads: bool,
    ) -> Result<McpPermit, Denied> {
        let held = self.scope(Capability::Mcp);
        match held {
            // Whether it reads is what the host knows: a server's own hint makes no scope wider.
            Some(Scope::Mcp(tools)) if tools.permits(server, tool, reads) => {
                Ok(McpPermit { server: server.clone(), tool: tool.to_owned() })
            }
            _ => {
                let wanted = format!("{server}/{tool}");
                Err(Denied::new(plugin, Capability::Mcp, &wanted, Some(&quote(&wanted)), held))
            }
        }
    }

    /// Checks that the plugin may call another tool of the session.
    ///
    /// # Errors
    ///
    /// When no grant covers the tool.
    pub fn permit_tool(&self, plugin: &PluginName, tool: &str) -> Result<ToolPermit, Denied> {
        let held = self.scope(Capability::Tools);
        match held {
            Some(Scope::Tools(tools)) if tools.permit(tool) => Ok(ToolPermit { tool: tool.to_owned() }),
            _ => {
                let naming = quote(tool);
                Err(Denied::new(plugin, Capability::Tools, tool, is_tool_name(tool).then_some(&*naming), held))
            }
        }
    }

    /// Checks that the plugin may use its own state in this way.
    ///
    /// # Errors
    ///
    /// When it has no such grant, or wants to write with one for reading.
    pub fn permit_state(&self, plugin: &PluginName, access: StateAccess) -> Result<StatePermit, Denied> {
        match self.scope(Capability::State) {
            Some(Scope::State(granted)) if access <= *granted => Ok(StatePermit { access }),
            held => Err(Denied::new(plugin, Capability::State, access.name(), Some(access.name()), held)),
        }
    }
}

macro_rules! path_permit {
    ($name:ident) => {
        impl $name {
            /// The granted root that covers the path, as it was granted: absolute and lexically normal.
            pub fn root(&self) -> &Path {
                self.0.root.path()
            }

            /// The path beneath the root, without `.` and `..`; empty when the path is the root.
            pub fn relative(&self) -> &Path {
                &self.0.relative
            }

            /// Asks again for the path that the kernel resolved, since a symbolic link can lead from a permitted
            /// name to a denied file.
            ///
            /// `real` is the resolved path beneath the root, or absolute with [`Self::root`] at its start: if the
            /// root's own path goes through symbolic links, that part of the resolved path is to be put back.
            ///
            /// # Errors
            ///
            /// When the real path is not beneath the root, or is denied.
            pub fn recheck(&self, real: &Path) -> Result<(), Denied> {
                self.0.recheck(real)
            }

            /// Asks again for the path that the kernel resolved, on a file system that takes names that differ in the
            /// case of letters, or in how they are composed, for the same.
            ///
            /// # Errors
            ///
            /// When a deny matches any spelling of the path.
            pub fn recheck_folded(&self, real: &Path) -> Result<(), Denied> {
                self.0.recheck_folded(real)
            }

            /// Returns whether the root's denies exclude this path, which is absolute and lexically normal. For walks:
            /// a denied directory need not be entered, since everything beneath it is denied too.
            pub fn denies(&self, absolute: &Path) -> bool {
                self.0.root.denies_path(absolute)
            }
        }
    };
}

path_permit!(ReadPermit);
path_permit!(WritePermit);

/// The common part of permits for reading and writing.
#[derive(Clone, Debug)]
struct PathPermit {
    plugin: PluginName,
    capability: Capability,
    root: Root,
    relative: PathBuf,
}

impl PathPermit {
    fn recheck(&self, real: &Path) -> Result<(), Denied> {
        self.recheck_by(real, |real| self.root.permits(real))
    }

    fn recheck_folded(&self, real: &Path) -> Result<(), Denied> {
        self.recheck_by(real, |real| !self.root.denies_folded(real))
    }

    fn recheck_by(&self, real: &Path, permits: impl Fn(&Path) -> bool) -> Result<(), Denied> {
        let absolute = self.root.path().join(real);
        if normal(&absolute).is_some_and(|real| permits(&real)) {
            return Ok(());
        }
        let root = Paths::from(self.root.clone());
        let held = match self.capability {
            Capability::FsWrite => Scope::FsWrite(root),
            Capability::FsRead
            | Capability::Process
            | Capability::Http
            | Capability::State
            | Capability::Mcp
            | Capability::Tools => Scope::FsRead(root),
        };
        Err(denied_path(&self.plugin, self.capability, &absolute, Some(&held)))
    }
}

fn denied_path(plugin: &PluginName, capability: Capability, path: &Path, held: Option<&Scope>) -> Denied {
    // A path that is relative, leaves `/` or is not UTF-8 cannot be granted.
    let naming = normal(path).and_then(|path| path.to_str().map(|text| quote(text).into_owned()));
    let denied = Denied::new(plugin, capability, &path.to_string_lossy(), naming.as_deref(), held);
    let covered = match (held, normal(path)) {
        (Some(Scope::FsRead(paths) | Scope::FsWrite(paths)), Some(path)) => {
            // Within a root and denied all the same: then no wider grant helps, and the message says so.
            path.to_str().is_some() && paths.roots().any(|root| path.starts_with(root.path()))
        }
        (
            Some(
                Scope::FsRead(_)
                | Scope::FsWrite(_)
                | Scope::Process(_)
                | Scope::Http(_)
                | Scope::State(_)
                | Scope::Mcp(_)
                | Scope::Tools(_),
            )
            | None,
            _,
        ) => false,
    };
    if covered { denied.left_out() } else { denied }
}

impl ProcessPermit {
    /// The program's name and its arguments; there is at least the name.
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// Adds the commands that the command runs, such as those of a shell's line: it may reach what any of them may,
    /// since they share a network.
    pub fn running(self, inner: Vec<Vec<String>>) -> Self {
        Self { inner, ..self }
    }

    /// Returns whether the command may reach any server when it is confined.
    pub fn has_servers(&self) -> bool {
        self.commands().any(|command| self.held.has_servers(command))
    }

    /// Returns what the command may use besides what every confined command may.
    pub fn resources(&self) -> Resources {
        let all = self.commands().map(|command| self.held.resources_for(command));
        all.reduce(|mut one, other| {
            one.servers.extend(other.servers);
            one.reads.extend(other.reads);
            one.writes.extend(other.writes);
            one
        })
        .unwrap_or_default()
    }

    fn commands(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.argv).chain(&self.inner)
    }

    /// Checks that the command may connect to the server when it is confined.
    ///
    /// # Errors
    ///
    /// When no granted list of servers covers it.
    pub fn permit_server(&self, server: &Authority) -> Result<ServerPermit, Denied> {
        let program = self.argv.first().map(String::as_str).unwrap_or_default();
        let wanted = format!("{program} to {server}");
        let naming = format!("{};net={server}", quote(program));
        let denied = Denied::new(&self.plugin, Capability::Process, &wanted, Some(&naming), None);
        match self.commands().filter_map(|command| self.held.reach(command, server)).max() {
            Some(reach) => Ok(ServerPermit { reach, denied }),
            None => Err(denied),
        }
    }

    /// Checks that the command may use git's repositories on a server when it is confined.
    ///
    /// # Errors
    ///
    /// When no granted list of servers covers it.
    pub fn permit_git(&self, remote: &GitRemote) -> Result<ServerPermit, Denied> {
        let program = self.argv.first().map(String::as_str).unwrap_or_default();
        let wanted = format!("{program} to {remote}");
        let naming = format!("{};net={remote}", quote(program));
        let denied = Denied::new(&self.plugin, Capability::Process, &wanted, Some(&naming), None);
        match self.commands().filter_map(|command| self.held.reach_of_git(command, remote)).max() {
            Some(reach) => Ok(ServerPermit { reach, denied }),
            None => Err(denied),
        }
    }
}

impl ServerPermit {
    /// Checks that the connection may go to this address, as [`HttpPermit::permit_address`] does.
    ///
    /// # Errors
    ///
    /// When the address is not on the public internet, and the grant reaches public addresses only.
    pub fn permit_address(&self, address: IpAddr) -> Result<(), Denied> {
        if self.reach == Reach::Anywhere || is_public(address) {
            return Ok(());
        }
        let wanted = format!("{} at {address}", self.denied.wanted);
        Err(Denied { wanted, ..self.denied.clone() })
    }
}

impl HttpPermit {
    /// The method that was asked for.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The server that was asked for.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Checks that the request may go to this address, to which the server's name resolves. Call it for each address,
    /// and connect only to addresses that were checked: a second lookup of the name can give a different address.
    ///
    /// # Errors
    ///
    /// When the address is not on the public internet (this machine, a private network, a link, a reserved block, or
    /// one of these inside an IPv6 address) and the grant reaches public addresses only.
    pub fn permit_address(&self, address: IpAddr) -> Result<(), Denied> {
        if self.reach == Reach::Anywhere || is_public(address) {
            return Ok(());
        }
        let wanted = format!("{} at {address}", request(&self.method, &self.authority));
        let naming = naming(&self.method, &self.authority);
        Err(Denied::new(&self.plugin, Capability::Http, &wanted, naming.as_deref(), Some(&self.held)))
    }
}

impl McpPermit {
    /// The server.
    pub fn server(&self) -> &McpServerName {
        &self.server
    }

    /// The tool, as the server calls it.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl StatePermit {
    /// Returns the permitted access.
    pub fn access(self) -> StateAccess {
        self.access
    }
}
