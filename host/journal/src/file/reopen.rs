//! Resumes a log: locks it, reads it, repairs its end, and settles its open calls.
//!
//! Only the holder of a [`Reopened`] can write the log, and it writes nothing before [`Reopened::resume`]: a command
//! that cannot continue for another reason leaves the log as it was.
//!
//! The lock is the system's, on the open file: it ends with the process, so that no file has to be removed after a
//! crash. A program that the process starts does not inherit the file. Deliberately not here: the contents of the log,
//! which [`Recorded`] has.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host_files::{ChainFault, ChainStore};
use host_message::ModelId;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::SessionLog;
use crate::past::not_a_session;
use crate::read::MAX_LINE;
use crate::store::settle_open;
use crate::{Clock, Fact, Journal, Opened, ReadError, Recorded, Records, SessionError};

/// Maximum wait for the lock of a dead process. Protects against waiting for ever for a process whose id means nothing
/// here because it runs in a different container.
const DEAD_HOLDER: Duration = Duration::from_secs(5);

/// Pause before the lock is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// A log that this process has locked and read, but not yet resumed.
#[derive(Debug)]
pub struct Reopened {
    file: File,
    path: PathBuf,
    clock: Clock,
    recorded: Recorded,
    /// Position at which its whole entries end.
    whole_bytes: u64,
    /// Whether the last of them lacks its line end.
    ends_open: bool,
    chains: ChainStore,
    found: Vec<ChainFault>,
}

impl SessionLog {
    /// Locks and reads a log in order to resume it.
    ///
    /// # Errors
    ///
    /// When another process writes it, it cannot be opened, locked or verified, a newer host wrote it, or it is
    /// damaged.
    pub fn reopen(path: &Path, clock: Clock, chains: &ChainStore) -> Result<Reopened, SessionError> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(|cause| SessionError::Open { path: path.to_owned(), cause })?;
        // Before the first byte is read: what another process appends meanwhile would be missing.
        lock(&file, path)?;
        let failed = |cause| SessionError::Read { path: path.to_owned(), cause };
        let open = || File::open(path).map_err(|cause| SessionError::Open { path: path.to_owned(), cause });
        // Read through files of their own: each thread needs a position of its own.
        let (first, whole) = (open()?, open()?);
        let Some(first) = Records::new(first).next().transpose().map_err(failed)? else {
            return Err(failed(ReadError::Empty));
        };
        // The id is a part of what the chain covers.
        let Fact::Session { id, .. } = first.fact else { return Err(failed(not_a_session())) };
        let mut records = Records::new(&file);
        // One thread checks the chain, which is less work, and then both read. Half a line at the end is no part of the
        // chain.
        let (recorded, whole_bytes, ends_open, found) = std::thread::scope(|scope| {
            let helper = records.helper();
            let found = scope.spawn(|| {
                let found = chains.faults(id.as_str(), whole, MAX_LINE as u64);
                helper.run();
                found
            });
            let recorded = Recorded::read(&mut records);
            let (whole_bytes, ends_open) = (records.whole_bytes(), records.ends_open());
            // If not all was read, the other thread waits for its turn.
            drop(records);
            let found = found.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (recorded, whole_bytes, ends_open, found)
        });
        let (recorded, found, chains) = (recorded.map_err(failed)?, found?, chains.clone());
        Ok(Reopened { file, path: path.to_owned(), clock, recorded, whole_bytes, ends_open, chains, found })
    }
}

impl Reopened {
    /// Returns the contents of the log.
    pub fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what is wrong with the log. It does not keep the session from being resumed, which records it.
    pub fn found(&self) -> &[ChainFault] {
        &self.found
    }

    /// Resumes the session: removes half a line, records that the session is resumed, and settles every call that the
    /// previous process left behind. A call that ran is recorded as interrupted, one that had not begun as not run.
    ///
    /// # Errors
    ///
    /// When the log cannot be written.
    pub fn resume(self, model: &ModelId) -> Result<(SessionLog, Recorded), SessionError> {
        let Self { mut file, path, clock, mut recorded, whole_bytes, ends_open, chains, found } = self;
        let mend = |file: &mut File| -> io::Result<()> {
            if recorded.torn_bytes > 0 {
                // Half a line is not an entry: what it was to announce did not happen.
                file.set_len(whole_bytes)?;
            }
            // A whole entry without its line end: the next one would go on in its line.
            if ends_open { file.write_all(b"\n") } else { Ok(()) }
        };
        mend(&mut file).map_err(|cause| SessionError::Write { path: path.clone(), cause })?;
        // The next line covers what is there, whatever was found wrong with it: that is in the line.
        let earlier = File::open(&path).map_err(|cause| SessionError::Open { path: path.clone(), cause })?;
        let chain = chains.chain(recorded.id.as_str(), earlier)?;
        let log = SessionLog::new(Box::new(file), recorded.id.clone(), path, clock, Some(chain));
        let torn_bytes = recorded.torn_bytes;
        // The first line of the new process says what was mended and found, so that it is not lost.
        log.append(&Fact::Resumed { pid: std::process::id(), model: model.clone(), torn_bytes, found })?;
        // A conversation with an open call is one that no service takes.
        settle_open(&log, &mut recorded)?;
        Ok((log, recorded))
    }
}

impl Opened for Reopened {
    fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    fn found(&self) -> &[ChainFault] {
        &self.found
    }

    fn resume(self: Box<Self>, model: &ModelId) -> Result<(Arc<dyn Journal>, Recorded), SessionError> {
        let (log, recorded) = Self::resume(*self, model)?;
        Ok((Arc::new(log) as Arc<dyn Journal>, recorded))
    }
}

/// Takes the lock on a log; it is held as long as the file is open.
///
/// A process that was killed while it started a program leaves the open file with the program until that begins to
/// run, and so does the lock outlive it for a moment. That moment is waited for; a process that lives is not.
pub(super) fn lock(file: &File, path: &Path) -> Result<(), SessionError> {
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(cause)) => return Err(SessionError::Lock { path: path.to_owned(), cause }),
            Err(TryLockError::WouldBlock) => {
                let holder = holder(path);
                if holder.is_none_or(is_alive) || since.elapsed() >= DEAD_HOLDER {
                    return Err(SessionError::Held { path: path.to_owned(), holder });
                }
                std::thread::sleep(LOCK_PAUSE);
            }
        }
    }
}

fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // Another user's process cannot be asked, and so it lives.
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// Returns the process that the log names last as its writer. Unreadable lines are ignored.
fn holder(path: &Path) -> Option<u32> {
    let records = Records::new(File::open(path).ok()?);
    let said = records.map_while(Result::ok).filter_map(|logged| {
        if let Fact::Session { pid: Some(pid), .. } | Fact::Resumed { pid, .. } = logged.fact {
            Some(pid)
        } else {
            None
        }
    });
    said.last()
}
