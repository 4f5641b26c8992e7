//! Whether a path is beneath a folder, decided by its text.
//!
//! `Path` compares component by component, which takes as long as the path is deep each time: a program that nests
//! thousands of folders would make the host compare for minutes. Texts are compared at once, and need plain paths.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, openat, statat};

use super::way::FOLDER;
use crate::{Confinement, Layer};

/// Returns the confinement with plain paths: without double slashes, dots, and slashes at their ends.
pub(super) fn plain(confinement: &Confinement) -> Confinement {
    let plain = |path: &PathBuf| path.components().collect::<PathBuf>();
    let all = |paths: &[PathBuf]| paths.iter().map(plain).collect();
    Confinement {
        readable: all(&confinement.readable),
        writable: all(&confinement.writable),
        protected: all(&confinement.protected),
        hidden: all(&confinement.hidden),
        layers: confinement.layers.iter().map(|layer| Layer { place: plain(&layer.place), ..layer.clone() }).collect(),
        temporary: confinement.temporary.as_ref().map(plain),
    }
}

/// Whether a plain path is this plain folder, or lies in it.
pub(super) fn is_within(path: &Path, folder: &Path) -> bool {
    let (path, folder) = (path.as_os_str().as_bytes(), folder.as_os_str().as_bytes());
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || folder.ends_with(b"/"))
}

/// The same, but not the folder itself.
pub(super) fn is_beneath(path: &Path, folder: &Path) -> bool {
    path.as_os_str().len() != folder.as_os_str().len() && is_within(path, folder)
}

/// Returns the rest of a plain path beneath a plain folder.
pub(super) fn rest<'p>(path: &'p Path, folder: &Path) -> Option<&'p Path> {
    let text = path.as_os_str().as_bytes();
    let rest = is_within(path, folder).then(|| text.get(folder.as_os_str().len()..)).flatten()?;
    Some(Path::new(std::ffi::OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest))))
}

/// Returns the folders strictly between a plain folder and a plain path beneath it.
pub(super) fn between<'p>(path: &'p Path, folder: &Path) -> impl Iterator<Item = &'p Path> {
    let least = folder.as_os_str().len();
    path.ancestors().skip(1).take_while(move |above| above.as_os_str().len() > least)
}

/// Whether there is something at the path, a link too.
pub(super) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// What a way beneath a folder leads through.
pub(super) enum Through {
    /// Folders, as far as there is something; the last of it may be anything but a link.
    Folders,
    /// A link, which is the last of the way if `is_last`.
    Link { is_last: bool },
}

/// Goes the way beneath a folder, name by name, so that its length counts once.
pub(super) fn through(root: &Path, way: &Path) -> Through {
    let Ok(mut folder): Result<OwnedFd, _> = openat(CWD, root, FOLDER, Mode::empty()) else {
        return Through::Folders;
    };
    let mut names = way.components().peekable();
    while let Some(Component::Normal(name)) = names.next() {
        let Ok(about) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { break };
        if FileType::from_raw_mode(about.st_mode) == FileType::Symlink {
            return Through::Link { is_last: names.peek().is_none() };
        }
        match openat(&folder, name, FOLDER, Mode::empty()) {
            Ok(next) => folder = next,
            Err(_) => break,
        }
    }
    Through::Folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_beneath_a_folder_as_its_components_say() {
        for (path, folder, within) in [
            ("/a/b", "/a", true),
            ("/a", "/a", true),
            ("/ab", "/a", false),
            ("/a", "/a/b", false),
            ("/a", "/", true),
            ("/", "/", true),
            ("/", "/a", false),
        ] {
            let (path, folder) = (Path::new(path), Path::new(folder));
            assert_eq!(path.starts_with(folder), within);
            assert_eq!(is_within(path, folder), within, "{path:?} {folder:?}");
            assert_eq!(is_beneath(path, folder), within && path != folder, "{path:?} {folder:?}");
            assert_eq!(rest(path, folder), path.strip_prefix(folder).ok(), "{path:?} {folder:?}");
        }
        assert_eq!(
            between(Path::new("/a/b/c/d"), Path::new("/a")).collect::<Vec<_>>(),
            ["/a/b/c", "/a/b"].map(Path::new)
        );
        assert_eq!(between(Path::new("/a/b"), Path::new("/")).collect::<Vec<_>>(), [Path::new("/a")]);
    }
}
