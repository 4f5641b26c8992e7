//! The access of plugins, as a lattice: capabilities, their scopes, grants, and the permits that grants give.
//!
//! Owns [`Capability`] (a kind of thing), [`Scope`] (the part of it), [`Grants`] (all that a plugin may touch), the
//! permits ([`ReadPermit`], [`WritePermit`], [`ProcessPermit`], [`ServerPermit`], [`HttpPermit`], [`StatePermit`],
//! [`McpPermit`], [`ToolPermit`]) and [`Denied`], the denial that names the grant which would have allowed the use.
//!
//! It promises that
//! * nothing is granted by default: [`Grants::none`] permits nothing, and grants grow only by [`Grants::with`] and
//!   [`Grants::join`], which the host calls only for grants that the user gives;
//! * grants shrink by [`Grants::meet`]: `a.meet(&b)` permits exactly what both `a` and `b` permit;
//! * `a.le(&b)` means that `b` permits everything that `a` permits;
//! * only the check makes a permit: its fields are private, and it has no other constructor;
//! * text in a [`Denied`] or a [`ScopeError`] is safe for a terminal and bounded, whoever wrote it.
//!
//! Paths are those of Unix, absolute and resolved lexically. Deliberately not here: touching a file, a process or the
//! network, knowing wasmtime, asking a user, and policy rules, which decide whether the user is asked about a permitted
//! call first.

mod address;
mod antichain;
mod authorities;
mod authority;
mod capability;
mod denied;
mod deny;
mod error;
mod grants;
mod list;
mod mcp;
mod paths;
mod permit;
mod plugin;
mod programs;
mod remote;
mod scope;
mod ssh;
mod state;
mod tool_names;
mod visible;

pub use authorities::Authorities;
pub use authority::{Authority, HostError};
pub use capability::{Capability, CapabilitySet, UnknownCapability};
pub use denied::{ANY_SERVER, Denied};
pub use error::ScopeError;
pub use grants::Grants;
pub use mcp::{InvalidMcpServerName, MAX_MCP_SERVER_NAME, MAX_MCP_TOOL_NAME, McpServerName, McpTools};
pub use paths::{Paths, Root};
pub use permit::{
    HttpPermit, McpPermit, ProcessPermit, ReadPermit, ServerPermit, StatePermit, ToolPermit, WritePermit,
};
pub use plugin::PluginName;
pub use programs::{Programs, Resources};
pub use remote::{NotPublic, RemotePermit};
pub use scope::Scope;
pub use ssh::{GitDirection, GitRemote};
pub use state::StateAccess;
pub use tool_names::ToolNames;
