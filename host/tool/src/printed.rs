//! What a call printed while it ran: its last lines, and how many there were.
//!
//! Unlike live output, which may be lost, this is complete: it is taken where a call hands its output over. Promises:
//! bounded memory, whatever is printed; a line that was written over (a progress bar) counts once, as it was last.
//!
//! Deliberately not here: escaping, which whoever shows the lines does, and the whole output, which is part of the
//! call's response.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// How many last lines are kept: more than any frontend leaves on a screen. Protects memory and the session log.
const KEPT_LINES: usize = 20;

/// The longest line, in characters; the rest of it is dropped. Protects memory.
const LINE_CHARACTERS: usize = 400;

/// The longest sequence that sets a colour, in bytes. Protects memory from one that never ends.
const MAX_SEQUENCE: usize = 32;

/// The last lines that a call printed. Blank lines are left out, and do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// The last lines, oldest first. They may hold control characters, other than those that set colours.
    pub tail: Vec<String>,
    /// How many lines there were in all.
    pub lines: u64,
}

impl Printed {
    /// Whether nothing was printed.
    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }
}

/// Collects what a call prints, in pieces of any length.
#[derive(Debug, Default)]
pub(crate) struct Printing {
    tail: VecDeque<String>,
    lines: u64,
    line: String,
    characters: usize,
    /// Whether a carriage return came: the next character begins the line anew.
    returned: bool,
    /// The beginning of a control sequence.
    sequence: String,
}

impl Printing {
    /// Takes a piece.
    pub(crate) fn push(&mut self, piece: &str) {
        piece.chars().for_each(|c| self.character(c));
    }

    /// Returns what was printed until now, an unfinished last line included.
    pub(crate) fn printed(&self) -> Printed {
        let mut tail: Vec<String> = self.tail.iter().cloned().collect();
        let mut lines = self.lines;
        if !self.line.trim().is_empty() {
            lines = lines.saturating_add(1);
            tail.push(self.line.trim_end().to_owned());
            tail.drain(..tail.len().saturating_sub(KEPT_LINES));
        }
        Printed { tail, lines }
    }

    fn character(&mut self, c: char) {
        if !self.sequence.is_empty() {
            self.sequence.push(c);
            let begins = self.sequence.len() == 2 && c == '[';
            let goes_on = self.sequence.len() > 2 && matches!(c, '0'..='9' | ';' | ':');
            if (begins || goes_on) && self.sequence.len() < MAX_SEQUENCE {
                return;
            }
            let sequence = std::mem::take(&mut self.sequence);
            // A colour is dropped; anything else stays, to be seen.
            if !(sequence.len() > 2 && c == 'm') {
                sequence.chars().for_each(|c| self.put(c));
            }
            return;
        }
        match c {
            '\u{1b}' => self.sequence.push(c),
            '\n' => self.end_line(),
            '\r' => self.returned = true,
            c => self.put(c),
        }
    }

    fn put(&mut self, c: char) {
        if c == '\n' {
            return self.end_line();
        }
        if std::mem::take(&mut self.returned) {
            self.line.clear();
            self.characters = 0;
        }
        if self.characters < LINE_CHARACTERS {
            self.line.push(c);
            self.characters += 1;
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        (self.characters, self.returned) = (0, false);
        if line.trim().is_empty() {
            return;
        }
        self.lines = self.lines.saturating_add(1);
        if self.tail.len() == KEPT_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(line.trim_end().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], lines: u64, tail: &[&str]) {
        let mut printing = Printing::default();
        pieces.iter().for_each(|piece| printing.push(piece));
        let printed = printing.printed();
        assert_eq!((printed.lines, printed.tail), (lines, tail.iter().map(|line| (*line).to_owned()).collect()));
    }

    #[test]
    fn printed_lines_are_the_last_ones() {
        check(&[], 0, &[]);
        check(&["\n \n\t\n"], 0, &[]);
        check(&["a\nb"], 2, &["a", "b"]);
        check(&["a", "b\n", "\n", "c  \n"], 2, &["ab", "c"]);
        let many: String = (1..=25).map(|line| format!("line {line}\n")).collect();
        let last: Vec<String> = (6..=25).map(|line| format!("line {line}")).collect();
        check(&[&many], 25, &last.iter().map(String::as_str).collect::<Vec<_>>());
        let mut printing = Printing::default();
        printing.push(&many);
        printing.push("x");
        let printed = printing.printed();
        assert_eq!((printed.tail.len(), printed.lines, printed.tail.last().map(String::as_str)), (20, 26, Some("x")));
    }

    #[test]
    fn printed_line_that_was_written_over_counts_once() {
        check(&["10 %\r50 %\r", "100 %\n"], 1, &["100 %"]);
        check(&["a\r\nb\r\n"], 2, &["a", "b"]);
        check(&["50 %\r"], 1, &["50 %"]);
    }

    #[test]
    fn printed_colours_are_dropped_and_other_sequences_stay() {
        check(&["\u{1b}[1;31mred\u{1b}[0m\n"], 1, &["red"]);
        check(&["\u{1b}[3", "8:5:1", "mred"], 1, &["red"]);
        check(&["a\u{1b}[2Jb"], 1, &["a\u{1b}[2Jb"]);
        check(&["a\u{1b}]0;title\u{7}b"], 1, &["a\u{1b}]0;title\u{7}b"]);
        check(&["\u{1b}\n", "x"], 2, &["\u{1b}", "x"]);
        check(&[&format!("\u{1b}[{}m", "1".repeat(100))], 1, &[&format!("\u{1b}[{}m", "1".repeat(100))]);
    }

    #[test]
    fn printed_text_without_end_is_bounded() {
        let mut printing = Printing::default();
        for _ in 0..200 {
            printing.push(&"ä".repeat(10_000));
            printing.push("\u{1b}[");
        }
        assert!(printing.line.chars().count() <= LINE_CHARACTERS && printing.sequence.len() <= MAX_SEQUENCE);
        assert_eq!(printing.printed().lines, 1);
    }
}
