//! The programs that a build runs, which end with it.
//!
//! Promises: when a build is given up, its compiler ends at once with all that it started, and no other program starts.
//!
//! Deliberately not here: limits. A compiler of the author's runs as the author.

use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// The programs of one build.
#[derive(Clone, Debug, Default)]
pub struct Programs(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    is_over: bool,
    running: Vec<Pid>,
}

/// Ends the programs of a build when it is dropped.
pub(crate) struct EndOnDrop(Programs);

impl Programs {
    pub(crate) fn end_on_drop(&self) -> EndOnDrop {
        EndOnDrop(self.clone())
    }

    /// Runs a program to its end; returns what it wrote to standard output if that is piped.
    pub(super) fn output(&self, command: &mut Command) -> io::Result<Output> {
        // A group of its own, by which it ends with what it starts.
        command.process_group(0);
        let mut child = self.start(command)?;
        let mut stdout = Vec::new();
        let read = child.stdout.take().map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut stdout));
        self.forget(&child);
        let status = child.wait()?;
        read?;
        Ok(Output { status, stdout, stderr: Vec::new() })
    }

    fn start(&self, command: &mut Command) -> io::Result<Child> {
        let mut state = self.state();
        if state.is_over {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the build was cancelled"));
        }
        let child = command.spawn()?;
        state.running.extend(Pid::from_raw(child.id().cast_signed()));
        Ok(child)
    }

    /// Waits until a program has ended and takes it off the list, before the system may give its number to another one.
    fn forget(&self, child: &Child) {
        let Some(id) = Pid::from_raw(child.id().cast_signed()) else { return };
        let ended = || rustix::process::waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        while ended().is_err_and(|error| error == rustix::io::Errno::INTR) {}
        self.state().running.retain(|running| *running != id);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_over = true;
        for id in state.running.drain(..) {
            // One that has just ended is gone already.
            rustix::process::kill_process_group(id, Signal::KILL).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn build_given_up_ends_its_compiler_and_what_that_started() {
        let programs = Programs::default();
        let guard = programs.end_on_drop();
        let (started, waits) = mpsc::channel();
        let own = programs.clone();
        let build = std::thread::spawn(move || {
            let mut command = Command::new("sh");
            command.args(["-c", "sleep 600 & sleep 600"]).stdout(Stdio::piped());
            started.send(()).expect("somebody waits");
            own.output(&mut command)
        });
        waits.recv().expect("it starts");
        while programs.state().running.is_empty() {
            std::thread::yield_now();
        }
        drop(guard);
        // The pipe is open as long as one of the two lives.
        let ended = build.join().expect("no panic").expect("it started");
        assert!(!ended.status.success());
        assert!(programs.state().running.is_empty());
        let error = programs.output(&mut Command::new("true")).expect_err("nothing starts any more");
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }
}
