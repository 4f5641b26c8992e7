//! Reloads the plugins of an application whose files may have changed.
//!
//! Promises: looking costs a few system calls while nothing changed; of a project whose files are not those that were
//! trusted nothing is loaded, and what was loaded before stays.

use host_extensions::plugins::reload::{ReloadOutcome, ReloadTrigger};
use host_extensions::plugins::sources::{OnInvalid, SearchResult, SourceContext};
use host_settings::error::Failure;
use host_settings::project::{Project, TrustState};
use host_text::Notice;
use tokio_util::sync::CancellationToken;

use super::App;

impl App {
    /// Searches the sources of plugins again. What changed is returned, and not yet used: the session may be unable to.
    pub async fn reload(&mut self, trigger: ReloadTrigger) -> ReloadOutcome {
        let changed = self.sources.look(&self.project.root, &self.folders);
        if trigger == ReloadTrigger::FilesChanged && !changed {
            return ReloadOutcome::default();
        }
        let mut notices = Vec::from_iter(self.reload_project());
        let outcome = match self.find_plugins().await {
            Ok(found) => {
                notices.extend(found.skipped.iter().filter(|why| !self.skipped.contains(why)).cloned());
                self.skipped.clone_from(&found.skipped);
                ReloadOutcome::new(&self.plugins, found)
            }
            Err(failure) => ReloadOutcome::unchanged(&failure),
        };
        notices.extend(outcome.notices);
        ReloadOutcome { notices, ..outcome }
    }

    async fn find_plugins(&self) -> Result<SearchResult, Failure> {
        let context = SourceContext {
            configuration: &self.configuration,
            project: &self.project.files(),
            folders: &self.folders,
            workspace: &self.workspace,
            runtime: &self.runtime,
            progress: &|_| {},
        };
        // The time limits of the sources end it.
        self.sources.find(&context, OnInvalid::Report, &CancellationToken::new()).await
    }

    /// Reads the project again, if it may be used; returns what the user should know if it may not be used any more.
    fn reload_project(&mut self) -> Option<Notice> {
        let now = match Project::find(self.workspace.root(), &self.folders) {
            Ok(now) => now,
            Err(failure) => return Some(failure.notice()),
        };
        let was_trusted = matches!(self.project.trust_state, TrustState::Trusted(_));
        if was_trusted && matches!(now.trust_state, TrustState::Changed { .. } | TrustState::Unusable(_)) {
            let reason = now.reason()?;
            let stays = format!("{reason}; what it brought when it was trusted stays in use. ");
            let changed = Notice::from(stays).command("trust").text(" shows what changed; after ");
            return Some(changed.command("trust add").text(" its plugins are reloaded"));
        }
        // A user who takes the trust back wants nothing of it used.
        let note = now.note().filter(|_| was_trusted);
        self.project = now;
        note
    }
}
