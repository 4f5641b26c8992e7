//! Files outside of the workspace in calls that change files: what has to be read before such a call is known, and the
//! folder that an answer allows to be changed.
//!
//! Promises: writing there is asked about as reading is, in every mode. A rule that allows the tool does not answer,
//! unless its scope names the files; an answer holds for this call or, until the session ends, for the folder of the
//! file, without secrets and what other programs obey, and never for the workspace or a home as a whole.
//!
//! Deliberately not here: which files there are in no question (`PluginTool`), and opening anything.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_text::exact;

use super::questions::{Asked, CallQuestions};
use super::{AtGate, Considered, Gate, Passed};
use crate::asking::{MAX_QUESTIONS, too_many_places};
use crate::{
    Always, Because, CallAsker, Decided, Decision, FailureKind, Intent, Lasting, OutsideRead, Query, ReadAnswer,
    Reason, Tool, Until, Verdict,
};

impl Considered {
    /// Returns what the call has to read before it is known; `None` if it is known, or is denied anyway.
    pub(super) fn reads_first(&self) -> Option<OutsideRead> {
        self.intent.reads_first.clone().filter(|_| self.verdict.decision != Decision::Deny)
    }

    /// Returns the folder outside of the workspace in which the call changes files; `None` if these are several, or the
    /// folder is too wide for one answer.
    pub(super) fn folder_outside(&self) -> Option<PathBuf> {
        let Self { access, intent, .. } = self;
        let folder = |path: &PathBuf| access.writes.folder_of(path);
        let (first, others) = intent.changes_outside.split_first()?;
        let of_first = folder(first)?;
        others.iter().all(|path| folder(path).as_ref() == Some(&of_first)).then_some(of_first)
    }

    /// Returns the answer that allows that folder until the session ends.
    pub(super) fn offer_outside(&self) -> Option<Always> {
        let folder = self.folder_outside()?;
        let words = format!("reading and changing anything in `{}`", exact(&folder.display().to_string()));
        Some(Always { answer: Lasting::Always, until: Until::SessionEnds, words })
    }

    /// Allows reading and changing what is in a folder until the session ends; returns whether that is possible.
    pub(super) fn opens(&self, folder: &Path) -> bool {
        // Of a file that may be changed the preview has to be read.
        self.access.reads.allow(folder) && self.access.writes.allow(folder)
    }
}

/// Says that a call changes a file outside of the workspace.
pub(super) fn changes_outside(path: &Path) -> String {
    format!("it changes `{}`, outside of the workspace", exact(&path.display().to_string().replace('\n', "\\n")))
}

impl Gate {
    /// Asks about a call that a rule allows, if nothing in the rule shows that it meant files elsewhere.
    pub(super) fn ask_about_outside(&self, verdict: &mut Verdict, query: &Query<'_>, intent: &Intent) {
        let Some(path) = intent.changes_outside.first().filter(|_| verdict.decision == Decision::Allow) else { return };
        if intent.touches.le(&intent.granted) || self.policy().names_scope(query) {
            return;
        }
        verdict.decision = Decision::Ask;
        let because = Because::Obscure(changes_outside(path));
        verdict.reasons.push(Reason { part: None, decision: Decision::Ask, because });
    }

    /// Asks whether a call may read what it has to read first, and considers it again. `asked` counts the paths.
    pub(super) async fn read_first(
        &self,
        before: Considered,
        first: OutsideRead,
        asked: usize,
        tool: &Arc<dyn Tool>,
        at: &AtGate<'_>,
    ) -> Result<Considered, Passed> {
        let OutsideRead { path, denied, wording } = first;
        let refused = |failure| Passed::Denied { failure, decided: Some(Decided::Denied) };
        if asked > MAX_QUESTIONS {
            return Err(refused(too_many_places()));
        }
        let Considered { call, access, mut intent, hooked, .. } = before;
        let questions = CallQuestions {
            gate: self.clone(),
            call: Arc::clone(&call),
            run_clock: at.run_clock.clone(),
            asked: Asked::Before(at.asked.clone()),
        };
        match questions.may_read(&path, intent.origin.clone()).await {
            ReadAnswer::Once(scope) => intent.outside.readable = intent.outside.readable.with(scope),
            ReadAnswer::ForSession => {}
            ReadAnswer::Absent => intent.outside.absent.push(path),
            ReadAnswer::Rejected(reason) => return Err(Passed::Rejected { reason }),
            ReadAnswer::NotAsked(why) => return Err(refused(why.explained(&path, &denied, wording))),
        }
        match self.consider(call, tool, access, intent.outside, at.cancel).await {
            // Hooks have seen the call: it is the same.
            Ok(after) => Ok(Considered { hooked, ..after }),
            Err(failure) => {
                let decided = (failure.kind == FailureKind::Denied).then_some(Decided::Denied);
                Err(Passed::Denied { failure, decided })
            }
        }
    }
}
