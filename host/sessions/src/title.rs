//! The title that a user gives a session, by which lists and searches show it in place of its first prompt.
//!
//! It is in a file beside the log, since it is not part of what happened: it can change, and a copy of the session has
//! none.

use std::io;
use std::path::PathBuf;

use host_files::Mode;
use host_journal::Artifacts;
use host_settings::error::{ErrorKind, Fault};
use host_text::Advice;

/// The longest title, in characters. Protects the lines of a list.
const MAX_TITLE: usize = 200;

/// The most bytes of its file that are read.
const MAX_FILE: u64 = 4 * MAX_TITLE as u64 + 1;

/// Returns the title of a session, not escaped; `None` if it has none that can be read.
pub fn title_of(session: &Artifacts) -> Option<String> {
    let text = host_files::read_text(&session.title(), MAX_FILE).ok()?;
    Some(text.trim().to_owned()).filter(|title| !title.is_empty())
}

/// Why a session gets no title.
#[derive(Debug, thiserror::Error)]
pub enum TitleError {
    /// It is over the limit.
    #[error("a title of {0} characters is too long")]
    TooLong(usize),
    /// It cannot be written.
    #[error("the title cannot be written to `{}`: {cause}", .path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl Fault for TitleError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::TooLong(_) => Some(format!("use at most {MAX_TITLE} characters").into()),
            Self::Unwritable { .. } => Some("check the free space and the owner of that folder".into()),
        }
    }
}

/// Gives a session a title, in place of the one that it has; a blank one takes it away.
///
/// # Errors
///
/// If it is too long, or cannot be written.
pub fn rename(session: &Artifacts, title: &str) -> Result<(), TitleError> {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let path = session.title();
    let characters = title.chars().count();
    if characters > MAX_TITLE {
        return Err(TitleError::TooLong(characters));
    }
    let written = match title.as_str() {
        "" => match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        },
        title => host_files::replace(&path, format!("{title}\n").as_bytes(), Mode::Private),
    };
    written.map_err(|cause| TitleError::Unwritable { path, cause })
}
