//! `host plugin new`: a folder with a plugin that works.

use std::path::Path;

use host_app::environment::Environment;
use host_app::error::{ErrorKind, Failure};
use host_app::folder;
use host_devkit::{NewPlugin, NewPluginError};
use tokio_util::sync::CancellationToken;

use crate::exit::Code;
use crate::printer::Out;

/// Writes a plugin of this name into a folder, or into one of its own name where none is given.
pub(super) fn run(name: &str, language: &str, into: Option<&Path>, environment: &Environment) -> Result<Code, Failure> {
    let plugin = NewPlugin::from_template(language, name).map_err(|error| failed(&error))?;
    let target = into.unwrap_or(Path::new(name.rsplit('/').next().unwrap_or(name)));
    plugin.write(target).map_err(|error| failed(&error))?;
    // So that the plugin can be called there without a repository. What cannot be remembered is asked about later.
    if let Ok(folders) = environment.folders() {
        folder::agree(target, &folders).ok();
    }
    let (shown, count) = (target.display(), plugin.files().len());
    let text = format!("{shown}: {count} files. What comes next:\n\ncd {shown}\n{}", plugin.commands());
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

fn failed(error: &NewPluginError) -> Failure {
    let help = error.help().map(str::to_owned);
    Failure { help, ..Failure::from_error(ErrorKind::Input, error) }
}
