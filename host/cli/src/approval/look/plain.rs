//! What questions that are not about a call add to a page: a title and sentences of ours, at any width.

use anstyle::AnsiColor;
use host_terminal::{broken_at_word, wrapped};

use super::{NARROWEST, Page};
use crate::printer::Style;

/// The indent of everything below the title.
const INDENT: &str = "  ";

impl Page {
    /// Creates an empty page for a terminal of this width.
    pub(crate) fn new(style: Style, columns: usize) -> Self {
        Self { lines: vec![String::new()], style, columns: columns.saturating_sub(4).max(NARROWEST) }
    }

    /// Adds the title, in as many rows as it needs.
    pub(crate) fn title(&mut self, title: &str) {
        let mark = self.style.paint("?", AnsiColor::Yellow);
        for (row, text) in wrapped(title, self.columns, 0).lines().enumerate() {
            let mark = if row == 0 { mark.as_str() } else { " " };
            self.lines.push(format!("{mark} {}", self.style.bold(text)));
        }
    }

    /// Adds sentences, whose rows are all indented, so that no part of them begins where a choice does.
    pub(crate) fn sentence(&mut self, sentence: &str) {
        self.rows(sentence, 0);
    }

    /// Adds an entry of a list: its further rows are indented more.
    pub(crate) fn item(&mut self, item: &str) {
        self.rows(item, INDENT.len());
    }

    fn rows(&mut self, text: &str, hanging: usize) {
        for row in wrapped(text, self.columns, hanging).lines() {
            let mut rest = row;
            loop {
                // A word that fits no row is broken here: the terminal would continue it at the edge.
                let (end, next) = broken_at_word(rest, self.columns);
                self.lines.push(format!("{INDENT}{}", &rest[..end]));
                rest = &rest[next..];
                if rest.is_empty() {
                    break;
                }
            }
        }
    }

    /// Adds an empty line.
    pub(crate) fn gap(&mut self) {
        self.lines.push(String::new());
    }

    /// Adds a path behind the bar, as it is.
    pub(crate) fn path(&mut self, path: &str) {
        self.text(path, 1);
    }

    /// The lines of the question.
    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines
    }
}
