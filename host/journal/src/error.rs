//! Reasons why a session cannot be recorded or resumed.

use std::io;
use std::path::{Path, PathBuf};

use host_files::ChainError;

use crate::ReadError;

/// Reasons why a session cannot be recorded or resumed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The log could not be made.
    #[error("could not create the session log in `{}`", folder.display())]
    Create {
        /// The folder.
        folder: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// The log could not be written.
    #[error("could not write the session log `{}`", path.display())]
    Write {
        /// The log.
        path: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// The log could not be written before.
    #[error("the session log `{}` is incomplete: an earlier write to it failed", path.display())]
    Broken {
        /// The log.
        path: PathBuf,
    },
    /// The folder of the logs cannot be listed.
    #[error("could not list the session logs in `{}`", folder.display())]
    List {
        /// The folder.
        folder: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// The log cannot be opened.
    #[error("could not open the session log `{}`", path.display())]
    Open {
        /// The log.
        path: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// The log is invalid.
    #[error("could not read the session log `{}`", path.display())]
    Read {
        /// The log.
        path: PathBuf,
        /// The fault.
        #[source]
        cause: ReadError,
    },
    /// The log, or what belongs to it, cannot be removed.
    #[error("could not remove `{}`", path.display())]
    Remove {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// Another process writes the log.
    #[error("the session log `{}` is being written by {}", path.display(), process(*holder))]
    Held {
        /// The log.
        path: PathBuf,
        /// The process, as far as the log says.
        holder: Option<u32>,
    },
    /// The log cannot be chained or verified.
    #[error("could not chain the lines of a session log")]
    Chain(#[from] ChainError),
    /// The key by which logs are chained cannot be had.
    #[error(transparent)]
    Key(ChainError),
    /// The system cannot say whether another process writes the log.
    #[error("could not lock the session log `{}`", path.display())]
    Lock {
        /// The log.
        path: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
}

impl SessionError {
    /// Returns advice on how to fix it, as a sentence without a full stop.
    pub fn help(&self) -> String {
        match self {
            Self::Create { folder, cause } => write_help(folder, Some(cause.kind())),
            Self::Write { path, cause } | Self::Remove { path, cause } => write_help(path, Some(cause.kind())),
            Self::Broken { path } => write_help(path, None),
            Self::List { folder, .. } => format!("check that `{}` is a folder that you may read", folder.display()),
            Self::Open { path, .. } => {
                format!("check that `{}` is a file that you may read and write", path.display())
            }
            Self::Read { cause, .. } => cause.help().to_owned(),
            Self::Held { holder: Some(pid), .. } => {
                format!("wait until process {pid} has ended, or end it, and try again")
            }
            Self::Held { holder: None, .. } => "wait until it has ended, and try again".to_owned(),
            Self::Chain(error) | Self::Key(error) => error.help(),
            Self::Lock { path, .. } => {
                format!("store sessions on a disk that supports file locks; the one with `{}` does not", path.display())
            }
        }
    }
}

fn process(holder: Option<u32>) -> String {
    holder.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

fn write_help(place: &Path, kind: Option<io::ErrorKind>) -> String {
    let place = place.display();
    match kind {
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            format!("free space on the disk that holds `{place}` and run again")
        }
        Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
            format!("make `{place}` writable for you and run again")
        }
        _ => format!("check that `{place}` can be written and run again"),
    }
}
