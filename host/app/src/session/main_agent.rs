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
use crate::session::task;

/// The input of the main agent: a user's text reaches the query as one, since an input is not a template.
const PROMPT: &str = "prompt";

/// The agent, asking this model, without its system prompt.
pub fn definition(run: &RunRequest, app: &App, model: &Model) -> Result<AgentDefinition, Failure> {
    let configured = app.configuration.main_run(model);
    let prompt = Input { description: "What the user wants.".to_owned(), kind: InputKind::String, required: true };
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
        inputs: InputConfig([(PROMPT.to_owned(), prompt)].into_iter().collect()),
        output,
        completion,
    })
}

/// Returns inputs with this prompt, which is the main agent's.
pub fn with_prompt(inputs: &Map<String, Value>, prompt: String) -> Map<String, Value> {
    let mut inputs = inputs.clone();
    inputs.insert(PROMPT.to_owned(), Value::String(prompt));
    inputs
}
