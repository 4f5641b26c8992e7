//! Verifies what is kept of a session, and reads it without changing anything.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use host_files::{ChainFault, ChainStore, LineState};
use serde::Deserialize;

use crate::journal::{Change, Gap, JournalError, MAX_LINE, chain_name, journal_path, read_lines};
use crate::objects::FOLDER;
use crate::state::{Digest, State};

/// What a journal has, read without opening it for changes.
#[derive(Clone, Debug, Default)]
pub struct RecordedChanges {
    /// The changes, oldest first.
    pub changes: Vec<Change>,
    /// When each of the changes was written down, in milliseconds since 1970; `None` from an older host.
    pub times: Vec<Option<u64>>,
    /// What was not kept, oldest first.
    pub gaps: Vec<Gap>,
}

impl RecordedChanges {
    /// Reads the journal in a folder. A folder without one has no changes.
    ///
    /// # Errors
    ///
    /// When it cannot be read, a newer host wrote it, or it is damaged.
    pub fn read(folder: &Path) -> Result<Self, JournalError> {
        let path = journal_path(folder);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(cause) => return Err(JournalError::Io { path, cause }),
        };
        let lines = read_lines(file, &path)?;
        Ok(Self { changes: lines.changes, times: lines.times, gaps: lines.gaps })
    }
}

/// What verifying the journal of a session, and what it keeps, has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedChanges {
    /// The number of the journal's whole lines.
    pub lines: u64,
    /// What is wrong with the journal now.
    pub faults: Vec<ChainFault>,
    /// What was wrong with it when a later process continued it, with the line that says so.
    pub recorded: Vec<(u64, ChainFault)>,
    /// Whether missing lines at the end would be noticed.
    pub has_head: bool,
    /// The number of contents that are as they were kept.
    pub kept: u64,
    /// Contents that are not as they were kept, by their digests.
    pub damaged: Vec<Digest>,
    /// Contents that the journal names and that are gone.
    pub missing: Vec<Digest>,
}

/// What a line says about the lines before it.
#[derive(Deserialize)]
struct Found {
    found: Option<Vec<ChainFault>>,
}

impl VerifiedChanges {
    /// Verifies the journal in a folder, and each content that it keeps. A folder that was never made has none.
    ///
    /// # Errors
    ///
    /// When something cannot be read.
    pub fn verify(folder: &Path, chains: &ChainStore) -> Result<Self, JournalError> {
        let failed = |cause| JournalError::Io { path: folder.to_owned(), cause };
        let (mut verified, mut named) = Self::of_journal(folder, chains)?;
        for digest in contents(&folder.join(FOLDER)).map_err(failed)? {
            let file = File::open(folder.join(FOLDER).join(digest.as_str())).map_err(failed)?;
            let (found, _) = Digest::of_reader(file).map_err(failed)?;
            named.remove(&digest);
            if found == digest { verified.kept += 1 } else { verified.damaged.push(digest) }
        }
        verified.missing = named.into_iter().collect();
        Ok(verified)
    }

    /// Returns whether something is or was wrong with the journal, without reading the contents.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn is_journal_changed(folder: &Path, chains: &ChainStore) -> Result<bool, JournalError> {
        let (verified, _) = Self::of_journal(folder, chains)?;
        let recorded = verified.recorded.iter().map(|(_, fault)| fault);
        Ok(verified.faults.iter().chain(recorded).any(|fault| fault.is_change()))
    }

    /// Verifies the journal. Also returns the contents that it names.
    fn of_journal(folder: &Path, chains: &ChainStore) -> Result<(Self, BTreeSet<Digest>), JournalError> {
        let path = journal_path(folder);
        let failed = |cause| JournalError::Io { path: path.clone(), cause };
        let (mut recorded, mut named) = (Vec::new(), BTreeSet::new());
        let each = |number: u64, line: &[u8], state: LineState| {
            if let Ok(Found { found: Some(found) }) = serde_json::from_slice(line)
                // Only a line that is as it was written may say what was found: otherwise a forged one could excuse a
                // change.
                && state == LineState::Intact
            {
                recorded.extend(found.into_iter().map(|fault| (number, fault)));
            }
            // What was never kept is not missing.
            if let Ok(Change { before: State::File { digest, .. }, not_kept: None, .. }) = serde_json::from_slice(line)
            {
                named.insert(digest);
            }
            // A line that is no longer what it was excuses nothing.
            if let Ok(Gap { dropped, .. }) = serde_json::from_slice(line)
                && state == LineState::Intact
            {
                for digest in &dropped {
                    named.remove(digest);
                }
            }
        };
        let examined = match File::open(&path) {
            Ok(file) => chains.examine(&chain_name(folder), file, MAX_LINE, each)?,
            // A journal that was removed whole is seen by the head beside the key, so nothing is examined as well.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                chains.examine(&chain_name(folder), io::empty(), MAX_LINE, each)?
            }
            Err(error) => return Err(failed(error)),
        };
        let (lines, faults, has_head) = (examined.lines, examined.faults(), examined.has_head);
        Ok((Self { lines, faults, recorded, has_head, ..Self::default() }, named))
    }
}

