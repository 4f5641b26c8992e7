//! The listener of a running call.

use host_capability::Resources;

/// Receives what a running call shows before its end. Called during the call: it must not block.
pub trait CallListener: Send + Sync {
    /// Receives live output. Already bounded; may contain anything that a guest can write, including control
    /// characters.
    fn output(&self, text: &str);
    /// Receives the progress of the call: `done` of `total` units.
    fn progress(&self, done: u64, total: Option<u64>, message: &str);
    /// Receives what a confined program was kept from and a user can grant it. The names are the program's.
    fn kept_from(&self, _argv: &[String], _wanted: &Resources) {}
}

/// Ignores everything.
impl CallListener for () {
    fn output(&self, _text: &str) {}
    fn progress(&self, _done: u64, _total: Option<u64>, _message: &str) {}
}
