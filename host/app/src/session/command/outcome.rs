//! What a command did, as values with their words.

use std::path::PathBuf;

use host_agent::CompressionStatus;
use host_message::ChecklistItem;
use host_sessions::undo::ChangingCall;
use host_settings::error::{ErrorKind, Failure};
use host_text::{Notice, exact};

use crate::attach::Attached;
use crate::context::ContextFile;
use crate::page::{Line, Page};
use crate::session::pages;
use crate::session::rewind::{RewindPoint, RewindScope};

/// The outcome of a command. All words are safe to show.
#[derive(Debug)]
pub enum CommandOutcome {
    /// It is done: a sentence each.
    Notes(Vec<Notice>),
    /// Something to read.
    Page(Page),
    /// The model's list of steps; never empty.
    Steps(Vec<ChecklistItem>),
    /// A prompt, which the frontend runs next.
    Prompt(Box<Attached>),
    /// The conversation was compressed, or not. An event of the session reported how; the note is for a frontend that
    /// shows none.
    Compressed {
        /// How it went.
        status: CompressionStatus,
        /// What came of it.
        note: String,
    },
    /// The user stopped it.
    Stopped {
        /// What is as it was.
        note: String,
    },
    /// A new conversation began.
    Cleared {
        /// How the one before is continued.
        note: Notice,
    },
    /// Files were taken back.
    FilesUndone(Page),
    /// The conversation went back to before a prompt.
    WentBack {
        /// The text of that prompt, for the user to change and send again.
        prompt: String,
        /// What became of files, if they went back too.
        files: Option<Page>,
        /// What happened.
        note: String,
    },
    /// The user has to choose; the choice is a command again.
    Choose(Choice),
    /// The user wants to edit a context file. [`Session::write_memory`](crate::session::Session::write_memory) takes
    /// the text.
    Edit {
        /// The file.
        file: ContextFile,
        /// Its text.
        text: String,
        /// Where it is, for a frontend that edits files elsewhere.
        note: String,
    },
}

/// What the user has to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The call to go back to: [`SessionCommand::Undo`](super::SessionCommand::Undo) takes its number.
    Call(Vec<ChangingCall>),
    /// The prompt to go back to: [`SessionCommand::Rewind`](super::SessionCommand::Rewind) takes its number.
    Prompt(Vec<RewindPoint>),
    /// What goes back to before this prompt: [`RewindScope::word`] behind its number.
    Scope(RewindPoint),
    /// Whether a file is overwritten: [`Session::export_to`](crate::session::Session::export_to) writes it.
    Overwrite(PathBuf),
}

impl Choice {
    /// Returns the question.
    pub fn title(&self) -> String {
        match self {
            Self::Call(_) => pages::undo::WHICH.to_owned(),
            Self::Prompt(_) => "Go back to before which prompt?".to_owned(),
            Self::Scope(_) => "What goes back?".to_owned(),
            Self::Overwrite(path) => format!("{} already exists.", exact(&path.display().to_string())),
        }
    }

    /// Returns the choices to read, and how each is written, for a frontend without a list to pick from.
    pub fn page(&self) -> Page {
        let (mut page, how) = match self {
            Self::Call(calls) => (
                pages::undo::calls(calls),
                "/undo NUMBER takes back what that call and all later ones changed".to_owned(),
            ),
            Self::Prompt(points) => (
                pages::rewind::prompts(points),
                "/rewind NUMBER [conversation|files|both] goes back to before that prompt".to_owned(),
            ),
            Self::Scope(point) => (
                pages::rewind::prompts(std::slice::from_ref(point)),
                format!("/rewind {} conversation, files or both goes back", point.number),
            ),
            Self::Overwrite(_) => {
                (Page::of(self.title()), "nothing was written; /export FILE names another file".to_owned())
            }
        };
        page.push(Line::faint(how));
        page
    }
}

/// Returns what came of compressing a conversation, as a sentence.
///
/// # Errors
///
/// If nothing shorter was produced.
pub fn compressed(status: CompressionStatus) -> Result<&'static str, Failure> {
    match status {
        CompressionStatus::Summarised => Ok("The beginning of the conversation was summarised."),
        CompressionStatus::Shortened => Ok("Long tool outputs were cut."),
        CompressionStatus::LeftOut => Ok("The oldest messages were left out: they did not fit the model's window."),
        CompressionStatus::Nothing => Ok("Nothing to compact yet."),
        CompressionStatus::Inflated | CompressionStatus::Empty | CompressionStatus::Failed => {
            let message = "no shorter summary was produced; the conversation is unchanged";
            Err(Failure::new(ErrorKind::Service, message).help("try again, or with another model"))
        }
    }
}

impl RewindScope {
    /// All of them, in the order of a question.
    pub const ALL: [Self; 3] = [Self::All, Self::Conversation, Self::Files];

    /// Returns the word for it in a command.
    pub fn word(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Files => "files",
            Self::All => "both",
        }
    }

    /// Returns what goes back, for a question.
    pub fn about(self) -> &'static str {
        match self {
            Self::Conversation => "The conversation; files stay as they are",
            Self::Files => "The files; the conversation stays",
            Self::All => "The conversation and the files",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }
}

/// Reads the number of a prompt, and what goes back if it is written.
pub(super) fn rewind_argument(written: &str) -> Result<(usize, Option<RewindScope>), Failure> {
    let wrong = || {
        Failure::input(format!("`/rewind {}` is not understood", exact(written)))
            .help("write the number of a prompt, and perhaps what goes back: /rewind 2 files")
    };
    let (number, scope) = match written.split_once(char::is_whitespace) {
        Some((number, scope)) => (number, Some(RewindScope::parse(scope.trim()).ok_or_else(wrong)?)),
        None => (written, None),
    };
    Ok((number.parse().map_err(|_| wrong())?, scope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewind_reads_a_number_and_what_goes_back() {
        for (written, expected) in [
            ("2", (2, None)),
            ("1 files", (1, Some(RewindScope::Files))),
            ("3  both", (3, Some(RewindScope::All))),
            ("3 conversation", (3, Some(RewindScope::Conversation))),
        ] {
            assert_eq!(rewind_argument(written).expect("it is understood"), expected, "{written}");
        }
        for written in ["x", "-1", "2 all", ""] {
            rewind_argument(written).expect_err(written);
        }
    }

    #[test]
    fn choice_to_read_says_how_each_is_written() {
        let file = Choice::Overwrite(PathBuf::from("/w/a\u{1b}.md")).page().text();
        assert_eq!(file, "/w/a\\u{1b}.md already exists.\nnothing was written; /export FILE names another file\n");
    }
}
