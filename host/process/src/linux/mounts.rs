//! The wall of mounts: the whole tree read-only but for the writable folders, in which what stays unchanged is read-only
//! again.
//!
//! A mount cannot be moved away or replaced, but a folder above it can. So each folder between a writable root and
//! something protected is a mount, too.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsString, c_int, c_ulong};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use super::beneath::{between, exists, is_beneath};
use super::step::{Stepped, check};
use crate::Confinement;

/// A mount to make, in this order.
#[derive(Debug, PartialEq, Eq)]
enum Mount {
    /// The path in its place, and writable.
    Writable(CString),
    /// The path in its place, as its surroundings are.
    Fixed(CString),
    /// The path in its place, and read-only.
    ReadOnly(CString),
    /// The first path in the place of the second, and writable.
    Over(CString, CString),
}

/// The mounts of a program.
#[derive(Debug)]
pub(super) struct Mounts {
    mounts: Vec<Mount>,
    /// Whether `/tmp` shows the folder for temporary files.
    pub(super) own_tmp: bool,
}

const TMP: &str = "/tmp";

impl Mounts {
    pub(super) fn new(confinement: &Confinement) -> Self {
        let path = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
        // Sorted by their texts, so that a folder comes before what is in it: a mount over a folder hides those in it.
        let sorted = |paths: &mut dyn Iterator<Item = &PathBuf>| -> BTreeSet<OsString> {
            paths.filter(|path| exists(path)).map(|path| path.as_os_str().to_owned()).collect()
        };
        let writable = sorted(&mut confinement.writable.iter().chain(&confinement.temporary));
        let protected = sorted(&mut confinement.protected.iter());
        let mut mounts: Vec<Mount> =
            writable.iter().filter_map(|root| path(Path::new(root))).map(Mount::Writable).collect();
        let mut all = protected.clone();
        for place in protected.iter().map(Path::new) {
            let roots = writable.iter().map(Path::new).filter(|root| is_beneath(place, root));
            // A root within a root is a mount already.
            let fixed = roots.flat_map(|root| between(place, root)).map(|folder| folder.as_os_str().to_owned());
            all.extend(fixed.filter(|folder| !writable.contains(folder)));
        }
        for place in all {
            let Some(text) = path(Path::new(&place)) else { continue };
            mounts.push(match protected.contains(&place) {
                true => Mount::ReadOnly(text),
                false => Mount::Fixed(text),
            });
        }
        let granted = || confinement.readable.iter().chain(&confinement.writable);
        let own_tmp = !granted().any(|path| path.starts_with(TMP) || Path::new(TMP).starts_with(path));
        if own_tmp
            && let Some(source) = confinement.temporary.as_deref().and_then(path)
            && let Some(target) = path(Path::new(TMP))
        {
            mounts.push(Mount::Over(source, target));
            return Self { mounts, own_tmp: true };
        }
        Self { mounts, own_tmp: false }
    }

    /// Makes the mounts. Runs between clone and exec, in a mount namespace of its own.
    pub(super) fn make(&self) -> Stepped {
        // Nothing that is mounted here appears elsewhere, nor the reverse.
        mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE)?;
        attribute(c"/", RECURSIVE, Some(READ_ONLY), None)?;
        for step in &self.mounts {
            match step {
                Mount::Writable(path) => {
                    bind(path, path)?;
                    writable(path)?;
                }
                Mount::Fixed(path) => bind(path, path)?,
                Mount::ReadOnly(path) => {
                    bind(path, path)?;
                    attribute(path, RECURSIVE, Some(READ_ONLY), None)?;
                }
                Mount::Over(source, target) => {
                    bind(source, target)?;
                    writable(target)?;
                }
            }
        }
        Ok(())
    }
}

/// A file system of the program's own.
#[derive(Clone, Copy)]
pub(super) enum Own {
    /// The processes of its PID namespace.
    Processes,
    /// Shared memory.
    SharedMemory,
    /// Terminals that it makes.
    Terminals,
}

