//! Checks what a run changed before the run ends, and gives what failed back to the model.
//!
//! Promises: nothing is checked in a run that changed no file, and nothing twice without a change in between once it
//! passed; failures go back only so often, then the run fails; a cancel and the run's time limit end a check.
//!
//! Deliberately not here: running a command.

use std::fmt::Write as _;

use host_journal::{CheckResult, Fact};
use host_message::Part;
use tokio::time::Instant;

use super::RunError;
use super::run::Run;
use super::step::Stop;
use crate::deadline::Deadline;
use crate::{CheckEnd, EventKind};

impl Run<'_> {
    /// Runs the checks, if files changed. Returns what the model gets instead of an end.
    pub(super) async fn check(&mut self, deadline: &Deadline) -> Result<Option<Vec<Part>>, Stop> {
        let Some(checks) = self.agent.checks.clone().filter(|checks| !checks.commands().is_empty()) else {
            return Ok(None);
        };
        if checks.changes() == self.state.checked {
            return Ok(None);
        }
        let mut failed: Vec<(&String, CheckEnd)> = Vec::new();
        for command in checks.commands() {
            self.agent.tell(EventKind::Checking { command });
            let began = Instant::now();
            let end = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(Stop::Cancelled),
                () = deadline.passed() => return Err(Stop::Late),
                end = checks.run(command) => end,
            };
            self.record(&Fact::CheckEnded {
                agent_id: self.agent.id.clone(),
                command: command.clone(),
                result: end.result,
                reason: end.reason.clone(),
                output: end.output.clone(),
                duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            })?;
            if end.result != CheckResult::Passed {
                failed.push((command, end));
            }
        }
        let Some((first, end)) = failed.first() else {
            // What a check itself changed, such as a formatter, is checked too.
            self.state.checked = checks.changes();
            return Ok(None);
        };
        if self.failed_checks >= checks.attempts() {
            let (command, reason) = ((*first).clone(), end.reason.clone());
            return Err(RunError::Check { command, reason, attempts: self.failed_checks }.into());
        }
        self.failed_checks += 1;
        Ok(Some(vec![Part::text(message(&failed))]))
    }
}

/// Tells the model what failed.
fn message(failed: &[(&String, CheckEnd)]) -> String {
    let mut text = "Before you can end, these checks have to pass, and they do not. Correct what is wrong, and end \
                    again. If a check cannot pass for a reason that is not yours to change, say so in your answer.\n"
        .to_owned();
    for (command, CheckEnd { reason, output, .. }) in failed {
        let _ = write!(text, "\n--- added by host: the check `{command}` failed: {reason} ---\n{}", output.trim_end());
        text.push_str("\n--- end of what the check printed ---\n");
    }
    text
}
