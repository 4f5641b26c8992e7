//! Taking changes back.
//!
//! Promises: only a file that is as the session left it is changed; nobody else's bytes are lost, even if somebody
//! writes to the file at that moment: contents are swapped and not written over, and what was swapped out is looked at
//! before it is removed. A process that is killed loses nothing: what is taken back is kept and written down before.

use std::io;
use std::path::Path;

use crate::journal::{Change, Journal, JournalError};
use crate::place::{Found, Place};
use crate::plan::{Obstacle, Step};
use crate::state::State;

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is as it was before the changes.
    Restored,
    /// It was so already.
    Already,
    /// It is left alone, for this reason.
    LeftAlone(Reason),
}

/// Why a file is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Somebody changed it since.
    Changed,
    /// It could not be taken back before.
    Obstacle(Obstacle),
    /// A folder on the way to it is a link now, or none.
    Moved,
    /// It is a folder that was made, and something is in it.
    NotEmpty,
    /// The system does not allow it. Its words.
    Failed(String),
}

impl Journal {
    /// Takes the changes of all these files back, as the undo `call`: what goes in the first round, so that folders are
    /// empty, and what comes in the second, so that they are there.
    ///
    /// # Errors
    ///
    /// When the journal cannot be written: then the files behind it are as they were.
    pub fn restore_all(&mut self, steps: Vec<Step>, call: &str) -> Result<Vec<(Step, Outcome)>, JournalError> {
        let (going, coming): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(|step| step.target == State::Absent);
        let mut outcomes = Vec::with_capacity(going.len() + coming.len());
        for step in going.into_iter().rev().chain(coming) {
            let outcome = self.restore(&step, call)?;
            outcomes.push((step, outcome));
        }
        outcomes.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
        Ok(outcomes)
    }

    /// Takes the changes of one file back, as the undo `call`.
    ///
    /// # Errors
    ///
    /// When the journal cannot be written: then the file is as it was.
    pub fn restore(&mut self, step: &Step, call: &str) -> Result<Outcome, JournalError> {
        // Held open from here on: all below means this folder, whatever happens to its path.
        let place = match Place::open(&step.path) {
            Ok(Found::Place(place)) => place,
            // The file is to be absent, and without its folder it is.
            Ok(Found::NoFolder) if step.target == State::Absent => return Ok(Outcome::Already),
            Ok(Found::NoFolder) => return Ok(Outcome::LeftAlone(Reason::Moved)),
            Ok(Found::Elsewhere) => return Ok(Outcome::LeftAlone(Reason::Moved)),
            Err(error) => return Ok(failed(&error)),
        };
        let now = match place.state() {
            Ok(now) => now,
            Err(error) => return Ok(failed(&error)),
        };
        // Before the obstacles: what is as it should be needs nothing that is not kept.
        if now == step.target {
            return Ok(Outcome::Already);
        }
        if let Some(obstacle) = &step.obstacle {
            return Ok(Outcome::LeftAlone(Reason::Obstacle(obstacle.clone())));
        }
        // Only what the session left is replaced; anything else is someone's work.
        if !step.left.contains(&now) || now == State::Other {
            return Ok(Outcome::LeftAlone(Reason::Changed));
        }
        if let State::File { digest, .. } = &step.target
            && !self.objects().has(digest)
        {
            let why = "there was no more room for it; undo to an earlier or a later call".to_owned();
            return Ok(Outcome::LeftAlone(Reason::Obstacle(Obstacle::NotKept(why))));
        }
        // What is taken back is kept first, so that an undo can be undone too.
        if let Some(outcome) = self.keep_now(&place, &now)? {
            return Ok(outcome);
        }
        // Otherwise a change would be written down that is not made.
        if matches!((&now, &step.target), (State::Folder { .. }, State::Absent)) {
            match place.is_empty() {
                Ok(true) => {}
                Ok(false) => return Ok(Outcome::LeftAlone(Reason::NotEmpty)),
                Err(error) => return Ok(failed(&error)),
            }
        }
        let beside = match name_beside(&step.path) {
            Ok(beside) => beside,
            Err(error) => return Ok(failed(&error)),
        };
        // Before the swap: a process that is killed in between has a line, and `sweep` finds what it left by the name
        // in it.
        self.record(Change {
            call: call.to_owned(),
            path: step.path.clone(),
            before: now.clone(),
            after: step.target.clone(),
            not_kept: None,
            beside: Some(beside.clone()),
        })?;
        let outcome = self.swap(&place, &beside, &now, &step.target);
        Ok(outcome.unwrap_or_else(|error| failed(&error)))
    }

    /// Keeps what is there now, if it is not kept yet; returns the outcome if that is not possible.
    fn keep_now(&mut self, place: &Place, now: &State) -> Result<Option<Outcome>, JournalError> {
        let State::File { digest, .. } = now else { return Ok(None) };
        if self.objects().has(digest) {
            return Ok(None);
        }
        let kept = match place.read() {
            Ok(file) => self.keep(file)?.0,
            Err(error) => return Ok(Some(failed(&error))),
        };
        // It changed between the look and the copy: then it is not what the session left.
        Ok((kept != *digest).then_some(Outcome::LeftAlone(Reason::Changed)))
    }

