//! The system calls of mounts. All run between clone and exec.

use std::ffi::{CStr, c_int, c_ulong, c_void};
use std::ptr;

use super::step::{Stepped, check, errno};

/// Mounts a file system. `options` are its own.
pub(super) fn mount(kind: &CStr, target: &CStr, flags: c_ulong, options: &CStr) -> Stepped {
    // SAFETY: all strings end with NUL.
    let mounted =
        unsafe { libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast::<c_void>()) };
    check(mounted.into())
}

/// Makes all mounts private: nothing that is mounted here appears elsewhere, nor the reverse.
pub(super) fn make_private() -> Stepped {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: all strings end with NUL; there are no options.
    check(unsafe { libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), flags, ptr::null()) }.into())
}

/// Shows a file or folder, with the mounts in it, in a second place.
pub(super) fn bind(source: &CStr, target: &CStr) -> Stepped {
    let flags = libc::MS_BIND | libc::MS_REC;
    // SAFETY: all strings end with NUL; there are no options.
    check(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), ptr::null(), flags, ptr::null()) }.into())
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

/// Makes a mount read-only, with those in it.
pub(super) fn read_only(path: &CStr) -> Stepped {
    attribute(path, RECURSIVE, READ_ONLY, 0)
}

/// Makes a mount writable, with those in it; without them if one of them was read-only before, which stays so.
pub(super) fn writable(path: &CStr) -> Stepped {
    attribute(path, RECURSIVE, 0, READ_ONLY).or_else(|_| attribute(path, 0, 0, READ_ONLY))
}

fn attribute(path: &CStr, flags: c_int, set: u64, cleared: u64) -> Stepped {
    let attributes = Attributes { set, cleared, propagation: 0, users: 0 };
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

/// Returns a copy of what is at a path, with the mounts in it, that is in no place yet.
pub(super) fn copy_tree(path: &CStr) -> Result<c_int, i32> {
    const CLONE: c_int = 1;
    let flags = CLONE | RECURSIVE | libc::O_CLOEXEC;
    // SAFETY: the path ends with NUL.
    let tree = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    match c_int::try_from(tree) {
        Ok(tree) if tree >= 0 => Ok(tree),
        _ => Err(errno()),
    }
}

/// Puts such a copy in a place, and closes it.
pub(super) fn put_tree(tree: c_int, path: &CStr) -> Stepped {
    const EMPTY_FROM: c_int = 4;
    // SAFETY: both paths end with NUL, and the descriptor is closed here.
    unsafe {
        let put = libc::syscall(libc::SYS_move_mount, tree, c"".as_ptr(), libc::AT_FDCWD, path.as_ptr(), EMPTY_FROM);
        let result = check(put);
        libc::close(tree);
        result
    }
}
