//! `host mcp serve`: the wire of the Model Context Protocol against the real binary, over both transports and in both
//! revisions, with clients that behave and clients that do not.
//!
//! Deliberately not here: what the sandbox lets a tool do, which is the same for a run.

mod agents;
mod calls;
pub(crate) mod client;
mod hostile;
mod http;
mod questions;
mod startup;
mod streams;
