//! The main agent: its prompts and limits. Its answer is its first reply without a call, unless the answer has a form.
//!
//! Deliberately not here: its system prompt (`prompted`), for which its tools must be known.

use host_agent::{
    AgentDefinition, Completion, Input, InputConfig, InputKind, ModelConfig, PromptConfig, RunConfig, ToolConfig,
};
use host_journal::MAIN;
use host_settings::error::Failure;
use host_settings::models::Model;
use host_settings::request::RunRequest;
use serde_json::{Map, Value};

use crate::app::App;
use crate::context;
use crate::session::task;

/// The inputs of the main agent. Text from a user, a path or a file reaches the prompts as one of them, since an input
/// is not a template.
const PROMPT: &str = "prompt";
/// See [`PROMPT`].
pub(super) const WORKSPACE: &str = "workspace";
/// See [`PROMPT`].
pub(super) const CONTEXT: &str = "context";

/// The agent, asking this model, without its system prompt.
pub fn definition(run: &RunRequest, app: &App, model: &Model) -> Result<AgentDefinition, Failure> {
    let configured = app.configuration.main_run(model);
    let text = |name: &str, description: &str| {
        (name.to_owned(), Input { description: description.to_owned(), kind: InputKind::String, required: true })
    };
    let inputs = [
        text(PROMPT, "What the user wants."),
        text(WORKSPACE, "The folder to work in."),
        text(CONTEXT, "What there is in it, and what was written down for the agent."),
    ];
    let output = run.output_schema.as_deref().map(task::output).transpose()?;
    let completion = if output.is_some() { Completion::Tool } else { Completion::Text };
    Ok(AgentDefinition {
        name: MAIN.to_owned(),
        display_name: "Main agent".to_owned(),
        description: "Does what the user asks, in their repository.".to_owned(),
        prompt: PromptConfig { system: None, initial_messages: Vec::new(), query: format!("${{{PROMPT}}}") },
        model: ModelConfig { model: model.name.clone(), settings: model.settings.clone() },
        run: RunConfig {
            max_turns: run.max_turns.or(configured.max_turns),
            max_time: run.timeout.or(configured.max_time),
            ..configured
        },
        tools: ToolConfig::All,
        inputs: InputConfig(inputs.into_iter().collect()),
        output,
        completion,
    })
}

/// Returns the inputs of its prompts.
pub fn inputs(app: &App, prompt: String, context: String) -> Map<String, Value> {
    let workspace = context::name(&app.workspace.root().display().to_string()).into_owned();
    let given = [(PROMPT, prompt), (WORKSPACE, workspace), (CONTEXT, context)];
    Map::from_iter(given.map(|(name, text)| (name.to_owned(), Value::String(text))))
}

/// The same with another prompt.
pub fn with_prompt(inputs: &Map<String, Value>, prompt: String) -> Map<String, Value> {
    let mut inputs = inputs.clone();
    inputs.insert(PROMPT.to_owned(), Value::String(prompt));
    inputs
}
