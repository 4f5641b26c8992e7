//! Attacks on each wall, in tables: each row succeeds where its wall is not there, and is refused, without harm, where
//! it is.
//!
//! A row has a control, which runs the same attack without the wall or with a grant for it, so that no row can pass
//! because its attack is wrong. All rows of a table are tried, and all that failed are reported. Lines against the
//! policy are elsewhere: `host/tool/src/policy/tests/hostile.txt`.

mod files;
mod modes;
mod network;
mod own;
mod programs;
mod repositories;
mod secrets;
mod servers;
pub(crate) mod ssh;
mod terminals;
pub(crate) mod users;

use std::fmt::Display;

/// The rows that did not end as they must.
#[derive(Debug, Default)]
struct Failures(Vec<String>);

impl Failures {
    /// Records a row, unless it ended as it must.
    fn check(&mut self, row: &str, ended_well: bool, said: &(impl Display + ?Sized)) {
        if !ended_well {
            self.0.push(format!("{row}: {said}"));
        }
    }

    /// Fails the test with all rows that were recorded.
    #[track_caller]
    fn report(self, rows: usize) {
        assert!(self.0.is_empty(), "{} failures in {rows} rows:\n{}", self.0.len(), self.0.join("\n"));
    }
}
