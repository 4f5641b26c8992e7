//! What `state` promises.

use host_tests::Bench;
use serde_json::json;

fn bench(state: &str) -> Bench {
    Bench::new("reach", &["fs-read=.", "fs-write=.", "process=*", "http=*", &format!("state={state}")])
}

// promise state.project: A plugin's state belongs to that plugin and that workspace path only.
#[tokio::test]
async fn a_value_is_kept_for_the_project_and_for_no_other() {
    let (one, other) = (bench("write"), bench("write"));
    let version = one.text("keep", json!({"path": "k", "text": "first", "expected": "absent"})).await;
    assert_eq!(one.text("kept", json!({"path": "k"})).await, "first");
    assert_eq!(other.text("kept", json!({"path": "k"})).await, "nothing");

    let stale = one.text("keep", json!({"path": "k", "text": "second", "expected": "absent"})).await;
    assert!(stale.starts_with("error: "), "{stale}");
    one.text("keep", json!({"path": "k", "text": "second", "expected": version})).await;
    assert_eq!(one.text("kept", json!({"path": "k"})).await, "second");
}

// promise state.read: A grant for reading stores nothing.
#[tokio::test]
async fn a_grant_for_reading_keeps_nothing() {
    let bench = bench("read");
    let answer = bench.text("keep", json!({"path": "k", "text": "x"})).await;
    assert!(answer.contains("state"), "{answer}");
    assert_eq!(bench.text("kept", json!({"path": "k"})).await, "nothing");
}

// promise state.key: A key is never used as a path.
#[tokio::test]
async fn sandbox_state_key_is_not_a_path() {
    let bench = bench("write");
    for key in ["", ".", "..", "../x", "a/b", "/etc/x", ".hidden", "a\u{0}b", &"k".repeat(129)] {
        let answer = bench.text("keep", json!({"path": key, "text": "x"})).await;
        assert!(answer.contains("invalid key"), "{key:?}: {answer}");
    }
}

// promise state.bounded: Stored state is limited.
#[tokio::test]
async fn sandbox_state_is_limited() {
    let bench = bench("write");
    let big = "x".repeat(1 << 20);
    for number in 0..16 {
        let answer = bench.text("keep", json!({"path": format!("k{number}"), "text": big})).await;
        assert!(!answer.starts_with("error: "), "{answer}");
    }
    for text in [&big, &format!("{big}x")] {
        let answer = bench.text("keep", json!({"path": "more", "text": text})).await;
        assert!(answer.starts_with("error: "), "{answer}");
    }
}
