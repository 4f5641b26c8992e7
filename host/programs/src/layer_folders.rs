//! The folders in which the changes of layers lie.
//!
//! To make and to remove one takes a file system like ext4 some milliseconds. No call waits for that: a thread removes
//! what the last one left, and makes a folder for the next. A folder serves one program and is never used again, so
//! that nothing of one program is found by another.
//!
//! Promises: what is here goes with the process, and what a killed one leaves with a later one (`TemporaryFolder`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use host_process::remove_tree;
use tempfile::TempDir;

use crate::layer_place::usable;
use crate::lock::lock;
use crate::temporary::TemporaryFolder;

/// The most folders that wait for programs: as many as the last ones used.
const READY: usize = 8;

/// The most folders that wait for the thread. What comes then is removed by who comes with it.
const WAITING: usize = 64;

/// The folders of a process.
#[derive(Debug, Default)]
pub(crate) struct LayerFolders(Mutex<Option<Made>>);

/// What is there once a folder was needed.
#[derive(Debug)]
struct Made {
    worker: Worker,
    /// Goes after the worker, which makes folders in it.
    place: TemporaryFolder,
}

/// A folder for the changes of one layer. Dropping it removes it, not at once.
#[derive(Debug)]
pub(crate) struct LayerFolder {
    path: PathBuf,
    used: SyncSender<Used>,
}

impl LayerFolders {
    /// Returns an empty folder, in `layers` if that can be.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub(crate) fn take(&self, layers: Option<&Path>) -> io::Result<LayerFolder> {
        let mut made = lock(&self.0);
        let made = match &mut *made {
            Some(made) => made,
            other => other.insert(Made::new(layers)?),
        };
        let ready = lock(&made.worker.ready).pop();
        // Somebody may have tidied up where they lie.
        let ready = ready.filter(|path| [CHANGES, WORK].iter().all(|name| path.join(name).is_dir()));
        let path = ready.map_or_else(|| make(&made.place.path()), Ok)?;
        Ok(LayerFolder { path, used: made.worker.used.clone() })
    }
}

/// The folder for changes.
const CHANGES: &str = "changes";
/// The folder in which the kernel prepares them.
const WORK: &str = "work";

impl LayerFolder {
    pub(crate) fn changes(&self) -> PathBuf {
        self.path.join(CHANGES)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path.join(WORK)
    }
}

impl Drop for LayerFolder {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        if self.used.try_send(Used::Folder(path.clone())).is_err() {
            // There is no thread, or none any more, or it has too much to do. What is left goes with the folder above.
            remove_tree(&path).ok();
        }
    }
}

impl Made {
    fn new(layers: Option<&Path>) -> io::Result<Self> {
        // In a container the home is often on an overlay, which cannot lie over another.
        let places = layers.into_iter().chain([Path::new("/tmp"), Path::new("/dev/shm")]);
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for place in places {
            match usable(place).and_then(|()| TemporaryFolder::new_at(place)) {
                Ok(place) => return Ok(Self { worker: Worker::new(place.path()), place }),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// A message to the worker.
enum Used {
    Folder(PathBuf),
    /// Nothing follows.
    End,
}

/// The thread that removes folders and makes others. Dropping this waits for its end.
#[derive(Debug)]
struct Worker {
    used: SyncSender<Used>,
    ready: Arc<Mutex<Vec<PathBuf>>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn new(place: PathBuf) -> Self {
        let (used, given) = sync_channel(WAITING);
        let ready = Arc::<Mutex<Vec<PathBuf>>>::default();
        let for_thread = Arc::clone(&ready);
        let work = move || work(&place, &given, &for_thread);
        // Without it each folder is made when it is needed, and removed at once.
        let thread = std::thread::Builder::new().name("layers".to_owned()).spawn(work).ok();
        Self { used, ready, thread }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.used.send(Used::End).ok();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn work(place: &Path, given: &Receiver<Used>, ready: &Mutex<Vec<PathBuf>>) {
    while let Ok(Used::Folder(path)) = given.recv() {
        // First what a next call waits for.
        if lock(ready).len() < READY
            && let Ok(made) = make(place)
        {
            lock(ready).push(made);
        }
        // Whatever is left goes with the folder above it.
        remove_tree(&path).ok();
    }
}

fn make(place: &Path) -> io::Result<PathBuf> {
    let folder = TempDir::with_prefix_in("layer-", place)?;
    for name in [CHANGES, WORK] {
        fs::create_dir(folder.path().join(name))?;
    }
    Ok(folder.keep())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn layer_folders_are_empty_used_once_and_gone_with_their_owner() {
        let layers = tempfile::tempdir().expect("a folder");
        let folders = LayerFolders::default();
        let mut known = Vec::new();
        for _ in 0..5 {
            let folder = folders.take(Some(layers.path())).expect("made");
            for path in [folder.changes(), folder.work()] {
                assert_eq!(fs::read_dir(&path).expect("listed").count(), 0, "{}", path.display());
                fs::write(path.join("left"), "a program's").expect("written");
            }
            assert!(!known.contains(&folder.path), "it is used again");
            known.push(folder.path.clone());
        }
        let last = folders.take(Some(layers.path())).expect("made");
        drop(folders);
        // What outlives the thread removes itself.
        drop(last);
        assert_eq!(fs::read_dir(layers.path()).expect("listed").count(), 0);
    }

    #[test]
    fn layer_folder_that_somebody_removed_is_made_again() {
        let layers = tempfile::tempdir().expect("a folder");
        let folders = LayerFolders::default();
        let first = folders.take(Some(layers.path())).expect("made");
        let place = first.path.parent().expect("a folder").to_owned();
        lock(&lock(&folders.0).as_ref().expect("made").worker.ready).push(place.join("layer-gone"));
        assert!(folders.take(Some(layers.path())).expect("made").changes().is_dir());
    }
}
