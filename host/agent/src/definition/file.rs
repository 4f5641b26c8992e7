//! Agent definition files: Markdown whose front matter declares the agent and whose body is its system prompt.
//!
//! Parsing is strict, since a key that is silently ignored is a limit that does not hold: anything unknown, of the
//! wrong type or out of range is an error with its line and column. A declared agent may name only reading tools.
//! Built-in agents are written the same way.
//!
//! Deliberately not here: the location of the files, the model behind a model's name, and whether the named tools
//! exist.

mod fault;
mod front_matter;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use host_model::Settings;
use host_tool::{Schema, Tool as _};

pub use self::fault::{DefinitionError, DefinitionFault};
pub use self::front_matter::read_front_matter;
use self::front_matter::{FrontMatter, InputEntry, OutputEntry, Spot};
use super::{
    AgentDefinition, Completion, DEFAULT_QUERY, InitialMessage, Input, InputConfig, InputKind, ModelConfig,
    OutputConfig, PromptConfig, RunConfig, ToolConfig,
};
use crate::complete::{COMPLETE_TASK, CompleteTask};
use crate::present_plan::PRESENT_PLAN;
use crate::template;

/// The largest file, in bytes. Protects memory, and the model's window from a prompt that fills it.
pub const MAX_DEFINITION_BYTES: usize = 256 << 10;

/// The most turns that a file may request. Protects the user's account from a mistyped number.
const MOST_TURNS: u32 = 1_000;

/// The longest time that a file may ask for, in minutes: a day.
const MOST_MINUTES: f64 = 24.0 * 60.0;

/// The longest name of an agent, in bytes: what models' services take for the name of a tool.
const NAME_BYTES: usize = 64;

/// The tools that an agent may name which is declared, or called by another: they read. What a tool of one of these
/// names may touch is held by its grants, not by this list.
pub const SUBAGENT_TOOLS: &[&str] = &["ls", "read_file", "grep", "glob", "read_many_files", "memory", "web_search"];

/// Names that mean something else already: the agent of a run without another, and the tool that ends a task.
const TAKEN: &[&str] = &["main", COMPLETE_TASK, PRESENT_PLAN];

/// The agents that are built in, each as its file has it.
const BUILT_IN: &[(&str, &str)] =
    &[("codebase_investigator.md", include_str!("../../agents/codebase_investigator.md"))];

/// An agent from a definition file, before its model is chosen.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The agent. Its model has no name yet; its settings are those that were declared.
    pub definition: AgentDefinition,
    /// The model that it requests, by the name that users have for it; `None` for its parent's model.
    pub model: Option<String>,
}

impl Declared {
    /// The agents that are part of the host, which are read once.
    ///
    /// # Errors
    ///
    /// Never, unless one of them was written wrong.
    pub fn built_in() -> Result<Vec<Self>, DefinitionError> {
        static READ: OnceLock<Vec<Declared>> = OnceLock::new();
        if let Some(read) = READ.get() {
            return Ok(read.clone());
        }
        let read: Vec<_> =
            BUILT_IN.iter().map(|(file, text)| Self::parse(text, Path::new(file))).collect::<Result<_, _>>()?;
        Ok(READ.get_or_init(|| read).clone())
    }

    /// Parses a file's text. The path is for messages.
    ///
    /// # Errors
    ///
    /// With the first fault in the file and its position.
    pub fn parse(text: &str, file: &Path) -> Result<Self, DefinitionError> {
        parse(text).map_err(|(spot, fault)| DefinitionError {
            file: file.to_owned(),
            line: spot.line,
            column: spot.column,
            fault,
        })
    }

    /// Returns the agent with this model. Its own settings for replies take precedence over those of the model.
    #[must_use]
    pub fn asking(self, model: ModelConfig) -> AgentDefinition {
        let declared = self.definition.model.settings;
        let settings = Settings {
            temperature: declared.temperature.or(model.settings.temperature),
            top_p: declared.top_p.or(model.settings.top_p),
            thinking_budget: declared.thinking_budget.or(model.settings.thinking_budget),
            ..model.settings
        };
        AgentDefinition { model: ModelConfig { model: model.model, settings }, ..self.definition }
    }
}

/// A fault and its position.
type Wrong = (Spot, DefinitionFault);

