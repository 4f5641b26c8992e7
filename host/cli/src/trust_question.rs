//! Asking a person whether a project is trusted, in lines on the terminal.
//!
//! Promises: nobody is asked where nobody can answer; what was typed before the question is no answer to it; and what
//! is trusted is what was shown.

use std::io::Write as _;

use host_app::environment::{Environment, Folders};
use host_app::error::{ErrorKind, Failure};
use host_app::project::shown::{self, Length};
use host_app::project::{Part, Project, Standing};
use tokio_util::sync::CancellationToken;

/// How often something that is no answer is asked about again.
const TRIES: usize = 3;

/// How many changes are shown.
const CHANGES: usize = 20;

/// What the person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Trust,
    Without,
    Leave,
}

/// Asks about a project whose words do not count yet. It comes back trusted, or as it was, to go on without.
pub(crate) async fn about(
    project: Project,
    folders: &Folders,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<Project, Failure> {
    let is_open = matches!(project.standing, Standing::Untrusted(_) | Standing::Changed { .. });
    if !is_open || !environment.stdin_is_terminal || !environment.stderr_is_terminal {
        return Ok(project);
    }
    let (project, contents) = project.read();
    let runs = contents.iter().any(|(_, file)| file.part == Part::Program);
    let Some(question) = question(&project, &shown::list(&contents, Length::Short), runs) else { return Ok(project) };
    crate::printer::to_stderr(&question);
    match answer(stop).await? {
        Answer::Trust => project.trust(contents, folders),
        Answer::Without => Ok(project),
        Answer::Leave => Err(Failure::new(ErrorKind::Untrusted, "nothing was done: the project is not trusted")
            .help("`host trust` shows what it brings")),
    }
}

/// What the person is told; none where there is nothing to ask. `runs` is whether there are programs.
fn question(project: &Project, list: &str, runs: bool) -> Option<String> {
    let folder = project.shown_folder();
    let head = match &project.standing {
        Standing::Nothing | Standing::Trusted(_) | Standing::Unusable(_) => return None,
        Standing::Untrusted(_) => {
            format!("The project brings files for host that nobody has trusted yet, in `{folder}`:\n\n")
        }
        Standing::Changed { changes, .. } => {
            let mut head = format!("What the project brings for host in `{folder}` is not what you trusted:\n\n");
            for change in changes.iter().take(CHANGES) {
                head.push_str(&format!("  {change}\n"));
            }
            if changes.len() > CHANGES {
                head.push_str(&format!("  … and {} more\n", changes.len() - CHANGES));
            }
            head.push_str("\nNow it has:\n\n");
            head
        }
    };
    let programs = match runs {
        true => " Its programs run outside of the sandbox with your rights: one, at every start, to list its tools.",
        false => "",
    };
    Some(format!(
        "{head}{list}\nTrusted, its configuration, agents and rules count, and its plugins run in the sandbox with what \
         the mode and your grants give them.{programs} You are asked again when one of these files changes.\n\n"
    ))
}

/// Reads the answer, which may be asked for some times. A terminal that is at its end leaves.
async fn answer(stop: &CancellationToken) -> Result<Answer, Failure> {
    discard_what_was_typed();
    for _ in 0..TRIES {
        crate::printer::to_stderr("[t]rust it, go on [w]ithout it, or [l]eave? ");
        match line(stop).await?.as_deref().map(parse) {
            Some(Some(answer)) => return Ok(answer),
            Some(None) => {}
            None => return Ok(Answer::Leave),
        }
    }
    Ok(Answer::Leave)
}

fn parse(line: &str) -> Option<Answer> {
    match line.trim().to_ascii_lowercase().as_str() {
        "t" | "trust" => Some(Answer::Trust),
        "w" | "without" => Some(Answer::Without),
        "l" | "leave" => Some(Answer::Leave),
        _ => None,
    }
}

/// What was typed or pasted before the question was there cannot be meant as its answer.
pub(crate) fn discard_what_was_typed() {
    std::io::stderr().flush().ok();
    rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush).ok();
}

/// A line of the terminal; none at its end.
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
    fn only_a_word_that_says_so_is_an_answer() {
        for (line, meant) in [
            ("t\n", Some(Answer::Trust)),
            ("Trust\r\n", Some(Answer::Trust)),
            ("w\n", Some(Answer::Without)),
            ("leave\n", Some(Answer::Leave)),
            ("\n", None),
            ("y\n", None),
            ("yes\n", None),
            ("tr\n", None),
        ] {
            assert_eq!(parse(line), meant, "{line:?}");
        }
    }
}
