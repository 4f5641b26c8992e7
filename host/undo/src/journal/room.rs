//! How much is kept of what a session replaced.
//!
//! Promises: the contents that are kept stay within a limit. What was there before the session, and what the last
//! change of each file replaced, goes last; older versions between the two go first, the oldest of all before the
//! others. For each call it is written down that a version is no longer kept, before it is removed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;

use super::{Change, Entry, Gap, Journal, JournalError};
use crate::state::{Digest, State};

/// The most bytes of replaced contents that are kept of a session. Protects the disk from programs that write the same
/// files again and again. Of each file the version before the session and the one before its last change are kept
/// longest.
pub const MAX_KEPT: u64 = 1 << 30;

/// How many changes are added before it is looked again for versions that can go, if there were none. Bounds the time
/// that this takes where each file was changed once.
const AGAIN: usize = 1_000;

/// How many contents one line names that are not kept any more. A line has room for them.
const NAMED: usize = 500;

/// How much is kept, and how much may be.
#[derive(Debug)]
pub(super) struct Room {
    most: u64,
    /// The bytes that are kept, once they were counted.
    kept: Option<u64>,
    /// The number of changes before which there is nothing that can go.
    look_at: usize,
}

impl Room {
    pub(super) fn new(most: u64) -> Self {
        Self { most, kept: None, look_at: 0 }
    }

    /// Counts a content that is kept from now on.
    pub(super) fn add(&mut self, size: u64) {
        self.kept = self.kept.map(|kept| kept.saturating_add(size));
    }
}

impl Journal {
    /// Sets the most bytes that are kept, which is [`MAX_KEPT`] otherwise.
    pub fn keep_at_most(&mut self, most: u64) {
        self.room.most = most;
    }

    /// Makes room for a content of so many bytes. Returns why it cannot be kept, a clause, if it cannot.
    ///
    /// # Errors
    ///
    /// When the contents cannot be counted, or the journal cannot be written.
    pub fn room_for(&mut self, size: u64) -> Result<Option<String>, JournalError> {
        if self.kept()?.saturating_add(size) <= self.room.most {
            return Ok(None);
        }
        if self.changes.len() >= self.room.look_at {
            self.drop_between(size)?;
        }
        let fits = self.kept()?.saturating_add(size) <= self.room.most;
        Ok((!fits).then(|| format!("the limit of {} for a session is reached", shown(self.room.most))))
    }

    fn kept(&mut self) -> Result<u64, JournalError> {
        if let Some(kept) = self.room.kept {
            return Ok(kept);
        }
        let kept = self.objects.total().map_err(|cause| self.failed(cause))?;
        self.room.kept = Some(kept);
        Ok(kept)
    }

    /// Removes versions between the first and the last of their files, the oldest first, until a quarter of the room
    /// and so many bytes are free.
    fn drop_between(&mut self, size: u64) -> Result<(), JournalError> {
        // A quarter at once: removing one version for each change would go over the whole journal each time.
        let goal = (self.room.most / 4 * 3).saturating_sub(size);
        let mut left = self.kept()?;
        let mut dropped: HashSet<Digest> = HashSet::new();
        for digest in between(&self.changes) {
            // The oldest first, and no more than is needed: every version that stays is a state that the user can
            // return to.
            if left <= goal {
                break;
            }
            if let Some(size) = self.objects.size(digest) {
                left = left.saturating_sub(size);
                dropped.insert(digest.clone());
            }
        }
        if dropped.is_empty() {
            // Otherwise each further change would search all changes again and find nothing.
            self.room.look_at = self.changes.len() + AGAIN;
            return Ok(());
        }
        // Before it is true: a process that is killed in between only says too much.
        let mut calls: BTreeMap<String, Vec<Digest>> = BTreeMap::new();
        for change in &self.changes {
            if let Some(digest) = replaced(change).filter(|digest| dropped.contains(*digest)) {
                calls.entry(change.call.clone()).or_default().push(digest.clone());
            }
        }
        let most = shown(self.room.most);
        for (call, digests) in calls {
            // A line of the journal has a limit; one call may have replaced thousands of files.
            for digests in digests.chunks(NAMED) {
                let count = digests.len();
                let why =
                    format!("{count} of the versions that it replaced are not kept any more: over {most} were kept");
                // Named, so that whoever verifies the journal does not miss them.
                self.write(Entry::Gap(Gap { call: call.clone(), why, dropped: digests.to_vec(), at: 0 }))?;
            }
        }
        for digest in &dropped {
            let removed = self.objects.remove(digest);
            removed.map_err(|cause| self.failed(cause))?;
        }
        self.room.kept = None;
        Ok(())
    }
}

/// Returns the contents that neither the first nor the last change of a file replaced, the oldest first.
fn between(changes: &[Change]) -> impl Iterator<Item = &Digest> {
    let mut ends: HashMap<&OsStr, [usize; 2]> = HashMap::new();
    for (at, change) in changes.iter().enumerate() {
        ends.entry(change.path.as_os_str()).and_modify(|[_, last]| *last = at).or_insert([at, at]);
    }
    let needed: HashSet<&Digest> =
        ends.values().flatten().filter_map(|at| changes.get(*at).and_then(replaced)).collect();
    let mut seen: HashSet<&Digest> = HashSet::new();
    changes.iter().filter_map(replaced).filter(move |digest| !needed.contains(digest) && seen.insert(digest))
}

/// The content that a change replaced.
fn replaced(change: &Change) -> Option<&Digest> {
    match &change.before {
        State::File { digest, .. } if change.not_kept.is_none() => Some(digest),
        State::File { .. } | State::Absent | State::Folder { .. } | State::Link { .. } | State::Other => None,
    }
}

fn shown(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mebibytes => format!("{mebibytes} MiB"),
    }
}
