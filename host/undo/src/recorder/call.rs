//! What writes down the changes of one call, and of its programs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Recorder, no_unicode};
use crate::journal::{Began, Change, Journal, JournalError};
use crate::place::PERMISSIONS;
use crate::state::State;

/// The largest file whose content is kept when it is removed or renamed, in bytes. Bounds the time that the call waits.
pub const MAX_KEPT_FILE: u64 = 64 << 20;

/// A session's recorder, for the changes of one call.
#[derive(Clone, Debug)]
pub struct CallRecorder {
    recorder: Arc<Recorder>,
    call: Arc<str>,
}

/// One program that may change files, from before it starts until what it changed is written down. If it is dropped
/// before, nothing is written down: it was not started.
#[derive(Debug)]
#[must_use = "what the program changes is written down when it has ended"]
pub struct ProgramRecorder {
    of: CallRecorder,
    number: u64,
    began: Began,
}

/// What a change replaces.
#[derive(Debug)]
pub enum Old<'a> {
    /// Nothing.
    Absent,
    /// A file with this content and these permission bits.
    File(&'a [u8], u32),
    /// A folder with these permission bits.
    Folder(u32),
    /// Whatever is there: it is looked at.
    There,
}

impl CallRecorder {
    /// The recorder for the changes of this call.
    pub fn new(recorder: Arc<Recorder>, call: &str) -> Self {
        Self { recorder, call: call.into() }
    }

    /// Keeps what is about to be replaced at a path, which has no link on the way, and writes the change down.
    ///
    /// # Errors
    ///
    /// When that fails; then the change must not happen.
    pub fn change(&self, path: &Path, old: Old<'_>, after: State) -> Result<(), JournalError> {
        // The lock is held until the line is written, so that two calls on one file are in the journal in their order.
        let mut inner = self.recorder.inner();
        let journal = inner.journal(&self.recorder)?;
        // The journal is JSON, which has no other names; a gap says so.
        if path.to_str().is_none() {
            return journal.record_gap(&self.call, &no_unicode(path));
        }
        let (before, not_kept) = match old {
            Old::Absent => (State::Absent, None),
            Old::File(content, mode) => {
                // Before the content is kept: making room may itself write lines, which must stand before this one.
                let full = journal.room_for(content.len() as u64)?;
                if full.is_none() {
                    journal.keep(content)?;
                }
                (State::file(content, mode), full)
            }
            Old::Folder(mode) => (State::Folder { mode }, None),
            // The caller does not have the content, as when a file is removed.
            Old::There => there(journal, path)?,
        };
        self.record(journal, path, before, after, not_kept)
    }

    /// Writes down that a file or link is about to be renamed. Nothing may be there under its new name.
    ///
    /// # Errors
    ///
    /// As [`CallRecorder::change`].
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), JournalError> {
        let mut inner = self.recorder.inner();
        let journal = inner.journal(&self.recorder)?;
        if let Some(path) = [from, to].into_iter().find(|path| path.to_str().is_none()) {
            return journal.record_gap(&self.call, &no_unicode(path));
        }
        let (what, not_kept) = there(journal, from)?;
        self.record(journal, from, what.clone(), State::Absent, not_kept.clone())?;
        self.record(journal, to, State::Absent, what, not_kept)
    }

    fn record(
        &self,
        journal: &mut Journal,
        path: &Path,
        before: State,
        after: State,
        not_kept: Option<String>,
    ) -> Result<(), JournalError> {
        let (call, path) = (self.call.as_ref().to_owned(), path.to_owned());
        journal.record(Change { call, path, before, after, not_kept, beside: None })
    }

    /// The session's recorder.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Gets ready for a program, or anything else that changes files by itself.
    ///
    /// # Errors
    ///
    /// When the journal cannot be used; then it must not run.
    pub fn before_program(&self) -> Result<ProgramRecorder, JournalError> {
        let mut inner = self.recorder.inner();
        self.recorder.look(&mut inner, None)?;
        inner.programs += 1;
        let number = inner.programs;
        // If this process is killed, the journal names the call whose program ran.
        let began = inner.journal(&self.recorder)?.record_program(&self.call, number)?;
        inner.running.push((number, Arc::clone(&self.call)));
        Ok(ProgramRecorder { of: self.clone(), number, began })
    }

    /// Writes down that the call may have changed something of which nothing is kept. See [`Gap`](crate::Gap).
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn gap(&self, why: &str) -> Result<(), JournalError> {
        let mut inner = self.recorder.inner();
        inner.journal(&self.recorder)?.record_gap(&self.call, why)
    }
}

impl ProgramRecorder {
    /// Returns the same for a program that goes on behind its call. What is found while only such programs run may as
    /// well be the user's work, and is not written down as theirs.
    pub fn in_background(self) -> Self {
        self.of.recorder.inner().ended(self.number);
        self
    }

    /// Writes down what the program changed, which has ended. Returns the paths.
    ///
    /// # Errors
    ///
    /// When the journal cannot be written.
    pub fn after_program(self) -> Result<Vec<PathBuf>, JournalError> {
        let recorder = &self.of.recorder;
        let mut inner = recorder.inner();
        let known = inner.journal(recorder)?.changes().len();
        recorder.look(&mut inner, Some(&self.of.call))?;
        inner.name_left_out(recorder, &self.of.call, self.began)?;
        let changes = inner.journal(recorder)?.changes().get(known..).unwrap_or_default();
        Ok(changes.iter().map(|change| change.path.clone()).collect())
    }
}

impl Drop for ProgramRecorder {
    fn drop(&mut self) {
        self.of.recorder.inner().ended(self.number);
    }
}

/// Keeps what is at a path. Returns why it is not kept, if it is not.
fn there(journal: &mut Journal, path: &Path) -> Result<(State, Option<String>), JournalError> {
    use std::os::unix::fs::MetadataExt as _;
    let about = match fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((State::Absent, None)),
        Err(error) => return Err(journal.failed(error)),
    };
    let mode = about.mode() & PERMISSIONS;
    if about.is_dir() {
        return Ok((State::Folder { mode }, None));
    }
    if about.is_symlink() {
        return Ok((State::Link { target: fs::read_link(path).map_err(|error| journal.failed(error))? }, None));
    }
    if !about.is_file() {
        return Ok((State::Other, Some("it is not a regular file".to_owned())));
    }
    // By the size that the system says, before a byte is copied.
    if about.len() > MAX_KEPT_FILE {
        return Ok((State::Other, Some(format!("{} bytes are too many to keep", about.len()))));
    }
    // It is still changed: the user's work must not depend on the room for undoing it.
    if let Some(full) = journal.room_for(about.len())? {
        return Ok((State::Other, Some(full)));
    }
    let file = fs::File::open(path).map_err(|error| journal.failed(error))?;
    let (digest, size) = journal.keep(file)?;
    Ok((State::File { digest, size, mode }, None))
}
