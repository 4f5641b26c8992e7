//! A session that can be continued, as an entry of a list to choose from.

use host_text::{counted, visible_line};
use jiff::Timestamp;

use crate::list::SessionSummary;

/// Lines of the last prompt that are shown: the answer matters more.
const PREVIEW_OF_PROMPT: usize = 3;

/// Its title on one line.
pub fn title(session: &SessionSummary) -> String {
    visible_line(&session.name().split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// Its id, length and age, and its folder where a list has several.
pub fn details(session: &SessionSummary, has_folder: bool, now: Timestamp) -> String {
    let age = session.last.map_or_else(|| "-".to_owned(), |last| age(last, now));
    let folder = session.workspace.as_deref().filter(|_| has_folder);
    let folder = folder.map(|folder| format!(" · {}", visible_line(folder))).unwrap_or_default();
    format!("{} · {} · {age}{folder}", session.id, counted(session.turns, "turn"))
}

/// The last prompt and the last answer, where they are cut in words.
pub fn preview(session: &SessionSummary) -> Vec<String> {
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
