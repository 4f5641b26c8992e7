//! Takes what is protected out of the writable folders, where no mount can protect it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Confinement;

/// Returns the confinement without the writable folders in which a link leads to something protected: a mount protects
/// what a link leads to, and not the link. What lies beside the link stays writable.
pub(super) fn without_links(confinement: &Confinement) -> Confinement {
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let leads = |root: &Path, protected: &Path| {
        protected.starts_with(root) && protected.ancestors().take_while(|path| *path != root).any(is_link)
    };
    let writable = confinement.writable.iter().flat_map(|root| {
        match confinement.protected.iter().any(|protected| leads(root, protected)) {
            true => carve(std::slice::from_ref(root), &confinement.protected),
            false => vec![root.clone()],
        }
    });
    let readable = confinement.readable.iter().chain(&confinement.writable).cloned().collect();
    Confinement { readable, writable: writable.collect(), ..confinement.clone() }
}

/// Returns the largest folders and files beneath the roots that contain nothing protected. A folder that contains
/// something is left out itself, so nothing new can be made directly in it.
pub(super) fn carve(roots: &[PathBuf], protected: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = roots.to_vec();
    while let Some(path) = open.pop() {
        if protected.iter().any(|protected| path.starts_with(protected)) {
            continue;
        }
        // Something that does not exist yet is protected, too: its folder is left out.
        if protected.iter().any(|protected| protected.starts_with(&path)) {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            // A link leads to a place that is granted by itself, or is not.
            let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
            open.extend(entries.map(|entry| entry.path()));
        } else {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carving_leaves_out_what_is_protected_and_the_folders_around_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for path in [".git/hooks", ".git/objects", "src/a", "target"] {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        for path in [".git/config", ".git/index", "Cargo.toml"] {
            fs::write(root.join(path), "").expect("written");
        }
        std::os::unix::fs::symlink(root, root.join("link")).expect("linked");
        let carved = |protected: &[&str]| {
            let protected: Vec<PathBuf> = protected.iter().map(|path| root.join(path)).collect();
            let mut carved: Vec<String> =
                carve(&[root.to_owned()], &protected).iter().map(|path| relative(path, root)).collect();
            carved.sort();
            carved.join(" ")
        };
        assert_eq!(carved(&[]), "");
        assert_eq!(carved(&[".git"]), "Cargo.toml src target");
        assert_eq!(carved(&[".git/hooks", ".git/config", ".host"]), ".git/index .git/objects Cargo.toml src target");
    }

    fn relative(path: &Path, root: &Path) -> String {
        path.strip_prefix(root).expect("beneath").display().to_string()
    }
}
