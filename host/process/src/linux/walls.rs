//! The walls of one program, prepared by the host and put up between clone and exec.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use super::carve::without_links;
use super::filters::{self, Filter, Gaps};
use super::group::Group;
use super::join::Joins;
use super::layers::{self, Held};
use super::masks;
use super::means::{Means, Namespaces, TRUNCATION, UNIX_SOCKETS};
use super::mounts::Mounts;
use super::own::Own;
use super::ruleset::{self, Allowed, Rules};
use super::step::{Step, Stepped, check};
use crate::{Confinement, StartError};

/// The walls of one program.
pub(super) struct Walls {
    /// The flags of `clone` for its namespaces.
    pub(super) namespaces: u32,
    /// The lines of `uid_map` and `gid_map`; `None` without a user namespace.
    users: Option<(String, String)>,
    /// The network that it joins; `None` if it has one of its own.
    joins: Option<Joins>,
    mounts: Option<Mounts>,
    ruleset: Option<OwnedFd>,
    /// What the ruleset was made of.
    rules: Option<Rules>,
    version: i32,
    filter: Filter,
    /// Whether the number of processes is limited for the PID namespace.
    limits_pids: bool,
    /// What limits it otherwise.
    group: Option<Group>,
    /// Whether it is only tried out if there can be layers.
    tries_layers: bool,
}

/// The capabilities of a program that root starts: those over files and processes that root owns or could own. All
/// others, and all of those in a user namespace, are given up. Without that to keep set-user-ID bits, a file loses them
/// when it is written.
const KEPT: u64 = 1 << 0 /* chown */
    | 1 << 1 /* dac_override */
    | 1 << 3 /* fowner */
    | 1 << 5 /* kill */
    | 1 << 6 /* setgid */
    | 1 << 7 /* setuid */;

/// The most processes and threads of a program, where they are counted apart: in a user namespace, and for root in a
/// PID namespace with a limit of its own, or in a control group. Ends a fork bomb.
pub(super) const MAX_PROCESSES: u64 = 4_096;

impl Walls {
    /// Prepares them. `terminal` is where the program's own terminal is.
    pub(super) fn new(confinement: &Confinement, means: Means, terminal: Option<&Path>) -> Result<Self, StartError> {
        // All of one clone: a namespace that is entered later leaves a moment in which the program is outside of it.
        let flags = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::CLONE_NEWIPC;
        let (namespaces, users) = match means.namespaces {
            Namespaces::None => (0, None),
            Namespaces::AsRoot => (flags, None),
            Namespaces::OfUser => (flags | libc::CLONE_NEWUSER, Some(maps())),
        };
        let hidden = masks::real(&confinement.hidden);
        // Without mounts and without Landlock nothing can hide a file: better no program than one that reads it.
        if let Some(path) = hidden.first().filter(|_| namespaces == 0 && means.landlock == 0) {
            return Err(StartError::NotHidden { path: path.clone() });
        }
        // A mount protects what a link leads to, and the link itself could be replaced.
        let confinement = &Confinement { hidden, ..without_links(confinement) };
        let mounts = (namespaces != 0).then(|| Mounts::new(confinement)).transpose()?;
        let failed = |step| move |source| StartError::System { step, source };
        let version = means.landlock;
        // Besides the mounts: a gap in one wall is then no hole.
        let rules = (version != 0).then(|| Rules::new(confinement, mounts.is_some(), terminal));
        let ruleset = rules.as_ref().and_then(|rules| rules.ruleset().transpose());
        let ruleset = ruleset.transpose().map_err(failed("Landlock"))?;
        let gaps = Gaps {
            network: namespaces == 0,
            sockets: version < UNIX_SOCKETS,
            truncation: version < TRUNCATION && namespaces == 0,
        };
        let filter = means.seccomp.then(|| filters::filter(gaps)).flatten();
        // A user namespace counts processes apart.
        let limits_pids = means.pid_limit && means.namespaces == Namespaces::AsRoot;
        // Root's processes are not counted by `RLIMIT_NPROC`, so a control group limits them where the namespace
        // cannot.
        let needs_group = means.group && !limits_pids && means.namespaces == Namespaces::AsRoot;
        let group = needs_group.then(Group::new).transpose().map_err(failed(Step::Processes.name()))?;
        let namespaces = namespaces.unsigned_abs();
        Ok(Self {
            namespaces,
            users,
            mounts,
            ruleset,
            rules,
            version,
            filter,
            limits_pids,
            group,
            joins: None,
            tries_layers: false,
        })
    }

    /// Returns these walls around a program that joins a network instead of having one of its own.
    pub(super) fn joining(self, joins: Joins) -> Self {
        let namespaces = self.namespaces & !libc::CLONE_NEWNET.unsigned_abs();
        Self { namespaces, joins: Some(joins), ..self }
    }

