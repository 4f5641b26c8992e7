//! How a run ends, and the code that says so: one that did not reach its end never exits with 0.

use host_tests::host::Host;
use serde_json::{Value, json};

use super::{answer, call};

fn hang() -> Value {
    json!({"chunks": [{"text": "I begin"}, {"hang": true}]})
}

fn look() -> Value {
    json!({"chunks": [call("ls", json!({}))]})
}

#[test]
fn the_turn_limit_gives_one_last_request() {
    let last = json!({"expect": {"last_text": "turn"}, "chunks": [{"text": "My best answer."}]});
    let ended = Host::scripted(&[look(), look(), last], &["--max-turns", "2", "Look"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "My best answer.\n"), "{ended:?}");

    let ended = Host::scripted(&[look(), look(), look()], &["--max-turns", "2", "Look"]).run();
    assert_eq!(ended.code, Some(53), "{ended:?}");
    assert!(ended.stderr.contains("--max-turns"), "{ended:?}");
}

#[test]
fn the_time_limit_gives_one_last_request_and_then_its_own_code() {
    let last = json!({"chunks": [{"text": "My best answer."}]});
    let ended = Host::scripted(&[hang(), last], &["--timeout", "1s", "Look"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "My best answer.\n"), "{ended:?}");

    let ended = Host::scripted(&[hang(), hang()], &["--timeout", "1s", "--output-format", "json", "Look"])
        .configured("[run]\ngrace_seconds = 1\n")
        .run();
    assert_eq!(ended.code, Some(57), "{ended:?}");
    let object = ended.json();
    assert_eq!((&object["terminate_reason"], &object["response"]), (&json!("TIMEOUT"), &Value::Null));
    assert_eq!(object["error"]["code"], 57);
    assert!(object["error"]["help"].as_str().is_some_and(|help| help.contains("--timeout")));
}

#[test]
fn a_failed_request_ends_the_run_and_what_was_there_is_not_lost() {
    let broken = json!({"chunks": [{"text": "Half an answer"}, {"error": {"kind": "server", "message": "it broke"}}]});
    let ended = Host::scripted(&[look(), broken], &["Look"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(59), ""), "{ended:?}");
    assert!(ended.stderr.contains("Half an answer") && ended.stderr.contains("it broke"), "{ended:?}");
}

#[test]
fn an_answer_that_is_cut_short_says_so() {
    let reply = || json!({"chunks": [{"text": "The first of three"}, {"finish": "max_tokens"}]});
    let ended = Host::scripted(&[reply()], &["Look"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "The first of three\n"), "{ended:?}");
    assert!(ended.stderr.contains("note: the answer is cut short"), "{ended:?}");
    for (format, said) in [("json", true), ("stream-json", true), ("json", false)] {
        let reply = if said { reply() } else { answer("All three") };
        let ended = Host::scripted(&[reply], &["--output-format", format, "Look"]).run();
        let object = if format == "json" { ended.json() } else { ended.lines().pop().expect("the result") };
        let want = if said { json!(true) } else { Value::Null };
        assert_eq!(object["response_is_cut_short"], want, "{format}: {object}");
    }
}

// promise session.end: A run that did not reach its end never exits with code 0.
#[test]
fn each_kind_of_failure_has_its_code() {
    for (kind, code) in [
        ("authentication", 41),
        ("input", 59),
        ("configuration", 52),
        ("quota", 59),
        ("safety", 59),
        ("network", 59),
        ("server", 59),
    ] {
        let reply = json!({"chunks": [{"error": {"kind": kind, "message": "no"}}]});
        let ended = Host::scripted(&[reply], &["--output-format", "stream-json", "Look"]).run();
        assert_eq!(ended.code, Some(code), "{kind}: {ended:?}");
        let lines = ended.lines();
        let last = lines.last().expect("there is a last line");
        assert_eq!(
            (&last["type"], &last["status"], &last["error"]["code"]),
            (&json!("result"), &json!("error"), &json!(code))
        );
    }
}

// promise session.recorded
#[test]
fn a_session_log_that_cannot_be_written_stops_the_run_before_the_next_call() {
    let write = |name: &str| json!({"chunks": [{"text": "I write."}, call("write_file", json!({"path": name, "content": "x"}))]});
    let long = json!({"chunks": [{"text": "y".repeat(200_000)}, call("write_file", json!({"path": "second.txt", "content": "x"}))]});
    let host = Host::scripted(&[write("first.txt"), long, answer("Done.")], &["--approval-mode", "auto-edit", "Go"]);
    // As on a full disk: no file grows over 128 blocks of 512 bytes (dash) or 1,024 (bash).
    let ended = host.end(host.command_in_shell("ulimit -f 128; exec \"$@\""));
    assert_eq!(ended.code, Some(52), "{ended:?}");
    assert!(ended.stderr.contains("could not write the session log") && ended.stderr.contains("help: "), "{ended:?}");
    assert!(ended.stderr.contains("yyyy"), "what the model had said is shown: {}", ended.stderr.len());
    assert!(host.repository().join("first.txt").exists(), "what was recorded was done");
    assert!(!host.repository().join("second.txt").exists(), "what was not recorded was not done");
}
