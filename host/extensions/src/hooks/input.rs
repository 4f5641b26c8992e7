//! What a hook reads: one JSON object, by the names of its convention.
//!
//! The fields are Claude Code's (`session_id`, `transcript_path`, `cwd`, `permission_mode`, `hook_event_name` and those
//! of the event); a hook of Gemini CLI's file gets that agent's besides. Deliberately not here: the answer.

use std::path::{Path, PathBuf};

use host_message::OutputPart;
use host_text::clip;
use host_tool::{ApprovalMode, HookAsker, HookInput, Outcome};
use serde_json::{Map, Value, json};

use super::names::Convention;

/// The most characters of a call's output that a hook reads. Protects memory and the pipe.
pub(super) const MAX_RESPONSE: usize = 100_000;

/// What all hooks of a session read.
#[derive(Clone, Debug)]
pub struct HookPlace {
    /// The id of the session.
    pub session: String,
    /// The session log, if there is one.
    pub transcript: Option<PathBuf>,
    /// The folder to work in.
    pub workspace: PathBuf,
    /// The project that it lies in.
    pub project: PathBuf,
}

/// Writes the input of a hook.
pub(super) fn written(
    convention: Convention,
    asker: &HookAsker<'_>,
    input: &HookInput<'_>,
    place: &HookPlace,
) -> Value {
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let transcript = place.transcript.as_deref().map(path).unwrap_or_default();
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("session_id", json!(place.session));
    put("transcript_path", json!(transcript));
    put("cwd", json!(path(&place.workspace)));
    put("permission_mode", json!(mode(convention, asker.mode)));
    put("hook_event_name", json!(convention.event(input.event())));
    if convention == Convention::Gemini {
        put("timestamp", json!(jiff::Timestamp::now().to_string()));
    }
    if asker.agent_id.is_subagent() {
        put("agent_id", json!(asker.agent_id.as_str()));
        put("agent_type", json!(asker.agent));
    }
    if let Some(call) = input.call() {
        put("tool_name", json!(convention.tool(call.name.as_str())));
        put("tool_input", Value::Object(convention.arguments(call, &place.workspace)));
        put("tool_use_id", json!(call.id.as_str()));
    }
    match input {
        HookInput::SessionStart { source } => drop(put("source", json!(source))),
        HookInput::UserPromptSubmit { prompt } => drop(put("prompt", json!(prompt))),
        HookInput::PreToolUse { .. } => {}
        HookInput::PermissionRequest { reasons, .. } => drop(put("reasons", json!(reasons))),
        HookInput::PostToolUse { call, outcome, mcp_meta } => {
            let sent = convention.arguments(call, &place.workspace);
            put("tool_response", response(convention, &sent, outcome));
            if let Some(meta) = mcp_meta {
                put("mcp_meta", json!(meta));
            }
        }
        HookInput::Stop { response, active } | HookInput::SubagentStop { response, active } => {
            put("stop_hook_active", json!(active));
            put("last_assistant_message", json!(clip(response, MAX_RESPONSE)));
            if convention == Convention::Gemini {
                put("prompt_response", json!(clip(response, MAX_RESPONSE)));
            }
        }
        HookInput::PreCompact { manual } => {
            put("trigger", json!(if *manual { "manual" } else { "auto" }));
            put("custom_instructions", json!(""));
        }
        HookInput::SessionEnd { reason } => drop(put("reason", json!(reason))),
        HookInput::Notification { message, kind } => {
            put("message", json!(message));
            put("notification_type", json!(kind));
        }
    }
    Value::Object(fields)
}

/// Returns what a convention calls an approval mode.
fn mode(convention: Convention, mode: ApprovalMode) -> &'static str {
    match (convention, mode) {
        (Convention::Host, mode) => mode.name(),
        (_, ApprovalMode::Plan) => "plan",
        (_, ApprovalMode::Default) => "default",
        (_, ApprovalMode::AutoEdit) => "acceptEdits",
        (_, ApprovalMode::Auto) => "auto",
        (_, ApprovalMode::Yolo) => "bypassPermissions",
    }
}

/// Returns the text of a call's result, and its error.
pub(super) fn result(outcome: &Outcome) -> (String, Option<String>) {
    let (text, error) = match outcome {
        Outcome::Success(output) => {
            let texts = output.content.iter().filter_map(|part| match part {
                OutputPart::Text(text) => Some(text.as_str()),
                OutputPart::Data(_) | OutputPart::Link { .. } => None,
            });
            let text = texts.collect::<Vec<_>>().join("\n");
            let is_empty = text.is_empty();
            let structured = output.structured.as_ref().filter(|_| is_empty).map(Value::to_string);
            (structured.unwrap_or(text), None)
        }
        Outcome::Error(failure) => (String::new(), Some(failure.message.clone())),
        Outcome::Cancelled { reason, partial } => (partial.clone().unwrap_or_default(), Some(reason.clone())),
    };
    (clip(&text, MAX_RESPONSE).into_owned(), error.map(|error| clip(&error, MAX_RESPONSE).into_owned()))
}

