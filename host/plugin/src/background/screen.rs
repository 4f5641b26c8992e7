//! What the terminal of a program shows.
//!
//! Promises: the text has no control character of the program's; what scrolled away is kept up to a limit, and what is
//! lost is counted; whatever is printed, the terminal does no more than show it, and answer where its cursor is and
//! what kind of terminal it is.
//!
//! Deliberately not here: the terminal itself, which the system has (`host-process`), and colours.

use std::collections::VecDeque;
use std::io::Write as _;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};

use host_process::TerminalSize;
use vt100::capture::{BasicFormattedCaptureState, RowContents, basic_formatted_to_plain};
use vt100::{Callbacks, Parser};

/// How much of what scrolled away is kept until somebody looks, in bytes: the last of it. Protects memory.
const MAX_SCROLLED: usize = 256 << 10;
/// The most bytes of answers to one piece of output. Protects memory from a program that only asks.
const MAX_ANSWERS: usize = 4 << 10;
/// The sizes of a terminal. Protects memory, and the model's context from screens that nobody needs.
const COLUMNS: std::ops::RangeInclusive<u16> = 20..=300;
/// See [`COLUMNS`].
const ROWS: std::ops::RangeInclusive<u16> = 5..=100;

/// A screen.
pub(super) struct Screen {
    parser: Parser<Beyond>,
    size: TerminalSize,
}

/// What a screen shows, and what scrolled away since it was looked at last.
#[derive(Debug)]
pub(super) struct View {
    pub(super) text: String,
    pub(super) cursor: Option<(u16, u16)>,
    pub(super) size: TerminalSize,
    pub(super) scrolled: String,
    pub(super) dropped: u64,
}

/// What is beyond the screen.
#[derive(Default)]
struct Beyond {
    scrolled: VecDeque<u8>,
    dropped: u64,
    capture: BasicFormattedCaptureState,
    /// What the terminal answers to the program.
    answers: Vec<u8>,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}

/// Returns the size of a terminal that a guest asks for.
///
/// # Errors
///
/// If it is too small or too large; says the limits.
pub(crate) fn size(columns: u16, rows: u16) -> Result<TerminalSize, String> {
    if COLUMNS.contains(&columns) && ROWS.contains(&rows) {
        return Ok(TerminalSize { columns, rows });
    }
    let (columns_of, rows_of) = ((COLUMNS.start(), COLUMNS.end()), (ROWS.start(), ROWS.end()));
    Err(format!(
        "a terminal has {} to {} columns and {} to {} rows, not {columns} and {rows}",
        columns_of.0, columns_of.1, rows_of.0, rows_of.1
    ))
}

fn at_least_one(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap_or(NonZero::<u16>::MIN)
}

impl Screen {
    /// An empty one.
    pub(super) fn new(size: TerminalSize) -> Self {
        let (rows, columns) = (at_least_one(size.rows), at_least_one(size.columns));
        // No scrollback of its own: what leaves the screen is taken as it goes.
        Self { parser: Parser::new_with_callbacks(rows, columns, 0, Beyond::default()), size }
    }

    /// Does something with the emulator. A defect of it, which a program could look for, ends no call and no program:
    /// the screen is empty then.
    fn with<T: Default>(&mut self, work: impl FnOnce(&mut Parser<Beyond>) -> T) -> T {
        let parser = &mut self.parser;
        if let Ok(done) = catch_unwind(AssertUnwindSafe(|| work(parser))) {
            return done;
        }
        tracing::error!("the emulator of a terminal failed, and its screen is empty now");
        *self = Self::new(self.size);
        T::default()
    }

    /// Shows what was printed, and returns what the terminal answers to it.
    pub(super) fn take(&mut self, printed: &[u8]) -> Vec<u8> {
        self.with(|parser| {
            parser.process(printed);
            std::mem::take(&mut parser.callbacks_mut().answers)
        })
    }

