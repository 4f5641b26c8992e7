//! What plugins write to the host's log: the entries of `context.log`, and the printed lines of plugins that use WASI.
//!
//! Promises: an entry is one line that begins with the plugin's name, and is cut where it is too long; a call and a
//! session write no more than they may, and when a call ends for which something was left out, one line says how much.
//! What the log's filter drops costs nothing.
//!
//! Deliberately not here: escaping and where the log goes, which the binary decides for all lines of the log.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use host_capability::PluginName;
use host_text::{clip, count_of};

use crate::bindings::context::Level;
use crate::lock::lock;

/// The longest entry, in characters; the rest is cut. Protects the screen of the user who reads the log.
const MAX_ENTRY: usize = 1_000;
/// The most that one call may write to the log, in bytes. Protects the log and the terminal.
const MAX_CALL_LOG: usize = 32 << 10;
/// The most that all calls of a session may write to the log, in bytes. Protects them from a plugin that is called often.
const MAX_SESSION_LOG: usize = 512 << 10;
/// The cost of an entry besides its bytes. Bounds the number of empty entries.
const ENTRY_COST: usize = 64;

/// How much of the log the calls of a session have used, in bytes.
#[derive(Debug, Default)]
pub(crate) struct SessionLogUse(AtomicUsize);

/// The log of one call. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct GuestLog(Arc<CallLog>);

#[derive(Debug)]
struct CallLog {
    plugin: PluginName,
    session: Arc<SessionLogUse>,
    written: Mutex<Written>,
}

#[derive(Debug, Default)]
struct Written {
    /// What was written, with the cost of each entry.
    bytes: usize,
    left_out: usize,
    left_out_bytes: usize,
    /// Whether the session had used up its share, and not the call.
    is_session_full: bool,
}

impl GuestLog {
    pub(crate) fn new(plugin: &PluginName, session: &Arc<SessionLogUse>) -> Self {
        let (plugin, session) = (plugin.clone(), Arc::clone(session));
        Self(Arc::new(CallLog { plugin, session, written: Mutex::default() }))
    }

    /// Writes an entry, or counts it as left out.
    pub(crate) fn entry(&self, level: Level, text: &str) {
        if !is_enabled(level) {
            return;
        }
        let shown = clip(text, MAX_ENTRY);
        if !self.0.takes(shown.len(), text.len()) {
            return;
        }
        let plugin = &self.0.plugin;
        match level {
            Level::Trace => tracing::trace!("plugin `{plugin}`: {shown}"),
            Level::Debug => tracing::debug!("plugin `{plugin}`: {shown}"),
            Level::Info => tracing::info!("plugin `{plugin}`: {shown}"),
            Level::Warn => tracing::warn!("plugin `{plugin}`: {shown}"),
            Level::Error => tracing::error!("plugin `{plugin}`: {shown}"),
        }
    }
}

impl CallLog {
    /// Whether an entry of this size is still written; otherwise what the guest wanted to write is counted.
    fn takes(&self, size: usize, wanted: usize) -> bool {
        let cost = size + ENTRY_COST;
        let mut written = lock(&self.written);
        let is_call_full = written.bytes + cost > MAX_CALL_LOG;
        // Nothing is taken from the session for what the call may not write.
        if !is_call_full && self.session.takes(cost) {
            written.bytes += cost;
            return true;
        }
        written.is_session_full = !is_call_full;
        written.left_out += 1;
        written.left_out_bytes = written.left_out_bytes.saturating_add(wanted);
        false
    }
}

impl SessionLogUse {
    fn takes(&self, cost: usize) -> bool {
        let more = |used: usize| Some(used + cost).filter(|used| *used <= MAX_SESSION_LOG);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

impl Drop for CallLog {
    fn drop(&mut self) {
        let Written { left_out, left_out_bytes, is_session_full, .. } = *lock(&self.written);
        if left_out == 0 {
            return;
        }
        let entries = count_of(left_out, "entry", "entries");
        let why = match is_session_full {
            true => format!("the calls of a session may write {} KiB to the log", MAX_SESSION_LOG >> 10),
            false => format!("a call may write {} KiB to the log", MAX_CALL_LOG >> 10),
        };
        tracing::warn!("plugin `{}`: left out {entries} of {left_out_bytes} bytes: {why}", self.plugin);
    }
}

fn is_enabled(level: Level) -> bool {
    match level {
        Level::Trace => tracing::enabled!(tracing::Level::TRACE),
        Level::Debug => tracing::enabled!(tracing::Level::DEBUG),
        Level::Info => tracing::enabled!(tracing::Level::INFO),
        Level::Warn => tracing::enabled!(tracing::Level::WARN),
        Level::Error => tracing::enabled!(tracing::Level::ERROR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(session: &Arc<SessionLogUse>) -> GuestLog {
        GuestLog::new(&PluginName::new("p"), session)
    }

    fn left_out(log: &GuestLog) -> (usize, bool) {
        let written = lock(&log.0.written);
        (written.left_out, written.is_session_full)
    }

    // promise plugin.log
    #[test]
    fn log_of_a_call_and_of_a_session_is_bounded() {
        let session = Arc::default();
        let most_empty = MAX_CALL_LOG / ENTRY_COST;
        let mut calls = 0;
        loop {
            let log = of(&session);
            for _ in 0..most_empty + 10 {
                log.0.takes(0, 0);
            }
            match left_out(&log) {
                (10, false) => calls += 1,
                (all, true) if all == most_empty + 10 => break,
                other => panic!("{other:?} after {calls} calls"),
            }
        }
        assert_eq!(calls, MAX_SESSION_LOG / MAX_CALL_LOG, "then the session is full");
        assert_eq!(session.0.load(Ordering::Relaxed), MAX_SESSION_LOG);
    }

    #[test]
    fn log_entry_that_is_too_large_for_the_rest_does_not_use_it_up() {
        let log = of(&Arc::default());
        assert!(!log.0.takes(MAX_CALL_LOG, 7));
        assert!(log.0.takes(MAX_CALL_LOG - ENTRY_COST, 0), "all of it is still there");
        assert!(!log.0.takes(0, 5));
        let written = lock(&log.0.written);
        assert_eq!((written.left_out, written.left_out_bytes), (2, 12));
    }
}
