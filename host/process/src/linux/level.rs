//! What this machine can do to confine a program, found out by doing it once.

use std::fs;
use std::io;
use std::sync::OnceLock;

use super::child::{self, Plan};
use super::group::Group;
use super::means::{Means, Namespaces, TRUNCATION, UNIX_SOCKETS};
use super::step::{Failed, Step};
use super::walls::{self, Walls};
use super::{filters, ruleset};
use crate::{Confinement, Missing, Wall};

/// What this machine can do to confine a program.
#[derive(Debug)]
pub struct Level {
    means: Means,
    /// Why there are no namespaces.
    failed: Option<Failed>,
    /// Why there are no layers, although there are namespaces.
    no_layers: Option<Failed>,
}

/// Returns what this machine can do. The first use tries it, which takes a few milliseconds.
pub fn level() -> &'static Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    LEVEL.get_or_init(|| {
        let wanted = match walls::is_admin() {
            Ok(true) => Namespaces::AsRoot,
            Ok(false) | Err(_) => Namespaces::OfUser,
        };
        let mut level = Level {
            means: Means {
                landlock: ruleset::version(),
                namespaces: wanted,
                seccomp: filters::available(),
                layers: true,
                pid_limit: has_pid_limit(),
                group: false,
            },
            failed: None,
            no_layers: None,
        };
        // By doing it: settings of the kernel, AppArmor and containers each deny in ways that no file tells reliably.
        while let Err(failed) = try_out(level.means) {
            // The walls stand without these.
            match failed.step {
                // What fails first is dropped, and the rest is tried again: losing layers must not cost the namespaces.
                Step::Layers if level.means.layers => {
                    level.means.layers = false;
                    level.no_layers = Some(failed);
                }
                Step::Processes if level.means.pid_limit => level.means.pid_limit = false,
                _ => return level.without(failed),
            }
        }
        if level.means.namespaces == Namespaces::AsRoot && !level.means.pid_limit {
            level.means.group = Group::new().is_ok();
        }
        level
    })
}

/// Whether a PID namespace has its own largest number of a process (Linux 6.14). Elsewhere the whole machine has one,
/// which must not be changed, and looks the same.
fn has_pid_limit() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    is_at_least(&release, (6, 14))
}

