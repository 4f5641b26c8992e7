//! The steps between clone and exec, and how one that failed is reported to the host.

use std::ffi::c_long;
use std::io;

/// A step between clone and exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    Clone,
    Guard,
    Network,
    Users,
    Loopback,
    Layers,
    Mounts,
    Hidden,
    Temporary,
    Processes,
    Proxy,
    Fork,
    Streams,
    Terminal,
    Directory,
    Limits,
    Capabilities,
    Files,
    Calls,
    Exec,
}

impl Step {
    const ALL: [Self; 20] = [
        Self::Clone,
        Self::Guard,
        Self::Network,
        Self::Users,
        Self::Loopback,
        Self::Layers,
        Self::Mounts,
        Self::Hidden,
        Self::Temporary,
        Self::Processes,
        Self::Proxy,
        Self::Fork,
        Self::Streams,
        Self::Terminal,
        Self::Directory,
        Self::Limits,
        Self::Capabilities,
        Self::Files,
        Self::Calls,
        Self::Exec,
    ];

    /// Its name in errors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Clone => "clone",
            Self::Guard => "the guard of the program",
            Self::Network => "the network of the session",
            Self::Users => "the user namespace",
            Self::Loopback => "the loopback network",
            Self::Layers => "the layers",
            Self::Mounts => "the mounts",
            Self::Hidden => "the hidden files",
            Self::Temporary => "the private /tmp",
            Self::Processes => "the limit of processes",
            Self::Proxy => "the proxy",
            Self::Fork => "fork",
            Self::Streams => "the standard streams",
            Self::Terminal => "the terminal",
            Self::Directory => "the folder to start in",
            Self::Limits => "the limits",
            Self::Capabilities => "the capabilities",
            Self::Files => "Landlock",
            Self::Calls => "seccomp",
            Self::Exec => "exec",
        }
    }
}

/// A step that failed, as it is reported to the host.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) step: Step,
    pub(super) error: io::Error,
}

impl Failed {
    pub(super) const SIZE: usize = 1 + size_of::<i32>();

    pub(super) fn from_bytes([step, error @ ..]: [u8; Self::SIZE]) -> Self {
        let step = Step::ALL.get(usize::from(step)).copied().unwrap_or(Step::Exec);
        Self { step, error: io::Error::from_raw_os_error(i32::from_ne_bytes(error)) }
    }

    pub(super) fn bytes(step: Step, error: i32) -> [u8; Self::SIZE] {
        let [a, b, c, d] = error.to_ne_bytes();
        [step as u8, a, b, c, d]
    }
}

/// The result of a step: the error number of the system.
pub(super) type Stepped = Result<(), i32>;

/// Turns the result of a system call into that of a step.
pub(super) fn check(result: c_long) -> Stepped {
    if result < 0 { Err(errno()) } else { Ok(()) }
}

pub(super) fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