fn parse(text: &str) -> Result<Declared, Wrong> {
    // Before it is parsed: YAML can expand to far more than it has.
    if text.len() > MAX_DEFINITION_BYTES {
        return Err((Spot::START, DefinitionFault::TooLarge { bytes: text.len() }));
    }
    let (front, body) = front_matter::split(text)?;
    let written = front_matter::read(front)?;
    let system = body.trim();
    if system.is_empty() {
        return Err((Spot::at(text, text.len() - body.len()), DefinitionFault::NoPrompt));
    }
    // Checks in the order of the file, so that the first error is the topmost.
    let name = written.name.value.as_str();
    check_name(name).map_err(|why| (written.name.referenced.into(), why))?;
    check_tools(name, &written)?;
    let inputs = inputs(&written.inputs)?;
    // Position of the body in the file, so that an error about a placeholder in it has the right line.
    let at = text.len() - body.trim_start().len();
    // All of them at once: an author who fixes one name at a time runs the command again for each.
    let mut unknown = unknown_names(system, "the system prompt names", &inputs, |offset| Spot::at(text, at + offset));
    if let Some(query) = &written.query {
        unknown.extend(unknown_names(&query.value, "the query names", &inputs, |_| query.referenced.into()));
    }
    for message in &written.initial_messages {
        unknown
            .extend(unknown_names(&message.text.value, "a message names", &inputs, |_| message.text.referenced.into()));
    }
    check_names(&unknown, &inputs)?;
    let output = written.output.as_ref().map(|output| output_config(&output.value, output.referenced.into()));
    let definition = AgentDefinition {
        name: name.to_owned(),
        display_name: written.display_name.clone().unwrap_or_else(|| name.to_owned()),
        description: description(&written)?,
        prompt: PromptConfig {
            system: Some(system.to_owned()),
            initial_messages: written
                .initial_messages
                .iter()
                .map(|message| InitialMessage { role: message.role.into(), text: message.text.value.clone() })
                .collect(),
            query: written.query.as_ref().map_or_else(|| DEFAULT_QUERY.to_owned(), |query| query.value.clone()),
        },
        model: ModelConfig { model: String::new(), settings: settings(&written)? },
        run: run_config(&written)?,
        // A declared agent has no tools but those that it names, and these only read.
        tools: ToolConfig::Only(written.tools.iter().map(|tool| tool.value.clone()).collect()),
        inputs,
        output: output.transpose()?,
        completion: Completion::Tool,
    };
    Ok(Declared { definition, model: written.model.map(|model| model.value) })
}

fn check_name(name: &str) -> Result<(), DefinitionFault> {
    let fits = (1..=NAME_BYTES).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let name = || name.to_owned();
    if !fits {
        return Err(DefinitionFault::Name { name: name() });
    }
    if TAKEN.contains(&name().as_str()) || SUBAGENT_TOOLS.contains(&name().as_str()) {
        return Err(DefinitionFault::TakenName { name: name() });
    }
    Ok(())
}

fn check_tools(agent: &str, written: &FrontMatter) -> Result<(), Wrong> {
    match written.tools.iter().find(|tool| !SUBAGENT_TOOLS.contains(&tool.value.as_str())) {
        None => Ok(()),
        Some(tool) => {
            let (agent, tool_name) = (agent.to_owned(), tool.value.clone());
            Err((tool.referenced.into(), DefinitionFault::Tool { agent, tool: tool_name }))
        }
    }
}

fn description(written: &FrontMatter) -> Result<String, Wrong> {
    let description = written.description.value.trim();
    if description.is_empty() {
        return Err((written.description.referenced.into(), DefinitionFault::NoDescription));
    }
    Ok(description.to_owned())
}

fn inputs(written: &BTreeMap<String, serde_saphyr::Spanned<InputEntry>>) -> Result<InputConfig, Wrong> {
    let mut inputs = BTreeMap::new();
    for (name, entry) in written {
        let spot: Spot = entry.referenced.into();
        if !template::is_name(name) {
            return Err((spot, DefinitionFault::InputName { name: name.clone() }));
        }
        let InputEntry { kind, description, required } = &entry.value;
        let Some(kind_of) = InputKind::ALL.into_iter().find(|known| known.to_string() == kind.value) else {
            let (input, kind_name) = (name.clone(), kind.value.clone());
            return Err((kind.referenced.into(), DefinitionFault::InputKind { input, kind: kind_name }));
        };
        let input = Input { description: description.clone(), kind: kind_of, required: *required };
        inputs.insert(name.clone(), input);
    }
    Ok(InputConfig(inputs))
}

