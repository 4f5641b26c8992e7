//! The wall around the kernel: system calls that a program does not need, and that lead out of the other walls.
//!
//! A list of what is denied, which is what containers' runtimes do as well: a list of what is allowed breaks programs
//! with each new kernel and library. What it must hold is small, since files, network, processes and capabilities have
//! walls of their own.

use std::collections::BTreeMap;
use std::ffi::c_long;
use std::sync::{Arc, Mutex, PoisonError};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

use super::step::{Stepped, check};

/// What the other walls leave to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gaps {
    /// The program has no network of its own: it gets no socket.
    pub(super) network: bool,
    /// Landlock does not know about sockets at a path (before version 9): there are none.
    pub(super) sockets: bool,
    /// Neither Landlock (before version 3) nor mounts keep files from being truncated.
    pub(super) truncation: bool,
}

/// System calls that are denied whatever their arguments.
const DENIED: &[c_long] = &[
    // Other processes, and what they hold.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Large parts of the kernel, with a history of defects, that no build or test needs. The rings make system calls
    // that filters do not see.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The tree of files, and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    // A file by its number instead of its path.
    libc::SYS_open_by_handle_at,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// The flags of `clone` that make namespaces.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Requests of `ioctl` that type into a terminal.
const TYPING: [u64; 2] = [0x5412, 0x541C];

/// An argument of a system call by its number, and what it is held against.
type Condition = (u8, SeccompCmpOp, u64);

/// The filters of a program, which share their instructions with those of others.
pub(super) type Filters = Arc<[BpfProgram]>;

/// Returns the filters; none on a processor that they are not written for. They are built once for the same gaps, which
/// are those of the machine.
pub(super) fn filters(gaps: Gaps) -> Filters {
    static BUILT: Mutex<Vec<(Gaps, Filters)>> = Mutex::new(Vec::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = built.iter().find(|(known, _)| *known == gaps) {
        return Arc::clone(known);
    }
    let filters: Filters = build(gaps).into();
    built.push((gaps, Arc::clone(&filters)));
    filters
}

fn build(gaps: Gaps) -> Vec<BpfProgram> {
    let filters = [filter(denied(gaps), libc::EPERM), filter(unseen(), libc::ENOSYS)];
    let Some(mut filters) = filters.into_iter().collect::<Option<Vec<_>>>() else { return Vec::new() };
    if cfg!(target_arch = "x86_64") {
        filters.push(other_numbers());
    }
    filters
}

/// Builds a filter with this error for calls that meet all conditions of one of their entries.
fn filter(denied: Vec<(c_long, Vec<Condition>)>, errno: i32) -> Option<BpfProgram> {
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> = BTreeMap::new();
    // What is always denied is added last, and replaces conditions for the same call.
    let (always, sometimes): (Vec<_>, Vec<_>) = denied.into_iter().partition(|(_, conditions)| conditions.is_empty());
    for (call, conditions) in sometimes {
        let conditions = conditions
            .into_iter()
            // The kernel looks at the lower half of these arguments; with the whole, set upper bits would pass the
            // filter.
            .map(|(argument, op, value)| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value).ok());
        rules.entry(call).or_default().push(SeccompRule::new(conditions.collect::<Option<_>>()?).ok()?);
    }
    // No rules at all match every use of a call.
    rules.extend(always.into_iter().map(|(call, _)| (call, Vec::new())));
    let errno = SeccompAction::Errno(errno.unsigned_abs());
    // The filter kills calls of another architecture by its first instruction: their numbers mean other calls.
    let arch = std::env::consts::ARCH.try_into().ok()?;
    SeccompFilter::new(rules, SeccompAction::Allow, errno, arch).ok()?.try_into().ok()
}

fn denied(gaps: Gaps) -> Vec<(c_long, Vec<Condition>)> {
    let mut denied: Vec<(c_long, Vec<Condition>)> = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    let number = |constant: i32| u64::from(constant.unsigned_abs());
    let has = |flags: u64| SeccompCmpOp::MaskedEq(flags);
    // A new user namespace gives all capabilities in it, and with them mounts and a network without these walls.
    denied.extend(NAMESPACES.iter().map(|flag| (libc::SYS_clone, vec![(0, has(number(*flag)), number(*flag))])));
    // These put characters into a terminal's input, which the user's shell would read after the call.
    denied.extend(TYPING.iter().map(|request| (libc::SYS_ioctl, vec![(1, SeccompCmpOp::Eq, *request)])));

    let internet = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let families = internet.into_iter().filter(|_| !gaps.network).chain((!gaps.sockets).then_some(libc::AF_UNIX));
    denied.push((libc::SYS_socket, families.map(|family| (0, SeccompCmpOp::Ne, number(family))).collect()));
    // Routes are what a library asks for to find its addresses; the other protocols configure the machine.
    let netlink = (0, SeccompCmpOp::Eq, number(libc::AF_NETLINK));
    denied.push((libc::SYS_socket, vec![netlink, (2, SeccompCmpOp::Ne, number(libc::NETLINK_ROUTE))]));
    // Landlock cannot limit Unix sockets before its version 9, and a path leads to the Docker daemon or an agent for
    // keys.
    if gaps.sockets {
        // One end of a pair of datagram sockets can send to any path.
        denied.push((libc::SYS_socketpair, vec![(1, has(0xf), number(libc::SOCK_DGRAM))]));
    }
    if gaps.truncation {
        let truncates = number(libc::O_TRUNC);
        // Landlock asks for the right to write only where a file is opened for writing.
        let reads_only = || has(truncates | number(libc::O_ACCMODE));
        denied.push((libc::SYS_truncate, Vec::new()));
        denied.push((libc::SYS_openat, vec![(2, reads_only(), truncates)]));
        #[cfg(target_arch = "x86_64")]
        denied.push((libc::SYS_open, vec![(1, reads_only(), truncates)]));
    }
    denied.extend(setting_ids());
    denied
}

/// The bits of a mode by which a program gets the rights of its file's owner or group: one that a confined program
/// leaves behind would give another user those of this one.
const SET_ID: [u64; 2] = [libc::S_ISUID as u64, libc::S_ISGID as u64];

/// The call that sets a mode with flags (Linux 6.6), whose number is the same on all processors.
const FCHMODAT2: c_long = 452;

/// The calls that give a file such a bit. A folder inherits the group's from the one that it is made in, which the
/// kernel does by itself, and which stays; giving it to a folder looks the same here as giving it to a file, and is
/// denied.
fn setting_ids() -> Vec<(c_long, Vec<Condition>)> {
    let mut denied = Vec::new();
    let number = |constant: i32| u64::from(constant.unsigned_abs());
    let has = |argument: u8, bits: u64| (argument, SeccompCmpOp::MaskedEq(bits), bits);
    // Without this bit of `O_TMPFILE`, which has others as well, and `O_CREAT` the mode is not looked at, and can be
    // anything.
    let makes = [number(libc::O_CREAT), number(libc::O_TMPFILE & !libc::O_DIRECTORY)];
    // One entry for each bit: conditions of an entry must all be met, and either bit alone is what matters.
    for bit in SET_ID {
        // The number of the argument that is the mode.
        let mut modes = vec![(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2), (libc::SYS_mknodat, 2)];
        #[cfg(target_arch = "x86_64")]
        modes.extend([(libc::SYS_chmod, 1), (libc::SYS_creat, 1), (libc::SYS_mknod, 1)]);
        denied.extend(modes.into_iter().map(|(call, mode)| (call, vec![has(mode, bit)])));
        for flag in makes {
            // `openat2` is not here: its mode is behind a pointer, which a filter cannot read, so it is denied as
            // unknown.
            denied.push((libc::SYS_openat, vec![has(2, flag), has(3, bit)]));
            #[cfg(target_arch = "x86_64")]
            denied.push((libc::SYS_open, vec![has(1, flag), has(2, bit)]));
        }
    }
    denied
}

/// Calls whose arguments a filter cannot see. A library that gets `ENOSYS` uses the older call instead.
fn unseen() -> Vec<(c_long, Vec<Condition>)> {
    [libc::SYS_clone3, libc::SYS_openat2].map(|call| (call, Vec::new())).to_vec()
}

/// Denies the second set of numbers that x86-64 has for the same calls (x32), which the other filters do not know.
fn other_numbers() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32: u32 = 0x4000_0000;
    const ERRNO: u32 = 0x0005_0000;
    const ALLOW: u32 = 0x7fff_0000;
    // Written by hand: the crate that builds the other filters has no condition on the number of a call.
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        instruction(LOAD_NUMBER, 0, 0, 0),
        instruction(JUMP_IF_AT_LEAST, 0, 1, X32),
        // As a kernel without x32 answers, so that programs which try it fall back.
        instruction(RETURN, 0, 0, ERRNO | libc::ENOSYS.unsigned_abs()),
        instruction(RETURN, 0, 0, ALLOW),
    ]
}

/// Installs a filter for good. Runs between clone and exec.
pub(super) fn install(filter: &BpfProgram) -> Stepped {
    /// What the kernel takes: the number of instructions and where they are.
    #[repr(C)]
    struct Program {
        length: u16,
        instructions: *const sock_filter,
    }
    let Ok(length) = u16::try_from(filter.len()) else { return Err(libc::EINVAL) };
    let program = Program { length, instructions: filter.as_ptr() };
    // SAFETY: the structure is the kernel's, and the instructions live as long as this call.
    check(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) })
}

/// Whether the kernel has such filters.
pub(super) fn available() -> bool {
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the pointer leads to an action, as the call requires.
    unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}
