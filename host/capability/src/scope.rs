//! Scopes: the files, programs or servers that a capability covers, and their text form.
//!
//! Each scope has one text form, the same in a manifest, a flag, a configuration file and a message. Common to all: `,`
//! separates items, white space separates words; text within `'…'` and `"…"` is literal.
//!
//! Deliberately not here: the meaning of a capability's items, which is in its own file, and what a scope permits,
//! which only a check decides.

use std::fmt;
use std::path::Path;

use crate::authorities::is_method;
use crate::deny::escaped;
use crate::list::Form;
use crate::visible::visible;
use crate::{
    Authorities, Authority, Capability, McpServerName, McpTools, Paths, Programs, Resources, ScopeError, StateAccess,
    ToolNames,
};

/// A capability with what it covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Reading these files.
    FsRead(Paths),
    /// Changing these files.
    FsWrite(Paths),
    /// Running these commands.
    Process(Programs),
    /// Sending these requests.
    Http(Authorities),
    /// Using its own state in this way.
    State(StateAccess),
    /// Calling these tools of MCP servers.
    Mcp(McpTools),
    /// Calling these tools of the session.
    Tools(ToolNames),
}

impl Scope {
    /// Parses a scope.
    ///
    /// * `fs-read`, `fs-write`: roots (`.`, `src`, `/abs/path`; `*` is `/`) and denies (`!.env`, `!*.{pem,key}`,
    ///   `!docs/private`, `!/home/*/.ssh`), which apply to all roots of their list; `;` begins another list. Relative
    ///   paths are resolved against the workspace, and `..` is resolved lexically. A deny that is only a name, or
    ///   starts with `**/`, applies in every directory. It denies what it matches and everything beneath.
    /// * `process`: a program and its first arguments (`git`, `cargo test --`), or `*` for any; a bare `$` at the end
    ///   lets no argument follow. `;net=HOST[:PORT][ +private],…` behind a list names the servers that its commands
    ///   reach when they are confined; the port is 443 if there is none, and addresses are public without `+private`.
    ///   `;read=PATH,…` and `;write=PATH,…` name what they may read, or change, besides what every confined program
    ///   may.
    /// * `http`: `[METHOD[+METHOD…] ]HOST[:PORT][ +private| -private]`. The host is exact, `*.suffix` for all beneath a
    ///   name, or `*`; IPv6 addresses are in brackets. The port is a number, `*`, or 443; the methods are `*`, or those
    ///   named, or `GET` and `HEAD`. `+private` lets the name lead to this machine and to private networks, which is
    ///   the default for an exact host but not for a pattern.
    /// * `state`: `read`, or `write`, which includes reading; `*` is `write`.
    /// * `mcp`: `SERVER`, or `SERVER/TOOL` as the server calls it, or `*` for all; with ` read` behind it only tools
    ///   that the host knows to read.
    /// * `tools`: names of tools, or `*` for all and `!NAME` behind it for all but this one.
    ///
    /// # Errors
    ///
    /// When the text has none of these forms, or the workspace is not an absolute path that can be written as text.
    pub fn parse(capability: Capability, text: &str, workspace: &Path) -> Result<Self, ScopeError> {
        Self::parse_form(capability, text, Form::Written(workspace))
    }

    /// Reads a scope in which nothing is relative, as `Display` writes it: for what the host stored, so its limits
    /// are wider.
    ///
    /// # Errors
    ///
    /// As [`Scope::parse`], and when a path is relative.
    pub fn parse_absolute(capability: Capability, text: &str) -> Result<Self, ScopeError> {
        Self::parse_form(capability, text, Form::Stored)
    }

    /// Creates a scope for the file or folder at this path, which is absolute, for reading or changing.
    ///
    /// # Errors
    ///
    /// When the path is relative or cannot be written as the text of a scope, or the capability is not one of files.
    pub fn for_path(capability: Capability, path: &Path) -> Result<Self, ScopeError> {
        Self::of_files(capability, path, || Paths::at(path, true))
    }

    /// Creates a scope for the file at this path, which is absolute, and nothing beneath it, should it ever be a
    /// folder.
    ///
    /// # Errors
    ///
    /// As [`Scope::for_path`].
    pub fn for_file(capability: Capability, path: &Path) -> Result<Self, ScopeError> {
        Self::of_files(capability, path, || Paths::at(path, false))
    }

    /// Creates a scope for all files but those that these globs deny, each written as it is behind a `!` in a text, and
    /// these paths, which are absolute, with all that is beneath them.
    ///
    /// # Errors
    ///
    /// When a glob is not one or is relative to a workspace, when a path is relative or cannot be written as the text
    /// of a scope, or the capability is not one of files.
    pub fn all_files_but<'a>(
        capability: Capability,
        globs: &[&str],
        paths: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self, ScopeError> {
        Self::of_files(capability, Path::new("/"), || Paths::all_but(globs, paths))
    }

