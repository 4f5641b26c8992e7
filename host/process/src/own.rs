//! The host's own process.

/// Prepares the process of the host, before it starts a thread.
///
/// Its memory and its environment, which hold keys, are kept from the programs that it starts: they run as the same user,
/// who could read both in `/proc` otherwise. The signal for files over the system's size limit is ignored, so that writing
/// fails with an error instead of ending the process.
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
