//! A question that only a key pressed after it appeared can answer.
//!
//! A question listens only after a moment without keys: a user who was typing something else goes on typing that, and
//! sees that the choices are not there yet. A pasted text never answers. One choice can ask for a line of text, which is
//! typed in the place of the choices.
//!
//! Deliberately not here: what is asked, what an answer means, and drawing.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::editor::Editor;
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

/// The longest line that is typed as an answer, in characters.
const MAX_LINE: usize = 500;

/// The most rows for such a line.
const LINE_ROWS: usize = 4;

/// What the keys do, below the choices.
const KEYS: &str = "↑↓ and Enter, or press a number or letter · Esc to reject";

/// The same on a narrow terminal.
const FEWER_KEYS: &str = "↑↓ and Enter, a number or letter · Esc";

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

/// A choice that is answered with a line of text.
#[derive(Clone, Debug)]
pub struct Line {
    /// The index of the choice, from 0.
    pub choice: usize,
    /// The words before the text.
    pub label: String,
    /// What is below it: what Enter and Esc do.
    pub help: String,
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
    line: Option<Line>,
    /// The line that is being typed.
    typed: Option<Editor>,
    /// Whether the next Enter only ends the line with the letter of the choice, on a terminal that sends whole lines.
    pub(super) skips_enter: bool,
    answer: oneshot::Sender<Answered>,
}

