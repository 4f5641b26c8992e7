//! Whether a path is beneath a folder, decided by its text.
//!
//! `Path` compares component by component, which takes as long as the path is deep each time: a program that nests
//! thousands of folders would make the host compare for minutes. Texts are compared at once, and need plain paths.

use std::collections::HashSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, openat, statat};
use rustix::io::Errno;

use super::way::FOLDER;
use crate::{Confinement, Layer};

/// Returns the confinement with plain paths: without double slashes, dots, and slashes at their ends. What is protected
/// is named once: a workspace is often the top of its repository, and what others obey in both is the same.
pub(super) fn plain(confinement: &Confinement) -> Confinement {
    let plain = |path: &PathBuf| match is_plain(path) {
        true => path.clone(),
        false => path.components().collect::<PathBuf>(),
    };
    let all = |paths: &[PathBuf]| paths.iter().map(plain).collect::<Vec<_>>();
    let once = |paths: &[PathBuf]| {
        // A place named twice would be mounted, looked at and cleared twice.
        let mut known = HashSet::with_capacity(paths.len());
        // By their words: a path is compared by its components, which takes longer.
        paths.iter().map(plain).filter(|path| known.insert(path.as_os_str().to_owned())).collect()
    };
    Confinement {
        readable: all(&confinement.readable),
        writable: all(&confinement.writable),
        protected: once(&confinement.protected),
        hidden: all(&confinement.hidden),
        layers: confinement.layers.iter().map(|layer| Layer { place: plain(&layer.place), ..layer.clone() }).collect(),
        temporary: confinement.temporary.as_ref().map(plain),
    }
}

/// Whether a path is plain as it is, as most are; to put one together from its components takes longer.
fn is_plain(path: &Path) -> bool {
    let mut parts = path.as_os_str().as_bytes().split(|byte| *byte == b'/');
    parts.next() == Some(b"") && parts.all(|part| !part.is_empty() && part != b".")
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    /// Folders, as far as there is something; what is at the end of it, if anything, is not a link.
    Folders { is_there: bool },
    /// A link, which is the last of the way if `is_last`.
    Link { is_last: bool },
    /// A folder whose rights keep this user out, or something that changes meanwhile: what is there is not known.
    Closed,
}

/// A folder from which many ways are gone. It is opened once.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    /// `None` if it cannot be opened as a folder.
    folder: Option<OwnedFd>,
}

impl Root {
    pub(super) fn open(path: &Path) -> Self {
        Self { path: path.to_owned(), folder: openat(CWD, path, FOLDER, Mode::empty()).ok() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Goes a way, name by name, so that its length counts once.
    pub(super) fn through(&self, way: &Path) -> Through {
        let nothing = Through::Folders { is_there: false };
        let Some(root) = &self.folder else {
            // The root cannot be opened, so nobody can go name by name; if nothing proves that it is there, it counts
            // as closed.
            return if exists(&self.path.join(way)) { Through::Folders { is_there: true } } else { Through::Closed };
        };
        let mut below: Option<OwnedFd> = None;
        let mut names = way.components().peekable();
        while let Some(Component::Normal(name)) = names.next() {
            let folder = below.as_ref().unwrap_or(root);
            let is_last = names.peek().is_none();
            // Looked at without following it, and then opened without following it: a link that comes in between fails
            // the open.
            let about = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(about) => about,
                Err(Errno::NOENT) => return nothing,
                // Not `nothing`: a program can take away the right to look, and would hide what it made there.
                Err(_) => return Through::Closed,
            };
            if FileType::from_raw_mode(about.st_mode) == FileType::Symlink {
                return Through::Link { is_last };
            }
            if is_last {
                break;
            }
            match openat(folder, name, FOLDER, Mode::empty()) {
                // Each step is from the folder above, so a way of a thousand names costs a thousand steps and not their
                // square.
                Ok(next) => below = Some(next),
                Err(Errno::NOTDIR) => return nothing,
                Err(_) => return Through::Closed,
            }
        }
        Through::Folders { is_there: true }
    }
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

    #[test]
    fn ways_beneath_a_root_are_gone_without_following_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        fs::create_dir_all(path.join("a/b")).expect("made");
        fs::write(path.join("a/file"), "").expect("written");
        std::os::unix::fs::symlink("a", path.join("link")).expect("linked");
        let root = Root::open(path);
        let there = |is_there| Through::Folders { is_there };
        for (way, expected) in [
            ("a", there(true)),
            ("a/b", there(true)),
            ("a/file", there(true)),
            ("a/none", there(false)),
            ("none/x", there(false)),
            ("a/file/x", there(false)),
            ("link", Through::Link { is_last: true }),
            ("link/b", Through::Link { is_last: false }),
        ] {
            assert_eq!(root.through(Path::new(way)), expected, "{way}");
        }
        // One that cannot be opened as a folder is asked about by its path.
        assert_eq!(Root::open(&path.join("link")).through(Path::new("b")), there(true));
        assert_eq!(Root::open(&path.join("none")).through(Path::new("b")), Through::Closed);
        // If it cannot be looked at, it counts as there.
        assert_eq!(root.through(Path::new(&"n".repeat(300))), Through::Closed);
    }

    #[test]
    fn plain_path_is_what_its_components_make_of_it() {
        for (path, plain) in [
            ("/a/b", true),
            ("/a/../b", true),
            ("/a/.b", true),
            ("/", false),
            ("", true),
            ("a/b", false),
            ("/a/", false),
            ("/a//b", false),
            ("/./a", false),
            ("/a/.", false),
        ] {
            let collected = Path::new(path).components().collect::<PathBuf>();
            assert_eq!(is_plain(Path::new(path)), plain, "{path}");
            assert!(!plain || collected.as_os_str() == path, "{path}");
        }
    }

    #[test]
    fn plain_paths_are_named_once_in_their_order() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let protected = paths(&["/w/b", "/w//a/", "/w/b", "/w/./a", "/w/c"]);
        let plain = plain(&Confinement { protected, ..Confinement::default() });
        assert_eq!(plain.protected, paths(&["/w/b", "/w/a", "/w/c"]));
    }
}
