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
fn limit_reached_gives_one_last_request_whose_text_is_the_best_answer_so_far() {
    let last = || json!({"expect": {"last_text": "2 turns"}, "chunks": [{"text": "My best answer."}]});
    let ended = Host::scripted(&[look(), look(), last()], &["--max-turns", "2", "Look"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(53), "My best answer.\n"), "{ended:?}");
    assert_eq!(
        ended.stderr,
        "error: stopped after 2 turns, the limit; the answer is the best so far and may be unfinished\n\
         help: continue with `host run --resume \"…\"`, or raise --max-turns\n"
    );
    for format in ["json", "stream-json"] {
        let arguments = ["--max-turns", "2", "--output-format", format, "Look"];
        let ended = Host::scripted(&[look(), look(), last()], &arguments).run();
        assert_eq!(ended.code, Some(53), "{ended:?}");
        let object = if format == "json" { ended.json() } else { ended.lines().pop().expect("the result") };
        let said = ["terminate_reason", "response", "partial_response"].map(|key| object[key].clone());
        assert_eq!(said, [json!("MAX_TURNS"), Value::Null, json!("My best answer.")], "{object}");
        assert_eq!(object["error"]["code"], 53, "{object}");
        if format == "stream-json" {
            assert_eq!(object["status"], "error", "{object}");
        }
    }

    let one = json!({"expect": {"last_text": "1 turn, is reached"}, "chunks": [{"text": "So far."}]});
    let ended = Host::scripted(&[look(), one], &["--max-turns", "1", "Look"]).run();
    assert!(ended.code == Some(53) && ended.stderr.contains("stopped after 1 turn,"), "{ended:?}");

    let ended = Host::scripted(&[look(), look(), look()], &["--max-turns", "2", "Look"]).run();
    assert_eq!(ended.code, Some(53), "{ended:?}");
    assert!(ended.stderr.contains("--max-turns"), "{ended:?}");
}

