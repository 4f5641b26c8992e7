//! What `todo` promises.

use host_message::{ChecklistItem, ChecklistState, Display};
use host_tests::Bench;
use serde_json::json;

use super::refuses;

fn bench() -> Bench {
    Bench::built_in("todo", &[])
}

#[tokio::test]
async fn todo_list_is_shown_as_a_checklist_and_needs_nothing() {
    let items = json!([{"text": "read\nit", "state": "done"}, {"text": "fix it", "state": "in_progress"}]);
    let output = bench().call("todo", json!({"items": items})).await.expect("it is valid");
    assert_eq!(host_tests::text(&output), "1 of 2 done, 1 in progress");
    let item = |text: &str, state| ChecklistItem { text: text.to_owned(), state, depends_on: Vec::new() };
    let items = vec![item("read it", ChecklistState::Done), item("fix it", ChecklistState::InProgress)];
    assert_eq!(output.display, Some(Display::Checklist { items }));
    let items = json!([{"text": "read", "state": "cancelled"}, {"text": "fix", "state": "pending", "depends_on": [1]}]);
    let output = bench().call("todo", json!({"items": items})).await.expect("it is valid");
    assert_eq!(host_tests::text(&output), "0 of 2 done, 1 cancelled");
    let waiting = ChecklistItem { depends_on: vec![1], ..item("fix", ChecklistState::Pending) };
    let items = vec![item("read", ChecklistState::Cancelled), waiting];
    assert_eq!(output.display, Some(Display::Checklist { items }));
    assert_eq!(bench().preview("todo", json!({"items": []})).await.expect("asked"), None);
}

#[tokio::test]
async fn todo_text_has_no_escape_sequences() {
    let items = json!([{"text": "a\u{1b}[2J\u{1b}]52;c;eA==\u{7}\r✓ b", "state": "pending"}]);
    let output = bench().call("todo", json!({"items": items})).await.expect("it is valid");
    let Some(Display::Checklist { items }) = output.display else { panic!("{output:?}") };
    assert_eq!(items[0].text, "a[2J]52;c;eA== ✓ b");
}

#[tokio::test]
async fn todo_invalid_list_is_refused_in_words() {
    let many = vec![json!({"text": "a", "state": "done"}); 51];
    refuses(
        &bench(),
        "todo",
        [
            (json!({"items": many}), "invalid-arguments", &["51 items are more than 50"]),
            (json!({"items": [{"text": " ", "state": "done"}]}), "invalid-arguments", &["item 1 has no text"]),
            (json!({"items": [{"text": "x".repeat(201), "state": "done"}]}), "invalid-arguments", &["201 characters"]),
            (json!({"items": [{"text": "a", "state": "gone"}]}), "invalid-arguments", &["gone"]),
            (
                json!({"items": [{"text": "a", "state": "pending", "depends_on": [2]}]}),
                "invalid-arguments",
                &["item 1 depends on item 2", "the items 1 to 1"],
            ),
            (
                json!({"items": [{"text": "a", "state": "pending"}, {"text": "b", "state": "in_progress", "depends_on": [1]}]}),
                "invalid-arguments",
                &["item 2 cannot be in progress", "item 1, which is pending"],
            ),
            (
                json!({"items": [
                    {"text": "a", "state": "pending", "depends_on": [2]},
                    {"text": "b", "state": "pending", "depends_on": [1]},
                ]}),
                "invalid-arguments",
                &["no item can depend on itself: 1 → 2 → 1"],
            ),
        ],
    )
    .await;
}