/// A name in a prompt that is not an input: its position, and the prompt.
struct UnknownName<'t> {
    spot: Spot,
    place: &'static str,
    name: &'t str,
}

fn unknown_names<'t>(
    text: &'t str,
    place: &'static str,
    inputs: &InputConfig,
    spot: impl Fn(usize) -> Spot,
) -> Vec<UnknownName<'t>> {
    let unknown = template::names(text).filter(|(_, name)| !inputs.0.contains_key(*name));
    unknown.map(|(at, name)| UnknownName { spot: spot(at), place, name }).collect()
}

/// Reports all of them in one error, at the position of the first.
fn check_names(unknown: &[UnknownName<'_>], inputs: &InputConfig) -> Result<(), Wrong> {
    let Some(first) = unknown.first() else { return Ok(()) };
    let mut names: Vec<String> = Vec::new();
    for UnknownName { name, .. } in unknown {
        if !names.iter().any(|known| known == name) {
            names.push((*name).to_owned());
        }
    }
    let is_one_place = unknown.iter().all(|other| other.place == first.place);
    let place = if is_one_place { first.place } else { "the prompts name" };
    let available = inputs.0.keys().cloned().collect();
    Err((first.spot, DefinitionFault::Placeholder { names, place, available }))
}

fn output_config(written: &OutputEntry, spot: Spot) -> Result<OutputConfig, Wrong> {
    let OutputEntry { name, description, schema } = written;
    if !template::is_name(&name.value) {
        return Err((name.referenced.into(), DefinitionFault::InputName { name: name.value.clone() }));
    }
    let output = OutputConfig {
        name: name.value.clone(),
        description: description.clone(),
        schema: schema.value.clone(),
        transform: None,
    };
    let usable = if output.schema.is_object() {
        Schema::compile(&CompleteTask::new(Some(&output)).spec().input_schema).map_err(|error| error.to_string())
    } else {
        Err("a JSON Schema is a mapping".to_owned())
    };
    match usable {
        Ok(_) => Ok(output),
        // The position of a mapping is that of its first key; an empty mapping may have no position.
        Err(why) => Err((Spot::from(schema.referenced).or(spot), DefinitionFault::Output { why })),
    }
}

fn settings(written: &FrontMatter) -> Result<Settings, Wrong> {
    let FrontMatter { temperature, top_p, thinking_budget, .. } = written;
    within(temperature.as_ref(), "temperature", |value| (0.0..=2.0).contains(value), "between 0 and 2")?;
    within(top_p.as_ref(), "top_p", |value| (0.0..=1.0).contains(value), "between 0 and 1")?;
    within(
        thinking_budget.as_ref(),
        "thinking_budget",
        |value| *value >= -1,
        "a number of tokens, or -1 for no limit",
    )?;
    Ok(Settings {
        temperature: temperature.as_ref().map(|value| value.value),
        top_p: top_p.as_ref().map(|value| value.value),
        thinking_budget: thinking_budget.as_ref().map(|value| value.value),
        ..Settings::default()
    })
}

fn run_config(written: &FrontMatter) -> Result<RunConfig, Wrong> {
    let FrontMatter { max_turns, timeout_mins, .. } = written;
    within(max_turns.as_ref(), "max_turns", |value| (1..=MOST_TURNS).contains(value), "between 1 and 1000")?;
    let in_time = |value: &f64| *value > 0.0 && *value <= MOST_MINUTES;
    within(timeout_mins.as_ref(), "timeout_mins", in_time, "more than 0 and at most 1440")?;
    let usual = RunConfig::default();
    Ok(RunConfig {
        max_turns: max_turns.as_ref().map_or(usual.max_turns, |value| Some(value.value)),
        max_time: timeout_mins.as_ref().map(|value| Duration::from_secs_f64(value.value * 60.0)).or(usual.max_time),
        ..usual
    })
}

fn within<T>(
    value: Option<&serde_saphyr::Spanned<T>>,
    key: &'static str,
    fits: impl Fn(&T) -> bool,
    range: &'static str,
) -> Result<(), Wrong> {
    match value {
        Some(value) if !fits(&value.value) => Err((value.referenced.into(), DefinitionFault::Range { key, range })),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