    /// Whether there is a user namespace.
    pub(super) fn has_users(&self) -> bool {
        self.users.is_some()
    }

    /// Returns what is joined before the guard is cloned: the user namespace of the network.
    pub(super) fn joins_users(&self) -> Option<(Joins, c_int)> {
        self.joins.and_then(|joins| Some((joins, joins.users?)))
    }

    /// Returns the descriptors with which they are put up.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = c_int> {
        let joins = self.joins.into_iter().flat_map(|joins| [Some(joins.network), joins.users]).flatten();
        self.ruleset.iter().map(AsRawFd::as_raw_fd).chain(joins)
    }

    /// Returns them with a layer, which shows nothing of the machine's.
    pub(super) fn with_layer(self) -> Self {
        Self { tries_layers: true, ..self }
    }

    /// Whether `/tmp` is the folder for temporary files.
    pub(super) fn own_tmp(&self) -> bool {
        self.mounts.as_ref().is_some_and(Mounts::own_tmp)
    }

    /// Returns what keeps the folders of the layers for this program.
    pub(super) fn take_held(&mut self) -> Held {
        self.mounts.as_mut().map(|mounts| mounts.layers.take_held()).unwrap_or_default()
    }

    /// Returns what its ruleset was made of.
    pub(super) fn take_rules(&mut self) -> Option<Rules> {
        self.rules.take()
    }

    /// Returns the group that its processes are in, which is to be kept until they have ended.
    pub(super) fn take_group(&mut self) -> Option<Group> {
        self.group.take()
    }

    /// The steps of the guard: what it shares with the program. Runs between clone and exec.
    pub(super) fn surround(&self) -> Result<(), (Step, i32)> {
        if let Some((users, groups)) = &self.users {
            map(users, groups).map_err(|error| (Step::Users, error))?;
        }
        match self.joins {
            // With a user namespace it was joined before.
            Some(Joins { users: Some(_), .. }) => {}
            Some(joins) => joins.network().map_err(|error| (Step::Network, error))?,
            None if self.namespaces != 0 => loopback().map_err(|error| (Step::Loopback, error))?,
            None => {}
        }
        // Before all is read-only, groups too.
        if let Some(group) = &self.group {
            write(&group.members, b"0").map_err(|error| (Step::Processes, error))?;
        }
        let Some(mounts) = &self.mounts else { return Ok(()) };
        mounts.make()?;
        if self.tries_layers {
            layers::try_out().map_err(|error| (Step::Layers, error))?;
        }
        let own = || {
            for own in Own::ALL {
                // The machine's `/proc` would show all processes, and its shared memory and terminals would be a way to
                // them.
                match own.mount() {
                    // A machine without the folder has no such file system to hide.
                    Err(libc::ENOENT) => continue,
                    mounted => mounted?,
                }
                if let Some(ruleset) = &self.ruleset {
                    let allowed = if matches!(own, Own::Processes) { Allowed::Reading } else { Allowed::Everything };
                    ruleset::allow(ruleset, own.folder(), allowed, self.version)?;
                }
            }
            let Some(ruleset) = &self.ruleset else { return Ok(()) };
            // What lies over a folder is not the folder that a rule was made for.
            mounts
                .layers
                .places()
                .try_for_each(|place| ruleset::allow(ruleset, place, Allowed::Everything, self.version))
        };
        own().map_err(|error| (Step::Mounts, error))?;
        // Through the new `/proc`, since the machine's is read-only by now.
        if self.limits_pids {
            limit_pids().map_err(|error| (Step::Processes, error))?;
        }
        Ok(())
    }

    /// The steps of the program. Runs between clone and exec.
    pub(super) fn confine(&self) -> Result<(), (Step, i32)> {
        // A core file of a crash would have the program's memory, wherever the machine is set to write such files.
        limit(libc::RLIMIT_CORE, 0).map_err(|error| (Step::Limits, error))?;
        // The limit counts the processes of a user in this user namespace; without one it would count the user's own as
        // well.
        if self.users.is_some() {
            limit(libc::RLIMIT_NPROC, MAX_PROCESSES).map_err(|error| (Step::Limits, error))?;
        }
        let kept = if self.users.is_some() { 0 } else { KEPT };
        // Before `no_new_privs` and the filter: dropping capabilities needs capabilities and calls.
        keep(kept).map_err(|error| (Step::Capabilities, error))?;
        // SAFETY: a system call without pointers.
        check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())
            .map_err(|error| (Step::Capabilities, error))?;
        if let Some(ruleset) = &self.ruleset {
            // After the ruleset was complete: from here on it can only become narrower.
            ruleset::restrict(ruleset).map_err(|error| (Step::Files, error))?;
        }
        if let Some(filter) = &self.filter {
            // Last, so that the steps above have every call.
            filters::install(filter).map_err(|error| (Step::Calls, error))?;
        }
        Ok(())
    }
}

