//! Real paths of many files that lie in few folders.
//!
//! [`std::fs::canonicalize`] asks the system about each folder on the way, for each path anew. Deliberately not here:
//! what changes between two questions; whoever needs to know opens the file.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Resolves paths, and remembers the folders on the way.
#[derive(Debug, Default)]
pub struct RealPaths {
    /// The real path of each folder that was asked for; `None` if there is nothing. Its words are the key: a path is
    /// compared by its components, which takes longer than to ask the system.
    folders: HashMap<OsString, Option<PathBuf>>,
}

impl RealPaths {
    /// Returns the path without symbolic links; `None` if there is nothing at it, or it cannot be resolved.
    pub fn real(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.folders.get(path.as_os_str()) {
            return known.clone();
        }
        // `a/../b` is another place where `a` is a link, so only the system can say.
        let is_plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
        let (Some(folder), Some(name), true) = (path.parent(), path.file_name(), is_plain) else {
            return fs::canonicalize(path).ok();
        };
        let mut path = self.folder(folder)?;
        path.push(name);
        match fs::symlink_metadata(&path).ok()?.is_symlink() {
            true => fs::canonicalize(path).ok(),
            false => Some(path),
        }
    }

    /// The same for a folder, which is remembered.
    fn folder(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(known) = self.folders.get(folder.as_os_str()) {
            return known.clone();
        }
        let found = self.real(folder);
        self.folders.insert(folder.as_os_str().to_owned(), found.clone());
        found
    }

    /// Returns the path without symbolic links as far as there is something, with the rest of it behind.
    pub fn real_beginning(&mut self, path: &Path) -> Option<PathBuf> {
        let mut missing: Vec<OsString> = Vec::new();
        let mut there = path;
        loop {
            let real = if missing.is_empty() { self.real(there) } else { self.folder(there) };
            if let Some(real) = real {
                return Some(missing.into_iter().rev().fold(real, |real, name| real.join(name)));
            }
            missing.push(there.file_name()?.to_owned());
            there = there.parent()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn real_paths_are_those_of_the_system() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::create_dir_all(root.join("a/b")).expect("made");
        fs::write(root.join("a/b/file"), "").expect("written");
        for (at, to) in
            [("a/link", "b"), ("linked", "a"), ("a/gone", "nowhere"), ("loop", "loop"), ("a/up", "../a/b/file")]
        {
            symlink(to, root.join(at)).expect("linked");
        }
        let mut paths = RealPaths::default();
        // Each twice: found, and remembered.
        for _ in 0..2 {
            for name in [
                "",
                "a",
                "a/b",
                "a/b/file",
                "a/link",
                "a/link/file",
                "linked/link/file",
                "linked/up",
                "a/gone",
                "a/gone/x",
                "loop",
                "loop/x",
                "none",
                "none/x/y",
                "a/b/file/x",
                "a/../a/b",
                "linked/../a",
                "./a",
            ] {
                let path = root.join(name);
                assert_eq!(paths.real(&path), fs::canonicalize(&path).ok(), "{name}");
            }
        }
        assert_eq!(paths.real(Path::new("/")), Some(PathBuf::from("/")));
        assert_eq!(paths.real(Path::new(".")), fs::canonicalize(".").ok());
        let real = fs::canonicalize(root).expect("there");
        for (name, expected) in
            [("a/link/x/y", "a/b/x/y"), ("linked/none", "a/none"), ("a/b/file", "a/b/file"), ("x/y", "x/y")]
        {
            assert_eq!(paths.real_beginning(&root.join(name)), Some(real.join(expected)), "{name}");
        }
    }
}
