//! `/compress`: a recorded conversation made shorter at a user's wish.

use host_tests::host::{Ended, Host};
use host_tests::outcome_snapshot;
use serde_json::{Value, json};

/// Runs a script on the sessions of this home.
fn run(host: &Host, replies: &[Value], arguments: &[&str]) -> Ended {
    let script = host.home().join("next.jsonl");
    let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    std::fs::write(&script, lines).expect("written");
    let mut command = host.command();
    command.args(["--model", &format!("scripted:{}", script.display())]).args(arguments);
    host.end(command)
}

#[test]
fn compress_shortens_a_conversation_which_continues_from_there() {
    let host = Host::new(["run"]);
    let first = format!("Remember this: {}", "a long story. ".repeat(400));
    let long = json!({"chunks": [{"text": "I do."}]});
    assert_eq!(run(&host, std::slice::from_ref(&long), &[&first]).code, Some(0));
    assert_eq!(run(&host, &[long], &["--resume", "And what was it?"]).code, Some(0));
    let summary = json!({"expect": {"last_text": "write a summary"}, "chunks": [{"text": "<state_snapshot>a story</state_snapshot>"}]});
    let ended = run(&host, &[summary], &["--resume", "/compress"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "The beginning of the conversation was summarised.\n"),
        "{ended:?}"
    );
    let log = host.session();
    assert!(log.iter().any(|entry| entry["type"] == "history_replaced"), "{log:?}");
    let goes_on = json!({"expect": {"last_text": "Go on"}, "chunks": [{"text": "On it."}]});
    let ended = run(&host, &[goes_on], &["--resume", "Go on"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "On it.\n"), "{ended:?}");
    let log = host.session();
    let replaced = log.iter().rfind(|entry| entry["type"] == "history_replaced").expect("it was");
    assert!(replaced["contents"][0].to_string().contains("<state_snapshot>a story</state_snapshot>"), "{replaced}");
}

#[test]
fn compress_unusable_summary_changes_nothing_and_is_reported() {
    let host = Host::new(["run"]);
    let first = format!("Remember this: {}", "a long story. ".repeat(400));
    let reply = json!({"chunks": [{"text": "I do."}]});
    assert_eq!(run(&host, std::slice::from_ref(&reply), &[&first]).code, Some(0));
    assert_eq!(run(&host, &[reply], &["--resume", "And what was it?"]).code, Some(0));
    outcome_snapshot!(run(&host, &[json!({"chunks": [{"text": " "}]})], &["--resume", "/compress"]), @"
    exit: 59
    ----- stdout
    ----- stderr
    the conversation is long (about [NUMBER] tokens): the model's summary was empty; nothing was changed
    error: no shorter summary was produced; the conversation is unchanged
    help: try again, or with another model
    ");
    assert!(!host.session().iter().any(|entry| entry["type"] == "history_replaced"));
    outcome_snapshot!(run(&host, &[], &["/compress"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: there is no conversation to compress
    help: name the session: host run --resume ID /compress, or host run --resume /compress for the last one
    ");
}
