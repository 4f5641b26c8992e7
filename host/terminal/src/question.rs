//! A question that only a key pressed after it appeared can answer.
//!
//! A question listens only after a moment without keys: a user who was typing something else goes on typing that, and
//! sees that the choices are not there yet. A pasted text never answers.
//!
//! Deliberately not here: what is asked, what an answer means, and drawing.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::keys::Key;
use super::pick::{Pick, Search};
use super::screen::Live;
use super::width::width;
use super::wrap::wrap;
use crate::Style;

/// How long no key must have been pressed before a question listens: longer than the pause between two keys of a typing
/// user, and longer than it takes to notice a question.
pub(super) const QUIET: Duration = Duration::from_millis(300);

/// The narrowest column for which choices are wrapped.
const NARROWEST: usize = 12;

/// A question to the user.
///
/// Its texts are shown unchanged: text from a model or a tool must have gone through [`host_text::visible`].
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The lines above the choices, which stay on the terminal: any number, with or without colours.
    pub lines: Vec<String>,
    /// The choices: at least one, and no more than nine, so that each has its digit.
    pub choices: Vec<Choice>,
    /// The index of the choice that Enter alone takes, from 0.
    pub preselected: usize,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The letter that selects it.
    pub letter: char,
    /// Its text.
    pub label: String,
}

/// How a question was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The choice with this index, from 0.
    Choice(usize),
    /// No choice: Esc, or Ctrl-C, which also stops the run.
    Dismissed,
    /// The question cannot be asked: there is no keyboard, or the terminal is gone.
    Nobody,
}

/// A question without an answer so far.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: u64,
    pub(super) question: Question,
    pub(super) state: Listening,
    selected: usize,
    /// A list with a search, in place of the choices.
    search: Option<Search>,
    answer: oneshot::Sender<Chosen>,
}

/// Whether keys are answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listening {
    /// An earlier question is open.
    Waits,
    /// It is visible, and the last key was pressed at this time.
    NotYet(Instant),
    Now,
}

impl Open {
    pub(super) fn new(id: u64, question: Question, answer: oneshot::Sender<Chosen>) -> Self {
        let selected = question.preselected.min(question.choices.len().saturating_sub(1));
        Self { id, question, state: Listening::Waits, selected, search: None, answer }
    }

    /// A list to pick from. Its titles are the choices, for what stays on the terminal once it is answered.
    pub(super) fn pick(id: u64, Pick { lines, entries }: Pick, answer: oneshot::Sender<Chosen>) -> Self {
        let choices = entries.iter().map(|entry| Choice { letter: ' ', label: entry.title.clone() }).collect();
        let search = Some(Search::new(entries));
        Self { search, ..Self::new(id, Question { lines, choices, preselected: 0 }, answer) }
    }

    /// Begins to listen if no key came for long enough. Returns true if it began now.
    pub(super) fn listens_now(&mut self, now: Instant) -> bool {
        match self.state {
            Listening::NotYet(last) if now.saturating_duration_since(last) >= QUIET => {
                self.state = Listening::Now;
                true
            }
            Listening::NotYet(_) | Listening::Waits | Listening::Now => false,
        }
    }

    /// Returns the answer that a key gives, if the question listens.
    pub(super) fn key(&mut self, key: &Key) -> Option<Chosen> {
        if let Some(search) = &mut self.search {
            return search.key(key);
        }
        let count = self.question.choices.len();
        match key {
            Key::Char(pressed) => {
                let digit = pressed.to_digit(10).and_then(|digit| (digit as usize).checked_sub(1));
                let letter = |choice: &Choice| choice.letter.eq_ignore_ascii_case(pressed);
                let wanted = digit.or_else(|| self.question.choices.iter().position(letter));
                return wanted.filter(|wanted| *wanted < count).map(Chosen::Choice);
            }
            Key::Enter => return (count > 0).then_some(Chosen::Choice(self.selected)),
            Key::Escape => return Some(Chosen::Dismissed),
            Key::Up | Key::Left | Key::BackTab => {
                self.selected = (self.selected + count.saturating_sub(1)) % count.max(1)
            }
            Key::Down | Key::Right | Key::Tab => self.selected = (self.selected + 1) % count.max(1),
            _ => {}
        }
        None
    }

    /// Sends the answer. The caller may be gone.
    pub(super) fn answered(self, chosen: Chosen) {
        self.answer.send(chosen).ok();
    }

