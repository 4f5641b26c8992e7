//! Where the paths that a command names lead: into the workspace, out of it, or to what no command may change.
//!
//! A path is looked up from the folder in which the command will run, and its links are resolved: a name says little.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use host_shell::NamedPath;

use super::glob::{is_pattern, may_match};
use super::protected::{OwnPlaces, is_protected_beneath, is_protected_folder, is_within_own};

/// In how many folders a shell may be for a line to be followed.
const SHELLS: usize = 64;

/// How many names in folders a pattern is compared with.
const NAMES: usize = 20_000;

/// The place where a command runs.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    /// The absolute path of the workspace without links, if it is there.
    pub(super) workspace: PathBuf,
    /// Its path as the run was given it.
    named: &'a Path,
    /// The host's own folders, absolute.
    own: &'a OwnPlaces,
}

impl<'a> Place<'a> {
    pub(super) fn new(workspace: &'a Path, own: &'a OwnPlaces) -> Self {
        Self { workspace: workspace.canonicalize().unwrap_or_else(|_| workspace.to_path_buf()), named: workspace, own }
    }

    /// Returns the path as text if no command may change it, wherever of these folders it runs in.
    pub(super) fn protects(&self, path: &NamedPath, shells: &[PathBuf]) -> Option<String> {
        let text = path.path.as_str();
        // One that begins with something unknown is compared by its names alone.
        let is_relative = !text.starts_with(['/', '~', '\0']);
        let written = shells.iter().filter(|_| is_relative).map(|shell| shell.join(text));
        let is_protected = self.is_protected(Path::new(text), path.glob)
            || is_within_own(path, self.own, &self.workspace)
            || written.into_iter().any(|path_in_shell| self.is_protected(&path_in_shell, path.glob))
            || shells.iter().any(|shell| self.leads_to_protected(path, shell));
        is_protected.then(|| text.replace('\0', "…"))
    }

    fn is_protected(&self, path: &Path, glob: bool) -> bool {
        // The model does not choose the folders above the workspace.
        let beneath = path.strip_prefix(&self.workspace).or_else(|_| path.strip_prefix(self.named)).unwrap_or(path);
        is_protected_beneath(&beneath.to_string_lossy(), glob)
    }

    /// Whether the links of a path, or of one that a pattern stands for, lead to what is protected.
    fn leads_to_protected(&self, path: &NamedPath, shell: &Path) -> bool {
        let found = match path.glob {
            true => matches(Path::new(&path.path), shell).unwrap_or_default(),
            false => vec![shell.join(&path.path)],
        };
        found
            .iter()
            .filter_map(|path| resolve(path))
            .any(|real| self.is_protected(&real, false) || self.own.paths.iter().any(|own| real.starts_with(own)))
    }

