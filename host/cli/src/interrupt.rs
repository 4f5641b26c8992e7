//! Ctrl-C: the first asks the work to stop, the second ends the process at once.
//!
//! "At once" still ends what the work has started: tasks are dropped, and with them stores and programs.

use std::future::Future;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::exit::{Code, Failure};

/// How long dropping everything may take after a second Ctrl-C.
const DROPPING: Duration = Duration::from_millis(500);

/// Runs the work of a command. `stop` fires with the first Ctrl-C, or when the process is asked to end.
pub(crate) fn block_on<F>(work: impl FnOnce(CancellationToken) -> F) -> Result<Code, Failure>
where
    F: Future<Output = Result<Code, Failure>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::configuration(format!("no threads to work with: {error}")))?;
    let stop = CancellationToken::new();
    // A task of its own, so that it runs on the threads that its connections run on. From the thread that blocks here,
    // each piece of a reply would be two hops from thread to thread, which cost ten times as much as reading it.
    let mut work = runtime.spawn(work(stop.clone()));
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = &mut work => ended.unwrap_or_else(|error| match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(Failure::configuration(format!("the work was ended: {error}"))),
            }),
            ended = twice(&stop) => ended,
        }
    });
    // Whatever still runs is dropped here; a blocked system call is not waited for.
    runtime.shutdown_timeout(DROPPING);
    ended
}

/// Ends with the second signal.
async fn twice(stop: &CancellationToken) -> Result<Code, Failure> {
    let unable = |error: std::io::Error| Failure::configuration(format!("signals cannot be received: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unable)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(unable)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(unable)?;
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
        if stop.is_cancelled() {
            return Err(Failure::new(Code::Cancelled, "ended at once"));
        }
        stop.cancel();
    }
}
