//! The context files of a session for its user: which the model has, and editing one.
//!
//! Deliberately not here: reading them (`context`), and an editor, which a frontend has.

use std::io;

use host_files::{FileError, Mode};
use host_settings::error::{ErrorKind, Fault};
use host_text::{Advice, exact};

use super::{Session, setup};
use crate::context::{Context, ContextFile, ContextOrigin};

/// The largest context file that is edited, in bytes, as it is the largest that is read.
const MAX_FILE: u64 = 1 << 20;

/// Why a context file is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// It cannot be read.
    #[error("the context file `{file}` cannot be read: {cause}")]
    Unreadable {
        /// The file, safe to show.
        file: String,
        /// Why.
        cause: FileError,
    },
    /// It cannot be written.
    #[error("the context file `{file}` cannot be written: {cause}")]
    Unwritable {
        /// The file, safe to show.
        file: String,
        /// Why.
        cause: io::Error,
    },
    /// It changed in the meantime.
    #[error("`{0}` has changed while you edited it, and was not written")]
    Changed(String),
}

impl Fault for MemoryError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unreadable { .. } | Self::Unwritable { .. } => None,
            Self::Changed(_) => Some("open it again with /memory".into()),
        }
    }
}

impl Session {
    /// Returns the context files that the model has: those that it read first, then those of folders that it entered.
    pub fn memory(&self) -> Vec<ContextFile> {
        self.context_files.iter().cloned().chain(self.entered.files()).collect()
    }

    /// Returns the text of a context file, so that the user can edit it. It is read as the user, and nothing of it is
    /// shown to the model.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn memory_text(&self, file: &ContextFile) -> Result<String, MemoryError> {
        host_files::read_text(&file.path, MAX_FILE)
            .map_err(|cause| MemoryError::Unreadable { file: shown(file), cause })
    }

    /// Writes a context file that the user edited. The model gets it as it is now, from the next prompt on; returns
    /// what the user should know.
    ///
    /// # Errors
    ///
    /// If it changed since `before` was read, or cannot be written. It is then as it was.
    pub fn write_memory(&mut self, file: &ContextFile, before: &str, text: &str) -> Result<Vec<String>, MemoryError> {
        if self.memory_text(file)? != before {
            return Err(MemoryError::Changed(file.shown.to_string()));
        }
        let unwritable = |cause| MemoryError::Unwritable { file: shown(file), cause };
        // A link keeps leading to the file that it led to.
        let path = std::fs::canonicalize(&file.path).map_err(unwritable)?;
        let mode = std::fs::metadata(&path).map(|about| about.permissions());
        host_files::replace(&path, text.as_bytes(), Mode::Umask).map_err(unwritable)?;
        if let Ok(permissions) = mode {
            std::fs::set_permissions(&path, permissions).map_err(unwritable)?;
        }
        let written = format!("{} is written; the model reads it with the next prompt", file.shown);
        if file.origin == ContextOrigin::Entered {
            self.entered.renew(file);
            return Ok(vec![written]);
        }
        let context = setup::with_skills(&self.app, self.grants());
        self.surroundings.iter().for_each(|surroundings| surroundings.set_context(&context));
        let Context { warnings, files, .. } = context;
        self.context_files = files;
        Ok(std::iter::once(written).chain(warnings).collect())
    }
}

fn shown(file: &ContextFile) -> String {
    exact(&file.path.display().to_string()).into_owned()
}
