//! A call of a session whole: its arguments, what it changed, its response.

use std::fmt::Write as _;

use host_journal::CallStatus;
use host_message::Display;
use host_text::clip;
use serde_json::Value;

use crate::ended_calls::EndedCall;

/// The longest argument that is shown whole, in characters: a file's content is not what a user looks for here.
const ARGUMENT: usize = 20_000;

/// The text of a call: the one `back` from the last of so many. Not escaped.
pub fn text(call: &EndedCall, back: usize, calls: usize) -> String {
    let EndedCall { agent, call: made, status, duration_ms, report, response, cut, display } = call;
    let mark = match status {
        _ if report.failed => "✗",
        CallStatus::Success => "✓",
        CallStatus::Error { .. } => "✗",
        CallStatus::Cancelled | CallStatus::Interrupted => "■",
    };
    let mut text = [mark, made.name.as_str(), &report.title].join(" ").trim_end().to_owned();
    if !report.summary.is_empty() {
        // A string takes everything, here and below.
        let _ = write!(text, " · {}", report.summary);
    }
    let _ = writeln!(text, " ({}.{} s)", duration_ms / 1_000, duration_ms % 1_000 / 100);
    let whose = if agent.is_subagent() { format!(" · agent {agent}") } else { String::new() };
    let _ = writeln!(text, "call {} of {calls}{whose}", calls.saturating_sub(back) + 1);
    if !made.arguments.is_empty() {
        text.push_str("\nArguments\n");
    }
    for (name, value) in &made.arguments {
        match value {
            Value::String(value) if value.contains('\n') => {
                let _ = writeln!(text, "  {name}:");
                clip(value, ARGUMENT).lines().for_each(|line| text.extend(["    ", line, "\n"]));
            }
            Value::String(value) => {
                let _ = writeln!(text, "  {name}: {}", clip(value, ARGUMENT));
            }
            value => {
                let _ = writeln!(text, "  {name}: {}", clip(&value.to_string(), ARGUMENT));
            }
        }
    }
    if let Some(Display::Difference { unified, .. }) = display {
        let made = if *status == CallStatus::Success { "Change" } else { "Proposed change" };
        let _ = writeln!(text, "\n{made}\n{}", unified.trim_end());
    }
    let _ = writeln!(text, "\nResponse\n{}", response.trim_end());
    if let Some(why) = cut {
        let _ = writeln!(text, "\nThe response was cut: {why}");
    }
    text
}

#[cfg(test)]
mod tests {
    use host_journal::CallReport;
    use host_message::{AgentId, CallId, FunctionCall, ToolName};
    use serde_json::json;

    use super::*;

    #[test]
    fn call_page_has_arguments_and_response() {
        let arguments = json!({"command": "make\nmake test", "directory": "sub", "n": 3});
        let arguments = arguments.as_object().cloned().expect("an object");
        let report = CallReport {
            title: "make↵ make test (in sub)".to_owned(),
            summary: "exit 2".to_owned(),
            failed: true,
            ..CallReport::default()
        };
        let call = EndedCall {
            agent: AgentId::new("main"),
            call: FunctionCall::new(CallId::new("c"), ToolName::new("shell"), arguments),
            status: CallStatus::Success,
            duration_ms: 3_249,
            report,
            response: "Output:\na\nb\nExit code: 2\n".to_owned(),
            cut: Some("the disk is gone".to_owned()),
            display: None,
        };
        let expected = "✗ shell make↵ make test (in sub) · exit 2 (3.2 s)\ncall 4 of 5\n\nArguments\n  command:\n    make\n    make test\n  directory: sub\n  n: 3\n\nResponse\nOutput:\na\nb\nExit code: 2\n\nThe response was cut: the disk is gone\n";
        assert_eq!(text(&call, 2, 5), expected);
    }
}