    /// Draws the choices, each in full, and the keys. If there are few rows, draws the choices around the preselected
    /// one.
    pub(super) fn look(&self, style: Style, columns: usize, max_rows: usize) -> Live {
        let listens = self.state == Listening::Now;
        if let Some(search) = &self.search {
            return search.look(listens, style, columns, max_rows);
        }
        let fits = max_rows.saturating_sub(1).max(1);
        let look = |(number, Choice { letter, label }): (usize, &Choice)| -> Vec<String> {
            let is_selected = listens && number == self.selected;
            let mark = format!("{} {} {letter}  ", if is_selected { "›" } else { " " }, number + 1);
            let rows = wrap(label, columns.saturating_sub(width(&mark) + 1).max(NARROWEST)).into_iter().enumerate();
            let row = |(at, text): (usize, String)| {
                let begin = if at == 0 { mark.clone() } else { " ".repeat(width(&mark)) };
                match (listens, is_selected) {
                    (true, true) => style.bold(&format!("{begin}{text}")),
                    (true, false) => format!("{begin}{text}"),
                    (false, _) => style.dim(&format!("{begin}{text}")),
                }
            };
            rows.map(row).collect()
        };
        let choices: Vec<Vec<String>> = self.question.choices.iter().enumerate().map(look).collect();
        let rows_of = |choice: usize| choices.get(choice).map_or(0, Vec::len);
        let (mut first, mut taken) = (self.selected, rows_of(self.selected));
        while first > 0 && taken + rows_of(first - 1) <= fits {
            first -= 1;
            taken += rows_of(first);
        }
        let cursor = listens.then_some((taken - rows_of(self.selected), 0));
        // A part of a choice could mean something different from the whole.
        let mut rows: Vec<String> = Vec::new();
        for choice in choices.into_iter().skip(first) {
            if !rows.is_empty() && rows.len() + choice.len() > fits {
                break;
            }
            rows.extend(choice);
        }
        rows.truncate(fits);
        rows.push(style.dim(match listens {
            true => "↑↓ and Enter, or press a number or letter · Esc to reject",
            false => "…",
        }));
        Live { rows, cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(now: Instant) -> Open {
        let choice = |(letter, label): (char, &str)| Choice { letter, label: label.to_owned() };
        let choices = [('y', "Yes"), ('a', "Always"), ('n', "No")].map(choice).to_vec();
        let question = Question { lines: Vec::new(), choices, preselected: 2 };
        let mut open = Open::new(0, question, oneshot::channel().0);
        open.state = Listening::NotYet(now);
        open
    }

    #[test]
    fn a_digit_a_letter_arrows_and_enter_answer() {
        for (keys, chosen) in [
            (vec![Key::Char('1')], Some(Chosen::Choice(0))),
            (vec![Key::Char('A')], Some(Chosen::Choice(1))),
            (vec![Key::Enter], Some(Chosen::Choice(2))),
            (vec![Key::Down, Key::Enter], Some(Chosen::Choice(0))),
            (vec![Key::Up, Key::Enter], Some(Chosen::Choice(1))),
            (vec![Key::Escape], Some(Chosen::Dismissed)),
            (vec![Key::Char('0')], None),
            (vec![Key::Char('4')], None),
            (vec![Key::Char('x')], None),
            (vec![Key::Paste("y".to_owned())], None),
        ] {
            let mut open = open(Instant::now());
            let answers: Vec<_> = keys.iter().filter_map(|key| open.key(key)).collect();
            assert_eq!(answers.first().copied(), chosen, "{keys:?}");
        }
    }

    #[test]
    fn it_listens_after_a_moment_without_a_key() {
        let now = Instant::now();
        let mut open = open(now);
        assert!(!open.listens_now(now + QUIET / 2));
        open.state = Listening::NotYet(now + QUIET / 2);
        assert!(!open.listens_now(now + QUIET));
        assert!(open.listens_now(now + QUIET * 2));
        assert!(!open.listens_now(now + QUIET * 3), "it is told once");
    }

    #[test]
    fn the_choice_that_enter_takes_is_seen_in_any_height() {
        let mut open = open(Instant::now());
        open.state = Listening::Now;
        let style = Style { colour: false };
        assert_eq!(open.look(style, 80, 9).rows[..3], ["  1 y  Yes", "  2 a  Always", "› 3 n  No"]);
        assert_eq!(open.look(style, 80, 9).cursor, Some((2, 0)));
        let live = open.look(style, 80, 2);
        assert_eq!((live.rows[0].as_str(), live.cursor), ("› 3 n  No", Some((0, 0))));
    }

    #[test]
    fn a_choice_is_seen_whole_on_a_narrow_terminal() {
        let mut open = open(Instant::now());
        open.state = Listening::Now;
        if let Some(choice) = open.question.choices.get_mut(1) {
            choice.label = "Always: commands that begin with `cargo test`".to_owned();
        }
        let live = open.look(Style { colour: false }, 30, 9);
        let rows =
            ["  1 y  Yes", "  2 a  Always: commands that", "       begin with `cargo", "       test`", "› 3 n  No"];
        assert_eq!(live.rows[..5], rows);
        assert_eq!(live.cursor, Some((4, 0)));
        let live = open.look(Style { colour: false }, 30, 4);
        assert_eq!((live.rows[0].as_str(), live.cursor), ("› 3 n  No", Some((0, 0))), "no part of a choice alone");
    }
}