    /// Changes its size.
    pub(super) fn resize(&mut self, size: TerminalSize) {
        self.size = size;
        self.with(|parser| parser.set_size(at_least_one(size.rows), at_least_one(size.columns)));
    }

    /// Whether the arrow keys send what applications ask for.
    pub(super) fn has_application_keys(&self) -> bool {
        self.parser.screen().application_cursor()
    }

    /// Returns what it shows, and what scrolled away since the last time.
    pub(super) fn view(&mut self) -> View {
        let size = self.size;
        let (lines, cursor) = self.with(|parser| {
            let screen = parser.screen();
            let lines: Vec<String> = screen.rows(0, size.columns).map(|row| row.trim_end().to_owned()).collect();
            (lines, (!screen.hide_cursor()).then(|| screen.cursor_position()))
        });
        let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        let text = lines.get(..used).unwrap_or_default().iter().map(|line| clean(line) + "\n").collect();
        let beyond = self.parser.callbacks_mut();
        let (scrolled, dropped) = (std::mem::take(&mut beyond.scrolled), std::mem::take(&mut beyond.dropped));
        let scrolled = String::from_utf8_lossy(&Vec::from(scrolled)).into_owned();
        // A line break is written in front of the next line, when it is known whether this one goes on.
        let scrolled = scrolled.strip_prefix('\n').unwrap_or(&scrolled);
        let scrolled: Vec<String> = scrolled.split('\n').map(|line| clean(line.trim_end())).collect();
        View { text, cursor, size, scrolled: scrolled.join("\n"), dropped }
    }
}

/// Takes out what a terminal would obey. The emulator shows none, and this holds it to that.
fn clean(text: &str) -> String {
    text.chars().filter(|character| *character == '\n' || !character.is_control()).collect()
}

impl Beyond {
    fn answer(&mut self, answer: std::fmt::Arguments<'_>) {
        if self.answers.len() < MAX_ANSWERS {
            // Writing to memory does not fail.
            self.answers.write_fmt(answer).ok();
        }
    }
}

