//! What `memory` promises.

use std::collections::BTreeSet;

use host_tests::Bench;
use serde_json::{Value, json};

use super::{failure, refuses};

fn bench() -> Bench {
    Bench::built_in("memory", &["state=write"])
}

async fn memory(bench: &Bench, arguments: Value) -> String {
    bench.text("memory", arguments).await
}

#[tokio::test]
async fn facts_are_kept_from_call_to_call_until_they_are_forgotten() {
    let bench = bench();
    for (arguments, says) in [
        (json!({"action": "list"}), "No facts are kept\n"),
        (json!({"action": "save", "fact": "tests run\nwith `make`"}), "Saved as `fact-1`"),
        (json!({"action": "save", "fact": "tabs", "key": "style"}), "Saved as `style`"),
        (json!({"action": "save", "fact": "tests run with `make`"}), "Already known as `fact-1`"),
        (json!({"action": "list"}), "fact-1: tests run with `make`\nstyle: tabs\n"),
        (json!({"action": "save", "fact": "spaces", "key": "style"}), "Saved in place of what `style` was"),
        (json!({"action": "forget", "key": "fact-1"}), "Forgot `fact-1`"),
        (json!({"action": "list"}), "style: spaces\n"),
    ] {
        assert_eq!(memory(&bench, arguments.clone()).await, says, "{arguments}");
    }
}

#[tokio::test]
async fn memory_invalid_arguments_are_reported_in_words() {
    refuses(
        &bench(),
        "memory",
        [
            (json!({"action": "save"}), "invalid-arguments", &["`fact` is missing"]),
            (json!({"action": "save", "fact": " \n"}), "invalid-arguments", &["`fact` is empty"]),
            (json!({"action": "save", "fact": "x".repeat(1_001)}), "invalid-arguments", &["1001 characters"]),
            (json!({"action": "forget"}), "invalid-arguments", &["`key` is missing"]),
            (json!({"action": "forget", "key": "nothing"}), "not-found", &["no fact has the key `nothing`"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_grant_for_reading_lists_and_keeps_nothing() {
    let bench = Bench::built_in("memory", &["state=read"]);
    let (case, words) = failure(&bench, "memory", json!({"action": "save", "fact": "x"})).await;
    assert_eq!(case, "denied", "{words}");
    for part in ["`memory`", "state", "--grant memory:state=write"] {
        assert!(words.contains(part), "{part} in {words}");
    }
    assert_eq!(memory(&bench, json!({"action": "list"})).await, "No facts are kept\n");
}

/// The tool tries eight times, so at least eight calls at once all get through; of more than that some may be told to
/// try again. What was said to be saved was saved.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_at_once_lose_nothing() {
    for (calls, all_succeed) in [(8, true), (24, false)] {
        let bench = std::sync::Arc::new(bench());
        let running: Vec<_> = (0..calls)
            .map(|number| {
                let bench = std::sync::Arc::clone(&bench);
                let arguments = json!({"action": "save", "key": format!("k{number}"), "fact": "x"});
                tokio::spawn(async move { (number, bench.call("memory", arguments).await) })
            })
            .collect();
        let mut saved = BTreeSet::new();
        for call in running {
            let (number, ended) = call.await.expect("no call panics");
            match ended {
                Ok(_) => _ = saved.insert(format!("k{number}: x")),
                Err(error) => assert!(error.to_string().contains("try again") && !all_succeed, "{error}"),
            }
        }
        let listed: BTreeSet<_> = memory(&bench, json!({"action": "list"})).await.lines().map(str::to_owned).collect();
        assert_eq!(listed, saved);
    }
}

#[tokio::test]
async fn a_look_at_the_facts_is_nothing_to_ask_about_and_a_change_is() {
    let bench = Bench::built_in("memory", &["state=read"]);
    assert_eq!(bench.preview("memory", json!({"action": "list"})).await.expect("asked"), None);
    for (arguments, words) in [
        (json!({"action": "save", "fact": "tabs"}), "Remember: tabs"),
        (json!({"action": "forget", "key": "k"}), "Forget the fact `k`"),
    ] {
        let shown = bench.preview("memory", arguments).await.expect("asked");
        let Some(host_plugin::Confirmation::Info { text, .. }) = shown else { panic!("{shown:?}") };
        assert_eq!(text, words);
    }
}
