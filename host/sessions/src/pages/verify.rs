//! The sessions to verify, and their verdicts as lines.

use std::fmt::Write as _;
use std::path::Path;

use host_files::ChainStore;
use host_journal::{Journals, ReadError, Stored};
use host_settings::error::Failure;
use host_text::counted;

use crate::find;
use crate::verify::{SessionVerdict, Verdict, began, missing, verify};

/// Verifies every session, and names those that are missing.
///
/// # Errors
///
/// If the sessions cannot be listed.
pub fn all(sessions: &dyn Journals, chains: &ChainStore) -> Result<Vec<SessionVerdict>, Failure> {
    let mut verdicts: Vec<_> = sessions.list()?.iter().map(|stored| verify(stored, chains)).collect();
    verdicts.extend(missing(sessions, chains)?);
    Ok(verdicts)
}

/// Verifies the last session of a folder, and each whose folder cannot be known because its first line was damaged, or
/// all of its lines are gone.
///
/// # Errors
///
/// If the folder has no session, or the sessions cannot be listed.
pub fn here(sessions: &dyn Journals, folder: &Path, chains: &ChainStore) -> Result<Vec<SessionVerdict>, Failure> {
    let began = began(chains)?;
    let has_no_folder = |stored: &Stored| match stored.workspace() {
        Ok(_) | Err(ReadError::Version { .. }) => false,
        // One that is killed at its start leaves an empty log, and nothing that says how it ended.
        Err(ReadError::Empty) => began.contains(stored.id.as_str()),
        Err(_) => true,
    };
    let damaged: Vec<Stored> = sessions.list()?.into_iter().filter(has_no_folder).collect();
    let last = match find::last_of(sessions, folder) {
        Ok(last) => Some(last),
        Err(_) if !damaged.is_empty() => None,
        Err(failure) => return Err(failure),
    };
    Ok(last.iter().chain(&damaged).map(|stored| verify(stored, chains)).collect())
}

/// Verifies the sessions with these ids, or beginnings of ids.
///
/// # Errors
///
/// If an id means none or several.
pub fn named(sessions: &dyn Journals, ids: &[String], chains: &ChainStore) -> Result<Vec<SessionVerdict>, Failure> {
    let found = ids.iter().map(|id| find::by_id(sessions, id)).collect::<Result<Vec<_>, _>>()?;
    Ok(found.iter().map(|stored| verify(stored, chains)).collect())
}

/// The verdicts as lines.
pub fn text(verdicts: &[SessionVerdict]) -> String {
    let mut text = String::new();
    for verdict in verdicts {
        let SessionVerdict { session, lines, journal_lines, kept, problems, notes, .. } = verdict;
        let word = match verdict.verdict {
            Verdict::Verified => "verified",
            Verdict::Changed => "CHANGED",
            Verdict::Unverifiable => "cannot be verified",
        };
        let mut of = counted(lines, "line");
        if *journal_lines > 0 {
            let _ = write!(of, ", {} about files", counted(journal_lines, "line"));
        }
        if *kept > 0 {
            let _ = write!(of, ", {}", counted(kept, "kept content"));
        }
        // A string takes everything.
        let _ = writeln!(text, "{session}  {word} ({of})");
        for problem in problems {
            let _ = writeln!(text, "  {}", problem.message);
        }
        for note in notes {
            let _ = writeln!(text, "  note: {note}");
        }
        if let Some(help) = verdict.help() {
            let _ = writeln!(text, "  help: {help}");
        }
    }
    if text.is_empty() { "no session is recorded\n".to_owned() } else { text }
}
