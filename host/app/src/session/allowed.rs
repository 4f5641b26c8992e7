//! What the user allowed in this session besides its mode and flags: answers, and folders that were added.

use std::path::PathBuf;

use host_settings::error::{ErrorKind, Failure};
use host_settings::permissions::find;
use host_text::exact;
use host_tool::{Permission, Until};

use super::Session;

/// Something that the user allowed and can take back.
#[derive(Clone, Debug, PartialEq)]
pub enum Allowed {
    /// An answer to a question.
    Answer(Permission),
    /// A folder that is read and changed like the workspace, until the session ends.
    Folder(PathBuf),
}

impl Allowed {
    /// Describes what it allows, on one line that is safe for a terminal.
    pub fn words(&self) -> String {
        match self {
            Self::Answer(permission) => permission.words.clone(),
            Self::Folder(folder) => {
                format!("reading and changing `{}` like the workspace", exact(&folder.display().to_string()))
            }
        }
    }

    /// How long it holds.
    pub fn until(&self) -> Until {
        match self {
            Self::Answer(permission) => permission.until,
            Self::Folder(_) => Until::SessionEnds,
        }
    }
}

impl Session {
    /// Returns what the user allowed here: lasting answers about this folder, then what holds for this session.
    pub fn allowed(&self) -> Vec<Allowed> {
        let answers = self.conversation.gate.permissions().into_iter().map(Allowed::Answer);
        answers.chain(self.grants().added().iter().cloned().map(Allowed::Folder)).collect()
    }

    /// Takes something back; returns it. `what` is its number in [`Session::allowed`], from 1, or a part of its words.
    /// A folder is taken back from the next run on, an answer at once.
    ///
    /// # Errors
    ///
    /// If it means nothing or several, or the file of lasting answers cannot be changed.
    pub fn forget(&mut self, what: &str) -> Result<Allowed, Failure> {
        let mut all = self.allowed();
        let words: Vec<String> = all.iter().map(Allowed::words).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let one = all.swap_remove(find(&words, what, "/permissions")?);
        match &one {
            Allowed::Answer(permission) => {
                let forgotten = self.conversation.gate.forget(permission);
                forgotten.map_err(|error| Failure::from_error(ErrorKind::Configuration, &error))?;
            }
            Allowed::Folder(folder) => {
                let grants = self.grants().clone().without_folder(folder);
                let equipment = self.equip(&self.app.plugins, grants)?;
                self.take_up(equipment)?;
            }
        }
        Ok(one)
    }

    /// Lets tools read and change a folder like the workspace, from the next run on; returns it without links. `text`
    /// is as the user wrote it.
    ///
    /// # Errors
    ///
    /// If it is not a folder, or one that is never added. Everything then stays as it was.
    pub fn add_folder(&mut self, text: &str) -> Result<PathBuf, Failure> {
        let (grants, folder) = self.grants().clone().with_folder(text)?;
        let equipment = self.equip(&self.app.plugins, grants)?;
        self.take_up(equipment)?;
        Ok(folder)
    }
}
