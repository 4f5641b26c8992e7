//! The list: its limits, what its steps wait for, and how it reads.

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
    /// The numbers of items, from 1, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    depends_on: Vec<usize>,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Pending,
    InProgress,
    Done,
    Cancelled,
}

impl State {
    /// Whether there is something left to do.
    fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::InProgress => true,
            Self::Done | Self::Cancelled => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in progress",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }
}

impl List {
    /// Makes each item one line without control characters, and checks what they depend on.
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
        let mut list = Self { checklist: checklist.collect::<Result<_, _>>()? };
        for item in &mut list.checklist {
            item.depends_on.sort_unstable();
            item.depends_on.dedup();
        }
        list.check_dependencies()?;
        Ok(list)
    }

    fn check_dependencies(&self) -> Result<(), Failure> {
        let all = self.checklist.len();
        for (number, item) in (1..).zip(&self.checklist) {
            for &other in &item.depends_on {
                let Some(before) = other.checked_sub(1).and_then(|at| self.checklist.get(at)) else {
                    return Err(Failure::InvalidArguments(format!(
                        "item {number} depends on item {other}, and the list has the items 1 to {all}"
                    )));
                };
                if item.state == State::InProgress && before.state.is_open() && other != number {
                    let state = before.state.name();
                    return Err(Failure::InvalidArguments(format!(
                        "item {number} cannot be in progress: it depends on item {other}, which is {state}"
                    )));
                }
            }
        }
        match self.cycle() {
            None => Ok(()),
            Some(cycle) => {
                let numbers: Vec<String> = cycle.iter().map(usize::to_string).collect();
                let way = numbers.join(" → ");
                Err(Failure::InvalidArguments(format!("no item can depend on itself: {way}. Take one of these away")))
            }
        }
    }

    /// Numbers of items each of which depends on the next, the first again at the end. `None` if there are no such.
    fn cycle(&self) -> Option<Vec<usize>> {
        let depends_on = |number: usize| self.checklist.get(number - 1).map_or(&[][..], |item| &item.depends_on);
        let mut is_done = vec![false; self.checklist.len() + 1];
        for start in 1..=self.checklist.len() {
            // The way to the present item: each with how many of its dependencies were looked at.
            let mut way = vec![(start, 0)];
            while let Some((number, looked_at)) = way.last_mut() {
                let next = depends_on(*number).get(*looked_at).copied().filter(|_| !is_done[*number]);
                *looked_at += 1;
                let Some(next) = next else {
                    is_done[*number] = true;
                    way.pop();
                    continue;
                };
                let begin = way.iter().position(|(before, _)| *before == next);
                way.push((next, 0));
                if let Some(begin) = begin {
                    return Some(way[begin..].iter().map(|(number, _)| *number).collect());
                }
            }
        }
        None
    }

    /// How many steps wait for an open one.
    fn blocked(&self) -> usize {
        let is_open = |number: &usize| self.checklist.get(number - 1).is_some_and(|before| before.state.is_open());
        self.checklist.iter().filter(|item| item.state.is_open() && item.depends_on.iter().any(is_open)).count()
    }

    /// The line for the model, which wrote the list itself.
    pub(crate) fn words(&self) -> String {
        let count = |state: State| self.checklist.iter().filter(|item| item.state == state).count();
        let all = self.checklist.len();
        let (done, begun) = (count(State::Done), count(State::InProgress));
        if all == 0 {
            return "The list is empty".to_owned();
        }
        let mut words = format!("{done} of {all} done");
        for (count, what) in
            [(begun, "in progress"), (count(State::Cancelled), "cancelled"), (self.blocked(), "blocked by others")]
        {
            if count > 0 {
                words.push_str(&format!(", {count} {what}"));
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str, state: State) -> Item {
        Item { text: text.to_owned(), state, depends_on: Vec::new() }
    }

    fn after(depends_on: &[usize], state: State) -> Item {
        Item { depends_on: depends_on.to_vec(), ..item("a", state) }
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
        assert_eq!(
            words(&[
                item("a", State::InProgress),
                item("b", State::Cancelled),
                after(&[1], State::Pending),
                after(&[2], State::Pending),
                after(&[3, 1], State::Pending)
            ]),
            "0 of 5 done, 1 in progress, 1 cancelled, 2 blocked by others"
        );
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

    // promise todo.order: No step of the list is in progress while one that it depends on is open, and no step depends
    //   on itself.
    #[test]
    fn todo_step_waits_for_those_that_it_depends_on() {
        let check = |items: &[Item], says: Option<&str>| match (List::new(items.to_vec()), says) {
            (Ok(_), None) => {}
            (Err(Failure::InvalidArguments(words)), Some(says)) => assert_eq!(words, says),
            (list, says) => panic!("{says:?}: {list:?}"),
        };
        let first = |state| item("first", state);
        check(&[first(State::Done), after(&[1], State::InProgress)], None);
        check(&[first(State::Cancelled), after(&[1], State::InProgress)], None);
        check(&[first(State::Pending), after(&[1], State::Pending)], None);
        // What was done out of order is done.
        check(&[first(State::Pending), after(&[1], State::Done)], None);
        check(&[after(&[2], State::InProgress), first(State::Done)], None);
        for (state, name) in [(State::Pending, "pending"), (State::InProgress, "in progress")] {
            let says = format!("item 2 cannot be in progress: it depends on item 1, which is {name}");
            check(&[first(state), after(&[1], State::InProgress)], Some(&says));
        }
        for number in [0, 3, usize::MAX] {
            let says = format!("item 2 depends on item {number}, and the list has the items 1 to 2");
            check(&[first(State::Done), after(&[number], State::Pending)], Some(&says));
        }
    }

    // promise todo.order
    #[test]
    fn todo_steps_cannot_depend_on_themselves() {
        let check = |dependencies: &[&[usize]], cycle: Option<&str>| {
            let items = dependencies.iter().map(|numbers| after(numbers, State::Pending)).collect();
            match (List::new(items), cycle) {
                (Ok(_), None) => {}
                (Err(Failure::InvalidArguments(words)), Some(cycle)) => {
                    assert_eq!(words, format!("no item can depend on itself: {cycle}. Take one of these away"));
                }
                (list, cycle) => panic!("{cycle:?}: {list:?}"),
            }
        };
        check(&[&[], &[1], &[1, 2], &[3, 1]], None);
        check(&[&[4, 2], &[3], &[4], &[]], None);
        check(&[&[1]], Some("1 → 1"));
        check(&[&[2], &[1]], Some("1 → 2 → 1"));
        check(&[&[], &[3], &[4, 1], &[2]], Some("2 → 3 → 4 → 2"));
        check(&[&[2], &[3], &[2]], Some("2 → 3 → 2"));
        // Each with all before it: many ways, and looked through once.
        let all: Vec<usize> = (1..=49).collect();
        let before: Vec<&[usize]> = (0..50).map(|count| &all[..count]).collect();
        check(&before, None);
    }

    #[test]
    fn todo_dependencies_are_numbers_each_once() {
        let list = List::new(vec![item("a", State::Done), item("b", State::Done), after(&[2, 1, 2], State::Done)]);
        assert_eq!(list.expect("it fits").checklist[2].depends_on, [1, 2]);
    }
}
