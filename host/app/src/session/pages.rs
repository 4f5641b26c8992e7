//! Sessions as texts to read: a list, one session as a page or a document, the versions of a file, the verdicts about
//! logs.
//!
//! Promises that whatever is in a log, nothing here panics, and nothing of it steers a terminal. Deliberately not here:
//! reading logs, which the modules beside this one do, and where a text goes.

pub mod blame;
pub mod list;
pub mod markdown;
pub mod show;
pub mod verify;

#[cfg(test)]
mod tests;
