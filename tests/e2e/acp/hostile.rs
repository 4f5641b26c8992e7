//! Clients that break the rules, or break.

use std::path::Path;

use host_tests::host::Host;
use serde_json::{Value, json};

use super::editor::{Editor, calls, prompt, says, script};

/// A command that says that it runs, with the id of its process, and never ends.
const ENDLESS: &str = "echo $$ > pid; echo beg\"\"un; while [ ! -e never ]; do sleep 0.02; done";

fn endless() -> Value {
    calls("shell", json!({"command": ENDLESS}))
}

/// An editor whose prompt runs a program without end, its session, and the request with that prompt.
fn running(host: &Host) -> (Editor, String, u64) {
    let model = script(host, "script.jsonl", &[endless()]);
    let mut editor = Editor::connected(host, &["--model", &model, "--approval-mode", "yolo"], json!({}));
    let id = editor.session();
    let request = editor.begin(&id, "run it");
    editor.sees(has_begun);
    (editor, id, request)
}

fn has_begun(update: &Value) -> bool {
    update["content"][0]["content"]["text"].as_str().is_some_and(|text| text.contains("begun"))
}

// promise acp.rubbish: Input that is no message of the protocol, is too long, or comes at the wrong time gets an error,
//   and the connection stays open.
#[test]
fn acp_rubbish_is_answered_and_the_connection_goes_on() {
    let host = Host::new(["acp"]);
    let model = script(&host, "script.jsonl", &[says("hello")]);
    let mut editor = Editor::start(&host, &["--model", &model]);
    let early = editor.call("session/new", json!({"cwd": "/", "mcpServers": []})).expect_err("it is too early");
    assert!(early["code"] == -32600 && early.to_string().contains("initialization"), "{early}");
    editor.call("initialize", json!({"protocolVersion": 1})).expect("it answers");
    let long = "x".repeat(host_acp::MAX_LINE + 1);
    let deep = "[".repeat(100_000);
    for (line, code) in [
        ("rubbish", -32700),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1", -32700),
        ("[]", -32600),
        ("42", -32600),
        (long.as_str(), -32700),
        (deep.as_str(), -32700),
        ("{\"jsonrpc\": \"2.0\", \"id\": 77, \"method\": \"session/dance\"}", -32601),
        ("{\"jsonrpc\": \"2.0\", \"id\": 78, \"method\": \"session/prompt\", \"params\": {}}", -32602),
        ("{\"jsonrpc\": \"2.0\", \"id\": 79, \"method\": \"session/prompt\", \"params\": \"x\"}", -32600),
    ] {
        editor.line(line);
        let answer = editor.next();
        assert_eq!(answer["error"]["code"], code, "{:.80}: {answer}", line);
        assert!(answer.to_string().len() < 10_000, "it does not repeat what was sent");
    }
    // Neither has an answer.
    editor.notify("session/dance", json!({}));
    editor.notify("session/cancel", json!({"sessionId": "nope"}));
    editor.line("");
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "hi"), "end_turn");
    let (code, log) = editor.leave();
    assert_eq!((code, log.contains("panicked")), (Some(0), false), "{log}");
}

#[test]
fn acp_second_prompt_is_an_error_while_one_runs() {
    let host = Host::new(["acp"]);
    let model = script(&host, "script.jsonl", &[endless(), says("after")]);
    let mut editor = Editor::connected(&host, &["--model", &model, "--approval-mode", "yolo"], json!({}));
    let id = editor.session();
    // Nothing runs: there is nothing to cancel.
    editor.notify("session/cancel", json!({"sessionId": id}));
    let first = editor.begin(&id, "run it");
    editor.sees(has_begun);
    let second = editor.begin(&id, "and this");
    let error = editor.response(second).expect_err("one runs");
    assert!(error["message"].as_str().is_some_and(|message| message.contains("a prompt runs")), "{error}");
    // It holds after the prompt, and is answered then.
    let mode = editor.send("session/set_mode", json!({"sessionId": id, "modeId": "plan"}));
    editor.notify("session/cancel", json!({"sessionId": id}));
    assert_eq!(editor.response(first).expect("it ends")["stopReason"], "cancelled");
    assert_eq!(editor.response(mode), Ok(json!({})));
    assert!(is_gone(&host.repository().join("pid")), "its program is ended");
    assert_eq!(editor.prompt(&id, "go on"), "end_turn");
}

