//! What [`crate::export_plugin!`] stands on: finding the tool that is called, and telling of a panic.

use std::panic::PanicHookInfo;
use std::sync::Once;

pub use crate::bindings::exports::host::tool::tool::Guest;
pub use crate::bindings::host::tool::types::ToolCall as Call;
use crate::{Confirmation, Failure, Outcome, Tool, ToolDef, context};

/// By this a host knows that the line before a trap says why. Part of the contract between the two.
const PANIC_PREFIX: &str = "panic: ";

/// The definitions of the plugin's tools.
pub fn describe(tools: &[Tool]) -> Vec<ToolDef> {
    report_panics();
    tools.iter().map(Tool::definition).collect()
}

/// What a call would do.
///
/// # Errors
///
/// Whatever the tool says, and `invalid-arguments` when no tool has the name.
pub fn preview(tools: &[Tool], call: &Call) -> Result<Option<Confirmation>, Failure> {
    report_panics();
    find(tools, call)?.run_preview(&call.arguments)
}

/// The arguments with which the call does what a user made of it.
///
/// # Errors
///
/// Whatever the tool says, and `invalid-arguments` when no tool has the name or this one cannot be revised.
pub fn revise(tools: &[Tool], call: &Call, text: String) -> Result<String, Failure> {
    report_panics();
    find(tools, call)?.run_revise(&call.arguments, text)
}

/// Does it.
///
/// # Errors
///
/// Whatever the tool says, and `invalid-arguments` when no tool has the name.
pub fn call(tools: &[Tool], call: &Call) -> Result<Outcome, Failure> {
    report_panics();
    find(tools, call)?.run(&call.arguments)
}

fn find<'t>(tools: &'t [Tool], call: &Call) -> Result<&'t Tool, Failure> {
    tools
        .iter()
        .find(|tool| tool.name() == call.tool)
        .ok_or_else(|| Failure::InvalidArguments(format!("this plugin has no tool `{}`", call.tool)))
}

/// A panic in wasm is a trap without a word. The message goes out first, by the one way there always is.
fn report_panics() {
    static ONCE: Once = Once::new();
    // Natively the standard hook prints it, and a test harness relies on that.
    if cfg!(target_family = "wasm") {
        ONCE.call_once(|| std::panic::set_hook(Box::new(|panic| context::log(context::Level::Error, &line(panic)))));
    }
}

fn line(panic: &PanicHookInfo<'_>) -> String {
    let message = panic.payload_as_str().unwrap_or("a value that is no text");
    match panic.location() {
        Some(place) => format!("{PANIC_PREFIX}{message}, at {place}"),
        None => format!("{PANIC_PREFIX}{message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_goes_to_the_tool_that_it_names() {
        let tools = [named("a"), named("b")];
        let call_of = |tool: &str| Call { id: "1".to_owned(), tool: tool.to_owned(), arguments: "{}".to_owned() };
        assert_eq!(call(&tools, &call_of("b")), Ok(Outcome::text("b")));
        assert!(matches!(call(&tools, &call_of("c")), Err(Failure::InvalidArguments(why)) if why.contains("`c`")));
        assert!(matches!(preview(&tools, &call_of("c")), Err(Failure::InvalidArguments(_))));
        assert_eq!(describe(&tools).len(), 2);
    }

    fn named(name: &'static str) -> Tool {
        #[derive(serde::Deserialize)]
        struct Nothing {}
        Tool::new(name, "", "{}", move |Nothing {}| Ok(Outcome::text(name)))
    }
}
