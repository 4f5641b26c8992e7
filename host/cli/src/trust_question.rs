//! Asking a user whether a project is trusted.
//!
//! Promises: there is no question if no user can answer; text typed before the question is not an answer to it; only
//! what was read for the question is trusted; and nothing that the project brings can look like a part of the question,
//! since all of it is behind a bar or within quotes.

use std::io::Write as _;

use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure};
use host_settings::project::Project;
use host_settings::project::question::{TrustAnswer, TrustQuestion};
use host_settings::project::shown::Length;
use host_terminal::{Escape, Question};
use tokio_util::sync::CancellationToken;

use crate::approval::look::Page;
use crate::ask::{Answered, Asker, choice};

/// Maximum number of changes that are shown.
const CHANGES: usize = 20;

/// Lines that are shown of one file; of a longer one its beginning and its end.
const FILE_LINES: usize = 30;

/// Files whose contents are shown.
const FILES: usize = 6;

/// The meaning of the choices, in their order. Continuing without the project is what Enter alone does.
const ANSWERS: [(char, &str, TrustAnswer); 3] = [
    ('t', "Trust it as it is now", TrustAnswer::Trust),
    ('w', "Continue without it", TrustAnswer::Without),
    ('q', "Quit", TrustAnswer::Leave),
];

/// Asks about a project that is not trusted. It comes back trusted, or as it was, to continue without it.
pub(crate) async fn about(project: Project, folders: &Folders, asker: &Asker<'_>) -> Result<Project, Failure> {
    let question = match TrustQuestion::about(project) {
        Ok(question) => question,
        Err(project) => return Ok(*project),
    };
    let choices = ANSWERS.map(|(letter, label, _)| choice(letter, label)).to_vec();
    let asked = Question {
        lines: lines(&question, asker),
        choices,
        preselected: 1,
        escape: Escape::Quits,
        ..Question::default()
    };
    let answer = match asker.ask(asked).await? {
        Answered::Choice(at) => ANSWERS.get(at).map_or(TrustAnswer::Leave, |(_, _, answer)| *answer),
        Answered::Dismissed => TrustAnswer::Leave,
    };
    question.answer(answer, folders)
}

/// The question, line by line.
fn lines(question: &TrustQuestion, asker: &Asker<'_>) -> Vec<String> {
    let mut page = Page::new(asker.style(), asker.columns());
    match question.changes() {
        None => {
            page.title("This project has settings for host that you have not trusted yet:");
            page.path(&question.folder());
        }
        Some(changes) => {
            page.title("The settings of this project for host changed since you trusted them:");
            page.path(&question.folder());
            for change in changes.iter().take(CHANGES) {
                page.item(&change.to_string());
            }
            if changes.len() > CHANGES {
                page.sentence(&format!("… and {} more", changes.len() - CHANGES));
            }
            page.gap();
            page.sentence("The files are now:");
        }
    }
    for line in question.files(Length::Short).lines() {
        page.item(line.trim_start());
    }
    let contents = question.contents();
    for file in contents.iter().take(FILES) {
        page.gap();
        page.item(&format!("`{}`:", file.name));
        page.text(file.text.trim_end(), FILE_LINES);
    }
    if contents.len() > FILES {
        page.sentence(&format!("… and {} more files", contents.len() - FILES));
    }
    let programs = match question.runs_programs() {
        true => " Its programs run outside the sandbox with your rights: one, at every start, to list its tools.",
        false => "",
    };
    page.gap();
    page.sentence(&format!(
        "If you trust it, its configuration, agents and rules apply, and its plugins run in the sandbox with what the \
         approval mode and your grants allow.{programs} You are asked again when one of these files changes."
    ));
    page.into_lines()
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
