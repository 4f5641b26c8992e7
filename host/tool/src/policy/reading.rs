//! Commands that only read the workspace, which need no question.
//!
//! `host-shell` finds from the words of a command that it only reads and prints, and what it opens. Here a look at the
//! files says the rest: that each path leads to a file of the workspace, also through links, and that the repository's
//! settings make git run nothing of their own.
//!
//! It promises to say no whenever it cannot tell: a question is the worst that follows. Between the look and the command
//! nothing else of the run changes files, unless a user allowed it.

mod index;
mod repository;

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use host_shell::{Command, ReadFile};

use super::protected::Place;

/// How many names in folders a pattern is compared with.
const NAMES: usize = 20_000;

/// Files by which rustup chooses a compiler: one of them can name a folder of the project.
const TOOLCHAIN_FILES: [&str; 2] = ["rust-toolchain", "rust-toolchain.toml"];

impl Place<'_> {
    /// Whether a command that runs in any of these folders only reads files of the workspace.
    pub(super) fn lets_read(self, command: &Command, shells: &[PathBuf]) -> bool {
        let Some(reads) = &command.reads else { return false };
        self.holds_inputs(command, shells)
            && shells.iter().all(|shell| {
                reads.files.iter().all(|file| self.holds(file, shell))
                    && (!reads.repository || repository::is_inert(shell))
                    && (!reads.toolchain || !has_toolchain_file(shell))
            })
    }

    /// Whether the files that a command's redirections read are files of the workspace.
    pub(super) fn holds_inputs(self, command: &Command, shells: &[PathBuf]) -> bool {
        command.inputs.iter().all(|file| shells.iter().all(|shell| self.holds(file, shell)))
    }

    /// Whether a path, or each path that a pattern stands for, leads to a file of the workspace.
    fn holds(self, file: &ReadFile, shell: &Path) -> bool {
        if file.path.contains('\0') {
            return false;
        }
        let Ok(workspace) = self.workspace.canonicalize() else { return false };
        let path = Path::new(&file.path);
        match file.glob {
            false => is_within(&shell.join(path), &workspace),
            true => self.holds_matches(path, shell, &workspace),
        }
    }

    /// The same for a pattern: a part with `*`, `?` or `[` may stand for every name in its folder.
    fn holds_matches(self, pattern: &Path, shell: &Path, workspace: &Path) -> bool {
        let mut folders = vec![shell.to_path_buf()];
        let mut seen = 0;
        for part in pattern.components() {
            let name = match part {
                Component::Normal(name) => name,
                Component::CurDir => continue,
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
            };
            if !name.to_string_lossy().contains(['*', '?', '[']) {
                folders.iter_mut().for_each(|folder| folder.push(name));
                continue;
            }
            let mut next = Vec::new();
            for folder in &folders {
                let names = match fs::read_dir(folder) {
                    Ok(names) => names,
                    Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                        continue;
                    }
                    Err(_) => return false,
                };
                for name in names {
                    let Ok(name) = name else { return false };
                    seen += 1;
                    if seen > NAMES {
                        return false;
                    }
                    next.push(name.path());
                }
            }
            folders = next;
            if !folders.iter().all(|path| is_within(path, workspace)) {
                return false;
            }
        }
        folders.iter().all(|path| is_within(path, workspace))
    }
}

/// Whether the path leads into the workspace; of one that is not there, the part that is.
fn is_within(path: &Path, workspace: &Path) -> bool {
    let mut there = path;
    loop {
        match there.canonicalize() {
            Ok(real) => {
                let missing = path.strip_prefix(there).unwrap_or(Path::new(".."));
                let goes_up = missing.components().any(|part| !matches!(part, Component::Normal(_)));
                return real.starts_with(workspace) && !goes_up;
            }
            // A link that leads nowhere yet has no file behind it, and may have one when the command runs.
            Err(_) if there.symlink_metadata().is_ok() => return false,
            Err(error) if error.kind() == io::ErrorKind::NotFound => match there.parent() {
                Some(parent) => there = parent,
                None => return false,
            },
            Err(_) => return false,
        }
    }
}

fn has_toolchain_file(shell: &Path) -> bool {
    shell.ancestors().any(|above| TOOLCHAIN_FILES.iter().any(|name| above.join(name).symlink_metadata().is_ok()))
}

#[cfg(test)]
mod tests;
