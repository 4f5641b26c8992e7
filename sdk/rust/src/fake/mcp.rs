//! The capability `mcp` of a fake host.

use host_capability::McpServerName;
use serde_json::{Map, Value};

use super::ask;
use super::grants::{denial, plugin};
use crate::mcp::{Answer, Error};

/// A call of a server's tool.
#[derive(Clone, Debug, PartialEq)]
pub struct McpCall {
    /// The server.
    pub server: String,
    /// The tool, as the server calls it.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
}

/// Calls a tool of a server.
///
/// # Errors
///
/// When nothing is granted, there is no such tool, or the arguments are no JSON object.
pub fn call(server: &str, tool: &str, arguments: &str) -> Result<Answer, Error> {
    ask("mcp::call", |world, grants| {
        let unknown = || Error::NotFound(format!("there is no MCP server `{}`", server.escape_debug()));
        let name = McpServerName::parse(server).map_err(|_| unknown())?;
        let _permit =
            grants.permit_mcp(&plugin(), &name, tool, false).map_err(|refused| Error::Denied(denial(&refused)))?;
        let arguments: Map<String, Value> = serde_json::from_str(arguments)
            .map_err(|error| Error::Invalid(format!("the arguments are not a JSON object: {error}")))?;
        if !world.mcp.iter().any(|(known, ..)| known == server) {
            return Err(unknown());
        }
        let found = world.mcp.iter().rev().find(|(of, name, _)| (of.as_str(), name.as_str()) == (server, tool));
        let Some((.., answer)) = found.cloned() else {
            return Err(Error::NotFound(format!("the MCP server `{server}` has no tool `{}`", tool.escape_debug())));
        };
        let arguments = Value::Object(arguments);
        world.mcp_calls.push(McpCall { server: server.to_owned(), tool: tool.to_owned(), arguments });
        answer
    })
}