impl Own {
    pub(super) const ALL: [Self; 3] = [Self::Processes, Self::SharedMemory, Self::Terminals];

    pub(super) fn folder(self) -> &'static CStr {
        match self {
            Self::Processes => c"/proc",
            Self::SharedMemory => c"/dev/shm",
            Self::Terminals => c"/dev/pts",
        }
    }

    /// Mounts it. Runs between clone and exec.
    pub(super) fn mount(self) -> Stepped {
        let (kind, options, flags) = match self {
            Self::Processes => (c"proc", None, libc::MS_NODEV),
            Self::SharedMemory => (c"tmpfs", Some(c"mode=1777"), libc::MS_NODEV),
            Self::Terminals => (c"devpts", Some(c"newinstance,ptmxmode=0666,mode=0620"), 0),
        };
        let flags = flags | libc::MS_NOSUID | libc::MS_NOEXEC;
        let options = options.map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: all strings end with NUL.
        let mounted = unsafe {
            libc::mount(kind.as_ptr(), self.folder().as_ptr(), kind.as_ptr(), flags, options.cast::<libc::c_void>())
        };
        check(mounted.into())
    }
}

fn mount(source: Option<&CStr>, target: &CStr, kind: Option<&CStr>, flags: c_ulong) -> Stepped {
    let text = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: all strings end with NUL; there are no options.
    check(unsafe { libc::mount(text(source), target.as_ptr(), text(kind), flags, ptr::null()) }.into())
}

fn bind(source: &CStr, target: &CStr) -> Stepped {
    mount(Some(source), target, None, libc::MS_BIND | libc::MS_REC)
}

/// What `mount_setattr` takes (Linux 5.12), as the kernel defines it.
#[repr(C)]
struct Attributes {
    set: u64,
    cleared: u64,
    propagation: u64,
    users: u64,
}

const READ_ONLY: u64 = 1;
const RECURSIVE: c_int = 0x8000;

fn attribute(path: &CStr, flags: c_int, set: Option<u64>, cleared: Option<u64>) -> Stepped {
    let attributes = Attributes { set: set.unwrap_or(0), cleared: cleared.unwrap_or(0), propagation: 0, users: 0 };
    // SAFETY: the path ends with NUL, and the structure is as long as said.
    let changed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    check(changed)
}

/// Makes a mount writable, with those in it; without them if one of them was read-only before, which stays so.
fn writable(path: &CStr) -> Stepped {
    attribute(path, RECURSIVE, None, Some(READ_ONLY)).or_else(|_| attribute(path, 0, None, Some(READ_ONLY)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn mounts_fix_every_folder_between_a_writable_root_and_what_is_protected() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_owned();
        for path in ["w/.git/hooks", "w/src", "t"] {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        fs::write(root.join("w/.git/config"), "").expect("written");
        let mounts = Mounts::new(&Confinement {
            readable: vec![],
            writable: vec![root.join("w"), root.join("missing")],
            protected: ["w/.git/hooks", "w/.git/config", "w/.host"].map(|path| root.join(path)).to_vec(),
            temporary: Some(root.join("t")),
        });
        let text = |path: &CStr| path.to_str().expect("text").replace(root.to_str().expect("text"), "");
        let shown: Vec<String> = mounts
            .mounts
            .iter()
            .map(|mount| match mount {
                Mount::Writable(path) => format!("writable {}", text(path)),
                Mount::Fixed(path) => format!("fixed {}", text(path)),
                Mount::ReadOnly(path) => format!("read-only {}", text(path)),
                Mount::Over(source, target) => format!("{} over {}", text(source), text(target)),
            })
            .collect();
        assert_eq!(
            shown,
            ["writable /t", "writable /w", "fixed /w/.git", "read-only /w/.git/config", "read-only /w/.git/hooks"]
        );
    }
}
