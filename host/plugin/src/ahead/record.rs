//! What was compiled ahead for a cache, a line for each component. The file is the lock of the process, too.
//!
//! Deliberately not here: what calls compiled.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::cache::NO_FOLLOW;
use crate::plugin::Plugin;

/// The name of the file in the folder of the cache.
const NAME: &str = "ahead.log";

/// The shortest time between two processes. One that cannot do its work, and is started by each run, would take a
/// processor from them all.
const PAUSE: Duration = Duration::from_secs(60);

/// The largest record that is continued. Protects the disk: each new version of the host adds some lines.
const MAX_RECORD: u64 = 64 << 10;

/// The record, which no other process has while this value lives.
pub(super) struct Record(File);

impl Record {
    /// Begins to compile; `None` if another process does, or if the folder cannot be written.
    pub(super) fn begin(cache: &Path) -> Option<Self> {
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).mode(0o600).custom_flags(NO_FOLLOW).open(cache.join(NAME)).ok()?;
        file.try_lock().ok()?;
        if file.metadata().is_ok_and(|about| about.len() > MAX_RECORD) {
            file.set_len(0).ok()?;
        }
        let mut record = Self(file);
        record.add(&format!("process {}", std::process::id()));
        Some(record)
    }

    /// Notes that a component is compiled from now on.
    pub(super) fn compiles(&mut self, plugin: &Plugin) {
        self.add(&format!("compile {}", plugin.name()));
    }

    /// A full disk is found out by what is stored.
    fn add(&mut self, line: &str) {
        writeln!(self.0, "{line}").ok();
    }
}

/// Claims to start a process: `false` if one is at work, or began or wrote something a moment ago.
///
/// # Errors
///
/// If the folder cannot be written, where a process could keep nothing.
pub(super) fn claim(cache: &Path) -> io::Result<bool> {
    let path = cache.join(NAME);
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(NO_FOLLOW);
    match options.clone().create_new(true).mode(0o600).open(&path) {
        // Of runs that begin at once, one makes the file.
        Ok(_) => return Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let file = options.open(&path)?;
    // Without an age the clock was set back.
    let age = file.metadata()?.modified()?.elapsed().ok();
    let is_due = age.is_none_or(|age| age > PAUSE) && !is_locked(&file);
    if is_due {
        file.set_modified(SystemTime::now())?;
    }
    Ok(is_due)
}

/// Whether a process is at work.
pub(super) fn is_running(cache: &Path) -> bool {
    let file = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(cache.join(NAME));
    file.is_ok_and(|file| is_locked(&file))
}

/// The lock that is tried is gone when the file is closed.
fn is_locked(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ahead_one_process_is_started_and_the_next_a_while_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let claimed = || claim(folder.path()).expect("the folder can be written");
        assert!(claimed());
        assert!(!claimed(), "it was started a moment ago");
        let record = Record::begin(folder.path()).expect("no other is at work");
        assert!(is_running(folder.path()));
        assert!(Record::begin(folder.path()).is_none(), "there is one at a time");
        let file = File::options().write(true).open(folder.path().join(NAME)).expect("opened");
        let a_while_ago = SystemTime::now() - 2 * PAUSE;
        file.set_modified(a_while_ago).expect("set");
        assert!(!claimed(), "it is at work");
        drop(record);
        assert!(!is_running(folder.path()));
        assert!(claimed());
        assert!(!claimed());
        file.set_modified(SystemTime::now() + PAUSE).expect("set");
        assert!(claimed(), "a clock that was set back stops it no longer than once");
        assert!(claim(&folder.path().join("none")).is_err());
    }

    #[test]
    fn ahead_record_does_not_grow_for_ever() {
        let folder = tempfile::tempdir().expect("a folder");
        let length = || std::fs::metadata(folder.path().join(NAME)).expect("it is there").len();
        std::fs::write(folder.path().join(NAME), vec![b'\n'; MAX_RECORD as usize]).expect("written");
        drop(Record::begin(folder.path()));
        assert!(length() > MAX_RECORD);
        drop(Record::begin(folder.path()));
        assert!(length() < 100);
    }
}
