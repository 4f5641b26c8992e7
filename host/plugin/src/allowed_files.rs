//! Files outside of the workspace that the user lets tools read, or change, until the session ends.
//!
//! Promises: nothing is allowed that the user cannot be asked about, such as keys and passwords, and nothing of it
//! beneath an allowed folder either; a sibling whose name begins alike is not covered; what was taken back is not used
//! by any later call.
//!
//! Deliberately not here: asking (the gate), and what a plugin may touch at all: its ceiling is met with this.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use host_capability::{Grants, Scope};

/// The most files and folders of a session. Protects the time that a check takes.
const MAX_ALLOWED: usize = 256;

/// The files that may be read until the session ends, or those that may be changed. Clones share them. The default
/// allows nothing.
#[derive(Clone, Debug, Default)]
pub struct AllowedFiles(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// What the user can be asked about; `None` is nothing.
    askable: Option<Scope>,
    /// Folders that are too wide for one answer, with all that they are in.
    too_wide: Vec<PathBuf>,
    allowed: RwLock<Vec<(PathBuf, Scope)>>,
}

impl AllowedFiles {
    /// Creates one in which nothing is allowed so far. `askable` is what the user can be asked about, for reading or
    /// for changing; a folder of `too_wide`, and any that contains one, is never allowed as a whole by an answer.
    pub fn new(askable: Scope, too_wide: Vec<PathBuf>) -> Self {
        Self(Arc::new(Inner { askable: Some(askable), too_wide, allowed: RwLock::default() }))
    }

    /// Returns one for the next conversation: the same can be asked about, and nothing is allowed.
    #[must_use]
    pub fn renewed(&self) -> Self {
        let Inner { askable, too_wide, .. } = self.0.as_ref();
        Self(Arc::new(Inner { askable: askable.clone(), too_wide: too_wide.clone(), allowed: RwLock::default() }))
    }

    /// Returns the scope of this absolute path and what is beneath; `None` if the user cannot be asked about it.
    pub fn scope_of(&self, path: &Path) -> Option<Scope> {
        let askable = self.0.askable.as_ref()?;
        let scope = Scope::for_path(askable.capability(), path).ok()?.meet(askable)?;
        // A secret's own denies would leave nothing of it.
        scope.has_path(path).then_some(scope)
    }

    /// Returns the folder that an answer about this path can allow: the path itself, or the one that the file is in.
    /// `None` if it would be too wide.
    pub fn folder_of(&self, path: &Path) -> Option<PathBuf> {
        let is_folder = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        let folder = if is_folder { path } else { path.parent()? };
        let is_too_wide = folder.parent().is_none() || self.0.too_wide.iter().any(|wide| wide.starts_with(folder));
        (!is_too_wide && self.scope_of(folder).is_some()).then(|| folder.to_owned())
    }

    /// Allows this absolute path and what is beneath. Returns `false`, and allows nothing, if the user cannot
    /// be asked about it, or too much is allowed already.
    pub fn allow(&self, path: &Path) -> bool {
        let Some(scope) = self.scope_of(path) else { return false };
        let mut allowed = self.0.allowed.write().unwrap_or_else(PoisonError::into_inner);
        if allowed.iter().any(|(known, _)| known == path) {
            return true;
        }
        let has_room = allowed.len() < MAX_ALLOWED;
        if has_room {
            allowed.push((path.to_owned(), scope));
        }
        has_room
    }

    /// Takes a path back that was allowed; returns whether it was.
    pub fn take_back(&self, path: &Path) -> bool {
        let mut allowed = self.0.allowed.write().unwrap_or_else(PoisonError::into_inner);
        let before = allowed.len();
        allowed.retain(|(known, _)| known != path);
        allowed.len() < before
    }

    /// Returns the allowed paths, in the order in which they were allowed.
    pub fn allowed(&self) -> Vec<PathBuf> {
        let allowed = self.0.allowed.read().unwrap_or_else(PoisonError::into_inner);
        allowed.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Returns what is allowed, as grants.
    pub fn grants(&self) -> Grants {
        let allowed = self.0.allowed.read().unwrap_or_else(PoisonError::into_inner);
        allowed.iter().map(|(_, scope)| scope.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use host_capability::{Capability, PluginName};

    use super::*;

    fn reads() -> AllowedFiles {
        let askable = Scope::parse_absolute(Capability::FsRead, "*,!/home/u/.ssh,!/etc/shadow").expect("a scope");
        AllowedFiles::new(askable, vec![PathBuf::from("/home/u")])
    }

    fn may(reads: &AllowedFiles, path: &str) -> bool {
        reads.grants().permit_read(&PluginName::new("x"), Path::new(path)).is_ok()
    }

    // promise reading.folder: An answer about a folder covers what is beneath it, without secrets, and no other folder.
    #[test]
    fn allowed_files_cover_a_folder_and_no_sibling_and_no_secret() {
        let reads = reads();
        assert!(!may(&reads, "/data/dir/a"), "nothing at first");
        assert!(reads.allow(Path::new("/data/dir")));
        for (path, allowed) in [
            ("/data/dir", true),
            ("/data/dir/a/b", true),
            ("/data/dir2", false),
            ("/data/dir2/a", false),
            ("/data/DIR/a", false),
            ("/data", false),
            ("/data/dirt", false),
        ] {
            assert_eq!(may(&reads, path), allowed, "{path}");
        }
        assert!(reads.allow(Path::new("/home/u/src")) && reads.allow(Path::new("/home")));
        for (path, allowed) in [("/home/u/src/a", true), ("/home/u/.ssh", false), ("/home/u/.ssh/id", false)] {
            assert_eq!(may(&reads, path), allowed, "{path}");
        }
        assert!(reads.take_back(Path::new("/data/dir")) && !reads.take_back(Path::new("/data/dir")));
        assert!(!may(&reads, "/data/dir/a"));
        assert!(!may(&reads.renewed(), "/home/u/src/a"), "the next conversation begins with nothing");
    }

    // promise reading.secrets: Nobody is asked about keys and passwords: they are refused.
    #[test]
    fn allowed_files_of_secrets_are_never_allowed() {
        let reads = reads();
        for path in ["/home/u/.ssh", "/home/u/.ssh/id", "/etc/shadow"] {
            assert!(!reads.allow(Path::new(path)) && reads.scope_of(Path::new(path)).is_none(), "{path}");
        }
        assert!(!AllowedFiles::default().allow(Path::new("/data")), "the user cannot be asked");
    }

    #[test]
    fn allowed_files_offer_no_folder_that_is_too_wide() {
        let reads = reads();
        for (path, folder) in [
            ("/etc/hosts", Some("/etc")),
            ("/data/dir/none", Some("/data/dir")),
            ("/file", None),
            ("/", None),
            ("/home/u/notes.md", None),
            ("/home/u/x/notes.md", Some("/home/u/x")),
            ("/home/none", None),
            ("/home/u/.ssh/id", None),
        ] {
            assert_eq!(reads.folder_of(Path::new(path)).as_deref(), folder.map(Path::new), "{path}");
        }
    }

    #[test]
    fn allowed_files_are_bounded() {
        let reads = reads();
        assert!((0..MAX_ALLOWED).all(|number| reads.allow(&PathBuf::from(format!("/d/{number}")))));
        assert!(!reads.allow(Path::new("/e")) && reads.allow(Path::new("/d/0")));
    }
}
