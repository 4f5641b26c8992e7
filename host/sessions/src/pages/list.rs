//! The recorded sessions, a line for each.

use std::fmt::Write as _;

use host_settings::error::Failure;
use host_text::{clip, counted, visible_line};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::list::SessionSummary;
use crate::transcript;

/// The most sessions that the list shows. JSON has all.
const LISTED: usize = 100;

/// Number of characters of a prompt that are shown.
const PROMPT: usize = 60;

/// Formats the sessions as JSON.
///
/// # Errors
///
/// If they cannot be serialised.
pub fn json(listed: &[SessionSummary]) -> Result<String, Failure> {
    transcript::to_json(&listed)
}

/// Formats the sessions as lines.
pub fn text(listed: &[SessionSummary], with_folder: bool) -> String {
    if listed.is_empty() {
        let other = if with_folder { "" } else { "; --all lists those of other folders" };
        return format!("no session is recorded for this folder{other}\n");
    }
    let mut text = String::new();
    for session in listed.iter().take(LISTED) {
        let SessionSummary { id, last, turns, bytes, .. } = session;
        let when = last.map_or_else(|| "-".to_owned(), local);
        let turns = counted(turns, "turn");
        let folder = match &session.workspace {
            Some(workspace) if with_folder => format!("{workspace}: "),
            _ => String::new(),
        };
        let words = session.damage.as_deref().unwrap_or_else(|| session.name());
        let words = one_line(&format!("{folder}{}", clip(words, PROMPT)));
        // A string takes everything.
        let _ =
            writeln!(text, "{id:<24}  {when:<16}  {:<11} {turns:>10} {:>9}  {words}", session.end.word(), size(*bytes));
    }
    if listed.len() > LISTED {
        let _ = writeln!(text, "… {} older sessions are not shown; --json lists all", listed.len() - LISTED);
    }
    text
}

/// A time as it is shown to a user: in the zone of this machine, to the minute.
pub(super) fn local(time: Timestamp) -> String {
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// The text on one line, safe for a terminal.
fn one_line(text: &str) -> String {
    visible_line(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
