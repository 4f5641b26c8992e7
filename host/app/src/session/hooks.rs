//! The beginning and the end of a session, as hooks are asked about them.
//!
//! Promises: a session that sends no prompt asks no hook; the end of a session waits for its hooks only so long.
//! Deliberately not here: every other event, which the loop and the gate ask about.

use std::time::Duration;

use host_message::Part;
use host_tool::{HookEvent, HookInput};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Session;

/// How long the end of a session waits for its hooks. Protects a user who leaves.
pub const END_LIMIT: Duration = Duration::from_secs(5);

/// How a conversation began, as hooks are asked about it before its first prompt.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    /// `None` once they were asked.
    source: Option<&'static str>,
    /// What they said, until a prompt takes it to the model.
    context: Vec<Part>,
}

/// Why a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The user begins another conversation.
    Clear,
    /// The user leaves.
    Exit,
    /// The run is done, or the client is gone.
    Other,
}

impl Beginning {
    pub(super) fn new(source: &'static str) -> Self {
        Self { source: Some(source), context: Vec::new() }
    }

    pub(super) fn context(&self) -> impl Iterator<Item = Part> {
        self.context.iter().cloned()
    }

    pub(super) fn was_sent(&mut self) {
        self.context.clear();
    }
}

impl Session {
    /// Asks the hooks about the beginning of the session, once.
    pub(super) async fn begins(&mut self, cancel: &CancellationToken) {
        let Some(source) = self.beginning.source.take() else { return };
        let gate = &self.conversation.gate;
        let Some(hooks) = gate.hooks(HookEvent::SessionStart) else { return };
        let asked = hooks.ask(gate.asker(), HookInput::SessionStart { source });
        let answer = cancel.run_until_cancelled(asked).await.unwrap_or_default();
        self.beginning.context =
            answer.context.iter().map(|text| Part::text(format!("\n{}", text.for_model()))).collect();
    }

    /// Asks the hooks about the end of the session. A frontend calls it before it drops or clears the session.
    pub async fn end(&mut self, reason: SessionEnd) {
        if self.beginning.source.is_some() {
            return;
        }
        let gate = &self.conversation.gate;
        let Some(hooks) = gate.hooks(HookEvent::SessionEnd) else { return };
        let reason = match reason {
            SessionEnd::Clear => "clear",
            SessionEnd::Exit => "exit",
            SessionEnd::Other => "other",
        };
        // What takes longer is ended: dropping the future ends its programs.
        drop(timeout(END_LIMIT, hooks.ask(gate.asker(), HookInput::SessionEnd { reason })).await);
    }
}
