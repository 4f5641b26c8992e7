//! The arguments of `host acp`.

use clap::Args;
use host_model::{Effort, Verbosity};
use host_settings::request::RunRequest;

use super::{Access, amount, duration, model_help};

/// Help on using it.
const HELP: &str = "The editor starts it and sends prompts; each session works in the folder that the editor has open. For \
example, in Zed's settings.json:
  \"agent_servers\": {\"host\": {\"type\": \"custom\", \"command\": \"host\", \"args\": [\"acp\", \"--approval-mode\", \"auto\"]}}

Choose a model with `host` in a terminal first, or name one:
  host acp --model gemini/gemini-3.6-flash

docs/editors.md has the settings of other editors.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Acp {
    #[arg(short, long, value_name = "ID", help = model_help())]
    pub(crate) model: Option<String>,
    /// How much the model thinks: none, minimal, low, medium, high, xhigh or max; a model without this one uses the
    /// next lower one [default: the configured one, else the usual one of the model]
    #[arg(long, value_name = "EFFORT")]
    pub(crate) effort: Option<Effort>,
    /// How many words the model's answers have: low, medium or high, for the models that let you choose [default: the
    /// configured one, else the model's own]
    #[arg(long, value_name = "VERBOSITY")]
    pub(crate) verbosity: Option<Verbosity>,
    /// Maximum number of requests to the model for each prompt [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,
    /// Time limit for each prompt, such as 90s, 10m or 1h [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<std::time::Duration>,
    /// Maximum number of tokens sent and received for each prompt, subagents included [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// Maximum cost of each prompt, subagents included, by configured or list prices [default: no limit]
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    max_cost: Option<f64>,
    /// Work in folders that are not a repository
    #[arg(long)]
    pub(crate) any_folder: bool,
    #[command(flatten)]
    pub(crate) access: Access,
}

impl Acp {
    /// What holds for the prompts of all sessions, as a plain request.
    pub(crate) fn request(&self) -> RunRequest {
        RunRequest {
            model: self.model.clone(),
            effort: self.effort,
            verbosity: self.verbosity,
            max_turns: self.max_turns,
            timeout: self.timeout,
            max_tokens: self.max_tokens,
            max_cost: self.max_cost,
            ..RunRequest::default()
        }
    }
}
