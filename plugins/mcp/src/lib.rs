//! The plugin behind the tools of MCP servers: each of its calls is one call of a server's tool.
//!
//! The host says in the configuration which tool of which server a name means (`tools`), and grants a call that tool and no
//! other. The tool `mcp` is the plugin's own and calls nothing: every other name is one of a server's tools.
//!
//! Deliberately not here: which servers there are and how they are reached, which is the host's to know; a change of the
//! arguments, since whoever allowed the call was shown these.

use std::collections::BTreeMap;

use host_sdk::export::Call;
use host_sdk::{Annotations, Confirmation, Failure, Outcome, Tool, context, mcp};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The plugin's own tool.
const OWN: &str = "mcp";

const DESCRIPTION: &str = "Holds the place of the tools of MCP servers. The host calls it; no model is shown it.";

/// A tool of a server.
#[derive(Deserialize)]
struct Target {
    server: String,
    tool: String,
}

/// The plugin's own tool.
pub fn tools() -> Vec<Tool> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    let own = Tool::new(OWN, DESCRIPTION, include_str!("input.json"), |Nothing {}| Err(unknown(OWN)))
        .title("Call tools of MCP servers")
        .annotations(Annotations::MOST_CAREFUL)
        .needs("mcp", "*", "call the tools of the MCP servers that the user configured, and no others");
    vec![own]
}

/// Returns the tool that a call is of. Any name is one of a tool: it is not the list of [`tools`] that says which there are.
pub fn called(call: &Call) -> Vec<Tool> {
    if call.tool == OWN {
        return tools();
    }
    let (name, arguments) = (call.tool.clone(), call.arguments.clone());
    // The server gets the arguments as they came.
    let answer = move |_: IgnoredAny| answer(&name, &arguments);
    vec![Tool::new(&call.tool, "", "", answer).preview(|_: IgnoredAny| Ok(Some(Confirmation::Call)))]
}

host_sdk::export_plugin_with!(tools, crate::called);

fn unknown(tool: &str) -> Failure {
    Failure::InvalidArguments(format!("this plugin was given no tool of a server for `{tool}`"))
}

fn answer(tool: &str, arguments: &str) -> Result<Outcome, Failure> {
    let text = context::config("tools").unwrap_or_else(|| "{}".to_owned());
    let mut targets: BTreeMap<String, Target> = serde_json::from_str(&text)
        .map_err(|error| Failure::Failed(format!("the configuration `tools` of this plugin is invalid: {error}")))?;
    let Target { server, tool } = targets.remove(tool).ok_or_else(|| unknown(tool))?;
    mcp::call(&server, &tool, arguments)?.try_into()
}

#[cfg(test)]
mod tests;
