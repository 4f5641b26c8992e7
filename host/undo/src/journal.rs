//! The journal: each change of a file, written down before it happens.
//!
//! Promises: the content that a change replaces is kept before the change is written down, and that before it happens;
//! so whatever interrupts it, the journal names no content that is not there, and no file was changed that is not in
//! it.

mod room;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use host_files::{Chain, ChainError, ChainFault, ChainStore};
use serde::{Deserialize, Serialize};

pub use self::room::MAX_KEPT;
use self::room::Room;
use crate::objects::{FOLDER, Objects};
use crate::state::{Digest, State};

/// The version of the journal's format, in its first line. Version 1 does not have when programs begin and end.
const VERSION: u32 = 2;

/// What is not known of a program that never ended: its host was killed, or it runs now.
const NOT_ENDED: &str = "what its program changed is not known: it runs, or its host was killed while it ran";

/// How it begins what is not kept of a folder that cannot be looked at.
pub(crate) const NOT_LOOKED_AT: &str = "what programs change in `";

/// The longest line of a journal, in bytes. Protects memory: a path has at most 4 KiB on Linux.
pub(crate) const MAX_LINE: u64 = 64 << 10;

/// One change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The call that made it, as the session names it, or the undo.
    pub call: String,
    /// The file: absolute.
    pub path: PathBuf,
    /// What was there.
    pub before: State,
    /// What is there behind it.
    pub after: State,
    /// Why what was there is not kept, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
    /// The name beside the file that holds one of both contents for a moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
}

/// What a call may have changed without anything being kept of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The call.
    pub call: String,
    /// What is not kept, and why: a clause for a user, such as `this machine cannot confine programs, so …`.
    pub why: String,
    /// The contents that were kept until then, and are not any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Digest>,
    /// The number of changes before it.
    #[serde(skip)]
    pub at: usize,
}

impl Gap {
    /// Returns whether files in the session's own folders may have changed, and not only files outside of them.
    pub fn is_within(&self) -> bool {
        self.why == NOT_ENDED || self.why.starts_with(NOT_LOOKED_AT)
    }
}

