//! The prompts of a conversation that it can go back to, and what is said of one that was removed.

use host_text::visible_line;

use crate::page::{Line, Page, Weight};
use crate::session::Undone;
use crate::session::rewind::RewindPoint;

/// The most files or tools that are named.
const NAMED: usize = 8;

/// The indent of what belongs to a prompt.
const INDENT: usize = 5;

/// The prompts with what changed since each, oldest first.
pub fn prompts(points: &[RewindPoint]) -> Page {
    let lines = points.iter().flat_map(|point| {
        let number = Line::new(format!("{:>3}  ", point.number));
        let prompt = number.and(&point.prompt, Weight::Strong).indented(INDENT);
        [prompt, Line::new("     ").and(details(point), Weight::Faint).indented(INDENT)]
    });
    lines.collect()
}

/// The files that changed since a prompt, on one line.
pub fn details(point: &RewindPoint) -> String {
    if point.changed.is_empty() {
        return "no files changed since".to_owned();
    }
    let named = point.changed.get(..NAMED).unwrap_or(&point.changed).join(" ");
    match point.changed.len().saturating_sub(NAMED) {
        0 => format!("changed since: {named}"),
        more => format!("changed since: {named} and {more} more"),
    }
}

/// The note after a prompt was removed.
pub fn removed(Undone { changed, others, .. }: &Undone) -> String {
    let mut note = "removed the last prompt and its reply".to_owned();
    if !changed.is_empty() {
        note.push_str(&format!("; still changed: {}", named(changed)));
    }
    match (changed.is_empty(), others.is_empty()) {
        (_, false) => note.push_str(&format!("; what {} did was not undone", named(others))),
        (true, true) => note.push_str("; it changed no files"),
        (false, true) => {}
    }
    note
}

/// Names in a line: each once, and of many the first.
pub fn named<T: AsRef<str>>(names: &[T]) -> String {
    let mut shown: Vec<String> = Vec::new();
    for name in names {
        let name = visible_line(name.as_ref()).into_owned();
        if !shown.contains(&name) {
            shown.push(name);
        }
    }
    let more = shown.len().saturating_sub(NAMED);
    shown.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_prompt_names_what_it_leaves_changed() {
        let undone = |changed: &[&str], others: &[&str]| Undone {
            prompt: String::new(),
            changed: changed.iter().map(|name| (*name).to_owned()).collect(),
            others: others.iter().map(|name| (*name).to_owned()).collect(),
        };
        for (undone, note) in [
            (undone(&[], &[]), "removed the last prompt and its reply; it changed no files"),
            (undone(&["a", "b\u{1b}"], &[]), "removed the last prompt and its reply; still changed: a, b\\u{1b}"),
            (undone(&[], &["shell"]), "removed the last prompt and its reply; what shell did was not undone"),
            (
                undone(&["a"], &["shell"]),
                "removed the last prompt and its reply; still changed: a; what shell did was not undone",
            ),
        ] {
            assert_eq!(removed(&undone), note);
        }
        let many: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        assert_eq!(named(&many), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
        assert_eq!(named(&["grep", "grep"]), "grep");
    }
}