    /// The same for globs alone, of which a relative one is meant beneath the workspace.
    ///
    /// # Errors
    ///
    /// As [`Scope::all_files_but`], and when the workspace is not an absolute path that can be written as text.
    pub fn all_files_but_in(capability: Capability, globs: &[&str], workspace: &Path) -> Result<Self, ScopeError> {
        Self::of_files(capability, workspace, || Paths::all_but_in(globs, workspace))
    }

    /// Returns the glob that matches a path alone, for a text with globs.
    pub fn escaped(path: &str) -> String {
        escaped(path)
    }

    /// Whether this is a scope of files that has the path, which is absolute and normal.
    pub fn has_path(&self, path: &Path) -> bool {
        match self {
            Self::FsRead(paths) | Self::FsWrite(paths) => paths.permitting(path).is_some(),
            Self::Process(_) | Self::Http(_) | Self::State(_) | Self::Mcp(_) | Self::Tools(_) => false,
        }
    }

    fn of_files(
        capability: Capability,
        path: &Path,
        paths: impl FnOnce() -> Result<Paths, ScopeError>,
    ) -> Result<Self, ScopeError> {
        match capability {
            Capability::FsRead => paths().map(Self::FsRead),
            Capability::FsWrite => paths().map(Self::FsWrite),
            Capability::Process | Capability::Http | Capability::State | Capability::Mcp | Capability::Tools => {
                Err(ScopeError::Relative { path: visible(&path.to_string_lossy()) })
            }
        }
    }

    /// Creates a scope for requests with this method, and no other, to this server. It reaches this machine and private
    /// networks only if the server's name shows this: an address, or `localhost`. Any other name says nothing about its
    /// addresses.
    ///
    /// # Errors
    ///
    /// When the method cannot be written as the text of a scope.
    pub fn for_request(method: &str, to: &Authority) -> Result<Self, ScopeError> {
        if !is_method(method) {
            return Err(ScopeError::Method { text: visible(method) });
        }
        let reach = if to.is_plainly_private() { "+private" } else { "-private" };
        Self::parse_absolute(Capability::Http, &format!("{method} {to} {reach}"))
    }

    /// Creates a scope for a tool of an MCP server, as the server calls it; with `reads` it covers the tool only as
    /// long as the host knows that it reads.
    pub fn for_mcp_tool(server: &McpServerName, tool: &str, reads: bool) -> Self {
        Self::Mcp(McpTools::tool(server, tool, reads))
    }

    /// Creates a scope for the tools of an MCP server that the host knows to read.
    pub fn for_reading_mcp_tools(server: &McpServerName) -> Self {
        Self::Mcp(McpTools::reading_of(server))
    }

    /// Returns the scope of all tools of the MCP servers that this one names; `None` if it names none.
    #[must_use]
    pub fn for_whole_mcp_servers(&self) -> Option<Self> {
        match self {
            Self::Mcp(tools) => tools.whole_servers().map(Self::Mcp),
            Self::FsRead(_) | Self::FsWrite(_) | Self::Process(_) | Self::Http(_) | Self::State(_) | Self::Tools(_) => {
                None
            }
        }
    }

    /// Creates a scope for this command without further arguments; `None` if it names no program.
    pub fn for_command(argv: &[String]) -> Option<Self> {
        Programs::exactly(argv).map(Self::Process)
    }

    /// Creates a scope for this command without further arguments, and for what it wants to use besides when it is
    /// confined. `None` if it names no program.
    ///
    /// # Errors
    ///
    /// When a server or a path cannot be granted.
    pub fn for_command_using(argv: &[String], resources: &Resources) -> Result<Option<Self>, ScopeError> {
        Ok(Programs::using(argv, resources)?.map(Self::Process))
    }

    /// Returns the most that a plugin can be granted if it requests this: its programs may use whatever servers
    /// and files they are granted, since a plugin does not know what the programs need.
    #[must_use]
    pub fn requested(self) -> Self {
        match self {
            Self::Process(programs) => Self::Process(programs.with_anything()),
            Self::FsRead(_) | Self::FsWrite(_) | Self::Http(_) | Self::State(_) | Self::Mcp(_) | Self::Tools(_) => self,
        }
    }

    /// Returns the scope without what its programs may use besides: the least that lets them run.
    #[must_use]
    pub fn without_resources(&self) -> Self {
        match self {
            Self::Process(programs) => Self::Process(programs.alone()),
            Self::FsRead(_) | Self::FsWrite(_) | Self::Http(_) | Self::State(_) | Self::Mcp(_) | Self::Tools(_) => {
                self.clone()
            }
        }
    }

