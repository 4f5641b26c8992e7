//! Runs a call, and runs one that only reads again with the path outside of the workspace that the user allowed.
//!
//! Each run has a fresh store and begins from nothing; what the one before printed is not shown. The call settles once,
//! with the outcome of the last run.

use std::sync::{Arc, Mutex, PoisonError};

use host_capability::Grants;
use host_message::{FunctionCall, Output};
use host_plugin::{CallError, Claim, Failure, Invocation};

use super::{Listener, PluginTool};
use crate::asking::{MAX_QUESTIONS, too_many_places};
use crate::{Allowance, CallContext, CallFailure, FailureKind, NotAsked, Outcome, ReadAnswer, Tool};

impl PluginTool {
    /// Runs a call to its end.
    pub(super) async fn run(&self, call: &FunctionCall, context: CallContext) -> Outcome {
        let ceiling = &self.sandbox.ceiling;
        // What the user allowed for this one call, never beyond the ceiling.
        let mut once = context.allowance.besides.meet(ceiling);
        let only_reads = {
            let at_most = ceiling.meet(&self.needs);
            // Running a call again must change nothing: one that writes would write twice, as would the calls that it
            // makes.
            at_most.le(&at_most.reading()) && !self.calls_tools()
        };
        // Each run may be denied another path; a search through a disk would ask about each.
        for question in 0..=MAX_QUESTIONS {
            // Read again: the last answer may have added a folder for the session.
            let held = self.held();
            let grants = if once.capabilities().is_empty() { held } else { Arc::new(held.join(&once)) };
            let (ended, denied) = self.run_with(call, &context, Arc::clone(&grants)).await;
            let (outcome, is_denied) = match ended {
                Ok(output) => return Outcome::Success(output),
                Err(error) => self.failed(error),
            };
            // The path as the host knows it, and not as the plugin tells it.
            let Some(path) = denied.filter(|_| is_denied && only_reads) else { return outcome };
            let name = self.plugin.name();
            let Err(denied) = grants.permit_read(name, &path) else { return outcome };
            let wording = self.sandbox.runtime.wording();
            // What the ceiling leaves out stays denied, whatever the user says.
            if ceiling.permit_read(name, &path).is_err() {
                return outcome;
            }
            let answer = match &context.questions {
                Some(questions) if question < MAX_QUESTIONS => tokio::select! {
                    biased;
                    () = context.cancel.cancelled() => {
                        return Outcome::Cancelled { reason: "the call was asked to stop".to_owned(), partial: None };
                    }
                    answer = questions.may_read(&path, self.origin()) => answer,
                },
                Some(_) | None => ReadAnswer::NotAsked(NotAsked::NobodyListens),
            };
            match answer {
                ReadAnswer::Once(scope) => once = once.with(scope).meet(ceiling),
                ReadAnswer::ForSession => {}
                ReadAnswer::Rejected(reason) => return Outcome::Cancelled { reason, partial: None },
                // As before there was an answer: a call that only reads learns nothing about a file that is not there.
                ReadAnswer::Absent => return NotAsked::Denied.explained(&path, &denied, wording).into(),
                ReadAnswer::NotAsked(why) => return why.explained(&path, &denied, wording).into(),
            }
        }
        too_many_places().into()
    }

    /// Returns the outcome of a run that failed, and whether it reports that it was denied something.
    pub(super) fn failed(&self, error: CallError) -> (Outcome, bool) {
        // What was denied is known from the host: a plugin may report it in words of its own.
        let is_claimed = matches!(&error, CallError::Failure(Failure::Claimed { claim: Claim::Denied, .. }));
        let outcome = self.outcome(error);
        let is_denied = matches!(&outcome, Outcome::Error(CallFailure { kind: FailureKind::Denied, .. }));
        (outcome, is_denied || is_claimed)
    }

    /// Runs a call once; also returns the last path that it was not let read.
    async fn run_with(
        &self,
        call: &FunctionCall,
        context: &CallContext,
        grants: Arc<Grants>,
    ) -> (Result<Output, CallError>, Option<std::path::PathBuf>) {
        let Allowance { shown, reach, absent, .. } = context.allowance.as_ref();
        let (live, wanted) = (context.live.clone(), Arc::clone(&self.wanted));
        let questions = context.questions.clone();
        // One for each run, so that a path which an earlier run was denied does not count again.
        let listener = Arc::new(Listener {
            live,
            wanted,
            fenced: Arc::clone(&self.fenced),
            questions,
            shown: shown.clone(),
            origin: self.origin(),
            reached: tokio::sync::Mutex::default(),
            denied: Mutex::default(),
        });
        let invocation = Invocation {
            listener: Arc::clone(&listener) as Arc<_>,
            shown: shown.clone(),
            reach: *reach,
            absent: absent.clone(),
            tools: context.tools.clone(),
            ..self.invocation(call, grants, context.cancel.clone())
        };
        let ended = self.sandbox.runtime.call(&self.plugin, invocation).await;
        let denied = listener.denied.lock().unwrap_or_else(PoisonError::into_inner).take();
        (ended, denied)
    }
}
