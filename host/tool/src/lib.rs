//! The tools that a model can call, and how their calls run.
//!
//! Owns [`Tool`] and [`Outcome`], the [`Registry`] that finds a tool and checks a call's arguments, the [`Policy`] of
//! rules, the [`Gate`] that decides by them and asks over the [`ApprovalQueue`], the states of a call, the
//! [`Scheduler`] that runs the calls of one reply in waves, the [`Responder`] that formats outcomes for the model, and
//! [`discovered`], which reads the tools that a user's command lists.
//!
//! It promises that every call settles exactly once, whatever the tool does; that no call runs before it was allowed;
//! and that text for the model is bounded in size and marked where it was cut.
//!
//! Deliberately not here: which model requested a call, what a call may touch (the grants of its plugin decide that),
//! and where anything is shown: the scheduler reports each [`CallEvent`], and a listener of the queue answers
//! questions.

mod approval_queue;
mod asking;
mod call;
mod cancel;
mod discovery;
mod elicitation;
mod failure_words;
pub mod file_tools;
mod foreign_source;
mod gate;
mod hooks;
mod live;
mod mcp_target;
mod mode;
mod mode_switch;
mod model_question;
mod nested;
mod pausable_clock;
mod plugin_tool;
mod policy;
mod printed;
mod registry;
mod response;
mod rules_file;
mod scheduler;
mod title;
mod tool;

pub use approval_queue::{
    About, Always, Answer, ApprovalQueue, Lasting, Listener, NobodyListens, Notice, Question, QuestionId, TooLate,
    Until,
};
pub use asking::{CallAsker, NotAsked, PlanAnswer, ReachAnswer, ReadAnswer};
pub use call::{CallChange, CallEvent, CallState, Decided, SettledCall};
pub use cancel::{CANCEL_GRACE, Cancel};
pub use discovery::{Discovered, DiscoveryError, MAX_LIST, Surroundings, discovered};
pub use failure_words::FailureWords;
pub use foreign_source::ForeignSource;
pub use gate::{AllowedCalls, Gate, GateOptions, Narrowing, Permission, permissions_in};
pub use hooks::{
    ChangedArguments, HookAnswer, HookAsker, HookDecision, HookEvent, HookInput, HookText, Hooks, MAX_HOOK_TEXT,
};
pub use host_plugin::ProgramEnd;
pub use host_schema::{Schema, SchemaError, Violations};
pub use host_shell::programs::Danger;
pub use live::{Live, LiveOutput};
pub use mcp_target::{McpDefinition, McpDefinitions, McpTarget};
pub use mode::{ApprovalMode, UnknownMode};
pub use mode_switch::ModeSwitch;
pub use model_question::{ModelAnswer, ModelChoice, ModelQuestion, ModelQuestions, QuestionAuthor};
pub use pausable_clock::{PausableClock, PauseGuard};
pub use plugin_tool::{OnlyReads, PluginTool, ProgramInput, Sandbox};
pub use policy::{
    ArgumentsPattern, Because, CommandPrefix, Decision, Effect, Policy, PolicyError, PolicyFile, PolicyProblem,
    ProgramEnvironment, Query, Reason, Rule, RuleSource, SimpleCommand, Suggestion, Tier, Verdict, commands_in,
    effects, simple_commands, suggestion,
};
pub use printed::Printed;
pub use registry::{Known, Registry, RegistryError, Supplied, ToolSupply};
pub use response::{Responder, Response, Spill, WholeText};
pub use rules_file::{RulesFile, RulesFileError};
pub use scheduler::{Observe, Scheduler};
pub use title::of_arguments as title_of_arguments;
pub use tool::{
    Allowance, CallContext, CallFailure, FailureKind, Intent, IntentFuture, Looking, Origin, Outcome, OutsideFiles,
    OutsideRead, ReviseFuture, Tool,
};
