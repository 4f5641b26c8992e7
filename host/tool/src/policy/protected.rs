//! Files that no command may change in any mode: those of version control, those of the host, and those that a shell
//! runs when it starts. Changing one of them means running something later.
//!
//! This covers paths that a command names. The sandbox has to stop what a program writes by its own decision.

use std::path::{Path, PathBuf};

use host_shell::NamedPath;

use super::glob::{is_pattern, may_match};

/// Folders in which nothing may be changed.
const FOLDERS: [&str; 5] = [".git", ".hg", ".jj", ".svn", ".host"];

/// Files that a shell reads when it starts or ends.
const START_FILES: [&str; 14] = [
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".kshrc",
    ".login",
    ".profile",
    ".tcshrc",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// Whether a path beneath the workspace, or any other, is one that may not be changed, by the names in it. In a pattern
/// of a shell, a part that may stand for such a name counts like it.
pub(super) fn is_protected_beneath(path: &str, glob: bool) -> bool {
    let is = |part: &str, known: &str| match glob && is_pattern(part) {
        true => may_match(part, known),
        false => part.eq_ignore_ascii_case(known),
    };
    let parts = normal(path);
    let start_file = parts.last().is_some_and(|last| START_FILES.iter().any(|file| is(last, file)));
    let fish = parts.windows(2).any(|pair| is(pair[0], ".config") && is(pair[1], "fish"));
    start_file || fish || parts.iter().any(|part| FOLDERS.iter().any(|folder| is(part, folder)))
}

/// Whether nothing in a folder of this name may be changed. Ignores case, as some file systems do.
pub(super) fn is_protected_folder(name: &str) -> bool {
    FOLDERS.iter().any(|folder| folder.eq_ignore_ascii_case(name))
}

/// Returns the parts of a path, with `.` and `..` resolved as written.
fn normal(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}

/// Whether the path, as it is written, is one of the host's own folders or in one. If the path begins with a part that
/// is known only at run time, such as `~` or a variable, the names of the folder beneath the home are compared, or else
/// its last two. In a pattern of a shell, a part that may stand for such a name counts like it.
pub(super) fn is_within_own(target: &NamedPath, own: &OwnPlaces, workspace: &Path) -> bool {
    let is = |part: &str, known: &str| match target.glob && is_pattern(part) {
        true => may_match(part, known),
        false => part == known,
    };
    let begins = |path: &[&str], names: &[&str]| {
        path.len() >= names.len() && path.iter().zip(names).all(|(part, known)| is(part, known))
    };
    let text = target.path.as_str();
    if text.starts_with(['~', '\0']) {
        let path = normal(text);
        return own
            .paths
            .iter()
            .filter_map(|folder| own.beneath_home(folder))
            .any(|names| !names.is_empty() && (0..path.len()).any(|at| begins(&path[at..], &names)));
    }
    let absolute = workspace.join(text);
    let Some(path) = absolute.to_str().map(normal) else { return false };
    own.paths.iter().filter_map(|folder| folder.to_str().map(normal)).any(|names| begins(&path, &names))
}

/// The host's own folders and what other agents obey.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnPlaces {
    /// Absolute.
    pub(super) paths: Vec<PathBuf>,
    /// The user's home.
    pub(super) home: Option<PathBuf>,
}

impl OwnPlaces {
    /// The names of one beneath the home, or else its last two.
    fn beneath_home<'a>(&self, folder: &'a Path) -> Option<Vec<&'a str>> {
        match self.home.as_ref().and_then(|home| folder.strip_prefix(home).ok()) {
            Some(beneath) => beneath.to_str().map(normal),
            None => folder.to_str().map(normal).map(|names| names[names.len().saturating_sub(2)..].to_vec()),
        }
    }
}
