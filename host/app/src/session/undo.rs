//! Undo in a session that is open: its changes, and what the model is told of what was taken back.
//!
//! Deliberately not here: which calls changed files, and taking changes back (`host-sessions`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_extensions::grants::UserGrants;
use host_sessions::find;
use host_sessions::undo::{Became, Undo, Undoing};
use host_settings::error::Failure;

use super::Session;
use super::aside::RanCommand;
use crate::app::App;

/// The folders in which the changes of programs are kept.
pub(super) fn roots<'a>(app: &'a App, grants: &'a UserGrants) -> impl Iterator<Item = &'a Path> {
    std::iter::once(app.workspace.root()).chain(grants.added().iter().map(PathBuf::as_path))
}

impl Session {
    /// Returns the changes of the conversation's calls, to be listed and undone while no prompt runs.
    ///
    /// # Errors
    ///
    /// If the session log cannot be found.
    pub fn undo(&self) -> Result<Undo, Failure> {
        let stored = find::by_id(&*self.app.journals, self.id().as_str())?;
        let (recorder, workspace) =
            (Arc::clone(&self.conversation.files.changes), self.app.workspace.root().to_owned());
        Ok(Undo::of_open(stored, recorder, workspace))
    }

    /// Tells the model with the next prompt what the user undid, so that it does not go on with what is gone.
    pub fn add_undone(&mut self, undone: &[Undoing]) {
        let line = |undoing: &Undoing| match &undoing.became {
            Became::Restored => Some(format!("restored {}", undoing.path)),
            Became::Removed => Some(format!("removed {}", undoing.path)),
            Became::Already | Became::LeftAlone(_) => None,
        };
        let lines: Vec<String> = undone.iter().filter_map(line).collect();
        if !lines.is_empty() {
            let (line, ended) = ("/undo".to_owned(), "your earlier changes of these files are gone".to_owned());
            self.add_command(RanCommand { line, output: lines.join("\n"), ended });
        }
    }
}
