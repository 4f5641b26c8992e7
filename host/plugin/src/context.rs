//! The host side of `host:tool/context`: a running call's connection to the host.
//!
//! Always linked, since it reaches nothing but the host itself; everything that enters is limited here.

use crate::bindings::context::{Host, Level};
use crate::store::StoreData;

/// The longest message of a progress report and of a panic, in bytes. Protects the frontend that shows it.
const MAX_LINE: usize = 8 << 10;
/// The most live output at once, and in a call. Protects the frontend that shows it.
const MAX_EMIT: usize = 64 << 10;
/// See [`MAX_EMIT`].
const MAX_EMIT_CALL: usize = 8 << 20;
/// How a guest's panic hook marks its message.
const PANIC_MARK: &str = "panic: ";

impl Host for StoreData {
    fn log(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        match (level, message.strip_prefix(PANIC_MARK)) {
            // The call's error reports it; logging it too would be a duplicate.
            (Level::Error, Some(panic)) => self.panic = Some(cut(panic, MAX_LINE).to_owned()),
            (Level::Trace | Level::Debug | Level::Info | Level::Warn | Level::Error, _) => {
                self.log.entry(level, &message)
            }
        }
        Ok(())
    }

    fn emit(&mut self, output: String) -> wasmtime::Result<()> {
        let left = MAX_EMIT_CALL.saturating_sub(self.emitted);
        if left == 0 {
            return Ok(());
        }
        let shown = cut(&output, MAX_EMIT.min(left));
        self.emitted = self.emitted.saturating_add(output.len());
        self.call.listener.output(shown);
        if shown.len() < output.len() {
            self.call.listener.output("\n[live output cut here; the result has the rest]\n");
        }
        Ok(())
    }

    fn progress(&mut self, done: u64, total: Option<u64>, message: String) -> wasmtime::Result<()> {
        self.call.listener.progress(done, total, cut(&message, MAX_LINE));
        Ok(())
    }

    fn should_stop(&mut self) -> wasmtime::Result<bool> {
        Ok(self.call.cancel.is_cancelled())
    }

    fn config(&mut self, key: String) -> wasmtime::Result<Option<String>> {
        Ok(self.call.config.get(&key).cloned())
    }
}

/// Returns the longest prefix of at most `limit` bytes that consists of whole characters.
fn cut(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
