//! Runs a call, and runs one that only reads again with the path outside of the workspace that the user allowed.
//!
//! Each run has a fresh store and begins from nothing; what the one before printed is not shown. The call settles once,
//! with the outcome of the last run.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use host_capability::Grants;
use host_message::{FunctionCall, Output};
use host_plugin::{CallError, Claim, Failure, Invocation};
use host_shell::quote;
use host_text::{Advice, Flag, exact};

use super::{Listener, PluginTool};
use crate::{Allowance, CallContext, CallFailure, FailureKind, NotAsked, Outcome, ReadAnswer, Tool};

/// The most questions of one call. Protects the user from a plugin that asks for one path after the other.
const MAX_QUESTIONS: usize = 8;

impl PluginTool {
    /// Runs a call to its end.
    pub(super) async fn run(&self, call: &FunctionCall, context: CallContext) -> Outcome {
        let ceiling = &self.sandbox.ceiling;
        // What the user allowed for this one call, never beyond the ceiling.
        let mut once = context.allowance.besides.meet(ceiling);
        let only_reads = {
            let at_most = ceiling.meet(&self.needs);
            // Running a call again must change nothing: one that writes would write twice.
            at_most.le(&at_most.reading())
        };
        // Each run may be denied another path; a search through a disk would ask about each.
        for question in 0..=MAX_QUESTIONS {
            // Read again: the last answer may have added a folder for the session.
            let held = self.held();
            let grants = if once.capabilities().is_empty() { held } else { Arc::new(held.join(&once)) };
            let (ended, denied) = self.run_with(call, &context, Arc::clone(&grants)).await;
            let (outcome, is_denied) = match ended {
                Ok(output) => return Outcome::Success(output),
                Err(error) => {
                    // What was denied is known from the host: a plugin may report it in words of its own.
                    let is_claimed =
                        matches!(&error, CallError::Failure(Failure::Claimed { claim: Claim::Denied, .. }));
                    let outcome = self.outcome(error);
                    let is_denied = matches!(&outcome, Outcome::Error(CallFailure { kind: FailureKind::Denied, .. }));
                    (outcome, is_denied || is_claimed)
                }
            };
            // The path as the host knows it, and not as the plugin tells it.
            let Some(path) = denied.filter(|_| is_denied && only_reads) else { return outcome };
            let name = self.plugin.name();
            // What the ceiling leaves out stays denied, whatever the user says.
            if ceiling.permit_read(name, &path).is_err() || grants.permit_read(name, &path).is_ok() {
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
                ReadAnswer::NotAsked(why) => return self.unread(&path, &grants, why).into(),
            }
        }
        CallFailure::new(FailureKind::Denied, "the call wants to read too many places outside of the workspace").into()
    }

    /// Runs a call once; also returns the last path that it was not let read.
    async fn run_with(
        &self,
        call: &FunctionCall,
        context: &CallContext,
        grants: Arc<Grants>,
    ) -> (Result<Output, CallError>, Option<std::path::PathBuf>) {
        let Allowance { shown, reach, .. } = context.allowance.as_ref();
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
            ..self.invocation(call, grants, context.cancel.clone())
        };
        let ended = self.sandbox.runtime.call(&self.plugin, invocation).await;
        let denied = listener.denied.lock().unwrap_or_else(PoisonError::into_inner).take();
        (ended, denied)
    }

    /// Explains to the model why a path outside of the workspace is not read, and what would change it.
    fn unread(&self, path: &Path, grants: &Grants, why: NotAsked) -> CallFailure {
        let wording = self.sandbox.runtime.wording();
        let words = match (grants.permit_read(self.plugin.name(), path), why) {
            (Ok(_), _) => format!("`{}` was denied a path", self.spec.name),
            (Err(denied), NotAsked::Secret | NotAsked::Denied) => denied.explain(wording),
            (Err(denied), NotAsked::NobodyListens) => {
                let folder = path.parent().filter(|folder| folder.parent().is_some()).and_then(Path::to_str);
                // Suggested only if pasting it does what it seems to.
                let folder = folder.filter(|folder| exact(folder) == *folder);
                match folder {
                    Some(folder) => {
                        let explained = denied.explain(wording);
                        let or = Advice::from(", or ").flag_with(Flag::AddDir, quote(folder)).text(".");
                        explained.trim_end_matches('.').to_owned() + &wording.of(&or)
                    }
                    None => denied.explain(wording),
                }
            }
            (Err(denied), NotAsked::Subagent) => {
                format!("{denied}. A subagent cannot ask for it: the agent that called you can, by reading it itself.")
            }
            (Err(denied), NotAsked::Link) => {
                format!(
                    "{denied}. A symbolic link is on the way: name the place that it leads to, and the user is asked."
                )
            }
        };
        CallFailure::new(FailureKind::Denied, words)
    }
}
