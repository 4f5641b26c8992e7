//! The list: its limits, and how it reads.

use host_sdk::Failure;
use serde::{Deserialize, Serialize};

/// How many items a list has, as the schema says: more is no overview.
const MAX_ITEMS: usize = 50;

/// How many characters an item has, as the schema says: it is one line.
const MAX_TEXT: usize = 200;

/// The list as the host reads it.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct List {
    checklist: Vec<Item>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Item {
    text: String,
    state: State,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Pending,
    InProgress,
    Done,
}

impl List {
    /// Makes each item one line without control characters.
    pub(crate) fn new(items: Vec<Item>) -> Result<Self, Failure> {
        if items.len() > MAX_ITEMS {
            return Err(Failure::InvalidArguments(format!(
                "{} items are more than {MAX_ITEMS}: put steps together",
                items.len()
            )));
        }
        let checklist = items.into_iter().enumerate().map(|(at, item)| {
            let text = item.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let text: String = text.chars().filter(|character| !character.is_control()).collect();
            match text.chars().count() {
                0 => Err(Failure::InvalidArguments(format!("item {} has no text", at + 1))),
                count if count > MAX_TEXT => Err(Failure::InvalidArguments(format!(
                    "item {} has {count} characters, more than {MAX_TEXT}: shorten it",
                    at + 1
                ))),
                _ => Ok(Item { text, ..item }),
            }
        });
        Ok(Self { checklist: checklist.collect::<Result<_, _>>()? })
    }

    /// The line for the model, which wrote the list itself.
    pub(crate) fn words(&self) -> String {
        let count = |state: State| self.checklist.iter().filter(|item| item.state == state).count();
        let all = self.checklist.len();
        let (done, begun) = (count(State::Done), count(State::InProgress));
        match (all, begun) {
            (0, _) => "The list is empty".to_owned(),
            (_, 0) => format!("{done} of {all} done"),
            (..) => format!("{done} of {all} done, {begun} in progress"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str, state: State) -> Item {
        Item { text: text.to_owned(), state }
    }

    #[test]
    fn todo_item_is_one_line_without_control_characters() {
        let list = List::new(vec![item(" read\n the \u{1b}[31mcode\u{7} ", State::Done)]).expect("it fits");
        assert_eq!(list, List { checklist: vec![item("read the [31mcode", State::Done)] });
    }

    #[test]
    fn todo_list_is_counted_in_words() {
        let words = |items: &[Item]| List::new(items.to_vec()).expect("it fits").words();
        assert_eq!(words(&[]), "The list is empty");
        assert_eq!(words(&[item("a", State::Done), item("b", State::Pending)]), "1 of 2 done");
        assert_eq!(words(&[item("a", State::Done), item("b", State::InProgress)]), "1 of 2 done, 1 in progress");
    }

    #[test]
    fn todo_list_has_limits() {
        let refused = |items: Vec<Item>, says: &str| {
            let Err(Failure::InvalidArguments(words)) = List::new(items) else { panic!("{says}") };
            assert!(words.contains(says), "{words}");
        };
        refused(vec![item("\u{1b}\n", State::Done)], "item 1 has no text");
        refused(vec![item("a", State::Done), item(&"x".repeat(201), State::Done)], "item 2 has 201 characters");
        refused(vec![item("x", State::Done); 51], "51 items are more than 50");
        assert!(List::new(vec![item(&"é".repeat(200), State::Done); 50]).is_ok());
    }
}