    /// Removes what an undo that was killed left beside the files. A content that is not kept stays.
    pub(crate) fn sweep(&self) {
        for change in self.changes() {
            let Some(name) = &change.beside else { continue };
            let Ok(Found::Place(place)) = Place::open(&change.path) else { continue };
            let (Ok(half), Ok(beside)) = (place.beside(&half(name)), place.beside(name)) else { continue };
            // Nothing of anybody else's was ever there.
            half.remove().ok();
            // It is tried again the next time.
            match beside.state() {
                // Only what can be brought back from the kept contents is removed.
                Ok(State::File { digest, .. }) if self.objects().has(&digest) => drop(beside.remove()),
                // A link is kept in the line itself.
                Ok(link @ State::Link { .. }) if link == change.before || link == change.after => drop(beside.remove()),
                // The folder that was to be replaced, which was empty.
                Ok(State::Folder { .. }) => drop(beside.remove_folder()),
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Makes beside a file what is to be there. Under its name there it is whole.
    fn make_beside(&self, beside: &Place, name: &str, target: &State) -> io::Result<()> {
        match target {
            State::File { digest, mode, .. } => {
                let half = beside.beside(&half(name))?;
                half.create(self.objects().open_kept(digest)?, *mode)?;
                half.rename_to(beside).inspect_err(|_| drop(half.remove()))
            }
            State::Link { target } => beside.create_link(target),
            State::Absent | State::Folder { .. } | State::Other => Ok(()),
        }
    }

    fn swap(&self, place: &Place, name: &str, now: &State, target: &State) -> io::Result<Outcome> {
        use State::{Absent, File, Folder, Link, Other};
        let beside = &place.beside(name)?;
        let changed = Ok(Outcome::LeftAlone(Reason::Changed));
        match (now, target) {
            (File { .. } | Link { .. } | Folder { .. }, File { .. } | Link { .. }) => {
                self.make_beside(beside, name, target)?;
                if !exchange(place, beside, now, target)? {
                    return changed;
                }
            }
            (File { .. } | Link { .. }, Absent | Folder { .. }) => {
                place.rename_to(beside)?;
                if beside.state()? != *now {
                    // If the name is taken again, theirs stays beside it.
                    beside.rename_to(place)?;
                    return changed;
                }
                if let Folder { mode } = target
                    // Theirs may have come in between; then the file goes back to where it was.
                    && let Err(error) = place.create_folder(*mode)
                {
                    beside.rename_to(place)?;
                    return Err(error);
                }
                beside.remove()?;
            }
            (Absent, File { .. } | Link { .. }) => {
                self.make_beside(beside, name, target)?;
                // Fails if the name is taken: a plain rename would replace what someone made in this moment.
                if let Err(error) = beside.rename_to(place) {
                    beside.remove()?;
                    return if is_taken(&error) { changed } else { Err(error) };
                }
            }
            (Absent, Folder { mode }) => match place.create_folder(*mode) {
                Err(error) if is_taken(&error) => return changed,
                made => made?,
            },
            // The kernel removes an empty one only, so what came since `is_empty` was asked stays.
            (Folder { .. }, Absent) => match place.remove_folder() {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                    return Ok(Outcome::LeftAlone(Reason::NotEmpty));
                }
                removed => removed?,
            },
            (Folder { .. }, Folder { mode }) => place.set_mode(*mode)?,
            (Absent, Absent) | (Other, _) | (_, Other) => return Ok(Outcome::Already),
        }
        // The folder too: without it a power failure could bring the old name back.
        place.sync()?;
        Ok(Outcome::Restored)
    }
}

/// Exchanges what is there with what was made beside it, and removes that; returns whether it was as it is to be now.
fn exchange(place: &Place, beside: &Place, now: &State, target: &State) -> io::Result<bool> {
    // One step of the kernel: between two renames the file would be missing, or a content be lost.
    if let Err(error) = place.exchange(beside) {
        beside.remove()?;
        return Err(error);
    }
    let is_folder = matches!(now, State::Folder { .. });
    // One with something in it is not removed. The rest is looked at after the swap, when nobody else reaches it under
    // its name any more.
    let is_gone = if is_folder { beside.remove_folder().is_ok() } else { beside.state()? == *now };
    if !is_gone {
        // Somebody wrote to it in this moment: theirs is put back.
        place.exchange(beside)?;
        // And somebody again, perhaps: only what was made here is removed.
        if beside.state()? == *target {
            beside.remove()?;
        }
        return Ok(false);
    }
    if !is_folder {
        beside.remove()?;
    }
    Ok(true)
}

fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
}

fn failed(error: &io::Error) -> Outcome {
    Outcome::LeftAlone(Reason::Failed(error.to_string()))
}

/// The name of a content that is being written.
fn half(name: &str) -> String {
    format!("{name}.half")
}

/// A name that nobody else has.
fn name_beside(path: &Path) -> io::Result<String> {
    let mut chance = [0; 8];
    getrandom::fill(&mut chance).map_err(io::Error::other)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let short: String = name.chars().take(40).collect();
    Ok(format!(".{short}.{:016x}.undo", u64::from_le_bytes(chance)))
}