/// The choice, and the line that was typed for it.
pub(super) type Answered = (Chosen, String);

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
    pub(super) fn new(id: u64, question: Question, line: Option<Line>, answer: oneshot::Sender<Answered>) -> Self {
        let selected = question.preselected.min(question.choices.len().saturating_sub(1));
        Self {
            id,
            question,
            state: Listening::Waits,
            selected,
            search: None,
            line,
            typed: None,
            skips_enter: false,
            answer,
        }
    }

    /// A list to pick from. Its titles are the choices, for what stays on the terminal once it is answered.
    pub(super) fn pick(id: u64, Pick { lines, entries }: Pick, answer: oneshot::Sender<Answered>) -> Self {
        let choices = entries.iter().map(|entry| Choice { letter: ' ', label: entry.title.clone() }).collect();
        let search = Some(Search::new(entries));
        Self { search, ..Self::new(id, Question { lines, choices, preselected: 0 }, None, answer) }
    }

    /// The words before the line that is being typed, if one is.
    pub(super) fn types(&self) -> Option<&str> {
        self.line.as_ref().filter(|_| self.typed.is_some()).map(|line| line.label.as_str())
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
    pub(super) fn key(&mut self, key: &Key) -> Option<Answered> {
        if let Some(search) = &mut self.search {
            return search.key(key).map(|chosen| (chosen, String::new()));
        }
        if self.typed.is_some() {
            return self.key_of_line(key);
        }
        let chosen = self.choice(key)?;
        if let Chosen::Choice(at) = chosen
            && self.line.as_ref().is_some_and(|line| line.choice == at)
        {
            self.selected = at;
            self.typed = Some(Editor::default());
            return None;
        }
        Some((chosen, String::new()))
    }

    /// Handles a key for the line that is being typed. Esc leads back to the choices.
    fn key_of_line(&mut self, key: &Key) -> Option<Answered> {
        let editor = self.typed.as_mut()?;
        let skips_enter = std::mem::take(&mut self.skips_enter);
        match key {
            Key::Enter if skips_enter => {}
            Key::Enter => {
                let text = editor.text().trim().to_owned();
                return Some((Chosen::Choice(self.selected), text));
            }
            Key::Escape => self.typed = None,
            // It stays one line, whatever is pasted.
            Key::NewLine | Key::Tab => {}
            Key::Paste(text) => {
                let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                let room = MAX_LINE.saturating_sub(editor.text().chars().count());
                editor.insert(&line.chars().take(room).collect::<String>());
            }
            Key::Char(c) if c.is_control() || editor.text().chars().count() >= MAX_LINE => {}
            key => {
                let before = editor.clone();
                editor.key(key);
                if editor.text().chars().count() > MAX_LINE {
                    *editor = before;
                }
            }
        }
        None
    }

    fn choice(&mut self, key: &Key) -> Option<Chosen> {
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
    pub(super) fn answered(self, answered: Answered) {
        self.answer.send(answered).ok();
    }

    /// Draws the choices, each in full, and the keys. If there are few rows, draws the choices around the preselected
    /// one.
    pub(super) fn look(&self, style: Style, columns: usize, max_rows: usize) -> Live {
        if let (Some(editor), Some(line)) = (&self.typed, &self.line) {
            let mut live = editor.look(&style.bold(&line.label), columns, LINE_ROWS.min(max_rows.saturating_sub(1)));
            live.rows.extend(wrap(&line.help, columns.saturating_sub(1)).iter().map(|row| style.dim(row)));
            return live;
        }
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
            true if width(KEYS) <= columns => KEYS,
            true => FEWER_KEYS,
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
        let line = Line { choice: 1, label: "why › ".to_owned(), help: "Enter to send · Esc to go back".to_owned() };
        let mut open = Open::new(0, question, Some(line), oneshot::channel().0);
        open.state = Listening::NotYet(now);
        open
    }

    /// Presses the keys; returns the answers.
    fn pressed(open: &mut Open, keys: &[Key]) -> Vec<Answered> {
        keys.iter().filter_map(|key| open.key(key)).collect()
    }

    fn chosen(at: usize, text: &str) -> Vec<Answered> {
        vec![(Chosen::Choice(at), text.to_owned())]
    }

    #[test]
    fn question_line_is_typed_bounded_and_one_line() {
        use Key::*;
        let begin = [Char('a')];
        let type_it = |keys: &[Key]| pressed(&mut open(Instant::now()), &[&begin, keys].concat());
        assert_eq!(type_it(&[]), []);
        assert_eq!(type_it(&[Char('n'), Char('o'), Enter]), chosen(1, "no"), "a letter is text here");
        assert_eq!(type_it(&[Char(' '), Enter]), chosen(1, ""));
        let pasted = Paste("a\nb\u{1b}[2J\tc".to_owned());
        assert_eq!(type_it(&[pasted, NewLine, Enter]), chosen(1, "a b [2J c"));
        let long = type_it(&[Paste("x".repeat(10_000)), Char('y'), Paste("z".to_owned()), Enter]);
        assert_eq!(long, chosen(1, &"x".repeat(MAX_LINE)));
        // Esc leads back, and what was typed is gone.
        assert_eq!(type_it(&[Char('x'), Escape, Char('n')]), chosen(2, ""));
        assert_eq!(type_it(&[Char('x'), Escape, Char('2'), Enter]), chosen(1, ""));
        assert_eq!(type_it(&[Escape, Escape]), [(Chosen::Dismissed, String::new())]);
        // What was deleted comes back only as far as there is room.
        let keys = [Paste("x".repeat(400)), DeleteToStart, PutBack, PutBack, Enter];
        assert_eq!(type_it(&keys), chosen(1, &"x".repeat(400)));
    }

    #[test]
    fn question_line_is_shown_escaped_in_the_place_of_the_choices() {
        let mut open = open(Instant::now());
        open.state = Listening::Now;
        pressed(&mut open, &[Key::Char('a'), Key::Paste("to\u{202e}o".to_owned()), Key::Char('!')]);
        let live = open.look(Style { colour: false }, 40, 9);
        assert_eq!(live.rows, ["why › to\\u{202e}o!", "Enter to send · Esc to go back"]);
        assert_eq!(live.cursor, Some((0, 18)));
        let narrow = open.look(Style { colour: false }, 14, 9).rows;
        assert!(narrow.iter().all(|row| width(row) <= 14), "{narrow:?}");
    }

    #[test]
    fn a_digit_a_letter_arrows_and_enter_answer() {
        for (keys, chosen) in [
            (vec![Key::Char('1')], Some(Chosen::Choice(0))),
            (vec![Key::Char('N')], Some(Chosen::Choice(2))),
            (vec![Key::Enter], Some(Chosen::Choice(2))),
            (vec![Key::Down, Key::Enter], Some(Chosen::Choice(0))),
            (vec![Key::Up, Key::Up, Key::Enter], Some(Chosen::Choice(0))),
            (vec![Key::Escape], Some(Chosen::Dismissed)),
            (vec![Key::Char('0')], None),
            (vec![Key::Char('4')], None),
            (vec![Key::Char('x')], None),
            (vec![Key::Paste("y".to_owned())], None),
        ] {
            let mut open = open(Instant::now());
            let answers = pressed(&mut open, &keys);
            assert_eq!(answers.first().map(|(chosen, _)| *chosen), chosen, "{keys:?}");
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
