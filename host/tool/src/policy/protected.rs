//! Files that no command may change in any mode: those of version control, those of the host, and those that a shell
//! runs when it starts. Changing one of them means running something later.
//!
//! This covers paths that a command names. The sandbox has to stop what a program writes by its own decision.

use std::path::{Path, PathBuf};

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

/// Whether a path beneath the workspace, or any other, is one that may not be changed, by the names in it. In a pattern of
/// a shell, a part that may stand for such a name counts like it.
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

/// Whether the path, as it is written, is one of the host's own folders or in one. If the path begins with a part that is
/// known only at run time, such as `~` or a variable, the last two names of the folder are compared.
pub(super) fn is_within_own(target: &str, own: &[PathBuf], workspace: &Path) -> bool {
    own.iter().filter_map(|folder| folder.to_str().map(normal)).any(|folder| {
        if target.starts_with(['~', '\0']) {
            let last = &folder[folder.len().saturating_sub(2)..];
            return !last.is_empty() && normal(target).windows(last.len()).any(|names| names == last);
        }
        let absolute = workspace.join(target);
        absolute.to_str().is_some_and(|path| normal(path).starts_with(&folder))
    })
}
