//! What a user sees of the conversation that was: the last exchange of a resumed session, whether to pick up its
//! unfinished work, and what is left of a prompt that was removed.

use host_app::session::Undone;
use host_journal::Left;
use host_message::{Content, Role};
use host_terminal::{Chosen, Question};
use host_text::{clip, counted, visible_line};

use super::Repl;
use crate::ask::choice;

/// The longest answer that is shown, in characters. `host session show` has more.
const ANSWER: usize = 12_000;

/// The most files or tools that are named.
const NAMED: usize = 8;

impl Repl {
    /// Shows the last exchange of a resumed session.
    pub(super) fn show_past(&mut self) {
        let all = self.session.history().contents().len();
        let exchange = self.session.last_exchange().to_vec();
        let Some((prompt, replies)) = exchange.split_first() else { return };
        let earlier = all - exchange.len();
        if earlier > 0 {
            self.note(&format!(
                "… {}; `host session show {}` has all",
                counted(earlier, "earlier message"),
                self.session.id()
            ));
        }
        self.terminal.said(&format!("{} › ", self.session.mode()), &prompt.visible_text());
        let calls: Vec<&str> =
            replies.iter().flat_map(Content::function_calls).map(|call| call.name.as_str()).collect();
        if !calls.is_empty() {
            self.note(&format!("· {}: {}", counted(calls.len(), "call"), named(&calls)));
        }
        let answer = replies.iter().rfind(|content| content.role == Role::Model).map(Content::visible_text);
        if let Some(answer) = answer.filter(|answer| !answer.trim().is_empty()) {
            self.printer.replay(&clip(&answer, ANSWER));
            self.answer = Some(answer);
        }
        self.terminal.lines("\n");
    }

    /// Asks whether to pick up what a resumed session has left to do.
    pub(super) async fn picks_up(&self) -> bool {
        let why = match self.session.left() {
            Left::Nothing => return false,
            Left::Question => "The last prompt has no reply.",
            Left::Outcomes => "The model has not seen the results of its last calls.",
        };
        let question = Question {
            lines: vec![self.style.bold(why)],
            choices: vec![choice('y', "Continue where it stopped"), choice('n', "Not now")],
            ..Question::default()
        };
        let picks_up = self.terminal.ask(question).await == Chosen::Choice(0);
        if !picks_up {
            self.note("it is continued with your next prompt; /undo-prompt forgets it");
        }
        picks_up
    }
}

/// The note after a prompt was removed.
pub(super) fn removed(Undone { changed, others, .. }: &Undone) -> String {
    let mut note = "removed the last prompt and its reply".to_owned();
    if !changed.is_empty() {
        note.push_str(&format!("; still changed: {}", named(changed)));
    }
    match (changed.is_empty(), others.is_empty()) {
        (_, false) => note.push_str(&format!("; what {} did was not undone", named(others))),
        (true, true) => note.push_str("; it changed no files"),
        (false, true) => {}
    }
    note
}

/// Names in a line: each once, and of many the first.
fn named<T: AsRef<str>>(names: &[T]) -> String {
    let mut shown: Vec<String> = Vec::new();
    for name in names {
        let name = visible_line(name.as_ref()).into_owned();
        if !shown.contains(&name) {
            shown.push(name);
        }
    }
    let more = shown.len().saturating_sub(NAMED);
    shown.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_prompt_names_what_it_leaves_changed() {
        let undone = |changed: &[&str], others: &[&str]| Undone {
            prompt: String::new(),
            changed: changed.iter().map(|name| (*name).to_owned()).collect(),
            others: others.iter().map(|name| (*name).to_owned()).collect(),
        };
        for (undone, note) in [
            (undone(&[], &[]), "removed the last prompt and its reply; it changed no files"),
            (undone(&["a", "b\u{1b}"], &[]), "removed the last prompt and its reply; still changed: a, b\\u{1b}"),
            (undone(&[], &["shell"]), "removed the last prompt and its reply; what shell did was not undone"),
            (
                undone(&["a"], &["shell"]),
                "removed the last prompt and its reply; still changed: a; what shell did was not undone",
            ),
        ] {
            assert_eq!(removed(&undone), note);
        }
        let many: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        assert_eq!(named(&many), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
        assert_eq!(named(&["grep", "grep"]), "grep");
    }
}
