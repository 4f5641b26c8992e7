//! How a run ends, and the code that says so: one that did not reach its end never exits with 0.

use host_tests::host::Host;
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, outcome_snapshot, transcript_snapshot};
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
    host_snapshot!(Host::scripted(&[look(), look(), last()], &["--max-turns", "2", "Look"]), @r#"
    exit: 53
    ----- stdout
    My best answer.
    ----- stderr
    error: stopped after 2 turns, which is the limit; the answer is the best so far and may be unfinished
    help: continue with `host run --resume "…"`, or raise --max-turns
    "#);
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
    host_snapshot!(Host::scripted(&[look(), one], &["--max-turns", "1", "Look"]), @r#"
    exit: 53
    ----- stdout
    So far.
    ----- stderr
    error: stopped after 1 turn, which is the limit; the answer is the best so far and may be unfinished
    help: continue with `host run --resume "…"`, or raise --max-turns
    "#);

    host_snapshot!(Host::scripted(&[look(), look(), look()], &["--max-turns", "2", "Look"]), @r#"
    exit: 53
    ----- stdout
    ----- stderr
    error: stopped after 2 turns, which is the limit
    help: continue with `host run --resume "…"`, or raise --max-turns
    "#);
}

#[test]
fn the_time_limit_gives_one_last_request_and_then_its_own_code() {
    let last = json!({"chunks": [{"text": "My best answer."}]});
    host_snapshot!(Host::scripted(&[hang(), last], &["--timeout", "1s", "Look"]), @r#"
    exit: 57
    ----- stdout
    My best answer.
    ----- stderr
    error: timed out after 1 turn; the answer is the best so far and may be unfinished
    help: continue with `host run --resume "…"`, or raise --timeout
    "#);

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
    // No JSON came.
    host_snapshot!(host.file("schema.json", r#"{"type": "object"}"#), @r#"
    exit: 53
    ----- stdout
    ----- stderr
    The model's partial reply:

    I think there are two.

    error: stopped after 1 turn, which is the limit
    help: continue with `host run --resume "…"`, or raise --max-turns
    "#);
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
    let mut errors = Transcript::default();
    for arguments in [["--max-turns", "0"], ["--timeout", "0"], ["--timeout", "0s"], ["--max-tokens", "0"]] {
        let ended = Host::scripted(&[answer("Done.")], &arguments).arg("Look").run();
        errors.add(arguments.join(" "), &ended);
    }
    for configured in [
        "[run]\nmax_turns = 0\n",
        "[run]\ntimeout_seconds = 0\n",
        "[retry]\nattempts = 0\n",
        "[retry]\nreply_attempts = 0\n",
        "[compression]\nsummarised = 1\n",
        "[compression]\nsummarised = 0.0\n",
    ] {
        let ended = Host::scripted(&[answer("Done.")], &["Look"]).configured(configured).run();
        errors.add(configured, &ended);
    }
    transcript_snapshot!(errors, @r"
    # --max-turns 0
    exit: 42
    ----- stderr
    error: invalid value '0' for '--max-turns <N>': 0 is not in 1..=4294967295

    For more information, try '--help'.

    # --timeout 0
    exit: 42
    ----- stderr
    error: invalid value '0' for '--timeout <DURATION>': `0` is out of range: it must be more than 0, such \
    as 90s, 10m or 1h30m

    For more information, try '--help'.

    # --timeout 0s
    exit: 42
    ----- stderr
    error: invalid value '0s' for '--timeout <DURATION>': `0s` is out of range: it must be more than 0, \
    such as 90s, 10m or 1h30m

    For more information, try '--help'.

    # --max-tokens 0
    exit: 42
    ----- stderr
    error: invalid value '0' for '--max-tokens <N>': 0 is not in 1..18446744073709551615

    For more information, try '--help'.

    # [run]
    # max_turns = 0
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 2, column 13
          |
        2 | max_turns = 0
          |             ^
        `0` is out of range: the smallest value is 1
    help: see the line and column above; `docs/configuration.md` lists all keys

    # [run]
    # timeout_seconds = 0
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 2, column 19
          |
        2 | timeout_seconds = 0
          |                   ^
        `0` is out of range: the smallest value is 1
    help: see the line and column above; `docs/configuration.md` lists all keys

    # [retry]
    # attempts = 0
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 2, column 12
          |
        2 | attempts = 0
          |            ^
        `0` is out of range: the smallest value is 1
    help: see the line and column above; `docs/configuration.md` lists all keys

    # [retry]
    # reply_attempts = 0
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 2, column 18
          |
        2 | reply_attempts = 0
          |                  ^
        `0` is out of range: the smallest value is 1
    help: see the line and column above; `docs/configuration.md` lists all keys

    # [compression]
    # summarised = 1
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 2, column 14
          |
        2 | summarised = 1
          |              ^
        `1` is out of range: it must be more than 0 and less than 1
    help: see the line and column above; `docs/configuration.md` lists all keys

    # [compression]
    # summarised = 0.0
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 2, column 14
          |
        2 | summarised = 0.0
          |              ^^^
        `0` is out of range: it must be more than 0 and less than 1
    help: see the line and column above; `docs/configuration.md` lists all keys
    ");
}

#[test]
fn refused_call_in_text_leaves_one_line_with_the_flag_that_allows_it() {
    let write = || json!({"chunks": [call("write_file", json!({"path": "a.txt", "content": "x"}))]});
    host_snapshot!(Host::scripted(&[write(), look(), write(), answer("Done.")], &["Write"]), @r"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    refused: `write_file` has no fs-write grant for `[REPOSITORY]/a.txt`. Only the user can change this: to \
    allow it, add --grant write_file:fs-write=[REPOSITORY]/a.txt, or --approval-mode auto-edit for the \
    workspace.
    ");
}

// promise run.refused: With `--fail-on-refused` a run in which a call was refused does not exit with 0.
#[test]
fn run_with_a_refused_call_fails_if_it_must_and_is_quiet_if_it_may_say_nothing() {
    let write = || json!({"chunks": [call("write_file", json!({"path": "a.txt", "content": "x"}))]});
    host_snapshot!(Host::scripted(&[write(), write(), answer("Done.")], &["--fail-on-refused", "Write"]), @r"
    exit: 54
    ----- stdout
    Done.
    ----- stderr
    refused: `write_file` has no fs-write grant for `[REPOSITORY]/a.txt`. Only the user can change this: to \
    allow it, add --grant write_file:fs-write=[REPOSITORY]/a.txt, or --approval-mode auto-edit for the \
    workspace.
    error: 2 calls were refused: `write_file`
    help: allow what the run needs, as the lines above say, or leave --fail-on-refused out
    ");
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
    let fails = json!({"chunks": [{"error": {"kind": "authentication", "message": "no"}}]});
    host_snapshot!(Host::scripted(&[fails], &["-q", "x"]), @"
    exit: 41
    ----- stdout
    ----- stderr
    error: `scripted` at `[HOME]/script.jsonl` reported an error in its reply: no
    ");
}

#[test]
fn compression_is_reported_on_standard_error_and_its_failure_in_words() {
    let read = || json!({"chunks": [call("read_file", json!({"path": "long.txt"}))]});
    let summary = |chunk: Value| json!({"expect": {"last_text": "write a summary"}, "chunks": [chunk]});
    let run = |replies: &[Value]| {
        let host = Host::scripted(replies, &["Read"]).file("long.txt", "a line\n".repeat(500));
        host.configured("[compression]\nthreshold = 0.01\n").run()
    };
    let text = json!({"text": "<state_snapshot>x</state_snapshot>"});
    outcome_snapshot!(run(&[read(), read(), summary(text), answer("Done.")]), @"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    the conversation is long (about [NUMBER] tokens): its beginning was summarised
    ");
    let fails = json!({"error": {"kind": "server", "message": "it broke"}});
    outcome_snapshot!(run(&[read(), read(), summary(fails), answer("Done.")]), @r"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    the conversation is long (about [NUMBER] tokens): it could not be summarised: `scripted` at \
    `[HOME]/script.jsonl` reported an error in its reply: it broke
    ");
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
    host_snapshot!(Host::scripted(&[look(), broken], &["Look"]), @"
    exit: 59
    ----- stdout
    ----- stderr
    The model's partial reply:

    Half an answer

    error: `scripted` at `[HOME]/script.jsonl` reported an error in its reply: it broke
    help: try again later, or use another model
    ");
}

#[test]
fn run_answer_that_is_cut_short_is_marked() {
    let reply = || json!({"chunks": [{"text": "The first of three"}, {"finish": "max_tokens"}]});
    host_snapshot!(Host::scripted(&[reply()], &["Look"]), @"
    exit: 0
    ----- stdout
    The first of three
    ----- stderr
    note: the answer is incomplete: the model reached its limit of tokens for a reply
    ");
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
