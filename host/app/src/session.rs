//! Sessions: what a run is put together from, which session is resumed, and what the main agent is asked.

pub mod builder;
pub mod find;
pub mod main_agent;
pub mod resume;
pub mod subagents;
pub mod task;

/// The name of the root agent in a session log.
pub const MAIN: &str = "main";
