//! A way down into folders and up again, for walks through what a program made.
//!
//! No link is followed, and no step takes longer the deeper it is: a folder is opened by its name in the one above, and
//! the one above by `..`, after which it is held against what it was: another program can move folders meanwhile. Only
//! one descriptor is open, since a program can nest more folders than a process may open.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{Dir, Mode, OFlags, fstat, openat};
use rustix::io::Errno;

/// Opens a folder to go through, and no link.
pub(super) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The same to list it.
const LISTED: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder that can be listed.
struct Opened {
    folder: OwnedFd,
    /// Its mode, if it had to be changed: a program can take from the user the right to list a folder.
    mode: Option<u32>,
}

/// A folder on the way.
struct Above {
    name: OsString,
    /// The device and the number of the folder that the name is in.
    id: (u64, u64),
    mode: Option<u32>,
}

/// A way from a folder to one in it.
pub(super) struct Way {
    here: Opened,
    above: Vec<Above>,
}

impl Way {
    /// Begins at a folder that was opened to be listed.
    pub(super) fn new(folder: OwnedFd) -> Self {
        Self { here: Opened { folder, mode: None }, above: Vec::new() }
    }

    /// Returns the folder that the way has come to.
    pub(super) fn here(&self) -> &OwnedFd {
        &self.here.folder
    }

    /// Goes to the folder of this name, taking the right to it if a program has taken that away.
    pub(super) fn down(&mut self, name: &OsStr) -> Result<(), Errno> {
        let id = id(&self.here.folder)?;
        let next = open(&self.here.folder, name)?;
        let before = std::mem::replace(&mut self.here, next);
        self.above.push(Above { name: name.to_owned(), id, mode: before.mode });
        Ok(())
    }

    /// Goes to the folder above, and returns the name of the one that it comes from; `None` at the first. Gives the
    /// folder back the mode that it had.
    pub(super) fn up(&mut self) -> Result<Option<OsString>, Errno> {
        let Some(Above { name, id: expected, mode }) = self.above.pop() else { return Ok(None) };
        let folder = openat(&self.here.folder, "..", LISTED, Mode::empty())?;
        if id(&folder)? != expected {
            return Err(Errno::AGAIN);
        }
        let before = std::mem::replace(&mut self.here, Opened { folder, mode });
        if let Some(mode) = before.mode {
            set_mode(&before.folder, mode);
        }
        Ok(Some(name))
    }
}

/// Opens a folder to list it.
pub(super) fn list(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    open(folder, name).map(|opened| opened.folder)
}

fn open(folder: &OwnedFd, name: &OsStr) -> Result<Opened, Errno> {
    // Without the right to go through, `..` is not found later.
    let lists = |folder: &OwnedFd| openat(folder, ".", LISTED, Mode::empty());
    let found = openat(folder, name, FOLDER, Mode::empty())?;
    match lists(&found) {
        Err(Errno::ACCESS) => {
            let mode = take_rights(&found);
            Ok(Opened { folder: lists(&found)?, mode })
        }
        opened => Ok(Opened { folder: opened?, mode: None }),
    }
}

/// Gives the user all rights to a folder; returns its mode if it was a different one.
pub(super) fn take_rights(folder: &OwnedFd) -> Option<u32> {
    let mode = fstat(folder).ok()?.st_mode & 0o7777;
    (mode & 0o700 != 0o700).then(|| set_mode(folder, mode | 0o700))?.then_some(mode)
}

/// Sets the mode of a folder, which may be opened only to go through it; returns whether that worked.
fn set_mode(folder: &OwnedFd, mode: u32) -> bool {
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    fs::set_permissions(path, Permissions::from_mode(mode)).is_ok()
}

fn id(folder: impl AsFd) -> Result<(u64, u64), Errno> {
    let about = fstat(folder)?;
    Ok((about.st_dev, about.st_ino))
}

/// Returns the names in a folder, at most so many.
pub(super) fn names(folder: &OwnedFd, most: usize) -> Result<Vec<OsString>, Errno> {
    let entries = Dir::read_from(folder)?;
    let names = entries.map(|entry| Ok(OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned()));
    names.filter(|name| !matches!(name, Ok(name) if name == "." || name == "..")).take(most).collect()
}
