//! Searching the earlier prompts (Ctrl-R): what was typed, and the prompts that have all of its words.
//!
//! Deliberately not here: keeping the prompts (`history`).

use super::menu::{Candidate, Menu};

/// The most matches that are listed. Protects the time that a key takes.
const MAX_MATCHES: usize = 200;

/// The longest query, in bytes, for the same reason.
const MAX_QUERY: usize = 200;

/// A search under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    pub(super) query: String,
    /// The prompts, the latest first; `None` if none matches.
    pub(super) menu: Option<Menu>,
}

impl Search {
    /// Begins a search with a text.
    pub(super) fn new<'a>(query: &str, entries: impl DoubleEndedIterator<Item = &'a str>) -> Self {
        let mut search = Self::default();
        search.push(query);
        search.find(entries);
        search
    }

    pub(super) fn push(&mut self, text: &str) {
        let room = MAX_QUERY.saturating_sub(self.query.len());
        let end = text.floor_char_boundary(room.min(text.len()));
        self.query.extend(text[..end].chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { c }));
    }

    /// Looks for the prompts again. Letters match without regard to case, unless the query has a capital.
    pub(super) fn find<'a>(&mut self, entries: impl DoubleEndedIterator<Item = &'a str>) {
        let is_exact = self.query.chars().any(char::is_uppercase);
        let words: Vec<&str> = self.query.split_whitespace().collect();
        let mut found: Vec<&str> = Vec::new();
        for entry in entries.rev() {
            let folded = if is_exact { None } else { Some(entry.to_lowercase()) };
            let text = folded.as_deref().unwrap_or(entry);
            if words.iter().all(|word| text.contains(word)) && !found.contains(&entry) {
                found.push(entry);
                if found.len() == MAX_MATCHES {
                    break;
                }
            }
        }
        let candidate = |entry: &str| {
            let more = entry.lines().count().saturating_sub(1);
            let first = entry.lines().next().unwrap_or_default();
            let label = if more > 0 { format!("{first} … (+{more})") } else { first.to_owned() };
            Candidate { label: Some(label), ..Candidate::new(entry) }
        };
        self.menu = Menu::new("", 0, found.into_iter().map(candidate).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str) -> Vec<String> {
        let entries = ["fix the Parser", "run tests", "fix tests\nand more", "run tests"];
        let search = Search::new(query, entries.into_iter());
        search.menu.map(|menu| menu.candidates.into_iter().map(|one| one.text).collect()).unwrap_or_default()
    }

    #[test]
    fn search_finds_prompts_with_all_words_the_latest_first_and_each_once() {
        for (query, expected) in [
            ("", &["run tests", "fix tests\nand more", "fix the Parser"][..]),
            ("tests", &["run tests", "fix tests\nand more"]),
            ("tests fix", &["fix tests\nand more"]),
            ("parser", &["fix the Parser"]),
            ("Parser", &["fix the Parser"]),
            ("PARSER", &[]),
            ("nothing", &[]),
        ] {
            assert_eq!(found(query), expected, "{query}");
        }
    }

    #[test]
    fn search_query_is_one_short_line() {
        let mut search = Search::default();
        search.push("a\nb");
        assert_eq!(search.query, "a b");
        search.push(&"ä".repeat(MAX_QUERY));
        assert!(search.query.len() <= MAX_QUERY && search.query.len() > MAX_QUERY - 4);
    }
}
