//! The definition of an agent: a declaration, plain data.
//!
//! The loop treats built-in agents and those that a user declares alike. Deliberately not here: the location of the
//! files that declare agents.

mod file;
mod input;

use std::time::Duration;

use host_message::Role;
use host_model::Settings;
use serde_json::Value;

pub use self::file::{
    Declared, DefinitionError, DefinitionFault, MAX_DEFINITION_BYTES, SUBAGENT_TOOLS, read_front_matter,
};
pub use self::input::{Input, InputConfig, InputError, InputKind};
use crate::CompressionConfig;

/// The query of a definition that has none.
const DEFAULT_QUERY: &str = "Get Started!";

/// Maximum number of turns of a declared agent or a subagent. Protects the user's account from a model that repeats
/// itself.
const MAX_TURNS: u32 = 30;

/// Maximum time of a run of a declared agent or a subagent.
const MAX_TIME: Duration = Duration::from_secs(10 * 60);

/// Maximum time of the one request that a run gets after it reaches a limit.
const GRACE: Duration = Duration::from_secs(60);

/// An agent.
#[derive(Clone, Debug)]
pub struct AgentDefinition {
    /// Name in events, logs and configuration.
    pub name: String,
    /// Name that users see.
    pub display_name: String,
    /// Its purpose, in words for the agent that calls it.
    pub description: String,
    /// Its prompts.
    pub prompt: PromptConfig,
    /// The model that it asks.
    pub model: ModelConfig,
    /// Its limits.
    pub run: RunConfig,
    /// The tools that it may call.
    pub tools: ToolConfig,
    /// The inputs that a caller gives.
    pub inputs: InputConfig,
    /// The answer that it must give; `None` for a text. Ignored for [`Completion::Text`].
    pub output: Option<OutputConfig>,
    /// How it reports that it is done.
    pub completion: Completion,
}

/// The prompts of an agent. In each text, `${name}` is a placeholder for an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptConfig {
    /// The system instructions.
    pub system: Option<String>,
    /// The conversation before the query, to show the agent how it goes.
    pub initial_messages: Vec<InitialMessage>,
    /// The query that starts a run.
    pub query: String,
}

/// A message that was never sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialMessage {
    /// The role of its author.
    pub role: Role,
    /// What.
    pub text: String,
}

/// The model that an agent asks, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelConfig {
    /// Its name as the provider's service knows it, without the provider.
    pub model: String,
    /// Settings for its replies.
    pub settings: Settings,
}

/// Limits of one run. The default is that of a declared agent and of a subagent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunConfig {
    /// The most turns; `None` if there is no limit.
    pub max_turns: Option<u32>,
    /// The longest time; `None` if there is no limit.
    pub max_time: Option<Duration>,
    /// Maximum time of the one request that it gets after it reaches a limit.
    pub grace: Duration,
    /// The handling of invalid replies.
    pub reply: ReplyPolicy,
    /// When a long conversation is shortened.
    pub compression: CompressionConfig,
    /// Whether a model that repeats itself is stopped.
    pub loops: LoopDetection,
}

/// How a complete but invalid reply is requested again. The default is what Gemini CLI does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplyPolicy {
    /// Requests for one reply in all.
    pub attempts: u32,
    /// The pause before each but the first.
    pub pause: Duration,
    /// Temperature of each request but the first: without a change, the same request would get the same reply.
    pub temperature: f32,
}

/// Whether a model that repeats itself is stopped: the first loop makes the host warn the model, the second ends the
/// run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopDetection {
    /// It is.
    #[default]
    On,
    /// It continues until another limit is reached.
    Off,
}

/// The tools that an agent may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolConfig {
    /// All tools.
    #[default]
    All,
    /// Those with these names.
    Only(Vec<String>),
}

/// The answer that an agent must give.
#[derive(Clone, Debug)]
pub struct OutputConfig {
    /// The name of the one argument of `complete_task`.
    pub name: String,
    /// Its description for the model.
    pub description: String,
    /// Its JSON Schema. A `$ref` may reach into its `$defs` and `definitions`, and not to its root.
    pub schema: Value,
    /// Makes the result's text out of it; without one a text stays and anything else becomes pretty JSON.
    pub transform: Option<fn(&Value) -> String>,
}

/// How an agent reports that it is done.
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
