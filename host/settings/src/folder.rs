//! The folder to work in: any folder of a repository, and others that the user agreed to.
//!
//! Outside a repository git cannot restore changed files, so the user is asked once for each such folder. Promises: a
//! folder is agreed to by its real path and no folder beneath or above it is; a project cannot agree. Deliberately not
//! here: asking.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use host_files::{Access, PrivateFile};
use host_text::{Advice, Flag};
use serde::{Deserialize, Serialize};

use crate::configuration::Configuration;
use crate::environment::{Environment, Folders};
use crate::error::{ErrorKind, Failure, Fault};
use crate::project::shown;
use crate::repository::repository_of;
use crate::request::FolderRequest;

/// The largest list of folders that is read. Protects memory; ten thousand folders stay below.
const MAX_FILE: u64 = 4 << 20;

/// The layout of the list.
const VERSION: u32 = 1;

/// Why a folder is not worked in.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Nothing brings changed files back there, and the user did not agree to it.
    #[error("`{}` is not in a repository", .0.display())]
    NotInRepository(PathBuf),
    /// It is not there, or cannot be read.
    #[error("cannot work in the folder `{}`: {cause}", .folder.display())]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The user does not want to work there.
    #[error("nothing was done")]
    Left,
    /// The list of folders that the user agreed to is invalid.
    #[error("the list of folders `{}` cannot be used: {why}", .list.display())]
    InvalidList {
        /// The file with the list.
        list: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// The list cannot be written.
    #[error("the list of folders `{}` cannot be written: {cause}", .list.display())]
    UnwritableList {
        /// The file with the list.
        list: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl Fault for FolderError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotInRepository(_) | Self::Unusable { .. } => ErrorKind::Input,
            Self::Left => ErrorKind::Cancelled,
            Self::InvalidList { .. } | Self::UnwritableList { .. } => ErrorKind::Configuration,
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NotInRepository(_) => Some(
                Advice::from("use ")
                    .flag_with(Flag::Directory, "DIR")
                    .text(" to choose one, run `git init` here, or add ")
                    .flag(Flag::AnyFolder)
                    .text(" to work in a folder without version control"),
            ),
            Self::Unusable { .. } => {
                Some(Advice::from("name an existing folder that you may read, with ").flag_with(Flag::Directory, "DIR"))
            }
            Self::Left => None,
            Self::InvalidList { .. } => Some("remove it; you are asked about each folder again".into()),
            Self::UnwritableList { .. } => {
                Some("make its folder writable for you, or work here without remembering it".into())
            }
        }
    }
}

/// The question whether to work in a folder that is not in a repository.
#[derive(Debug)]
pub struct FolderQuestion {
    root: PathBuf,
}

/// The answer of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderAnswer {
    /// Work there, now and later.
    Always,
    /// Work there now.
    Once,
    /// Do nothing.
    Leave,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    folders: BTreeSet<String>,
}

/// Returns the request, extended by what the user's configuration allows.
///
/// # Errors
///
/// If the configuration is invalid.
pub fn configured(place: FolderRequest, environment: &Environment) -> Result<FolderRequest, Failure> {
    if place.any_folder || repository_of(&real(&place)?).is_some() {
        return Ok(place);
    }
    let any_folder = Configuration::read(environment, &environment.folders()?, None)?.any_folder();
    Ok(FolderRequest { any_folder, ..place })
}

/// The question about the folder of a request; `None` if there is nothing to decide.
///
/// # Errors
///
/// If the folder cannot be read, or the list of folders is invalid.
pub fn question(place: &FolderRequest, folders: &Folders) -> Result<Option<FolderQuestion>, FolderError> {
    let root = real(place)?;
    let asks = !place.any_folder && repository_of(&root).is_none() && !is_agreed(&root, folders)?;
    Ok(asks.then_some(FolderQuestion { root }))
}

/// Remembers that the user agreed to a folder by having it made. In a repository there is nothing to remember.
///
/// # Errors
///
/// If the folder cannot be read, or the agreement cannot be remembered.
pub fn agree(folder: &Path, folders: &Folders) -> Result<(), FolderError> {
    let root = real(&FolderRequest { folder: Some(folder.to_owned()), any_folder: false })?;
    if repository_of(&root).is_some() { Ok(()) } else { FolderQuestion { root }.agree(folders) }
}

impl FolderQuestion {
    /// The folder, safe to show.
    pub fn folder(&self) -> String {
        shown::path(&self.root)
    }

    /// The request as the answer leaves it.
    ///
    /// # Errors
    ///
    /// If the answer is to leave, or it cannot be remembered.
    pub fn answer(
        self,
        answer: FolderAnswer,
        place: FolderRequest,
        folders: &Folders,
    ) -> Result<FolderRequest, FolderError> {
        match answer {
            FolderAnswer::Leave => return Err(FolderError::Left),
            FolderAnswer::Always => self.agree(folders)?,
            FolderAnswer::Once => {}
        }
        Ok(FolderRequest { any_folder: true, ..place })
    }

    fn agree(&self, folders: &Folders) -> Result<(), FolderError> {
        let file = file(folders);
        let unwritable = |cause| FolderError::UnwritableList { list: file.path().to_owned(), cause };
        let Some(root) = self.root.to_str() else { return Ok(()) };
        let locked = file.lock().map_err(unwritable)?;
        let mut agreed = read(&file)?;
        agreed.insert(root.to_owned());
        let text = serde_json::to_string_pretty(&Document { version: VERSION, folders: agreed });
        locked.replace(&text.map_err(|error| unwritable(error.into()))?).map_err(unwritable)
    }
}

/// The folder to work in, with its symbolic links resolved.
pub fn work_in(place: &FolderRequest, folders: &Folders) -> Result<PathBuf, FolderError> {
    let root = real(place)?;
    if place.any_folder || repository_of(&root).is_some() || is_agreed(&root, folders)? {
        return Ok(root);
    }
    Err(FolderError::NotInRepository(root))
}

fn real(place: &FolderRequest) -> Result<PathBuf, FolderError> {
    let wanted = place.folder.as_deref().unwrap_or(Path::new("."));
    let unreadable = |cause| FolderError::Unusable { folder: wanted.to_owned(), cause };
    let root = std::fs::canonicalize(wanted).map_err(unreadable)?;
    // Fails now, rather than in each tool.
    std::fs::read_dir(&root).map_err(unreadable)?;
    Ok(root)
}

/// Returns the folder with its symbolic links resolved, as session logs name it; one that does not exist as it is.
pub fn resolved(folder: &Path) -> PathBuf {
    std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

fn is_agreed(root: &Path, folders: &Folders) -> Result<bool, FolderError> {
    let Some(root) = root.to_str() else { return Ok(false) };
    Ok(read(&file(folders))?.contains(root))
}

fn file(folders: &Folders) -> PrivateFile {
    PrivateFile::new(&folders.agreed, Access::Write, MAX_FILE)
}

fn read(file: &PrivateFile) -> Result<BTreeSet<String>, FolderError> {
    let invalid = |why: String| FolderError::InvalidList { list: file.path().to_owned(), why };
    let Some(text) = file.read().map_err(|error| invalid(error.to_string()))? else { return Ok(BTreeSet::new()) };
    let document: Document = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    if document.version != VERSION {
        return Err(invalid(format!("its version is {}, and this host reads version {VERSION}", document.version)));
    }
    Ok(document.folders)
}
