//! Shows that a component is compiled, which takes an interpreter seconds, once: nobody waits without knowing for what.
//!
//! On a terminal it is an activity with its time, drawn in place; elsewhere a line on standard error, once it takes longer
//! than [`SILENCE`]. Deliberately not here: compiling.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use host_plugin::{CompileEvent, CompileOptions};
use host_terminal::Busy;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::printer;

/// How long a compilation may take before a line says so where nothing can be drawn.
const SILENCE: Duration = Duration::from_secs(1);

/// Interval at which the time is drawn.
const TICK: Duration = Duration::from_millis(100);

/// How this process compiles components: the untrusted ones in a process of its own binary.
pub(crate) fn options(stderr_is_terminal: bool) -> CompileOptions {
    let shown = Arc::new(Shown { stderr_is_terminal, open: Mutex::default() });
    CompileOptions {
        program: own_binary(),
        listener: Some(Arc::new(move |event| shown.event(event))),
        ..CompileOptions::default()
    }
}

/// Returns the path of this binary: the name of what runs, which stays right when an update replaces the file.
fn own_binary() -> Option<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() { Some(running.to_owned()) } else { std::env::current_exe().ok() }
}

struct Shown {
    stderr_is_terminal: bool,
    /// What is shown, by the name of the plugin.
    open: Mutex<BTreeMap<String, Display>>,
}

/// What shows one compilation, until it is dropped.
enum Display {
    /// On the terminal that is in use.
    Activity { _busy: Busy },
    /// On a terminal that nothing else draws on.
    Bar(ProgressBar),
    /// A line after a while, unless the sender is dropped before.
    Line { _sender: Sender<()> },
}

impl Drop for Display {
    fn drop(&mut self) {
        match self {
            Self::Bar(bar) => bar.finish_and_clear(),
            Self::Activity { .. } | Self::Line { .. } => {}
        }
    }
}

impl Shown {
    fn event(&self, event: CompileEvent) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            CompileEvent::Began(plugin) => {
                open.insert(plugin.to_string(), self.begin(&host_text::escape_name(plugin.as_str(), 100)));
            }
            CompileEvent::Ended(plugin) => drop(open.remove(plugin.as_str())),
        }
    }

    fn begin(&self, plugin: &str) -> Display {
        let words = format!("compiling `{plugin}` for its first use");
        if let Some(busy) = host_terminal::busy(&words) {
            return Display::Activity { _busy: busy };
        }
        if self.stderr_is_terminal {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_message(words);
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
                bar.set_style(style.tick_chars("|/-\\ "));
            }
            bar.enable_steady_tick(TICK);
            return Display::Bar(bar);
        }
        let (sender, ended) = channel();
        let wait = move || {
            if ended.recv_timeout(SILENCE) == Err(RecvTimeoutError::Timeout) {
                printer::to_stderr(&format!("note: {words}, which takes a while\n"));
            }
        };
        // Without a thread it is only not said.
        thread::Builder::new().name("compiling".to_owned()).spawn(wait).ok();
        Display::Line { _sender: sender }
    }
}
