//! What a user sees of the conversation that was: the last exchange of a resumed session, and whether to pick up its
//! unfinished work.

use host_app::session::pages::rewind::named;
use host_journal::Left;
use host_message::{Content, Role};
use host_terminal::{Chosen, Question};
use host_text::{clip, counted};

use super::Repl;
use crate::ask::choice;

/// The longest answer that is shown, in characters. `host session show` has more.
const ANSWER: usize = 12_000;

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
