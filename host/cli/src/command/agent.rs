//! `host agent`: which agents there are, what each of them is, and what the main one's model gets.

use std::fmt::Write as _;

use host_agent::{AgentDefinition, InputConfig, ToolConfig};
use host_app::session::prompt_report::{self, PromptReport};
use host_extensions::agents::{Agent, Agents, Source};
use host_extensions::plugins::brought;
use host_extensions::plugins::sources::installed;
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::project::Project;
use host_text::{clip, counted, visible, visible_line};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::exit::Code;
use crate::printer::{self, Out};

/// Maximum number of characters of a description in the list: it is one line.
const FIRST_WORDS: usize = 100;

pub(crate) async fn run(
    command: arguments::Agent,
    environment: Environment,
    stop: CancellationToken,
) -> Result<Code, Failure> {
    let out = Out::new(stop.clone());
    let text = match command {
        arguments::Agent::Prompt { model, headless, sizes, place, access } => {
            let app = super::tool::open(&place, &access, &environment, &stop).await?;
            prompt(&prompt_report::read(&app, model.as_deref(), !headless).await?, !headless, sizes)
        }
        arguments::Agent::List { json } => {
            let agents = Found::read(&environment)?.agents;
            match json {
                true => printer::json(&agents.all().iter().map(row).collect::<Value>())?,
                false => list(agents.all()),
            }
        }
        arguments::Agent::Show { name, json } => {
            let Found { agents, project } = Found::read(&environment)?;
            let agent = agents.find(&name, &project)?;
            if json { printer::json(&whole(agent))? } else { show(agent)? }
        }
    };
    out.write(&text);
    Ok(Code::Done)
}

/// The agents of the current folder, and its project.
struct Found {
    agents: Agents,
    project: Project,
}

impl Found {
    fn read(environment: &Environment) -> Result<Self, Failure> {
        let folders = environment.folders()?;
        let here = std::fs::canonicalize(".")
            .map_err(|error| Failure::input(format!("the current folder cannot be read: {error}")))?;
        let project = Project::find(&here, &folders)?;
        printer::notes(project.note().as_slice(), environment);
        let files = project.files();
        let configuration = Configuration::read(environment, &folders)?.with_project(files.configuration.as_ref())?;
        let plugins = installed(&files, &folders, &here)?;
        let agents = Agents::read(&folders, &configuration, &files.agents, &brought(&plugins))?;
        printer::notes(agents.left_out(), environment);
        Ok(Self { agents, project })
    }
}

/// What a model gets: the sizes of its sections, and their text unless the sizes alone are wanted.
fn prompt(report: &PromptReport, is_attended: bool, sizes_alone: bool) -> String {
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

/// The agents, for a user.
pub(crate) fn list(agents: &[Agent]) -> String {
    let mut text = String::new();
    for agent in agents {
        let definition = &agent.declared.definition;
        let first = definition.description.lines().next().unwrap_or_default();
        let off = if agent.enabled { "" } else { " (not enabled)" };
        // A string takes everything.
        let _ =
            writeln!(text, "{}  {}, {}{off}", definition.name, visible_line(&definition.display_name), agent.source);
        let _ = writeln!(text, "  {}", visible_line(&clip(first, FIRST_WORDS)));
        let _ = writeln!(text, "  tools: {}; inputs: {}", tools(definition).join(", "), names(&definition.inputs));
    }
    text
}

fn show(agent: &Agent) -> Result<String, Failure> {
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
            text.push_str(&printer::json(&output.schema)?);
        }
    }
    let _ = writeln!(text, "\nSystem prompt:\n\n{}", visible(prompt.system.as_deref().unwrap_or_default()));
    let _ = writeln!(text, "\nQuery:\n\n{}", visible(prompt.query.trim_end()));
    Ok(text)
}

fn row(agent: &Agent) -> Value {
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

fn whole(agent: &Agent) -> Value {
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

/// Returns the tools that it may call, except the one that ends its task.
fn tools(definition: &AgentDefinition) -> Vec<&str> {
    match &definition.tools {
        ToolConfig::All => vec!["all"],
        ToolConfig::Only(names) => names.iter().map(String::as_str).collect(),
    }
}

fn names(inputs: &InputConfig) -> String {
    inputs.0.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}
