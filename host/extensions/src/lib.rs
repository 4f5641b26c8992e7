//! Everything that a user adds to the host, and what it may touch.
//!
//! Owns plugins and their sources, the built-in ones included, their installation and the indexes in which they are
//! found; the keys that sign them; MCP servers as they are configured and offered; hooks; agents as files; and the
//! grants that a user's words make.
//!
//! Promises: nothing of an untrusted project is used; a grant is made from a user's words alone; a plugin that cannot
//! be used is reported.
//!
//! Deliberately not here: configuration and trust (`host-settings`), opening and driving a session (`host-app`), the
//! Model Context Protocol (`host-mcp`), and a terminal.

pub mod agents;
pub mod ahead;
pub mod checks;
pub mod grants;
pub mod hooks;
pub mod indexes;
pub mod install;
pub mod keys;
pub mod notify;
pub mod plugins;
pub mod servers;
