//! What an agent is: a declaration, plain data.
//!
//! Built-in agents and those that a user writes down are the same to the loop. Deliberately not here: where the
//! files lie that agents are read from.

mod file;
mod input;

use std::time::Duration;

use host_message::Role;
use host_model::Settings;
use serde_json::Value;

pub use self::file::{Declared, DefinitionError, DefinitionFault, MAX_DEFINITION_BYTES, SUBAGENT_TOOLS};
pub use self::input::{Input, InputConfig, InputError, InputKind};
use crate::CompressionConfig;

/// What a query says when the definition has none.
const DEFAULT_QUERY: &str = "Get Started!";

/// How many turns a declared agent or a subagent may take. Protects the user's account from a model that repeats itself.
const MAX_TURNS: u32 = 30;

/// How long a run of a declared agent or a subagent may take.
const MAX_TIME: Duration = Duration::from_secs(10 * 60);

/// How long the one request may take that a run gets after a limit.
const GRACE: Duration = Duration::from_secs(60);

/// An agent.
#[derive(Clone, Debug)]
pub struct AgentDefinition {
    /// What it is called in events, logs and configuration.
    pub name: String,
    /// What it is called before people.
    pub display_name: String,
    /// What it is for, in words for the agent that calls it.
    pub description: String,
    /// What it is told.
    pub prompt: PromptConfig,
    /// The model that it asks.
    pub model: ModelConfig,
    /// Its limits.
    pub run: RunConfig,
    /// The tools that it may call.
    pub tools: ToolConfig,
    /// What it must be given.
    pub inputs: InputConfig,
    /// What it must answer with; none is a text. Without meaning for [`Completion::Text`].
    pub output: Option<OutputConfig>,
    /// How it says that it is done.
    pub completion: Completion,
}

/// What an agent is told. `${name}` stands for an input in each of the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptConfig {
    /// The system instructions.
    pub system: Option<String>,
    /// The conversation before the query, to show the agent how it goes.
    pub initial_messages: Vec<InitialMessage>,
    /// What it is asked.
    pub query: String,
}

/// A message that was never said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialMessage {
    /// Who would have said it.
    pub role: Role,
    /// What.
    pub text: String,
}

/// The model that an agent asks, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelConfig {
    /// Its name as the provider's service knows it, without the provider.
    pub model: String,
    /// How it is to answer.
    pub settings: Settings,
}

/// Limits of one run. The default is that of a declared agent and of a subagent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunConfig {
    /// The most turns; `None` if there is no limit.
    pub max_turns: Option<u32>,
    /// The longest time; `None` if there is no limit.
    pub max_time: Option<Duration>,
    /// How long the one request may take that it gets after a limit.
    pub grace: Duration,
    /// What becomes of a reply that is no good.
    pub reply: ReplyPolicy,
    /// When a long conversation is shortened.
    pub compression: CompressionConfig,
    /// Whether a model that goes round in circles is stopped.
    pub loops: LoopDetection,
}

/// How a reply that came whole and is no good is asked for again. The default is what Gemini CLI does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplyPolicy {
    /// Requests for one reply in all.
    pub attempts: u32,
    /// The pause before each but the first.
    pub pause: Duration,
    /// How freely the model chooses its words in each but the first: the same request would be answered the same.
    pub temperature: f32,
}

/// Whether a model that goes round in circles is stopped: it is told the first time, and the second time ends the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopDetection {
    /// It is.
    #[default]
    On,
    /// It goes on until another limit is met.
    Off,
}

/// The tools that an agent may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolConfig {
    /// All that there are.
    #[default]
    All,
    /// Those with these names.
    Only(Vec<String>),
}

/// What an agent must answer with.
#[derive(Clone, Debug)]
pub struct OutputConfig {
    /// The name of the one argument of `complete_task`.
    pub name: String,
    /// What it is, in words for the model.
    pub description: String,
    /// Its JSON Schema. A `$ref` may reach into its `$defs` and `definitions`, and not to its root.
    pub schema: Value,
    /// Makes the result's text out of it; without one a text stays and anything else becomes pretty JSON.
    pub transform: Option<fn(&Value) -> String>,
}

/// How an agent says that it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// It calls `complete_task`; a reply without a call is against the protocol.
    Tool,
    /// Its first reply without a call is its answer.
    Text,
}

impl Default for PromptConfig {
    fn default() -> Self {
        Self { system: None, initial_messages: Vec::new(), query: DEFAULT_QUERY.to_owned() }
    }
}

impl Default for ReplyPolicy {
    fn default() -> Self {
        Self { attempts: 2, pause: Duration::from_millis(500), temperature: 1.0 }
    }
}

impl RunConfig {
    /// The limits of a run that a user watches: none on turns and time. Budgets, loop detection and the user stop it.
    pub fn unlimited() -> Self {
        Self { max_turns: None, max_time: None, ..Self::default() }
    }
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            max_turns: Some(MAX_TURNS),
            max_time: Some(MAX_TIME),
            grace: GRACE,
            reply: ReplyPolicy::default(),
            compression: CompressionConfig::default(),
            loops: LoopDetection::On,
        }
    }
}
