//! A list of which one entry is selected: completions, and earlier prompts.
//!
//! Deliberately not here: what the entries mean, and what a key does to them.

use host_text::visible_line;

use super::style::Style;
use super::width::{truncate_to_width, width};

/// The most rows of a list. It is below the text that is being written, which must stay visible.
pub(super) const MENU_ROWS: usize = 8;

/// An entry of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// What it inserts.
    pub text: String,
    /// What is shown of it; `None` shows the text.
    pub label: Option<String>,
    /// A description of a few words; empty if there is none.
    pub words: String,
    /// Whether Enter on it also sends the line: it is all that the line needs.
    pub sends: bool,
}

impl Candidate {
    /// Creates an entry that inserts this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    fn shown(&self) -> String {
        visible_line(self.label.as_deref().unwrap_or(&self.text).trim_end()).into_owned()
    }
}

/// A list that is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Menu {
    /// The text before the cursor that it completes.
    pub(super) made_for: String,
    /// How many bytes before the cursor an entry replaces.
    pub(super) replaced: usize,
    pub(super) candidates: Vec<Candidate>,
    selected: usize,
    /// Whether the user moved in it.
    pub(super) was_moved: bool,
    /// Whether it continues what was inserted: the user has not typed for it.
    pub(super) continues: bool,
}

impl Menu {
    /// Opens a list; `None` without entries.
    pub(super) fn new(made_for: &str, replaced: usize, candidates: Vec<Candidate>) -> Option<Self> {
        let made_for = made_for.to_owned();
        (!candidates.is_empty()).then_some(Self { made_for, replaced, candidates, ..Self::default() })
    }

    /// Returns the part of this text before the cursor that an entry replaces; `None` if the list is of another text.
    pub(super) fn written_now<'a>(&self, before: &'a str) -> Option<&'a str> {
        let begin = self.made_for.len().saturating_sub(self.replaced);
        self.made_for.get(..begin).filter(|place| before.starts_with(place)).and_then(|_| before.get(begin..))
    }

    pub(super) fn selected(&self) -> Option<&Candidate> {
        self.candidates.get(self.selected)
    }

    /// Selects the next entry or the one before, around the ends.
    pub(super) fn moves(&mut self, down: bool) {
        let count = self.candidates.len().max(1);
        self.selected = (self.selected + if down { 1 } else { count - 1 }) % count;
        self.was_moved = true;
    }

    /// Selects this entry again in a newer list, if it is in it.
    pub(super) fn select_again(&mut self, before: &Self) {
        if before.was_moved
            && let Some(selected) = before.selected()
            && let Some(at) = self.candidates.iter().position(|candidate| candidate.text == selected.text)
        {
            self.selected = at;
            self.was_moved = true;
        }
    }

    /// Draws the entries around the selected one, in at most so many rows.
    pub(super) fn look(&self, style: Style, columns: usize, max_rows: usize) -> Vec<String> {
        let count = self.candidates.len();
        let max_rows = max_rows.clamp(1, MENU_ROWS);
        // The last row says that there are more.
        let shown = if count > max_rows { max_rows.saturating_sub(1).max(1) } else { count };
        let first = (self.selected + 1).saturating_sub(shown);
        let visible = || self.candidates.iter().enumerate().skip(first).take(shown);
        // Long names must leave room for the words behind them.
        let labels = visible().map(|(_, candidate)| width(&candidate.shown())).max().unwrap_or(0).min(columns / 2);
        let mut rows: Vec<String> = visible()
            .map(|(at, candidate)| {
                let is_selected = at == self.selected;
                let mark = if is_selected { "›" } else { " " };
                let label = candidate.shown();
                let (label, room) = match candidate.words.is_empty() {
                    true => (label, columns.saturating_sub(3)),
                    false => (label, labels),
                };
                let label = truncate_to_width(&label, room);
                let gap = " ".repeat(labels.saturating_sub(width(&label)));
                let begin = format!("{mark} {label}");
                let begin = if is_selected { style.bold(&begin) } else { begin };
                match candidate.words.is_empty() {
                    true => begin,
                    false => format!("{begin}{gap}  {}", style.dim(&visible_line(&candidate.words))),
                }
            })
            .collect();
        if count > shown && max_rows > 1 {
            rows.push(style.dim(&format!("  {}/{count}", self.selected + 1)));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu(count: usize) -> Menu {
        let candidate = |n: usize| Candidate { words: format!("words {n}"), ..Candidate::new(format!("/c{n} ")) };
        Menu::new("", 0, (0..count).map(candidate).collect()).expect("it has entries")
    }

    #[test]
    fn menu_shows_the_selected_entry_at_any_height() {
        let style = Style { colour: false };
        assert!(Menu::new("", 0, Vec::new()).is_none());
        let mut few = menu(2);
        assert_eq!(few.look(style, 80, 8), ["› /c0  words 0", "  /c1  words 1"]);
        few.moves(false);
        assert_eq!(few.look(style, 80, 8), ["  /c0  words 0", "› /c1  words 1"]);
        let mut many = menu(20);
        assert_eq!(many.look(style, 80, 8).last().map(String::as_str), Some("  1/20"));
        (0..19).for_each(|_| many.moves(true));
        for rows in 1..10 {
            let look = many.look(style, 80, rows);
            assert!(look.iter().any(|row| row.starts_with("› /c19")), "{look:?}");
            assert!(look.len() <= rows.min(MENU_ROWS), "{look:?}");
        }
        many.moves(true);
        assert_eq!(many.look(style, 80, 8)[0], "› /c0  words 0");
    }

    #[test]
    fn menu_selects_the_same_entry_in_a_newer_list() {
        let (mut before, mut after) = (menu(3), menu(9));
        after.select_again(&before);
        assert!(!after.was_moved);
        before.moves(true);
        after.select_again(&before);
        assert_eq!(after.selected().map(|one| one.text.as_str()), Some("/c1 "));
    }

    #[test]
    fn terminal_menu_shows_no_control_character_of_a_name() {
        let bad = Candidate { words: "\u{9b}2J".into(), ..Candidate::new("a\u{1b}[2J\u{202e}b") };
        let rows = Menu::new("", 0, vec![bad]).expect("one").look(Style { colour: false }, 80, 8);
        assert!(!rows.concat().chars().any(host_text::is_unsafe), "{rows:?}");
    }
}
