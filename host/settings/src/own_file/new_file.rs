//! Files that are written beside the user's `config.toml`, if there are none.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use host_files::Mode;

use super::{OwnFileError, unwritable};

/// A file that is written if there is none.
pub struct NewFile {
    /// The path.
    pub path: PathBuf,
    /// The content.
    pub bytes: Vec<u8>,
    /// Who may use it.
    pub mode: FileMode,
}

/// Access to a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMode {
    /// The user's alone: it may have a secret.
    Private,
    /// As any new file.
    Usual,
    /// As any new file, and the user can run it.
    Program,
}

impl fmt::Debug for NewFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewFile").field("path", &self.path).field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// Writes files that are not there. One that came meanwhile stays.
///
/// # Errors
///
/// If one cannot be written. Those before it stay.
pub fn write_files(files: &[NewFile]) -> Result<(), OwnFileError> {
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.path.parent()).collect();
    for folder in folders {
        host_files::make_private_folder(folder).map_err(|cause| unwritable(folder, cause))?;
    }
    for file in files {
        let mode = match file.mode {
            FileMode::Private => Mode::Private,
            FileMode::Usual | FileMode::Program => Mode::Umask,
        };
        match host_files::create(&file.path, &file.bytes, mode) {
            Ok(()) if file.mode == FileMode::Program => {
                let set = fs::metadata(&file.path).and_then(|about| {
                    let mode = about.permissions().mode() | 0o100;
                    fs::set_permissions(&file.path, fs::Permissions::from_mode(mode))
                });
                set.map_err(|cause| unwritable(&file.path, cause))?;
            }
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(unwritable(&file.path, cause)),
        }
    }
    Ok(())
}
