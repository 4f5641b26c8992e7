//! The wall around files: Landlock.
//!
//! A ruleset allows and cannot except: what lies in a writable folder and stays unchanged is a read-only mount where
//! there are mounts, and is left out here where there are none; so is what is hidden. Each version of Landlock handles
//! more; what a kernel does not handle, its [`Level`](super::Level) says.

mod ahead;

use std::ffi::{CStr, c_int};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{ABI, Access, AccessFs, BitFlags};

use self::ahead::{ABI, Rule};
use super::beneath::is_within;
use super::carve::carve;
use super::step::{Stepped, check};
use crate::Confinement;

/// Devices that any program may use: they hold nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx"];

/// The rights of a file beneath a readable path.
fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(ABI)
}

/// The rights of a file beneath a writable path: all but those to make devices, which a mount may let through.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(ABI) & !(AccessFs::MakeBlock | AccessFs::MakeChar)
}

/// The rules of a program.
#[derive(Debug)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    /// Whether the next program is likely to have the same: without mounts they follow what lies in each folder.
    is_lasting: bool,
}

impl Rules {
    /// Those of a confinement. `mounts` says whether mounts protect what stays unchanged, `terminal` where the
    /// program's own terminal is.
    pub(super) fn new(confinement: &Confinement, mounts: bool, terminal: Option<&Path>) -> Self {
        let writable = || confinement.writable.iter().chain(&confinement.temporary);
        let readable = || confinement.readable.iter().chain(writable());
        let rule = |path: &Path, allowed| Rule { path: path.to_owned(), allowed };
        let mut rules: Vec<Rule> = Vec::new();
        // Where mounts protect, a rule for the whole root lets new files be made at its top, as git needs it.
        if mounts {
            rules.extend(readable().map(|path| rule(path, reading())));
            rules.extend(writable().map(|path| rule(path, writing())));
        } else {
            let all = |paths: &mut dyn Iterator<Item = &PathBuf>| paths.cloned().collect::<Vec<_>>();
            let read = carve(&all(&mut readable()), &confinement.hidden);
            let closed = [&confinement.protected[..], &confinement.hidden].concat();
            // A folder around a hidden file can be listed; around a hidden folder, that would list this one as well.
            let is_hidden_in =
                |folder: &PathBuf| confinement.hidden.iter().any(|hidden| hidden.is_dir() && is_within(hidden, folder));
            let listed = read.around.iter().filter(|folder| !is_hidden_in(folder));
            rules.extend(read.whole.iter().map(|path| rule(path, reading())));
            rules.extend(listed.map(|path| rule(path, AccessFs::ReadDir.into())));
            rules.extend(carve(&all(&mut writable()), &closed).whole.iter().map(|path| rule(path, writing())));
        }
        let devices = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        rules.extend(DEVICES.iter().map(|path| rule(Path::new(path), devices)));
        // Under both of its names: `/dev/tty`, and what `/dev/stdin` leads to. The rule is for the file behind the
        // name, and no other terminal has that.
        let own = terminal.into_iter().flat_map(|path| [path, Path::new("/dev/tty")]);
        rules.extend(own.map(|path| rule(path, devices)));
        Self { rules, is_lasting: mounts && terminal.is_none() }
    }

    /// Returns the ruleset of a program; `None` if the kernel has none.
    pub(super) fn ruleset(&self) -> io::Result<Option<OwnedFd>> {
        ahead::ruleset(&self.rules)
    }

    /// Makes that of a later program with the same rules, beside what this thread does.
    pub(super) fn make_ahead(self) {
        if self.is_lasting {
            ahead::make_ahead(self.rules);
        }
    }
}

/// Returns the version of the kernel's Landlock; 0 if it has none.
pub(super) fn version() -> i32 {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the system call takes no attributes and creates nothing.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// The attributes of a rule for a path, as the kernel defines them.
#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: c_int,
}

/// The rights that [`allow`] gives.
#[derive(Clone, Copy)]
pub(super) enum Allowed {
    /// Reading: of `/proc`.
    Reading,
    /// Everything but devices: of a file system that belongs to the program alone, and of a layer.
    Everything,
}

/// Allows the use of a folder that did not exist when the ruleset was created. Runs between clone and exec.
pub(super) fn allow(ruleset: &OwnedFd, folder: &CStr, allowed: Allowed, version: i32) -> Stepped {
    const RULE_PATH_BENEATH: c_int = 1;
    let newest = match version {
        1 => ABI::V1,
        2 => ABI::V2,
        3 | 4 => ABI::V3,
        // Versions 4 and 6 to 8 add rights over networks, signals and the log, and none over files.
        5..=8 => ABI::V5,
        _ => ABI::V9,
    };
    let allowed = match allowed {
        Allowed::Reading => AccessFs::from_read(newest).bits(),
        Allowed::Everything => (AccessFs::from_all(newest) & !(AccessFs::MakeBlock | AccessFs::MakeChar)).bits(),
    };
    // SAFETY: the path ends with NUL, the structure is the kernel's, and the descriptor is closed here.
    unsafe {
        // Opened in here: what the host sees at this path lies beneath this mount.
        let parent = libc::open(folder.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        check(parent.into())?;
        let rule = PathBeneath { allowed, parent };
        let added =
            libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), RULE_PATH_BENEATH, &raw const rule, 0);
        let result = check(added);
        libc::close(parent);
        result
    }
}

/// Confines this process for good. Runs between clone and exec.
pub(super) fn restrict(ruleset: &OwnedFd) -> Stepped {
    // SAFETY: a system call without pointers.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })
}
