//! What a session changed in files, and how it is taken back.
//!
//! Owns a folder for each session: the contents that were replaced, by their digest, and the journal of the changes.
//!
//! Promises: only a file that is as the session left it is restored, and only to what was there before the session
//! changed it; no byte that the session did not write is ever lost; taking back is a change like any other, and can be
//! taken back.
//!
//! Deliberately not here: who makes the changes and reports them (`host-plugin`), which session a user means and what
//! they are shown (`host-app`), and anything about git.

mod journal;
mod later;
mod objects;
mod place;
mod plan;
mod recorder;
mod restore;
mod snapshot;
mod state;
mod verify;

pub use journal::{Change, Gap, Journal, JournalError, MAX_KEPT, UNDO};
pub use later::{holds_what_runs_later, run_later_by};
pub use plan::{Obstacle, Step, plan};
pub use recorder::{CallRecorder, MAX_KEPT_FILE, Old, ProgramRecorder, Recorder};
pub use restore::{Outcome, Reason};
pub use snapshot::{LeftOut, MAX_SNAPSHOT, MAX_SNAPSHOT_ENTRIES, MAX_SNAPSHOT_FILE, MAX_SNAPSHOT_PATHS, RulesOf};
pub use state::{Digest, NoDigest, State};
pub use verify::{RecordedChanges, VerifiedChanges};
