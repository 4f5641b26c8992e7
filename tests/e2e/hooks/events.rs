//! Each event: what a hook reads, and what its answer does.

use std::fs;

use host_tests::host::Host;
use serde_json::{Value, json};

use super::{answer, call, hook};

/// What hooks wrote down, a line of JSON each.
fn seen(host: &Host) -> Vec<Value> {
    let text = fs::read_to_string(host.repository().join("seen")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// All that the model was sent and said, as the session log has it.
fn conversation(host: &Host) -> String {
    let entries = host.session();
    let is_part = |entry: &&Value| entry["type"] == "content" || entry["type"] == "call_settled";
    entries.iter().filter(is_part).map(Value::to_string).collect()
}

// promise hooks.events: Each event reaches its hooks as JSON with the usual names, also for the calls of subagents.
#[test]
fn hook_events_come_in_their_order_with_their_fields() {
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];
    let hooks: String = events.iter().map(|event| hook(event, "cat >> seen")).collect();
    let replies = [call("ls", json!({"path": "."})), answer("Done.")];
    let host = Host::scripted(&replies, &["Look around"]).configured(&hooks);
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "Done.\n", ""), "{ended:?}");
    let seen = seen(&host);
    let names: Vec<&str> = seen.iter().filter_map(|event| event["hook_event_name"].as_str()).collect();
    assert_eq!(names, events);
    let folder = fs::canonicalize(host.repository()).expect("there").display().to_string();
    for event in &seen {
        assert_eq!((&event["cwd"], &event["permission_mode"]), (&json!(folder), &json!("default")), "{event}");
        let log = event["transcript_path"].as_str().expect("a path");
        assert!(
            fs::exists(log).expect("it can be looked for")
                && log.contains(event["session_id"].as_str().expect("an id"))
        );
    }
    let [start, prompt, before, after, stop, end] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!((&start["source"], &end["reason"]), (&json!("startup"), &json!("other")));
    assert_eq!(prompt["prompt"], "Look around");
    assert_eq!((&before["tool_name"], &before["tool_input"]), (&json!("ls"), &json!({"path": "."})));
    assert_eq!((&after["tool_response"]["success"], &after["tool_use_id"]), (&json!(true), &before["tool_use_id"]));
    assert_eq!((&stop["stop_hook_active"], &stop["last_assistant_message"]), (&json!(false), &json!("Done.")));
}

// promise hooks.transcript: A confined hook may read the log of its session, which its input names, and no other's.
#[test]
fn hook_reads_the_log_that_its_input_names() {
    let line = "log=$(sed 's/.*\"transcript_path\":\"\\([^\"]*\\)\".*/\\1/'); grep -q session_started \"$log\" || \
                head -c 40 \"$log\" >/dev/null || { echo unreadable >&2; exit 2; }; \
                cat \"${log%/*}/other\" 2>/dev/null >&2 && exit 2; exit 0";
    let replies = [call("ls", json!({"path": "."})), answer("Done.")];
    let host = Host::scripted(&replies, &["Look around"])
        .configured(&hook("PreToolUse", line))
        .home_file(".local/state/host/sessions/other", "another's\n");
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "Done.\n", ""), "{ended:?}");
    assert!(!conversation(&host).contains("denied it"), "{}", conversation(&host));
}

// promise hooks.events
#[test]
fn hooks_see_the_calls_of_a_subagent() {
    let report = json!({"report": {
        "SummaryOfFindings": "It flies.", "ExplorationTrace": ["Listed the folder."], "RelevantLocations": [],
    }});
    let replies = [
        call("codebase_investigator", json!({"objective": "How does it fly?"})),
        call("ls", json!({})),
        call("complete_task", report),
        answer("Done."),
    ];
    let hooks = hook("PreToolUse", "cat >> seen") + &hook("SubagentStop", "cat >> seen");
    let host = Host::scripted(&replies, &["Go"]).configured(&hooks);
    let ended = host.run();
    assert_eq!(ended.stdout, "Done.\n", "{ended:?}");
    let of =
        |event: &Value| (event["hook_event_name"].clone(), event["tool_name"].clone(), event["agent_type"].clone());
    let found: Vec<_> = seen(&host).iter().map(of).collect();
    let agent = json!("codebase_investigator");
    assert!(found.contains(&(json!("PreToolUse"), json!("ls"), agent.clone())), "{found:?}");
    assert!(found.contains(&(json!("SubagentStop"), Value::Null, agent)), "{found:?}");
}

