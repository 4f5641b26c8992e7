//! Everything that is read before a session opens, as plain values.
//!
//! Owns the [`Environment`](environment::Environment) that a frontend hands over and the folders of the host, the
//! configuration, trust of projects, policies, the choice of models, the walls around programs, MCP servers as values,
//! skills and commands as files, and the one [`Failure`](error::Failure) of the application.
//!
//! Promises: nothing of an untrusted project is used; an unknown key of a configuration is an error; a project
//! takes no denial of the user's away.
//!
//! Deliberately not here: plugins, hooks, connections to servers and sessions (the crates above), a terminal, reading
//! the process's environment, printing.

mod agent_files;
pub mod allowed_tools;
pub mod brought;
pub mod configuration;
pub mod confinement;
pub mod denied_files;
pub mod editing;
pub mod environment;
pub mod error;
pub mod file_sizes;
pub mod folder;
pub mod foreign_names;
pub mod front_matter;
pub mod mcp;
pub mod model_list;
pub mod models;
pub mod outside;
pub mod own_file;
pub mod own_text;
pub mod permissions;
mod placed;
pub mod policies;
pub mod project;
pub mod repository;
pub mod request;
pub mod skills;
pub mod slash_commands;
