//! The outcome of a command as messages of the agent.
//!
//! Deliberately not here: what a command does and its words (`host_app::session::command`).

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{SessionInfoUpdate, SessionUpdate, StopReason};
use host_app::page::Page;
use host_app::session::command::{CommandOutcome, SessionCommand};
use host_app::session::pages;
use host_text::{fenced, visible};
use tokio_util::sync::CancellationToken;

use super::Task;
use crate::errors::{error, in_an_editor};
use crate::listing::title;
use crate::updates::plan;

impl Task {
    /// Does what a command says, and tells the client what came of it.
    pub(super) async fn command(
        &mut self,
        command: SessionCommand,
        cancel: &CancellationToken,
    ) -> Result<StopReason, Error> {
        let renamed = if let SessionCommand::Rename(title) = &command { title.clone() } else { None };
        let outcome = match self.session.command(command, cancel).await {
            Ok(outcome) => outcome,
            // A cancelled prompt is no error for the client.
            Err(_) if cancel.is_cancelled() => return Ok(StopReason::Cancelled),
            Err(failure) => return Err(error(&failure)),
        };
        if let Some(renamed) = renamed {
            self.push_title(&renamed);
        }
        self.show(outcome, cancel).await
    }

    /// Tells the client the title of the session.
    pub(super) fn push_title(&mut self, words: &str) {
        self.push(SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title(words))));
        self.has_title = true;
    }

    async fn show(&mut self, outcome: CommandOutcome, cancel: &CancellationToken) -> Result<StopReason, Error> {
        match outcome {
            CommandOutcome::Prompt(prompt) => return self.run_prompt(*prompt, cancel).await,
            CommandOutcome::Stopped { .. } => return Ok(StopReason::Cancelled),
            CommandOutcome::Notes(notes) => self.say(&notes.iter().map(in_an_editor).collect::<Vec<_>>().join("\n\n")),
            CommandOutcome::Page(page) | CommandOutcome::FilesUndone(page) => self.page(&page),
            CommandOutcome::Steps(items) => {
                self.push(SessionUpdate::Plan(plan(&items)));
                self.page(&pages::steps::page(&items));
            }
            CommandOutcome::Compressed { note, .. } | CommandOutcome::Edit { note, .. } => self.say(&note),
            CommandOutcome::Cleared { note } => self.say(&in_an_editor(&note)),
            CommandOutcome::WentBack { prompt, files, note } => {
                files.iter().for_each(|page| self.page(page));
                // To be changed and sent again: the client keeps showing what was removed.
                self.say(&format!("{note}\n\n{}", fenced("", &prompt)));
            }
            CommandOutcome::Choose(choice) => self.page(&choice.page()),
        }
        Ok(StopReason::EndTurn)
    }

    fn say(&self, words: &str) {
        self.outbox.message(&self.id, visible(words).into_owned());
    }

    /// Columns need letters of one width, which a block of code has.
    fn page(&self, page: &Page) {
        self.say(&(fenced("", &page.worded(&in_an_editor)) + "\n"));
    }
}
