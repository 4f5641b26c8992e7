//! Reading the user's own files with instructions, such as skills and commands.
//!
//! Promise: a file that another user could have written is an error. Deliberately not here: what the files mean.

use std::path::{Path, PathBuf};

use host_files::FileError;
use host_text::exact;

/// Why a file cannot be read. Its text is one line that is safe to show.
#[derive(Debug, thiserror::Error)]
pub enum OwnTextError {
    /// Another user could have written it.
    #[error("`{}` is not safe to use: {cause}; check what it says, then change its owner or its mode", shown(.path))]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Who could have.
        cause: FileError,
    },
    /// It cannot be read.
    #[error("`{}` cannot be read: {cause}", shown(.path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: FileError,
    },
}

/// Reads a file of the user with instructions, which may be a link; `None` if it is over the limit.
///
/// # Errors
///
/// If it cannot be read, or another user could have written it.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<String>, OwnTextError> {
    match host_files::read_own(path, limit) {
        Ok(text) => Ok(Some(text)),
        Err(FileError::TooLarge { .. }) => Ok(None),
        Err(cause @ FileError::Exposed(_)) => Err(OwnTextError::Exposed { path: path.to_owned(), cause }),
        Err(cause) => Err(OwnTextError::Unreadable { path: path.to_owned(), cause }),
    }
}

fn shown(path: &Path) -> String {
    exact(&path.display().to_string()).into_owned()
}
