//! Copies of the programs of a trusted project; only the copies are run.
//!
//! Promises: the bytes that run are those that were trusted. Deliberately not here: what a program reads outside its
//! folder.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use host_text::{Advice, Notice};

use super::ProjectFile;
use crate::error::{ErrorKind, Fault};
use crate::placed::{self, AgreedFile};

/// Why the programs of a project cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// They cannot be written into the folder of the host.
    #[error("the project's programs cannot be put into `{}`", .folder.display())]
    Unwritable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl Fault for ProgramsError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Unwritable { cause, .. } => vec![cause.to_string().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unwritable { .. } => {
                Some("make that folder one that only you can write, or set XDG_CACHE_HOME to another folder".into())
            }
        }
    }
}

/// Returns the folder with these programs, by their names; makes it if needed. `folder` is the host's own.
///
/// # Errors
///
/// If it cannot be made.
pub fn placed(programs: &BTreeMap<String, ProjectFile>, folder: &Path) -> Result<PathBuf, ProgramsError> {
    let agreed: Vec<AgreedFile<'_>> =
        programs.iter().map(|(name, file)| AgreedFile { path: name, bytes: &file.bytes, is_program: true }).collect();
    let placed = placed::placed(&agreed, folder);
    placed.map_err(|cause| ProgramsError::Unwritable { folder: folder.to_owned(), cause })
}
