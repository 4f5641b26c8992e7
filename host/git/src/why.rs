//! Why a change of git's folder did not come back, in words.

use std::io;
use std::path::PathBuf;

/// Why something was left.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// A link, a pipe, a device, or a file that runs as somebody else.
    #[error("it is not a plain file")]
    NotAFile,
    /// A hook, a pointer to another repository, and the like.
    #[error("git obeys it")]
    Obeyed,
    /// A name that git's folder does not have.
    #[error("it is not a file that git is known to write")]
    Unknown,
    /// A file without which git would take the folder for none of its own.
    #[error("git needs it")]
    Needed,
    /// Contents that git does not write, or that run something.
    #[error("{0}")]
    Invalid(&'static str),
    /// A submodule that the index did not have.
    #[error("it has the new submodule `{0}`")]
    NewSubmodule(String),
    /// A setting that may run something, or leads elsewhere.
    #[error("it changes the setting `{0}`")]
    Setting(String),
    /// Another program changed it meanwhile.
    #[error("the user or another program changed it meanwhile")]
    Changed,
    /// Another program is writing it.
    #[error("another program is writing it: its lock exists")]
    Locked,
    /// It belongs to something that was left.
    #[error("it belongs to `{}`, which was left", .0.display())]
    With(PathBuf),
    /// It could not be read or written.
    #[error("{0}")]
    Failed(String),
}

impl Why {
    pub(crate) fn failed(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::Locked,
            _ => Self::Failed(error.to_string()),
        }
    }
}
