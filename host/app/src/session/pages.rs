//! What a session and its records are, as pages and texts to read: lists, one session whole, the versions of a file,
//! the verdicts about logs, and what its commands show.
//!
//! Promises that whatever is in a log, nothing here panics, and nothing of it steers a terminal. Deliberately not here:
//! reading logs and counting, which the modules beside this one do, and where a text goes.

pub mod agents;
pub mod allowed;
pub mod blame;
pub mod call;
pub mod cost;
pub mod hooks;
pub mod list;
pub mod markdown;
pub mod memory;
pub mod models;
pub mod offered;
pub mod processes;
pub mod rewind;
pub mod servers;
pub mod settings;
pub mod show;
pub mod start;
pub mod stats;
pub mod status;
pub mod steps;
pub mod tools;
pub mod undo;
pub mod verify;
pub mod window;

#[cfg(test)]
mod tests;
