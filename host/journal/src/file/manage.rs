//! Removes a log, and copies one to a new session.
//!
//! Promises: a log that a process writes is never removed, and nothing outside the folder of the logs is touched; a
//! copy has whole entries only, and needs nothing of the original. Deliberately not here: which session a user means.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use host_files::{ChainStore, without_link};
use host_message::{ModelId, SessionId};

use super::{Original, SessionLog, reopen};
use crate::read::MAX_LINE;
use crate::{About, Artifacts, Clock, Journal, Recorded, SessionError, Stored};

/// Removes the log of this session and everything beside it that has its id.
///
/// # Errors
///
/// When a process writes the log, or something cannot be removed. The log itself is removed last.
pub(super) fn remove(id: &SessionId, log: &Path, chains: &ChainStore) -> Result<(), SessionError> {
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .open(log)
        .map_err(|cause| SessionError::Open { path: log.to_owned(), cause })?;
    // Held until the log is gone, so that nobody resumes it meanwhile.
    reopen::lock(&file, log)?;
    let failed = |path: &Path, cause| SessionError::Remove { path: path.to_owned(), cause };
    let folder = log.parent().unwrap_or(Path::new("."));
    // With the dot, so that no other session's files are meant whose id begins alike.
    let begin = format!("{id}.");
    for entry in fs::read_dir(folder).map_err(|cause| failed(folder, cause))? {
        let path = entry.map_err(|cause| failed(folder, cause))?.path();
        let is_its_own = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begin));
        if is_its_own && path != log {
            // A link is removed, and not what it leads to.
            let is_folder = path.symlink_metadata().is_ok_and(|about| about.is_dir());
            let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|cause| failed(&path, cause))?;
            if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
                // The journal's head lies beside the key, and would report the removed one as missing.
                chains.forget(name)?;
            }
        }
    }
    chains.forget(id.as_str())?;
    // Last: if anything before failed, the session is still listed and can be removed again.
    fs::remove_file(log).map_err(|cause| failed(log, cause))
}

impl Stored {
    /// Copies the log as it is now, and its large outputs, to a new session; returns its id. The original may be in
    /// use. The copy has a chain of its own, and records what was wrong with the original.
    ///
    /// # Errors
    ///
    /// When the log is damaged, or the copy cannot be written. No copy is left then.
    pub fn fork(&self, clock: Clock, chains: &ChainStore) -> Result<SessionId, SessionError> {
        let unreadable = |cause| SessionError::Read { path: self.path.clone(), cause };
        let mut records = self.records().map_err(unreadable)?;
        let model = Recorded::read(&mut records).map_err(unreadable)?.model.unwrap_or_else(|| ModelId::new(""));
        let whole_bytes = records.whole_bytes();
        let workspace = self.workspace().map_err(unreadable)?.unwrap_or_default();
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let whole = File::open(&self.path).map_err(|cause| unreadable(cause.into()))?.take(whole_bytes);
        let examined = chains.examine(self.id.as_str(), whole, MAX_LINE as u64, |_, _, _| {})?;
        let (about, found) = (About { workspace: Path::new(&workspace), model: &model }, examined.faults());
        let original = Original { id: &self.id, found: &found };
        let log = SessionLog::create_as(folder, about, Some(original), clock, chains)?;
        let id = log.id().clone();
        let copied = self.copy_to(&log, whole_bytes);
        let path = log.path().to_owned();
        drop(log);
        if copied.is_err() {
            fs::remove_dir_all(Artifacts::beside(&path).outputs()).ok();
            chains.forget(id.as_str()).ok();
            fs::remove_file(&path).ok();
        }
        copied.map(|()| id)
    }

    /// Copies every entry but the first, which each log has for itself. What names the outputs names those of the copy.
    fn copy_to(&self, log: &SessionLog, whole_bytes: u64) -> Result<(), SessionError> {
        let failed = |cause| SessionError::Write { path: log.path().to_owned(), cause };
        let (old, new) = (self.artifacts().outputs(), log.artifacts().outputs());
        let names = [&self.id, log.id()].map(|id| format!("{id}.outputs"));
        let mut from = BufReader::new(File::open(&self.path).map_err(failed)?.take(whole_bytes));
        let mut line = Vec::new();
        for number in 0.. {
            line.clear();
            // Reading the log before has held each line to the limit.
            if (&mut from).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).map_err(failed)? == 0 {
                break;
            }
            if line.last() != Some(&b'\n') {
                line.push(b'\n');
            }
            if number > 0 {
                let object = without_link(&line);
                let text = String::from_utf8_lossy(&object).replace(&names[0], &names[1]);
                log.write(|bytes| bytes.write_all(text.as_bytes()))?;
            }
        }
        copy_outputs(&old, &new).map_err(failed)
    }
}

fn copy_outputs(old: &Path, new: &Path) -> io::Result<()> {
    match fs::read_dir(old) {
        Ok(outputs) => {
            DirBuilder::new().mode(0o700).create(new)?;
            for output in outputs {
                let output = output?;
                // What is not a file here was not written by the host.
                if output.file_type()?.is_file() {
                    let mut text = File::open(output.path())?;
                    io::copy(&mut text, &mut host_files::create_private(&new.join(output.file_name()))?)?;
                }
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
