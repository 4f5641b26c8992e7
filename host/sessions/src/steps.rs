//! The words of a list of steps, which every frontend shows with marks of its own.
//!
//! Promises: each text is one line, is safe to show, and says what the step waits for. Deliberately not here: marks,
//! colours and widths.

use host_message::{ChecklistItem, ChecklistState};
use host_text::visible_line;

/// A step as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// How far it is.
    pub state: ChecklistState,
    /// Its text on one line, safe to show.
    pub text: String,
}

impl Step {
    /// The mark of its state in a plain text.
    pub fn mark(&self) -> &'static str {
        match self.state {
            ChecklistState::Pending => "[ ]",
            ChecklistState::InProgress => "[~]",
            ChecklistState::Done => "[x]",
            ChecklistState::Cancelled => "[-]",
        }
    }
}

/// Returns the steps of a list in their order. They have numbers where one of them waits for another.
pub fn steps(items: &[ChecklistItem]) -> Vec<Step> {
    let waits_for = |item: &ChecklistItem| -> Vec<usize> {
        let of_number = |number: usize| number.checked_sub(1).and_then(|at| items.get(at));
        let is_open = |number: &usize| of_number(*number).is_some_and(|other| other.state.is_open());
        let waits = item.state.is_open();
        item.depends_on.iter().copied().filter(|number| waits && is_open(number)).collect()
    };
    let has_numbers = items.iter().any(|item| !waits_for(item).is_empty());
    let step = |(at, item): (usize, &ChecklistItem)| {
        let mut text = visible_line(&item.text).into_owned();
        if has_numbers {
            text = format!("{}. {text}", at + 1);
        }
        let numbers: Vec<String> = waits_for(item).iter().map(usize::to_string).collect();
        match (item.state, numbers.split_last()) {
            (ChecklistState::Cancelled, _) => text.push_str(" (cancelled)"),
            (_, None) => {}
            (_, Some((last, []))) => text.push_str(&format!(" (waits for {last})")),
            (_, Some((last, others))) => text.push_str(&format!(" (waits for {} and {last})", others.join(", "))),
        }
        Step { state: item.state, text }
    };
    items.iter().enumerate().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(items: &[(&str, ChecklistState, &[usize])], expected: &[&str]) {
        let item = |(text, state, depends_on): &(&str, ChecklistState, &[usize])| ChecklistItem {
            text: (*text).to_owned(),
            state: *state,
            depends_on: depends_on.to_vec(),
        };
        let items: Vec<_> = items.iter().map(item).collect();
        let shown: Vec<_> = steps(&items).iter().map(|step| format!("{} {}", step.mark(), step.text)).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn steps_say_what_they_wait_for_and_which_are_cancelled() {
        use ChecklistState::{Cancelled, Done, InProgress, Pending};
        check(
            &[("read", Done, &[]), ("fix", InProgress, &[1]), ("ask", Cancelled, &[2])],
            &["[x] read", "[~] fix", "[-] ask (cancelled)"],
        );
        check(
            &[
                ("a", Done, &[]),
                ("b", InProgress, &[1]),
                ("c", Pending, &[1, 2]),
                ("d", Pending, &[1, 2, 3]),
                ("e", Pending, &[2, 3, 4]),
            ],
            &[
                "[x] 1. a",
                "[~] 2. b",
                "[ ] 3. c (waits for 2)",
                "[ ] 4. d (waits for 2 and 3)",
                "[ ] 5. e (waits for 2, 3 and 4)",
            ],
        );
        check(&[("a", Cancelled, &[]), ("b", Pending, &[1])], &["[-] a (cancelled)", "[ ] b"]);
        // A list of a plugin's own may say anything.
        check(&[("a\u{1b}[2J\n[x] b", Pending, &[0, 9])], &["[ ] a\\u{1b}[2J\\n[x] b"]);
    }
}
