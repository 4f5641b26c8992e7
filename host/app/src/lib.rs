//! The application between a configuration and a running session, for any frontend.
//!
//! Owns the [`App`](app::App), which is opened once in a folder, and its sessions: start, resume, prompts, commands,
//! status; context files and attachments; questions to a user as values. A frontend hands over an
//! [`Environment`](host_settings::environment::Environment) and plain requests, and gets values and events back.
//!
//! Promises: a frontend decides nothing, since each gets the same values; nothing of an untrusted project is used.
//!
//! Deliberately not here: what is read before a session opens (`host-settings`), plugins, servers, hooks and grants
//! (`host-extensions`), recorded sessions and reports of runs (`host-sessions`), a terminal, arguments of a command
//! line, HTTP or MCP types, reading the process's environment, printing, ending the process.

pub mod app;
pub mod attach;
pub mod built_in;
pub mod completion;
pub mod context;
pub mod doctor;
pub mod finder;
pub mod installation;
pub mod model_choice;
pub mod page;
pub mod question;
pub mod session;
pub mod single_call;
pub mod start_mode;
pub mod tool_service;
pub mod update;
