//! The wall around the kernel: system calls that a program does not need, and that lead out of the other walls.
//!
//! A list of what is denied, which is what containers' runtimes do as well: a list of what is allowed breaks programs
//! with each new kernel and library. What it must hold is small, since files, network, processes and capabilities have
//! walls of their own.

mod tree;

use std::collections::BTreeMap;
use std::ffi::c_long;
use std::sync::{Arc, Mutex, PoisonError};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

use self::tree::Part;
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

/// Requests of `ioctl` that type into a terminal, and one that gives it another line discipline: old parts of the
/// kernel, loaded when they are asked for, that no program on a terminal needs.
const TYPING: [u64; 3] = [0x5412, 0x541C, 0x5423];

/// An argument of a system call by its number, and what it is held against.
type Condition = (u8, SeccompCmpOp, u64);

/// What happens to a call: an error for the program, by its number.
type Errno = u32;

/// The filter of a program, which shares its instructions with those of others; `None` on a processor that it is not
/// written for.
pub(super) type Filter = Option<Arc<BpfProgram>>;

/// Returns the filter. It is built once for the same gaps, which are those of the machine.
pub(super) fn filter(gaps: Gaps) -> Filter {
    static BUILT: Mutex<Vec<(Gaps, Filter)>> = Mutex::new(Vec::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = built.iter().find(|(known, _)| *known == gaps) {
        return known.clone();
    }
    let filter = build(gaps).map(Arc::new);
    built.push((gaps, filter.clone()));
    filter
}

/// The most calls that one part of a filter knows: fewer make the tree deeper, more are looked through one by one.
const PART: usize = 4;

/// Builds one program of all that is denied. When it is installed, the kernel tries it with the number of each call
/// that there is, and later with calls of those numbers: a list of all of them took a quarter of a millisecond at each
/// start. So a tree over the numbers leads to parts that know a few calls each.
fn build(gaps: Gaps) -> Option<BpfProgram> {
    // The filter kills calls of another architecture by the first instructions of each part: their numbers mean other
    // calls.
    let arch = std::env::consts::ARCH.try_into().ok()?;
    let rules: Vec<_> = rules(gaps)?.into_iter().collect();
    let mut parts = Vec::new();
    // A part has one error.
    for same in rules.chunk_by(|(_, (one, _)), (_, (other, _))| one == other) {
        for part in same.chunks(PART) {
            let [(first, (errno, _)), ..] = part else { continue };
            let denied = part.iter().map(|(call, (_, rules))| (*call, rules.clone())).collect();
            let (usual, action) = (SeccompAction::Allow, SeccompAction::Errno(*errno));
            let program = SeccompFilter::new(denied, usual, action, arch).ok()?.try_into().ok()?;
            parts.push(Part { first: u32::try_from(*first).ok()?, program });
        }
    }
    if cfg!(target_arch = "x86_64") {
        // The second set of numbers for the same calls (x32), which the other parts do not know: as a kernel without it
        // answers, so that programs which try it fall back.
        let (denied, never) = (SeccompAction::Errno(libc::ENOSYS.unsigned_abs()), SeccompAction::Allow);
        let program = SeccompFilter::new(BTreeMap::new(), denied, never, arch).ok()?.try_into().ok()?;
        parts.push(Part { first: X32, program });
    }
    tree::joined(&parts)
}

/// The first number of x32.
const X32: u32 = 0x4000_0000;

/// Returns what is denied with which error, by the numbers of the calls.
fn rules(gaps: Gaps) -> Option<BTreeMap<c_long, (Errno, Vec<SeccompRule>)>> {
    let mut rules: BTreeMap<c_long, (Errno, Vec<SeccompRule>)> = BTreeMap::new();
    for (denied, errno) in [(denied(gaps), libc::EPERM), (unseen(), libc::ENOSYS)] {
        let errno = errno.unsigned_abs();
        // What is always denied is added last, and replaces conditions for the same call.
        let (always, sometimes): (Vec<_>, Vec<_>) =
            denied.into_iter().partition(|(_, conditions)| conditions.is_empty());
        for (call, conditions) in sometimes {
            let conditions = conditions
                .into_iter()
                // The kernel looks at the lower half of these arguments; with the whole, set upper bits would pass the
                // filter.
                .map(|(argument, op, value)| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value).ok());
            let rule = SeccompRule::new(conditions.collect::<Option<_>>()?).ok()?;
            rules.entry(call).or_insert((errno, Vec::new())).1.push(rule);
        }
        // No rules at all match every use of a call.
        rules.extend(always.into_iter().map(|(call, _)| (call, (errno, Vec::new()))));
    }
    Some(rules)
}

fn denied(gaps: Gaps) -> Vec<(c_long, Vec<Condition>)> {
    let mut denied: Vec<(c_long, Vec<Condition>)> = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    let number = |constant: i32| u64::from(constant.unsigned_abs());
    let has = |flags: u64| SeccompCmpOp::MaskedEq(flags);
    // A new user namespace gives all capabilities in it, and with them mounts and a network without these walls.
    denied.extend(NAMESPACES.iter().map(|flag| (libc::SYS_clone, vec![(0, has(number(*flag)), number(*flag))])));
    // These put characters into a terminal's input, which whoever reads there next would take for the user's.
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

#[cfg(test)]
mod tests;
