//! The Model Context Protocol: the tools of servers for our agents, and our tools for the agents of others.
//!
//! Owns the client, which is how the application reaches the servers that a user configured, and the server, a frontend
//! like the terminal. No other crate knows the protocol's types.
//!
//! Deliberately not here: which servers there are and what a call may do (`host-extensions`, `host-capability`),
//! printing, and reading the environment.

mod client;
mod server;

pub use client::Connector;
pub use server::{HttpOptions, ServeError, Token, serve_http, serve_stdio};
