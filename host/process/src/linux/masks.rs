//! What a program must not read, under something empty.
//!
//! A socket and an empty folder, both without any right, are mounted over what is hidden. Nobody can open a socket by
//! its path, root neither, so what stands in place of a file is never taken for an empty file. A mount cannot be
//! renamed, replaced or linked, and nothing leads around it but the folders above, which [`mounts`](super::mounts)
//! fixes.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::mount_calls::{bind, mount, read_only};
use super::step::{Stepped, check};

/// Where they are made. It is there on every machine, and gets a file system of the program's own
/// when all is mounted, which covers this.
const BENCH: &CStr = c"/proc";
const CLOSED_FILE: &CStr = c"/proc/file";
const EMPTY_FOLDER: &CStr = c"/proc/folder";

/// What is hidden from a program.
#[derive(Debug, Default)]
pub(super) struct Masks(Vec<(CString, Kind)>);

#[derive(Clone, Copy, Debug)]
enum Kind {
    File,
    Folder,
}

impl Masks {
    /// `hidden` are real paths.
    pub(super) fn new(hidden: &[PathBuf]) -> Self {
        let mask = |path: &PathBuf| {
            let kind = if fs::metadata(path).ok()?.is_dir() { Kind::Folder } else { Kind::File };
            Some((CString::new(path.as_os_str().as_bytes()).ok()?, kind))
        };
        Self(hidden.iter().filter_map(mask).collect())
    }

    /// Hides it. Runs between clone and exec.
    pub(super) fn make(&self) -> Stepped {
        if self.0.is_empty() {
            return Ok(());
        }
        // The masks are made in a file system of their own, so that nothing has to be created where the user has files.
        make_bench()?;
        // SAFETY: the paths end with NUL.
        unsafe {
            check(libc::mknod(CLOSED_FILE.as_ptr(), libc::S_IFSOCK, 0).into())?;
            check(libc::mkdir(EMPTY_FOLDER.as_ptr(), 0).into())?;
        }
        // A copy of a mount is as read-only as the mount is.
        read_only(BENCH)?;
        for (path, kind) in &self.0 {
            let mask = match kind {
                Kind::File => CLOSED_FILE,
                Kind::Folder => EMPTY_FOLDER,
            };
            match bind(mask, path) {
                // It was removed since the start, and there is nothing to hide.
                Ok(()) | Err(libc::ENOENT) => {}
                failed => return failed,
            }
        }
        Ok(())
    }
}

/// Makes a folder of the program's own to work in, at `/proc`. Runs between clone and exec.
pub(super) fn make_bench() -> Stepped {
    mount(c"tmpfs", BENCH, libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC, c"mode=0755")
}

/// Returns where what is hidden really is, if it exists.
pub(super) fn real(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut real: Vec<PathBuf> = hidden.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    real.retain(|path| path != Path::new("/"));
    real.sort();
    real.dedup();
    real
}
