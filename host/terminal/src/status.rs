//! The row below the input line that says where a conversation is.
//!
//! Promises: it never takes more than one row; where it does not fit, the least important parts are left out, and the
//! most important one is cut.
//!
//! Deliberately not here: what the parts say.

use std::time::Duration;

use super::state::{State, Turn};
use super::values::StatusPart;
use super::width::{truncate_to_width, width};
use super::{Terminal, TerminalMode};

/// Between two parts.
const BETWEEN: &str = " · ";

/// The fewest rows of a terminal on which there is room for the row.
const FEWEST_ROWS: usize = 5;

impl Terminal {
    /// Sets the parts of the row below the input line, from the next drawing on; without parts there is none. A
    /// terminal that cannot move its cursor shows none.
    pub fn set_status(&self, parts: Vec<StatusPart>) {
        if self.mode() == TerminalMode::Ansi {
            self.0.state().output.status = parts;
        }
    }

    /// Sets the parts of the row and draws it now, if it looks different: for what changes while nothing else is drawn.
    pub fn show_status(&self, parts: Vec<StatusPart>) {
        if self.mode() == TerminalMode::Ansi {
            let mut state = self.0.state();
            if state.output.status != parts {
                state.output.status = parts;
                self.0.redraw(&mut state);
            }
        }
    }
}

/// Returns the row for this state; `None` if there is nothing to show or no room.
pub(super) fn look(state: &State) -> Option<String> {
    let (columns, rows) = (state.output.screen.columns(), state.output.screen.rows());
    if state.output.status.is_empty() || rows < FEWEST_ROWS {
        return None;
    }
    let since = match state.conversation.turn {
        Turn::Model { since, .. } => Some(since),
        Turn::User | Turn::Between => None,
    };
    let elapsed = since.map(|since| StatusPart { words: time(since.elapsed()), importance: u8::MAX });
    // A full row would leave the cursor between two rows.
    Some(fit(elapsed.iter().chain(&state.output.status).collect(), columns.saturating_sub(1)))
}

/// Formats a time in whole seconds.
pub(super) fn time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Joins the parts that fit into this width.
fn fit(mut parts: Vec<&StatusPart>, columns: usize) -> String {
    loop {
        let words: Vec<&str> = parts.iter().map(|part| part.words.as_str()).collect();
        let row = words.join(BETWEEN);
        let least = parts.iter().enumerate().min_by_key(|(_, part)| part.importance).map(|(at, _)| at);
        match least {
            Some(at) if parts.len() > 1 && width(&row) > columns => parts.remove(at),
            Some(_) | None => return truncate_to_width(&row, columns),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<StatusPart> {
        let part = |(words, importance): (&str, u8)| StatusPart { words: words.to_owned(), importance };
        [("claude-sonnet-5-5", 6), ("default", 1), ("12 % of 200k", 5), ("31k tokens", 3), ("$0.12", 4), ("main", 2)]
            .map(part)
            .into()
    }

    #[test]
    fn status_leaves_out_the_least_important_parts() {
        for (columns, expected) in [
            (120, "claude-sonnet-5-5 · default · 12 % of 200k · 31k tokens · $0.12 · main"),
            (70, "claude-sonnet-5-5 · default · 12 % of 200k · 31k tokens · $0.12 · main"),
            (69, "claude-sonnet-5-5 · 12 % of 200k · 31k tokens · $0.12 · main"),
            (53, "claude-sonnet-5-5 · 12 % of 200k · 31k tokens · $0.12"),
            (40, "claude-sonnet-5-5 · 12 % of 200k · $0.12"),
            (39, "claude-sonnet-5-5 · 12 % of 200k"),
            (20, "claude-sonnet-5-5"),
            (8, "claude-…"),
        ] {
            let parts = parts();
            let row = fit(parts.iter().collect(), columns);
            assert_eq!(row, expected, "{columns}");
            assert!(width(&row) <= columns);
        }
        assert_eq!(fit(Vec::new(), 10), "");
    }

    #[test]
    fn a_time_has_the_units_that_matter() {
        for (seconds, words) in [(0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (125, "2 min 5 s"), (3720, "1 h 2 min")] {
            assert_eq!(time(Duration::from_secs(seconds)), words);
        }
    }
}
