//! The ssh that settings of git name: `core.sshCommand`.
//!
//! Files that a file includes are read; a condition (`includeIf`) is taken as not met, since it depends on where git
//! runs. What cannot be read names nothing: git itself says so.

use std::path::{Path, PathBuf};

use crate::obeyed::expand;
use crate::repository::{Repository, settings_of};

/// How deep files of settings include others, as in git.
const MAX_DEPTH: usize = 10;

/// The most files that are read. Protects from a fan of them.
const MAX_FILES: usize = 100;

/// Returns the command that the user's own settings name: those in their home, and in their folder for settings if that
/// is elsewhere than in `.config`. Files that really lie beneath one of the `writable` folders are left out: what
/// others can change names no program of the user's.
pub fn users_ssh_command(home: &Path, settings: Option<&Path>, writable: &[PathBuf]) -> Option<String> {
    let folder = settings.map_or_else(|| home.join(".config"), Path::to_owned);
    let mut reader = Reader { home: Some(home), writable, left: MAX_FILES, found: None };
    reader.read(&folder.join("git/config"), 0);
    reader.read(&home.join(".gitconfig"), 0);
    reader.found
}

/// Whether the repository around a folder names a command of its own.
pub fn names_ssh_command(folder: &Path, home: Option<&Path>) -> bool {
    let Ok(Some(repository)) = Repository::around(folder) else { return false };
    let mut reader = Reader { home, writable: &[], left: MAX_FILES, found: None };
    repository.settings_files().iter().for_each(|file| reader.read(file, 0));
    reader.found.is_some()
}

/// Reads files in their order; the last command counts.
struct Reader<'p> {
    home: Option<&'p Path>,
    writable: &'p [PathBuf],
    /// How many files are read yet.
    left: usize,
    found: Option<String>,
}

impl Reader<'_> {
    fn read(&mut self, file: &Path, depth: usize) {
        // Files may include each other in a circle.
        let Some(left) = self.left.checked_sub(1).filter(|_| depth <= MAX_DEPTH) else { return };
        self.left = left;
        // Users keep their settings in another repository, and link them.
        let Ok(real) = file.canonicalize() else { return };
        // By the real path: a program can change a file in there, and with it the command that the host runs.
        if self.writable.iter().any(|folder| real.starts_with(folder)) {
            return;
        }
        let Ok(settings) = settings_of(&real) else { return };
        for setting in settings {
            let Some(value) = setting.value.as_deref().filter(|value| !value.is_empty()) else { continue };
            match setting.key().as_str() {
                // The last one counts, as in git.
                "core.sshcommand" => self.found = Some(value.to_owned()),
                "include.path" => {
                    let folder = file.parent().unwrap_or(Path::new("/"));
                    if let Some(included) = expand(value, folder, self.home) {
                        self.read(&included, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn ssh_command_is_that_of_the_users_settings_and_of_a_repository() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        for path in ["w/.git/objects", "w/.git/refs", "w/sub", "home/.config/git"] {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        let (home, work) = (root.join("home"), root.join("w"));
        let write = |path: &str, text: &str| fs::write(root.join(path), text).expect("written");
        write("w/.git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(users_ssh_command(&home, None, &[]), None);
        assert!(!names_ssh_command(&work, Some(&home)));
        write("home/.config/git/config", "[core]\n\tsshCommand = ssh -i a\n");
        assert_eq!(users_ssh_command(&home, None, &[]).as_deref(), Some("ssh -i a"));
        assert_eq!(users_ssh_command(&home, Some(&root), &[]), None, "the folder for settings is elsewhere");
        write("home/.gitconfig", "[include]\n\tpath = more\n[includeIf \"gitdir:/x\"]\n\tpath = none\n");
        write("home/more", "[include]\n\tpath = more\n[core]\n\tsshcommand = ssh -i b\n");
        write("home/none", "[core]\n\tsshCommand = x\n");
        assert_eq!(users_ssh_command(&home, None, &[]).as_deref(), Some("ssh -i b"));
        assert!(!names_ssh_command(&work, Some(&home)), "it is the user's, not the repository's");
        assert_eq!(users_ssh_command(&home, None, &[home.join("more")]).as_deref(), Some("ssh -i a"));
        assert_eq!(users_ssh_command(&home, None, std::slice::from_ref(&root)), None, "programs can change it");
        write("w/.git/config", "[core]\n\tsshCommand = ssh -i c\n");
        assert!(names_ssh_command(&work.join("sub"), None));
    }
}