/// Whether this is the release of a kernel of that version or a later one.
fn is_at_least(release: &str, version: (u32, u32)) -> bool {
    let mut parts = release.split(|part: char| !part.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= version
}

/// Puts up all walls around a process that runs nothing.
fn try_out(means: Means) -> Result<(), Failed> {
    let nothing = Confinement::default();
    let walls = Walls::new(&nothing, means, None)
        .map_err(|error| Failed { step: Step::Files, error: io::Error::other(error) })?;
    let walls = if means.layers { walls.with_layer() } else { walls };
    child::end(Plan { image: None, walls: Some(&walls), door: None }.start()?);
    Ok(())
}

impl Level {
    /// Whether a program can get a network of its own, through which it reaches only some servers.
    pub fn has_networks(&self) -> bool {
        self.failed.is_none()
    }

    /// Whether what a program changes can be kept apart ([`Layer`](crate::Layer)).
    pub fn has_layers(&self) -> bool {
        self.means.layers
    }

    /// Returns why it cannot be, as a sentence without a full stop; `None` if it can.
    pub fn no_layers(&self) -> Option<String> {
        let why = |failed: &Failed| format!("no overlay file system ({}: {})", failed.step.name(), failed.error);
        match (&self.failed, &self.no_layers) {
            (Some(failed), _) => Some(no_namespaces(failed).0),
            (None, Some(failed)) => Some(why(failed)),
            (None, None) => None,
        }
    }

    /// Returns it without namespaces, and what needs them.
    fn without(mut self, failed: Failed) -> Self {
        self.means =
            Means { namespaces: Namespaces::None, layers: false, pid_limit: false, group: false, ..self.means };
        self.failed = Some(failed);
        self
    }

    /// Returns what the kernel offers.
    pub(super) fn means(&self) -> Means {
        self.means
    }

    /// Returns the level of this machine if it had no namespaces.
    #[cfg(test)]
    pub(super) fn without_namespaces(&self) -> Self {
        let error = io::Error::from_raw_os_error(libc::EPERM);
        Self { means: self.means, failed: None, no_layers: None }.without(Failed { step: Step::Clone, error })
    }

    /// Returns the level of this machine if it had no layers.
    #[cfg(test)]
    pub(super) fn without_layers(&self) -> Self {
        let error = io::Error::from_raw_os_error(libc::ENODEV);
        let no_layers = Some(Failed { step: Step::Layers, error });
        Self { means: Means { layers: false, ..self.means }, failed: None, no_layers }
    }

    /// Returns the level of this machine if a PID namespace had no limit of processes.
    #[cfg(test)]
    pub(super) fn without_pid_limit(&self) -> Self {
        let group = self.means.namespaces == Namespaces::AsRoot && Group::new().is_ok();
        Self { means: Means { pid_limit: false, group, ..self.means }, failed: None, no_layers: None }
    }

    /// Returns the level of this machine if it had neither namespaces nor Landlock.
    #[cfg(test)]
    pub(super) fn without_walls_for_files(&self) -> Self {
        let mut level = self.without_namespaces();
        level.means.landlock = 0;
        level
    }

    /// Whether no wall is missing: each of the others is a gap that a different wall covers.
    pub fn is_whole(&self) -> bool {
        self.missing().iter().all(|missing| missing.is_covered)
    }

    /// Returns the walls that are missing or have a gap.
    pub fn missing(&self) -> Vec<Missing> {
        let mut missing = Vec::new();
        if self.means.landlock == 0 {
            let (why, help) = no_landlock();
            missing.push(Missing { wall: Wall::Files, why, help: Some(help), is_covered: false });
        } else if self.means.landlock < TRUNCATION && !self.means.seccomp && self.failed.is_some() {
            let why =
                format!("Landlock here (version {}) cannot stop a program from emptying a file", self.means.landlock);
            missing.push(Missing { wall: Wall::Files, why, help: newer_kernel("6.2"), is_covered: false });
        }
        if let Some(failed) = &self.failed {
            let (why, help) = no_namespaces(failed);
            let files = format!(
                "{why}: a program can change modes and times of files elsewhere, and make nothing new at the top of a \
                 folder with protected files"
            );
            missing.push(Missing { wall: Wall::Mounts, why: files, help: help.clone(), is_covered: false });
            let network = format!("{why}: a program gets no sockets at all");
            missing.push(Missing {
                wall: Wall::Network,
                why: network,
                help: help.clone(),
                is_covered: self.means.seccomp,
            });
            let processes = format!("{why}: a program can see the processes of this user");
            let is_covered = self.means.landlock > 0;
            missing.push(Missing { wall: Wall::Processes, why: processes, help, is_covered });
        }
        if self.failed.is_none()
            && let Some(why) = self.no_layers()
        {
            let why = format!("{why}: a program can change no repository's `.git`");
            missing.push(Missing { wall: Wall::Mounts, why, help: newer_kernel("6.6"), is_covered: true });
        }
        if self.means.namespaces == Namespaces::AsRoot && !self.means.pid_limit && !self.means.group {
            let why = "the kernel does not limit the processes of a program that root starts".to_owned();
            missing.push(Missing { wall: Wall::Processes, why, help: newer_kernel("6.14"), is_covered: true });
        }
        if !self.means.seccomp {
            let why = "the kernel has no filters for system calls (CONFIG_SECCOMP_FILTER)".to_owned();
            missing.push(Missing { wall: Wall::Calls, why, help: None, is_covered: false });
        } else if self.means.landlock < UNIX_SOCKETS {
            let version = self.means.landlock;
            let why = format!("Landlock here (version {version}) cannot limit Unix sockets: a program gets none");
            missing.push(Missing { wall: Wall::Calls, why, help: newer_kernel("7.1"), is_covered: true });
        }
        missing
    }
}

fn newer_kernel(version: &str) -> Option<String> {
    Some(format!("use Linux {version} or newer"))
}

fn no_landlock() -> (String, String) {
    let why = "the kernel does not confine files (Landlock)".to_owned();
    (why, "use Linux 5.13 or newer with `landlock` in the kernel's list `lsm=`".to_owned())
}

/// Explains why there are no namespaces, and what to do about it.
fn no_namespaces(failed: &Failed) -> (String, Option<String>) {
    let setting = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
    let why = format!("no namespaces ({}: {})", failed.step.name(), failed.error);
    if setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
        let help = "docs/confinement.md has a rule of AppArmor that allows them to `host`; `sudo sysctl \
                    kernel.apparmor_restrict_unprivileged_userns=0` allows them to all programs";
        return (format!("{why}, restricted by AppArmor"), Some(help.to_owned()));
    }
    if setting("/proc/sys/kernel/unprivileged_userns_clone") == "0" {
        let help = "`sudo sysctl kernel.unprivileged_userns_clone=1`";
        return (format!("{why}, switched off by the system"), Some(help.to_owned()));
    }
    if setting("/proc/sys/user/max_user_namespaces") == "0" {
        let help = "`sudo sysctl user.max_user_namespaces=15000`";
        return (format!("{why}, switched off by the system"), Some(help.to_owned()));
    }
    let container = ["/.dockerenv", "/run/.containerenv"].iter().any(|path| fs::exists(path).unwrap_or(false));
    if container {
        let help = "start the container with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, \
                    or let the container be the confinement";
        return (format!("{why}, denied by the container"), Some(help.to_owned()));
    }
    let known = matches!(failed.step, Step::Users | Step::Mounts | Step::Loopback | Step::Guard);
    (why, known.then(|| "see whether `unshare -Urnpf --mount-proc true` works, and what denies it".to_owned()))
}
