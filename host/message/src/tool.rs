//! The description of a tool for the model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ToolName;

/// The name of the tool with which a model finds tools that are not declared to it. The wires know it, since services
/// that load tools in the course of a conversation have a form of their own for it.
pub const TOOL_SEARCH: &str = "tool_search";

/// The description of a tool for the model; shaped like the Model Context Protocol's `Tool`. Its schemas are shared by
/// its copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name by which the model calls it.
    pub name: ToolName,
    /// A title for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema (draft 2020-12) of the arguments, of type `object`.
    pub input_schema: Arc<Value>,
    /// JSON Schema of the structured result, for a tool that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Value>>,
    /// Its effects, as the tool itself declares them.
    #[serde(default)]
    pub annotations: Annotations,
}

/// Hints by which the host schedules calls and words its questions. They permit nothing.
///
/// The default is the most cautious assumption: the tool changes things, may lose some, and reaches outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Annotations {
    /// It changes nothing: calls of such tools run in parallel.
    pub read_only: bool,
    /// A call can lose something that was there before.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// It communicates with something outside this machine.
    pub open_world: bool,
}

impl Default for Annotations {
    fn default() -> Self {
        Self { read_only: false, destructive: true, idempotent: false, open_world: true }
    }
}
