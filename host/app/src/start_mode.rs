//! The approval mode that a user chooses at the first start.
//!
//! Promises: whoever has chosen a mode, by a flag or in a file, is never asked; without every wall `auto` is not
//! offered, and there is no question. Deliberately not here: asking.

use std::path::PathBuf;

use host_tool::ApprovalMode;

use crate::app::App;
use crate::configuration::Configuration;
use crate::error::Failure;
use crate::import::own_file::OwnFile;

/// Returns the modes to choose from, the recommended one first; none if there is nothing to choose. `flag` is the mode that
/// was asked for.
pub fn modes(app: &App, flag: Option<ApprovalMode>) -> Vec<ApprovalMode> {
    let is_chosen = flag.is_some() || app.configuration.approval_mode.is_some();
    let can_confine = || app.grants.clone().in_mode(ApprovalMode::Auto, app.workspace.root()).is_ok();
    match !is_chosen && can_confine() {
        true => vec![ApprovalMode::Auto, ApprovalMode::Default],
        false => Vec::new(),
    }
}

/// Returns the file that a chosen mode is saved in: the user's configuration.
pub fn file(app: &App) -> PathBuf {
    Configuration::path(&app.environment, &app.folders).0
}

/// Saves the mode that the user chose, and uses it from now on.
///
/// # Errors
///
/// If the file cannot be changed, or the mode not be used. Everything is then as before.
pub fn choose(app: &mut App, mode: ApprovalMode) -> Result<(), Failure> {
    let grants = app.grants.clone().in_mode(mode, app.workspace.root())?;
    let path = file(app);
    let help = || format!("write `approval_mode = \"{mode}\"` into `{}` yourself", path.display());
    let saved = OwnFile::read(&path).and_then(|mut own| {
        own.set("approval_mode", mode.name());
        own.write()
    });
    saved.map_err(|failure| failure.help(help()))?;
    app.configuration.approval_mode = Some(mode);
    app.grants = grants;
    Ok(())
}
