//! The screen: text that stays, and below it a few rows that change.
//!
//! Text that stays is written once and scrolls away as any program's does; the terminal wraps it, so that it can be
//! copied unchanged and follows a new width. The rows below are removed before any text is written, and drawn again
//! after it. Only movements relative to the cursor are used, and the terminal is never queried, so that it looks the
//! same over a slow line, and where nothing answers.
//!
//! The last row of an unfinished line is drawn again too: the next piece of the line continues there.
//!
//! Deliberately not here: writing to the terminal, and the content of the rows.

use std::fmt::Write as _;

use super::Resize;
use super::width::{LastRow, truncate_to_width, width};

/// The rows that change, and the position of the cursor in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) rows: Vec<String>,
    /// Row and column; `None` if the cursor is behind the last row.
    pub(super) cursor: Option<(usize, usize)>,
}

/// Returns the columns and rows to draw for, of what a terminal reports. One that does not report its size, or reports
/// 0, gets the traditional one.
pub(super) fn usable(columns: usize, rows: usize) -> (usize, usize) {
    (if columns == 0 { 80 } else { columns.max(8) }, if rows == 0 { 24 } else { rows.max(2) })
}

/// What the terminal shows now.
#[derive(Debug)]
pub(super) struct Screen {
    columns: usize,
    rows: usize,
    resize: Resize,
    /// The last row of the unfinished line.
    tail: LastRow,
    /// The width of each row that is drawn again, beginning with the tail if there is one.
    drawn: Vec<usize>,
    /// The row and column of the cursor among them.
    cursor: (usize, usize),
    /// The rows that were drawn last, if they would be drawn the same again.
    last: Option<Live>,
}