/// One line behind the first.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Entry {
    Change(Change),
    Gap(Gap),
    /// A program of a call is about to start. Programs are numbered by each process that writes the journal.
    ProgramBegan {
        call: String,
        program: u64,
    },
    /// What the program changed is written down, or nobody looks for it.
    ProgramEnded {
        program: u64,
    },
    /// A process continues the journal. The programs of the one before can be looked at by nobody.
    Continued {},
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system does not hand it over.
    #[error("the journal of changes `{}` cannot be used", path.display())]
    Io {
        /// The journal.
        path: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// A newer host wrote it.
    #[error("the journal of changes `{}` has version {version}, and this host reads version {VERSION}", path.display())]
    Version {
        /// The journal.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Its lines cannot be chained or verified.
    #[error("the journal of changes cannot be chained")]
    Chain(#[from] ChainError),
    /// A line is not a change.
    #[error("line {line} of the journal of changes `{}` is damaged: {why}", path.display())]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

#[derive(Serialize, Deserialize)]
struct First {
    version: u32,
}

/// One line with what belongs to no entry.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    /// When it was written, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ms: Option<u64>,
    /// What was wrong with the journal until here.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    found: &'a [ChainFault],
}

/// When a program began, by the clock of file systems, in seconds and nanoseconds.
pub(crate) type Began = (i64, i64);

/// What the names of undos begin with, which make changes as calls do; a number follows.
pub const UNDO: &str = "undo-";

/// The changes of a session, with what they replaced.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    objects: Objects,
    room: Room,
    changes: Vec<Change>,
    gaps: Vec<Gap>,
    /// Whether lines of an earlier process are in it, which the next line has to say.
    is_continued: bool,
    chain: Option<Chain>,
    /// What was wrong when it was opened, until the next line has it.
    found: Vec<ChainFault>,
}

impl Journal {
    /// Opens the journal in a folder, which is made if it is missing. Half a line at its end, of a process that was
    /// killed, is removed: that change did not happen.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written, a newer host wrote it, or it is damaged.
    pub fn open(folder: &Path) -> Result<Self, JournalError> {
        Self::open_with(folder, None)
    }

    /// The same, with lines that are chained under the name of the folder.
    ///
    /// # Errors
    ///
    /// As [`Journal::open`], and when the chain cannot be used.
    pub fn open_chained(folder: &Path, chains: &ChainStore) -> Result<Self, JournalError> {
        Self::open_with(folder, Some(chains))
    }

    fn open_with(folder: &Path, chains: Option<&ChainStore>) -> Result<Self, JournalError> {
        let path = journal_path(folder);
        let failed = |cause| JournalError::Io { path: path.clone(), cause };
        // The contents of the user's files will lie here.
        host_files::make_private_folder(folder).map_err(failed)?;
        let objects = Objects::open(folder.join(FOLDER)).map_err(failed)?;
        let file = host_files::append_private(&path).map_err(failed)?;
        let read = OpenOptions::new().read(true).open(&path).map_err(failed)?;
        // Read whole before anything is written: a journal that is damaged is not continued.
        let Lines { changes, gaps, whole_bytes, .. } = read_lines(read, &path)?;
        // A process that was killed left half a line. It names a change that did not happen yet, since the line comes
        // first.
        if file.metadata().map_err(failed)?.len() > whole_bytes {
            file.set_len(whole_bytes).map_err(failed)?;
        }
        let (mut chain, mut found) = (None, Vec::new());
        if let Some(chains) = chains {
            let name = chain_name(folder);
            let opened = || File::open(&path).map_err(failed);
            // Before the chain goes on: the next line covers the file as it is, so what is wrong with it is written
            // into that line.
            found = chains.faults(&name, opened()?, MAX_LINE)?;
            chain = Some(chains.chain(&name, opened()?)?);
        }
        let is_new = whole_bytes == 0;
        let room = Room::new(MAX_KEPT);
        let is_continued = !is_new;
        // Kept until a line has them: only a line that is written covers them.
        let mut journal = Self { path, file, objects, room, changes, gaps, is_continued, chain, found };
        // The version stands in the first line, so that an older host says that it cannot read this one and does not
        // guess.
        if is_new {
            let line = serde_json::to_vec(&First { version: VERSION }).map_err(|error| journal.failed(error.into()))?;
            journal.append(line)?;
        }
        journal.sweep();
        Ok(journal)
    }

    /// The changes, oldest first.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What was not kept, oldest first.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Keeps a content that is about to be replaced, for which [`Journal::room_for`] made room. Returns its digest and
    /// its size in bytes.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn keep(&mut self, content: impl Read) -> Result<(Digest, u64), JournalError> {
        let (digest, size, is_new) = self.objects.keep(content).map_err(|cause| self.failed(cause))?;
        if is_new {
            self.room.add(size);
        }
        Ok((digest, size))
    }

    /// Writes a change down, which has to happen after it.
    ///
    /// # Errors
    ///
    /// When it cannot be written; then it must not happen.
    pub fn record(&mut self, change: Change) -> Result<(), JournalError> {
        self.write(Entry::Change(change))
    }

    /// Writes down that a call may have changed something of which nothing is kept. A second time says nothing new.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn record_gap(&mut self, call: &str, why: &str) -> Result<(), JournalError> {
        if self.gaps.iter().any(|gap| gap.call == call && gap.why == why) {
            return Ok(());
        }
        self.write(Entry::Gap(Gap { call: call.to_owned(), why: why.to_owned(), dropped: Vec::new(), at: 0 }))
    }

    /// Writes down that a program of a call is about to start, under a number that no other program of this process
    /// has. Returns the time of that.
    ///
    /// # Errors
    ///
    /// When it cannot be written; then it must not start.
    pub(crate) fn record_program(&mut self, call: &str, program: u64) -> Result<Began, JournalError> {
        if std::mem::take(&mut self.is_continued) {
            self.write(Entry::Continued {})?;
        }
        self.write(Entry::ProgramBegan { call: call.to_owned(), program })?;
        // The clock by which the kernel dates changes is behind the one that everybody reads.
        let about = self.file.metadata().map_err(|cause| self.failed(cause))?;
        Ok((about.ctime(), about.ctime_nsec()))
    }

    /// Writes down that nothing more is to be found of a program.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(crate) fn record_end(&mut self, program: u64) -> Result<(), JournalError> {
        self.write(Entry::ProgramEnded { program })
    }

    fn write(&mut self, entry: Entry) -> Result<(), JournalError> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let time_ms = since.and_then(|since| u64::try_from(since.as_millis()).ok());
        let line = Line { entry: &entry, time_ms, found: &self.found };
        let line = serde_json::to_vec(&line).map_err(|error| self.failed(error.into()))?;
        self.append(line)?;
        // Only behind the line that has them is on the disk: a failed write must not lose what was found.
        self.found.clear();
        match entry {
            Entry::Change(change) => self.changes.push(change),
            Entry::Gap(gap) => self.gaps.push(Gap { at: self.changes.len(), ..gap }),
            // This process knows which of its programs run.
            Entry::ProgramBegan { .. } | Entry::ProgramEnded { .. } | Entry::Continued {} => {}
        }
        Ok(())
    }

    /// Writes one line: an object, without a line end.
    fn append(&mut self, mut line: Vec<u8>) -> Result<(), JournalError> {
        let sealed = self.chain.as_ref().map(|chain| chain.seal(&mut line)).transpose();
        let sealed = sealed.map_err(|cause| self.failed(cause))?;
        if sealed.is_none() {
            line.push(b'\n');
        }
        if line.len() as u64 > MAX_LINE {
            return Err(self.failed(io::Error::other(format!("an entry of {} bytes is over the limit", line.len()))));
        }
        // One write, so that no process that is killed leaves two halves.
        self.file.write_all(&line).map_err(|cause| self.failed(cause))?;
        let advanced = self.chain.as_mut().zip(sealed).map_or(Ok(()), |(chain, sealed)| chain.advance(sealed));
        advanced.map_err(|cause| self.failed(cause))
    }

    pub(crate) fn objects(&self) -> &Objects {
        &self.objects
    }

    pub(crate) fn failed(&self, cause: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), cause }
    }
}

