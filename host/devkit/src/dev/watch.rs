//! Notices changes in the folders of sources, and waits until they stop.
//!
//! Events are not kept: the caller looks for itself (`sources`), so that a lost or repeated event makes no difference.
//! That is why no debouncer crate is used here: those keep the events, or treat a file that was only opened as changed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Time without changes to wait for after a change. Editors and version control write several files, or one in several
/// steps; a user does not notice a delay of this length.
const QUIET: Duration = Duration::from_millis(100);
/// Maximum time to wait for that, if something is written continuously.
const LONGEST: Duration = Duration::from_secs(2);

/// The system does not report changes of the sources.
#[derive(Debug, thiserror::Error)]
#[error("the sources cannot be watched")]
pub struct WatchError(#[from] notify::Error);

impl WatchError {
    /// Returns advice on how to fix it.
    pub fn help(&self) -> &'static str {
        "on Linux the limits are fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl)"
    }
}

/// Folders that are watched.
pub(super) struct Watch {
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
    /// Holds one permit, however much happened.
    happened: Arc<Notify>,
}

impl Watch {
    pub(super) fn new() -> Result<Self, WatchError> {
        let happened = Arc::new(Notify::new());
        let notify = Arc::clone(&happened);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // When the system says that it lost events, something happened too.
            if event.map_or(true, |event| counts(event.kind)) {
                notify.notify_one();
            }
        });
        Ok(Self { watcher: watcher?, folders: BTreeSet::new(), happened })
    }

    /// Watches these folders, each without what lies beneath it, and no others. Answers whether one of them was not
    /// watched before.
    pub(super) fn only(&mut self, folders: &BTreeSet<PathBuf>) -> Result<bool, WatchError> {
        for folder in self.folders.difference(folders) {
            // One that is gone is not watched any more.
            self.watcher.unwatch(folder).ok();
        }
        let mut watched = BTreeSet::new();
        for folder in folders {
            // Also those that were watched before: one that was removed and made again is a different one.
            match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => drop(watched.insert(folder.clone())),
                // Its parent's event is on its way.
                Err(_) if !folder.exists() => {}
                Err(error) => return Err(error.into()),
            }
        }
        let is_new = !watched.is_subset(&self.folders);
        self.folders = watched;
        Ok(is_new)
    }

    /// Waits for something to happen, and for quiet after it. Dropping it loses nothing that is not looked for anyway.
    pub(super) async fn settled(&self) {
        quiet(&self.happened).await;
    }
}

/// Waits for something to happen, and then until nothing did for a while.
async fn quiet(happened: &Notify) {
    happened.notified().await;
    let end = Instant::now() + LONGEST;
    while Instant::now() < end && timeout_at(end.min(Instant::now() + QUIET), happened.notified()).await.is_ok() {}
}

/// Returns whether this event may mean a change. Reading the sources opens them, which is an event too.
fn counts(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Other => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dev_watch_reading_a_file_is_not_a_change() {
        for (kind, expected) in [
            (EventKind::Access(AccessKind::Open(AccessMode::Any)), false),
            (EventKind::Access(AccessKind::Read), false),
            (EventKind::Access(AccessKind::Close(AccessMode::Read)), false),
            (EventKind::Access(AccessKind::Close(AccessMode::Write)), true),
            (EventKind::Modify(notify::event::ModifyKind::Any), true),
            (EventKind::Create(notify::event::CreateKind::File), true),
            (EventKind::Remove(notify::event::RemoveKind::File), true),
        ] {
            assert_eq!(counts(kind), expected, "{kind:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn many_changes_are_one_until_it_is_quiet_and_none_is_put_off_for_ever() {
        for (times, every, expected) in
            [(1, QUIET / 2, QUIET), (5, QUIET / 2, QUIET / 2 * 4 + QUIET), (1_000, QUIET / 2, LONGEST)]
        {
            let happened = Arc::new(Notify::new());
            let heard = Arc::clone(&happened);
            let begun = Instant::now();
            let writing = tokio::spawn(async move {
                for i in 0..times {
                    heard.notify_one();
                    tokio::time::sleep_until(begun + every * (i + 1)).await;
                }
            });
            quiet(&happened).await;
            assert_eq!(begun.elapsed(), expected, "{times} changes");
            writing.abort();
        }
    }

    #[tokio::test]
    async fn a_folder_that_went_and_came_again_is_heard() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("made");
        let mut watch = Watch::new().expect("this system can watch");
        let folders = BTreeSet::from([inner.clone()]);
        watch.only(&folders).expect("watched");
        std::fs::remove_dir(&inner).expect("removed");
        std::fs::create_dir(&inner).expect("made");
        watch.settled().await;
        watch.only(&folders).expect("watched again");
        std::fs::write(inner.join("x.c"), "x").expect("written");
        watch.settled().await;
    }
}
