//! Opens the path that a guest wrote as a file beneath a granted root.
//!
//! Promises: a file is opened only with a permit, and resolved by the kernel beneath the root that the permit names
//! (`openat2` with `RESOLVE_BENEATH` on Linux, cap-std's own walk elsewhere); a root is opened without following a
//! symbolic link anywhere on its path, so that a narrower grant (`src`) cannot be widened by swapping its folder for a
//! link; the resolved path is checked against the deny globs once more.
//!
//! Deliberately not here: what happens with the file.

use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use host_capability::{Denied, ReadPermit, WritePermit};
use host_files::letter_case;

use crate::lock::lock;

/// The longest path that a guest may write. Protects messages and the kernel's time; Linux accepts 4,096 bytes.
const MAX_PATH: usize = 4096;

/// The folder that a run works in, and the granted roots as they were opened.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    roots: Mutex<HashMap<PathBuf, Arc<Dir>>>,
}

/// Why a text is not a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It contains a NUL, which no system accepts.
    #[error("the path `{}` has a NUL character in it", host_text::exact(.0))]
    Nul(String),
    /// It is too long.
    #[error("the path has {0} bytes, and a path may have {MAX_PATH}")]
    TooLong(usize),
    /// It leads above the root of the file system.
    #[error("the path `{}` leads above `/`", host_text::exact(.0))]
    AboveRoot(String),
}

/// The location of a permitted path: an open folder, and the rest of the path.
pub(crate) struct Place {
    pub(crate) root: Arc<Dir>,
    /// Never empty; `.` is the root itself.
    pub(crate) relative: PathBuf,
}

impl Workspace {
    /// Creates a workspace at an absolute path whose symbolic links are resolved (`std::fs::canonicalize`).
    pub fn new(root: PathBuf) -> Self {
        Self { root, roots: Mutex::default() }
    }

    /// Creates a workspace for calls that have no grants.
    pub fn nowhere() -> Self {
        Self::new(PathBuf::from("/"))
    }

    /// Returns the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the absolute path that a guest means: relative ones start at the workspace, `.` and `..` are resolved as
    /// written. Does not access the file system.
    ///
    /// # Errors
    ///
    /// If it is not a valid path.
    pub fn absolute(&self, path: &str) -> Result<PathBuf, PathError> {
        if path.len() > MAX_PATH {
            return Err(PathError::TooLong(path.len()));
        }
        if path.contains('\0') {
            return Err(PathError::Nul(path.to_owned()));
        }
        let mut absolute = if path.starts_with('/') { PathBuf::from("/") } else { self.root.clone() };
        for component in Path::new(path).components() {
            match component {
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
                Component::ParentDir => {
                    if !absolute.pop() {
                        return Err(PathError::AboveRoot(path.to_owned()));
                    }
                }
                Component::Normal(name) => absolute.push(name),
            }
        }
        Ok(absolute)
    }

    /// Returns the path as a guest sees it: relative to the workspace if it is in it.
    pub fn shown(&self, absolute: &Path) -> String {
        let shown = absolute.strip_prefix(&self.root).unwrap_or(absolute);
        if shown.as_os_str().is_empty() { ".".to_owned() } else { shown.to_string_lossy().into_owned() }
    }

    /// Opens for reading what a permit covers. Pipes and devices do not block: they are opened without waiting, and the
    /// caller rejects anything that is not a file or folder.
    pub(crate) fn open(&self, permit: &ReadPermit) -> Result<File, OpenError> {
        let place = self.place(permit.root(), permit.relative())?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(NONBLOCK);
        let file = place.root.open_with(&place.relative, &options)?;
        let real = real_path(&file, &permit.root().join(permit.relative()))?;
        permit.recheck(&real)?;
        if let Err(denied) = permit.recheck_folded(&real)
            && letter_case::is_ignored_on_the_way(permit.root(), &real)
        {
            return Err(denied.into());
        }
        Ok(file)
    }

