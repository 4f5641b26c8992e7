//! The tools that a conversation found with `tool_search`, as its messages have them.
//!
//! Promises: what was found is found again in each later request that has the message, so that a request begins as the
//! one before; of a tool that was found twice the later definition counts. Deliberately not here: the search, and
//! whether a service can load tools in the course of a conversation ([`Settings::deferred_tools`](crate::Settings)).

use host_message::{Content, ToolSpec};

use crate::Request;

/// Returns the tools that were found and are not declared, in the order in which they were found first. A request that
/// declares nothing, such as one for a summary, gets none.
pub(crate) fn found<'a>(request: &Request<'a>) -> Vec<&'a ToolSpec> {
    let mut all: Vec<&ToolSpec> = Vec::new();
    if request.tools.is_empty() {
        return all;
    }
    for tool in request.contents.iter().flat_map(Content::function_responses).flat_map(|response| &response.found) {
        match all.iter_mut().find(|known| known.name == tool.name) {
            Some(known) => *known = tool,
            None if request.tools.iter().any(|declared| declared.name == tool.name) => {}
            None => all.push(tool),
        }
    }
    all
}

/// Returns all tools that a service declares which cannot load tools in the course of a conversation: what was found
/// comes behind the others. The agent declares it for such a model anyway; another model may answer in its place.
pub(crate) fn declared<'a>(request: &Request<'a>) -> Vec<&'a ToolSpec> {
    request.tools.iter().chain(found(request)).collect()
}