#[test]
fn acp_request_of_a_prompt_that_is_cancelled_ends_as_cancelled() {
    let host = Host::new(["acp"]);
    let model = script(&host, "script.jsonl", &[json!({"chunks": [{"text": "I th"}, {"hang": true}]})]);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    let request = editor.begin(&id, "think");
    editor.sees(|update| update["sessionUpdate"] == "agent_message_chunk");
    editor.notify("$/cancel_request", json!({"requestId": request}));
    assert_eq!(editor.response(request).expect("it ends")["stopReason"], "cancelled");
}

// promise acp.end: The end of the input ends every session with its prompt and the programs that it started, and a
//   question that is open is a no.
#[test]
fn acp_end_of_the_input_ends_what_runs() {
    let host = Host::new(["acp"]);
    let (editor, _, _) = running(&host);
    assert_eq!(editor.leave().0, Some(0));
    assert!(is_gone(&host.repository().join("pid")), "its program is ended");
    let end = host.session().into_iter().rfind(|entry| entry["type"] == "run_ended").expect("it is recorded");
    assert_eq!(end["terminate_reason"], "ABORTED");
}

// promise acp.end
#[test]
fn acp_client_that_dies_in_a_question_has_said_no() {
    let host = Host::new(["acp"]);
    let write = calls("write_file", json!({"path": "a.txt", "content": "a\n"}));
    let model = script(&host, "script.jsonl", &[write]);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    editor.begin(&id, "write");
    let asked = loop {
        let message = editor.next();
        if message["method"] == "session/request_permission" {
            break message;
        }
    };
    assert!(asked["id"].is_number() || asked["id"].is_string(), "{asked}");
    assert_eq!(editor.leave().0, Some(0));
    assert!(!host.repository().join("a.txt").exists());
    let settled = host.session().into_iter().find(|entry| entry["type"] == "call_settled").expect("it is recorded");
    assert_eq!(settled["status"], "cancelled", "{settled}");
}

#[test]
fn acp_closed_session_ends_its_prompt() {
    let host = Host::new(["acp"]);
    let (mut editor, id, request) = running(&host);
    let close = editor.send("session/close", json!({"sessionId": id}));
    assert_eq!(editor.response(request).expect("it ends")["stopReason"], "cancelled");
    assert_eq!(editor.response(close), Ok(json!({})));
    assert!(is_gone(&host.repository().join("pid")), "its program is ended");
    let again = editor.call("session/prompt", prompt(&id, json!([{"type": "text", "text": "x"}])));
    assert!(again.is_err(), "{again:?}");
}

#[test]
fn acp_logs_are_on_standard_error() {
    let host = Host::new(["acp"]).env("HOST_LOG", "trace");
    let model = script(&host, "script.jsonl", &[calls("ls", json!({"path": "."})), says("ok")]);
    // The editor fails on any line that is not a message.
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "look"), "end_turn");
    let (code, log) = editor.leave();
    assert!(code == Some(0) && log.contains("TRACE"), "{log:.500}");
}

#[test]
fn acp_terminated_process_ends_what_runs() {
    let host = Host::new(["acp"]);
    let (editor, _, _) = running(&host);
    let process = rustix::process::Pid::from_raw(editor.process() as i32).expect("an id");
    rustix::process::kill_process(process, rustix::process::Signal::TERM).expect("it runs");
    assert_eq!(editor.leave().0, Some(130));
    assert!(is_gone(&host.repository().join("pid")), "its program is ended");
}

/// Whether the process whose id is in the file has ended.
fn is_gone(file: &Path) -> bool {
    let id = std::fs::read_to_string(file).expect("it was written");
    let state = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    state.map_or(true, |state| state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}