/// Returns the contents in a folder, by their names. What has no digest as its name is a content that was being
/// written.
fn contents(folder: &Path) -> io::Result<Vec<Digest>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut digests = Vec::new();
    for entry in entries {
        digests.extend(entry?.file_name().into_string().ok().and_then(|name| Digest::try_from(name).ok()));
    }
    digests.sort();
    Ok(digests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Journal;

    fn change(name: &str, before: State) -> Change {
        let (call, path) = (name.to_owned(), Path::new("/work").join(name));
        Change { call, path, before, after: State::file(b"new", 0o644), not_kept: None, beside: None }
    }

    /// A journal with a kept content, in a folder beside a key.
    fn world() -> (tempfile::TempDir, ChainStore) {
        let folder = tempfile::tempdir().expect("a folder");
        let chains = ChainStore::open(&folder.path().join("audit")).expect("made");
        let mut journal = Journal::open_chained(&folder.path().join("s.undo"), &chains).expect("opened");
        journal.keep(&b"old"[..]).expect("kept");
        journal.record(change("a", State::file(b"old", 0o644))).expect("recorded");
        journal.record_gap("a", "a program ran").expect("recorded");
        journal.record(change("b", State::Absent)).expect("recorded");
        (folder, chains)
    }

    #[test]
    fn journal_is_verified_and_read_with_the_times_of_its_changes() {
        let (folder, chains) = world();
        let at = folder.path().join("s.undo");
        let verified = VerifiedChanges::verify(&at, &chains).expect("readable");
        assert_eq!(verified, VerifiedChanges { lines: 4, has_head: true, kept: 1, ..VerifiedChanges::default() });
        let read = RecordedChanges::read(&at).expect("readable");
        assert_eq!((read.changes.len(), read.gaps.len(), read.gaps[0].at), (2, 1, 1));
        assert!(read.times.len() == 2 && read.times.iter().all(Option::is_some), "{:?}", read.times);
        assert_eq!(RecordedChanges::read(&folder.path().join("t.undo")).expect("there is none").changes, []);
        let none = VerifiedChanges::verify(&folder.path().join("t.undo"), &chains).expect("there is none");
        assert_eq!(none, VerifiedChanges::default());
        assert!(!folder.path().join("t.undo").exists(), "looking makes nothing");
    }

    // promise audit.found
    #[test]
    fn journal_that_was_cut_says_so_behind_its_next_change() {
        let (folder, chains) = world();
        let at = folder.path().join("s.undo");
        let bytes = fs::read(journal_path(&at)).expect("read");
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        fs::write(journal_path(&at), lines[..2].concat()).expect("written");
        assert!(VerifiedChanges::is_journal_changed(&at, &chains).expect("readable"));
        for name in ["c", "d"] {
            let mut journal = Journal::open_chained(&at, &chains).expect("opened");
            journal.record(change(name, State::Absent)).expect("recorded");
        }
        let verified = VerifiedChanges::verify(&at, &chains).expect("readable");
        assert_eq!((verified.faults.as_slice(), verified.recorded), (&[][..], vec![(3, ChainFault::Cut { lines: 2 })]));
        assert!(VerifiedChanges::is_journal_changed(&at, &chains).expect("readable"));
    }

    #[test]
    fn journal_attacked_byte_by_byte_is_found_changed() {
        let (folder, chains) = world();
        let at = folder.path().join("s.undo");
        let bytes = fs::read(journal_path(&at)).expect("read");
        for byte in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[byte] ^= 1;
            let examined = chains.examine(&chain_name(&at), changed.as_slice(), MAX_LINE, |_, _, _| {});
            let faults = examined.expect("readable").faults();
            assert!(faults.iter().any(|fault| fault.is_change()), "byte {byte}");
        }
    }
}
