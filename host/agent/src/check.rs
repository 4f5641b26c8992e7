//! The commands that check a run before it ends, as the executor sees them.
//!
//! Deliberately not here: which commands there are, and how they run.

use futures::future::BoxFuture;
use host_journal::CheckResult;

/// Checks what a run changed before the run ends.
pub trait Checks: Send + Sync {
    /// The commands, in their order: lines for the shell.
    fn commands(&self) -> &[String];

    /// How often failures go back to the model in one run.
    fn attempts(&self) -> u32;

    /// How many changes of files the session has recorded so far.
    fn changes(&self) -> usize;

    /// Runs one of the commands. Dropping the future ends it.
    fn run<'a>(&'a self, command: &'a str) -> BoxFuture<'a, CheckEnd>;
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckEnd {
    /// In one word.
    pub result: CheckResult,
    /// Why it did not pass, such as `exit code 101`; empty if it did.
    pub reason: String,
    /// What it printed, bounded. Not escaped.
    pub output: String,
}
