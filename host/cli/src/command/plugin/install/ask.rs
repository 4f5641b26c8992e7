//! Asks on the terminal whether a plugin is installed.
//!
//! Promises: without a terminal nothing is agreed to beyond the command line.

use host_extensions::install::{InstallAnswer, InstallQuestion};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use tokio_util::sync::CancellationToken;

use crate::printer::{entries_to_stderr, to_stderr};
use crate::trust_question;

/// Maximum number of questions if answers are invalid.
const TRIES: usize = 3;

/// Asks the user about what is new.
pub(super) async fn answer(
    question: &InstallQuestion,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<InstallAnswer, Failure> {
    if !environment.stdin_is_terminal || !environment.stderr_is_terminal {
        return Err(question.unanswered());
    }
    let listed: String = question.new_requests().iter().map(|request| format!("  {request}\n")).collect();
    if !listed.is_empty() {
        entries_to_stderr(&format!("\nNew requests:\n{listed}"));
    }
    if !question.brings.is_empty() {
        entries_to_stderr(&format!("\nNew files: {}\n", question.brings.join(", ")));
    }
    let choices = match question.capabilities.is_empty() {
        true => "\nInstall it? [y]es, [n]o:",
        false => "\nInstall it? [y]es and ask at each call, yes and [g]rant this, [n]o:",
    };
    trust_question::discard_what_was_typed();
    for _ in 0..TRIES {
        to_stderr(choices);
        // A line that is wrapped ends without a blank.
        to_stderr(" ");
        match trust_question::line(stop).await?.as_deref().map(|line| line.trim().to_ascii_lowercase()).as_deref() {
            Some("y" | "yes") => return Ok(InstallAnswer::Install),
            Some("g" | "grant") if !question.capabilities.is_empty() => return Ok(InstallAnswer::InstallAndGrant),
            Some("n" | "no") | None => return Ok(InstallAnswer::Decline),
            Some(_) => {}
        }
    }
    Ok(InstallAnswer::Decline)
}
