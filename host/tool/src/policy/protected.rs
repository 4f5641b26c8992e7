//! Files that no command may change in any mode: those of version control, those of the host, and those that a shell
//! runs when it starts. Changing one of them means running something later.
//!
//! This covers paths that are named literally. The sandbox has to stop what a program writes by its own decision.

use std::path::{Component, Path, PathBuf};

/// Folders in which nothing may be changed.
const FOLDERS: [&str; 5] = [".git", ".hg", ".jj", ".svn", ".host"];

/// In how many folders a shell may be for a line to be followed.
const SHELLS: usize = 64;

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

/// The place where a command runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The absolute path of the workspace.
    pub(super) workspace: &'a Path,
    /// The host's own folders, absolute.
    pub(super) own: &'a [PathBuf],
}

impl Place<'_> {
    /// Returns the path as text if it may not be changed. A `\0` in it is a part that is known only at run time.
    pub(super) fn protects(self, target: &str) -> Option<String> {
        // The model does not choose the folders above the workspace.
        let beneath = self.workspace.to_str().and_then(|workspace| target.strip_prefix(workspace)).unwrap_or(target);
        let parts = normal(beneath);
        let start_file =
            parts.last().is_some_and(|last| START_FILES.iter().any(|file| file.eq_ignore_ascii_case(last)));
        let fish = parts.windows(2).any(|pair| pair == [".config", "fish"]);
        let folder = parts.iter().any(|part| is_protected_folder(part));
        let own = self.own.iter().any(|own| is_within(target, own, self.workspace));
        (start_file || fish || folder || own).then(|| target.replace('\0', "…"))
    }

    /// Whether a shell that is in one of these folders and enters another one stays in the workspace and out of protected
    /// folders, by the name of that folder and by where its links lead now. Adds where the shell can be then.
    pub(super) fn stays_inside(self, shells: &mut Vec<PathBuf>, folder: &str) -> bool {
        let beneath = match Path::new(folder).strip_prefix(self.workspace) {
            Ok(beneath) => beneath,
            Err(_) if folder.starts_with('/') => return false,
            Err(_) => Path::new(folder),
        };
        let fine = |part: Component<'_>| match part {
            Component::Normal(name) => !is_protected_folder(&name.to_string_lossy()),
            Component::CurDir => true,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => false,
        };
        if !beneath.components().all(fine) {
            return false;
        }
        let entered: Vec<PathBuf> = shells.iter().map(|shell| shell.join(folder)).collect();
        let stays = entered.iter().all(|path| self.leads_inside(path));
        shells.extend(entered);
        shells.sort();
        shells.dedup();
        stays && shells.len() <= SHELLS
    }

    /// Whether the folder, if it is there, is in the workspace and in no protected folder.
    fn leads_inside(self, folder: &Path) -> bool {
        let (Ok(real), Ok(workspace)) = (folder.canonicalize(), self.workspace.canonicalize()) else { return true };
        let Ok(beneath) = real.strip_prefix(&workspace) else { return false };
        !beneath.components().any(|part| is_protected_folder(&part.as_os_str().to_string_lossy()))
    }
}

/// Whether nothing in a folder of this name may be changed. Ignores case, as some file systems do.
fn is_protected_folder(name: &str) -> bool {
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

/// Whether the path is the folder or is in it. If the path begins with a part that is known only at run time, such as
/// `~` or a variable, the last two names of the folder are compared.
fn is_within(target: &str, folder: &Path, workspace: &Path) -> bool {
    let Some(folder) = folder.to_str().map(normal) else { return false };
    if target.starts_with(['~', '\0']) {
        let last = &folder[folder.len().saturating_sub(2)..];
        return !last.is_empty() && normal(target).windows(last.len()).any(|names| names == last);
    }
    let absolute = workspace.join(target);
    absolute.to_str().is_some_and(|path| normal(path).starts_with(&folder))
}
