//! The approval mode that a user chooses at the first start, and the one that holds where none was chosen.
//!
//! Promises: a mode that was chosen, by a flag or in a file, holds, and nothing is asked; without every wall, and
//! where no user is there, no session is in `auto` because nothing was chosen. Deliberately not here: asking.

use std::path::PathBuf;

use host_extensions::grants::UserGrants;
use host_settings::configuration::Configuration;
use host_settings::error::Failure;
use host_tool::ApprovalMode;

use crate::app::App;
use host_settings::own_file::OwnFile;

/// Returns the modes to choose from, the recommended one first; none if there is nothing to choose. `flag` is the mode
/// that was asked for.
pub fn modes(app: &App, flag: Option<ApprovalMode>) -> Vec<ApprovalMode> {
    let is_chosen = app.configuration.approval_mode().under(flag).is_chosen();
    match !is_chosen && in_auto(app).is_some() {
        true => vec![ApprovalMode::Auto, ApprovalMode::Default],
        false => Vec::new(),
    }
}

/// The access in the mode `auto`; `None` where programs cannot be confined.
fn in_auto(app: &App) -> Option<UserGrants> {
    app.grants().clone().in_mode(ApprovalMode::Auto, app.workspace.root()).ok()
}

/// Returns the access of a session at which a user is, if no mode was chosen: that of `auto` where it is possible.
pub(crate) fn usual(app: &App) -> Option<UserGrants> {
    let is_chosen = app.configuration.approval_mode().under(app.access.approval_mode).is_chosen();
    if is_chosen { None } else { in_auto(app) }
}

/// Puts a session at which a user is in the mode `auto`, unless a mode was chosen or programs cannot be confined.
/// Returns what the user is told about it, once on this machine.
pub(crate) fn by_default(app: &mut App) -> Option<String> {
    let grants = usual(app)?;
    app.take_up(grants);
    let told = &app.folders.told;
    // If that cannot be remembered, it is said again.
    let is_new = !told.exists();
    if is_new {
        let folder = told.parent().map_or(Ok(()), host_files::make_private_folder);
        folder.and_then(|()| host_files::replace(told, b"auto\n", host_files::Mode::Private)).ok();
    }
    is_new.then(|| {
        "the mode is `auto`: files of this folder are edited, and programs run behind walls, without asking; `/undo` takes \
         changes back. Shift-Tab or `/mode` changes the mode, `approval_mode` in your configuration sets it for good"
            .to_owned()
    })
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
    let grants = app.grants().clone().in_mode(mode, app.workspace.root())?;
    let path = file(app);
    let help = || format!("write `approval_mode = \"{mode}\"` into `{}` yourself", path.display());
    let saved = OwnFile::read(&path).and_then(|mut own| {
        own.set("approval_mode", mode.name());
        own.write()
    });
    saved.map_err(|failure| failure.help(help()))?;
    app.configuration.choose_mode(mode);
    app.take_up(grants);
    Ok(())
}
