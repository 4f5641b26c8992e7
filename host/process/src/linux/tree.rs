//! The processes beneath a process, from `/proc`.

use std::collections::HashMap;
use std::fs;

use rustix::process::Pid;

/// A process beneath another.
pub(super) struct Member {
    pub(super) pid: Pid,
    /// Whether it has not ended; one that has ended waits for its parent.
    pub(super) runs: bool,
}

/// Returns the processes beneath this one; parents before their children.
pub(super) fn beneath(root: Pid) -> Vec<Member> {
    // The whole list, since `/proc/PID/children` needs a kernel that was built with it.
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut children: HashMap<i32, Vec<Member>> = HashMap::new();
    for pid in entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok()) {
        if let (Some((parent, runs)), Some(pid)) = (stat(pid), Pid::from_raw(pid)) {
            // By parent, in one pass: a walk over all processes for each one found would be their square.
            children.entry(parent).or_default().push(Member { pid, runs });
        }
    }
    let mut found = Vec::new();
    let mut open = vec![root.as_raw_pid()];
    while let Some(parent) = open.pop() {
        // Each process has one parent, so this ends: an entry is taken out when it is used.
        let members = children.remove(&parent).unwrap_or_default();
        open.extend(members.iter().map(|member| member.pid.as_raw_pid()));
        found.extend(members);
    }
    found
}

/// Returns the parent of a process, and whether it has not ended.
fn stat(pid: i32) -> Option<(i32, bool)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // `pid (name) state ppid …`; the name may contain anything, so the fields are counted from its end.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let runs = !matches!(fields.next(), Some("Z" | "X"));
    Some((fields.next()?.parse().ok()?, runs))
}
