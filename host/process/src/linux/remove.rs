//! Removes what a program made, however deep it is and whatever rights it took away, and follows no link.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::way::{self, Way, take_rights};

/// How many entries of a folder are listed at once: it is listed again when they are gone.
const LISTED: usize = 1_024;

/// How often a folder is listed, altogether. Ends the work against a program that makes new entries meanwhile.
const MAX_LISTINGS: usize = 1_000_000;

/// Removes a file or a folder with all that is in it, however deep, and takes the rights for that which a program took
/// away. Follows no link but those in the folders above it. It is not an error if there is nothing.
///
/// # Errors
///
/// If something cannot be removed.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    match openat(CWD, folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT) => Ok(()),
        folder => Ok(remove(&folder?, name)?),
    }
}

/// Removes the entry of a folder, with all that is in it. It is not an error if there is none.
pub(super) fn remove(folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    if unlink(folder, name)? {
        return Ok(());
    }
    // By a way and not by recursion: a program that nests thousands of folders would overflow the stack.
    let mut way = Way::new(way::list(folder, name)?);
    // Bounded, since another process of the user can make entries as fast as they are removed here.
    for _ in 0..MAX_LISTINGS {
        let names = way::names(way.here(), LISTED)?;
        let mut inner = None;
        for name in &names {
            if !unlink(way.here(), name)? {
                inner = Some(name);
                // One folder is entered at a time: only one descriptor is open however many lie side by side.
                break;
            }
        }
        match inner {
            // Whatever was listed besides is found by the next listing, once this folder is gone.
            Some(name) => way.down(name)?,
            None if !names.is_empty() => {}
            None => match way.up()? {
                Some(name) => remove_folder(way.here(), &name)?,
                None => return remove_folder(folder, name),
            },
        }
    }
    Err(Errno::AGAIN)
}

/// Removes all entries of a folder.
pub(super) fn empty(folder: &OwnedFd) -> Result<(), Errno> {
    for _ in 0..MAX_LISTINGS {
        let names = way::names(folder, LISTED)?;
        if names.is_empty() {
            return Ok(());
        }
        names.iter().try_for_each(|name| remove(folder, name))?;
    }
    Err(Errno::AGAIN)
}

/// Removes an entry; returns whether it is gone. A folder stays unless it is empty.
fn unlink(folder: &OwnedFd, name: &OsStr) -> Result<bool, Errno> {
    match with_rights(folder, || unlinkat(folder, name, AtFlags::empty())) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => match unlinkat(folder, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            // It is something else by now, which the next listing shows.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::ACCESS | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
}

fn remove_folder(folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match with_rights(folder, || unlinkat(folder, name, AtFlags::REMOVEDIR)) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Does it, and once more with the right to change the folder if that was missing.
fn with_rights(folder: &OwnedFd, act: impl Fn() -> Result<(), Errno>) -> Result<(), Errno> {
    match act() {
        Err(Errno::ACCESS) if take_rights(folder).is_some() => act(),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn removing_follows_no_link_and_takes_the_rights_that_it_needs() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for path in ["made/a/b/c", "made/locked/d", "made/sealed/e", "outside"] {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        fs::write(root.join("outside/file"), "kept").expect("written");
        symlink(root.join("outside"), root.join("made/a/link")).expect("linked");
        for (path, mode) in [("made/locked/d", 0), ("made/locked", 0o100), ("made/sealed", 0o500)] {
            fs::set_permissions(root.join(path), Permissions::from_mode(mode)).expect("set");
        }
        let opened: OwnedFd = File::open(root).expect("opened").into();
        remove(&opened, OsStr::new("made")).expect("removed");
        remove(&opened, OsStr::new("made")).expect("there is nothing");
        symlink(root.join("outside"), root.join("link")).expect("linked");
        remove(&opened, OsStr::new("link")).expect("removed");
        let left: Vec<_> = fs::read_dir(root).expect("listed").map(|entry| entry.expect("there").file_name()).collect();
        assert_eq!(left, ["outside"]);
        assert_eq!(fs::read_to_string(root.join("outside/file")).expect("there"), "kept");
    }

    #[test]
    fn removing_reaches_deeper_than_a_process_may_open_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        let opened: OwnedFd = File::open(folder.path()).expect("opened").into();
        nest(&opened, 1_100);
        remove_tree(&folder.path().join("nested")).expect("removed");
        remove_tree(&folder.path().join("nested/none")).expect("there is nothing");
        assert!(!folder.path().join("nested").exists());
    }

    /// Makes so many folders, each in the one before.
    fn nest(folder: &OwnedFd, depth: usize) {
        let mut folder = folder.try_clone().expect("a descriptor");
        for _ in 0..depth {
            rustix::fs::mkdirat(&folder, "nested", rustix::fs::Mode::RWXU).expect("made");
            folder = way::list(&folder, OsStr::new("nested")).expect("opened");
        }
    }
}
