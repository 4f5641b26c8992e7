//! What stays of a prompt that was stopped or failed: its calls, and what they changed in files.
//!
//! Promises: what had a reply stays in the conversation; the user learns what was kept and the model which files
//! changed. Deliberately not here: keeping it, which the loop does, and the words for calls that were stopped.

use std::collections::BTreeSet;

use host_agent::RunResult;
use host_journal::TerminateReason;
use host_message::{CallId, Content, Part};
use host_sessions::undo::{FileChange, paths};
use host_settings::error::{Failure, run_failure};
use host_text::{Advice, counted};

use super::Session;

/// The most files that the user or the model is given by name.
const NAMED: usize = 20;

/// What stays of a prompt that was stopped or failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutShort {
    /// Whether it was kept at all: one without any reply leaves the conversation as it was before.
    pub is_kept: bool,
    /// The number of its calls in the conversation.
    pub calls: usize,
    /// The files that its calls changed: paths from the workspace or absolute, safe to show, each once.
    pub changed: Vec<String>,
    /// Whether more may have changed than is known, and can be undone.
    pub may_have_changed_more: bool,
}

impl CutShort {
    /// Returns what was kept, as a clause: `3 calls kept, changed: a.rs, b.rs`. Safe to show.
    pub fn kept(&self) -> String {
        if !self.is_kept {
            return "no reply came, so nothing was kept".to_owned();
        }
        let mut words = match self.calls {
            0 => "the reply so far is kept".to_owned(),
            calls => format!("{} kept", counted(calls, "call")),
        };
        if !self.changed.is_empty() {
            words.push_str(&format!(", changed: {}", named(&self.changed)));
        }
        if self.may_have_changed_more {
            words.push_str(if self.changed.is_empty() { ", files may have changed" } else { " and perhaps more" });
        }
        words
    }
}

/// Returns names in a line: of many the first.
fn named(names: &[String]) -> String {
    let shown = names.get(..NAMED).unwrap_or(names).join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl Session {
    /// Returns what stays of the prompt that just ended so; `None` if it was neither stopped nor failed.
    pub fn cut_short(&self, result: &RunResult) -> Option<CutShort> {
        match result.terminate_reason {
            TerminateReason::Aborted | TerminateReason::Error => {}
            TerminateReason::Goal
            | TerminateReason::Timeout
            | TerminateReason::MaxTurns
            | TerminateReason::ErrorNoCompleteTaskCall => return None,
        }
        if result.is_taken_back {
            return Some(CutShort::default());
        }
        let calls = self.last_calls();
        let (files, is_partial) = self.changed_by(&calls);
        let changed = paths(&files);
        Some(CutShort { is_kept: true, calls: calls.len(), changed, may_have_changed_more: is_partial })
    }

    /// Returns why a run failed; `None` if it reached its end. The failure of one that changed files before it was cut
    /// short says how to take that back.
    pub fn failure(&self, result: &RunResult) -> Option<Failure> {
        let failure = run_failure(result)?;
        let is_changed = |cut: CutShort| !cut.changed.is_empty() || cut.may_have_changed_more;
        Some(match self.cut_short(result).is_some_and(is_changed) && failure.help.is_none() {
            true => failure.help(Advice::from("files were changed; undo that with ").command_for("undo", "`/undo`")),
            false => failure,
        })
    }

    /// Returns what the model has to know about a prompt that was cut short before this one, if files changed.
    pub(super) fn changed_by_cut_short(&self) -> Option<Part> {
        self.conversation.executor.cut_short()?;
        let (files, is_partial) = self.changed_by(&self.last_calls());
        let changed = paths(&files);
        let more = if is_partial { ", and perhaps more" } else { "" };
        let text = format!("\n[Files that the calls before this prompt changed: {}{more}]", named(&changed));
        (!changed.is_empty()).then(|| Part::text(text))
    }

    /// The ids of the calls since the last prompt.
    fn last_calls(&self) -> BTreeSet<CallId> {
        self.last_exchange().iter().flat_map(Content::function_calls).map(|call| call.id.clone()).collect()
    }

    /// Returns what these calls changed in files, and whether that may not be all. Changes that cannot be read are
    /// unknown.
    fn changed_by(&self, calls: &BTreeSet<CallId>) -> (Vec<FileChange>, bool) {
        if calls.is_empty() {
            return (Vec::new(), false);
        }
        let Ok(changing) = self.undo().and_then(|undo| undo.calls()) else { return (Vec::new(), true) };
        let of_these = changing.into_iter().filter(|call| calls.contains(&CallId::new(call.id.as_str())));
        let mut files = Vec::new();
        let mut is_partial = false;
        for call in of_these {
            is_partial |= !call.not_kept.is_empty();
            files.extend(call.files);
        }
        (files, is_partial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_said_in_a_clause() {
        let cut = |calls, changed: &[&str], may_have_changed_more| CutShort {
            is_kept: true,
            calls,
            changed: changed.iter().map(|name| (*name).to_owned()).collect(),
            may_have_changed_more,
        };
        for (cut, words) in [
            (CutShort::default(), "no reply came, so nothing was kept"),
            (cut(0, &[], false), "the reply so far is kept"),
            (cut(1, &[], false), "1 call kept"),
            (cut(3, &["a", "b"], false), "3 calls kept, changed: a, b"),
            (cut(1, &["a"], true), "1 call kept, changed: a and perhaps more"),
            (cut(1, &[], true), "1 call kept, files may have changed"),
        ] {
            assert_eq!(cut.kept(), words);
        }
    }
}