impl Callbacks for Beyond {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _second: Option<u8>,
        parameters: &[&[u16]],
        end: char,
    ) {
        match (first, parameters, end) {
            // Programs that draw wait for these answers.
            (None, [[6]], 'n') => {
                let (row, column) = screen.cursor_position();
                self.answer(format_args!("\x1b[{};{}R", row.saturating_add(1), column.saturating_add(1)));
            }
            (None, [[5]], 'n') => self.answer(format_args!("\x1b[0n")),
            (None, [] | [[0]], 'c') => self.answer(format_args!("\x1b[?62;22c")),
            (Some(b'>'), [] | [[0]], 'c') => self.answer(format_args!("\x1b[>1;10;0c")),
            // All else is a wish about how something looks.
            _ => {}
        }
    }

    fn on_scroll(&mut self, row: RowContents<'_>, is_alternate: bool) {
        // What an editor or a pager draws is no output that goes on.
        if is_alternate {
            return;
        }
        let mut formatted = String::new();
        // Writing to memory does not fail.
        row.write_formatted_basic(&mut formatted, &mut self.capture).ok();
        self.scrolled.extend(basic_formatted_to_plain(&formatted).flat_map(str::bytes));
        let over = self.scrolled.len().saturating_sub(MAX_SCROLLED);
        self.scrolled.drain(..over);
        self.dropped = self.dropped.saturating_add(over as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(columns: u16, rows: u16) -> Screen {
        Screen::new(TerminalSize { columns, rows })
    }

    #[test]
    fn screen_shows_what_was_drawn_and_keeps_what_scrolled_away() {
        let mut screen = screen(20, 5);
        assert_eq!(screen.take(b"a\r\n\x1b[31mb\x1b[0m  \r\n\x1b[3;5Hc\x1b]0;title\x07\x1b]52;c;aGk=\x07"), b"");
        let view = screen.view();
        assert_eq!((view.text.as_str(), view.cursor, view.scrolled.as_str()), ("a\nb\n    c\n", Some((2, 5)), ""));
        screen.take(b"\r\n1\r\n2\r\n3\r\n4\x1b[?25l");
        let view = screen.view();
        assert_eq!((view.text.as_str(), view.cursor), ("    c\n1\n2\n3\n4\n", None));
        assert_eq!((view.scrolled.as_str(), view.dropped), ("a\nb", 0));
        // Once only.
        assert_eq!(screen.view().scrolled, "");
        screen.take(b"\r\n5");
        assert_eq!(screen.view().scrolled, "    c");
    }

    #[test]
    fn screen_keeps_the_last_of_what_scrolled_away_and_counts_the_rest() {
        let mut screen = screen(20, 5);
        for line in 0..50_000 {
            screen.take(format!("line {line}\r\n").as_bytes());
        }
        let view = screen.view();
        assert!(
            view.scrolled.len() <= MAX_SCROLLED && view.scrolled.ends_with("line 49995"),
            "{}",
            view.scrolled.len()
        );
        assert!(view.dropped > 100_000, "{}", view.dropped);
    }

    #[test]
    fn screen_answers_only_what_drawing_programs_wait_for() {
        let mut screen = screen(20, 5);
        for (asked, answer) in [
            ("\x1b[2;3H\x1b[6n", "\x1b[2;3R"),
            ("\x1b[5n", "\x1b[0n"),
            ("\x1b[c", "\x1b[?62;22c"),
            ("\x1b[>c", "\x1b[>1;10;0c"),
            // Answers with text of the program's would be words that somebody typed.
            ("\x1b]0;rm -rf .\x07\x1b[21t", ""),
            ("\x1b]52;c;?\x07", ""),
            ("\x1bP$qm\x1b\\", ""),
            ("\x05", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(&screen.take(asked.as_bytes())), answer, "{asked:?}");
        }
        assert!(screen.take(&b"\x1b[6n".repeat(10_000)).len() < MAX_ANSWERS + 20);
    }

    #[test]
    fn screen_has_its_size_and_no_other() {
        let mut screen = screen(20, 5);
        // A program cannot change it.
        screen.take(b"\x1b[8;90;200t");
        assert_eq!(screen.view().size, TerminalSize { columns: 20, rows: 5 });
        screen.resize(TerminalSize { columns: 30, rows: 6 });
        assert_eq!(screen.view().size, TerminalSize { columns: 30, rows: 6 });
        assert!(size(20, 5).is_ok() && size(300, 100).is_ok());
        for (columns, rows) in [(19, 5), (301, 5), (20, 4), (20, 101), (0, 0), (u16::MAX, u16::MAX)] {
            assert!(size(columns, rows).is_err_and(|why| why.contains("20 to 300 columns and 5 to 100 rows")));
        }
    }

    #[test]
    fn screen_of_an_emulator_that_fails_is_empty_and_goes_on() {
        let mut screen = screen(20, 5);
        screen.take(b"before");
        let answer: Vec<u8> = screen.with(|_| panic!("a defect"));
        assert_eq!((answer, screen.view().text), (Vec::new(), String::new()));
        screen.take(b"after");
        assert_eq!(screen.view().text, "after\n");
    }

    #[test]
    fn screen_has_no_control_character_whatever_is_printed() {
        let mut screen = screen(20, 5);
        let mut seed = 1_u64;
        for _ in 0..2_000 {
            let piece: Vec<u8> = (0..50)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let [.., byte] = seed.to_le_bytes();
                    if byte < 60 { 0x1b } else { byte }
                })
                .collect();
            screen.take(&piece);
            let view = screen.view();
            let is_text = |text: &str| !text.chars().any(|character| character != '\n' && character.is_control());
            assert!(is_text(&view.text) && is_text(&view.scrolled), "{piece:?}");
        }
    }
}
