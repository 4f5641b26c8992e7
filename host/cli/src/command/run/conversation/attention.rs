//! The alert when a turn has ended, and what title and alerts name.
//!
//! Deliberately not here: whether the user looks elsewhere and what the terminal is sent (`host_terminal`), and running
//! the user's command (`host_extensions::notify`).

use std::time::Duration;

use host_agent::RunResult;
use host_app::session::Session;
use host_extensions::notify::NotifyCommand;
use host_journal::TerminateReason;
use host_settings::configuration::{Alert, Bell, ConversationSettings};
use host_terminal::{self as terminal, Attention, NotifyUser, Title};

use super::Repl;

/// How the user's attention is drawn, by their settings.
pub(super) fn of(session: &Session) -> Attention {
    let app = session.app();
    let ConversationSettings { notify, notify_command, has_title, .. } = app.configuration().conversation().clone();
    let folder = app.workspace().root().file_name().unwrap_or(app.workspace().root().as_os_str());
    let command = NotifyCommand::new(&notify_command, app.environment());
    Attention {
        name: format!("host: {}", folder.to_string_lossy()),
        title: if has_title { Title::Set } else { Title::Kept },
        alert: match notify {
            Alert::Bell => terminal::Alert::Bell,
            Alert::Osc9 => terminal::Alert::Osc9,
            Alert::Off => terminal::Alert::Nothing,
        },
        notify: command.map(|command| Box::new(move |words: &str| command.run(words)) as NotifyUser),
    }
}

impl Repl {
    /// Alerts the user when a turn has ended, and rings the bell after a long one where that is set.
    pub(super) fn alert(&self, result: &RunResult, took: Duration) {
        let how = match result.terminate_reason {
            // The user stopped it, so they are here.
            TerminateReason::Aborted => return,
            TerminateReason::Goal => "done",
            TerminateReason::Error | TerminateReason::ErrorNoCompleteTaskCall => "failed",
            TerminateReason::Timeout | TerminateReason::MaxTurns => "stopped at a limit",
        };
        let rang = self.terminal.alert(&format!("{how} after {} s", took.as_secs()));
        let is_long = match self.session.app().configuration().conversation().bell {
            Bell::Never => false,
            Bell::After(limit) => took >= limit,
        };
        if !rang && is_long {
            self.terminal.steer("\u{7}");
        }
    }
}
