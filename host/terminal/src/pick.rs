//! A list to pick from, with a search: each word that is typed must be in an entry.
//!
//! It is asked like a question and answered like one: with the position of the entry. Deliberately not here: what is
//! listed, and what picking it means.

use super::Chosen;
use super::editor::{Edited, Editor};
use super::keys::Key;
use super::screen::Live;
use super::width::truncate_to_width;
use super::wrap::wrap;
use crate::Style;

/// The label before the text that is searched for.
const LABEL: &str = "search › ";

/// The label before a new title.
const TITLE: &str = "title › ";

/// Rows of an entry: its title, and its details below.
const ENTRY_ROWS: usize = 2;

/// A list of which the user picks one entry.
///
/// Its texts are shown unchanged: text from outside must have gone through [`host_text::visible_line`].
#[derive(Clone, Debug, Default)]
pub struct Pick {
    /// The lines above the list, which stay on the terminal.
    pub lines: Vec<String>,
    /// The entries, the first one selected: at least one.
    pub entries: Vec<PickEntry>,
    /// How many of them, from the first, the user can rename.
    pub renamed: usize,
}

/// One entry of a list: one line each, of any length.
#[derive(Clone, Debug)]
pub struct PickEntry {
    /// What it is recognised by.
    pub title: String,
    /// What else is known of it.
    pub details: String,
    /// What Ctrl-O shows of it, a row each; empty if there is nothing more to see.
    pub preview: Vec<String>,
}

/// The search in a list, and what it found.
#[derive(Debug)]
pub(super) struct Search {
    entries: Vec<PickEntry>,
    text: Editor,
    /// The entries that fit, by their positions.
    found: Vec<usize>,
    /// The selected one among those.
    selected: usize,
    /// Whether the selected one is shown alone, with its preview.
    previews: bool,
    /// How many entries can be renamed.
    renamed: usize,
    /// The new title of the selected one, which is being typed.
    title: Option<Editor>,
}

impl Search {
    pub(super) fn new(entries: Vec<PickEntry>, renamed: usize) -> Self {
        let found = (0..entries.len()).collect();
        Self { entries, text: Editor::default(), found, selected: 0, previews: false, renamed, title: None }
    }

    /// Returns the answer that a key gives, with the new title if the entry is renamed.
    pub(super) fn key(&mut self, key: &Key) -> Option<(Chosen, String)> {
        match &mut self.title {
            Some(_) => self.key_of_title(key),
            None => self.key_of_list(key).map(|chosen| (chosen, String::new())),
        }
    }

    /// Handles a key while a title is typed. A blank one renames nothing.
    fn key_of_title(&mut self, key: &Key) -> Option<(Chosen, String)> {
        let title = self.title.as_mut()?;
        match key {
            Key::Enter => {
                let text = title.text().trim().to_owned();
                self.title = None;
                let entry = self.found.get(self.selected).filter(|_| !text.is_empty())?;
                return Some((Chosen::Choice(*entry), text));
            }
            Key::Escape => self.title = None,
            Key::NewLine => {}
            Key::Paste(text) => drop(title.key(&Key::Paste(text.replace('\n', " ")))),
            key => drop(title.key(key)),
        }
        None
    }

    fn key_of_list(&mut self, key: &Key) -> Option<Chosen> {
        let last = self.found.len().saturating_sub(1);
        match key {
            Key::Enter => return self.found.get(self.selected).map(|entry| Chosen::Choice(*entry)),
            Key::Escape => return Some(Chosen::Dismissed),
            Key::Up | Key::BackTab => self.selected = self.selected.checked_sub(1).unwrap_or(last),
            Key::Down | Key::Tab => self.selected = if self.selected >= last { 0 } else { self.selected + 1 },
            Key::Expand => self.previews = !self.previews && self.can_preview(),
            Key::Search => self.begin_title(),
            // A line break has no meaning here.
            Key::NewLine => {}
            Key::Paste(text) => self.edited(&Key::Paste(text.replace('\n', " "))),
            key => self.edited(key),
        }
        None
    }

    fn begin_title(&mut self) {
        let Some(at) = self.found.get(self.selected).copied().filter(|at| *at < self.renamed) else { return };
        let mut title = Editor::default();
        title.set(self.entries.get(at).map(|entry| entry.title.clone()).unwrap_or_default());
        self.title = Some(title);
    }