    fn parse_form(capability: Capability, text: &str, form: Form<'_>) -> Result<Self, ScopeError> {
        match capability {
            Capability::FsRead => Paths::parse(text, form).map(Self::FsRead),
            Capability::FsWrite => Paths::parse(text, form).map(Self::FsWrite),
            Capability::Process => Programs::parse(text, form).map(Self::Process),
            Capability::Http => Authorities::parse(text, form).map(Self::Http),
            Capability::State => StateAccess::parse(text, form).map(Self::State),
            Capability::Mcp => McpTools::parse(text, form).map(Self::Mcp),
            Capability::Tools => ToolNames::parse(text, form).map(Self::Tools),
        }
    }

    /// The capability.
    pub fn capability(&self) -> Capability {
        match self {
            Self::FsRead(_) => Capability::FsRead,
            Self::FsWrite(_) => Capability::FsWrite,
            Self::Process(_) => Capability::Process,
            Self::Http(_) => Capability::Http,
            Self::State(_) => Capability::State,
            Self::Mcp(_) => Capability::Mcp,
            Self::Tools(_) => Capability::Tools,
        }
    }

    /// Returns what both cover; `None` if that is nothing, or the capabilities differ.
    pub fn meet(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::FsRead(a), Self::FsRead(b)) => a.meet(b).map(Self::FsRead),
            (Self::FsWrite(a), Self::FsWrite(b)) => a.meet(b).map(Self::FsWrite),
            (Self::Process(a), Self::Process(b)) => a.meet(b).map(Self::Process),
            (Self::Http(a), Self::Http(b)) => a.meet(b).map(Self::Http),
            (Self::State(a), Self::State(b)) => Some(Self::State(*a.min(b))),
            (Self::Mcp(a), Self::Mcp(b)) => a.meet(b).map(Self::Mcp),
            (Self::Tools(a), Self::Tools(b)) => a.meet(b).map(Self::Tools),
            (
                Self::FsRead(_)
                | Self::FsWrite(_)
                | Self::Process(_)
                | Self::Http(_)
                | Self::State(_)
                | Self::Mcp(_)
                | Self::Tools(_),
                _,
            ) => None,
        }
    }

    /// Returns what either covers; `None` if the capabilities differ.
    pub fn join(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::FsRead(a), Self::FsRead(b)) => Some(Self::FsRead(a.join(b))),
            (Self::FsWrite(a), Self::FsWrite(b)) => Some(Self::FsWrite(a.join(b))),
            (Self::Process(a), Self::Process(b)) => Some(Self::Process(a.join(b))),
            (Self::Http(a), Self::Http(b)) => Some(Self::Http(a.join(b))),
            (Self::State(a), Self::State(b)) => Some(Self::State(*a.max(b))),
            (Self::Mcp(a), Self::Mcp(b)) => Some(Self::Mcp(a.join(b))),
            (Self::Tools(a), Self::Tools(b)) => Some(Self::Tools(a.join(b))),
            (
                Self::FsRead(_)
                | Self::FsWrite(_)
                | Self::Process(_)
                | Self::Http(_)
                | Self::State(_)
                | Self::Mcp(_)
                | Self::Tools(_),
                _,
            ) => None,
        }
    }

    /// Returns whether the other covers all that this covers.
    pub fn le(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::FsRead(a), Self::FsRead(b)) | (Self::FsWrite(a), Self::FsWrite(b)) => a.le(b),
            (Self::Process(a), Self::Process(b)) => a.le(b),
            (Self::Http(a), Self::Http(b)) => a.le(b),
            (Self::State(a), Self::State(b)) => a <= b,
            (Self::Mcp(a), Self::Mcp(b)) => a.le(b),
            (Self::Tools(a), Self::Tools(b)) => a.le(b),
            (
                Self::FsRead(_)
                | Self::FsWrite(_)
                | Self::Process(_)
                | Self::Http(_)
                | Self::State(_)
                | Self::Mcp(_)
                | Self::Tools(_),
                _,
            ) => false,
        }
    }
}

/// The absolute form, which [`Scope::parse_absolute`] and [`Scope::parse`] take back.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FsRead(paths) | Self::FsWrite(paths) => paths.fmt(f),
            Self::Process(programs) => programs.fmt(f),
            Self::Http(authorities) => authorities.fmt(f),
            Self::State(access) => access.fmt(f),
            Self::Mcp(tools) => tools.fmt(f),
            Self::Tools(tools) => tools.fmt(f),
        }
    }
}
