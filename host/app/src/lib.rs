//! The application between a configuration and a running session, for any frontend.
//!
//! Owns settings, trust of projects, sources of plugins, grants, the choice of models, agents, context, attachments,
//! sessions and reports. A frontend hands over an [`Environment`](environment::Environment) and plain requests, and
//! gets values and events back.
//!
//! Promises: nothing of an untrusted project is used; a grant is made from a user's words alone.
//!
//! Deliberately not here: a terminal, arguments of a command line, HTTP or MCP types, reading the process's
//! environment, printing, ending the process.

mod agent_files;
pub mod agents;
pub mod ahead;
mod allowed_tools;
pub mod app;
pub mod attach;
pub mod brought;
pub mod configuration;
mod confinement;
pub mod context;
pub mod denied_files;
pub mod environment;
pub mod error;
pub mod finder;
pub mod folder;
mod foreign_names;
mod front_matter;
pub mod grants;
pub mod hooks;
pub mod import;
pub mod indexes;
pub mod install;
pub mod mcp;
pub mod model_list;
pub mod models;
pub mod notify;
mod outside;
pub mod permissions;
mod placed;
pub mod plugins;
pub mod policies;
mod program_size;
pub mod project;
pub mod question;
pub mod report;
pub mod repository;
pub mod request;
pub mod servers;
pub mod session;
pub mod skills;
pub mod slash_commands;
pub mod start_mode;
pub mod tool_service;
