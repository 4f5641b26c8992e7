//! Commands and skills, which are copied as they are.
//!
//! Promises: a link in them is not followed, and what is too large or too much is left out as a whole, never a part of
//! it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use host_settings::own_file::{FileMode, NewFile};

/// The largest file of a command or skill, in bytes. Protects memory and the disk.
const MAX_COPY: u64 = 1 << 20;

/// The most files of a skill, and of a folder of commands. Protects the disk from a folder that is not what it should
/// be.
const MAX_COPIES: usize = 300;

/// A command or skill with its files.
pub(super) struct Copy {
    /// What it is called: for a command its path without the extension.
    pub(super) name: String,
    /// The file or folder that is made.
    pub(super) to: PathBuf,
    /// Its files, or why it is left out.
    pub(super) files: Result<Vec<NewFile>, String>,
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

fn copied(from: &Path, to: &Path) -> Result<NewFile, String> {
    let shown = || from.display().to_string();
    let bytes = host_files::read_file(from, MAX_COPY).map_err(|error| format!("`{}`: {error}", shown()))?;
    let about = fs::metadata(from).map_err(|error| format!("`{}`: {error}", shown()))?;
    let mode = if about.permissions().mode() & 0o100 == 0 { FileMode::Usual } else { FileMode::Program };
    Ok(NewFile { path: to.to_owned(), bytes, mode })
}

/// Returns the regular files beneath a folder, relative to it. A folder that is missing has none.
fn files_beneath(root: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(format!("`{}` cannot be read: {error}", root.join(&folder).display())),
        };
        for entry in entries {
            let entry = entry.map_err(|error| error.to_string())?;
            let kind = entry.file_type().map_err(|error| error.to_string())?;
            let relative = folder.join(entry.file_name());
            match (kind.is_dir(), kind.is_file()) {
                (true, _) => folders.push(relative),
                (_, true) => found.push(relative),
                _ => return Err(format!("`{}` is a link; copy it by hand", root.join(relative).display())),
            }
            if found.len() + folders.len() > MAX_COPIES {
                return Err(format!("`{}` has over {MAX_COPIES} files", root.display()));
            }
        }
    }
    found.sort();
    Ok(found)
}
