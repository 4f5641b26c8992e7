//! Copies of the programs of a trusted project; only the copies are run.
//!
//! Promises: the bytes that run are those that were trusted. Deliberately not here: what a program reads outside its
//! folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::ProjectFile;
use crate::error::Failure;
use crate::placed::{self, AgreedFile};

/// Returns the folder with these programs, by their names; makes it if needed. `folder` is the host's own.
///
/// # Errors
///
/// If it cannot be made.
pub fn placed(programs: &BTreeMap<String, ProjectFile>, folder: &Path) -> Result<PathBuf, Failure> {
    let agreed: Vec<AgreedFile<'_>> =
        programs.iter().map(|(name, file)| AgreedFile { path: name, bytes: &file.bytes, is_program: true }).collect();
    placed::placed(&agreed, folder).map_err(|error| {
        Failure::configuration(format!("the project's programs cannot be put into `{}`", folder.display()))
            .cause(error.to_string())
            .help("make that folder one that only you can write, or set XDG_CACHE_HOME to another folder")
    })
}
