//! Finds a session: by its id, by the beginning of its id, or as the last one of a folder.

use std::path::Path;

use host_journal::{Sessions, Stored};
use host_settings::error::Failure;
use host_text::Advice;
use host_undo::RecordedChanges;

/// How much of an unknown id a message repeats, in characters.
const SHOWN_ID: usize = 64;

/// How many characters of an id may be wrong where it is suggested.
const NEAR: usize = 2;

/// Maximum number of ids in a message.
const NAMED: usize = 3;

/// Returns the session with this id, or the only one whose id begins with it.
pub fn by_id(sessions: &Sessions, wanted: &str) -> Result<Stored, Failure> {
    let all = sessions.all()?;
    let mut fitting: Vec<&Stored> = all.iter().filter(|stored| stored.id.as_str().starts_with(wanted)).collect();
    if let Some(exact) = fitting.iter().find(|stored| stored.id.as_str() == wanted) {
        return Ok((*exact).clone());
    }
    match fitting.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let distance = |stored: &Stored| {
                let id = stored.id.as_str();
                host_text::distance(wanted, id.get(..wanted.len()).unwrap_or(id))
            };
            let failure = Failure::input(format!("there is no session `{wanted}`"));
            if all.is_empty() {
                let start = Advice::from("no session is recorded yet; start one with ");
                return Err(failure.help(start.plain_command("run \"…\"", "a new prompt")));
            }
            // Another day is not a typo.
            let mut nearest: Vec<&Stored> = all.iter().filter(|stored| distance(stored) <= NEAR).collect();
            // The sort keeps the newest first among equals.
            nearest.sort_by_key(|stored| distance(stored));
            let nearest = match nearest.as_slice() {
                [] => String::new(),
                some => format!("did you mean {}? ", named(some)),
            };
            let advice = Advice::from(nearest).plain_command("session list --all", "the list of sessions");
            Err(failure.help(advice.text(" lists all")))
        }
        several => {
            let count = several.len();
            let failure = Failure::input(format!("`{wanted}` matches {count} sessions"));
            fitting.truncate(NAMED);
            let more = if count > NAMED { " and others" } else { "" };
            Err(failure.help(format!("use more characters of the id: {}{more}", named(&fitting))))
        }
    }
}

/// Returns the session with exactly this id, for a client that has it from a list.
///
/// # Errors
///
/// If there is none: the beginning of an id is not enough.
pub fn by_whole_id(sessions: &Sessions, wanted: &str) -> Result<Stored, Failure> {
    sessions.all()?.into_iter().find(|stored| stored.id.as_str() == wanted).ok_or_else(|| {
        Failure::input(format!("there is no session `{}`", host_text::excerpt(wanted, SHOWN_ID)))
            .help("list the sessions, or start a new one")
    })
}

/// Returns the most recently written session of a folder. Skips a log whose first line cannot be read, and, if there is
/// another session, those that left nothing: no conversation (there were no messages, or all were taken back), and no
/// change of files that is kept or known not to be.
pub fn last_of(sessions: &Sessions, workspace: &Path) -> Result<Stored, Failure> {
    last_with(sessions, workspace, |stored| has_conversation(stored) || has_changes(stored))
}

/// Returns the session of a folder to continue: as [`last_of`], but one with a conversation if there is any.
pub fn last_to_continue(sessions: &Sessions, workspace: &Path) -> Result<Stored, Failure> {
    last_with(sessions, workspace, has_conversation)
}

fn last_with(sessions: &Sessions, workspace: &Path, wanted: impl Fn(&Stored) -> bool) -> Result<Stored, Failure> {
    let here = workspace.to_string_lossy();
    let is_here = |stored: &Stored| stored.workspace().is_ok_and(|workspace| workspace.as_deref() == Some(&*here));
    let here_last = sessions.all()?.into_iter().filter(is_here).collect::<Vec<_>>();
    here_last.iter().find(|stored| wanted(stored)).or(here_last.first()).cloned().ok_or_else(|| {
        Failure::input(format!("there is no session of `{here}`")).help(
            Advice::default()
                .plain_command("run \"…\"", "a new prompt")
                .text(" starts one; ")
                .plain_command("session list --all", "the list of sessions")
                .text(" lists those of other folders"),
        )
    })
}

/// One that is damaged is found, so that the user hears of it.
fn has_conversation(stored: &Stored) -> bool {
    !stored.is_empty().unwrap_or(false)
}

/// See [`has_conversation`].
fn has_changes(stored: &Stored) -> bool {
    RecordedChanges::read(&stored.artifacts().undo())
        .map_or(true, |recorded| !recorded.changes.is_empty() || !recorded.gaps.is_empty())
}

fn named(sessions: &[&Stored]) -> String {
    let ids: Vec<String> = sessions.iter().take(NAMED).map(|stored| format!("`{}`", stored.id)).collect();
    ids.join(", ")
}
