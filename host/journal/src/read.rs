//! Reads a log, entry by entry.
//!
//! An interrupted log may end with half a line: that is ignored, and [`Records::torn_bytes`] returns its length.
//! Anything else that is not an entry is damage, reported with its line; nothing is guessed or skipped. Whatever the
//! file contains, reading it neither panics nor keeps more in memory than some blocks of whole lines ([`Blocks`]), of
//! which one has a single line if that is long.
//!
//! A second thread can read along ([`Records::helper`]): blocks are parsed on both, and their entries come in their
//! order. Deliberately not here: what the entries mean together, and writing.

mod blocks;
mod line;
mod tagged;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec;

use self::blocks::{Blocks, Ending, Parsed};
pub(crate) use self::line::parse;
use crate::{Logged, SESSION_VERSION};

/// The longest line of a log, in bytes. Protects the reader's memory; a reply may be as large. No longer line is
/// written.
pub(crate) const MAX_LINE: usize = 256 << 20;

/// The most blocks that are parsed before it is their turn, on either thread. Bounds the memory for them.
const MAX_EARLY: usize = 4;

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system does not hand it over.
    #[error("it cannot be read")]
    Io(#[from] io::Error),
    /// It has no entries: the process that created it ended at once.
    #[error("it is empty")]
    Empty,
    /// A newer host wrote it.
    #[error("its format has version {version}, and this host reads version {SESSION_VERSION}")]
    Version {
        /// The version.
        version: u32,
    },
    /// A line is not an entry, or is invalid at this position.
    // The parser sees one line, and calls it the first.
    #[error("line {line} is damaged: {}", why.replace(" at line 1 column ", " at column "))]
    Damaged {
        /// The line, from 1.
        line: u64,
        /// Why it is damaged.
        why: String,
    },
}

impl ReadError {
    /// Returns advice on how to fix it, as a sentence without a full stop.
    pub(crate) fn help(&self) -> &'static str {
        match self {
            Self::Io(_) => "check that it is a file that you may read",
            Self::Empty => "it has no messages; start a new session",
            Self::Version { .. } => "resume it with the version of host that wrote it",
            Self::Damaged { .. } => "fix or remove the line, or start a new session",
        }
    }
}

/// The entries of a log, oldest first. Ends after the first error.
pub struct Records<R = Box<dyn Read + Send>> {
    blocks: Arc<Mutex<Blocks<R>>>,
    /// The blocks that another thread parsed, with their numbers.
    results: Option<Receiver<(u64, Parsed)>>,
    /// Those that were parsed before it was their turn.
    early: BTreeMap<u64, Parsed>,
    /// The number of the next block.
    next: u64,
    /// What is left of the block before it.
    entries: vec::IntoIter<Logged>,
    ending: Ending,
    line: u64,
    whole_bytes: u64,
    torn_bytes: u64,
    ends_open: bool,
    ended: bool,
}

/// Another thread's part in reading a log. If it is dropped, the log is read without it.
pub(crate) struct Helper<R> {
    blocks: Arc<Mutex<Blocks<R>>>,
    results: SyncSender<(u64, Parsed)>,
}

impl<R: Read> Records<R> {
    /// Reads from here.
    pub fn new(input: R) -> Self {
        Self {
            blocks: Arc::new(Mutex::new(Blocks::new(input))),
            results: None,
            early: BTreeMap::new(),
            next: 0,
            entries: Vec::new().into_iter(),
            ending: Ending::Block,
            line: 0,
            whole_bytes: 0,
            torn_bytes: 0,
            ends_open: false,
            ended: false,
        }
    }

    /// Returns what another thread runs to read along. It waits while it is ahead, until these records are dropped.
    pub(crate) fn helper(&mut self) -> Helper<R> {
        let (results, taken) = sync_channel(MAX_EARLY);
        self.results = Some(taken);
        Helper { blocks: Arc::clone(&self.blocks), results }
    }

    /// The line of the entry that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the number of bytes of a half-written line at the end; known once all entries are read.
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// Returns the number of bytes in whole entries; known once all are read.
    pub(crate) fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// Returns whether the last entry is whole but for its line end; known once all are read.
    pub(crate) fn ends_open(&self) -> bool {
        self.ends_open
    }

    fn read(&mut self) -> Result<Option<Logged>, ReadError> {
        loop {
            if let Some(logged) = self.entries.next() {
                self.line += 1;
                return Ok(Some(logged));
            }
            match std::mem::replace(&mut self.ending, Ending::Block) {
                Ending::Block => {}
                Ending::Torn(bytes) => self.torn_bytes = bytes,
                Ending::Failed(cause) => return Err(cause.into()),
                Ending::Version(version) => return Err(ReadError::Version { version }),
                Ending::Damaged(why) => return Err(ReadError::Damaged { line: self.line + 1, why }),
            }
            match self.parsed() {
                Some(parsed) => {
                    self.whole_bytes += parsed.whole_bytes;
                    self.ends_open = parsed.ends_open;
                    (self.entries, self.ending) = (parsed.entries.into_iter(), parsed.ending);
                }
                None if self.line == 0 => return Err(ReadError::Empty),
                None => return Ok(None),
            }
        }
    }

    /// Returns the entries of the next block, which this thread parses if no other one has begun to.
    fn parsed(&mut self) -> Option<Parsed> {
        loop {
            self.early.extend(self.results.iter().flat_map(Receiver::try_iter));
            if let Some(parsed) = self.early.remove(&self.next) {
                self.next += 1;
                return Some(parsed);
            }
            let block = if self.early.len() < MAX_EARLY { lock(&self.blocks).next() } else { None };
            match block {
                Some(block) if block.number == self.next => {
                    self.next += 1;
                    return Some(block.parse());
                }
                Some(block) => drop(self.early.insert(block.number, block.parse())),
                // Another thread has the next block, or there are no more.
                None => self.early.extend([self.results.as_ref()?.recv().ok()?]),
            }
        }
    }
}

impl<R: Read> Helper<R> {
    /// Parses blocks until there are no more.
    pub(crate) fn run(self) {
        loop {
            let Some(block) = lock(&self.blocks).next() else { return };
            if self.results.send((block.number, block.parse())).is_err() {
                return;
            }
        }
    }
}

fn lock<R>(blocks: &Mutex<Blocks<R>>) -> MutexGuard<'_, Blocks<R>> {
    blocks.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Logged, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let read = self.read().transpose();
        self.ended = !matches!(read, Some(Ok(_)));
        read
    }
}
