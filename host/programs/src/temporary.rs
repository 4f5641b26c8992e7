//! The folder for temporary files of confined programs.
//!
//! It belongs to one host, or to one MCP server of it, and goes with it. A host that is killed leaves its folder, which
//! the next one removes: a lock shows whether a folder's host lives, and no age does. The lock lies beside what
//! programs see, so that none of them can take it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use host_process::remove_tree;
use rustix::fs::{Mode, OFlags};

const PREFIX: &str = "host-";

/// What programs see.
const SEEN: &str = "tmp";

/// The file that a living host holds.
const LOCK: &str = "lock";

/// How often a folder is made that another host takes for one without a host, in the moment before it is locked.
const ATTEMPTS: usize = 8;

/// A folder for temporary files, for this user alone. Dropping it removes it.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: PathBuf,
    _lock: File,
}

impl TemporaryFolder {
    /// Makes one, and removes those of hosts that live no more.
    pub fn new() -> io::Result<Self> {
        // Where the system has them, which is not for this crate to find out.
        let probe = tempfile::tempdir()?;
        Self::new_at(probe.path().parent().unwrap_or(Path::new("/tmp")))
    }

    /// The same in this folder.
    pub fn new_at(place: &Path) -> io::Result<Self> {
        let made = Self::new_in(place)?;
        let place = place.to_owned();
        // What programs left can be much, and nothing waits for it to be gone. What is left when this process ends
        // before is for the next.
        std::thread::Builder::new().name("old temporary files".to_owned()).spawn(move || remove_old(&place)).ok();
        Ok(made)
    }

    fn new_in(place: &Path) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let private = Permissions::from_mode(0o700);
            let folder = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(place)?.keep();
            match Self::own(folder)? {
                Some(made) => return Ok(made),
                None => continue,
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Locks a new folder; `None` if another host was quicker, and removed it.
    fn own(folder: PathBuf) -> io::Result<Option<Self>> {
        let path = folder.join(LOCK);
        let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        lock.lock()?;
        let made = Self { folder, _lock: lock };
        match DirBuilder::new().mode(0o700).create(made.folder.join(SEEN)) {
            Ok(()) if path.exists() => Ok(Some(made)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(None),
        }
    }

    /// Returns the folder that programs may use.
    pub fn path(&self) -> PathBuf {
        self.folder.join(SEEN)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Whatever is left is removed by a later host.
        remove(&self.folder).ok();
    }
}

/// Removes the folders of hosts of this user that live no more.
fn remove_old(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX)
            && let Ok(Some(_lock)) = lock_of_dead(&entry.path())
        {
            remove(&entry.path()).ok();
        }
    }
}

/// Removes a folder, its lock last: a folder without one would stay.
fn remove(folder: &Path) -> io::Result<()> {
    remove_tree(&folder.join(SEEN))?;
    remove_tree(folder)
}

/// Returns the lock of a folder that belongs to this user and whose host lives no more.
fn lock_of_dead(folder: &Path) -> io::Result<Option<File>> {
    let user = rustix::process::geteuid().as_raw();
    let about = fs::symlink_metadata(folder)?;
    if !about.is_dir() || about.uid() != user {
        return Ok(None);
    }
    // No link is followed, and no pipe waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let lock = File::from(rustix::fs::open(folder.join(LOCK), flags, Mode::empty())?);
    if !lock.metadata()?.is_file() {
        return Ok(None);
    }
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn temporary_folder_is_private_and_goes_with_its_host() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = TemporaryFolder::new_in(place.path()).expect("made");
        for path in [folder.path(), folder.folder.clone()] {
            assert_eq!(fs::metadata(path).expect("there").mode() & 0o7777, 0o700);
        }
        // What nobody may list is removed, too.
        fs::create_dir_all(folder.path().join("a/b")).expect("made");
        fs::set_permissions(folder.path().join("a"), Permissions::from_mode(0o000)).expect("set");
        drop(folder);
        assert_eq!(fs::read_dir(place.path()).expect("listed").count(), 0);
    }

    #[test]
    fn temporary_folder_is_removed_by_a_later_host_once_its_host_is_dead() {
        let place = tempfile::tempdir().expect("a folder");
        let outside = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("lock"), "").expect("written");
        let living = TemporaryFolder::new_in(place.path()).expect("made");
        let mut killed = TemporaryFolder::new_in(place.path()).expect("made");
        let left = std::mem::replace(&mut killed.folder, place.path().join("none"));
        symlink(outside.path(), left.join("tmp/link")).expect("linked");
        symlink(outside.path(), place.path().join("host-link")).expect("linked");
        fs::create_dir(place.path().join("host-without-a-lock")).expect("made");
        remove_old(place.path());
        assert!(left.exists(), "its host lives");
        // With a killed host its lock ends, and nothing else.
        drop(killed);
        remove_old(place.path());
        let mut names: Vec<_> =
            fs::read_dir(place.path()).expect("listed").map(|entry| entry.expect("there").path()).collect();
        names.sort();
        let mut expected =
            vec![living.folder.clone(), place.path().join("host-link"), place.path().join("host-without-a-lock")];
        expected.sort();
        assert_eq!(names, expected);
        assert!(outside.path().join("lock").exists(), "a link was followed");
    }
}
