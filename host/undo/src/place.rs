//! A name in a folder that is held open.
//!
//! Promises: no link on the way is followed, so a folder that was swapped for a link leads nowhere; every operation is
//! on the folder that was opened, whatever its path means by then.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, mkdirat, openat, readlinkat, renameat_with, statat,
    symlinkat, unlinkat,
};
use rustix::io::Errno;

use crate::state::{Digest, State};

/// A name, and the folder that it is in.
#[derive(Debug)]
pub(crate) struct Place {
    folder: OwnedFd,
    name: Box<OsStr>,
}

/// What a path leads to.
pub(crate) enum Found {
    /// Its folder.
    Place(Place),
    /// There is no such folder, so nothing is there.
    NoFolder,
    /// Something on the way is a link, or no folder.
    Elsewhere,
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder on the way may be one that only lets its folders be entered, such as `/home` with mode 711.
#[cfg(target_os = "linux")]
const ON_THE_WAY: OFlags = FOLDER.union(OFlags::PATH);
#[cfg(not(target_os = "linux"))]
const ON_THE_WAY: OFlags = FOLDER;

/// The bits of a mode that say who may do what.
pub(crate) const PERMISSIONS: u32 = 0o7777;

/// Returns what a symbolic link says.
pub(crate) fn link_target(folder: impl AsFd, name: &OsStr) -> io::Result<PathBuf> {
    Ok(OsString::from_vec(readlinkat(folder, name, Vec::new())?.into_bytes()).into())
}

impl Place {
    /// Opens the folder of an absolute path.
    ///
    /// # Errors
    ///
    /// When a folder on the way cannot be opened, or the path is not absolute or has `..` in it.
    pub(crate) fn open(path: &Path) -> io::Result<Found> {
        let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "it is not the absolute path of a file");
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(invalid()) };
        let mut parts = parent.components().peekable();
        if parts.next() != Some(Component::RootDir) {
            return Err(invalid());
        }
        let flags = |is_last| if is_last { FOLDER } else { ON_THE_WAY };
        // From the root on, name by name: a whole path would follow links in its middle.
        let mut folder = openat(CWD, "/", flags(parts.peek().is_none()), Mode::empty())?;
        while let Some(part) = parts.next() {
            let Component::Normal(part) = part else { return Err(invalid()) };
            folder = match openat(&folder, part, flags(parts.peek().is_none()), Mode::empty()) {
                Ok(folder) => folder,
                Err(Errno::NOENT) => return Ok(Found::NoFolder),
                // Not an error: the folder that was meant is gone, and whatever the link leads to is not the session's.
                Err(Errno::LOOP | Errno::NOTDIR) => return Ok(Found::Elsewhere),
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Found::Place(Self { folder, name: name.into() }))
    }

    /// The same folder with another name.
    pub(crate) fn beside(&self, name: &str) -> io::Result<Self> {
        Ok(Self { folder: self.folder.try_clone()?, name: OsStr::new(name).into() })
    }

    /// Returns what is there now.
    pub(crate) fn state(&self) -> io::Result<State> {
        // By the open folder and the name: the path may mean another file by now.
        let about = match statat(&self.folder, &*self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => about,
            Err(Errno::NOENT) => return Ok(State::Absent),
            Err(error) => return Err(error.into()),
        };
        match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile => {
                // What it has is its digest and not its time: a user can restore a file with its old time.
                let (digest, size) = Digest::of_reader(self.read()?)?;
                Ok(State::File { digest, size, mode: about.st_mode & PERMISSIONS })
            }
            FileType::Directory => Ok(State::Folder { mode: about.st_mode & PERMISSIONS }),
            FileType::Symlink => Ok(State::Link { target: link_target(&self.folder, &self.name)? }),
            // A pipe or a device has no content that could be kept or compared.
            _ => Ok(State::Other),
        }
    }

    /// Opens the file that is there.
    pub(crate) fn read(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(openat(&self.folder, &*self.name, flags, Mode::empty())?.into())
    }

    /// Creates a file that is not there yet.
    pub(crate) fn create(&self, mut content: impl Read, mode: u32) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file: File = openat(&self.folder, &*self.name, flags, Mode::RUSR | Mode::WUSR)?.into();
        let written = io::copy(&mut content, &mut file).and_then(|_| {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
            file.sync_all()
        });
        written.inspect_err(|_| drop(self.remove()))
    }

    /// Creates a symbolic link that is not there yet.
    pub(crate) fn create_link(&self, target: &Path) -> io::Result<()> {
        Ok(symlinkat(target, &self.folder, &*self.name)?)
    }

    /// Creates a folder that is not there yet.
    pub(crate) fn create_folder(&self, mode: u32) -> io::Result<()> {
        mkdirat(&self.folder, &*self.name, Mode::RWXU)?;
        self.set_mode(mode)
    }

    /// Sets the permission bits of the folder that is there.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        let folder = openat(&self.folder, &*self.name, FOLDER, Mode::empty())?;
        Ok(rustix::fs::fchmod(folder, Mode::from_raw_mode(mode))?)
    }

    /// Gives what is there another name, which must be free.
    pub(crate) fn rename_to(&self, other: &Self) -> io::Result<()> {
        Ok(renameat_with(&self.folder, &*self.name, &other.folder, &*other.name, RenameFlags::NOREPLACE)?)
    }

    /// Swaps what is at two names.
    pub(crate) fn exchange(&self, other: &Self) -> io::Result<()> {
        Ok(renameat_with(&self.folder, &*self.name, &other.folder, &*other.name, RenameFlags::EXCHANGE)?)
    }

    /// Removes the file or link that is there.
    pub(crate) fn remove(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &*self.name, AtFlags::empty())?)
    }

    /// Returns whether nothing is in the folder that is there.
    pub(crate) fn is_empty(&self) -> io::Result<bool> {
        let folder = openat(&self.folder, &*self.name, FOLDER, Mode::empty())?;
        for entry in Dir::read_from(folder)? {
            if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes the folder that is there, if nothing is in it.
    pub(crate) fn remove_folder(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &*self.name, AtFlags::REMOVEDIR)?)
    }

    /// Makes the names in the folder survive a power failure.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.folder)?)
    }
}