/// The path of the journal in a folder.
pub(crate) fn journal_path(folder: &Path) -> PathBuf {
    folder.join("changes.jsonl")
}

/// The name of the journal's chain: that of its folder, which has the session's id.
pub(crate) fn chain_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What is in a journal.
#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) changes: Vec<Change>,
    pub(crate) gaps: Vec<Gap>,
    /// When each of the changes was written down, in milliseconds since 1970; an older host did not say.
    pub(crate) times: Vec<Option<u64>>,
    /// The length of the whole lines.
    whole_bytes: u64,
    /// The programs that have not ended: their numbers, and what is not known of them.
    running: BTreeMap<u64, Gap>,
}

impl Lines {
    fn add(&mut self, entry: Entry) {
        let at = self.changes.len();
        match entry {
            Entry::Change(change) => self.changes.push(change),
            Entry::Gap(gap) => self.gaps.push(Gap { at, ..gap }),
            Entry::ProgramBegan { call, program } => {
                let gap = Gap { call, why: NOT_ENDED.to_owned(), dropped: Vec::new(), at };
                self.running.insert(program, gap);
            }
            Entry::ProgramEnded { program } => drop(self.running.remove(&program)),
            Entry::Continued {} => self.interrupt(),
        }
    }

    /// Counts the programs that have not ended as such that never will.
    fn interrupt(&mut self) {
        self.gaps.extend(std::mem::take(&mut self.running).into_values());
        self.gaps.sort_by_key(|gap| gap.at);
    }
}

/// What a line has besides its entry.
#[derive(Deserialize)]
struct Besides {
    time_ms: Option<u64>,
}

pub(crate) fn read_lines(file: File, path: &Path) -> Result<Lines, JournalError> {
    let failed = |cause| JournalError::Io { path: path.to_owned(), cause };
    let damaged = |line, why: String| JournalError::Damaged { path: path.to_owned(), line, why };
    let (mut input, mut lines, mut bytes) = (BufReader::new(file), Lines::default(), Vec::new());
    for line in 1.. {
        bytes.clear();
        // One byte more than allowed tells a line that is too long from one that is just as long.
        let length = (&mut input).take(MAX_LINE + 1).read_until(b'\n', &mut bytes).map_err(failed)? as u64;
        if length > MAX_LINE {
            return Err(damaged(line, format!("it is longer than {MAX_LINE} bytes")));
        }
        // Half a line at the end is what a killed process leaves, and no damage.
        if bytes.last() != Some(&b'\n') {
            break;
        }
        if line == 1 {
            let first: First = serde_json::from_slice(&bytes).map_err(|error| damaged(line, error.to_string()))?;
            if !(1..=VERSION).contains(&first.version) {
                return Err(JournalError::Version { path: path.to_owned(), version: first.version });
            }
        } else {
            let entry = serde_json::from_slice(&bytes).map_err(|error| damaged(line, error.to_string()))?;
            lines.add(entry);
            let Besides { time_ms } =
                serde_json::from_slice(&bytes).map_err(|error| damaged(line, error.to_string()))?;
            // The times stand beside the changes by number; an entry that is not a change adds none.
            lines.times.resize(lines.changes.len(), time_ms);
        }
        lines.whole_bytes += length;
    }
    lines.interrupt();
    Ok(lines)
}
