//! `host hooks`: the hooks that a session in this folder would ask.

use std::fmt::Write as _;

use host_app::app::project;
use host_extensions::hooks::{self, ListedHook, Owner};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::folder;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::tool::print_json;
use crate::arguments::hooks::Hooks;
use crate::exit::Code;
use crate::printer::{self, Out};

pub(crate) fn run(command: Hooks, environment: &Environment) -> Result<Code, Failure> {
    let Hooks::List { place, json } = command;
    let out = Out::new(CancellationToken::new());
    let project = project(&folder::configured(place.request(), environment)?, &environment.folders()?)?;
    printer::notes(project.note().as_slice(), environment);
    let found = hooks::find(&project, environment)?;
    printer::notes(found.notes(), environment);
    let hooks = found.list();
    if json {
        return print_json(&Value::Array(hooks.iter().map(as_json).collect()), &out);
    }
    if hooks.is_empty() {
        printer::notes(&["there are no hooks; `host hooks --help` shows how to write one".to_owned()], environment);
    }
    hooks.iter().for_each(|hook| out.write(&format!("{}\n", listed(hook))));
    Ok(Code::Done)
}

/// A hook in a few lines, indented behind the first.
pub(crate) fn listed(hook: &ListedHook) -> String {
    let ListedHook { event, matcher, name, command, source, owner, seconds } = hook;
    let mut text = format!("{} {matcher}: {command}\n", event.name());
    let whose = match owner {
        Owner::User => "yours",
        Owner::Project => "project",
        Owner::Plugin => "plugin",
    };
    // A string takes everything.
    let _ = write!(text, "  from {source} ({whose}), at most {seconds} s");
    if name != command {
        let _ = write!(text, ", called `{name}`");
    }
    text
}

fn as_json(hook: &ListedHook) -> Value {
    let ListedHook { event, matcher, name, command, source, owner, seconds } = hook;
    json!({
        "event": event.name(), "matcher": matcher, "name": name, "command": command, "source": source,
        "project": *owner == Owner::Project, "plugin": *owner == Owner::Plugin, "timeout_seconds": seconds,
    })
}
