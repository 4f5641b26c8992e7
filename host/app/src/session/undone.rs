//! What the last prompt left behind outside the conversation, before it is taken back: files that its calls changed.
//!
//! The session log has each change. Deliberately not here: changing files back.

use std::collections::BTreeSet;

use host_journal::CallStatus;
use host_message::{Content, Display};
use host_sessions::find;
use host_sessions::transcript::{Transcript, What};
use host_tool::FailureKind;

use super::Session;

/// A prompt that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Its text.
    pub prompt: String,
    /// The files that its calls changed and that stay as they are now, in their order. Not escaped.
    pub changed: Vec<String>,
    /// The tools that it called and that may have changed more, such as one that runs programs. Not escaped.
    pub others: Vec<String>,
}

/// The effects of a prompt.
#[derive(Debug, Default)]
pub(super) struct Effects {
    changed: BTreeSet<String>,
    others: BTreeSet<String>,
}

impl Effects {
    pub(super) fn into_undone(self, prompt: String) -> Undone {
        Undone { prompt, changed: self.changed.into_iter().collect(), others: self.others.into_iter().collect() }
    }
}

/// Returns the effects of the last prompt. A log that cannot be read has none to tell.
pub(super) fn effects(session: &Session) -> Effects {
    let mut effects = Effects::default();
    let calls: BTreeSet<&str> =
        session.last_exchange().iter().flat_map(Content::function_calls).map(|call| call.id.as_str()).collect();
    let Ok(stored) = find::by_id(&*session.app().journals, session.id().as_str()) else { return effects };
    for entry in Transcript::read(&stored).entries {
        let What::Call(call) = entry.what else { continue };
        let Some(outcome) = call.outcome.filter(|_| calls.contains(call.id.as_str())) else { continue };
        let has_run = match outcome.status {
            CallStatus::Success | CallStatus::Interrupted => true,
            CallStatus::Error { kind } => may_have_run(kind),
            CallStatus::Cancelled => false,
        };
        match outcome.display {
            Some(Display::Difference { path, .. }) if outcome.status == CallStatus::Success => {
                effects.changed.insert(path);
            }
            // It was proposed and not made.
            Some(Display::Difference { .. }) => {}
            Some(Display::Summary(_) | Display::Checklist { .. }) | None
                if has_run && !only_reads(session, &call.name) =>
            {
                effects.others.insert(call.name);
            }
            Some(Display::Summary(_) | Display::Checklist { .. }) | None => {}
        }
    }
    effects
}

/// Returns whether a call that failed this way may have had effects.
fn may_have_run(kind: FailureKind) -> bool {
    match kind {
        FailureKind::UnknownTool | FailureKind::InvalidArguments | FailureKind::Denied | FailureKind::Unauthorized => {
            false
        }
        FailureKind::NotFound
        | FailureKind::Conflict
        | FailureKind::Unavailable
        | FailureKind::TimedOut
        | FailureKind::Crashed
        | FailureKind::Failed => true,
    }
}

/// Returns whether a tool says that it only reads. Subagents only read too.
fn only_reads(session: &Session, name: &str) -> bool {
    let tools = session.app().plugins.iter().flat_map(|plugin| &plugin.manifest.tools);
    let of_plugin = tools.map(|tool| &tool.spec).find(|spec| spec.name.as_str() == name);
    of_plugin.map_or_else(
        || session.agents().all().iter().any(|agent| agent.name() == name),
        |spec| spec.annotations.read_only,
    )
}
