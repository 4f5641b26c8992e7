//! `host hooks`: the hooks that a session in this folder would ask.

use host_app::app::project;
use host_app::session::pages::hooks::listed;
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
    hooks.iter().for_each(|hook| out.write(&(listed(hook).join("\n") + "\n")));
    Ok(Code::Done)
}

fn as_json(hook: &ListedHook) -> Value {
    let ListedHook { event, matcher, name, command, source, owner, seconds } = hook;
    json!({
        "event": event.name(), "matcher": matcher, "name": name, "command": command, "source": source,
        "project": *owner == Owner::Project, "plugin": *owner == Owner::Plugin, "timeout_seconds": seconds,
    })
}
