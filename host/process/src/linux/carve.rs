//! Takes what is protected out of the writable folders, where no mount can protect it.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::beneath::{Root, Through, is_beneath, is_within, rest};
use crate::Confinement;

/// Returns the confinement without the writable folders in which a link leads to something protected: a mount protects
/// what a link leads to, and not the link. What lies beside the link stays writable.
pub(super) fn without_links(confinement: &Confinement) -> Confinement {
    // Without a link in it a root stays whole: carving makes a rule for each entry, which new files beside them lack.
    let writable = confinement.writable.iter().flat_map(|root| {
        let opened = Root::open(root);
        let mut ways = confinement.protected.iter().filter_map(|protected| rest(protected, root));
        match ways.any(|way| matches!(opened.through(way), Through::Link { .. })) {
            true => carve(std::slice::from_ref(root), &confinement.protected).whole,
            false => vec![root.clone()],
        }
    });
    // What is carved out loses the right to write and stays readable.
    let readable = confinement.readable.iter().chain(&confinement.writable).cloned().collect();
    Confinement {
        readable,
        writable: writable.collect(),
        protected: confinement.protected.clone(),
        hidden: confinement.hidden.clone(),
        layers: confinement.layers.clone(),
        temporary: confinement.temporary.clone(),
    }
}

/// What is left of folders when something in them is taken out.
#[derive(Debug, Default)]
pub(super) struct Carved {
    /// The largest folders and files that contain nothing of it.
    pub(super) whole: Vec<PathBuf>,
    /// The folders around it. They are not among the others, so nothing new can be made directly in them.
    pub(super) around: Vec<PathBuf>,
}

/// Takes what is protected out of the roots.
pub(super) fn carve(roots: &[PathBuf], protected: &[PathBuf]) -> Carved {
    let mut carved = Carved::default();
    let all: Rc<[&Path]> = protected.iter().map(PathBuf::as_path).collect();
    // Each folder carries on only what is protected beneath it; comparing with all would cost their product.
    let mut open: Vec<(PathBuf, Rc<[&Path]>)> = roots.iter().map(|root| (root.clone(), Rc::clone(&all))).collect();
    while let Some((path, near)) = open.pop() {
        if near.iter().any(|protected| is_within(&path, protected)) {
            continue;
        }
        // Something that does not exist yet is protected, too: its folder is left out.
        let within: Rc<[&Path]> = near.iter().copied().filter(|protected| is_beneath(protected, &path)).collect();
        if within.is_empty() {
            carved.whole.push(path);
            continue;
        }
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        // A link leads to a place that is granted by itself, or is not.
        let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
        open.extend(entries.map(|entry| (entry.path(), Rc::clone(&within))));
        carved.around.push(path);
    }
    carved
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
                carve(&[root.to_owned()], &protected).whole.iter().map(|path| relative(path, root)).collect();
            carved.sort();
            carved.join(" ")
        };
        assert_eq!(carved(&[]), "");
        assert_eq!(carved(&[".git"]), "Cargo.toml src target");
        assert_eq!(carved(&[".git/hooks", ".git/config", ".host"]), ".git/index .git/objects Cargo.toml src target");
    }

    #[test]
    fn carving_finds_what_lies_beside_something_protected_however_deep_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let depth = 500;
        let deep: PathBuf = std::iter::repeat_n("d", depth).collect();
        fs::create_dir_all(root.join(&deep)).expect("made");
        fs::create_dir(root.join(&deep).join("o")).expect("made");
        let protected: Vec<PathBuf> = (0..20).map(|number| root.join(&deep).join(number.to_string())).collect();
        let carved = carve(&[root.to_owned()], &protected);
        assert_eq!(carved.whole, [root.join(&deep).join("o")]);
        assert_eq!(carved.around.len(), depth + 1);
        assert!(
            without_links(&Confinement {
                writable: vec![root.to_owned()],
                protected: protected.clone(),
                ..Confinement::default()
            })
            .writable
            .contains(&root.to_owned())
        );
    }

    fn relative(path: &Path, root: &Path) -> String {
        path.strip_prefix(root).expect("beneath").display().to_string()
    }
}
