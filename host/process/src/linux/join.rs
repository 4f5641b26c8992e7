//! Starts a guard in the network of a session.
//!
//! As root the guard joins the network itself. Without privileges only who is in the holder's user namespace may, and
//! what it clones is in a user namespace of its own beneath that one: programs of a session share a network and no user
//! namespace, and none has a right over the network. The step between is a process that shares the host's memory while
//! the host's thread waits, as with `vfork`, so that the memory is copied once, for the guard; copying it twice doubled
//! the time of a start.

use std::convert::Infallible;
use std::ffi::{c_int, c_void};
use std::io;

use rustix::process::{Pid, WaitOptions, waitpid};

use super::descriptors::KeptDescriptors;
use super::step::{Failed, Step, Stepped, check, errno};

/// The namespaces that a guard joins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joins {
    pub(super) network: c_int,
    /// The user namespace to which the network belongs; `None` if it is that of the host.
    pub(super) users: Option<c_int>,
}

impl Joins {
    /// Joins the network. Runs between clone and exec.
    pub(super) fn network(self) -> Stepped {
        // SAFETY: a system call without pointers.
        check(unsafe { libc::setns(self.network, libc::CLONE_NEWNET) }.into())
    }
}

/// The stack of the process that joins the network of a session, in bytes; the guard continues in its copy.
const STACK: usize = 128 << 10;

/// What the process between does, and how that ended.
struct Joining<'a, F> {
    joins: Joins,
    kept: &'a KeptDescriptors,
    users: c_int,
    flags: u32,
    /// `None` once it is under way.
    guard: Option<F>,
    pid: Result<c_int, i32>,
}

/// Clones a guard in a user namespace beneath that of the network, as a child of the host. All signals of this thread
/// are blocked.
pub(super) fn cloned<F: FnOnce() -> Infallible>(
    joins: Joins,
    users: c_int,
    namespaces: u32,
    kept: &KeptDescriptors,
    guard: F,
) -> Result<Pid, Failed> {
    // The host becomes the parent of the guard, although another process clones it: only a parent can wait for it.
    let flags = namespaces | (libc::CLONE_PARENT | libc::SIGCHLD).unsigned_abs();
    let mut joining = Joining { joins, kept, users, flags, guard: Some(guard), pid: Err(libc::EIO) };
    let failed = |error: io::Error| Failed { step: Step::Network, error };
    // Never filled: it is memory of the right alignment, and the pages are used by the clone alone.
    let mut stack: Vec<u128> = Vec::with_capacity(STACK / size_of::<u128>());
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is aligned, grows downwards on each architecture that this is built for, and lives as long as
    // the process, for whose end this thread waits; so does what it is given.
    let between = unsafe {
        let top = stack.as_mut_ptr().add(stack.capacity());
        libc::clone(join::<F>, top.cast(), flags, (&raw mut joining).cast())
    };
    let between = Pid::from_raw(between.max(0)).ok_or_else(|| failed(io::Error::last_os_error()))?;
    // The clone is a zombie until it is waited for; nobody else knows that it existed.
    while matches!(waitpid(Some(between), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
    let pid = joining.pid.map_err(|number| failed(io::Error::from_raw_os_error(number)))?;
    Pid::from_raw(pid).ok_or_else(|| failed(io::Error::from_raw_os_error(libc::EIO)))
}

/// Joins, and clones the guard. Shares its memory with the host, and neither files nor namespaces.
extern "C" fn join<F: FnOnce() -> Infallible>(argument: *mut c_void) -> c_int {
    // SAFETY: the argument is what `cloned` gave, and nothing else uses it meanwhile. The clone is a fork, since it has
    // no `CLONE_VM`: the guard has a copy of the memory, and never returns.
    unsafe {
        let joining = &mut *argument.cast::<Joining<'_, F>>();
        // Before the guard is cloned, which takes a copy of what is open here.
        joining.kept.close_others();
        // The user namespace first: the right to join the network is a right within it.
        let joined = check(libc::setns(joining.users, libc::CLONE_NEWUSER).into());
        joining.pid = joined.and_then(|()| joining.joins.network()).and_then(|()| {
            // The host is its parent, to wait for it and to end it.
            let pid = libc::syscall(libc::SYS_clone, libc::c_ulong::from(joining.flags), 0, 0, 0, 0);
            match (pid, joining.guard.take()) {
                (0, Some(guard)) => match guard() {},
                (0, None) => libc::_exit(126),
                (..0, _) => Err(errno()),
                (pid, _) => c_int::try_from(pid).map_err(|_| libc::EIO),
            }
        });
        libc::_exit(0)
    }
}
