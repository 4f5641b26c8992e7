//! `/output` and Ctrl-O: a call of the session whole, in the pager.
//!
//! Ctrl-O works while the model does, so a task of its own waits for the key.
//!
//! Deliberately not here: finding the call (`host_sessions::ended_calls`), and running the pager (`pager`).

use std::sync::{Arc, Mutex, PoisonError};

use host_app::session::Session;
use host_journal::Journals;
use host_message::SessionId;
use host_sessions::ended_calls::{self, Found};
use host_sessions::find;
use host_sessions::pages::call;
use host_settings::error::Failure;
use host_terminal::Terminal;
use host_text::{clip, counted, exact};
use tokio::task::AbortHandle;

use crate::exit;
use crate::pager::Pager;
use crate::printer::Style;

/// Shows calls of a session.
#[derive(Clone)]
pub(super) struct CallPages {
    terminal: Terminal,
    pager: Pager,
    sessions: Arc<dyn Journals>,
    /// The session that is under way; `/clear` begins another one.
    session: Arc<Mutex<SessionId>>,
}

/// Waits for Ctrl-O until it is dropped.
pub(super) struct PageTask(AbortHandle);

impl Drop for PageTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl CallPages {
    pub(super) fn new(session: &Session, terminal: Terminal) -> Self {
        let pager = Pager::from_environment(session.app().environment(), terminal.mode());
        let sessions = Arc::clone(session.app().journals());
        Self { terminal, pager, sessions, session: Arc::new(Mutex::new(session.id().clone())) }
    }

    /// Looks at this session from now on.
    pub(super) fn follow(&self, session: &SessionId) {
        session.clone_into(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Shows the last call at each Ctrl-O.
    pub(super) fn listen(&self, style: Style) -> PageTask {
        let pages = self.clone();
        let listening = tokio::spawn(async move {
            loop {
                pages.terminal.expands().await;
                if let Err(failure) = pages.show(None).await {
                    pages.terminal.lines(&exit::words(&failure, style));
                }
            }
        });
        PageTask(listening.abort_handle())
    }

    /// Shows a call: the last one, or another one, counted from the last.
    pub(super) async fn show(&self, back: Option<&str>) -> Result<(), Failure> {
        let back = back.map_or(Ok(1), parse)?;
        let id = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stored = find::by_id(&*self.sessions, id.as_str())?;
        // A long log takes its time, and the model may be at work.
        let reading = tokio::task::spawn_blocking(move || ended_calls::ended(&stored, back));
        let found = reading.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let Found { call: ended, calls } = found?;
        let Some(ended) = ended else {
            return Err(match calls {
                0 => Failure::input("no call has ended in this session yet"),
                calls => Failure::input(format!("there is no call {back}: {} ended", counted(calls, "call")))
                    .help("/output 1 is the last call, 2 the one before it"),
            });
        };
        self.pager.show(&self.terminal, &call::text(&ended, back, calls)).await;
        Ok(())
    }
}

fn parse(back: &str) -> Result<usize, Failure> {
    let number = back.parse().ok().filter(|back| (1..=ended_calls::MAX_BACK).contains(back));
    number.ok_or_else(|| {
        let most = ended_calls::MAX_BACK;
        Failure::input(format!("`{}` is not a number from 1 to {most}", exact(&clip(back, 40))))
            .help("/output shows the last call, /output 2 the one before it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_number_is_counted_from_the_last() {
        assert_eq!(parse("2").ok(), Some(2));
        for wrong in ["0", "-1", "x", "1001", "99999999999999999999", "\u{1b}[2J"] {
            let failure = parse(wrong).expect_err(wrong);
            assert!(failure.message.ends_with("is not a number from 1 to 1000") && !failure.message.contains('\u{1b}'));
        }
    }
}
