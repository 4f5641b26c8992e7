//! What the kernel offers for walls.

/// What the kernel offers for walls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Means {
    /// The version of Landlock; 0 if there is none.
    pub(super) landlock: i32,
    pub(super) namespaces: Namespaces,
    /// Whether system calls can be filtered.
    pub(super) seccomp: bool,
    /// Whether what a program changes can be kept apart.
    pub(super) layers: bool,
    /// Whether a PID namespace has a limit of its own for processes.
    pub(super) pid_limit: bool,
    /// Whether a control group can have one, where a PID namespace does not.
    pub(super) group: bool,
}

/// The namespaces that a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespaces {
    None,
    /// Those for mounts, processes, network and IPC, made as root.
    AsRoot,
    /// The same in a user namespace, which needs no privilege.
    OfUser,
}

/// The version of Landlock from which it knows sockets at a path.
pub(super) const UNIX_SOCKETS: i32 = 9;
/// The version of Landlock from which it knows truncation.
pub(super) const TRUNCATION: i32 = 3;
