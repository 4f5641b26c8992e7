//! Requests of a frontend, as plain values: where to work, what tools may touch, what to run.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use host_model::{Effort, Verbosity};
use host_process::ConfineMode;
use host_tool::ApprovalMode;

/// The folder to work in.
#[derive(Clone, Debug, Default)]
pub struct FolderRequest {
    /// The folder; `None` is the current one.
    pub folder: Option<PathBuf>,
    /// Also work in a folder that is not in a repository.
    pub any_folder: bool,
}

/// Whether a user is there who can be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attended {
    /// One is.
    Yes,
    /// Nobody is: what would be asked about is denied.
    #[default]
    No,
}

impl Attended {
    /// Returns `Yes` if a user is there.
    pub fn from_presence(is_there: bool) -> Self {
        if is_there { Self::Yes } else { Self::No }
    }
}

/// Access of tools, as the user wrote it.
#[derive(Clone, Debug, Default)]
pub struct AccessRequest {
    /// The approval mode; `None` is the configured one.
    pub approval_mode: Option<ApprovalMode>,
    /// Grants, each `PLUGIN:CAPABILITY=SCOPE`.
    pub grant: Vec<String>,
    /// Denials, each `PLUGIN:CAPABILITY` or `PLUGIN:fs-read=GLOB`; `*` is every plugin.
    pub deny: Vec<String>,
    /// Folders besides the workspace that tools read and change like it, in the user's words.
    pub add_dir: Vec<String>,
    /// Whether programs are confined; `None` is the configured mode.
    pub confine: Option<ConfineMode>,
    /// Components, or folders of them, to use in addition to the installed plugins.
    pub plugin: Vec<PathBuf>,
    /// MCP servers in addition to the configured ones.
    pub servers: Vec<McpServerRequest>,
}

/// The task of a run, and its limits.
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// The model, `PROVIDER/NAME`; `None` is the configured one.
    pub model: Option<String>,
    /// How much the model thinks; `None` is the configured effort, or the usual one of the model.
    pub effort: Option<Effort>,
    /// How many words the model's answers have; `None` is the configured verbosity, or the model's own.
    pub verbosity: Option<Verbosity>,
    /// A file to record everything that models say in.
    pub record: Option<PathBuf>,
    /// The declared agent to run; `None` is the main agent.
    pub agent: Option<String>,
    /// The inputs of the declared agent, each `NAME=VALUE`.
    pub input: Vec<String>,
    /// A file with the JSON Schema of the answer.
    pub output_schema: Option<PathBuf>,
    /// The most turns.
    pub max_turns: Option<u32>,
    /// The longest time.
    pub timeout: Option<Duration>,
    /// The most tokens to send and receive, subagents included.
    pub max_tokens: Option<u64>,
    /// The highest cost, subagents included, in the currency of the configured prices, or in US dollars by list prices.
    pub max_cost: Option<f64>,
}

/// An MCP server that a frontend hands over for one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerRequest {
    /// Its name. Not escaped.
    pub name: String,
    /// How it is reached.
    pub endpoint: McpEndpoint,
}

/// How an MCP server is reached that a frontend hands over. The values of variables and headers are secrets, and not
/// part of its debug text.
#[derive(Clone, PartialEq, Eq)]
pub enum McpEndpoint {
    /// A program that speaks on its standard streams.
    Command {
        /// The program.
        command: PathBuf,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it gets in addition.
        env: Vec<(String, String)>,
    },
    /// A server at an address.
    Address {
        /// The address.
        url: String,
        /// Headers of each request.
        headers: Vec<(String, String)>,
    },
}

impl fmt::Debug for McpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        match self {
            Self::Command { command, args, env } => f
                .debug_struct("Command")
                .field("command", command)
                .field("args", args)
                .field("env", &names(env))
                .finish(),
            Self::Address { url, headers } => {
                f.debug_struct("Address").field("url", url).field("headers", &names(headers)).finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_of_an_mcp_server_does_not_show_its_secrets() {
        let secret = || vec![("TOKEN".to_owned(), "s3cret".to_owned())];
        let command = McpEndpoint::Command { command: "x".into(), args: vec!["-v".to_owned()], env: secret() };
        let address = McpEndpoint::Address { url: "https://x.example".to_owned(), headers: secret() };
        for endpoint in [command, address] {
            let shown = format!("{:?}", McpServerRequest { name: "x".to_owned(), endpoint });
            assert!(shown.contains("TOKEN") && !shown.contains("s3cret"), "{shown}");
        }
    }
}
