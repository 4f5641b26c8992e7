//! Views of sessions: of those that were recorded, without opening one, and the reports of runs.
//!
//! Owns finding and listing the recorded sessions, their titles, one of them as a
//! [`Transcript`](transcript::Transcript), its calls, who wrote which version of a file, whether a log is as it was
//! written, taking the changes of a session back, the texts of all that; and what a run reports to programs and users.
//!
//! Promises: looking resumes nothing; whatever is in a log, nothing here panics, and nothing of it
//! steers a terminal.
//!
//! Deliberately not here: writing and reading a log (`host-journal`), a session that is open (`host-app`), printing.

pub mod blame;
pub mod ended_calls;
pub mod find;
pub mod list;
pub mod pages;
pub mod report;
pub mod steps;
pub mod title;
pub mod transcript;
pub mod undo;
pub mod verify;
