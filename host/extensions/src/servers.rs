//! The MCP servers of an application: which ones there are, what they offer a model, and what a user is shown of them.
//!
//! Promises: a project's server counts only if the project is trusted; nothing is started or reached before a session,
//! or a command about servers, wants it; what a server says about itself widens nothing.
//!
//! `written` adds and removes them. Deliberately not here: the protocol (`host-mcp`, behind the interface of `mcp`).

mod files;
mod hub;
mod offer;
mod report;
mod settings;
mod supply;
pub mod written;

pub use self::hub::{McpHub, REQUIRED_PATIENCE};
pub use self::offer::{Offer, OfferedTool};
pub use self::report::{McpReport, PATIENCE, ReportedTool};
pub use self::settings::{ConfiguredServers, Places};
pub use self::supply::{Deferral, LoadedInto, McpSupply};
