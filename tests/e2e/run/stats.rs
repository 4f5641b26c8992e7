//! What a run took, told to a user who wants to know and to every program.

use host_tests::host::Host;
use host_tests::host_snapshot;
use serde_json::{Value, json};

use super::{answer, call};

fn replies() -> [Value; 2] {
    [
        json!({"chunks": [call("ls", json!({})), call("nothing", json!({})),
                          {"usage": {"input": 20_000, "output": 10, "cached": 8000, "thought": 7}}]}),
        json!({"chunks": [{"text": "Done."}, {"usage": {"input": 1000, "output": 5}}]}),
    ]
}

#[test]
fn stats_are_shown_to_the_user_on_request() {
    host_snapshot!(Host::scripted(&replies(), &["--stats", "Look"]), @r"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    2 turns · 21.0k tokens in (8000 cached), 15 out, 7 thought · [DURATION] (model [DURATION], tools \
    [DURATION])
      ls       1 done, [DURATION]
      nothing  0 done, 1 failed, [DURATION]
    ");
    assert_eq!(Host::scripted(&[answer("Done.")], &["Look"]).run().stderr, "", "nobody asked");
    // One that failed took something too.
    let failed = json!({"chunks": [{"error": {"kind": "server", "message": "no"}}]});
    host_snapshot!(Host::scripted(&[failed], &["--stats", "Look"]), @"
    exit: 59
    ----- stdout
    ----- stderr
    error: `scripted` at `[HOME]/script.jsonl` reported an error in its reply: no
    help: try again later, or use another model
    1 turn · 0 tokens in, 0 out · [DURATION] (model [DURATION])
    ");
}

#[test]
fn stats_for_a_program_include_whose_the_time_was_and_the_cost() {
    let wait = call("shell", json!({"command": "sleep 0.3"}));
    let replies = [
        json!({"chunks": [wait, {"usage": {"input": 1_000_000, "output": 0}}]}),
        json!({"chunks": [{"text": "Done."}]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "--output-format", "json", "Wait"]);
    let model = host
        .command()
        .get_args()
        .find_map(|arg| arg.to_str()?.starts_with("scripted:").then(|| arg.to_str().map(str::to_owned))?);
    let price = format!("[models.\"{}\"]\nprice = {{ input = 2.5, output = 1.0 }}\n", model.expect("it is scripted"));
    let stats = host.configured(&price).run().json()["stats"].clone();
    let time = |name: &str| stats[name].as_u64().unwrap_or_else(|| panic!("{name} in {stats}"));
    assert!(time("tools_ms") >= 300 && time("model_ms") < 300, "{stats}");
    assert!(time("tools_ms") + time("model_ms") <= time("duration_ms") && time("user_ms") == 0, "{stats}");
    assert_eq!((&stats["cost"], &stats["tools"]["shell"]["success"]), (&json!(2.5), &json!(1)), "{stats}");
}
