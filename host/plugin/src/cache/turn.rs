//! Whose turn it is to compile one component: a lock, so that two processes do not compile the same.
//!
//! Promises: a turn ends with its process, however that ends. It only saves work: entries appear whole, so a process
//! without a turn compiles and stores as well, and a folder that cannot be written has no turns.
//!
//! Deliberately not here: waiting without an end for a process that may get no processor.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::NO_FOLLOW;

/// The longest that a call waits for another one that compiles the same component: itself it would be no faster.
const PATIENCE_WITH_CALLS: Duration = Duration::from_secs(60);

/// The longest that a call waits for the background to compile the same component. Most take a fraction of a second; on
/// a busy machine the background may never get to it.
const PATIENCE_WITH_BACKGROUND: Duration = Duration::from_secs(10);

/// Interval at which a turn is asked for.
const TICK: Duration = Duration::from_millis(10);

/// What compiles in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compiling {
    /// A call, on all cores.
    ForCall,
    /// A process in the background, which gives way to others.
    Ahead,
}

impl Compiling {
    /// The longest that a call waits for what compiles the same component before it compiles that itself.
    fn patience(self) -> Duration {
        match self {
            Self::ForCall => PATIENCE_WITH_CALLS,
            Self::Ahead => PATIENCE_WITH_BACKGROUND,
        }
    }
}

/// A turn; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Turn {
    path: PathBuf,
    _lock: File,
}

/// The answer to asking for a turn.
#[derive(Debug)]
pub(crate) enum Asked {
    Taken(Turn),
    /// Another process has it, or another task of this one.
    Busy(Compiling),
    /// There are no turns here.
    Unable,
}

impl Turn {
    /// Asks for the turn to compile for an entry of the cache.
    pub(super) fn ask(entry: &Path, compiling: Compiling) -> Asked {
        let path = entry.with_extension("lock");
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600).custom_flags(NO_FOLLOW);
        let Ok(mut lock) = options.open(&path) else { return Asked::Unable };
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                // A call leaves its file empty.
                let is_ahead = lock.metadata().is_ok_and(|about| about.len() > 0);
                return Asked::Busy(if is_ahead { Compiling::Ahead } else { Compiling::ForCall });
            }
            Err(fs::TryLockError::Error(_)) => return Asked::Unable,
        }
        let noted = match compiling {
            Compiling::ForCall => lock.set_len(0),
            Compiling::Ahead => lock.write_all(b"ahead"),
        };
        match noted {
            Ok(()) => Asked::Taken(Self { path, _lock: lock }),
            Err(_) => Asked::Unable,
        }
    }

    /// Waits for the turn of a call; `None` when that takes too long, and where there are no turns.
    pub(super) async fn wait(entry: &Path) -> Option<Self> {
        let begun = Instant::now();
        loop {
            match Self::ask(entry, Compiling::ForCall) {
                Asked::Taken(turn) => return Some(turn),
                Asked::Busy(other) if begun.elapsed() < other.patience() => tokio::time::sleep(TICK).await,
                Asked::Busy(_) | Asked::Unable => return None,
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // While it is locked: a process that opened it before finds what was compiled, and a later one makes a new one.
        fs::remove_file(&self.path).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_one_at_a_time_and_say_who_compiles() {
        let folder = tempfile::tempdir().expect("a folder");
        let entry = folder.path().join("entry.aot");
        for compiling in [Compiling::ForCall, Compiling::Ahead, Compiling::ForCall] {
            let first = Turn::ask(&entry, compiling);
            assert!(matches!(first, Asked::Taken(_)), "{first:?}");
            let second = Turn::ask(&entry, Compiling::ForCall);
            assert!(matches!(second, Asked::Busy(who) if who == compiling), "{second:?}");
            drop(first);
            assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 0, "nothing is left over");
        }
        let nowhere = Turn::ask(&folder.path().join("none/entry.aot"), Compiling::Ahead);
        assert!(matches!(nowhere, Asked::Unable), "{nowhere:?}");
    }

    #[tokio::test]
    async fn turn_is_waited_for_and_that_of_a_killed_process_is_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let entry = folder.path().join("entry.aot");
        // What a process leaves behind that was killed.
        fs::write(entry.with_extension("lock"), "ahead").expect("written");
        assert!(Turn::wait(&entry).await.is_some());
        let Asked::Taken(turn) = Turn::ask(&entry, Compiling::Ahead) else { panic!("it is free") };
        let (waited, ()) = tokio::join!(Turn::wait(&entry), async { drop(turn) });
        assert!(waited.is_some());
    }
}
