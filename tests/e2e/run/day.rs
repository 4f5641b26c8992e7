//! Budgets of a day: over all runs of a user, in a file that their processes share.

use std::fs;
use std::path::PathBuf;

use host_tests::host::Host;
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, transcript_snapshot};
use serde_json::{Value, json};

use super::call;

/// Tokens of each answer.
const TOKENS: u64 = 1_240;

/// An answer with its use.
fn answered(text: &str) -> Value {
    json!({"chunks": [{"text": text}, {"usage": {"input": TOKENS - 40, "output": 40}}]})
}

fn host(configuration: &str) -> Host {
    Host::scripted(&[answered("Done.")], &["Look"]).configured(configuration)
}

fn file(host: &Host) -> PathBuf {
    host.home().join(".local/state/host/spending.json")
}

/// The tokens of all days in the file.
fn counted(host: &Host) -> u64 {
    let text = fs::read_to_string(file(host)).expect("it was counted");
    let document: Value = serde_json::from_str(&text).expect("it is JSON");
    let days = document["days"].as_object().expect("it has days");
    days.values().map(|day| day["tokens"].as_u64().expect("a number")).sum()
}

// promise budget.day: `tokens_per_day` and `cost_per_day` limit all runs of a user on a machine together, also those
//   that run at once and subagents; a used up day sends no request, a clock that goes back begins no day, and a file
//   that cannot be used stops a run that is limited so.
#[test]
fn day_runs_that_together_exceed_it_stop_before_any_request() {
    let host = host("[budget]\ntokens_per_day = 2000\n");
    for _ in 0..2 {
        let ended = host.run();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    }
    host_snapshot!(host, @r"
    exit: 57
    ----- stdout
    ----- stderr
    error: the budget of 2000 tokens for a day is used up: 2480 tokens sent and received on [DATE] by all \
    runs; the next day begins at 00:00 UTC
    help: wait for the next day, or raise `tokens_per_day` under `[budget]` in the configuration
    ");
    assert_eq!(counted(&host), 2 * TOKENS, "the third one sent nothing");
    // Whoever raises it goes on.
    let host = host.configured("[budget]\ntokens_per_day = 1000000\n");
    assert_eq!(host.run().code, Some(0));
    assert_eq!(counted(&host), 3 * TOKENS);
}

// promise budget.day
#[test]
fn day_cost_is_limited_in_the_users_prices_and_needs_one() {
    let host = host("[budget]\ncost_per_day = 0.002\n");
    host_snapshot!(host, @r#"
    exit: 52
    ----- stdout
    ----- stderr
    error: the cost is limited, but the price of the model `scripted:[HOME]/script.jsonl` is not known
    help: add `[models."scripted:[HOME]/script.jsonl"]` with `price = { input = …, output = … }` (per \
    million tokens) to the configuration
    "#);
    let model = format!("scripted:{}", host.home().join("script.jsonl").display());
    let price = format!("[models.\"{model}\"]\nprice = {{ input = 1.0, output = 1.0 }}\n");
    let host = host.configured(&format!("[budget]\ncost_per_day = 0.002\n{price}"));
    assert_eq!((host.run().code, host.run().code), (Some(0), Some(0)));
    host_snapshot!(host, @r"
    exit: 57
    ----- stdout
    ----- stderr
    error: the budget of 0.002 for a day is used up: all runs of [DATE] cost 0.00248 so far; the next day \
    begins at 00:00 UTC
    help: wait for the next day, or raise `cost_per_day` under `[budget]` in the configuration
    ");
}

// promise budget.day
#[test]
fn day_reached_in_a_run_leaves_one_last_request_as_the_budget_of_a_run_does() {
    let look = json!({"chunks": [call("ls", json!({"path": "."})), {"usage": {"input": 1200, "output": 40}}]});
    let last = json!({"expect": {"last_text": "for a day is used up"}, "chunks": [{"text": "As far as I got."}]});
    let host = Host::scripted(&[look, last], &["Look"]).configured("[budget]\ntokens_per_day = 1000\n");
    host_snapshot!(host, @r"
    exit: 57
    ----- stdout
    As far as I got.
    ----- stderr
    error: the budget of 1000 tokens for a day is used up: 1240 tokens sent and received on [DATE] by all \
    runs; the next day begins at 00:00 UTC; the answer is the best so far and may be unfinished
    help: wait for the next day, or raise `tokens_per_day` under `[budget]` in the configuration
    ");
}

// promise budget.day
#[test]
fn day_of_processes_at_once_counts_them_all() {
    let host = host("[budget]\ntokens_per_day = 1000000\n");
    let children: Vec<_> = (0..4).map(|_| host.command().spawn().expect("it starts")).collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(counted(&host), 4 * TOKENS);
}

// promise budget.day
// promise project.settings
#[test]
fn day_of_a_project_can_only_be_lower() {
    let mut errors = Transcript::default();
    for (own, project, runs) in [(1000, 1_000_000, 1), (1_000_000, 1000, 1), (1_000_000, 2000, 2)] {
        let host = host(&format!("[budget]\ntokens_per_day = {own}\n"))
            .file(".host/config.toml", format!("[budget]\ntokens_per_day = {project}\n"));
        assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
        for _ in 0..runs {
            assert_eq!(host.run().code, Some(0), "{own} {project}");
        }
        errors.add(format!("own {own}, of the project {project}"), &host.run());
    }
    transcript_snapshot!(errors, @r"
    # own 1000, of the project 1000000
    exit: 57
    ----- stderr
    error: the budget of 1000 tokens for a day is used up: 1240 tokens sent and received on [DATE] by all \
    runs; the next day begins at 00:00 UTC
    help: wait for the next day, or raise `tokens_per_day` under `[budget]` in the configuration

    # own 1000000, of the project 1000
    exit: 57
    ----- stderr
    error: the budget of 1000 tokens for a day is used up: 1240 tokens sent and received on [DATE] by all \
    runs; the next day begins at 00:00 UTC
    help: wait for the next day, or raise `tokens_per_day` under `[budget]` in the configuration

    # own 1000000, of the project 2000
    exit: 57
    ----- stderr
    error: the budget of 2000 tokens for a day is used up: 2480 tokens sent and received on [DATE] by all \
    runs; the next day begins at 00:00 UTC
    help: wait for the next day, or raise `tokens_per_day` under `[budget]` in the configuration
    ");
}

// promise budget.day
#[test]
fn day_file_that_is_damaged_stops_a_limited_run_and_no_other() {
    let host = host("[budget]\ntokens_per_day = 2000\n").home_file(".local/state/host/spending.json", "{}");
    host_snapshot!(host, @r"
    exit: 52
    ----- stdout
    ----- stderr
    error: the tokens and costs of the day in `[HOME]/.local/state/host/spending.json` cannot be read: \
    other users can read or write it (its mode is 644)
    help: make the file readable and writable for you alone (chmod 600), or remove it; the day is then \
    counted from 0 again
    ");
    assert_eq!(fs::read_to_string(file(&host)).expect("read"), "{}", "it stays as it is");
    let host = host.configured("");
    assert_eq!(host.run().code, Some(0), "without a limit the file does not matter");
    fs::remove_file(file(&host)).expect("removed");
    let host = host.configured("[budget]\ntokens_per_day = 2000\n");
    assert_eq!((host.run().code, counted(&host)), (Some(0), TOKENS));
}

// promise budget.day
#[test]
fn day_file_cannot_be_changed_by_a_tool() {
    let write = |path: &str| call("write_file", json!({"path": path, "content": "{\"version\":1,\"days\":{}}"}));
    let host = Host::new(["run"]);
    let path = file(&host).display().to_string();
    let replies = [json!({"chunks": [write(&path)]}), answered("Done.")];
    let script: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    let host = host.home_file("script.jsonl", script);
    let script = format!("scripted:{}", host.home().join("script.jsonl").display());
    let grant = format!("write_file:fs-write={}", host.home().display());
    let host = host.args(&["--model", &script, "--approval-mode", "yolo", "--grant", &grant, "Look"]);
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(counted(&host), TOKENS, "the count is the host's");
    let settled = host.session().into_iter().find(|line| line["type"] == "call_settled").expect("the call settled");
    assert!(settled.to_string().contains("denied"), "{settled}");
}

#[test]
fn run_has_no_limit_of_turns_of_its_own() {
    let looks = (0..60).map(|at| call("ls", json!({"path": ".", "ignore": [format!("x{at}")]})));
    let replies: Vec<Value> = looks.map(|look| json!({"chunks": [look]})).chain([answered("Done.")]).collect();
    let ended = Host::scripted(&replies, &["--output-format", "json", "Look"]).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["stats"]["turns"], 61, "{}", ended.stdout);
    let ended = Host::scripted(&replies, &["--max-turns", "30", "Look"]).run();
    assert_eq!(ended.code, Some(53), "{ended:?}");
}
