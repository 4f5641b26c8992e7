//! Commands and skills, which are copied as they are.
//!
//! Promises: a link in them is not followed, and what is too large or too much is left out as a whole, never a part of
//! it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use host_files::FileError;
use host_settings::own_file::{FileMode, NewFile};

/// The largest file of a command or skill, in bytes. Protects memory and the disk.
const MAX_COPY: u64 = 1 << 20;

/// The most files of a skill, and of a folder of commands. Protects the disk from a folder that is not what it should
/// be.
const MAX_COPIES: usize = 300;

/// Why a command or skill is not copied.
#[derive(Debug, thiserror::Error)]
pub(super) enum CopyFault {
    /// A file cannot be read.
    #[error("`{}`: {cause}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: FileError,
    },
    /// A file has no rights that can be read.
    #[error("`{}`: {cause}", .path.display())]
    About {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A folder cannot be read.
    #[error("`{}` cannot be read: {cause}", .path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// An entry of a folder cannot be read.
    #[error(transparent)]
    Entry(#[from] io::Error),
    /// A link, which is not followed.
    #[error("`{}` is a link; copy it by hand", .0.display())]
    Link(PathBuf),
    /// The folder is not what it should be.
    #[error("`{}` has over {MAX_COPIES} files", .0.display())]
    TooMany(PathBuf),
}

/// A command or skill with its files.
pub(super) struct Copy {
    /// What it is called: for a command its path without the extension.
    pub(super) name: String,
    /// The file or folder that is made.
    pub(super) to: PathBuf,
    /// Its files, or why it is left out.
    pub(super) files: Result<Vec<NewFile>, CopyFault>,
}

/// Returns the commands in a folder: Markdown files, also in folders beneath it.
pub(super) fn commands(from: &Path, to: &Path) -> Vec<Copy> {
    let paths = match files_beneath(from) {
        Ok(paths) => paths,
        Err(why) => return vec![Copy { name: from.display().to_string(), to: to.to_owned(), files: Err(why) }],
    };
    let wanted = paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "md"));
    wanted
        .map(|relative| {
            let (path, to) = (from.join(&relative), to.join(&relative));
            let name = relative.with_extension("").display().to_string();
            Copy { name, files: copied(&path, &to).map(|file| vec![file]), to }
        })
        .collect()
}

/// Returns the skills in a folder: the folders in it that have a `SKILL.md`.
pub(super) fn skills(from: &Path, to: &Path) -> Vec<Copy> {
    let Ok(entries) = fs::read_dir(from) else { return Vec::new() };
    let mut names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    names.sort();
    let folders = names.iter().filter(|name| from.join(name).join("SKILL.md").is_file());
    folders
        .map(|name| {
            let (from, to) = (from.join(name), to.join(name));
            let files = files_beneath(&from).and_then(|paths| {
                paths.iter().map(|relative| copied(&from.join(relative), &to.join(relative))).collect()
            });
            Copy { name: name.to_string_lossy().into_owned(), to, files }
        })
        .collect()
}

fn copied(from: &Path, to: &Path) -> Result<NewFile, CopyFault> {
    let path = || from.to_owned();
    let bytes = host_files::read_file(from, MAX_COPY).map_err(|cause| CopyFault::File { path: path(), cause })?;
    let about = fs::metadata(from).map_err(|cause| CopyFault::About { path: path(), cause })?;
    let mode = if about.permissions().mode() & 0o100 == 0 { FileMode::Usual } else { FileMode::Program };
    Ok(NewFile { path: to.to_owned(), bytes, mode })
}

/// Returns the regular files beneath a folder, relative to it. A folder that is missing has none.
fn files_beneath(root: &Path) -> Result<Vec<PathBuf>, CopyFault> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(CopyFault::Folder { path: root.join(&folder), cause }),
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            let relative = folder.join(entry.file_name());
            match (kind.is_dir(), kind.is_file()) {
                (true, _) => folders.push(relative),
                (_, true) => found.push(relative),
                _ => return Err(CopyFault::Link(root.join(relative))),
            }
            if found.len() + folders.len() > MAX_COPIES {
                return Err(CopyFault::TooMany(root.to_owned()));
            }
        }
    }
    found.sort();
    Ok(found)
}
