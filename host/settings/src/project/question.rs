//! The question whether a project is trusted, as a value that any frontend can show and answer.
//!
//! Promises: the bytes that are trusted are those that were read for the question; there is no question if there is
//! nothing to decide. Deliberately not here: showing it, and reading an answer.

use host_text::Advice;

use super::shown::{self, Length, ShownFile};
use super::{Change, Contents, Part, Project, TrustState};
use crate::environment::Folders;
use crate::error::{ErrorKind, Failure, Fault};

/// A project whose files are not trusted, with those files.
#[derive(Debug)]
pub struct TrustQuestion {
    project: Project,
    contents: Contents,
}

/// The answer of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustAnswer {
    /// Trust the files as they are now.
    Trust,
    /// Continue without them.
    Without,
    /// Do nothing.
    Leave,
}

/// The user does not trust the project, and nothing was done.
#[derive(Debug, thiserror::Error)]
#[error("nothing was done: the project is not trusted")]
pub struct NotTrusted;

impl Fault for NotTrusted {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Untrusted
    }

    fn help(&self) -> Option<Advice> {
        Some(Advice::default().command("trust").text(" shows what it brings"))
    }
}

impl TrustQuestion {
    /// The question about a project, or the project itself if there is nothing to decide.
    ///
    /// # Errors
    ///
    /// Not a failure: the project brings nothing, is trusted already or cannot be trusted.
    pub fn about(project: Project) -> Result<Self, Box<Project>> {
        match project.trust_state {
            TrustState::Untrusted(_) | TrustState::Changed { .. } => {}
            TrustState::Nothing | TrustState::Trusted(_) | TrustState::Unusable(_) => return Err(Box::new(project)),
        }
        let (project, contents) = project.read();
        match project.trust_state {
            // Reading found something that cannot be trusted.
            TrustState::Nothing | TrustState::Trusted(_) | TrustState::Unusable(_) => Err(Box::new(project)),
            TrustState::Untrusted(_) | TrustState::Changed { .. } => Ok(Self { project, contents }),
        }
    }

    /// The folder that the project brings, safe to show.
    pub fn folder(&self) -> String {
        self.project.shown_folder()
    }

    /// What changed since the project was trusted; `None` if it never was.
    pub fn changes(&self) -> Option<&[Change]> {
        match &self.project.trust_state {
            TrustState::Changed { changes, .. } => Some(changes),
            TrustState::Nothing | TrustState::Untrusted(_) | TrustState::Trusted(_) | TrustState::Unusable(_) => None,
        }
    }

    /// The files, a line each, safe to show.
    pub fn files(&self, length: Length) -> String {
        shown::list(&self.contents, length)
    }

    /// The configuration, the rules and the MCP servers as they are now, for the user to read.
    pub fn contents(&self) -> Vec<ShownFile> {
        shown::contents(&self.contents)
    }

    /// Whether the project brings programs, which run outside the sandbox.
    pub fn runs_programs(&self) -> bool {
        self.contents.iter().any(|(_, file)| file.part == Part::Program)
    }

    /// The project as the answer leaves it.
    ///
    /// # Errors
    ///
    /// If the answer is to leave, or the list of trusted projects cannot be written.
    pub fn answer(self, answer: TrustAnswer, folders: &Folders) -> Result<Project, Failure> {
        match answer {
            TrustAnswer::Trust => self.project.trust(self.contents, folders),
            TrustAnswer::Without => Ok(self.project),
            TrustAnswer::Leave => Err(NotTrusted.into()),
        }
    }
}
