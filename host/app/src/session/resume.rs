//! `host run --resume`: the session to resume, and whether it can be resumed.
//!
//! A session's access is not taken from its log: the grants are those that the user gives now.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_journal::{Journals, Left, MAIN, Opened};
use host_message::{AgentId, SessionId};
use host_sessions::find;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::Advice;

use crate::app::App;

/// The session to resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// The last one of the folder that is worked in.
    Last,
    /// The one whose id begins so.
    Id(String),
    /// The one with exactly this id.
    WholeId(String),
}

/// Why a session is not resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// It belongs to another folder.
    #[error("the session `{id}` belongs to `{workspace}`, which is not this folder")]
    Elsewhere {
        /// The id.
        id: SessionId,
        /// Its folder.
        workspace: String,
    },
    /// There is nothing to go on with.
    #[error("the session `{0}` has no unfinished work")]
    Ended(SessionId),
}

impl Fault for ResumeError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Elsewhere { id, workspace } => Some(
                Advice::from("resume it there: ")
                    .plain_command(format!("run -C '{workspace}' --resume {id}"), "open that folder"),
            ),
            Self::Ended(id) => Some(
                Advice::from("say what to do next: ")
                    .plain_command(format!("run --resume {id} \"…\""), "send a new prompt"),
            ),
        }
    }
}

impl Resume {
    /// The session that a word names; `None` if the word is not the start of an id.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "" => Some(Self::Last),
            id if looks_like_an_id(id) => Some(Self::Id(id.to_owned())),
            _ => None,
        }
    }

    /// Locks and reads its log. Nothing is written yet. `may_end` says that nothing need be left to do in it: there is
    /// a prompt, or will be.
    pub async fn reopen(self, app: &App, may_end: bool) -> Result<Box<dyn Opened>, Failure> {
        self.reopen_in(Arc::clone(&app.journals), app.workspace.root().to_owned(), may_end).await
    }

    async fn reopen_in(
        self,
        sessions: Arc<dyn Journals>,
        here: PathBuf,
        may_end: bool,
    ) -> Result<Box<dyn Opened>, Failure> {
        // Logs can be long, and a process that was just killed may hold its own for some seconds.
        let reopened = tokio::task::spawn_blocking(move || self.lock(&*sessions, &here, may_end));
        reopened.await.unwrap_or_else(|error| {
            Err(Failure::configuration("the session log was not read").cause(error.to_string()))
        })
    }

    fn lock(self, sessions: &dyn Journals, here: &Path, may_end: bool) -> Result<Box<dyn Opened>, Failure> {
        let stored = match self {
            Self::Last => find::last_to_continue(sessions, here)?,
            Self::Id(id) => find::by_id(sessions, &id)?,
            Self::WholeId(id) => find::by_whole_id(sessions, &id)?,
        };
        let reopened = sessions.open(&stored.id)?;
        let recorded = reopened.recorded();
        let id = &stored.id;
        if let Some(workspace) = recorded.workspace.as_deref().filter(|workspace| *workspace != here.to_string_lossy())
        {
            return Err(ResumeError::Elsewhere { id: id.clone(), workspace: workspace.to_owned() }.into());
        }
        let left = recorded.past(&AgentId::new(MAIN)).map_or(Left::Nothing, |past| past.left());
        if left == Left::Nothing && !may_end {
            return Err(ResumeError::Ended(id.clone()).into());
        }
        if recorded.torn_bytes > 0 {
            tracing::warn!(
                "the last entry of the session `{id}` was cut off; ignoring its {} bytes",
                recorded.torn_bytes
            );
        }
        if reopened.found().iter().any(|fault| fault.is_change()) {
            tracing::warn!("the log of the session `{id}` was changed since it was written; verify it to see where");
        }
        Ok(reopened)
    }
}

/// Ids begin with a date and have digits, hexadecimal ones and `-`.
fn looks_like_an_id(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit()) && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use host_journal::{Clock, MemoryJournals};

    use super::*;

    #[test]
    fn resume_waits_for_a_log_on_a_thread_that_may_block() {
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().expect("a runtime");
        runtime.block_on(async {
            // The only thread that may block is busy, so that the log waits for it, and nothing else does.
            let (free, is_free) = std::sync::mpsc::channel();
            let busy = tokio::task::spawn_blocking(move || is_free.recv());
            let sessions = Arc::new(MemoryJournals::new("/sessions", Clock::system()));
            let mut reopened = std::pin::pin!(Resume::Last.reopen_in(sessions, "/work".into(), true));
            for _ in 0..10 {
                assert!(reopened.as_mut().now_or_never().is_none(), "it was read on the thread of all sessions");
                tokio::task::yield_now().await;
            }
            free.send(()).expect("the thread waits for it");
            assert!(reopened.await.is_err(), "there is no session");
            busy.await.expect("it ends").expect("it was freed");
        });
    }

    #[test]
    fn resume_word_that_is_not_an_id_belongs_to_the_prompt() {
        for (word, is_id) in [
            ("20260301-120000-0a1b2c3d", true),
            ("2026", true),
            ("Now the tests", false),
            ("fix", false),
            ("3 bugs", false),
            ("20260301_1", false),
        ] {
            assert_eq!(looks_like_an_id(word), is_id, "{word}");
        }
    }
}