impl Screen {
    pub(super) fn new(columns: usize, rows: usize, resize: Resize) -> Self {
        let mut screen =
            Self { columns, rows, resize, tail: LastRow::default(), drawn: Vec::new(), cursor: (0, 0), last: None };
        screen.resized(columns, rows);
        screen
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether the last line is unfinished.
    pub(super) fn is_within_line(&self) -> bool {
        self.tail.width > 0
    }

    /// Takes the new size of the terminal. Most terminals have wrapped the rows again by now; the widths in `drawn`
    /// tell how many rows they have become.
    pub(super) fn resized(&mut self, columns: usize, rows: usize) {
        self.last = None;
        (self.columns, self.rows) = usable(columns, rows);
    }

    /// The same if the size, in columns and rows, is another one than before.
    pub(super) fn measured(&mut self, (columns, rows): (usize, usize)) {
        if (self.columns, self.rows) != usable(columns, rows) {
            self.resized(columns, rows);
        }
    }

    /// Writes text that stays and draws the rows below it. The text's lines end with `\n`; an unfinished one continues
    /// with the next text.
    pub(super) fn draw(&mut self, text: &str, live: &Live) -> String {
        // Most frames are the same as the last one, and cost a slow line nothing.
        if text.is_empty() && self.last.as_ref() == Some(live) {
            return String::new();
        }
        self.last = Some(live.clone());
        // Terminals that know this sequence show everything at once; the others ignore it.
        let mut out = "\u{1b}[?2026h".to_owned();
        self.take_away(&mut out);
        // The unfinished line was removed with the rows below it.
        let before = std::mem::take(&mut self.tail.text);
        out.push_str(&before);
        out.push_str(text);
        let line = match text.rsplit_once('\n') {
            Some((_, line)) => line.to_owned(),
            None => before + text,
        };
        self.tail = LastRow::new(&line, self.columns);
        self.drawn.clear();
        if self.is_within_line() {
            // An open colour of the text must not colour the rows below.
            out.push_str("\u{1b}[0m");
            self.drawn.push(self.tail.width);
        }
        let above = self.drawn.len();
        for row in &live.rows {
            if !self.drawn.is_empty() {
                out.push_str("\r\n");
            }
            // A full row would leave the cursor between two rows.
            let row = truncate_to_width(row, self.columns - 1);
            self.drawn.push(width(&row));
            out.push_str(&row);
        }
        let last = self.drawn.len().saturating_sub(1);
        self.cursor = (last, self.drawn.last().copied().unwrap_or(0));
        if let Some((row, column)) = live.cursor {
            let to = ((above + row).min(last), column.min(self.columns - 1));
            // Relative movements only: where the rows are on the screen is not known.
            up(&mut out, last - to.0);
            out.push('\r');
            if to.1 > 0 {
                // Writing to a string cannot fail.
                let _ = write!(out, "\u{1b}[{}C", to.1);
            }
            self.cursor = to;
        }
        out.push_str("\u{1b}[?2026l");
        out
    }

    /// Removes the rows and ends an unfinished line: another program writes next.
    pub(super) fn leave(&mut self) -> String {
        let mut out = String::new();
        self.take_away(&mut out);
        if self.is_within_line() {
            out.push_str(&self.tail.text);
            out.push_str("\u{1b}[0m\r\n");
        }
        self.tail = LastRow::default();
        self.drawn.clear();
        self.cursor = (0, 0);
        self.last = None;
        out
    }

    fn take_away(&self, out: &mut String) {
        if self.drawn.is_empty() {
            return;
        }
        let (row, column) = self.cursor;
        let rows_of = |width: &usize| match self.resize {
            // On a terminal that became narrower, a row has become several.
            Resize::Wraps => width.saturating_sub(1) / self.columns + 1,
            Resize::Cuts => 1,
        };
        let above: usize = self.drawn.iter().take(row).map(rows_of).sum();
        let within = match self.resize {
            Resize::Wraps => column.saturating_sub(1) / self.columns,
            Resize::Cuts => 0,
        };
        up(out, above + within);
        // tmux keeps what is erased from the first row of the screen on in its scrollback, so that a copy of these rows
        // would be kept with every key. So their first row is erased by itself, and the rest from the second on.
        out.push_str("\r\u{1b}[K");
        if self.drawn.iter().map(rows_of).sum::<usize>() > 1 {
            out.push_str("\u{1b}7\u{1b}[B\u{1b}[J\u{1b}8");
        }
    }
}

fn up(out: &mut String, rows: usize) {
    if rows > 0 {
        // Writing to a string cannot fail.
        let _ = write!(out, "\u{1b}[{rows}A");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(rows: &[&str]) -> Live {
        Live { rows: rows.iter().map(|row| (*row).to_owned()).collect(), cursor: None }
    }

    /// Returns what a terminal of this size shows after all steps, including what has scrolled away.
    fn shown(columns: u16, steps: &[(&str, &[&str])]) -> String {
        let size = |number| std::num::NonZero::new(number).expect("it has a size");
        let mut terminal = vt100::Parser::new(size(6), size(columns), 1000);
        let mut screen = Screen::new(columns.into(), 6, Resize::Wraps);
        for (text, rows) in steps {
            terminal.process(screen.draw(text, &live(rows)).replace("\r\n", "\n").replace('\n', "\r\n").as_bytes());
        }
        let mut lines = Vec::new();
        terminal.screen_mut().set_scrollback(usize::MAX);
        let scrolled = terminal.screen().scrollback();
        for offset in (0..=scrolled).rev() {
            terminal.screen_mut().set_scrollback(offset);
            let rows = terminal.screen().rows(0, columns);
            lines.extend(if offset == 0 { rows.collect::<Vec<_>>() } else { rows.take(1).collect() });
        }
        lines.join("\n").trim_end().to_owned()
    }

    #[test]
    fn rows_below_change_and_text_above_them_stays() {
        let steps: &[(&str, &[&str])] = &[
            ("one\n", &["spin", "prompt"]),
            ("", &["other"]),
            ("two\nthr", &["a", "b", "c"]),
            ("ee", &["a"]),
            ("\nfour\n", &["end"]),
        ];
        assert_eq!(shown(20, steps), "one\ntwo\nthree\nfour\nend");
    }

    #[test]
    fn a_long_line_in_pieces_is_wrapped_where_the_terminal_wraps_it() {
        for columns in [8, 9, 10, 11] {
            let text = "the quick brown 日本語 fox jumps over the lazy dog";
            let mut steps: Vec<(&str, &[&str])> =
                text.split_inclusive(' ').map(|word| (word, &["spin", "› "][..])).collect();
            steps.push(("\n", &[]));
            assert_eq!(shown(columns, &steps), shown(columns, &[(&format!("{text}\n"), &[])]), "{columns}");
        }
    }

    #[test]
    fn screen_lines_that_scroll_away_are_complete() {
        let lines: Vec<String> = (0..30).map(|n| format!("line {n}\n")).collect();
        let steps: Vec<(&str, &[&str])> = lines.iter().map(|line| (line.as_str(), &["spin", "prompt"][..])).collect();
        assert_eq!(shown(20, &steps), lines.concat() + "spin\nprompt");
    }

    #[test]
    fn after_a_resize_what_was_wrapped_is_taken_away() {
        // Where the long row has become two, the cursor was on the third.
        for (resize, above) in [(Resize::Wraps, 2), (Resize::Cuts, 1)] {
            let mut screen = Screen::new(40, 10, resize);
            let first = screen.draw("stays\n", &live(&["a row of thirty characters, all", "prompt"]));
            screen.resized(16, 10);
            let then = screen.draw("", &live(&["prompt"]));
            let erased = format!("\u{1b}[{above}A\r\u{1b}[K\u{1b}7\u{1b}[B\u{1b}[J\u{1b}8");
            assert!(then.contains(&erased), "{resize:?} {first:?} {then:?}");
        }
    }

    // tmux keeps what it erases from the first row on.
    #[test]
    fn screen_never_erases_everything_so_that_no_copy_stays_in_a_scrollback() {
        for rows in [&["prompt"][..], &["spin", "prompt"], &["a", "b", "c", "d"]] {
            let mut screen = Screen::new(20, 6, Resize::Wraps);
            let mut terminal = vt100::Parser::default();
            let begin = screen.draw("", &live(rows));
            terminal.process(begin.as_bytes());
            for step in 0..3 {
                let out = screen.draw("", &live(&[rows, &["more"][..step % 2]].concat()));
                let mut rest = out.as_str();
                while let Some(at) = rest.find("\u{1b}[J") {
                    terminal.process(&rest.as_bytes()[..at]);
                    assert_ne!(terminal.screen().cursor_position().0, 0, "{out:?}");
                    terminal.process(b"\x1b[J");
                    rest = &rest[at + 3..];
                }
                terminal.process(rest.as_bytes());
                let seen: Vec<String> = terminal.screen().rows(0, 20).collect();
                assert_eq!(seen.concat(), [rows, &["more"][..step % 2]].concat().concat());
            }
        }
    }

    #[test]
    fn screen_that_was_measured_cuts_rows_before_the_signal_comes() {
        let mut screen = Screen::new(80, 24, Resize::Cuts);
        let row = "a status row of forty characters and more";
        assert!(screen.draw("", &live(&[row])).contains(row));
        screen.measured((80, 24));
        assert_eq!(screen.draw("", &live(&[row])), "", "nothing is new");
        screen.measured((20, 24));
        let out = screen.draw("", &live(&[row]));
        assert!(out.contains("a status row of") && !out.contains("forty"), "{out:?}");
    }

    #[test]
    fn screen_of_unknown_size_has_the_usual_one() {
        let screen = Screen::new(0, 0, Resize::Wraps);
        assert_eq!((screen.columns(), screen.rows()), (80, 24));
    }
}