#[test]
fn hook_sees_the_prompt_and_behind_it_what_was_piped_in() {
    for (piped, prompt) in [("", "Review this"), ("+ a line\n", "Review this\n\n+ a line\n")] {
        let host = Host::scripted(&[answer("Done.")], &["--output-format", "stream-json", "Review this"])
            .configured(&hook("UserPromptSubmit", "cat >> seen"))
            .input(piped);
        let ended = host.run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(seen(&host)[0]["prompt"], prompt);
        let lines = ended.lines();
        let said = lines.iter().find(|line| line["role"] == "user").expect("it is shown");
        assert_eq!(said["content"], prompt);
    }
}

// promise hooks.prompt: A prompt that a hook denies never reaches the model.
#[test]
fn hook_denies_a_prompt_or_adds_to_it() {
    let hooks = hook("UserPromptSubmit", "grep -q secret && { echo 'no secrets' >&2; exit 2; }; echo 'on branch main'");
    let host = Host::scripted(&[answer("Done.")], &["Tell the secret"]).configured(&hooks);
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(54), ""), "{ended:?}");
    assert!(ended.stderr.contains("denied the prompt: no secrets"), "{ended:?}");
    assert!(!conversation(&host).contains("secret"), "{ended:?}");
    let start = hook("SessionStart", "echo 'read NOTES.md'");
    let host = Host::scripted(&[answer("Done.")], &["Say hello"]).configured(&(hooks + &start));
    let ended = host.run();
    assert_eq!(ended.stdout, "Done.\n", "{ended:?}");
    let sent = conversation(&host);
    for text in ["on branch main", "read NOTES.md", "added by the user's hook `"] {
        assert!(sent.contains(text), "{text} in {sent}");
    }
}

// promise hooks.stop
#[test]
fn hook_keeps_a_run_from_its_end_a_limited_number_of_times() {
    let hooks = hook("Stop", "grep -q '\"stop_hook_active\":true' || { echo 'run the tests' >&2; exit 2; }");
    let host = Host::scripted(&[answer("Done."), answer("Tested.")], &["Go"]).configured(&hooks);
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Tested.\n"), "{ended:?}");
    assert!(conversation(&host).contains("run the tests"));
    let replies: Vec<Value> = (0..20).map(|number| answer(&format!("Answer {number}."))).collect();
    let host = Host::scripted(&replies, &["Go"]).configured(&hook("Stop", "echo more >&2; exit 2"));
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Answer 8.\n"), "{ended:?}");
}

#[test]
fn hook_ends_a_run_and_says_why() {
    let hooks = hook("PreToolUse", r#"echo '{"continue": false, "stopReason": "office hours are over"}'"#);
    let replies = [call("ls", json!({})), answer("never said")];
    let host = Host::scripted(&replies, &["Go"]).configured(&hooks);
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(54), ""), "{ended:?}");
    assert!(ended.stderr.contains("ended the run: office hours are over"), "{ended:?}");
}

#[test]
fn hooks_of_one_event_run_and_the_strictest_wins() {
    let hooks = hook("PreToolUse", r#"echo '{"decision": "allow"}'"#)
        + &hook("PreToolUse", "echo two >> ran; exit 0")
        + &hook("PreToolUse", "echo no >&2; exit 2");
    let replies = [call("ls", json!({})), answer("Done.")];
    let host = Host::scripted(&replies, &["--output-format", "stream-json", "Go"]).configured(&hooks);
    let ended = host.run();
    assert_eq!(super::result(&ended)["status"], "error", "{ended:?}");
    assert_eq!(fs::read_to_string(host.repository().join("ran")).expect("it ran"), "two\n");
    assert_eq!(ended.lines().iter().filter(|line| line["type"] == "hook").count(), 3);
}

#[test]
fn hook_after_a_call_speaks_to_the_model() {
    let hooks =
        hook("PostToolUse", r#"echo '{"decision": "block", "reason": "unused import", "systemMessage": "linted"}'"#);
    let replies = [call("ls", json!({})), answer("Done.")];
    let host = Host::scripted(&replies, &["Go"]).configured(&hooks);
    let ended = host.run();
    assert!(conversation(&host).contains("unused import"), "{ended:?}");
    assert!(ended.stderr.contains("linted"), "{ended:?}");
}
