//! The facts that the built-in tool `memory` keeps of a project, for the first request of a later run.
//!
//! Promises: they are read as the tool would read them, only where it may; what does not fit is counted.
//! Deliberately not here: saving and forgetting, which the tool does.

use host_capability::StateAccess;
use host_extensions::grants::UserGrants;
use host_extensions::plugins::PluginOrigin;
use host_text::visible_line;
use serde::Deserialize;

use crate::app::App;

/// The name of the tool.
const MEMORY: &str = "memory";

/// The key under which it keeps all facts.
const KEY: &str = "facts";

/// The most characters of facts in a request. Bounds what each request of a session costs.
const MAX_CHARACTERS: usize = 8_000;

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

fn lines(facts: &[Fact]) -> String {
    let mut text = String::new();
    for (at, Fact { key, fact }) in facts.iter().enumerate() {
        let line = format!("- {}: {}\n", visible_line(key), visible_line(fact));
        if text.chars().count() + line.chars().count() > MAX_CHARACTERS {
            let left = facts.len() - at;
            text.push_str(&format!("- … {left} more; `{MEMORY}` lists all\n"));
            break;
        }
        text.push_str(&line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_lines_and_what_does_not_fit_is_counted() {
        let fact = |key: &str, fact: &str| Fact { key: key.to_owned(), fact: fact.to_owned() };
        assert_eq!(lines(&[]), "");
        assert_eq!(lines(&[fact("a", "tabs"), fact("b", "no\u{1b}[2J")]), "- a: tabs\n- b: no\\u{1b}[2J\n");
        let long: Vec<Fact> = (0..20).map(|at| fact(&at.to_string(), &"x".repeat(990))).collect();
        let text = lines(&long);
        assert!(text.ends_with("- … 12 more; `memory` lists all\n"), "{text}");
    }
}
