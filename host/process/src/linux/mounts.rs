//! The wall of mounts: the whole tree read-only but for the writable folders, in which what stays unchanged is
//! read-only again.
//!
//! A mount cannot be moved away or replaced, but a folder above it can. So each folder between a writable root and
//! something in it that is protected, hidden or a layer is a mount, too.

use std::collections::BTreeSet;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::beneath::{between, exists, is_beneath};
use super::layers::Layers;
use super::masks::Masks;
use super::mount_calls::{bind, make_private, read_only, writable};
use super::step::Step;
use super::tmp::OwnTmp;
use crate::{Confinement, StartError};

/// A mount to make, in this order.
#[derive(Debug, PartialEq, Eq)]
enum Mount {
    /// The path in its place, and writable.
    Writable(CString),
    /// What is mounted at the path already, writable.
    Layer(CString),
    /// The path in its place, as its surroundings are.
    Fixed(CString),
    /// The path in its place, and read-only.
    ReadOnly(CString),
}

/// The mounts of a program.
#[derive(Debug)]
pub(super) struct Mounts {
    pub(super) layers: Layers,
    mounts: Vec<Mount>,
    masks: Masks,
    tmp: Option<OwnTmp>,
}

impl Mounts {
    /// Prepares them. What is hidden in the confinement are real paths.
    pub(super) fn new(confinement: &Confinement) -> Result<Self, StartError> {
        let tmp = OwnTmp::new(confinement)?;
        // The folder for temporary files has no other name than `/tmp` then.
        let temporary = confinement.temporary.as_ref().filter(|_| tmp.is_none());
        Ok(Self {
            layers: Layers::new(&confinement.layers)?,
            mounts: mounts(confinement, temporary),
            masks: Masks::new(&confinement.hidden),
            tmp,
        })
    }

    /// Whether `/tmp` is the folder for temporary files.
    pub(super) fn own_tmp(&self) -> bool {
        self.tmp.is_some()
    }

    /// Makes the mounts. Runs between clone and exec, in a mount namespace of its own.
    pub(super) fn make(&self) -> Result<(), (Step, i32)> {
        let at = |step: Step| move |error: i32| (step, error);
        // Before any other: a mount in a shared tree would appear outside too, for the user and all other programs.
        make_private().map_err(at(Step::Mounts))?;
        // Before all is read-only: a layer's changes would be, too.
        self.layers.make().map_err(at(Step::Layers))?;
        // Everything first, and then what is writable again: a place that nobody thought of is read-only and not open.
        read_only(c"/").map_err(at(Step::Mounts))?;
        for step in &self.mounts {
            let made = match step {
                // Bound on itself, since only a mount can have a mode of its own.
                Mount::Writable(path) => bind(path, path).and_then(|()| writable(path)),
                Mount::Layer(path) => writable(path),
                Mount::Fixed(path) => bind(path, path),
                Mount::ReadOnly(path) => bind(path, path).and_then(|()| read_only(path)),
            };
            made.map_err(at(Step::Mounts))?;
        }
        // After the writable mounts, which would lie over what is hidden in them.
        self.masks.make().map_err(at(Step::Hidden))?;
        match &self.tmp {
            // Last: it covers `/tmp`, where paths of all steps before may lie.
            Some(tmp) => tmp.make().map_err(at(Step::Temporary)),
            None => Ok(()),
        }
    }
}

/// Returns the mounts in the places of paths.
fn mounts(confinement: &Confinement, temporary: Option<&PathBuf>) -> Vec<Mount> {
    let text = |path: &OsString| CString::new(path.as_bytes()).ok();
    // Sorted by their texts, so that a folder comes before what is in it: a mount over a folder hides those in it.
    let sorted = |paths: &mut dyn Iterator<Item = &PathBuf>| -> BTreeSet<OsString> {
        paths.filter(|path| exists(path)).map(|path| path.as_os_str().to_owned()).collect()
    };
    let layers = sorted(&mut confinement.layers.iter().map(|layer| &layer.place));
    let protected = sorted(&mut confinement.protected.iter());
    let hidden = sorted(&mut confinement.hidden.iter());
    let mut roots = sorted(&mut confinement.writable.iter().chain(temporary));
    roots.extend(layers.iter().cloned());
    // A layer is a mount already, and only becomes writable again with the other roots.
    let root = |root: &OsString| match layers.contains(root) {
        true => text(root).map(Mount::Layer),
        false => text(root).map(Mount::Writable),
    };
    let mut mounts: Vec<Mount> = roots.iter().filter_map(root).collect();
    let mut all = protected.clone();
    // Renaming a folder above would take the mount with it and free the old name, so each folder between is a mount as
    // well.
    for place in protected.iter().chain(&hidden).chain(&layers).map(Path::new) {
        let around = roots.iter().map(Path::new).filter(|root| is_beneath(place, root));
        // A root within a root is a mount already.
        let fixed = around.flat_map(|root| between(place, root)).map(|folder| folder.as_os_str().to_owned());
        all.extend(fixed.filter(|folder| !roots.contains(folder)));
    }
    let place = |place: &OsString| match protected.contains(place) {
        true => text(place).map(Mount::ReadOnly),
        false => text(place).map(Mount::Fixed),
    };
    // After the roots: a mount over a root would hide those that were made in it before.
    mounts.extend(all.iter().filter_map(place));
    mounts
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::fs;

    use super::*;
    use crate::Layer;

    #[test]
    fn mounts_fix_every_folder_between_a_writable_root_and_what_is_protected() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_owned();
        for path in ["w/.git/hooks", "w/src", "w/a/b/c", "w/keys/d/e", "t", "l/m"] {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        fs::write(root.join("w/.git/config"), "").expect("written");
        let layer = |place: &str| Layer {
            place: root.join(place),
            below: vec![],
            changes: root.join("changes"),
            work: root.join("work"),
        };
        let temporary = root.join("t");
        let confinement = Confinement {
            writable: vec![root.join("w"), root.join("missing")],
            protected: ["w/.git/hooks", "w/.git/config", "w/.host", "l/m"].map(|path| root.join(path)).to_vec(),
            hidden: vec![root.join("w/keys/d/e")],
            layers: vec![layer("w/a/b"), layer("l")],
            ..Confinement::default()
        };
        let text = |path: &CStr| path.to_str().expect("text").replace(root.to_str().expect("text"), "");
        let shown: Vec<String> = mounts(&confinement, Some(&temporary))
            .iter()
            .map(|mount| match mount {
                Mount::Writable(path) => format!("writable {}", text(path)),
                Mount::Layer(path) => format!("layer {}", text(path)),
                Mount::Fixed(path) => format!("fixed {}", text(path)),
                Mount::ReadOnly(path) => format!("read-only {}", text(path)),
            })
            .collect();
        assert_eq!(
            shown,
            [
                "layer /l",
                "writable /t",
                "writable /w",
                "layer /w/a/b",
                "read-only /l/m",
                "fixed /w/.git",
                "read-only /w/.git/config",
                "read-only /w/.git/hooks",
                "fixed /w/a",
                "fixed /w/keys",
                "fixed /w/keys/d",
            ]
        );
    }
}
