//! Finds a session: by its id, by the beginning of its id, or as the last one of a folder.

use std::path::Path;

use host_journal::{Journals, Stored};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::Advice;
use host_undo::RecordedChanges;

/// How much of an unknown id a message repeats, in characters.
const SHOWN_ID: usize = 64;

/// How many characters of an id may be wrong where it is suggested.
const NEAR: usize = 2;

/// Maximum number of ids in a message.
const NAMED: usize = 3;

/// Why no session is found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// None has this id.
    #[error("there is no session `{wanted}`")]
    Unknown {
        /// The id.
        wanted: String,
        /// Ids that differ little from it.
        nearest: Vec<String>,
    },
    /// No session is recorded.
    #[error("there is no session `{wanted}`")]
    NoneRecorded {
        /// The id.
        wanted: String,
    },
    /// Several ids begin with it.
    #[error("`{wanted}` matches {count} sessions")]
    Several {
        /// The beginning of an id.
        wanted: String,
        /// How many.
        count: usize,
        /// Some of them.
        some: Vec<String>,
    },
    /// None has exactly this id.
    #[error("there is no session `{0}`")]
    UnknownId(String),
    /// The folder has none.
    #[error("there is no session of `{0}`")]
    NoneHere(String),
}

impl Fault for FindError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unknown { nearest, .. } => Some(nearest_of(nearest)),
            Self::NoneRecorded { .. } => {
                let start = Advice::from("no session is recorded yet; start one with ");
                Some(start.plain_command("run \"…\"", "a new prompt"))
            }
            Self::Several { count, some, .. } => Some(
                format!(
                    "use more characters of the id: {}{}",
                    some.join(", "),
                    if *count > some.len() { " and others" } else { "" }
                )
                .into(),
            ),
            Self::UnknownId(_) => Some("list the sessions, or start a new one".into()),
            Self::NoneHere(_) => Some(
                Advice::default()
                    .plain_command("run \"…\"", "a new prompt")
                    .text(" starts one; ")
                    .plain_command("session list --all", "the list of sessions")
                    .text(" lists those of other folders"),
            ),
        }
    }
}

fn nearest_of(ids: &[String]) -> Advice {
    let nearest = match ids {
        [] => String::new(),
        some => format!("did you mean {}? ", some.join(", ")),
    };
    Advice::from(nearest).plain_command("session list --all", "the list of sessions").text(" lists all")
}

/// Returns the session with this id, or the only one whose id begins with it.
pub fn by_id(sessions: &dyn Journals, wanted: &str) -> Result<Stored, Failure> {
    let all = sessions.list()?;
    let fitting: Vec<&Stored> = all.iter().filter(|stored| stored.id.as_str().starts_with(wanted)).collect();
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
            if all.is_empty() {
                return Err(FindError::NoneRecorded { wanted: wanted.to_owned() }.into());
            }
            // Another day is not a typo.
            let mut nearest: Vec<&Stored> = all.iter().filter(|stored| distance(stored) <= NEAR).collect();
            // The sort keeps the newest first among equals.
            nearest.sort_by_key(|stored| distance(stored));
            Err(FindError::Unknown { wanted: wanted.to_owned(), nearest: named(&nearest) }.into())
        }
        several => {
            let (wanted, count) = (wanted.to_owned(), several.len());
            Err(FindError::Several { wanted, count, some: named(several) }.into())
        }
    }
}

/// Returns the session with exactly this id, for a client that has it from a list.
///
/// # Errors
///
/// If there is none: the beginning of an id is not enough.
pub fn by_whole_id(sessions: &dyn Journals, wanted: &str) -> Result<Stored, Failure> {
    sessions
        .list()?
        .into_iter()
        .find(|stored| stored.id.as_str() == wanted)
        .ok_or_else(|| FindError::UnknownId(host_text::excerpt(wanted, SHOWN_ID)).into())
}

/// Returns the most recently written session of a folder. Skips a log whose first line cannot be read, and, if there is
/// another session, those that left nothing: no conversation (there were no messages, or all were taken back), and no
/// change of files that is kept or known not to be.
pub fn last_of(sessions: &dyn Journals, workspace: &Path) -> Result<Stored, Failure> {
    last_with(sessions, workspace, |stored| has_conversation(stored) || has_changes(stored))
}

/// Returns the session of a folder to continue: as [`last_of`], but one with a conversation if there is any.
pub fn last_to_continue(sessions: &dyn Journals, workspace: &Path) -> Result<Stored, Failure> {
    last_with(sessions, workspace, has_conversation)
}

fn last_with(sessions: &dyn Journals, workspace: &Path, wanted: impl Fn(&Stored) -> bool) -> Result<Stored, Failure> {
    let here = workspace.to_string_lossy();
    let is_here = |stored: &Stored| stored.workspace().is_ok_and(|workspace| workspace.as_deref() == Some(&*here));
    let here_last = sessions.list()?.into_iter().filter(is_here).collect::<Vec<_>>();
    here_last
        .iter()
        .find(|stored| wanted(stored))
        .or(here_last.first())
        .cloned()
        .ok_or_else(|| FindError::NoneHere(here.into_owned()).into())
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

fn named(sessions: &[&Stored]) -> Vec<String> {
    sessions.iter().take(NAMED).map(|stored| format!("`{}`", stored.id)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host_journal::{About, Clock, Fact, MemoryJournals};
    use host_message::{AgentId, Content, ModelId, PromptId, SessionId};

    use super::*;

    /// Begins a session of `/work`, and ends the process that writes it.
    fn recorded(sessions: &MemoryJournals, prompt: Option<&str>) -> SessionId {
        let about = About { workspace: Path::new("/work"), model: &ModelId::new("a/m") };
        let journal = sessions.create(about).expect("there is room");
        if let Some(text) = prompt {
            let prompt = PromptId { agent: AgentId::new("main"), turn: 0 };
            for content in [Content::user(text), Content::model("done")] {
                let (prompt, content) = (prompt.clone(), Arc::new(content));
                journal.append(&Fact::Content { prompt, content }).expect("there is room");
            }
        }
        journal.id().clone()
    }

    #[test]
    fn find_session_by_the_beginning_of_its_id_and_the_last_with_a_conversation() {
        let clock = Clock::fixed("2026-03-01T12:00:00Z".parse().expect("a time"));
        let sessions = MemoryJournals::new("/no/such/folder", clock);
        let wanted = |id: &str| by_id(&sessions, id).map(|stored| stored.id).map_err(|failure| failure.message);
        assert_eq!(wanted("2026"), Err("there is no session `2026`".to_owned()));
        let said = recorded(&sessions, Some("hello"));
        assert_eq!(wanted("2026"), Ok(said.clone()));
        let empty = recorded(&sessions, None);
        assert_eq!(wanted("2026"), Err("`2026` matches 2 sessions".to_owned()));
        assert_eq!(wanted(empty.as_str()), Ok(empty.clone()));
        for last in [last_of, last_to_continue] {
            let found = |folder: &str| last(&sessions, Path::new(folder)).map(|stored| stored.id).ok();
            assert_eq!((found("/work"), found("/elsewhere")), (Some(said.clone()), None));
        }
        assert!(by_whole_id(&sessions, "2026").is_err(), "it is no whole id");
        assert_eq!(by_whole_id(&sessions, empty.as_str()).expect("it is there").id, empty);
    }
}
