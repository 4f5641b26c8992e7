//! Commands that check the work of a run before it ends.
//!
//! Promises: such a command is confined as one of a call is that a user allowed, with the layers over caches and the
//! servers that `[confine]` names, and nobody is asked on its behalf; what is kept of its output is bounded, the
//! beginning and the end; when it has ended, in time or not, everything that it started is ended too, and dropping the
//! future ends it the same way.
//!
//! Deliberately not here: which commands there are, and what follows when one fails.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use host_process::{Ended, Process};
use host_programs::ProgramReach;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, sleep_until, timeout};

use crate::hook_program::{HookCommand, HookEnd};
use crate::process::{AfterProgram, AllowedBy, Doors, KeptFrom, before_program};
use crate::runtime::Runtime;

/// The most bytes that are kept of the beginning of what a check prints, and of its end, which says more. Protects
/// memory, and the model's context.
const KEPT: (usize, usize) = (4 << 10, 16 << 10);

/// How long reading what was printed may go on after all processes have ended: the pipes are closed by then.
const DRAIN: Duration = Duration::from_secs(5);

impl Runtime {
    /// Runs a check to its end; returns also what it printed, as text: standard output, into which the command leads
    /// its standard error. Dropping the future ends it.
    pub async fn run_check(&self, command: &HookCommand) -> (HookEnd, String) {
        let not_started = |why| (HookEnd::NotStarted(why), String::new());
        let program = match before_program(command.changes.clone()).await {
            Ok(program) => program,
            Err(why) => return not_started(format!("what it may change cannot be kept: {why}")),
        };
        let access = self.access();
        let (shared, of_search, confine) = (Arc::clone(self.shared()), Arc::clone(&access), command.confine);
        // Searching the workspace for repositories reads thousands of folders.
        let found = tokio::task::spawn_blocking(move || {
            shared.programs.repositories_in(&of_search.programs, confine, ProgramReach::Workspace)
        });
        let mut repositories = match found.await {
            Ok(repositories) => repositories,
            Err(error) => return not_started(error.to_string()),
        };
        if let Some(repositories) = &mut repositories {
            // As for a call: a build needs what its package manager has fetched.
            repositories.with_caches(access.programs.cache_layers(&access.programs.commands(&command.argv)));
        }
        let kept_from = KeptFrom::new(AllowedBy::Confine);
        let doors = Doors { configured: access.programs.servers.clone(), ..Doors::closed(kept_from.clone()) };
        match self.start_hook(command, &access.programs, repositories.as_ref(), doors) {
            Ok(process) => {
                let mut after = AfterProgram::new(program, repositories);
                let (end, mut printed) = follow(process, command.limit).await;
                for line in after.look().await.into_iter().chain(kept_from.lines()) {
                    printed.push(format!("host: {line}\n").as_bytes());
                }
                (end, printed.text())
            }
            Err(why) => not_started(why),
        }
    }
}

async fn follow(mut process: Process, limit: Duration) -> (HookEnd, Printed) {
    let until = Instant::now() + limit;
    // Nobody answers: a command that reads has an end of its input at once.
    drop(process.input.take());
    // Held open: what the shell itself reports must not end it.
    let _errors = process.errors.take();
    let (mut output, mut printed) = (process.output.take(), Printed::default());
    let mut buffer = vec![0; 16 << 10];
    let end = loop {
        let read = async {
            match &mut output {
                Some(output) => output.read(&mut buffer).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // The limit first: output without a pause would otherwise win each time.
            biased;
            () = sleep_until(until) => break HookEnd::TimedOut,
            read = read => match read {
                Ok(0) | Err(_) => output = None,
                Ok(count) => printed.push(buffer.get(..count).unwrap_or_default()),
            },
            ended = process.wait() => break match ended {
                Ended::Code(code) => HookEnd::Code(code),
                Ended::Signal(signal) => HookEnd::Signal(signal),
            },
        }
    };
    // What it left behind holds its pipe open, and must not outlive it.
    process.end();
    drop(process);
    if let Some(output) = output {
        timeout(DRAIN, drain(output, &mut printed)).await.ok();
    }
    (end, printed)
}

/// Reads what was printed before the end and is still in the pipe.
async fn drain(mut output: Receiver, printed: &mut Printed) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count) = output.read(&mut buffer).await
        && count > 0
    {
        printed.push(buffer.get(..count).unwrap_or_default());
    }
}

/// The beginning and the end of what a check printed.
#[derive(Default)]
struct Printed {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Printed {
    fn push(&mut self, bytes: &[u8]) {
        let (most_head, most_tail) = KEPT;
        let of_head = most_head.saturating_sub(self.head.len()).min(bytes.len());
        let (head, tail) = bytes.split_at(of_head);
        self.head.extend_from_slice(head);
        self.tail.extend(tail);
        let over = self.tail.len().saturating_sub(most_tail);
        self.tail.drain(..over);
        self.left_out += over as u64;
    }

    fn text(self) -> String {
        let Self { mut head, tail, left_out } = self;
        if left_out > 0 {
            head.extend_from_slice(format!("\n[{left_out} bytes are left out here]\n").as_bytes());
        }
        head.extend(tail);
        String::from_utf8_lossy(&head).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_output_keeps_its_beginning_and_its_end_in_any_pieces() {
        let all: Vec<u8> = (0..100_000u32).map(|at| b'a' + u8::try_from(at % 26).expect("a letter")).collect();
        let (head, tail) = KEPT;
        for size in [1, 7, 4096, 100_000] {
            let mut printed = Printed::default();
            all.chunks(size).for_each(|piece| printed.push(piece));
            let text = printed.text();
            let mark = format!("\n[{} bytes are left out here]\n", all.len() - head - tail);
            assert_eq!(text.as_bytes().get(..head), all.get(..head), "{size}");
            assert_eq!(text.as_bytes().get(head..head + mark.len()), Some(mark.as_bytes()), "{size}");
            assert_eq!(text.as_bytes().get(head + mark.len()..), all.get(all.len() - tail..), "{size}");
        }
        let mut whole = Printed::default();
        whole.push(b"short");
        assert_eq!(whole.text(), "short");
    }
}
