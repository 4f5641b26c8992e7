//! A folder that is opened once, and everything beneath it reached from there without following a link.
//!
//! Files are read whole within a limit, never waiting on what is no file. Files are written the way git writes them: a
//! lock of the file's name, made only if it is not there, becomes the file.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, Stat, fchmod, fstat, mkdirat, open, openat, renameat,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

/// How folders are opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How files are opened to be read.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// How a lock is opened again.
const WRITE: OFlags = OFlags::WRONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How new files are made.
const NEW: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How long a lock of another program is waited for, as git does for refs.
const PATIENCE: Duration = Duration::from_millis(100);

/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(2);

/// An open folder.
#[derive(Debug)]
pub(crate) struct Place {
    root: OwnedFd,
    /// Its real path.
    pub(crate) path: PathBuf,
}

/// A name in a folder.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) about: Stat,
}

impl Found {
    pub(crate) fn kind(&self) -> FileType {
        kind_of(&self.about)
    }
}

/// Returns what kind of thing it is.
pub(crate) fn kind_of(about: &Stat) -> FileType {
    FileType::from_raw_mode(about.st_mode)
}

impl Place {
    /// Opens a folder, by a path of the caller's.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        Ok(Self { root: open(&path, FOLDER, Mode::empty())?, path })
    }

    /// Opens the folder that a path lies in, and returns the last name with it.
    fn parent<'p>(&self, path: &'p Path, make: bool) -> io::Result<(OwnedFd, &'p OsStr)> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok((self.folder(folder, make)?, name))
    }

    fn folder(&self, path: &Path, make: bool) -> io::Result<OwnedFd> {
        let mut folder = self.root.try_clone()?;
        for part in path {
            if make {
                match mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            folder = openat(&folder, part, FOLDER, Mode::empty())?;
        }
        Ok(folder)
    }

    /// Opens a folder beneath, by a path that may have thousands of parts.
    pub(crate) fn enter(&self, path: &Path) -> io::Result<OwnedFd> {
        if path.as_os_str().is_empty() {
            // An empty path is not a path for the kernel.
            return self.root.try_clone();
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            // One call instead of one for each part; the kernel itself follows no link and leaves the root by none.
            let way = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match openat2(&self.root, path, FOLDER, Mode::empty(), way) {
                // Linux before 5.6, and filters that do not know it.
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return Ok(opened?),
            }
        }
        self.folder(path, false)
    }

    /// Returns what is at a path, whose last name is not followed. Whether the others were links is not known.
    pub(crate) fn stat_at(&self, path: &Path) -> io::Result<Stat> {
        match path.as_os_str().is_empty() {
            true => Ok(fstat(&self.root)?),
            false => Ok(statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW)?),
        }
    }

    /// Makes a folder and those above it.
    pub(crate) fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.folder(path, true).map(drop)
    }

    /// Returns what is at a path, if anything is.
    pub(crate) fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let found = self.parent(path, false).and_then(|(folder, name)| stat_in(&folder, name));
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a regular file.
    pub(crate) fn file(&self, path: &Path) -> io::Result<(File, Stat)> {
        let (folder, name) = self.parent(path, false)?;
        // Asked first: opening a device can do something.
        if kind_of(&stat_in(&folder, name)?) != FileType::RegularFile {
            return Err(io::Error::other("it is not a regular file"));
        }
        let file = File::from(openat(&folder, name, READ, Mode::empty())?);
        let found = fstat(&file)?;
        if kind_of(&found) != FileType::RegularFile {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok((file, found))
    }

    /// Reads a regular file, if one is there.
    pub(crate) fn read(&self, path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        match self.file(path) {
            Ok((file, found)) => {
                let size = usize::try_from(found.st_size).unwrap_or(0).min(usize::try_from(limit).unwrap_or(0));
                // Room for one byte more, so that the end is seen without growing the buffer.
                let mut bytes = Vec::with_capacity(size.saturating_add(1));
                // The size of the look may be old: the file can grow while it is read.
                io::Read::read_to_end(&mut io::Read::take(file, limit.saturating_add(1)), &mut bytes)?;
                if bytes.len() as u64 > limit {
                    return Err(io::Error::other(format!("it is over the limit of {limit} bytes")));
                }
                Ok(Some(bytes))
            }
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lists what is beneath a folder, folders before what they contain; nothing if it is none.
    ///
    /// `enters` says which folders are looked into. At most `most` names are listed: more are an error.
    pub(crate) fn beneath(
        &self,
        path: &Path,
        most: usize,
        enters: &mut dyn FnMut(&Path) -> bool,
    ) -> io::Result<Vec<Found>> {
        let mut all = Vec::new();
        let mut folders = vec![path.to_path_buf()];
        // No recursion, since a program decides on the depth.
        while let Some(at) = folders.pop() {
            let folder = match self.folder(&at, false) {
                Ok(folder) => folder,
                Err(error) if is_missing(&error) => continue,
                Err(error) => return Err(error),
            };
            for entry in Dir::read_from(&folder)? {
                let entry = entry?;
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name == "." || name == ".." {
                    continue;
                }
                if all.len() == most {
                    return Err(io::Error::other(format!("there are more than {most} names in it")));
                }
                let about = match stat_in(&folder, name) {
                    Ok(about) => about,
                    // It went in between.
                    Err(error) if is_missing(&error) => continue,
                    Err(error) => return Err(error),
                };
                let path = at.join(name);
                if kind_of(&about) == FileType::Directory && enters(&path) {
                    folders.push(path.clone());
                }
                all.push(Found { path, about });
            }
        }
        Ok(all)
    }

    /// Takes the lock of a file, as git does, and writes into it what the file will contain, if anything. It gets the
    /// mode of the file whose place it takes.
    pub(crate) fn lock<'p>(&'p self, path: &'p Path, bytes: Option<&[u8]>) -> io::Result<Lock<'p>> {
        let (folder, name) = self.parent(path, true)?;
        let lock = lock_name(name);
        // The user's git holds a lock for moments; one that a killed git left stays, and is reported.
        let until = Instant::now() + PATIENCE;
        let mut file = loop {
            match openat(&folder, &lock, NEW, Mode::from_raw_mode(0o666)) {
                Ok(file) => break File::from(file),
                Err(Errno::EXIST) if Instant::now() < until => std::thread::sleep(PAUSE),
                Err(error) => return Err(error.into()),
            }
        };
        // From here on dropping it removes it.
        let lock = Lock { place: self, path, done: false };
        if let Some(bytes) = bytes {
            if let Ok(old) = stat_in(&folder, name) {
                // Without bits to run it: no file that git reads is a program.
                fchmod(&file, Mode::from_raw_mode(old.st_mode & 0o666))?;
            }
            file.write_all(bytes)?;
        }
        Ok(lock)
    }

    /// Brings a file here from another folder under the same path: by its name where that is possible, or else as a
    /// copy. One that is there stays, unless it is to be replaced.
    pub(crate) fn bring(&self, from: &Self, path: &Path, replaces: bool) -> io::Result<()> {
        let (mut source, found) = from.file(path)?;
        let (here, name) = self.parent(path, true)?;
        // Another name of the same file would still reach it.
        if found.st_nlink == 1 {
            let (there, _) = from.parent(path, false)?;
            if found.st_mode & 0o111 != 0 {
                fchmod(&source, Mode::from_raw_mode(found.st_mode & 0o666))?;
            }
            let flags = if replaces { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
            match renameat_with(&there, name, &here, name, flags) {
                // It came from elsewhere meanwhile, and has the same content by its name.
                Ok(()) | Err(Errno::EXIST) => return Ok(()),
                // Another file system, or one that cannot do it like this.
                Err(_) => {}
            }
        }
        // As git calls its own unfinished objects, which `git gc` removes if this process is killed.
        let mut copy = OsString::from("tmp_obj_");
        copy.push(name);
        let _ = unlinkat(&here, &copy, AtFlags::empty());
        let mut file = File::from(openat(&here, &copy, NEW, Mode::from_raw_mode(found.st_mode & 0o666))?);
        let copied = io::copy(&mut source, &mut file).and_then(|_| Ok(renameat(&here, &copy, &here, name)?));
        if copied.is_err() {
            let _ = unlinkat(&here, &copy, AtFlags::empty());
        }
        copied
    }

    /// Removes a file that has no lock. One that is not there is removed already.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        let removed =
            self.parent(path, false).and_then(|(folder, name)| Ok(unlinkat(&folder, name, AtFlags::empty())?));
        removed.or_else(|error| if is_missing(&error) { Ok(()) } else { Err(error) })
    }

    /// Removes a folder with all that is in it, and follows no link on the way.
    pub(crate) fn remove_tree(&self, path: &Path) -> io::Result<()> {
        let mut all = self.beneath(path, usize::MAX, &mut |_| true)?;
        all.sort_by_key(|found| std::cmp::Reverse(found.path.components().count()));
        for found in &all {
            match found.kind() {
                FileType::Directory => self.remove_if_empty(&found.path),
                _ => self.remove(&found.path)?,
            }
        }
        self.remove_if_empty(path);
        Ok(())
    }

    /// Removes a folder if it is empty.
    pub(crate) fn remove_if_empty(&self, path: &Path) {
        if let Ok((folder, name)) = self.parent(path, false) {
            let _ = unlinkat(&folder, name, AtFlags::REMOVEDIR);
        }
    }
}

/// The lock of a file. Dropping it removes it. It holds no descriptor: there may be thousands.
#[derive(Debug)]
pub(crate) struct Lock<'p> {
    place: &'p Place,
    path: &'p Path,
    done: bool,
}

impl Lock<'_> {
    /// Lets a file of another folder take the place of the lock, if it is still the one whose bytes were read, or else
    /// writes the bytes. A file that was written once is not written again: that is what takes time.
    pub(crate) fn fill(&self, from: &Place, bytes: &[u8], is_same: impl Fn(&Stat) -> bool) -> io::Result<()> {
        let (here, name) = self.place.parent(self.path, false)?;
        let lock = lock_name(name);
        let mode = match stat_in(&here, name) {
            Ok(old) => old.st_mode & 0o666,
            Err(_) => stat_in(&here, &lock)?.st_mode & 0o666,
        };
        let moved = from.file(self.path).is_ok_and(|(file, about)| {
            about.st_nlink == 1
                // Compared with what was judged: between the look and here the program's file may be another one.
                && is_same(&about)
                && fchmod(&file, Mode::from_raw_mode(mode)).is_ok()
                // Over the lock and not over the file: the file is replaced in one step, when all locks are there.
                && from.parent(self.path, false).is_ok_and(|(there, name)| renameat(&there, name, &here, &lock).is_ok())
        });
        if moved {
            return Ok(());
        }
        let mut file = File::from(openat(&here, &lock, WRITE, Mode::empty())?);
        fchmod(&file, Mode::from_raw_mode(mode))?;
        file.write_all(bytes)
    }

    /// Lets what was written take the place of the file.
    pub(crate) fn replace(mut self) -> io::Result<()> {
        let (folder, name) = self.place.parent(self.path, false)?;
        renameat(&folder, lock_name(name), &folder, name)?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if !self.done
            && let Ok((folder, name)) = self.place.parent(self.path, false)
        {
            let _ = unlinkat(&folder, lock_name(name), AtFlags::empty());
        }
    }
}

fn lock_name(name: &OsStr) -> OsString {
    let mut lock = name.to_owned();
    lock.push(".lock");
    lock
}

/// Reads a regular file by the path of a caller, whose last name is not followed.
pub(crate) fn read_alone(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    match host_files::read_found(path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether anything is at a path, by itself.
pub(crate) fn is_there(path: &Path) -> bool {
    statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

fn stat_in(folder: &OwnedFd, name: &OsStr) -> io::Result<Stat> {
    Ok(statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
