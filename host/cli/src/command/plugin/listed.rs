//! `host plugin list` and `remove`: the plugins of others that are used here.

use host_app::app;
use host_bundle::{LockFile, Signers};
use host_extensions::install::{ProjectList, Target};
use host_extensions::plugins::listed::{ListedPlugin, PluginUse, listed};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_text::{exact, visible_line};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments::store as arguments;
use crate::command::tool;
use crate::exit::Code;
use crate::printer::{self, Out};

pub(super) fn list(list: &arguments::List, environment: &Environment) -> Result<Code, Failure> {
    let folders = environment.folders()?;
    let project = match ProjectList::find(&app::project(&list.place.request(), &folders)?)? {
        ProjectList::Read(list) => list.file,
        ProjectList::Withheld(note) => {
            printer::notes(&[note], environment);
            LockFile::default()
        }
    };
    let rows = listed(project, &folders)?;
    let out = Out::new(CancellationToken::new());
    if list.json {
        return tool::print_json(&Value::Array(rows.iter().map(ListedPlugin::json).collect()), &out);
    }
    let style = printer::stdout_style(environment);
    let mut text = String::new();
    for ListedPlugin { whose, name, locked, state } in &rows {
        let by = match &locked.signers {
            Signers::Keys(keys) => {
                format!("signed by {}", keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
            Signers::Unsigned => style.paint("UNSIGNED", anstyle::AnsiColor::Red),
        };
        text.push_str(&format!("{} {}  {by}  ({whose})\n", style.bold(&exact(name)), locked.version));
        text.push_str(&format!("  {}\n  {}\n", exact(&locked.source), locked.digest));
        if let PluginUse::Not(why) = state {
            text.push_str(&format!(
                "  {} {}\n",
                style.paint("not used:", anstyle::AnsiColor::Red),
                visible_line(&why.to_string())
            ));
        }
        if let PluginUse::Used(agreed) = state {
            for (name, scope) in agreed {
                text.push_str(&format!("  without a question: {name}={}\n", exact(scope)));
            }
        }
    }
    if rows.is_empty() {
        text.push_str("No plugins are installed; see `host plugin install`.\n");
    }
    out.write_entries(&text);
    Ok(Code::Done)
}

pub(super) fn remove(remove: &arguments::Remove, environment: &Environment) -> Result<Code, Failure> {
    let folders = environment.folders()?;
    let mut target = match remove.user {
        true => Target::for_user(&folders)?,
        false => Target::for_project(app::project(&remove.place.request(), &folders)?)?,
    };
    if target.list.file.plugins.remove(&remove.plugin).is_none() {
        let other = if remove.user { "the project's list may have it" } else { "use --user for your own list" };
        return Err(Failure::input(format!("the list has no plugin `{}`", remove.plugin))
            .help(format!("`host plugin list` shows all; {other}")));
    }
    let note = target.save(&folders)?;
    crate::printer::notes(note.as_slice(), environment);
    Out::new(CancellationToken::new()).write(&format!("Removed `{}`.\n", remove.plugin));
    Ok(Code::Done)
}
