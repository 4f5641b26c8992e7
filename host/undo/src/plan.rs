//! What taking changes back means for each file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::journal::Change;
use crate::state::State;

/// One file that changes were made to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The file: absolute.
    pub path: PathBuf,
    /// What the session left there last. The first of them is what the last change made; the second is what was there
    /// before it, for a process that ended between the two.
    pub left: [State; 2],
    /// What was there before the first of the changes.
    pub target: State,
    /// Why it cannot be taken back, if it cannot.
    pub obstacle: Option<Obstacle>,
}

/// Why a file is not taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Somebody else changed it between two of the changes.
    ChangedBetween,
    /// What was there is not kept, for this reason.
    NotKept(String),
}

/// Returns what taking back these changes, oldest first, means, in the order of the paths.
pub fn plan(changes: &[Change]) -> Vec<Step> {
    let mut by_path: BTreeMap<&Path, Vec<&Change>> = BTreeMap::new();
    for change in changes {
        by_path.entry(&change.path).or_default().push(change);
    }
    by_path.into_iter().filter_map(|(path, changes)| step(path, &changes)).collect()
}

fn step(path: &Path, changes: &[&Change]) -> Option<Step> {
    let (first, last) = (changes.first()?, changes.last()?);
    let mut obstacle = first.not_kept.clone().map(Obstacle::NotKept);
    if first.target_is_unknown() {
        obstacle.get_or_insert_with(|| Obstacle::NotKept("it was not a regular file".to_owned()));
    }
    // Each change must begin where the one before it ended, or someone else wrote in between.
    for pair in changes.windows(2) {
        let [one, next] = pair else { continue };
        // A process that ended behind its line did not make the change.
        if next.before != one.after && next.before != one.before {
            obstacle = Some(Obstacle::ChangedBetween);
        }
    }
    let step = Step {
        path: path.to_owned(),
        // Either of the two: a process that was killed may have written the last line and not made the change.
        left: [last.after.clone(), last.before.clone()],
        // What was before the first change is the goal, whatever lies between.
        target: first.before.clone(),
        obstacle,
    };
    Some(step)
}

impl Change {
    fn target_is_unknown(&self) -> bool {
        self.before == State::Other
    }
}
