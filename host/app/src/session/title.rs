//! The title that a user gives a session, by which lists and searches show it in place of its first prompt.
//!
//! It is in a file beside the log, since it is not part of what happened: it can change, and a copy of the session has
//! none.

use std::io;

use host_files::Mode;
use host_journal::Artifacts;
use host_settings::error::Failure;

/// The longest title, in characters. Protects the lines of a list.
const MAX_TITLE: usize = 200;

/// The most bytes of its file that are read.
const MAX_FILE: u64 = 4 * MAX_TITLE as u64 + 1;

/// Returns the title of a session, not escaped; `None` if it has none that can be read.
pub fn title_of(session: &Artifacts) -> Option<String> {
    let text = host_files::read_text(&session.title(), MAX_FILE).ok()?;
    Some(text.trim().to_owned()).filter(|title| !title.is_empty())
}

/// Gives a session a title, in place of the one that it has; a blank one takes it away.
///
/// # Errors
///
/// If it is too long, or cannot be written.
pub fn rename(session: &Artifacts, title: &str) -> Result<(), Failure> {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let path = session.title();
    let characters = title.chars().count();
    if characters > MAX_TITLE {
        return Err(Failure::input(format!("a title of {characters} characters is too long"))
            .help(format!("use at most {MAX_TITLE} characters")));
    }
    let written = match title.as_str() {
        "" => match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        },
        title => host_files::replace(&path, format!("{title}\n").as_bytes(), Mode::Private),
    };
    written.map_err(|error| {
        Failure::input(format!("the title cannot be written to `{}`: {error}", path.display()))
            .help("check the free space and the owner of that folder")
    })
}
