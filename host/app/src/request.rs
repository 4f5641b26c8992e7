//! Requests of a frontend, as plain values: where to work, what tools may touch, what to run.

use std::path::PathBuf;
use std::time::Duration;

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
}

/// The task of a run, and its limits.
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// The model, `PROVIDER/NAME`; `None` is the configured one.
    pub model: Option<String>,
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
