//! Files that the user keeps from programs.
//!
//! They are found by their paths right before a program starts, in what it may read of the user's own: a program finds
//! something that cannot be opened in their place. What is installed on the machine and what git keeps are not
//! searched: there is a `*.pem` that every program needs, and git's folders have no files of the user's.
//!
//! Deliberately not here: how something is hidden (`host-process`), and which files the user keeps.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use host_process::Confinement;

use crate::access::{ProgramAccess, roots};

/// The most files and folders that are searched before a program starts. Protects the time of each program.
const MAX_ENTRIES: usize = 2_000_000;

/// Whether the user keeps this file or folder from programs. The path is absolute and normal.
pub(crate) fn is_hidden(access: &ProgramAccess, path: &Path) -> bool {
    access.shown.iter().any(|scope| !scope.has_path(path))
}

/// Returns those that are there and in one of these folders, as they are without links; not one with a folder in it
/// that programs get by its own name.
pub(crate) fn in_roots<'a>(hidden: Vec<PathBuf>, roots: impl Iterator<Item = &'a PathBuf> + Clone) -> Vec<PathBuf> {
    let is_within = |path: &Path| {
        roots.clone().any(|root| path.starts_with(root)) && !roots.clone().any(|root| root.starts_with(path))
    };
    hidden.into_iter().filter_map(|path| fs::canonicalize(path).ok()).filter(|path| is_within(path)).collect()
}

/// Hides what the user keeps from programs, in all that this one may read besides what is installed. Blocks for as long
/// as listing that takes.
pub(crate) fn hide(access: &ProgramAccess, confinement: &mut Confinement) -> io::Result<()> {
    // Nothing to hide, which is usual, costs no walk.
    if access.shown.is_empty() {
        return Ok(());
    }
    let is_own = |path: &&PathBuf| !access.installed.paths().iter().any(|installed| path.starts_with(installed));
    let own = confinement.readable.iter().chain(&confinement.writable).filter(is_own).cloned().collect();
    let roots = roots(own);
    let mut hidden = Vec::new();
    let mut waiting: Vec<PathBuf> = Vec::new();
    let mut count = 0_usize;
    let mut look = |path: PathBuf, is_folder: bool, waiting: &mut Vec<PathBuf>| {
        // A hidden folder is not entered: all in it goes with it.
        if is_hidden(access, &path) {
            // A link hides what it leads to, unless that is not the user's own.
            let real = fs::canonicalize(&path).ok();
            hidden.extend(real.filter(|real| roots.iter().any(|root| real.starts_with(root))));
        } else if is_folder && !path.ends_with(".git") {
            waiting.push(path);
        }
    };
    for root in &roots {
        look(root.clone(), root.is_dir(), &mut waiting);
    }
    while let Some(folder) = waiting.pop() {
        // What cannot be listed has nothing that a program could open by a path.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let Ok(entry) = entry else { break };
            count += 1;
            if count > MAX_ENTRIES {
                // An error and no start: a file that was not found would be readable.
                return Err(io::Error::other(format!("there are more than {MAX_ENTRIES} files and folders")));
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            look(entry.path(), is_folder, &mut waiting);
        }
    }
    confinement.hidden.append(&mut hidden);
    Ok(())
}

#[cfg(test)]
mod tests {
    use host_capability::{Capability, Scope};

    use super::*;

    #[test]
    fn hidden_files_are_found_in_what_is_the_users_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("there");
        for path in ["w/a/b", "w/keys/deep", "w/.git/x", "more", "installed"] {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        for path in
            ["w/.env", "w/a/.env", "w/a/b/x.pem", "w/keys/deep/k", "w/.git/x/y.pem", "more/z.pem", "installed/ca.pem"]
        {
            fs::write(root.join(path), "SECRET").expect("written");
        }
        for (link, to) in [("w/a/linked.pem", "w/a/b/plain"), ("w/a/outer.pem", "installed/ca.pem")] {
            std::os::unix::fs::symlink(root.join(to), root.join(link)).expect("linked");
        }
        fs::write(root.join("w/a/b/plain"), "SECRET").expect("written");
        let workspace = root.join("w");
        let globs = ["**/.env", "*.pem", "keys/deep"];
        let shown = Scope::all_files_but_in(Capability::FsRead, &globs, &workspace).expect("globs");
        let access = ProgramAccess { shown: vec![shown], ..ProgramAccess::default() };
        let mut confinement = Confinement {
            readable: vec![root.join("more"), workspace.join("a")],
            writable: vec![workspace.clone()],
            ..Confinement::default()
        };
        hide(&access, &mut confinement).expect("searched");
        let mut names: Vec<String> = confinement
            .hidden
            .iter()
            .map(|path| path.strip_prefix(&root).expect("beneath").display().to_string())
            .collect();
        names.sort();
        assert_eq!(names.join(" "), "more/z.pem w/.env w/a/.env w/a/b/plain w/a/b/x.pem w/keys/deep");
        assert!(is_hidden(&access, &workspace.join("keys/deep/k")));
        assert!(!is_hidden(&access, &workspace.join("a/b/plain")));
        let mut nothing = Confinement { writable: vec![workspace], ..Confinement::default() };
        hide(&ProgramAccess::default(), &mut nothing).expect("nothing to search");
        assert_eq!(nothing.hidden, [] as [PathBuf; 0]);
    }
}
