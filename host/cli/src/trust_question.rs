//! Asking a user whether a project is trusted, in lines on the terminal.
//!
//! Promises: there is no question if no user can answer; text typed before the question is not an answer to it; and
//! only what was shown is trusted.

use std::io::Write as _;

use host_app::environment::{Environment, Folders};
use host_app::error::{ErrorKind, Failure};
use host_app::project::Project;
use host_app::project::question::{TrustAnswer, TrustQuestion};
use host_app::project::shown::Length;
use tokio_util::sync::CancellationToken;

/// Maximum number of questions if answers are invalid.
const TRIES: usize = 3;

/// Maximum number of changes that are shown.
const CHANGES: usize = 20;

/// Asks about a project that is not trusted. It comes back trusted, or as it was, to continue without it.
pub(crate) async fn about(
    project: Project,
    folders: &Folders,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<Project, Failure> {
    if !environment.stdin_is_terminal || !environment.stderr_is_terminal {
        return Ok(project);
    }
    let question = match TrustQuestion::about(project) {
        Ok(question) => question,
        Err(project) => return Ok(*project),
    };
    crate::printer::to_stderr(&words(&question));
    question.answer(answer(stop).await?, folders)
}

/// The question in words.
fn words(question: &TrustQuestion) -> String {
    let folder = question.folder();
    let head = match question.changes() {
        None => format!("This project has settings for host that you have not trusted yet, in `{folder}`:\n\n"),
        Some(changes) => {
            let mut head = format!("The settings for host in `{folder}` changed since you trusted them:\n\n");
            for change in changes.iter().take(CHANGES) {
                head.push_str(&format!("  {change}\n"));
            }
            if changes.len() > CHANGES {
                head.push_str(&format!("  … and {} more\n", changes.len() - CHANGES));
            }
            head.push_str("\nThe files are now:\n\n");
            head
        }
    };
    let list = question.files(Length::Short);
    let programs = match question.runs_programs() {
        true => " Its programs run outside the sandbox with your rights: one, at every start, to list its tools.",
        false => "",
    };
    format!(
        "{head}{list}\nIf you trust it, its configuration, agents and rules apply, and its plugins run in the sandbox with what the approval mode and your grants allow.{programs} You are asked again when one of these files changes.\n\n"
    )
}

/// Reads the answer, which may be asked for some times. A terminal that is at its end leaves.
async fn answer(stop: &CancellationToken) -> Result<TrustAnswer, Failure> {
    discard_what_was_typed();
    for _ in 0..TRIES {
        crate::printer::to_stderr("[t]rust it, continue [w]ithout it, or [q]uit? ");
        match line(stop).await?.as_deref().map(parse) {
            Some(Some(answer)) => return Ok(answer),
            Some(None) => {}
            None => return Ok(TrustAnswer::Leave),
        }
    }
    Ok(TrustAnswer::Leave)
}

fn parse(line: &str) -> Option<TrustAnswer> {
    match line.trim().to_ascii_lowercase().as_str() {
        "t" | "trust" => Some(TrustAnswer::Trust),
        "w" | "without" => Some(TrustAnswer::Without),
        "q" | "quit" | "l" | "leave" => Some(TrustAnswer::Leave),
        _ => None,
    }
}

/// Discards text that was typed or pasted before the question, which cannot be meant as its answer.
pub(crate) fn discard_what_was_typed() {
    std::io::stderr().flush().ok();
    rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush).ok();
}

/// Reads a line of the terminal; `None` at the end of input.
pub(crate) async fn line(stop: &CancellationToken) -> Result<Option<String>, Failure> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    // A thread of its own: a read that never returns must not keep the process from ending.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line).ok().filter(|count| *count > 0);
        sender.send(read.map(|_| line)).ok();
    });
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        line = receiver => Ok(line.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_question_accepts_only_the_words_of_an_answer() {
        for (line, meant) in [
            ("t\n", Some(TrustAnswer::Trust)),
            ("Trust\r\n", Some(TrustAnswer::Trust)),
            ("w\n", Some(TrustAnswer::Without)),
            ("leave\n", Some(TrustAnswer::Leave)),
            ("\n", None),
            ("y\n", None),
            ("yes\n", None),
            ("tr\n", None),
        ] {
            assert_eq!(parse(line), meant, "{line:?}");
        }
    }
}
