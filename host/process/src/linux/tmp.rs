//! A program's own `/tmp`.
//!
//! The folder for temporary files is mounted over `/tmp`. What the program may touch beneath the machine's `/tmp` is
//! put back in its place: copied before, and mounted again on mount points in that folder. Several programs share the
//! folder, so what one of them left where a mount point belongs is moved aside, and no link of theirs is followed.
//!
//! `/var/tmp` stays as it is, and read-only.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, statat};
use rustix::io::Errno;

use super::beneath::{is_beneath, is_within, rest};
use super::mount_calls::{bind, copy_tree, put_tree, writable};
use super::step::Stepped;
use super::vacant::rename_aside;
use super::way::{FOLDER, take_rights};
use crate::{Confinement, StartError};

const TMP: &str = "/tmp";

/// How often it is tried to make a mount point that a program of a different call changes at the same time.
const ATTEMPTS: usize = 16;

/// The mounts of a `/tmp` of the program's own.
#[derive(Debug)]
pub(super) struct OwnTmp {
    source: CString,
    target: CString,
    kept: Vec<Kept>,
}

/// Something beneath the machine's `/tmp`.
#[derive(Debug)]
struct Kept {
    path: CString,
    /// The copy of it, in the guard alone.
    tree: AtomicI32,
}

impl OwnTmp {
    /// Makes the mount points. `None` if the program sees the machine's `/tmp`, because it may touch it or there is no
    /// folder for temporary files.
    pub(super) fn new(confinement: &Confinement) -> Result<Option<Self>, StartError> {
        let tmp = Path::new(TMP);
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
        let places = confinement.layers.iter().map(|layer| &layer.place);
        let granted = || confinement.readable.iter().chain(&confinement.writable).chain(places.clone());
        let Some(temporary) = &confinement.temporary else { return Ok(None) };
        if granted().any(|path| path == tmp) || !tmp.is_dir() {
            return Ok(None);
        }
        let (Some(source), Some(target)) = (text(temporary), text(tmp)) else { return Ok(None) };
        let beneath: BTreeSet<OsString> = granted()
            .filter(|path| is_beneath(path, tmp) && path.exists())
            .map(|path| path.as_os_str().to_owned())
            .collect();
        let failed = |error: Errno| StartError::System { step: "the mount points in /tmp", source: error.into() };
        let folder = openat(CWD, temporary, FOLDER, Mode::empty()).map_err(failed)?;
        let mut kept: Vec<Kept> = Vec::new();
        let mut last: Option<PathBuf> = None;
        for path in beneath.iter().map(Path::new) {
            // Sorted, so that what contains others comes before them, and is not far before.
            if last.as_deref().is_some_and(|last| is_within(path, last)) {
                continue;
            }
            if let (Some(way), Some(text)) = (rest(path, tmp), text(path)) {
                // Made by the host, before the clone: inside, making one would take the allocations of a walk.
                make_mount_point(&folder, way, path.is_dir()).map_err(failed)?;
                kept.push(Kept { path: text, tree: AtomicI32::new(-1) });
            }
            last = Some(path.to_owned());
        }
        Ok(Some(Self { source, target, kept }))
    }

    /// Mounts it. Runs between clone and exec, after all that changes what is put back.
    pub(super) fn make(&self) -> Stepped {
        for kept in &self.kept {
            kept.tree.store(copy_tree(&kept.path)?, Ordering::Relaxed);
        }
        bind(&self.source, &self.target)?;
        writable(&self.target)?;
        self.kept.iter().try_for_each(|kept| put_tree(kept.tree.load(Ordering::Relaxed), &kept.path))
    }
}

/// Makes the folders on the way and, at its end, a folder or a file to mount on.
fn make_mount_point(root: &OwnedFd, way: &Path, is_folder: bool) -> Result<(), Errno> {
    let mut folder = root.try_clone().map_err(|_| Errno::MFILE)?;
    let mut names = way.components().peekable();
    while let Some(part) = names.next() {
        // A path with `..` names something else than it seems to.
        let Component::Normal(name) = part else { return Err(Errno::INVAL) };
        match names.peek().is_some() || is_folder {
            true => folder = attempt(&folder, name, || make_folder(&folder, name))?,
            false => attempt(&folder, name, || make_file(&folder, name))?,
        }
    }
    Ok(())
}

/// Does it until it works, having moved aside what is in the way and taken the right that a program took away.
fn attempt<T>(folder: &OwnedFd, name: &OsStr, act: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
    for _ in 0..ATTEMPTS {
        match act() {
            // Programs share this folder, and one of them may have taken away the user's right to it.
            Err(Errno::ACCESS) => {
                take_rights(folder);
            }
            // Moved and not removed: it may be what another program of the session still uses.
            Err(Errno::NOTDIR | Errno::ISDIR | Errno::LOOP) => match rename_aside(folder, name) {
                Ok(_) | Err(Errno::NOENT) => {}
                Err(Errno::ACCESS) => {
                    take_rights(folder);
                }
                Err(error) => return Err(error),
            },
            done => return done,
        }
    }
    act()
}

fn make_folder(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    match mkdirat(folder, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => openat(folder, name, FOLDER, Mode::empty()),
        Err(error) => Err(error),
    }
}

fn make_file(folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    match openat(folder, name, flags, Mode::RUSR | Mode::WUSR) {
        Err(Errno::EXIST) => match FileType::from_raw_mode(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode) {
            FileType::RegularFile => Ok(()),
            _ => Err(Errno::ISDIR),
        },
        made => made.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn mount_points_are_made_whatever_a_program_left_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("there");
        let private = root.join("private");
        fs::create_dir_all(root.join("outside")).expect("made");
        fs::create_dir_all(private.join("d/file")).expect("made");
        symlink(root.join("outside"), private.join("a")).expect("linked");
        fs::write(private.join("b"), "a program's").expect("written");
        let opened = openat(CWD, &private, FOLDER, Mode::empty()).expect("opened");
        // Twice: what is there from an earlier program is used.
        for _ in 0..2 {
            for (way, is_folder) in [("a/w", true), ("b/w/x", true), ("c", false), ("d/file", false)] {
                make_mount_point(&opened, Path::new(way), is_folder).expect("made");
                let about = fs::symlink_metadata(private.join(way)).expect("there");
                assert_eq!(about.is_dir(), is_folder, "{way}");
            }
        }
        assert!(!root.join("outside/w").exists(), "a link was followed");
        assert_eq!(fs::read_to_string(private.join("b.moved-1")).expect("kept"), "a program's");
        assert_eq!(make_mount_point(&opened, Path::new("../x"), true), Err(Errno::INVAL));
    }
}
