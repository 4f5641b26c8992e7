//! What a clone of the host closes: it has copies of all that the host has open.
//!
//! What runs between clone and exec allocates nothing and makes system calls alone.

use std::ffi::{c_int, c_ulong};

use super::step::{Stepped, check};

/// The descriptors that a clone uses.
///
/// It has copies of all that the host has open: a pipe of another program does not end, a listener takes connections
/// and a script that was just written cannot be run until the last copy is closed. So it closes the others first of
/// all, and not when it has put up its walls.
pub(super) struct KeptDescriptors(Vec<c_int>);

impl KeptDescriptors {
    pub(super) fn new(descriptors: impl IntoIterator<Item = c_int>) -> Self {
        let mut kept: Vec<c_int> = descriptors.into_iter().collect();
        kept.sort_unstable();
        Self(kept)
    }

    /// Closes the others, but not the standard streams. Runs between clone and exec.
    pub(super) fn close_others(&self) {
        let mut first = 3;
        for kept in &self.0 {
            if *kept > first {
                close_range(first, (kept - 1).unsigned_abs());
            }
            first = first.max(kept.saturating_add(1));
        }
        // Where the call is missing, they are closed one by one later: doing that twice would take long.
        close_range(first, u32::MAX);
    }
}

/// How many descriptors are closed one by one where `close_range` is missing (before Linux 5.9).
const OPEN_FILES: c_int = 65_536;

/// Closes all descriptors from this one on.
pub(super) fn close_from(first: c_int) {
    if !close_range(first, u32::MAX) {
        (first..OPEN_FILES).for_each(|descriptor| {
            // SAFETY: a system call without pointers; nothing of this process uses the descriptor any more.
            unsafe { libc::close(descriptor) };
        });
    }
}

/// Closes these descriptors, and returns whether the kernel has a call for it.
fn close_range(first: c_int, last: u32) -> bool {
    // SAFETY: a system call without pointers; nothing of this process uses the descriptors any more.
    unsafe { libc::syscall(libc::SYS_close_range, first, c_ulong::from(last), 0) >= 0 }
}

/// Lets exec close all descriptors but the standard streams.
pub(super) fn close_on_exec() -> Stepped {
    const CLOSE_RANGE_CLOEXEC: c_ulong = 4;
    // SAFETY: a system call without pointers.
    let all = unsafe { libc::syscall(libc::SYS_close_range, 3, c_ulong::from(u32::MAX), CLOSE_RANGE_CLOEXEC) };
    match check(all) {
        Err(libc::ENOSYS | libc::EINVAL) => {}
        done => return done,
    }
    for descriptor in 3..OPEN_FILES {
        // SAFETY: a system call without pointers; a descriptor that is not open is an error, which is ignored.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    Ok(())
}
