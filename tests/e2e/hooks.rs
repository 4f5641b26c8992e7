//! Hooks, the real binary: programs that are asked about calls, prompts and ends, and what they cannot do.

mod attacks;
mod components;
mod events;
mod files;

use host_tests::host::{Ended, Host};
use serde_json::{Value, json};

fn answer(text: &str) -> Value {
    json!({"chunks": [{"text": text}]})
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"chunks": [{"call": {"name": name, "arguments": arguments}}]})
}

/// A run that writes `new.txt`, in the mode that allows it without asking, with these hooks before calls.
fn writing(hooks: &str) -> Host {
    let replies = [call("write_file", json!({"path": "new.txt", "content": "x\n"})), answer("Done.")];
    Host::scripted(&replies, &["--approval-mode", "auto-edit", "--output-format", "stream-json", "Go"])
        .configured(hooks)
}

/// A hook of the configuration, with a line for a shell.
fn hook(event: &str, line: &str) -> String {
    format!("[[hooks.{event}]]\ncommand = {}\n", Value::from(line))
}

/// The result of the one call.
fn result(ended: &Ended) -> Value {
    let lines = ended.lines();
    lines.into_iter().find(|line| line["type"] == "tool_result").unwrap_or_else(|| panic!("{ended:?}"))
}

fn has_written(host: &Host) -> bool {
    host.repository().join("new.txt").exists()
}

// promise hooks.deny
#[test]
fn hook_denies_a_call_by_exit_code_or_json_and_the_model_gets_the_reason() {
    let json =
        r#"echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "not here"}}'"#;
    let old = r#"echo '{"decision": "block", "reason": "not here"}'"#;
    for line in ["cat > /dev/null; echo 'not here' >&2; exit 2", "echo 'not here' >&2; exit 2", json, old] {
        let host = writing(&hook("PreToolUse", line));
        let ended = host.run();
        let result = result(&ended);
        assert_eq!((ended.code, &result["status"]), (Some(0), &json!("error")), "{line}: {ended:?}");
        let output = result["output"].as_str().expect("text");
        assert!(
            output.contains("`write_file` was not run: the hook `") && output.contains("denied it: not here"),
            "{output}"
        );
        assert!(!has_written(&host));
        let event = ended.lines().into_iter().find(|line| line["type"] == "hook").expect("it is an event");
        assert_eq!((&event["hook_event_name"], &event["result"]), (&json!("PreToolUse"), &json!("denied")));
        let entries = host.session();
        let at = |kind: &str| entries.iter().position(|entry| entry["type"] == kind);
        let entry = &entries[at("hook_ended").expect("it is recorded")];
        assert_eq!((&entry["result"], &entry["reason"]), (&json!("denied"), &json!("not here")), "{entry}");
        assert!(at("hook_ended") < at("call_settled") && at("call_started").is_none());
    }
}

// promise hooks.closed: A hook about a prompt, a call or a question that fails in any way counts as one that denies.
#[test]
fn hook_that_fails_denies_the_call() {
    let timeout = "[[hooks.PreToolUse]]\ncommand = \"sleep 30\"\ntimeout_seconds = 1\n";
    let cases = [
        (hook("PreToolUse", "echo boom >&2; exit 1"), "it ended with exit code 1: boom"),
        (hook("PreToolUse", "/no/such/program"), "it ended with exit code 127"),
        (hook("PreToolUse", "kill -9 $$"), "it was ended by signal 9"),
        (timeout.to_owned(), "it took too long"),
        (hook("PreToolUse", "echo '{\"decision\": '"), "its answer is invalid"),
        (hook("PreToolUse", "echo '{\"decision\": \"perhaps\"}'"), "its answer is invalid: `decision` is `perhaps`"),
        (hook("PreToolUse", "head -c 3000000 /dev/zero | tr '\\0' '{'"), "it printed too much"),
    ];
    for (hooks, why) in cases {
        let host = writing(&hooks);
        let ended = host.run();
        let output = result(&ended)["output"].as_str().expect("text").to_owned();
        assert!(output.contains("denied it: it failed, so that this is denied: ") && output.contains(why), "{output}");
        assert!(!has_written(&host), "{hooks}");
        let event = ended.lines().into_iter().find(|line| line["type"] == "hook").expect("it is an event");
        assert_eq!(event["result"], "failed_closed", "{event}");
    }
    // After the call nothing is left to be denied.
    let host = writing(&hook("PostToolUse", "exit 1"));
    let ended = host.run();
    assert_eq!(result(&ended)["status"], "success", "{ended:?}");
    assert!(has_written(&host));
}

