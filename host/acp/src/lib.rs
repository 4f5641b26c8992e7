//! The Agent Client Protocol (version 1): a frontend for editors.
//!
//! Owns the protocol on a pair of streams: sessions, prompts, updates, questions about calls, and the texts of open
//! files. No other crate knows the protocol's types.
//!
//! Promises: nothing but messages of the protocol is written; an unknown session, mode or option is an error; a
//! question that a client cannot or does not answer is a no; the end of the input ends all sessions with what they
//! started.
//!
//! Deliberately not here: what a session is and may do (`host-app`), printing, reading the environment, and running
//! programs in the client's terminals, which would be outside of the sandbox.

mod agent;
mod calls;
mod commands;
mod connection;
mod errors;
mod handle;
mod handover;
mod lines;
mod listing;
mod open_files;
mod options;
mod outbox;
mod prompt;
mod questions;
mod replay;
mod serve;
mod session;
mod updates;

pub use connection::Setup;
pub use lines::MAX_LINE;
pub use serve::serve;
