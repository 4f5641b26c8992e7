//! Commands that only read the workspace, which need no question.
//!
//! `host-shell` finds from the words of a command that it only reads and prints, and what it opens. Here a look at the
//! files says the rest: that each path leads to a file of the workspace, also through links, and that the repository's
//! settings make git run nothing of their own.
//!
//! It promises to say no whenever it cannot tell: a question is the worst that follows. Between the look and the
//! command nothing else of the run changes files, unless a user allowed it.

use std::path::{Path, PathBuf};

use host_git::{Repository, Whose};
use host_shell::{Command, Word, base_name};

use super::environment::ProgramEnvironment;
use super::place::Place;

/// Files by which rustup chooses a compiler: one of them can name a folder of the project.
const RUSTUP_FILES: [&str; 2] = ["rust-toolchain", "rust-toolchain.toml"];

/// Files by which other version managers choose the program behind a name, which can be one of the project, too.
const VERSION_FILES: [&str; 15] = [
    ".tool-versions",
    ".asdfrc",
    ".mise",
    ".mise.toml",
    ".mise.local.toml",
    "mise",
    "mise.toml",
    "mise.local.toml",
    ".config/mise",
    ".config/mise.toml",
    ".rtx.toml",
    ".python-version",
    ".node-version",
    ".ruby-version",
    ".prototools",
];

/// The programs of version managers, which start another program by the name that they are called by.
const VERSION_MANAGERS: [&str; 6] = ["rustup", "asdf", "mise", "rtx", "proto", "proto-shim"];

/// The largest file of settings that is read, in bytes.
const MAX_SETTINGS: u64 = 64 << 10;

impl Place<'_> {
    /// Whether a command that runs in any of these folders only reads files of the workspace.
    pub(super) fn lets_read(&self, command: &Command, shells: &[PathBuf], environment: &ProgramEnvironment) -> bool {
        let Some(reads) = &command.reads else { return false };
        let controlled = environment.controlled(&self.workspace);
        // The program finds others by the same `PATH`, as a script does its interpreter.
        let Ok(program) = environment.find(base_name(&command.words), &controlled) else { return false };
        let is_chosen = reads.toolchain || program.is_some_and(|file| is_of_version_manager(&file));
        environment.finds_none_in(&controlled)
            && (!reads.repository || environment.is_plain_for_git(&controlled))
            && self.holds_inputs(command, shells)
            && shells.iter().all(|shell| {
                reads.files.iter().all(|file| self.holds(file, shell))
                    && (!reads.repository || host_git::is_inert_at(shell, Whose::Host))
                    && (!is_chosen || !has_version_file(shell, &controlled))
            })
    }

    /// Whether what a builtin of the shell does shows nothing but files of the workspace.
    pub(super) fn is_harmless(&self, command: &Command, shells: &[PathBuf]) -> bool {
        command.harmless
            && self.holds_inputs(command, shells)
            && command.looks.iter().all(|file| shells.iter().all(|shell| self.holds(file, shell)))
    }

    /// Whether the files that a command gets as its input are files of the workspace.
    fn holds_inputs(&self, command: &Command, shells: &[PathBuf]) -> bool {
        command.inputs.iter().all(|file| shells.iter().all(|shell| self.holds(file, shell)))
    }
}

/// Whether a command of git shows what it keeps of files: each one but those that name files and branches.
pub(super) fn shows_objects(command: &Command) -> bool {
    let names_only =
        command.words.get(1).and_then(Word::literal).is_some_and(|word| word == "status" || word == "branch");
    command.reads.as_ref().is_some_and(|reads| reads.repository) && !names_only
}

/// Returns the settings that the repository in which a shell is shares with its work trees; `None` if it is in none, or
/// they cannot be read.
pub(super) fn settings_of_repository(shell: &Path) -> Option<String> {
    let repository = Repository::around(shell).ok().flatten()?;
    // A pipe in its place would be waited for by a reader that takes any file.
    let bytes = host_files::read_found(&repository.common.join("config"), MAX_SETTINGS).ok()?;
    String::from_utf8(bytes).ok()
}

/// Whether the file is a version manager, or a script of one.
fn is_of_version_manager(file: &Path) -> bool {
    let is_manager = |name: &str| VERSION_MANAGERS.contains(&name) || name.starts_with("volta");
    file.file_stem().and_then(|name| name.to_str()).is_some_and(is_manager)
        || file.components().any(|part| part.as_os_str() == "shims")
}

/// Whether a folder around a shell has a file that chooses a version. What is above the project is the user's, but
/// rustup obeys a path in a file there, too.
fn has_version_file(shell: &Path, controlled: &[PathBuf]) -> bool {
    let is_there =
        |folder: &Path, names: &[&str]| names.iter().any(|name| folder.join(name).symlink_metadata().is_ok());
    shell.ancestors().any(|above| {
        let is_of_project = controlled.iter().any(|folder| above.starts_with(folder));
        is_there(above, &RUSTUP_FILES) || is_of_project && is_there(above, &VERSION_FILES)
    })
}

#[cfg(test)]
mod tests;
