//! The messages between a model and the host, independent of any provider's format.
//!
//! Owns [`Content`] and its [`Part`]s, [`FunctionCall`] and [`FunctionResponse`], [`ToolSpec`], [`Usage`] and the ids
//! that connect them. Everything here is plain data: it can be cloned, compared, and written to a session log.
//!
//! Deliberately not here: any provider's JSON (`host-model` has one file for each wire format), what a tool
//! does, and what a call may touch.

mod content;
mod id;
mod output;
mod tool;
mod usage;

pub use content::{
    Content, FileReference, FunctionCall, FunctionResponse, InlineData, Part, PartData, ResponseBody, Role, Signature,
    kept_heading, kept_text,
};
pub use id::{AgentId, CallId, IdError, ModelId, PromptId, SessionId, ToolName};
pub use output::{ChecklistItem, ChecklistState, Display, Output, OutputPart};
pub use tool::{Annotations, TOOL_SEARCH, ToolSpec};
pub use usage::{FinishReason, Usage};