    /// Opens the folder of a path that is to be changed. The folder is resolved beneath the root; the name in it is not
    /// followed. Missing folders are created if `make` says so.
    pub(crate) fn parent(&self, permit: &WritePermit, make: MakeFolders) -> Result<Target, OpenError> {
        let place = self.place(permit.root(), permit.relative())?;
        // The root was granted, and not the folder that it lies in.
        let Some(name) = place.relative.file_name() else {
            return Err(OpenError::Io(io::Error::new(io::ErrorKind::InvalidInput, "it is the granted root itself")));
        };
        let name = PathBuf::from(name);
        let above = place.relative.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The deepest existing folder on the path. A new folder must be covered at its real location, so the check
        // comes before its creation.
        let mut missing = Vec::new();
        let mut there = above;
        let mut parent = loop {
            // Resolved beneath the root by the kernel, so that `..` and links lead nowhere else.
            match place.root.open_dir(there) {
                Ok(dir) => break dir,
                Err(error) if error.kind() == io::ErrorKind::NotFound && make == MakeFolders::Yes => {
                    let Some(last) = there.file_name() else { return Err(error.into()) };
                    missing.push(last.to_owned());
                    there = there.parent().filter(|up| !up.as_os_str().is_empty()).unwrap_or(Path::new("."));
                }
                Err(error) => return Err(error.into()),
            }
        };
        // Asked of the open folder: its path may mean another one by now.
        let mut above = real_path(&parent, &permit.root().join(there))?;
        let mut real = above.clone();
        real.extend(missing.iter().rev());
        real.push(&name);
        // Of the real path: a link within the root can lead to what is denied.
        permit.recheck(&real)?;
        // On a file system that ignores case `.ENV` is `.env`.
        if let Err(denied) = permit.recheck_folded(&real)
            && letter_case::is_ignored_on_the_way(permit.root(), &real)
        {
            return Err(denied.into());
        }
        let mut made = Vec::new();
        for folder in missing.iter().rev() {
            above.push(folder);
            match parent.create_dir(folder) {
                Ok(()) => made.push(above.clone()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
            // Not followed: between making and opening it could be swapped for a link.
            parent = parent.open_dir_nofollow(folder)?;
        }
        Ok(Target { folder: parent, name, real, made })
    }

    fn place(&self, root: &Path, relative: &Path) -> io::Result<Place> {
        if relative.as_os_str().is_empty() {
            // The root itself: a folder, or a single file that was granted by name.
            return match self.dir(root) {
                Ok(dir) => Ok(Place { root: dir, relative: PathBuf::from(".") }),
                Err(error) if matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::NotFound) => {
                    self.beneath_a_folder(root, error)
                }
                Err(error) => Err(error),
            };
        }
        Ok(Place { root: self.dir(root)?, relative: relative.to_owned() })
    }

    /// Handles a granted root that is not a folder, or does not exist yet: returns the deepest existing folder above
    /// it, and the rest of the path.
    fn beneath_a_folder(&self, root: &Path, mut error: io::Error) -> io::Result<Place> {
        let mut relative = PathBuf::new();
        let mut rest = root;
        while let (Some(above), Some(name)) = (rest.parent(), rest.file_name()) {
            relative = if relative.as_os_str().is_empty() { name.into() } else { Path::new(name).join(relative) };
            match self.dir(above) {
                Ok(dir) => return Ok(Place { root: dir, relative }),
                Err(missing) if missing.kind() == io::ErrorKind::NotFound => error = missing,
                Err(other) => return Err(other),
            }
            rest = above;
        }
        Err(error)
    }

    /// Returns the folder of a granted root if it was opened before.
    pub(crate) fn opened(&self, root: &Path) -> Option<Arc<Dir>> {
        lock(&self.roots).get(root).map(Arc::clone)
    }

    fn dir(&self, root: &Path) -> io::Result<Arc<Dir>> {
        if let Some(dir) = self.opened(root) {
            return Ok(dir);
        }
        let dir = Arc::new(open_root(root)?);
        lock(&self.roots).insert(root.to_owned(), Arc::clone(&dir));
        Ok(dir)
    }
}

/// A path that is to be changed.
pub(crate) struct Target {
    /// The folder that it is in.
    pub(crate) folder: Dir,
    /// Its name there.
    pub(crate) name: PathBuf,
    /// The path without a link on the way.
    pub(crate) real: PathBuf,
    /// The folders that were created on the way.
    pub(crate) made: Vec<PathBuf>,
}

/// Whether missing folders are created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MakeFolders {
    Yes,
    No,
}

