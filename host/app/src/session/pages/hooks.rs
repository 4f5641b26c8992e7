//! The hooks of a session and where each comes from.

use host_extensions::hooks::{HookSet, ListedHook, Owner};

use crate::page::{Line, Page};

/// The page.
pub fn page(hooks: &HookSet) -> Page {
    let all = hooks.list();
    if all.is_empty() {
        return Page::of("there are no hooks; docs/hooks.md says how to write one");
    }
    let lines = all.iter().flat_map(listed);
    lines.map(|line| Line::new(line).indented(4)).collect()
}

/// A hook in a few lines, indented behind the first.
pub fn listed(hook: &ListedHook) -> [String; 2] {
    let ListedHook { event, matcher, name, command, source, owner, seconds } = hook;
    let whose = match owner {
        Owner::User => "yours",
        Owner::Project => "project",
        Owner::Plugin => "plugin",
    };
    let called = if name == command { String::new() } else { format!(", called `{name}`") };
    [
        format!("{} {matcher}: {command}", event.name()),
        format!("  from {source} ({whose}), at most {seconds} s{called}"),
    ]
}
