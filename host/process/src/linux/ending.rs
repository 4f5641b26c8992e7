//! The ends of guards, beside what the host does next.
//!
//! With a guard the kernel ends its mounts, for which it waits until nothing looks at them: some tenths of a
//! millisecond. With nothing left of the program it is of no use to wait for that too. A guard whose end matters to a
//! later program, since it has layers or a group of processes, is not handed over here.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rustix::process::Pid;

use super::child;

/// The most guards that wait here to be reaped.
const MOST: usize = 64;

/// Ends a guard of whose program nothing is left.
pub(super) fn beside(guard: Pid) {
    // Without the thread, or with too many before it, it is waited for.
    let later = reaper().is_some_and(|reaper| reaper.try_send(Ending::Guard(guard)).is_ok());
    if !later {
        child::end(guard);
    }
}

enum Ending {
    Guard(Pid),
    /// Says when all before it have ended.
    #[cfg(test)]
    Said(SyncSender<()>),
}

fn reaper() -> Option<&'static SyncSender<Ending>> {
    static REAPER: OnceLock<Option<SyncSender<Ending>>> = OnceLock::new();
    let started = REAPER.get_or_init(|| {
        let (ending, ended) = sync_channel(MOST);
        // It owns nothing that its end would have to clear up: guards whose host is gone end and are the system's.
        std::thread::Builder::new().name("guards".to_owned()).spawn(move || reap_each(&ended)).ok()?;
        Some(ending)
    });
    started.as_ref()
}

fn reap_each(ending: &Receiver<Ending>) {
    for ending in ending {
        match ending {
            Ending::Guard(guard) => child::end(guard),
            #[cfg(test)]
            Ending::Said(done) => drop(done.send(())),
        }
    }
}

/// Waits until the guards that were handed over have ended.
#[cfg(test)]
pub(super) fn wait() {
    let (done, is_done) = sync_channel(1);
    if reaper().is_some_and(|reaper| reaper.send(Ending::Said(done)).is_ok()) {
        is_done.recv().expect("it lives as long as this process");
    }
}
