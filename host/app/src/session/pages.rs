//! What a session is and what its commands show, as pages to read.
//!
//! Promises that nothing here steers a terminal. Deliberately not here: counting, which the modules beside this one do,
//! recorded sessions (`host-sessions`), and where a text goes.

pub mod agents;
pub mod allowed;
pub mod cost;
pub mod hooks;
pub mod memory;
pub mod models;
pub mod processes;
pub mod rewind;
pub mod servers;
pub mod settings;
pub mod start;
pub mod stats;
pub mod status;
pub mod steps;
pub mod tools;
pub mod undo;
pub mod window;