// promise hooks.allow
#[test]
fn hook_that_allows_gives_nothing_that_was_not_granted() {
    let allow = hook("PreToolUse", r#"echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'"#);
    let asks = hook("PermissionRequest", r#"echo '{"hookSpecificOutput": {"decision": {"behavior": "allow"}}}'"#);
    let allow = allow + &asks;
    let deny_rule = "[[rule]]\ntool = \"write_file\"\ndecision = \"deny\"\nmessage = \"frozen\"\n";
    let cases: [(&str, Value, &[&str], &str); 6] = [
        ("shell", json!({"command": "touch new.txt"}), &[], "grant"),
        ("write_file", json!({"path": "new.txt", "content": "x"}), &[], "grant"),
        ("write_file", json!({"path": "new.txt", "content": "x"}), &["--approval-mode", "plan"], ""),
        ("write_file", json!({"path": ".host/config.toml", "content": "x"}), &["--approval-mode", "yolo"], ""),
        ("write_file", json!({"path": "../new.txt", "content": "x"}), &["--approval-mode", "auto-edit"], ""),
        ("write_file", json!({"path": "frozen", "content": "x"}), &["--approval-mode", "yolo"], "frozen"),
    ];
    for (name, arguments, flags, why) in cases {
        let replies = [call(name, arguments.clone()), answer("Done.")];
        let host = Host::scripted(&replies, &["--output-format", "stream-json", "Go"]).args(flags).configured(&allow);
        let host = if why == "frozen" { host.home_file(".config/host/policies/own.toml", deny_rule) } else { host };
        let ended = host.run();
        let result = result(&ended);
        assert_eq!(result["status"], "error", "{name} {arguments} {flags:?}: {result}");
        assert!(result["output"].as_str().is_some_and(|output| output.contains(why)), "{result}");
        for path in ["new.txt", ".host/config.toml", "../new.txt", "frozen"] {
            assert!(!host.repository().join(path).exists(), "{path} by {name} {flags:?}");
        }
    }
    // What is granted and only looks dangerous needs no question.
    let replies = [call("shell", json!({"command": "git reset --hard; echo kept > new.txt"})), answer("Done.")];
    let flags = ["--grant", "shell:process=*", "--output-format", "stream-json", "Go"];
    let without = Host::scripted(&replies, &flags).run();
    assert_eq!(result(&without)["status"], "error", "{without:?}");
    let host = Host::scripted(&replies, &flags).configured(&allow);
    let ended = host.run();
    assert_eq!(result(&ended)["status"], "success", "{ended:?}");
    assert!(has_written(&host));
}

// promise hooks.changed
#[test]
fn hook_that_changes_arguments_gets_no_further_than_the_model() {
    let to = |arguments: &str, decision: &str| {
        let answer = format!(r#"{{"hookSpecificOutput": {{"updatedInput": {arguments}{decision}}}}}"#);
        hook("PreToolUse", &format!("printf '%s' '{answer}'"))
    };
    let allow = r#", "permissionDecision": "allow""#;
    let host = writing(&to(r#"{"path": "new.txt", "content": "by the hook\n"}"#, allow));
    let ended = host.run();
    assert_eq!(result(&ended)["status"], "success", "{ended:?}");
    assert_eq!(std::fs::read_to_string(host.repository().join("new.txt")).expect("written"), "by the hook\n");
    let text = result(&ended)["output"].to_string();
    assert!(text.contains("The hook changed the arguments of this call"), "{text}");
    let recorded = host.session().into_iter().find(|entry| entry["type"] == "hook_ended").expect("it is recorded");
    assert_eq!(recorded["arguments"]["content"], "by the hook\n", "{recorded}");
    // Nobody can be asked here.
    let host = writing(&to(r#"{"path": "new.txt", "content": "by the hook\n"}"#, ""));
    let ended = host.run();
    let output = result(&ended)["output"].to_string();
    assert!(!has_written(&host) && output.contains("changed the arguments"), "{output}");
    for arguments in [
        r#"{"path": "../new.txt", "content": ""}"#,
        r#"{"path": "/etc/new.txt", "content": ""}"#,
        r#"{"path": ".host/config.toml", "content": ""}"#,
        r#"{"path": 7}"#,
        r#"{"path": "new.txt", "content": "", "more": true}"#,
    ] {
        let host = writing(&to(arguments, allow));
        let ended = host.run();
        assert_eq!(result(&ended)["status"], "error", "{arguments}: {ended:?}");
        assert!(!has_written(&host) && !host.repository().join(".host/config.toml").exists(), "{arguments}");
    }
}
