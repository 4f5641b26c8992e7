//! The host's own process.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Address space that a limited process may reserve besides the memory that it uses: the binary, and what allocators
/// reserve for each thread.
#[cfg(target_os = "linux")]
const RESERVED: u64 = 2 << 30;

/// The lowest priority, as the system's `nice` counts.
#[cfg(target_os = "linux")]
const LOWEST_PRIORITY: i32 = 19;

/// The priority of work in the background that somebody may come to wait for: on a busy machine the lowest one is next
/// to no processor at all.
#[cfg(target_os = "linux")]
const BACKGROUND_PRIORITY: i32 = 10;

/// Prepares the process of the host, before it starts a thread.
///
/// Its memory and its environment, which hold keys, are kept from the programs that it starts: they run as the same
/// user, who could read both in `/proc` otherwise. The signal for files over the system's size limit is ignored, so
/// that writing fails with an error instead of ending the process.
pub fn prepare_host() {
    #[cfg(target_os = "linux")]
    {
        // It fails only for an invalid argument.
        rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).ok();
    }
    // SAFETY: no handler is installed; the disposition of one signal is set before any thread is started.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Gives this thread the lowest priority, for good: for work that nobody waits for. Only Linux knows the priority of a
/// single thread; elsewhere nothing changes.
pub fn yield_to_other_threads() {
    // A priority can always be lowered; what the call returns is the new one.
    #[cfg(target_os = "linux")]
    rustix::process::nice(LOWEST_PRIORITY).ok();
}

/// Makes this process one of its own: not ended with the terminal or the group of processes that it was started in,
/// behind other processes in priority, and limited in its processor time. For work in the background, before a thread
/// is started.
///
/// # Errors
///
/// If the system denies it.
pub fn detach_own(time: Duration) -> io::Result<()> {
    rustix::process::setsid()?;
    #[cfg(target_os = "linux")]
    rustix::process::nice(BACKGROUND_PRIORITY)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Cpu, time.as_secs().max(1))
}

/// Limits the memory that this process may use and its processor time, for good: for one that does one piece of work
/// that can be too much. When the memory is used up, allocating fails, which ends the process; when the time is, a
/// signal ends it. It leaves no core behind. Only Linux limits the memory.
///
/// # Errors
///
/// If the system denies it.
pub fn limit_own(memory: u64, time: Duration) -> io::Result<()> {
    limit(Resource::Core, 0)?;
    // What is reserved and not used does not count for it.
    limit(Resource::Data, memory)?;
    #[cfg(target_os = "linux")]
    limit(Resource::As, memory.saturating_add(RESERVED))?;
    limit(Resource::Cpu, time.as_secs().max(1))
}

/// Sets a limit, which is at most the one that there is.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
    // A process that used up its processor time gets a signal a second before it is killed.
    let maximum = if resource == Resource::Cpu { most.saturating_add(1) } else { most };
    let maximum = getrlimit(resource).maximum.map_or(maximum, |known| known.min(maximum));
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(maximum) })?)
}
