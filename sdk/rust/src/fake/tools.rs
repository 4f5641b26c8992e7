//! The capability `tools` of a fake host.

use serde_json::{Map, Value};

use super::ask;
use super::grants::{denial, plugin};
use crate::tools::{Answer, Error, ToolCall};

/// The most calls that one call makes, as the host has it.
const MAX_CALLS: usize = 256;

/// A call of another tool.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedCall {
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
}

/// Calls another tool.
///
/// # Errors
///
/// When it is not granted, there is no such tool, or the arguments are no JSON object.
pub fn call(call: &ToolCall) -> Result<Answer, Error> {
    ask("tools::call", |world, grants| {
        let ToolCall { tool, arguments } = call;
        let _permit = grants.permit_tool(&plugin(), tool).map_err(|refused| Error::Denied(denial(&refused)))?;
        let arguments: Map<String, Value> = serde_json::from_str(arguments)
            .map_err(|error| Error::Invalid(format!("the arguments are not a JSON object: {error}")))?;
        if world.nested_calls.len() >= MAX_CALLS {
            return Err(Error::Unavailable(format!("one call makes at most {MAX_CALLS} calls of other tools")));
        }
        let found = world.tools.iter().rev().find(|(name, _)| name == tool);
        let Some((_, answer)) = found.cloned() else {
            return Err(Error::NotFound(format!("there is no tool `{}`", tool.escape_debug())));
        };
        world.nested_calls.push(NestedCall { tool: tool.clone(), arguments: Value::Object(arguments) });
        answer
    })
}

/// Makes several calls; one result for each, in their order.
pub fn call_all(calls: &[ToolCall]) -> Vec<Result<Answer, Error>> {
    calls.iter().map(call).collect()
}
