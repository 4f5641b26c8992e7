//! A structured result that is a list of steps, for which users are shown a checklist.
//!
//! Any plugin can return one: it is text like any other result, and gives no right to anything. Deliberately not here:
//! how a frontend draws it.

use host_message::{ChecklistItem, Display};
use serde::Deserialize;
use serde_json::Value;

/// The most steps of a list that is shown as one. Protects the frontend; a longer one is a result like any other.
const MAX_ITEMS: usize = 100;
/// The longest text of a step, in characters. See [`MAX_ITEMS`].
const MAX_TEXT: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    checklist: Vec<ChecklistItem>,
}

/// Returns the checklist, if the result is `{"checklist": [{"text": …, "state": …}]}` and nothing else. A step may have
/// `depends_on`, with numbers of steps of the list.
pub(crate) fn of(structured: &Value) -> Option<Display> {
    // Read only where it can be one: results may be large.
    structured.as_object().filter(|object| object.len() == 1 && object.contains_key("checklist"))?;
    let List { checklist: items } = List::deserialize(structured).ok()?;
    let depends = |item: &ChecklistItem| {
        item.depends_on.len() < items.len() && item.depends_on.iter().all(|number| (1..=items.len()).contains(number))
    };
    let fits = |item: &ChecklistItem| item.text.chars().count() <= MAX_TEXT && depends(item);
    let fits = items.len() <= MAX_ITEMS && items.iter().all(fits);
    fits.then_some(Display::Checklist { items })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn checklist_is_a_result_of_that_form_within_limits() {
        let item = |text: &str| json!({"text": text, "state": "in_progress"});
        let check = |structured: Value, is_one: bool| assert_eq!(of(&structured).is_some(), is_one, "{structured}");
        check(json!({"checklist": []}), true);
        check(json!({"checklist": [item("a"), item("b")]}), true);
        check(json!({"checklist": [item(&"é".repeat(500))]}), true);
        check(json!({"checklist": [item(&"é".repeat(501))]}), false);
        check(json!({"checklist": vec![item("a"); 101]}), false);
        check(json!({"checklist": [item("a")], "more": 1}), false);
        check(json!({"checklist": [{"text": "a"}]}), false);
        check(json!({"checklist": [{"text": "a", "state": "gone"}]}), false);
        check(json!({"checklist": [{"text": "a", "state": "done", "by": "me"}]}), false);
        let after = |depends_on: Value| json!({"text": "a", "state": "cancelled", "depends_on": depends_on});
        check(json!({"checklist": [after(json!([])), after(json!([1]))]}), true);
        check(json!({"checklist": [after(json!([2])), after(json!([1]))]}), true);
        check(json!({"checklist": [after(json!([0])), item("b")]}), false);
        check(json!({"checklist": [after(json!([3])), item("b")]}), false);
        check(json!({"checklist": [after(json!([1, 2])), item("b")]}), false);
        check(json!({"checklist": {}}), false);
        check(json!(["checklist"]), false);
        check(json!(null), false);
    }
}
