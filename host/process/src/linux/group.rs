//! A limit for the processes of a program that root starts, where PID namespaces have none: a control group.
//!
//! Deliberately not here: memory and processor time, and groups of the user's own, which systemd keeps.

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::walls::MAX_PROCESSES;

/// Where the limit is if all controllers have one tree, and its setting that has the controllers of groups.
const UNIFIED: (&str, &str) = ("/sys/fs/cgroup", "/sys/fs/cgroup/cgroup.subtree_control");

/// Where it is if each controller has its own tree.
const APART: &str = "/sys/fs/cgroup/pids";

/// How the groups of hosts begin; the id of the host and a number follow.
const PREFIX: &str = "host-";

/// A group of processes. Dropping it removes it, once they have ended.
#[derive(Debug)]
pub(super) struct Group {
    folder: PathBuf,
    /// The file by which a process joins it.
    pub(super) members: CString,
}

impl Group {
    /// Makes one.
    pub(super) fn new() -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let tree = tree().ok_or(io::ErrorKind::Unsupported)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = tree.join(format!("{PREFIX}{}-{number}", std::process::id()));
        remove_old(tree);
        fs::create_dir(&folder)?;
        let members = CString::new(folder.join("cgroup.procs").into_os_string().into_encoded_bytes())?;
        let made = Self { folder, members };
        fs::write(made.folder.join("pids.max"), MAX_PROCESSES.to_string())?;
        Ok(made)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // One that stays is removed when this host is gone.
        fs::remove_dir(&self.folder).ok();
    }
}

/// Returns the tree of groups that has such a limit.
fn tree() -> Option<&'static Path> {
    let (unified, controllers) = UNIFIED;
    let has = |text: String| text.split_ascii_whitespace().any(|controller| controller == "pids");
    if fs::read_to_string(controllers).is_ok_and(has) {
        return Some(Path::new(unified));
    }
    Some(Path::new(APART)).filter(|tree| tree.join("cgroup.procs").exists())
}

/// Removes the groups of hosts that live no more. One with processes stays: the kernel does not remove it.
fn remove_old(tree: &Path) {
    for entry in fs::read_dir(tree).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let host = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-')?.0.parse::<u32>().ok());
        if host.is_some_and(|host| !Path::new(&format!("/proc/{host}")).exists()) {
            fs::remove_dir(entry.path()).ok();
        }
    }
}
