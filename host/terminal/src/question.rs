//! A question that only a key pressed after it appeared can answer.
//!
//! A question listens only after a moment without keys: a user who was typing something else goes on typing that, and
//! sees that the choices are not there yet. A letter answers only if nothing follows it at once: a text that goes on is
//! no answer by the letters that it happens to contain. One choice can ask for a line of text, which is typed in the
//! place of the choices; a text that goes on becomes that line. A pasted text never answers.
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

/// How long nothing must follow a letter before it answers: about the pause between two keys of a typing user, and too
/// short to be noticed by one who waits for the answer to be taken.
pub(super) const PAUSE: Duration = Duration::from_millis(200);

/// The narrowest column for which choices are wrapped.
const NARROWEST: usize = 12;

/// The longest line that is typed as an answer, in characters.
const MAX_LINE: usize = 500;

/// The most rows for such a line.
const LINE_ROWS: usize = 4;

/// What the keys do, below the choices.
const KEYS: &str = "↑↓ and Enter, or press a number or letter · Esc to";

/// The same on a narrow terminal.
const FEWER_KEYS: &str = "↑↓ and Enter, a number or letter · Esc";

/// What they do where choices are marked.
const MARK_KEYS: &str = "↑↓ and Space, a number or letter to mark · Enter to go on · Esc to";

/// The same on a narrow terminal.
const FEWER_MARK_KEYS: &str = "↑↓ and Space mark · Enter goes on · Esc";

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
    /// What Esc does.
    pub escape: Escape,
    /// How many of the choices, from the first, are marked and not taken: any number of them can be. The question ends
    /// with one of the others; with the first of these, too, by Enter on one to mark, once one is.
    pub markable: usize,
}

/// What Esc does to a question, as it is called there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escape {
    /// It rejects what is asked about.
    #[default]
    Rejects,
    /// It ends the program.
    Quits,
    /// It leaves all as it is.
    Skips,
}

impl Escape {
    fn verb(self) -> &'static str {
        match self {
            Self::Rejects => "reject",
            Self::Quits => "quit",
            Self::Skips => "skip",
        }
    }

    /// What is left of a question that was answered so.
    pub(super) fn participle(self) -> &'static str {
        match self {
            Self::Rejects | Self::Quits => "rejected",
            Self::Skips => "skipped",
        }
    }
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The letter that selects it.
    pub letter: char,
    /// Its text.
    pub label: String,
    /// What is below it in a quieter look, such as what it means; it may be empty.
    pub about: String,
}

impl Choice {
    /// A choice without anything below it.
    pub fn new(letter: char, label: impl Into<String>) -> Self {
        Self { letter, label: label.into(), about: String::new() }
    }
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
    /// Whether each of the choices that can be marked is.
    marks: Vec<bool>,
    /// A list with a search, in place of the choices.
    search: Option<Search>,
    line: Option<Line>,
    /// The character that was pressed last, and when: perhaps an answer, perhaps the first of a text.
    pressed: Option<(char, Instant)>,
    /// The line that is being typed.
    typed: Option<Editor>,
    /// Whether that line began as a text, and not by the choice that asks for it.
    is_text: bool,
    /// Whether the next Enter only ends the line with the digit of the choice, on a terminal that sends whole lines.
    pub(super) skips_enter: bool,
    answer: oneshot::Sender<Reply>,
}

/// The choice, and the line that was typed for it.
pub(super) type Answered = (Chosen, String);

/// What whoever asked gets.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) answered: Answered,
    /// The choices that are marked, in their order.
    pub(super) marked: Vec<usize>,
}

impl Reply {
    pub(super) fn nobody() -> Self {
        Self { answered: (Chosen::Nobody, String::new()), marked: Vec::new() }
    }
}

