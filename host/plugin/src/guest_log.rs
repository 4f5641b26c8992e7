//! What plugins write to the host's log: the entries of `context.log`, and the printed lines of plugins that use WASI.
//!
//! Promises: an entry is one escaped line that begins with the plugin's name, and is cut where it is too long; a call,
//! the calls of a plugin and those of all plugins write no more than they may, counted as it is shown; when a call ends
//! for which something was left out, one line says how much. What the log's filter drops costs nothing.
//!
//! Deliberately not here: where the log goes, which the binary decides for all lines of the log.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use host_capability::PluginName;
use host_text::{clip, counted_of, visible_line};

use crate::bindings::context::Level;
use crate::lock::lock;

/// The longest entry, in characters as they are shown; the rest is cut. Protects the screen of the user who reads the
/// log.
const MAX_ENTRY: usize = 1_000;
/// The most that one call may write to the log, in bytes as they are shown. Protects the log and the terminal.
const MAX_CALL_LOG: usize = 32 << 10;
/// The most that the calls of one plugin may write to the log in a session, in bytes. Protects the log from a plugin
/// that is called often, and what other plugins have to say.
const MAX_PLUGIN_LOG: usize = 256 << 10;
/// The most that all calls of a session may write to the log, in bytes. Protects the log from many plugins.
const MAX_SESSION_LOG: usize = 2 << 20;
/// The cost of an entry besides its bytes. Bounds the number of empty entries.
const ENTRY_COST: usize = 64;

/// How much of the log the calls of a session have used.
#[derive(Debug, Default)]
pub(crate) struct SessionLogUse(Mutex<Used>);

#[derive(Debug, Default)]
struct Used {
    /// The bytes of all plugins.
    all: usize,
    /// The bytes of each plugin that wrote something.
    plugins: BTreeMap<PluginName, usize>,
}

/// A limit on what is written to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogLimit {
    /// That of a call.
    Call,
    /// That of a plugin.
    Plugin,
    /// That of a session.
    Session,
}

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
    /// The limit that the last entry met that was left out.
    met: Option<LogLimit>,
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
        // No more is escaped than can be shown.
        let shown = clip(text, MAX_ENTRY);
        let shown = visible_line(&shown);
        let shown = clip(&shown, MAX_ENTRY);
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
        // Nothing is taken from the session for what the call may not write.
        let taken = match written.bytes + cost > MAX_CALL_LOG {
            true => Err(LogLimit::Call),
            false => self.session.take(&self.plugin, cost),
        };
        match taken {
            Ok(()) => written.bytes += cost,
            Err(limit) => {
                written.met = Some(limit);
                written.left_out += 1;
                written.left_out_bytes = written.left_out_bytes.saturating_add(wanted);
            }
        }
        taken.is_ok()
    }
}

impl SessionLogUse {
    /// Takes this many bytes from the shares of the plugin and of the session, or nothing.
    fn take(&self, plugin: &PluginName, cost: usize) -> Result<(), LogLimit> {
        let mut used = lock(&self.0);
        let of_plugin = used.plugins.get(plugin).copied().unwrap_or_default() + cost;
        if of_plugin > MAX_PLUGIN_LOG {
            return Err(LogLimit::Plugin);
        }
        if used.all + cost > MAX_SESSION_LOG {
            return Err(LogLimit::Session);
        }
        used.all += cost;
        used.plugins.insert(plugin.clone(), of_plugin);
        Ok(())
    }
}

impl Drop for CallLog {
    fn drop(&mut self) {
        let Written { left_out, left_out_bytes, met, .. } = *lock(&self.written);
        let Some(limit) = met else { return };
        let entries = counted_of(left_out, "entry", "entries");
        tracing::warn!("plugin `{}`: left out {entries} of {left_out_bytes} bytes: {limit}", self.plugin);
    }
}

impl fmt::Display for LogLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call => write!(formatter, "a call may write {} KiB to the log", MAX_CALL_LOG >> 10),
            Self::Plugin => {
                write!(formatter, "a plugin may write {} KiB to the log of a session", MAX_PLUGIN_LOG >> 10)
            }
            Self::Session => {
                write!(formatter, "all plugins may write {} MiB to the log of a session", MAX_SESSION_LOG >> 20)
            }
        }
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

    fn of(plugin: &str, session: &Arc<SessionLogUse>) -> GuestLog {
        GuestLog::new(&PluginName::new(plugin), session)
    }

    fn left_out(log: &GuestLog) -> (usize, Option<LogLimit>) {
        let written = lock(&log.0.written);
        (written.left_out, written.met)
    }

    /// Writes empty entries in call after call until nothing is taken; returns the number of full calls and the limit.
    fn flood(plugin: &str, session: &Arc<SessionLogUse>) -> (usize, Option<LogLimit>) {
        let most = MAX_CALL_LOG / ENTRY_COST;
        for calls in 0.. {
            let log = of(plugin, session);
            for _ in 0..most + 10 {
                log.0.takes(0, 0);
            }
            match left_out(&log) {
                (10, Some(LogLimit::Call)) => {}
                (all, met) => {
                    assert_eq!(all, most + 10, "{plugin}: {met:?} after {calls} calls");
                    return (calls, met);
                }
            }
        }
        unreachable!("there is no end of numbers")
    }

    // promise plugin.log
    #[test]
    fn log_of_a_call_a_plugin_and_a_session_is_bounded() {
        let session = Arc::default();
        let calls = MAX_PLUGIN_LOG / MAX_CALL_LOG;
        // One plugin leaves the others their share.
        let plugins = MAX_SESSION_LOG / MAX_PLUGIN_LOG;
        for number in 0..plugins {
            assert_eq!(flood(&number.to_string(), &session), (calls, Some(LogLimit::Plugin)));
        }
        assert_eq!(flood("another", &session), (0, Some(LogLimit::Session)));
        assert_eq!(lock(&session.0).all, MAX_SESSION_LOG);
    }

    #[test]
    fn log_entry_that_is_too_large_for_the_rest_does_not_use_it_up() {
        let log = of("p", &Arc::default());
        assert!(!log.0.takes(MAX_CALL_LOG, 7));
        assert!(log.0.takes(MAX_CALL_LOG - ENTRY_COST, 0), "all of it is still there");
        assert!(!log.0.takes(0, 5));
        let written = lock(&log.0.written);
        assert_eq!((written.left_out, written.left_out_bytes), (2, 12));
    }
}