#[test]
fn the_time_limit_gives_one_last_request_and_then_its_own_code() {
    let last = json!({"chunks": [{"text": "My best answer."}]});
    let ended = Host::scripted(&[hang(), last], &["--timeout", "1s", "Look"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(57), "My best answer.\n"), "{ended:?}");
    assert!(ended.stderr.contains("error: timed out after 1 turn; the answer is the best so far"), "{ended:?}");

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
fn limit_reached_and_task_completed_in_the_last_request_is_done() {
    let complete = json!({"chunks": [call("complete_task", json!({"result": {"count": 2}}))]});
    let host = Host::scripted(&[look(), complete], &["--max-turns", "1", "--output-schema", "schema.json", "Count"]);
    let ended = host.file("schema.json", r#"{"type": "object"}"#).run();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let complete = answer("I think there are two.");
    let host = Host::scripted(&[look(), complete], &["--max-turns", "1", "--output-schema", "schema.json", "Count"]);
    let ended = host.file("schema.json", r#"{"type": "object"}"#).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(53), ""), "no JSON came: {ended:?}");
    assert!(ended.stderr.contains("I think there are two."), "{ended:?}");
}

#[test]
fn limit_is_not_set_for_the_main_agent() {
    let look = |at: u32| json!({"chunks": [call("ls", json!({"ignore": [format!("x{at}")]}))]});
    let replies: Vec<Value> = (0..200).map(look).chain([answer("Done.")]).collect();
    let ended = Host::scripted(&replies, &["--output-format", "json", "Look"]).run();
    assert_eq!((ended.code, &ended.json()["stats"]["turns"]), (Some(0), &json!(201)), "{ended:?}");
}

#[test]
fn limit_out_of_range_is_an_error_that_names_the_range() {
    for (arguments, told) in [
        (["--max-turns", "0"], "0 is not in 1.."),
        (["--timeout", "0"], "`0` is out of range: it must be more than 0"),
        (["--timeout", "0s"], "`0s` is out of range: it must be more than 0"),
        (["--max-tokens", "0"], "0 is not in 1.."),
    ] {
        let ended = Host::scripted(&[answer("Done.")], &arguments).arg("Look").run();
        assert!(ended.code == Some(42) && ended.stderr.contains(told), "{arguments:?}: {ended:?}");
    }
    for (configured, told) in [
        ("[run]\nmax_turns = 0\n", "`0` is out of range: the smallest value is 1"),
        ("[run]\ntimeout_seconds = 0\n", "`0` is out of range: the smallest value is 1"),
        ("[retry]\nattempts = 0\n", "`0` is out of range: the smallest value is 1"),
        ("[retry]\nreply_attempts = 0\n", "`0` is out of range: the smallest value is 1"),
        ("[compression]\nsummarised = 1\n", "`1` is out of range: it must be more than 0 and less than 1"),
        ("[compression]\nsummarised = 0.0\n", "`0` is out of range: it must be more than 0 and less than 1"),
    ] {
        let ended = Host::scripted(&[answer("Done.")], &["Look"]).configured(configured).run();
        assert!(ended.code == Some(52) && ended.stderr.contains(told), "{configured}: {ended:?}");
    }
}

#[test]
fn refused_call_in_text_leaves_one_line_with_the_flag_that_allows_it() {
    let write = || json!({"chunks": [call("write_file", json!({"path": "a.txt", "content": "x"}))]});
    let ended = Host::scripted(&[write(), look(), write(), answer("Done.")], &["Write"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let [line] = lines.as_slice() else { panic!("one line for the same refusal: {ended:?}") };
    assert!(line.starts_with("refused: `write_file`") && line.contains("--approval-mode auto-edit"), "{line}");
}

// promise run.refused: With `--fail-on-refused` a run in which a call was refused does not exit with 0.
#[test]
fn run_with_a_refused_call_fails_if_it_must_and_is_quiet_if_it_may_say_nothing() {
    let write = || json!({"chunks": [call("write_file", json!({"path": "a.txt", "content": "x"}))]});
    let ended = Host::scripted(&[write(), write(), answer("Done.")], &["--fail-on-refused", "Write"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(54), "Done.\n"), "{ended:?}");
    assert!(ended.stderr.contains("refused: `write_file`"), "{ended:?}");
    assert!(ended.stderr.contains("error: 2 calls were refused: `write_file`\nhelp: "), "{ended:?}");
    let json = ["--output-format", "json", "--fail-on-refused", "Write"];
    let ended = Host::scripted(&[write(), answer("Done.")], &json).run();
    assert_eq!(ended.code, Some(54), "{ended:?}");
    assert_eq!((&ended.json()["response"], &ended.json()["error"]["code"]), (&json!("Done."), &json!(54)));
    // Nothing was refused, or it need not fail.
    let ended = Host::scripted(&[look(), answer("Done.")], &["--fail-on-refused", "Look"]).run();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    for flag in ["-q", "--quiet"] {
        let host = Host::scripted(&[write(), answer("Done.")], &[flag, "Write"]).file(".host/config.toml", "");
        let ended = host.run();
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "Done.\n", ""), "{ended:?}");
    }
    let ended =
        Host::scripted(&[json!({"chunks": [{"error": {"kind": "authentication", "message": "no"}}]})], &["-q", "x"])
            .run();
    assert!(ended.code == Some(41) && ended.stderr.starts_with("error: "), "{ended:?}");
}

#[test]
fn compression_is_reported_on_standard_error_and_its_failure_in_words() {
    let read = || json!({"chunks": [call("read_file", json!({"path": "long.txt"}))]});
    let summary = |chunk: Value| json!({"expect": {"last_text": "write a summary"}, "chunks": [chunk]});
    let run = |replies: &[Value]| {
        let host = Host::scripted(replies, &["Read"]).file("long.txt", "a line\n".repeat(500));
        host.configured("[compression]\nthreshold = 0.01\n").run()
    };
    let ended = run(&[read(), read(), summary(json!({"text": "<state_snapshot>x</state_snapshot>"})), answer("Done.")]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    assert!(ended.stderr.contains("its beginning was summarised") && ended.stderr.lines().count() == 1, "{ended:?}");
    let fails = json!({"error": {"kind": "server", "message": "it broke"}});
    let ended = run(&[read(), read(), summary(fails), answer("Done.")]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    assert!(ended.stderr.contains("it could not be summarised: ") && ended.stderr.contains("it broke"), "{ended:?}");
    assert!(!ended.stderr.contains("WARN") && ended.stderr.lines().count() == 1, "{ended:?}");
}

#[test]
fn run_continues_with_a_conversation_larger_than_the_window() {
    let read = |at: usize| json!({"chunks": [call("read_file", json!({"path": format!("long{at}.txt")}))]});
    let summary = || json!({"expect": {"last_text": "write a summary"}, "chunks": [{"text": "<state_snapshot>x</state_snapshot>"}]});
    // A file of 49 KB takes more than half of this window: after each but the first the rest is summarised.
    let mut replies = vec![read(0)];
    (1..4).for_each(|at| replies.extend([read(at), summary()]));
    replies.push(answer("All read."));
    let mut host = Host::scripted(&replies, &["--output-format", "json", "Read all"]);
    for at in 0..4 {
        host = host.file(&format!("long{at}.txt"), format!("{at} is a line of some length\n").repeat(1_700));
    }
    let model = host.home().join("script.jsonl").display().to_string();
    let ended = host.configured(&format!("[models.\"scripted:{model}\"]\nwindow = 16000\n")).run();
    assert_eq!((ended.code, &ended.json()["response"]), (Some(0), &json!("All read.")), "{ended:?}");
    assert!(ended.stderr.is_empty(), "the log has no warnings: {ended:?}");
}

#[test]
fn a_failed_request_ends_the_run_and_what_was_there_is_not_lost() {
    let broken = json!({"chunks": [{"text": "Half an answer"}, {"error": {"kind": "server", "message": "it broke"}}]});
    let ended = Host::scripted(&[look(), broken], &["Look"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(59), ""), "{ended:?}");
    assert!(ended.stderr.contains("Half an answer") && ended.stderr.contains("it broke"), "{ended:?}");
}

#[test]
fn run_answer_that_is_cut_short_is_marked() {
    let reply = || json!({"chunks": [{"text": "The first of three"}, {"finish": "max_tokens"}]});
    let ended = Host::scripted(&[reply()], &["Look"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "The first of three\n"), "{ended:?}");
    assert!(ended.stderr.contains("note: the answer is incomplete"), "{ended:?}");
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
    assert_eq!(ended.code, Some(74), "{ended:?}");
    assert!(ended.stderr.contains("could not write the session log") && ended.stderr.contains("help: "), "{ended:?}");
    assert!(ended.stderr.contains("yyyy"), "what the model had said is shown: {}", ended.stderr.len());
    assert!(host.repository().join("first.txt").exists(), "what was recorded was done");
    assert!(!host.repository().join("second.txt").exists(), "what was not recorded was not done");
}