/// Why a permitted path could not be opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// The path leads to a target that the grants do not cover.
    Denied(Denied),
    /// It leads out of its root, by a symbolic link.
    Escapes,
    /// The system returned an error.
    Io(io::Error),
}

impl From<Denied> for OpenError {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        // cap-std reports an attempted escape with an error of its own, which no system call returns.
        if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
            Self::Escapes
        } else {
            Self::Io(error)
        }
    }
}

/// Opens a granted root, following no symbolic link on the way.
#[cfg(target_os = "linux")]
fn open_root(root: &Path) -> io::Result<Dir> {
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    match rustix::fs::openat2(rustix::fs::CWD, root, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(fd) => Ok(Dir::from_std_file(std::fs::File::from(fd))),
        // A kernel before 5.6, or a filter that does not know the call.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => open_root_by_name(root),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_root(root: &Path) -> io::Result<Dir> {
    open_root_by_name(root)
}

/// Opens a root by its name and then checks that the opened folder has that name.
fn open_root_by_name(root: &Path) -> io::Result<Dir> {
    let dir = Dir::open_ambient_dir(root, ambient_authority())?;
    if std::fs::canonicalize(root)? == root {
        Ok(dir)
    } else {
        Err(io::Error::other(format!("`{}` is reached by a symbolic link", root.display())))
    }
}

/// Returns the real path of an open file.
#[cfg(target_os = "linux")]
pub(crate) fn real_path(file: &impl std::os::fd::AsFd, _wanted: &Path) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()))
        .map_err(|error| io::Error::new(error.kind(), format!("cannot find its path in /proc: {error}")))
}

#[cfg(target_os = "macos")]
pub(crate) fn real_path(file: &impl std::os::fd::AsFd, _wanted: &Path) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let path = rustix::fs::getpath(file)?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes())))
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn real_path(_file: &impl std::os::fd::AsFd, wanted: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(wanted)
}

/// Returns when anything about a file was last changed; the beginning of time if the system says what cannot be.
pub(crate) fn changed(about: &cap_std::fs::Metadata) -> SystemTime {
    use cap_std::fs::MetadataExt as _;
    let (seconds, nanoseconds) = (about.ctime(), about.ctime_nsec());
    let since = u64::try_from(seconds).ok().zip(u32::try_from(nanoseconds).ok());
    since.map_or(UNIX_EPOCH, |(seconds, nanoseconds)| UNIX_EPOCH + Duration::new(seconds, nanoseconds))
}

/// Opens a pipe without waiting for the other end.
pub(crate) const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspace_paths_are_resolved_without_looking_anything_up() {
        let workspace = Workspace::new(PathBuf::from("/w/s"));
        for (path, means) in [
            ("", "/w/s"),
            (".", "/w/s"),
            ("a/b", "/w/s/a/b"),
            ("./a//b/", "/w/s/a/b"),
            ("a/../b", "/w/s/b"),
            ("../x", "/w/x"),
            ("/etc/passwd", "/etc/passwd"),
            ("/w/s/../s/a", "/w/s/a"),
        ] {
            assert_eq!(workspace.absolute(path), Ok(PathBuf::from(means)), "{path}");
        }
        assert!(matches!(workspace.absolute("../../../x"), Err(PathError::AboveRoot(_))));
        assert!(matches!(workspace.absolute("a\0b"), Err(PathError::Nul(_))));
        assert!(matches!(workspace.absolute(&"x".repeat(5000)), Err(PathError::TooLong(5000))));
    }

    #[test]
    fn workspace_paths_are_shown_relative_to_it() {
        let workspace = Workspace::new(PathBuf::from("/w/s"));
        assert_eq!(workspace.shown(Path::new("/w/s/a/b")), "a/b");
        assert_eq!(workspace.shown(Path::new("/w/s")), ".");
        assert_eq!(workspace.shown(Path::new("/w/sx")), "/w/sx");
    }
}