/// What a key does to a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// Nothing that anybody else must know.
    Nothing,
    /// It answers.
    Answers(Answered),
    /// With the key before it, it is the beginning of a text, which is for somebody else: this question takes none.
    Text([Key; 2]),
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
    pub(super) fn new(id: u64, question: Question, line: Option<Line>, answer: oneshot::Sender<Reply>) -> Self {
        let selected = question.preselected.min(question.choices.len().saturating_sub(1));
        // Without a choice that ends it, it would never end.
        let markable = question.markable.min(question.choices.len().saturating_sub(1));
        Self {
            id,
            question,
            state: Listening::Waits,
            selected,
            marks: vec![false; markable],
            search: None,
            line,
            pressed: None,
            typed: None,
            is_text: false,
            skips_enter: false,
            answer,
        }
    }

    /// A list to pick from. Its titles are the choices, for what stays on the terminal once it is answered.
    pub(super) fn pick(id: u64, Pick { lines, entries, renamed }: Pick, answer: oneshot::Sender<Reply>) -> Self {
        let choices = entries.iter().map(|entry| Choice::new(' ', entry.title.clone())).collect();
        let search = Some(Search::new(entries, renamed));
        Self { search, ..Self::new(id, Question { lines, choices, ..Question::default() }, None, answer) }
    }

    /// The words before the line that is being typed, if one is.
    pub(super) fn types(&self) -> Option<&str> {
        self.line.as_ref().filter(|_| self.typed.is_some()).map(|line| line.label.as_str())
    }

    /// The words before that line, if the choice that asks for it was taken.
    pub(super) fn asks_for_line(&self) -> Option<&str> {
        self.types().filter(|_| !self.is_text)
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

    /// Returns when time alone changes it: it begins to listen, or the letter that was pressed answers.
    pub(super) fn due_at(&self) -> Option<Instant> {
        match self.state {
            Listening::NotYet(last) => Some(last + QUIET),
            Listening::Now => self.pressed.map(|(_, at)| at + PAUSE),
            Listening::Waits => None,
        }
    }

    /// Handles a key that is pressed now, if the question listens.
    pub(super) fn key(&mut self, key: &Key, now: Instant) -> Pressed {
        let answered = |answered: Option<Answered>| answered.map_or(Pressed::Nothing, Pressed::Answers);
        // A list takes every key, letters too.
        if let Some(search) = &mut self.search {
            return answered(search.key(key));
        }
        if self.typed.is_some() {
            return answered(self.key_of_line(key));
        }
        if std::mem::take(&mut self.skips_enter) && *key == Key::Enter {
            return Pressed::Nothing;
        }
        // A letter answers only if nothing follows it at once.
        match (self.pressed.take(), key) {
            // However late it is taken from the keyboard: a busy machine makes no answer of a text.
            (Some((first, _)), Key::Char(_) | Key::Paste(_)) => self.text(first, key),
            // It confirms the letter, and a character that is not an answer is not confirmed.
            (Some((letter, _)), Key::Enter) => answered(self.choice_of(letter).and_then(|at| self.choose(at))),
            (Some(_), Key::Backspace) => Pressed::Nothing,
            // A digit begins no word, so it answers at once.
            (None, Key::Char(digit)) if digit.is_ascii_digit() => {
                answered(self.choice_of(*digit).and_then(|at| self.choose(at)))
            }
            (None, Key::Char(' ')) if self.selected < self.marks.len() => answered(self.choose(self.selected)),
            (None, Key::Char(character)) => {
                self.pressed = Some((*character, now));
                Pressed::Nothing
            }
            (_, key) => answered(self.moves(key)),
        }
    }

    /// Returns the answer of a letter that nothing followed for long enough. The caller has looked whether a key waits
    /// to be read.
    pub(super) fn settles(&mut self, now: Instant) -> Option<Answered> {
        let (letter, _) = self.pressed.take_if(|(_, at)| now.saturating_duration_since(*at) >= PAUSE)?;
        self.choice_of(letter).and_then(|at| self.choose(at))
    }

    /// Begins a text with a character and the key after it.
    fn text(&mut self, first: char, key: &Key) -> Pressed {
        let Some(line) = &self.line else { return Pressed::Text([Key::Char(first), key.clone()]) };
        self.selected = line.choice;
        self.typed = Some(Editor::default());
        self.is_text = true;
        self.key_of_line(&Key::Char(first));
        self.key_of_line(key);
        Pressed::Nothing
    }

    /// Takes a choice, marks it or takes its mark away, or opens the line that it asks for.
    fn choose(&mut self, at: usize) -> Option<Answered> {
        if let Some(mark) = self.marks.get_mut(at) {
            *mark = !*mark;
            self.selected = at;
            return None;
        }
        if self.line.as_ref().is_none_or(|line| line.choice != at) {
            return Some((Chosen::Choice(at), String::new()));
        }
        self.selected = at;
        self.typed = Some(Editor::default());
        self.is_text = false;
        None
    }

    /// Handles a key for the line that is being typed. Esc leads back to the choices.
    fn key_of_line(&mut self, key: &Key) -> Option<Answered> {
        let spelled = self.spelled();
        let editor = self.typed.as_mut()?;
        let skips_enter = std::mem::take(&mut self.skips_enter);
        match key {
            // The Enter behind the digit that opened the line.
            Key::Enter if skips_enter => {}
            Key::Enter => {
                let text = editor.text().trim().to_owned();
                return Some(match spelled {
                    Some(choice) => (Chosen::Choice(choice), String::new()),
                    None => (Chosen::Choice(self.selected), text),
                });
            }
            Key::Escape => self.typed = None,
            // It stays one line, whatever is pasted.
            Key::NewLine | Key::Tab => {}
            Key::Paste(text) => {
                // A pasted line break must not send the line.
                let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                let room = MAX_LINE.saturating_sub(editor.text().chars().count());
                editor.insert(&line.chars().take(room).collect::<String>());
            }
            Key::Char(c) if c.is_control() || editor.text().chars().count() >= MAX_LINE => {}
            key => {
                let before = editor.clone();
                editor.key(key);
                // Undone as a whole: a key may insert more than one character.
                if editor.text().chars().count() > MAX_LINE {
                    *editor = before;
                }
            }
        }
        None
    }

    /// Returns the choice that the text is the first word of: who types `yes` says yes.
    fn spelled(&self) -> Option<usize> {
        let text = self.typed.as_ref().filter(|_| self.is_text)?.text().trim().to_lowercase();
        let first = |choice: &Choice| {
            let word: String = choice.label.chars().take_while(|c| c.is_alphanumeric()).collect();
            word.to_lowercase()
        };
        let is_spelled = |choice: &Choice| {
            first(choice) == text && text.starts_with(choice.letter.to_ascii_lowercase()) && !text.is_empty()
        };
        self.question.choices.iter().position(is_spelled)
    }

    /// Returns the choice with this digit or letter.
    fn choice_of(&self, pressed: char) -> Option<usize> {
        let digit = pressed.to_digit(10).and_then(|digit| (digit as usize).checked_sub(1));
        let letter = |choice: &Choice| choice.letter.eq_ignore_ascii_case(&pressed);
        let wanted = digit.or_else(|| self.question.choices.iter().position(letter));
        wanted.filter(|wanted| *wanted < self.question.choices.len())
    }

    /// Handles a key that takes the selected choice, or selects another one.
    fn moves(&mut self, key: &Key) -> Option<Answered> {
        let count = self.question.choices.len();
        match key {
            Key::Enter if self.selected < self.marks.len() && self.marks.contains(&true) => {
                return self.choose(self.marks.len());
            }
            Key::Enter if count > 0 => return self.choose(self.selected),
            Key::Escape => return Some((Chosen::Dismissed, String::new())),
            Key::Up | Key::Left | Key::BackTab => {
                self.selected = (self.selected + count.saturating_sub(1)) % count.max(1)
            }
            Key::Down | Key::Right | Key::Tab => self.selected = (self.selected + 1) % count.max(1),
            _ => {}
        }
        None
    }

    /// The choices that are marked, in their order.
    pub(super) fn marked(&self) -> Vec<usize> {
        (0..self.marks.len()).filter(|at| self.marks[*at]).collect()
    }

    /// Sends the answer. The caller may be gone.
    pub(super) fn answered(self, answered: Answered) {
        let marked = self.marked();
        self.answer.send(Reply { answered, marked }).ok();
    }

    /// Draws the choices, each in full, and the keys. If there are few rows, draws the choices around the preselected
    /// one, and the one that says no.
    pub(super) fn look(&self, style: Style, columns: usize, max_rows: usize) -> Live {
        // The line is in the place of the choices: both at once would both take letters.
        if let (Some(editor), Some(line)) = (&self.typed, &self.line) {
            return self.look_of_line(editor, line, style, columns, max_rows);
        }
        let listens = self.state == Listening::Now;
        // A letter is seen to be taken before it answers.
        let selected = self.pressed.and_then(|(letter, _)| self.choice_of(letter)).unwrap_or(self.selected);
        if let Some(search) = &self.search {
            return search.look(listens, style, columns, max_rows);
        }
        let fits = max_rows.saturating_sub(1).max(1);
        let look = |(number, choice): (usize, &Choice)| {
            let looks = match (listens, number == selected) {
                (true, true) => ChoiceLook::Selected,
                (true, false) => ChoiceLook::Other,
                (false, _) => ChoiceLook::Asleep,
            };
            choice.look(number, self.marks.get(number).copied(), looks, style, columns)
        };
        let choices: Vec<Vec<String>> = self.question.choices.iter().enumerate().map(look).collect();
        let rows_of = |choice: usize| choices.get(choice).map_or(0, Vec::len);
        // Whatever else is not seen, how to say no is.
        let is_no = |choice: &Choice| self.question.escape == Escape::Rejects && choice.letter == 'n';
        let no = self.question.choices.iter().position(is_no).filter(|no| *no != selected);
        let all: usize = choices.iter().map(Vec::len).sum();
        let no = no.filter(|no| all > fits && rows_of(selected) + rows_of(*no) <= fits);
        let no_rows = no.and_then(|no| choices.get(no)).cloned().unwrap_or_default();
        let fits = fits - no_rows.len();
        let (mut first, mut taken) = (selected, rows_of(selected));
        while first > 0 && taken + rows_of(first - 1) <= fits {
            first -= 1;
            taken += rows_of(first);
        }
        let cursor = listens.then_some((taken - rows_of(selected), 0));
        // A part of a choice could mean something different from the whole.
        let mut rows: Vec<String> = Vec::new();
        for (at, choice) in choices.into_iter().enumerate().skip(first) {
            if no == Some(at) {
                continue;
            }
            if !rows.is_empty() && rows.len() + choice.len() > fits {
                break;
            }
            rows.extend(choice);
        }
        rows.truncate(fits);
        rows.extend(no_rows);
        let (keys, fewer) = match self.marks.is_empty() {
            true => (KEYS, FEWER_KEYS),
            false => (MARK_KEYS, FEWER_MARK_KEYS),
        };
        let keys = format!("{keys} {}", self.question.escape.verb());
        rows.push(style.dim(match listens {
            true if width(&keys) <= columns => &keys,
            true => fewer,
            false => "…",
        }));
        Live { rows, cursor }
    }

    /// Draws the line that a choice asks for.
    fn look_of_line(&self, editor: &Editor, line: &Line, style: Style, columns: usize, max_rows: usize) -> Live {
        let mut live = editor.look(&style.bold(&line.label), columns, LINE_ROWS.min(max_rows.saturating_sub(1)));
        let spelled = self.spelled().and_then(|at| self.question.choices.get(at));
        let help = match spelled {
            Some(choice) => format!("Enter for “{}” · Esc to go back", choice.label),
            None => line.help.clone(),
        };
        live.rows.extend(wrap(&help, columns.saturating_sub(1)).iter().map(|row| style.dim(row)));
        live
    }
}