    fn can_preview(&self) -> bool {
        self.entries.iter().any(|entry| !entry.preview.is_empty())
    }

    fn edited(&mut self, key: &Key) {
        let before = self.text.text().to_owned();
        if self.text.key(key) == Edited::Yes && self.text.text() != before {
            let wanted = self.text.text().to_lowercase();
            let words: Vec<&str> = wanted.split_whitespace().collect();
            let fits = |entry: &PickEntry| {
                let text = format!("{} {}", entry.title, entry.details).to_lowercase();
                words.iter().all(|word| text.contains(word))
            };
            let found = self.entries.iter().enumerate().filter(|(_, entry)| fits(entry));
            self.found = found.map(|(at, _)| at).collect();
            self.selected = 0;
        }
    }

    /// Draws the search and, below it, as many entries around the selected one as fit.
    pub(super) fn look(&self, listens: bool, style: Style, columns: usize, max_rows: usize) -> Live {
        if let Some(title) = &self.title {
            let Live { mut rows, cursor } = title.look(&style.dim(TITLE), columns, 1);
            rows.push(style.dim(&truncate_to_width("Enter to rename · Esc for the list", columns.saturating_sub(1))));
            return Live { rows, cursor: cursor.filter(|_| listens) };
        }
        let search = self.text.look(&style.dim(LABEL), columns, 1);
        let cursor = search.cursor.filter(|_| listens);
        let mut rows = search.rows;
        if self.previews
            && let Some(entry) = self.found.get(self.selected).and_then(|at| self.entries.get(*at))
        {
            let width = columns.saturating_sub(1);
            rows.push(style.bold(&truncate_to_width(&format!("› {}", entry.title), width)));
            rows.push(style.dim(&truncate_to_width(&format!("    {}", entry.details), width)));
            let wrapped = entry.preview.iter().flat_map(|line| wrap(line, width.saturating_sub(4).max(1)));
            let room = max_rows.saturating_sub(rows.len() + 1);
            rows.extend(wrapped.take(room).map(|row| format!("    {row}").trim_end().to_owned()));
            let keys = "Ctrl-O for the list · ↑↓ and Enter · Esc to cancel";
            rows.push(style.dim(&truncate_to_width(keys, width)));
            return Live { rows, cursor };
        }
        let most = (max_rows.saturating_sub(rows.len() + 1) / ENTRY_ROWS).max(1);
        let first = self.selected.saturating_sub(most / 2).min(self.found.len().saturating_sub(most));
        let width = columns.saturating_sub(1);
        let shown = self.found.iter().enumerate().skip(first).take(most);
        for (number, entry) in shown.filter_map(|(number, at)| Some((number, self.entries.get(*at)?))) {
            let is_selected = listens && number == self.selected;
            let title = truncate_to_width(&format!("{} {}", if is_selected { "›" } else { " " }, entry.title), width);
            rows.push(if is_selected { style.bold(&title) } else { title });
            rows.push(style.dim(&truncate_to_width(&format!("    {}", entry.details), width)));
        }
        let all = self.entries.len();
        let count = match self.found.len() {
            0 => "nothing fits".to_owned(),
            found if found == all => all.to_string(),
            found => format!("{found} of {all}"),
        };
        let keys = match (listens, self.can_preview(), self.renamed > 0) {
            (true, true, true) => " · type to search · ↑↓ and Enter · Ctrl-O preview · Ctrl-R rename · Esc cancel",
            (true, true, false) => " · type to search · ↑↓ and Enter · Ctrl-O to preview · Esc to cancel",
            (true, false, _) => " · type to search · ↑↓ and Enter · Esc to cancel",
            (false, ..) => "…",
        };
        rows.push(style.dim(&truncate_to_width(&format!("{count}{keys}"), width)));
        Live { rows, cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { colour: false };

    fn search() -> Search {
        let entry = |(title, details): (&str, &str)| PickEntry {
            title: title.into(),
            details: details.into(),
            preview: Vec::new(),
        };
        Search::new(
            [("Fix the tests", "2 h · 3 turns"), ("Explain tests", "1 d"), ("日本 Rocket", "3 d")].map(entry).to_vec(),
            2,
        )
    }

    fn chosen(at: usize) -> (Chosen, String) {
        (Chosen::Choice(at), String::new())
    }

    #[test]
    fn pick_renames_the_selected_entry_where_that_is_possible() {
        let mut search = search();
        for (down, title, renamed) in [(0, "First", Some(0)), (1, " Second ", Some(1)), (0, " ", None)] {
            (0..down).for_each(|_| assert_eq!(search.key(&Key::Down), None));
            assert_eq!(search.key(&Key::Search), None);
            assert!(search.look(true, PLAIN, 80, 20).rows[0].starts_with("title › "), "it begins with the present one");
            search.title.as_mut().expect("it is typed").clear();
            typed(&mut search, title);
            assert_eq!(search.key(&Key::Enter), renamed.map(|at| (Chosen::Choice(at), title.trim().to_owned())));
        }
        assert_eq!((search.key(&Key::Search), search.key(&Key::Escape)), (None, None), "back to the list");
        assert_eq!((search.key(&Key::Down), search.key(&Key::Search)), (None, None));
        assert_eq!(search.key(&Key::Enter), Some(chosen(2)), "that one cannot be renamed");
    }

    fn typed(search: &mut Search, text: &str) {
        text.chars().for_each(|c| assert_eq!(search.key(&Key::Char(c)), None));
    }

    #[test]
    fn pick_finds_entries_with_every_word_in_any_order() {
        for (text, picked) in [
            ("", Some(0)),
            ("tests", Some(0)),
            ("TESTS expl", Some(1)),
            ("3 d", Some(2)),
            ("turns fix", Some(0)),
            ("日", Some(2)),
            ("nothing such", None),
        ] {
            let mut search = search();
            typed(&mut search, text);
            assert_eq!(search.key(&Key::Enter), picked.map(chosen), "{text}");
        }
    }

    #[test]
    fn pick_arrows_move_within_what_was_found() {
        let mut search = search();
        for (key, picked) in [(Key::Down, 1), (Key::Down, 2), (Key::Down, 0), (Key::Up, 2), (Key::BackTab, 1)] {
            assert_eq!(search.key(&key), None);
            assert_eq!(search.key(&Key::Enter), Some(chosen(picked)), "{key:?}");
        }
        typed(&mut search, "tests");
        assert_eq!(search.key(&Key::Up), None);
        assert_eq!(search.key(&Key::Enter), Some(chosen(1)));
        assert_eq!(search.key(&Key::Escape), Some((Chosen::Dismissed, String::new())));
        let mut none = Search::new(Vec::new(), 0);
        assert_eq!((none.key(&Key::Down), none.key(&Key::Up), none.key(&Key::Enter)), (None, None, None));
    }

    #[test]
    fn pick_shows_more_of_the_selected_entry_on_request() {
        let mut search = search();
        assert_eq!(search.key(&Key::Expand), None);
        assert!(search.look(true, PLAIN, 80, 20).rows.len() > 5, "there is nothing more to see");
        search.entries[1].preview = vec!["What do they test?".to_owned(), String::new(), "word ".repeat(9)];
        search.key(&Key::Down);
        search.key(&Key::Expand);
        let rows = search.look(true, PLAIN, 40, 20).rows;
        let expected = [
            "› Explain tests",
            "    1 d",
            "    What do they test?",
            "",
            "    word word word word word word word",
            "    word word",
        ];
        assert_eq!(rows[1..7], expected);
        assert_eq!(search.key(&Key::Enter), Some(chosen(1)));
        assert!(search.look(true, PLAIN, 40, 5).rows.len() <= 5);
        search.key(&Key::Expand);
        assert!(search.look(true, PLAIN, 90, 20).rows.last().is_some_and(|row| row.contains("Ctrl-O preview")));
    }

    #[test]
    fn pick_shows_the_selected_entry_in_any_size() {
        for (columns, rows) in [(80, 20), (40, 8), (12, 4), (8, 1)] {
            let mut search = search();
            for _ in 0..5 {
                let live = search.look(true, PLAIN, columns, rows);
                assert!(live.rows.len() <= rows.max(4), "{live:?}");
                assert!(live.rows.iter().any(|row| row.starts_with('›')), "{live:?}");
                assert!(live.rows.iter().all(|row| super::super::width(row) < columns.max(12)), "{live:?}");
                search.key(&Key::Down);
            }
        }
        let rows = search().look(false, PLAIN, 40, 20).rows;
        assert_eq!(rows[1..3], ["  Fix the tests", "    2 h · 3 turns"], "nothing is selected before it listens");
        assert_eq!(rows.last().map(String::as_str), Some("3…"));
    }
}