/// Limits the processes and threads of this PID namespace, which also bounds their numbers. Runs between clone and
/// exec.
fn limit_pids() -> Stepped {
    let mut denied = libc::EINVAL;
    // A machine with very many processors takes no number as low as the first.
    for most in MAX_PIDS {
        match write(c"/proc/sys/kernel/pid_max", most) {
            Err(libc::EINVAL) => {}
            Err(error) => {
                denied = error;
                break;
            }
            Ok(()) => return Ok(()),
        }
    }
    Err(denied)
}

/// The numbers for [`limit_pids`]: [`MAX_PROCESSES`], and what a kernel for more processors takes.
const MAX_PIDS: [&[u8]; 3] = [b"4096", b"16384", b"65536"];

/// Returns the maps by which a user namespace has this user and this group under their own numbers, and no others.
fn maps() -> (String, String) {
    let line = |id: u32| format!("{id} {id} 1");
    (line(rustix::process::geteuid().as_raw()), line(rustix::process::getegid().as_raw()))
}

fn map(users: &str, groups: &str) -> Stepped {
    // A process that others of the same user may not look into cannot write its own maps.
    dumpable(true)?;
    let written = write(c"/proc/self/setgroups", b"deny")
        .and_then(|()| write(c"/proc/self/uid_map", users.as_bytes()))
        .and_then(|()| write(c"/proc/self/gid_map", groups.as_bytes()));
    dumpable(false)?;
    written
}

fn dumpable(yes: bool) -> Stepped {
    // SAFETY: a system call without pointers.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, c_int::from(yes), 0, 0, 0) }.into())
}

fn write(path: &std::ffi::CStr, text: &[u8]) -> Stepped {
    // SAFETY: the path ends with NUL, the buffer is as long as said, and the descriptor is closed here.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(file.into())?;
        let written = check(libc::write(file, text.as_ptr().cast(), text.len()).try_into().unwrap_or(-1));
        libc::close(file);
        written
    }
}

/// Starts the loopback device of a new network: programs test their servers on it.
fn loopback() -> Stepped {
    // SAFETY: the request is zeroed, named, and the kernel's; the descriptor is closed here.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        check(socket.into())?;
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = libc::c_char::from_ne_bytes([*from]);
        }
        request.ifr_ifru.ifru_flags = i16::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
        // The type of the number is another with each C library.
        let started = check(libc::ioctl(socket, libc::SIOCSIFFLAGS as libc::Ioctl, &raw const request).into());
        libc::close(socket);
        started
    }
}

fn limit(resource: Resource, most: u64) -> Stepped {
    // SAFETY: the structure lives as long as the calls.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        check(libc::getrlimit(resource, &raw mut limit).into())?;
        limit.rlim_cur = limit.rlim_cur.min(most);
        limit.rlim_max = limit.rlim_max.min(most);
        check(libc::setrlimit(resource, &raw const limit).into())
    }
}

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = c_int;

/// What `capget` and `capset` take, as the kernel defines it: the version, and two halves of three sets.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: c_int,
}

/// One half of the sets.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CapabilityHalf {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

const CAPABILITY_VERSION_3: u32 = 0x2008_0522;
const LAST_CAPABILITY: u32 = 63;

/// Gives up all capabilities of this process but these, now and with each exec.
fn keep(kept: u64) -> Stepped {
    // SAFETY: the structures are the kernel's, and live as long as the calls.
    unsafe {
        for capability in 0..=LAST_CAPABILITY {
            if kept & (1 << capability) == 0 {
                match check(libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0).into()) {
                    Ok(()) => {}
                    // The kernel has none from this number on, or the process may give up none.
                    Err(libc::EINVAL | libc::EPERM) => break,
                    failed => return failed,
                }
            }
        }
        // A kernel before 4.3 has no such set.
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        let header = CapabilityHeader { version: CAPABILITY_VERSION_3, pid: 0 };
        let mut halves = [CapabilityHalf::default(); 2];
        check(libc::syscall(libc::SYS_capget, &raw const header, halves.as_mut_ptr()))?;
        // All three sets: what stays inheritable could come back with an exec.
        let [low, high] = &mut halves;
        for (half, kept) in [(low, kept), (high, kept >> 32)] {
            let permitted = half.permitted & (kept & u64::from(u32::MAX)) as u32;
            *half = CapabilityHalf { effective: permitted, permitted, inheritable: 0 };
        }
        check(libc::syscall(libc::SYS_capset, &raw const header, halves.as_ptr()))
    }
}

/// Whether this process may make namespaces and mounts without a user namespace: `CAP_SYS_ADMIN`, as root has it
/// outside of containers.
pub(super) fn is_admin() -> io::Result<bool> {
    const SYS_ADMIN: u32 = 21;
    let status = io::read_to_string(File::open(Path::new("/proc/self/status"))?)?;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    Ok(effective & (1 << SYS_ADMIN) != 0)
}
