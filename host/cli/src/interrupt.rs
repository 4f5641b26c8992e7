//! Ctrl-C: the first asks the work to stop, the second ends the process at once.
//!
//! "At once" still ends what the work has started: tasks are dropped, and with them stores and programs. A conversation
//! takes Ctrl-C itself, since there it stops one run of several; what else asks the process to end still does so here.

use std::future::Future;
use std::time::Duration;

use host_settings::error::{ErrorKind, Failure};
use host_terminal::Interrupt;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Code;
use crate::printer::current_terminal;

/// Maximum time for dropping everything after a second Ctrl-C.
const DROPPING: Duration = Duration::from_millis(500);

/// Runs the work of a command, which hears of a Ctrl-C by what it is given.
pub(crate) fn block_on<F>(work: impl FnOnce(Interrupt) -> F) -> Result<Code, Failure>
where
    F: Future<Output = Result<Code, Failure>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::configuration(format!("cannot start threads: {error}")))?;
    let interrupt = Interrupt::default();
    // Before the work begins: as soon as the user sees output, they may press Ctrl-C.
    let signals = {
        let _entered = runtime.enter();
        Signals::subscribe()?
    };
    // A task of its own, so that it runs on the threads of the tasks that it starts and waits for.
    let mut work = runtime.spawn(work(interrupt.clone()));
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = &mut work => ended.unwrap_or_else(|error| match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(Failure::configuration(format!("the work ended early: {error}"))),
            }),
            ended = signals.heard(&interrupt) => ended,
        }
    });
    // Before anything is said about the end.
    current_terminal::leave();
    // Whatever still runs is dropped here; a blocked system call is not waited for.
    runtime.shutdown_timeout(DROPPING);
    ended
}

/// The signals with which the system asks the process to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Subscribes to the signals. After that they no longer end the process by themselves.
    fn subscribe() -> Result<Self, Failure> {
        let unable = |error: std::io::Error| Failure::configuration(format!("signals cannot be received: {error}"));
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(unable)?,
            terminate: signal(SignalKind::terminate()).map_err(unable)?,
            hang_up: signal(SignalKind::hangup()).map_err(unable)?,
        })
    }

    /// Ends when the process is to end at once.
    async fn heard(mut self, interrupts: &Interrupt) -> Result<Code, Failure> {
        loop {
            tokio::select! {
                // While an editor runs, Ctrl-C belongs to the editor, as with git: all programs of the terminal receive
                // it.
                _ = self.interrupt.recv() => if !current_terminal::is_lent() { interrupts.press() },
                _ = self.terminate.recv() => interrupts.end(),
                _ = self.hang_up.recv() => interrupts.end(),
                () = interrupts.ends_at_once() => return Err(Failure::new(ErrorKind::Cancelled, "ended at once")),
            }
        }
    }
}