    /// Whether a shell that is in one of these folders and enters another one stays in the workspace and out of
    /// protected folders, by the name of that folder and by where its links lead. Adds where the shell can be then.
    pub(super) fn enters(&self, shells: &mut Vec<PathBuf>, folder: &str) -> bool {
        let beneath =
            Path::new(folder).strip_prefix(self.named).or_else(|_| Path::new(folder).strip_prefix(&self.workspace));
        let fine = |part: Component<'_>| match part {
            Component::Normal(name) => !is_protected_folder(&name.to_string_lossy()),
            Component::CurDir => true,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => false,
        };
        let is_plain = beneath.unwrap_or(Path::new(folder)).components().all(fine);
        let entered: Vec<Option<PathBuf>> = shells.iter().map(|shell| resolve(&shell.join(folder))).collect();
        let stays = entered.iter().all(|real| real.as_ref().is_some_and(|real| self.is_inside(real)));
        // Also where it may not go: what it writes there is compared with what is protected.
        shells.extend(entered.into_iter().flatten());
        shells.sort();
        shells.dedup();
        let is_followed = shells.len() <= SHELLS;
        shells.truncate(SHELLS);
        is_plain && stays && is_followed
    }

    /// Whether a path, or each path that a pattern stands for, leads into the workspace and into no protected folder.
    pub(super) fn runs_from(&self, path: &NamedPath, shell: &Path) -> bool {
        let is_open = |path: &Path| resolve(path).is_none_or(|real| self.is_unprotected(&real));
        self.holds(path, shell) && (path.glob || is_open(&shell.join(&path.path)))
    }

    /// Returns a folder in which a program that is named by a relative path is another file than the one that a rule
    /// with its name means: the one of the workspace, or else the one of the folder in which the call runs.
    pub(super) fn another(&self, program: &str, directory: Option<&Path>, shells: &[PathBuf]) -> Option<PathBuf> {
        if !program.contains('/') || program.starts_with('/') {
            return None;
        }
        let file = |folder: &Path| folder.join(program).canonicalize().ok();
        let meant = file(&self.workspace).or_else(|| file(directory?))?;
        let moved = shells.iter().find(|shell| file(shell).is_some_and(|found| found != meant))?;
        Some(moved.strip_prefix(&self.workspace).map_or_else(|_| moved.clone(), Path::to_owned))
    }

    /// Whether a path without links is in the workspace and in no protected folder.
    fn is_inside(&self, real: &Path) -> bool {
        real.strip_prefix(&self.workspace).is_ok_and(is_unprotected)
    }

    /// Whether a folder without links is in no protected folder, inside the workspace or not.
    pub(super) fn is_unprotected(&self, real: &Path) -> bool {
        is_unprotected(real.strip_prefix(&self.workspace).unwrap_or(real))
    }

    /// Whether a path, or each path that a pattern stands for, leads into the workspace.
    pub(super) fn holds(&self, path: &NamedPath, shell: &Path) -> bool {
        if path.path.contains('\0') {
            return false;
        }
        match path.glob {
            false => self.leads_inside(&shell.join(&path.path)),
            true => self.holds_matches(Path::new(&path.path), shell),
        }
    }

    /// Whether a path leads into the workspace; of one that is not there, the part that is.
    pub(super) fn leads_inside(&self, path: &Path) -> bool {
        resolve(path).is_some_and(|real| real.starts_with(&self.workspace))
    }

    /// The same for a pattern: a part with `*`, `?` or `[` may stand for every name in its folder.
    fn holds_matches(&self, pattern: &Path, shell: &Path) -> bool {
        // All folders that the parts so far may stand for, as the shell would expand them.
        let mut folders = vec![shell.to_path_buf()];
        let mut seen = 0;
        for part in pattern.components() {
            let name = match part {
                Component::Normal(name) => name,
                Component::CurDir => continue,
                // Behind a pattern `..` leads out of each match, and a link among them could lead anywhere.
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
            };
            if !is_pattern(&name.to_string_lossy()) {
                folders.iter_mut().for_each(|folder| folder.push(name));
                continue;
            }
            // Names outside are not even looked at.
            if !folders.iter().all(|folder| self.leads_inside(folder)) {
                return false;
            }
            // Bounded: a pattern of several parts can stand for millions of names.
            let Some(next) = names_in(&folders, &mut seen) else { return false };
            folders = next;
            if !folders.iter().all(|path| self.leads_inside(path)) {
                return false;
            }
        }
        folders.iter().all(|path| self.leads_inside(path))
    }
}

fn is_unprotected(beneath: &Path) -> bool {
    !beneath.components().any(|part| is_protected_folder(&part.as_os_str().to_string_lossy()))
}

/// Returns where a path leads: its links are resolved as the system does it, and what is not there yet follows. `None`
/// if that cannot be told.
pub(crate) fn resolve(path: &Path) -> Option<PathBuf> {
    let mut there = path;
    loop {
        match there.canonicalize() {
            Ok(real) => {
                let missing = path.strip_prefix(there).ok()?;
                let goes_down = missing.components().all(|part| matches!(part, Component::Normal(_)));
                return goes_down.then(|| real.join(missing));
            }
            // A link that leads nowhere yet has no file behind it, and may have one when the command runs.
            Err(_) if there.symlink_metadata().is_ok() => return None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => there = there.parent()?,
            Err(_) => return None,
        }
    }
}

/// Returns the paths that a pattern may stand for; `None` if they are too many or cannot be listed.
fn matches(pattern: &Path, shell: &Path) -> Option<Vec<PathBuf>> {
    let mut folders = vec![shell.to_path_buf()];
    let mut seen = 0;
    for part in pattern.components() {
        let name = part.as_os_str().to_string_lossy();
        if !matches!(part, Component::Normal(_)) || !is_pattern(&name) {
            folders.iter_mut().for_each(|folder| folder.push(part));
            continue;
        }
        folders = names_in(&folders, &mut seen)?;
        folders.retain(|path| path.file_name().is_some_and(|found| may_match(&name, &found.to_string_lossy())));
    }
    Some(folders)
}

/// Returns every name in these folders; `None` if they are too many or cannot be listed.
fn names_in(folders: &[PathBuf], seen: &mut usize) -> Option<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for folder in folders {
        let names = match fs::read_dir(folder) {
            Ok(names) => names,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => continue,
            Err(_) => return None,
        };
        for name in names {
            *seen += 1;
            if *seen > NAMES {
                return None;
            }
            paths.push(name.ok()?.path());
        }
    }
    Some(paths)
}
