//! What a call does to files outside of the workspace, before it runs.
//!
//! Promises: a preview reads nothing there that the user did not let it read, and no error of it says what is there; a
//! file that is protected, secret or denied is in no question; what the user allowed until the session ends counts only
//! for files that the preview names, which is all that the call can change then.
//!
//! Deliberately not here: asking (the gate).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use host_capability::{Capability, Grants, Scope};
use host_message::FunctionCall;
use host_plugin::{CallListener, Confirmation, Invocation};

use super::PluginTool;
use crate::{CallFailure, FailureKind, Intent, Looking, Outcome, OutsideRead};

/// Why there is no preview.
pub(super) enum Unseen {
    /// The call cannot run.
    Failed(CallFailure),
    /// It has to read a file first that the user can be asked about.
    Reads(Box<OutsideRead>),
}

/// Receives the last path that a preview was not let read.
#[derive(Default)]
struct Denial(Mutex<Option<PathBuf>>);

impl CallListener for Denial {
    fn output(&self, _text: &str) {}

    fn progress(&self, _done: u64, _total: Option<u64>, _message: &str) {}

    fn read_denied(&self, path: &Path) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
    }
}

impl PluginTool {
    /// Returns the invocation of a look at a call.
    pub(super) fn looking(&self, call: &FunctionCall, held: &Arc<Grants>, looking: Looking) -> Invocation {
        let Looking { cancel, outside } = looking;
        let readable = outside.readable.meet(&self.sandbox.ceiling);
        let grants = match readable.capabilities().is_empty() {
            true => Arc::clone(held),
            false => Arc::new(held.join(&readable)),
        };
        Invocation { absent: outside.absent, ..self.invocation(call, grants, cancel) }
    }

    /// Asks the plugin what a call would do.
    pub(super) async fn previewed(
        &self,
        call: &FunctionCall,
        held: &Arc<Grants>,
        looking: Looking,
    ) -> Result<Option<Confirmation>, Unseen> {
        let denial = Arc::new(Denial::default());
        let invocation = Invocation { listener: Arc::clone(&denial) as Arc<_>, ..self.looking(call, held, looking) };
        let grants = Arc::clone(&invocation.grants);
        let error = match self.sandbox.runtime.preview(&self.plugin, invocation).await {
            Ok(previewed) => return Ok(previewed),
            Err(error) => error,
        };
        let denied = denial.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (outcome, is_denied) = self.failed(error);
        // The path as the host knows it, and not as the plugin tells it.
        match denied.filter(|_| is_denied) {
            Some(path) => self.to_read_first(call, path, &grants, outcome),
            None => Err(Unseen::Failed(failure(outcome))),
        }
    }

    /// Returns that a file has to be read first, if the call could then change it: nothing else that a preview reads is
    /// worth a question before the call itself is known.
    fn to_read_first(
        &self,
        call: &FunctionCall,
        path: PathBuf,
        grants: &Grants,
        outcome: Outcome,
    ) -> Result<Option<Confirmation>, Unseen> {
        let (name, at_most) = (self.plugin.name(), self.sandbox.ceiling.meet(&self.needs));
        let failed = |outcome| Err(Unseen::Failed(failure(outcome)));
        let Err(denied) = grants.permit_read(name, &path) else { return failed(outcome) };
        if !at_most.has(Capability::FsWrite) || at_most.permit_read(name, &path).is_err() {
            return failed(outcome);
        }
        if let Err(protected) = at_most.permit_write(name, &path) {
            let words = self.never_allowed(call, &protected);
            return Err(Unseen::Failed(CallFailure::new(FailureKind::Denied, words)));
        }
        let wording = self.sandbox.runtime.wording();
        match self.sandbox.runtime.access().writes.scope_of(&path) {
            Some(_) => Err(Unseen::Reads(Box::new(OutsideRead { path, denied, wording }))),
            None => failed(outcome),
        }
    }

    /// Returns what is known of a call that has to read first: that it may change the file.
    pub(super) fn reading_first(&self, first: OutsideRead, quiet: Intent) -> Intent {
        let scope = Scope::for_file(Capability::FsWrite, &first.path).ok();
        let touches = scope.into_iter().collect::<Grants>().meet(&quiet.at_most);
        Intent { touches, reads_first: Some(first), ..quiet }
    }

    /// Returns the files outside of the workspace that a call changes and its tool is not granted.
    pub(super) fn changes_outside(
        &self,
        confirmation: &Confirmation,
        granted: &Grants,
    ) -> Result<Vec<PathBuf>, CallFailure> {
        let (name, workspace, access) = (self.plugin.name(), &self.sandbox.workspace, self.sandbox.runtime.access());
        let is_outside = |path: &PathBuf| {
            !path.starts_with(workspace.root())
                && !access.added.iter().any(|folder| path.starts_with(folder))
                && granted.permit_write(name, path).is_err()
        };
        let named = confirmation.writes().into_iter().filter_map(|path| workspace.absolute(path).ok());
        let outside: Vec<PathBuf> = named.filter(is_outside).collect();
        // Keys, logins and what other programs obey are in no question: a question invites a yes.
        let never = outside.iter().find(|path| access.writes.scope_of(path).is_none());
        match never.and_then(|path| granted.permit_write(name, path).err()) {
            Some(denied) => Err(CallFailure::new(FailureKind::Denied, denied.explain(self.sandbox.runtime.wording()))),
            None => Ok(outside),
        }
    }

    /// Adds what the user lets calls change until the session ends.
    pub(super) fn with_session_writes(&self, granted: Grants, at_most: &Grants) -> Grants {
        granted.join(&self.sandbox.runtime.access().writes.grants().meet(at_most))
    }
}

/// Returns how a preview failed, for a call that is not going to run.
pub(super) fn failure(outcome: Outcome) -> CallFailure {
    match outcome {
        Outcome::Error(failure) => failure,
        Outcome::Cancelled { reason, .. } => CallFailure::new(FailureKind::Failed, reason),
        Outcome::Success(_) => CallFailure::new(FailureKind::Failed, "the preview failed"),
    }
}
