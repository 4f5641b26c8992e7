//! Detects a model that repeats itself: the same calls with the same results, or the same words.
//!
//! Promises: its cost is linear in the length of the watched text, its memory is bounded, and a text under 500
//! characters is never a loop. The numbers are those of Gemini CLI, whose users showed what is *not* a loop: a call
//! that is repeated until its result changes, and everything whose form repeats itself (code, tables, lists, drawings).
//!
//! Deliberately not here: the reaction to a loop, which the run decides, and asking a model whether it is one.

mod calls;
mod lines;
mod text;

use std::sync::{Mutex, MutexGuard, PoisonError};

use host_message::FunctionCall;
use host_tool::{Decided, Outcome};
use tokio_util::sync::CancellationToken;

use self::calls::CallWatch;
use self::text::TextWatch;
use crate::complete::COMPLETE_TASK;
use crate::{EventKind, LoopDetection};

/// A description of what a model repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Repeated {
    /// Calls, with the same results.
    #[error("{} repeated {times} times in a row with the same result", calls.join(", then "))]
    Calls {
        /// The calls of one round, each as its name and its arguments, cut when they are long.
        calls: Vec<String>,
        /// Number of rounds.
        times: usize,
    },
    /// Text within one reply.
    #[error("the text `{}` repeated {times} times in quick succession", host_text::exact(text))]
    Text {
        /// The piece that was noticed; a longer one may repeat around it.
        text: String,
        /// Number of times it occurred.
        times: usize,
    },
}

/// The detector of one run.
#[derive(Debug)]
pub(crate) struct LoopDetector {
    detection: LoopDetection,
    calls: Mutex<CallWatch>,
}

/// Watches one reply's text while it arrives.
#[derive(Debug)]
pub(crate) struct ReplyWatch {
    detection: LoopDetection,
    text: Mutex<(TextWatch, Option<Repeated>)>,
    found: CancellationToken,
}

impl LoopDetector {
    pub(crate) fn new(detection: LoopDetection) -> Self {
        Self { detection, calls: Mutex::default() }
    }

    /// Takes the calls of a reply, which are about to run, and returns whether one of them closes a loop. If so, none
    /// of them counts: they are not to run, and the next that repeats them closes the loop again.
    ///
    /// Beside a call of `complete_task` no other counts: a task that is done must not be lost to what else is called.
    pub(crate) fn calls(&self, calls: &[FunctionCall]) -> Option<Repeated> {
        match self.detection {
            LoopDetection::On => {
                let completes = |call: &&FunctionCall| call.name.as_str() == COMPLETE_TASK;
                let completing: Vec<_> = calls.iter().filter(completes).collect();
                lock(&self.calls).add(if completing.is_empty() { calls.iter().collect() } else { completing })
            }
            LoopDetection::Off => None,
        }
    }

    /// Takes how one of the calls ended. One about which the user decided does not count: the user is there, sees that
    /// it comes again, and may want it to.
    pub(crate) fn settled(&self, call: &FunctionCall, outcome: &Outcome, decided: Option<Decided>) {
        match self.detection {
            LoopDetection::On if decided.is_some_and(Decided::is_answer) => lock(&self.calls).forget(&call.id),
            LoopDetection::On => lock(&self.calls).settle(&call.id, outcome),
            LoopDetection::Off => {}
        }
    }

    /// Starts to watch the next reply: words of an earlier one do not count in it.
    pub(crate) fn reply(&self) -> ReplyWatch {
        ReplyWatch { detection: self.detection, text: Mutex::default(), found: CancellationToken::new() }
    }
}

impl ReplyWatch {
    /// Takes what arrives of the reply. What the model thinks does not count.
    pub(crate) fn observe(&self, event: &EventKind<'_>) {
        let mut watch = lock(&self.text);
        let (text, found) = &mut *watch;
        if let EventKind::Content { text: piece } = event
            && self.detection == LoopDetection::On
            && found.is_none()
        {
            *found = text.push(piece);
            if found.is_some() {
                self.found.cancel();
            }
        } else if let EventKind::Retry { .. } | EventKind::ModelSwitched { .. } = event {
            *text = TextWatch::default();
        }
    }

    /// Waits until there is a loop.
    pub(crate) async fn looped(&self) {
        self.found.cancelled().await;
    }

    /// The loop, if there was one.
    pub(crate) fn into_found(self) -> Option<Repeated> {
        let (mut text, found) = self.text.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.or_else(|| text.finish())
    }
}

/// Start of the note that warns a model of its first loop.
const NOTE: &str = "You are going round in circles:";

/// Returns whether the text is such a note, and not a message from the user.
pub(crate) fn is_note(text: &str) -> bool {
    text.starts_with(NOTE)
}

/// Returns the note that warns a model of its first loop.
pub(crate) fn note(repeated: &Repeated) -> String {
    format!(
        "{NOTE} {repeated}. It was stopped, and would not have led anywhere. Do not repeat it. \
         Think about why it did not help, and go another way; if there is none, say what you have found and what is in \
         the way. If this happens once more, the run ends."
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use host_message::{CallId, Output, ToolName};
    use serde_json::Map;

    use super::*;

    #[test]
    fn loops_count_no_call_that_the_user_decided_about() {
        let found = |decided: Decided| {
            let detector = LoopDetector::new(LoopDetection::On);
            let name = || ToolName::new("shell");
            (0..9).any(|at| {
                let call = FunctionCall::new(CallId::new(format!("c{at}")), name(), Map::new());
                let found = detector.calls(std::slice::from_ref(&call)).is_some();
                detector.settled(&call, &Outcome::Success(Output::text("pushed")), Some(decided));
                found
            })
        };
        for (decided, is_loop) in [
            (Decided::Allowed, true),
            (Decided::Denied, true),
            (Decided::Approved, false),
            (Decided::Changed, false),
            (Decided::Rejected, false),
        ] {
            assert_eq!(found(decided), is_loop, "{decided:?}");
        }
    }
}
