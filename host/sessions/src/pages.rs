//! Recorded sessions as texts to read: lists, one session whole, the versions of a file, one call, the verdicts about
//! logs.
//!
//! Promises that whatever is in a log, nothing here panics, and nothing of it steers a terminal. Deliberately not here:
//! reading logs and counting, which the modules beside this one do, and where a text goes.

pub mod blame;
pub mod call;
pub mod list;
pub mod markdown;
pub mod offered;
pub mod show;
pub mod verify;

#[cfg(test)]
mod tests;
