//! The row below the input line: when it is drawn.
//!
//! Deliberately not here: its words (`host_app::session::pages`), and which parts fit into the row (`host_terminal`).

use std::sync::{Arc, Mutex, PoisonError};

use host_agent::{Event, EventKind, Observer};
use host_app::session::status::{SessionStatus, StatusTracker};
use host_app::session::{Session, pages};
use host_terminal::{StatusPart, Terminal};
use tokio::task::AbortHandle;

use super::Repl;

fn parts(status: &SessionStatus) -> Vec<StatusPart> {
    let part = |(words, importance)| StatusPart { words, importance };
    pages::status::parts(status).into_iter().map(part).collect()
}

/// Draws the row as the session is now. One caller at a time, from reading the session until the row is drawn: one that
/// read earlier and drew later would put back a port that is gone, and nothing would correct it.
fn draw(look: impl FnOnce() -> SessionStatus, show: impl FnOnce(Vec<StatusPart>)) {
    static DRAWING: Mutex<()> = Mutex::new(());
    let _alone = DRAWING.lock().unwrap_or_else(PoisonError::into_inner);
    show(parts(&look()));
}

/// Keeps the row up to date while a run is under way.
pub(super) struct StatusRow {
    status: Arc<StatusTracker>,
    terminal: Terminal,
}

impl StatusRow {
    pub(super) fn new(session: &Session, terminal: Terminal) -> Self {
        Self { status: Arc::clone(session.status()), terminal }
    }
}

/// Keeps the row up to date with what no event reports, until it is dropped.
pub(super) struct StatusTask(AbortHandle);

impl Drop for StatusTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl StatusRow {
    /// Shows the ports of programs as they come and go: a server listens a moment after the call that started it.
    pub(super) fn listen(&self) -> StatusTask {
        let (status, terminal) = (Arc::clone(&self.status), self.terminal.clone());
        let mut changes = status.port_changes();
        let task = tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                draw(|| status.status(), |parts| terminal.show_status(parts));
            }
        });
        StatusTask(task.abort_handle())
    }
}

impl Observer for StatusRow {
    fn event(&self, event: &Event<'_>) {
        match event.kind {
            // The pieces of a reply change nothing, and there are many.
            EventKind::Content { .. }
            | EventKind::Thought { .. }
            | EventKind::ToolCallForming { .. }
            | EventKind::ToolCallOutput { .. }
            | EventKind::ToolCallProgress { .. } => {}
            _ => draw(|| self.status.status(), |parts| self.terminal.set_status(parts)),
        }
    }
}

impl Repl {
    /// Brings the row up to date before the user's turn.
    pub(super) fn refresh_status(&self) {
        if is_shown(&self.session) {
            draw(|| self.session.refresh_status(), |parts| self.terminal.set_status(parts));
        }
    }
}

/// Whether the user wants to see the row.
pub(super) fn is_shown(session: &Session) -> bool {
    session.app().configuration().conversation().has_status
}