/// Returns the result of a call.
fn response(convention: Convention, sent: &Map<String, Value>, outcome: &Outcome) -> Value {
    let (text, error) = result(outcome);
    match convention {
        Convention::Gemini => match error {
            Some(error) => json!({"llmContent": text, "returnDisplay": text, "error": {"message": error}}),
            None => json!({"llmContent": text, "returnDisplay": text}),
        },
        Convention::Host | Convention::Claude => {
            let mut response = json!({"success": error.is_none(), "content": text, "is_error": error.is_some()});
            if let Some(fields) = response.as_object_mut() {
                if let Some(path) = sent.get("file_path") {
                    fields.insert("filePath".to_owned(), path.clone());
                }
                if sent.contains_key("command") {
                    fields.insert("stdout".to_owned(), json!(text));
                    fields.insert("interrupted".to_owned(), json!(matches!(outcome, Outcome::Cancelled { .. })));
                }
                if let Some(error) = error {
                    fields.insert("error".to_owned(), json!(error));
                }
            }
            response
        }
    }
}

#[cfg(test)]
mod tests {
    use host_message::{AgentId, CallId, FunctionCall, Output, ToolName};

    use super::*;

    fn place() -> HookPlace {
        HookPlace {
            session: "s1".to_owned(),
            transcript: Some("/logs/s1.jsonl".into()),
            workspace: "/w".into(),
            project: "/w".into(),
        }
    }

    fn of(convention: Convention, input: &HookInput<'_>) -> Value {
        let (id, agent) = (AgentId::new("main"), "main");
        let asker = HookAsker { agent, agent_id: &id, mode: ApprovalMode::AutoEdit };
        written(convention, &asker, input, &place())
    }

    #[test]
    fn hook_input_has_the_fields_of_its_convention() {
        let arguments = json!({"path": "a.txt", "content": "x"}).as_object().cloned().expect("an object");
        let call = FunctionCall::new(CallId::new("c1"), ToolName::new("write_file"), arguments);
        assert_eq!(
            of(Convention::Claude, &HookInput::PreToolUse { call: &call }),
            json!({
                "session_id": "s1", "transcript_path": "/logs/s1.jsonl", "cwd": "/w", "permission_mode": "acceptEdits",
                "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "c1",
                "tool_input": {"file_path": "/w/a.txt", "content": "x"},
            })
        );
        let outcome = Outcome::Success(Output::text("done"));
        let after = of(Convention::Claude, &HookInput::PostToolUse { call: &call, outcome: &outcome, mcp_meta: None });
        assert_eq!(
            after["tool_response"],
            json!({"success": true, "content": "done", "is_error": false, "filePath": "/w/a.txt"})
        );
        let gemini = of(Convention::Gemini, &HookInput::PostToolUse { call: &call, outcome: &outcome, mcp_meta: None });
        assert_eq!((&gemini["hook_event_name"], &gemini["tool_name"]), (&json!("AfterTool"), &json!("write_file")));
        assert_eq!(gemini["tool_response"], json!({"llmContent": "done", "returnDisplay": "done"}));
        assert!(gemini["timestamp"].is_string());
        let meta = json!({"acme.example/trace": "t1"}).as_object().cloned().expect("an object");
        let of_server = HookInput::PostToolUse { call: &call, outcome: &outcome, mcp_meta: Some(&meta) };
        assert_eq!((&of(Convention::Claude, &of_server)["mcp_meta"], after.get("mcp_meta")), (&json!(meta), None));
        let own = of(Convention::Host, &HookInput::PreToolUse { call: &call });
        assert_eq!((&own["permission_mode"], &own["tool_name"]), (&json!("auto-edit"), &json!("write_file")));
        assert_eq!(own["tool_input"], json!({"path": "a.txt", "content": "x"}));
        let stop = of(Convention::Gemini, &HookInput::Stop { response: "Done.", active: true });
        assert_eq!((&stop["hook_event_name"], &stop["stop_hook_active"]), (&json!("AfterAgent"), &json!(true)));
        assert_eq!(stop["prompt_response"], "Done.");
    }
}
