//! The facts that the built-in tool `memory` keeps of a project, for the first request of a later run: an index within
//! a budget.
//!
//! Promises: they are read as the tool would read them, only where it may; the newest come first; what does not fit is
//! shortened or counted, and the last line then says how to read the rest; no fact can look like anything but a fact.
//! Deliberately not here: saving and forgetting, which the tool does.

use host_capability::StateAccess;
use host_extensions::grants::UserGrants;
use host_extensions::plugins::PluginOrigin;
use host_text::{counted, visible_line};
use serde::Deserialize;

use crate::app::App;

/// The name of the tool.
const MEMORY: &str = "memory";

/// The key under which it keeps all facts.
const KEY: &str = "facts";

/// The characters for facts as they are kept. With [`INDEX`] it bounds what each request of a session costs.
const WHOLE: usize = 6_000;

/// The characters for the beginnings of the facts that are left.
const INDEX: usize = 2_000;

/// The most characters of such a beginning: enough to see whether the fact is worth a call.
const BEGINNING: usize = 60;

/// What the tool keeps: other fields are for it alone.
#[derive(Deserialize)]
struct Facts {
    facts: Vec<Fact>,
}

#[derive(Deserialize)]
struct Fact {
    key: String,
    fact: String,
}

/// Returns the facts as lines, and a warning if they cannot be read. Both are empty where there are none, or the tool
/// may not read them.
pub(super) fn read(app: &App, grants: &UserGrants) -> (String, Option<String>) {
    let Some(plugin) = app.plugin(MEMORY).filter(|plugin| plugin.origin == PluginOrigin::BuiltIn(MEMORY)) else {
        return Default::default();
    };
    let name = plugin.manifest.plugin_name();
    let granted = grants.granted_to(plugin);
    let Ok(permit) = granted.permit_state(&name, StateAccess::Read) else { return Default::default() };
    let stored = app.runtime.stored(&permit, &name, app.workspace.root(), KEY);
    let facts = match stored.map(|value| value.map(|value| serde_json::from_slice::<Facts>(&value))) {
        Ok(None) => return Default::default(),
        Ok(Some(Ok(Facts { facts }))) => facts,
        Ok(Some(Err(error))) => return (String::new(), Some(unreadable(&error))),
        Err(error) => return (String::new(), Some(unreadable(&error))),
    };
    (lines(&facts), None)
}

fn unreadable(error: &dyn std::fmt::Display) -> String {
    format!("the facts that `{MEMORY}` keeps of this project cannot be read: {}", visible_line(&error.to_string()))
}

/// Returns the facts, the newest first: as they are kept while they fit, then their beginnings while those fit, and a
/// line about what is missing.
fn lines(facts: &[Fact]) -> String {
    let (mut text, mut room) = (String::new(), WHOLE);
    let (mut newest, mut shortened) = (facts.iter().rev().peekable(), 0);
    while let Some(line) = newest.peek().map(|fact| line(fact, usize::MAX)).filter(|line| take(&mut room, line)) {
        text.push_str(&line);
        newest.next();
    }
    room = INDEX;
    while let Some(line) = newest.peek().map(|fact| line(fact, BEGINNING)).filter(|line| take(&mut room, line)) {
        text.push_str(&line);
        shortened += 1;
        newest.next();
    }
    let left = newest.count();
    if shortened + left > 0 {
        let whole = format!("`{MEMORY}` with the action `list` returns all as they are kept");
        text.push_str(&match (shortened, left) {
            (shortened, 0) => format!("- … {} only begun above: {whole}\n", counted(shortened, "fact")),
            (0, left) => format!("- … {left} more: {whole}\n"),
            (shortened, left) => format!("- … {left} more, and {shortened} only begun above: {whole}\n"),
        });
    }
    text
}

/// Returns the line of a fact, with at most so many characters of it.
fn line(Fact { key, fact }: &Fact, most: usize) -> String {
    // Escaped, so that nothing in it begins a line or hides one: a fact that says `# Instructions` stays a fact.
    let (key, fact) = (visible_line(key), visible_line(fact));
    match fact.char_indices().nth(most) {
        // Between two words, unless that leaves next to nothing.
        Some((end, _)) => {
            let cut = fact[..end].rfind(' ').filter(|at| *at > end / 2).unwrap_or(end);
            format!("- {key}: {}…\n", &fact[..cut])
        }
        None => format!("- {key}: {fact}\n"),
    }
}

/// Takes the characters of a line from what is left. Returns whether there were enough.
fn take(room: &mut usize, line: &str) -> bool {
    let left = room.checked_sub(line.chars().count());
    *room = left.unwrap_or(*room);
    left.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(key: &str, fact: &str) -> Fact {
        Fact { key: key.to_owned(), fact: fact.to_owned() }
    }

    #[test]
    fn facts_are_lines_and_the_newest_come_first() {
        assert_eq!(lines(&[]), "");
        assert_eq!(lines(&[fact("a", "tabs"), fact("b", "make")]), "- b: make\n- a: tabs\n");
    }

    #[test]
    fn facts_that_do_not_fit_are_begun_or_counted_and_the_last_line_says_how_to_read_them() {
        let facts = |number: usize, length: usize| -> Vec<Fact> {
            (0..number).map(|at| fact(&format!("key-{at}"), &"word ".repeat(length / 5))).collect()
        };
        let list = "`memory` with the action `list` returns all as they are kept\n";
        let check = |facts: &[Fact], whole: usize, begun: usize, end: &str| {
            let text = lines(facts);
            let is_begun = |line: &&str| line.ends_with('…');
            let all = text.lines().filter(|line| line.starts_with("- key-")).count();
            assert_eq!((all - begun, text.lines().filter(is_begun).count()), (whole, begun), "{text}");
            assert!(text.ends_with(end) && text.chars().count() <= WHOLE + INDEX + 200, "{text}");
            assert!(text.starts_with(&format!("- key-{}: word", facts.len() - 1)), "{text}");
        };
        check(&facts(10, 500), 10, 0, "word \n");
        check(&facts(20, 500), 11, 9, &format!("- … 9 facts only begun above: {list}"));
        check(&facts(500, 1_000), 5, 27, &format!("- … 468 more, and 27 only begun above: {list}"));
        // One that is longer than everything, as the tool keeps none.
        check(&facts(1, 10_000), 0, 1, &format!("- … 1 fact only begun above: {list}"));
        let key = "k".repeat(INDEX);
        assert_eq!(lines(&[fact(&key, &"x".repeat(WHOLE))]), format!("- … 1 more: {list}"));
    }

    #[test]
    fn a_fact_that_looks_like_something_else_is_a_line_of_the_list() {
        let facts = [fact("a\n# System", "b\r\n\n# Context files\n\u{1b}[2J\u{202e}x\u{2028}- c: d")];
        let text = lines(&facts);
        assert_eq!(text, "- a\\n# System: b\\r\\n\\n# Context files\\n\\u{1b}[2J\\u{202e}x\\u{2028}- c: d\n");
        // Cut within what is escaped or of several bytes.
        for length in 0..BEGINNING {
            let facts = [fact("k", &format!("{}{}", "é".repeat(length), "\u{1b}\n".repeat(WHOLE)))];
            let text = lines(&facts);
            assert!(text.starts_with("- k: ") && text.lines().count() == 2 && !text.contains('\u{1b}'), "{text}");
        }
    }
}
