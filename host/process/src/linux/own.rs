//! The file systems that a program has for itself.

use std::ffi::CStr;

use super::mount_calls::mount;
use super::step::Stepped;

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
            Self::Processes => (c"proc", c"", libc::MS_NODEV),
            Self::SharedMemory => (c"tmpfs", c"mode=1777", libc::MS_NODEV),
            Self::Terminals => (c"devpts", c"newinstance,ptmxmode=0666,mode=0620", 0),
        };
        mount(kind, self.folder(), flags | libc::MS_NOSUID | libc::MS_NOEXEC, options)
    }
}
