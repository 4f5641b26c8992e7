//! Who hears of a call before its end.

/// Hears what a running call shows before its end. Called from the middle of the call: it must not wait.
pub trait CallListener: Send + Sync {
    /// Live output. Already bounded; may hold anything that a guest can write, control characters included.
    fn output(&self, text: &str);
    /// How far the call is: `done` of `total` units.
    fn progress(&self, done: u64, total: Option<u64>, message: &str);
}

/// Hears nothing.
impl CallListener for () {
    fn output(&self, _text: &str) {}
    fn progress(&self, _done: u64, _total: Option<u64>, _message: &str) {}
}