/// How a choice looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChoiceLook {
    Selected,
    Other,
    /// Its question does not listen yet.
    Asleep,
}

impl Choice {
    /// Draws a choice with its number, in as many rows as it takes.
    fn look(
        &self,
        number: usize,
        marked: Option<bool>,
        looks: ChoiceLook,
        style: Style,
        columns: usize,
    ) -> Vec<String> {
        let mark = if looks == ChoiceLook::Selected { "›" } else { " " };
        let marked = match marked {
            Some(true) => "[x] ",
            Some(false) => "[ ] ",
            None => "",
        };
        let mark = format!("{mark} {} {}  {marked}", number + 1, self.letter);
        let fits = columns.saturating_sub(width(&mark) + 1).max(NARROWEST);
        let indent = " ".repeat(width(&mark));
        let row = |(at, text): (usize, String)| {
            let begin = if at == 0 { &mark } else { &indent };
            let row = format!("{begin}{text}");
            match looks {
                ChoiceLook::Selected => style.bold(&row),
                ChoiceLook::Other => row,
                ChoiceLook::Asleep => style.dim(&row),
            }
        };
        let mut rows: Vec<String> = wrap(&self.label, fits).into_iter().enumerate().map(row).collect();
        if !self.about.is_empty() {
            rows.extend(wrap(&self.about, fits).iter().map(|text| style.dim(&format!("{indent}{text}"))));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(now: Instant) -> Open {
        let choice = |(letter, label): (char, &str)| Choice::new(letter, label);
        let choices = [('y', "Yes"), ('a', "Always"), ('n', "No")].map(choice).to_vec();
        let question = Question { choices, preselected: 2, ..Question::default() };
        let line = Line { choice: 1, label: "why › ".to_owned(), help: "Enter to send · Esc to go back".to_owned() };
        let mut open = Open::new(0, question, Some(line), oneshot::channel().0);
        open.state = Listening::NotYet(now);
        open
    }

    /// Presses the keys, each after a pause that makes the one before it count; returns the answers.
    fn pressed(open: &mut Open, keys: &[Key]) -> Vec<Answered> {
        let mut now = Instant::now();
        let mut answers = Vec::new();
        open.state = Listening::Now;
        for key in keys {
            now += PAUSE;
            answers.extend(open.settles(now));
            match open.key(key, now) {
                Pressed::Answers(answered) => answers.push(answered),
                Pressed::Nothing => {}
                Pressed::Text(keys) => panic!("{keys:?} are a text"),
            }
        }
        answers.extend(open.settles(now + PAUSE));
        answers
    }

    /// Types a text, one key this long after the other; returns the answers.
    fn typed(open: &mut Open, text: &str, apart: Duration) -> Vec<Answered> {
        let mut now = Instant::now();
        let mut answers = Vec::new();
        open.state = Listening::Now;
        for key in text.chars() {
            let key = match key {
                '\n' => Key::Enter,
                '\u{1b}' => Key::Escape,
                '\u{8}' => Key::Backspace,
                '↓' => Key::Down,
                key => Key::Char(key),
            };
            match open.key(&key, now) {
                Pressed::Answers(answered) => answers.push(answered),
                Pressed::Nothing => {}
                Pressed::Text(keys) => panic!("{keys:?} are a text"),
            }
            now += apart;
            answers.extend(open.settles(now));
        }
        answers.extend(open.settles(now + PAUSE));
        answers
    }

    fn chosen(at: usize, text: &str) -> Vec<Answered> {
        vec![(Chosen::Choice(at), text.to_owned())]
    }

    // promise approval.typing: A letter answers a question only if nothing follows it within 200 ms; a text that goes
    //   on is not an answer by its letters, and becomes the reason of a no.
    #[test]
    fn question_letter_answers_only_if_nothing_follows() {
        let quick = PAUSE - Duration::from_millis(1);
        // The line is that of the second choice; `y`, `a` and `n` are letters of choices.
        for (text, apart, answers) in [
            ("y", quick, chosen(0, "")),
            ("n", quick, chosen(2, "")),
            ("no, use src instead\n", quick, chosen(1, "no, use src instead")),
            ("and then commit", quick, vec![]),
            ("and then commit\n", Duration::ZERO, chosen(1, "and then commit")),
            ("yes, and\n", quick, chosen(1, "yes, and")),
            ("what is it?\n", quick, chosen(1, "what is it?")),
            // The digit within a text is text, and one before it answers at once.
            ("n2\n", quick, chosen(1, "n2")),
            ("2x\n", quick, chosen(1, "x")),
            // A word that is a choice's own.
            ("yes\n", quick, chosen(0, "")),
            ("NO \n", quick, chosen(2, "")),
            ("nope\n", quick, chosen(1, "nope")),
            // Enter takes the letter, also at once, and no character that is none; Esc and Backspace take it back.
            ("y\n", Duration::ZERO, chosen(0, "")),
            ("w\n", Duration::ZERO, vec![]),
            ("y\u{8}", quick, vec![]),
            ("y\u{1b}", quick, vec![(Chosen::Dismissed, String::new())]),
            ("y↓", quick, vec![]),
            ("no, wait\u{1b}y", quick, chosen(0, "")),
            // The line that a choice asks for is never a word of the choices.
            ("a\nno\n", quick, chosen(1, "no")),
        ] {
            assert_eq!(typed(&mut open(Instant::now()), text, apart), answers, "{text:?}");
        }
        // Two keys with a pause between them are two answers, of which the second goes to whatever is asked then.
        assert_eq!(typed(&mut open(Instant::now()), "yn", PAUSE), [chosen(0, ""), chosen(2, "")].concat());
        // Letters that are read late, all at once, are not answers.
        let (mut open, now) = (open(Instant::now()), Instant::now());
        open.state = Listening::Now;
        assert_eq!(open.key(&Key::Char('n'), now), Pressed::Nothing);
        assert_eq!(open.key(&Key::Char('o'), now + PAUSE * 9), Pressed::Nothing);
        assert_eq!(open.types(), Some("why › "));
    }

    #[test]
    fn question_without_a_line_gives_a_text_back_and_answers_nothing() {
        let (mut open, now) = (open(Instant::now()), Instant::now());
        (open.state, open.line) = (Listening::Now, None);
        assert_eq!(open.key(&Key::Char('y'), now), Pressed::Nothing);
        assert_eq!(open.key(&Key::Char('e'), now), Pressed::Text([Key::Char('y'), Key::Char('e')]));
        assert_eq!(open.settles(now + PAUSE), None);
        assert_eq!(open.key(&Key::Char('y'), now + PAUSE), Pressed::Nothing);
        assert_eq!(open.due_at(), Some(now + PAUSE * 2));
        assert_eq!(open.settles(now + PAUSE * 2), Some((Chosen::Choice(0), String::new())));
    }

    #[test]
    fn question_shows_the_letter_and_what_a_spelled_word_answers() {
        let style = Style { colour: false };
        let (mut open, now) = (open(Instant::now()), Instant::now());
        open.state = Listening::Now;
        open.key(&Key::Char('y'), now);
        assert_eq!(open.look(style, 80, 9).rows[..2], ["› 1 y  Yes", "  2 a  Always"]);
        open.key(&Key::Char('e'), now);
        assert_eq!(open.look(style, 80, 9).rows, ["why › ye", "Enter to send · Esc to go back"]);
        open.key(&Key::Char('s'), now);
        assert_eq!(open.look(style, 80, 9).rows, ["why › yes", "Enter for “Yes” · Esc to go back"]);
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

    /// Two choices to mark, with what they mean, and three that end the question.
    fn marking() -> Open {
        let about = |about: &str, choice: Choice| Choice { about: about.to_owned(), ..choice };
        let choices = vec![
            about("“one of them”", Choice::new('b', "“a”")),
            Choice::new('c', "“c d”"),
            Choice::new('k', "Send"),
            Choice::new('w', "Write"),
            Choice::new('x', "None"),
        ];
        let question = Question { choices, markable: 2, escape: Escape::Skips, ..Question::default() };
        let line = Line { choice: 3, label: "answer › ".to_owned(), help: "Enter".to_owned() };
        let mut open = Open::new(0, question, Some(line), oneshot::channel().0);
        open.state = Listening::Now;
        open
    }

    #[test]
    fn question_choices_are_marked_until_another_one_ends_it() {
        use Key::*;
        let chosen = |at: usize, text: &str| (Chosen::Choice(at), text.to_owned());
        for (keys, answer, marked) in [
            (vec![Char('k')], chosen(2, ""), vec![]),
            (vec![Char('1'), Char('k')], chosen(2, ""), vec![0]),
            (vec![Char('2'), Char('1'), Char('3')], chosen(2, ""), vec![0, 1]),
            (vec![Char('1'), Char('1'), Char('k')], chosen(2, ""), vec![]),
            (vec![Char(' '), Down, Char(' '), Down, Enter], chosen(2, ""), vec![0, 1]),
            (vec![Enter, Down, Down, Enter], chosen(2, ""), vec![0]),
            (vec![Char('c'), Enter], chosen(2, ""), vec![1]),
            (vec![Char('2'), Char('4'), Char('e'), Enter], chosen(3, "e"), vec![1]),
            (vec![Char('1'), Escape], (Chosen::Dismissed, String::new()), vec![0]),
        ] {
            let mut open = marking();
            assert_eq!(pressed(&mut open, &keys), [answer], "{keys:?}");
            assert_eq!(open.marked(), marked, "{keys:?}");
        }
        // One that nothing would end takes no mark for its last choice.
        let choices = vec![Choice::new('b', "a")];
        let mut open =
            Open::new(0, Question { choices, markable: 9, ..Question::default() }, None, oneshot::channel().0);
        assert_eq!(pressed(&mut open, &[Char('1')]), [chosen(0, "")]);
    }

    #[test]
    fn question_enter_behind_a_digit_does_not_end_it() {
        let mut open = marking();
        pressed(&mut open, &[Key::Char('2')]);
        open.skips_enter = true;
        assert_eq!(pressed(&mut open, &[Key::Enter]), []);
        assert_eq!(open.marked(), [1]);
        assert_eq!(pressed(&mut open, &[Key::Enter]), [(Chosen::Choice(2), String::new())]);
        assert_eq!(open.marked(), [1]);
    }

    #[test]
    fn question_choices_show_their_marks_and_what_they_mean() {
        let mut open = marking();
        pressed(&mut open, &[Key::Char('2')]);
        let rows = open.look(Style { colour: false }, 80, 20).rows;
        let expected = [
            "  1 b  [ ] “a”",
            "           “one of them”",
            "› 2 c  [x] “c d”",
            "  3 k  Send",
            "  4 w  Write",
            "  5 x  None",
            "↑↓ and Space, a number or letter to mark · Enter to go on · Esc to skip",
        ];
        assert_eq!(rows, expected);
        let rows = open.look(Style { colour: false }, 40, 20).rows;
        assert_eq!(rows.last().map(String::as_str), Some("↑↓ and Space mark · Enter goes on · Esc"));
        let narrow = open.look(Style { colour: false }, 24, 20).rows;
        assert_eq!(narrow[..3], ["  1 b  [ ] “a”", "           “one of", "           them”"]);
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
