//! A program and everything that it started.
//!
//! Its process group covers most of it. A process that moves to a different group or session keeps a variable in its
//! environment that only this call knows, so it is found in `/proc` on Linux; a process that also clears its
//! environment is out of reach without a privilege, as SECURITY.md says. On other systems only the group is covered.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::Command;

use crate::digest::hex;

/// The variable that marks the processes of a call.
const MARK: &str = "HOST_CALL";

/// The owner of the processes that one command started; dropping it ends all of them.
#[derive(Debug)]
pub(super) struct Descendants {
    mark: String,
    group: Option<Pid>,
}

impl Descendants {
    /// Creates a command in a process group of its own, and the owner of its future processes.
    pub(super) fn builder(program: &str) -> (Command, Self) {
        let mut random = [0; 16];
        // Without random bytes only the group is covered, as on other systems.
        let mark = if getrandom::fill(&mut random).is_ok() { hex(&random) } else { String::new() };
        let mut command = std::process::Command::new(program);
        command.process_group(0);
        #[cfg(target_os = "linux")]
        // SAFETY: between fork and exec only this one system call is made, which touches no memory.
        unsafe {
            command.pre_exec(|| {
                // If the host itself is killed, nothing else would end the program.
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                Ok(())
            });
        }
        let mut command = Command::from(command);
        command.kill_on_drop(true);
        (command, Self { mark, group: None })
    }

    /// Returns the variable to set in the program's environment.
    pub(super) fn mark(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// Records the id of the program, which is also that of its group.
    pub(super) fn started(&mut self, id: Option<u32>) {
        self.group = id.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    }

    /// Returns the processes that are running now, including the program itself while it runs.
    #[cfg(target_os = "linux")]
    pub(super) fn pids(&self) -> Vec<u32> {
        let wanted = OsString::from(format!("{MARK}={}", self.mark));
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| self.in_group(*pid) || (!self.mark.is_empty() && is_marked(*pid, &wanted)))
            .collect()
    }

    /// Returns nothing: other systems do not list processes; the group is signalled as a whole.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    #[cfg(target_os = "linux")]
    fn in_group(&self, pid: u32) -> bool {
        let Some(group) = self.group else { return false };
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        // `pid (name) state ppid pgrp …`; the name may contain anything, so the fields are counted from its end.
        let Some((_, fields)) = stat.rsplit_once(')') else { return false };
        let mut fields = fields.split_ascii_whitespace();
        let running = !matches!(fields.next(), Some("Z" | "X"));
        running && fields.nth(1).and_then(|field| field.parse::<i32>().ok()) == Some(group.as_raw_pid())
    }

    /// Never called, since nothing is listed.
    #[cfg(not(target_os = "linux"))]
    fn in_group(&self, _pid: u32) -> bool {
        false
    }

    /// Sends a signal to all processes, once to each.
    pub(super) fn signal(&self, signal: Signal) {
        let pids = self.pids();
        // On Linux an empty list means that the group is gone, and its number may belong to a different group by now.
        if let Some(group) = self.group
            && (!pids.is_empty() || cfg!(not(target_os = "linux")))
        {
            kill_process_group(group, signal).ok();
        }
        // The group has had its signal: a second one makes many programs skip their cleanup.
        for pid in pids.into_iter().filter(|pid| !self.in_group(*pid)) {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                kill_process(pid, signal).ok();
            }
        }
    }

    /// Kills all processes. One that starts another during the search is found in the next round.
    pub(super) fn end(&self) {
        for _ in 0..8 {
            self.signal(Signal::KILL);
            if self.pids().is_empty() {
                return;
            }
        }
    }
}

impl Drop for Descendants {
    fn drop(&mut self) {
        if self.group.is_some() {
            self.end();
        }
    }
}

#[cfg(target_os = "linux")]
fn is_marked(pid: u32, wanted: &OsStr) -> bool {
    std::fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_encoded_bytes()))
}
