//! The running call's line to a fake host.

use super::ask;
use crate::context::Level;

/// The longest log line, as the host has it.
const MAX_LINE: usize = 8 << 10;
/// Live output at once, and in a call, as the host has it.
const MAX_EMIT: usize = 64 << 10;
/// See [`MAX_EMIT`].
const MAX_EMIT_CALL: usize = 8 << 20;

/// How far a call said that it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Units that are done.
    pub done: u64,
    /// Units in all, where they are known.
    pub total: Option<u64>,
    /// What is being done.
    pub message: String,
}

/// Writes one line to the host's log. At most 8 KiB a line; the rest is cut.
pub fn log(level: Level, message: &str) {
    ask("context::log", |world, _| world.logged.push((level, cut(message, MAX_LINE).to_owned())));
}

/// Shows live output of this call to the user, as it comes. It is no part of the outcome. At most 64 KiB at once and
/// 8 MiB a call; what is over is dropped and the display says so.
pub fn emit(output: &str) {
    ask("context::emit", |world, _| {
        let left = MAX_EMIT_CALL.saturating_sub(world.emitted.len());
        let shown = cut(output, MAX_EMIT.min(left));
        world.emitted.push_str(shown);
        if left > 0 && shown.len() < output.len() {
            world.emitted.push_str("\n[live output cut here; the result has the rest]\n");
        }
    });
}

/// Says how far the call is: `done` of `total` units, with a word for what is being done.
pub fn progress(done: u64, total: Option<u64>, message: &str) {
    let message = cut(message, MAX_LINE).to_owned();
    ask("context::progress", |world, _| world.progress.push(Progress { done, total, message }));
}

/// Whether the call has been told to stop. A tool with partial results asks now and then and returns
/// `Failure::Cancelled` with them; one that does not ask is ended from outside.
pub fn should_stop() -> bool {
    ask("context::should_stop", |world, _| match &mut world.stop_after {
        None => false,
        Some(0) => true,
        Some(times) => {
            *times -= 1;
            false
        }
    })
}

/// A value of the plugin's own configuration, as JSON text; none when it was not set.
pub fn config(key: &str) -> Option<String> {
    ask("context::config", |world, _| world.config.get(key).cloned())
}

/// The longest beginning of at most `limit` bytes that is whole characters.
fn cut(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or(text)
}
