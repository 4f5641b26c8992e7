//! What programs changed in a layer, as the kernel keeps it.
//!
//! Promises: no link is followed, and the work is bounded by constants, whatever a program made: it is listed folder by
//! folder, each opened by its name in the one above.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fgetxattr, lgetxattr, openat, statat};
use rustix::io::Errno;

use super::remove::empty;
use super::way::{self, Way};
use crate::{Changed, Layer, Now};

/// The most changes that are listed. Protects memory and time; the packages of a large project have some 100,000 files.
const MAX_CHANGES: usize = 500_000;

/// The most bytes of all their paths. Protects memory from deep folders with many files.
const MAX_PATHS: usize = 256 << 20;

/// How deep folders are listed. No tool nests deeper, and the kernel takes no path much longer.
const MAX_DEPTH: usize = 512;

/// The attribute of a folder that hides what the place has there.
const OPAQUE: &str = "user.overlay.opaque";

/// The attribute of a file that stands for a removed one. The kernel itself makes a device for that.
const WHITEOUT: &str = "user.overlay.whiteout";

/// Returns what programs changed in a layer so far: each folder before what is in it, in the order of their names. To
/// be called when no program uses it.
///
/// # Errors
///
/// If it cannot be read, or there are too many changes.
pub fn changed(layer: &Layer) -> io::Result<Vec<Changed>> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut way = Way::new(openat(CWD, &layer.changes, flags, Mode::empty())?);
    let mut found = Vec::new();
    let mut length = 0_usize;
    let mut path = PathBuf::new();
    let mut open = vec![names(way.here())?];
    // A list of names per level and no recursion: a program decides how deep it nests.
    while let Some(names_left) = open.last_mut() {
        let Some(name) = names_left.next() else {
            open.pop();
            way.up()?;
            path.pop();
            continue;
        };
        let changed = path.join(&name);
        // Names alone are not bounded by their number: each can hold a path of its whole depth.
        length = length.saturating_add(changed.as_os_str().len());
        if found.len() == MAX_CHANGES || length > MAX_PATHS {
            let many = format!("more than {MAX_CHANGES} changes, or {MAX_PATHS} bytes of paths");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, many));
        }
        let mut now = now(way.here(), &name)?;
        // It is reported and not entered, so that the rest is still brought back.
        if now == Now::Folder && open.len() >= MAX_DEPTH {
            now = Now::TooDeep;
        } else if now == Now::Folder {
            way.down(&name)?;
            let mut mark = [0_u8; 1];
            // Overlayfs marks a folder that took the place of another one; without this its old entries would seem to
            // be there.
            if fgetxattr(way.here(), OPAQUE, &mut mark[..]) == Ok(1) && mark == *b"y" {
                now = Now::Replaced;
            }
            path.push(&name);
            open.push(names(way.here())?);
        }
        found.push(Changed { path: changed, now });
    }
    Ok(found)
}

/// Removes what is in the folders of a layer for changes and work, whatever rights a program took away. The folders
/// stay. To be called when no program uses it.
///
/// # Errors
///
/// If something cannot be removed.
pub fn clear_layer(layer: &Layer) -> io::Result<()> {
    for folder in [&layer.changes, &layer.work] {
        empty(&File::open(folder)?.into())?;
    }
    Ok(())
}

fn names(folder: &OwnedFd) -> Result<std::vec::IntoIter<OsString>, Errno> {
    let mut names = way::names(folder, MAX_CHANGES + 1)?;
    names.sort();
    Ok(names.into_iter())
}

fn now(folder: &OwnedFd, name: &OsStr) -> Result<Now, Errno> {
    let about = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(match FileType::from_raw_mode(about.st_mode) {
        FileType::Directory => Now::Folder,
        FileType::Symlink => Now::Link,
        FileType::RegularFile if about.st_size == 0 && is_whiteout(folder, name) => Now::Nothing,
        FileType::RegularFile => Now::File,
        FileType::CharacterDevice if about.st_rdev == 0 => Now::Nothing,
        _ => Now::Other,
    })
}

fn is_whiteout(folder: &OwnedFd, name: &OsStr) -> bool {
    let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    lgetxattr(path, WHITEOUT, &mut [0_u8; 1][..]).is_ok()
}
