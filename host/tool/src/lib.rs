//! What the model can call, and how its calls run.
//!
//! Owns [`Tool`] and [`Outcome`], the [`Policy`] that says whether a call runs, the [`Registry`] that finds a tool and checks a call's arguments, the states of
//! a call, the [`Scheduler`] that runs the calls of one reply in waves, and the [`Responder`] that puts outcomes
//! into words for the model.
//!
//! It promises that every call settles exactly once, whatever the tool does, and that what the model is told is
//! bounded in size and says where it was cut.
//!
//! Deliberately not here: which model asked, what a call may touch (the grants of its plugin decide that), and
//! where anything is shown: whoever runs calls is told of each [`CallEvent`].

mod call;
mod cancel;
mod clip;
mod live;
mod mode;
mod plugin_tool;
mod policy;
mod registry;
mod response;
mod scheduler;
mod schema;
mod standstill;
mod tool;

pub use call::{CallChange, CallEvent, CallState, SettledCall};
pub use cancel::Cancel;
pub use clip::cut;
pub use live::{Live, LiveOutput};
pub use mode::{ApprovalMode, UnknownMode};
pub use plugin_tool::{PluginTool, Sandbox};
pub use policy::{
    ArgumentsPattern, Because, Decision, Policy, PolicyError, PolicyFile, PolicyProblem, Query, Reason, Rule,
    RuleSource, SimpleCommand, Tier, Verdict, simple_commands, suggested_prefix,
};
pub use registry::{Registry, RegistryError};
pub use response::{Responder, Spill};
pub use scheduler::{CANCEL_GRACE, Observe, Scheduler};
pub use schema::{Schema, SchemaError, Violations};
pub use standstill::{Asking, Standstill};
pub use tool::{CallContext, CallFailure, FailureKind, Outcome, Tool};
