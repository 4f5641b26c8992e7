//! A program and everything that it started.
//!
//! Its process group covers most of it. What moves to another group or session keeps a variable in its
//! environment that only this call knows, so it is found in `/proc` on Linux; what also wipes its environment and
//! leaves the group is out of reach without a privilege, and SECURITY.md says so. Elsewhere only the group is
//! covered.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::Command;

use crate::digest::hex;

/// The variable that marks what a call started.
const MARK: &str = "HOST_CALL";

/// Owns what one command started; dropping it ends it all.
#[derive(Debug)]
pub(super) struct Descendants {
    mark: String,
    group: Option<Pid>,
}

impl Descendants {
    /// A command in a process group of its own, and the owner of what it will start.
    pub(super) fn builder(program: &str) -> (Command, Self) {
        let mut random = [0; 16];
        // Without random bytes the group alone is covered, which is the rule on other systems.
        let mark = if getrandom::fill(&mut random).is_ok() { hex(&random) } else { String::new() };
        let mut command = std::process::Command::new(program);
        command.process_group(0);
        #[cfg(target_os = "linux")]
        // SAFETY: between fork and exec only this one system call is made, which touches no memory.
        unsafe {
            command.pre_exec(|| {
                // When the host itself is killed, nobody else would end the program.
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                Ok(())
            });
        }
        let mut command = Command::from(command);
        command.kill_on_drop(true);
        (command, Self { mark, group: None })
    }

    /// The variable to set in the program's environment.
    pub(super) fn mark(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// The program runs under this id, which is its group's too.
    pub(super) fn started(&mut self, id: Option<u32>) {
        self.group = id.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    }

    /// What is running of it now, the program itself included as long as it runs.
    #[cfg(target_os = "linux")]
    pub(super) fn pids(&self) -> Vec<u32> {
        let wanted = OsString::from(format!("{MARK}={}", self.mark));
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| self.in_group(*pid) || (!self.mark.is_empty() && is_marked(*pid, &wanted)))
            .collect()
    }

    /// Other systems do not tell; the group is signalled as a whole.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    #[cfg(target_os = "linux")]
    fn in_group(&self, pid: u32) -> bool {
        let Some(group) = self.group else { return false };
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        // `pid (name) state ppid pgrp …`; the name may hold anything, so the fields are counted from its end.
        let Some((_, fields)) = stat.rsplit_once(')') else { return false };
        let mut fields = fields.split_ascii_whitespace();
        let running = !matches!(fields.next(), Some("Z" | "X"));
        running && fields.nth(1).and_then(|field| field.parse::<i32>().ok()) == Some(group.as_raw_pid())
    }

    /// Nobody asks, since nothing is listed.
    #[cfg(not(target_os = "linux"))]
    fn in_group(&self, _pid: u32) -> bool {
        false
    }

    /// Sends a signal to all of it, once to each process.
    pub(super) fn signal(&self, signal: Signal) {
        let pids = self.pids();
        // On Linux an empty list means that the group is gone, and its number may be somebody else's by now.
        if let Some(group) = self.group
            && (!pids.is_empty() || cfg!(not(target_os = "linux")))
        {
            kill_process_group(group, signal).ok();
        }
        // The group has had its signal: a second one tells many programs to skip their cleaning up.
        for pid in pids.into_iter().filter(|pid| !self.in_group(*pid)) {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                kill_process(pid, signal).ok();
            }
        }
    }

    /// Ends all of it for good. What starts something more while it is looked for is found in the next round.
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
