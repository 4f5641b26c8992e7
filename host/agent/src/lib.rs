//! The agent: a declaration, and the loop that runs it.
//!
//! Owns [`AgentDefinition`] and the [`Executor`] that asks a model, runs the calls it wants and asks again until one of
//! six ends; the [`Event`]s for observers; and agents that are tools of another agent, with the [`Budget`] that bounds
//! all of them together.
//!
//! It promises that a run ends within its limits and says how it ended, that dropping a run cancels all that it
//! started, and that nothing runs which the session log could not record.
//!
//! Deliberately not here: the session log and the conversation as it is read back (`host-journal`), printing and
//! reading the environment (the binary does both), what a tool does, and any provider's wire format.

mod activate_skill;
mod ask_user;
mod budget;
mod check;
mod complete;
mod compress;
mod compression_config;
mod context_source;
mod deadline;
mod definition;
mod event;
mod executor;
mod forming;
mod kept;
mod loops;
mod near;
mod present_plan;
mod prices;
pub mod prompts;
mod reply;
mod steering;
mod subagent;
mod template;
mod thought;
mod tool_search;
mod warning;

pub use activate_skill::{ACTIVATE_SKILL, ActivateSkill, SkillSource};
pub use ask_user::{ASK_USER, AskUser};
pub use budget::{
    Budget, DayBudget, DayError, DayExceeded, DayLimits, DaySpending, Exceeded, ModelSpending, Spending, TreeLimits,
};
pub use check::{CheckEnd, Checks};
pub use complete::COMPLETE_TASK;
pub use compression_config::CompressionConfig;
pub use context_source::ContextSource;
pub use definition::{
    AgentDefinition, Completion, Declared, DefinitionError, DefinitionFault, InitialMessage, Input, InputConfig,
    InputError, InputKind, LoopDetection, MAX_DEFINITION_BYTES, ModelConfig, OutputConfig, PromptConfig, ReplyPolicy,
    RunConfig, SUBAGENT_TOOLS, ToolConfig, read_front_matter,
};
pub use event::{CompressionStatus, Event, EventKind, Observer};
pub use executor::{
    ChosenModel, Declarations, Executor, MAX_STOP_HOOKS, MessageTokens, Partial, PromptParts, RunError, RunResult,
    Setup, SetupError, WindowUse,
};
pub use kept::KeptText;
pub use loops::Repeated;
pub use present_plan::{PRESENT_PLAN, PresentPlan};
pub use prices::{Charge, Cost, Price, PriceBasis, Prices};
pub use reply::{Reply, ReplyError};
pub use steering::Steering;
pub use subagent::{Subagent, SubagentSetup};
pub use template::{TemplateError, fill};
pub use tool_search::{DeferredTools, ToolSearch};

pub use host_message::TOOL_SEARCH;
