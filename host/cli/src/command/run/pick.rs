//! Which session a conversation resumes: the last one of the folder, or the one that the user picks from a list.
//!
//! Sessions without a conversation are never offered. Deliberately not here: reading logs, which `host-app` does.

use host_agent::Sessions;
use host_app::app::App;
use host_app::error::{ErrorKind, Failure};
use host_app::session::list::{self, SessionSummary};
use host_app::session::resume::Resume;
use host_message::counted;
use host_terminal::{Pick, PickEntry, TerminalMode};
use host_text::visible_line;
use jiff::Timestamp;

use crate::ask::{Answered, Asker};

/// Lines of the last prompt that are shown: the answer matters more.
const PREVIEW_OF_PROMPT: usize = 3;

/// How a session is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choose {
    /// The last one.
    Last,
    /// The user picks one.
    Picked,
}

/// Chooses a session of the folder with a conversation.
///
/// # Errors
///
/// If there is none, or the user picks none.
pub(super) async fn choose(how: Choose, app: &App, asker: Option<&Asker<'_>>) -> Result<Resume, Failure> {
    let here = app.workspace.root();
    let mut sessions = list::resumable(&Sessions::new(&app.folders.sessions), here)?;
    if sessions.is_empty() {
        return Err(Failure::input(format!("there is no session of `{}` to continue", here.display()))
            .help("start one with `host`; host session list --all lists those of other folders"));
    }
    let at = match asker.filter(|asker| how == Choose::Picked && asker.mode() == TerminalMode::Ansi) {
        None => 0,
        Some(asker) => {
            let now = Timestamp::now();
            let entries = sessions.iter().map(|session| entry(session, now)).collect();
            let title = asker.style().bold("Which session do you want to continue?");
            match asker.pick(Pick { lines: vec![title], entries }).await? {
                Answered::Choice(at) => at,
                Answered::Dismissed => return Err(Failure::new(ErrorKind::Cancelled, "no session was chosen")),
            }
        }
    };
    let chosen = if at < sessions.len() { sessions.swap_remove(at) } else { sessions.swap_remove(0) };
    Ok(Resume::Id(chosen.id))
}

fn entry(session: &SessionSummary, now: Timestamp) -> PickEntry {
    let prompt = session.prompt.as_deref().unwrap_or_default();
    let title = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    let age = session.last.map_or_else(|| "-".to_owned(), |last| age(last, now));
    let details = format!("{} · {} · {age}", session.id, counted(session.turns, "turn"));
    PickEntry { title: visible_line(&title).into_owned(), details, preview: preview(session) }
}

/// The last prompt and the last answer, where they are cut in words.
fn preview(session: &SessionSummary) -> Vec<String> {
    let lines = |text: &str| text.trim().lines().map(|line| visible_line(line).into_owned()).collect::<Vec<_>>();
    let prompt = session.last_prompt.as_deref().map(lines).unwrap_or_default();
    let answer = session.last_answer.as_deref().map(lines).unwrap_or_default();
    let prompt = prompt.iter().take(PREVIEW_OF_PROMPT).map(|line| format!("› {line}"));
    prompt.chain([String::new()]).chain(answer).collect()
}

/// The time since, in its largest unit.
fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    let ago = |count: i64, unit: &str| format!("{} ago", counted(count, unit));
    match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => ago(seconds / 60, "minute"),
        3_600..86_400 => ago(seconds / 3_600, "hour"),
        86_400.. => ago(seconds / 86_400, "day"),
        ..0 => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_is_in_its_largest_unit() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().expect("a time");
        for (since, shown) in [
            ("2026-03-10T11:59:30Z", "just now"),
            ("2026-03-10T11:59:00Z", "1 minute ago"),
            ("2026-03-10T10:00:00Z", "2 hours ago"),
            ("2026-03-09T12:00:00Z", "1 day ago"),
            ("2026-02-10T12:00:00Z", "28 days ago"),
            ("2026-03-11T12:00:00Z", "just now"),
        ] {
            assert_eq!(age(since.parse().expect("a time"), now), shown);
        }
    }
}
