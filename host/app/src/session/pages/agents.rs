//! The agents of a session: what each is for, and everything about one.

use std::fmt::Write as _;

use host_agent::{AgentDefinition, InputConfig, ToolConfig};
use host_extensions::agents::{Agent, Source};
use host_text::{clip, counted, escape_json, visible, visible_line};
use serde_json::{Value, json};

use crate::page::{Line, Page};
use crate::session::prompt_report::PromptReport;

/// Maximum number of characters of a description in the list: it is one line.
const FIRST_WORDS: usize = 100;

/// The page.
pub fn page(agents: &[Agent]) -> Page {
    let lines = agents.iter().flat_map(|agent| {
        let definition = &agent.declared.definition;
        let first = definition.description.lines().next().unwrap_or_default();
        let off = if agent.enabled { "" } else { " (not enabled)" };
        let (name, source) = (visible_line(&definition.display_name), &agent.source);
        let (tools, inputs) = (tools(definition).join(", "), names(&definition.inputs));
        [
            Line::new(format!("{}  {name}, {source}{off}", definition.name)).indented(2),
            Line::new(format!("  {}", visible_line(&clip(first, FIRST_WORDS)))).indented(4),
            Line::new(format!("  tools: {tools}; inputs: {inputs}")).indented(4),
        ]
    });
    lines.collect()
}

/// Everything about an agent, its prompts included.
pub fn show(agent: &Agent) -> String {
    let definition = &agent.declared.definition;
    let AgentDefinition { prompt, run, model, .. } = definition;
    let off = if agent.enabled { "" } else { ", not enabled" };
    let mut text =
        format!("{}: {}, {}{off}\n\n", definition.name, visible_line(&definition.display_name), agent.source);
    let _ = writeln!(text, "{}\n", visible(definition.description.trim()));
    let _ = writeln!(text, "Model: {}", agent.declared.model.as_deref().unwrap_or("the caller's"));
    let settings = [
        ("temperature", model.settings.temperature.map(|value| value.to_string())),
        ("top-p", model.settings.top_p.map(|value| value.to_string())),
        ("thinking budget", model.settings.thinking_budget.map(|value| value.to_string())),
    ];
    for (name, value) in settings {
        if let Some(value) = value {
            let _ = writeln!(text, "  {name}: {value}");
        }
    }
    let turns = run.max_turns.map_or_else(|| "no turn limit".to_owned(), |turns| counted(turns, "turn"));
    let time = run.max_time.map_or_else(|| "no time limit".to_owned(), |time| format!("{} s", time.as_secs_f64()));
    let _ = writeln!(text, "Limits: {turns}, {time}");
    let _ = writeln!(text, "Tools: {}", tools(definition).join(", "));
    let _ = writeln!(text, "Inputs:");
    for (name, input) in &definition.inputs.0 {
        let need = if input.required { "" } else { ", optional" };
        let _ = writeln!(text, "  {name} ({}{need}): {}", input.kind, visible_line(input.description.trim()));
    }
    match &definition.output {
        None => text.push_str("Output: a text\n"),
        Some(output) => {
            let _ =
                writeln!(text, "Output `{}`: {}", visible_line(&output.name), visible_line(output.description.trim()));
            let _ = writeln!(text, "{}", escape_json(&format!("{:#}", output.schema)));
        }
    }
    let _ = writeln!(text, "\nSystem prompt:\n\n{}", visible(prompt.system.as_deref().unwrap_or_default()));
    let _ = writeln!(text, "\nQuery:\n\n{}", visible(prompt.query.trim_end()));
    text
}

/// An agent in a list, as data.
pub fn row(agent: &Agent) -> Value {
    let definition = &agent.declared.definition;
    json!({
        "name": definition.name,
        "display_name": definition.display_name,
        "description": definition.description,
        "source": match &agent.source {
            Source::BuiltIn => Value::from("built-in"),
            Source::File(path) => Value::from(path.display().to_string()),
            Source::Plugin(name) => Value::from(format!("plugin {name}")),
        },
        "enabled": agent.enabled,
        "tools": tools(definition),
    })
}

/// Everything about an agent, as data.
pub fn whole(agent: &Agent) -> Value {
    let AgentDefinition { prompt, run, model, inputs, output, .. } = &agent.declared.definition;
    let mut value = row(agent);
    value["model"] = json!({
        "id": agent.declared.model,
        "temperature": model.settings.temperature,
        "top_p": model.settings.top_p,
        "thinking_budget": model.settings.thinking_budget,
    });
    value["limits"] =
        json!({"max_turns": run.max_turns, "timeout_seconds": run.max_time.map(|time| time.as_secs_f64())});
    value["input_schema"] = inputs.schema();
    value["output"] = output.as_ref().map_or(
        Value::Null,
        |output| json!({"name": output.name, "description": output.description, "schema": output.schema}),
    );
    let messages = prompt.initial_messages.iter().map(|message| json!({"role": message.role, "text": message.text}));
    value["prompt"] =
        json!({"system": prompt.system, "initial_messages": messages.collect::<Vec<_>>(), "query": prompt.query});
    value
}

/// Returns the tools that an agent may call, except the one that ends its task.
fn tools(definition: &AgentDefinition) -> Vec<&str> {
    match &definition.tools {
        ToolConfig::All => vec!["all"],
        ToolConfig::Only(names) => names.iter().map(String::as_str).collect(),
    }
}

fn names(inputs: &InputConfig) -> String {
    inputs.0.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// What a model gets: the sizes of its sections, and their text unless the sizes alone are wanted.
pub fn prompt(report: &PromptReport, is_attended: bool, sizes_alone: bool) -> String {
    let PromptReport { model, family, mode, sections, tools, tool_tokens } = report;
    let user = if is_attended { "with a user" } else { "without a user" };
    let mut text = format!("{}: instructions `{family}`, mode {mode}, {user}\n\n", visible_line(model));
    let mut tokens = *tool_tokens;
    for section in sections {
        tokens = tokens.saturating_add(section.tokens());
        let (name, characters) = (section.name, section.characters());
        let _ = writeln!(text, "{name:14}{characters:>8} characters {:>7} tokens", section.tokens());
    }
    let _ = writeln!(text, "{:14}{:>8} tools      {tool_tokens:>7} tokens", "tools", tools.len());
    let _ = writeln!(text, "{:14}{:>27} tokens, estimated", "all", tokens);
    if sizes_alone {
        return text;
    }
    for section in sections {
        let _ = write!(text, "\n{}\n", visible(&section.text));
    }
    let names: Vec<&str> = tools.iter().map(|name| name.as_str()).collect();
    let _ = writeln!(text, "\nTools: {}", names.join(", "));
    text
}
