//! `host plugin new`: a folder with a plugin that works.

use std::path::Path;

use anstyle::AnsiColor;
use host_devkit::{NewPlugin, NewPluginError, TARGET};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_settings::folder;
use host_text::{Advice, visible_line};
use tokio_util::sync::CancellationToken;

use super::build;
use crate::exit::Code;
use crate::printer::{self, Out, to_stderr};

/// Writes a plugin of this name into a folder, or into one of its own name where none is given.
pub(super) fn run(name: &str, language: &str, into: Option<&Path>, environment: &Environment) -> Result<Code, Failure> {
    let plugin = NewPlugin::from_template(language, name).map_err(|error| failed(&error))?;
    let target = into.unwrap_or(Path::new(name.rsplit('/').next().unwrap_or(name)));
    plugin.write(target).map_err(|error| failed(&error))?;
    // So that the plugin can be called there without a repository. What cannot be remembered is asked about later.
    if let Ok(folders) = environment.folders() {
        folder::agree(target, &folders).ok();
    }
    if plugin.needs_target() {
        add_target(target, environment);
    }
    let (shown, count) = (target.display(), plugin.files().len());
    let text = format!("{shown}: {count} files. What comes next:\n\ncd {shown}\n{}", plugin.commands());
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

/// Adds the target that the plugin is compiled for, if the compiler lacks it. Without it the plugin is there all the
/// same.
fn add_target(folder: &Path, environment: &Environment) {
    let tools = build::tools(environment);
    if !host_devkit::lacks_target(folder, &tools) {
        return;
    }
    printer::notes(
        &[format!("`rustup target add {TARGET}` downloads Rust's standard library for the target of plugins")],
        environment,
    );
    if let Err(error) = host_devkit::add_target(folder, &tools) {
        let warning = printer::style(environment).paint("warning:", AnsiColor::Yellow);
        to_stderr(&format!("{warning} {}\n", visible_line(&error.to_string())));
    }
}

fn failed(error: &NewPluginError) -> Failure {
    let help = error.help().map(Advice::from);
    Failure { help, ..Failure::from_error(ErrorKind::Input, error) }
}
