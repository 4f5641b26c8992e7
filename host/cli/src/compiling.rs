//! Shows that a component is compiled, which takes an interpreter seconds, once: nobody waits without knowing for what.
//!
//! On a terminal it is an activity with its time, drawn in place; on one that cannot move its cursor a line, once it
//! takes longer than [`SILENCE`]. Where standard error is no terminal, as in a job of CI, nobody waits before a screen,
//! and what is printed is what a reader has to know: there it goes to the log. Deliberately not here: compiling.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use host_plugin::{CompileEvent, CompileOptions};
use host_terminal::Busy;

use crate::printer;

/// How long a compilation may take before a line says so where nothing can be drawn.
const SILENCE: Duration = Duration::from_secs(1);

/// Interval at which the time is drawn.
const TICK: Duration = Duration::from_millis(100);

/// The frames of the spinner.
const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// The columns that stay empty behind a line that is drawn in place: the terminal writes `^C` there, and a line that it
/// broke could not be removed.
const FREE: usize = 4;

/// What standard error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stderr {
    /// A terminal that moves its cursor.
    Moving,
    /// A terminal that only prints.
    Printing,
    /// A file, a pipe or nothing.
    NoTerminal,
}

/// How this process compiles components: the untrusted ones in a process of its own binary.
pub(crate) fn options(stderr: Stderr) -> CompileOptions {
    let shown = Arc::new(Shown { stderr, open: Mutex::default() });
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
    stderr: Stderr,
    /// What is shown, by the name of the plugin.
    open: Mutex<BTreeMap<String, Display>>,
}

/// What shows one compilation, until it is dropped.
enum Display {
    /// On the terminal that is in use.
    Activity { _busy: Busy },
    /// By a thread, which ends with the sender.
    Thread { ended: Option<Sender<()>>, thread: Option<JoinHandle<()>> },
}

impl Drop for Display {
    fn drop(&mut self) {
        match self {
            Self::Activity { .. } => {}
            Self::Thread { ended, thread } => {
                drop(ended.take());
                // What comes next is not to be drawn over. It waits for nothing but the sender.
                thread.take().map(JoinHandle::join);
            }
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
        if let Some(busy) = printer::current_terminal::busy(&words) {
            return Display::Activity { _busy: busy };
        }
        let (sender, ended) = channel();
        let stderr = self.stderr;
        let show = move || match stderr {
            Stderr::Moving => draw(&words, &ended),
            Stderr::NoTerminal => {
                tracing::info!("{words}");
                ended.recv().ok();
            }
            Stderr::Printing => {
                if ended.recv_timeout(SILENCE) == Err(RecvTimeoutError::Timeout) {
                    printer::to_stderr(&format!("note: {words}, which takes a while\n"));
                    ended.recv().ok();
                }
            }
        };
        // Without a thread it is only not shown.
        let thread = thread::Builder::new().name("compiling".to_owned()).spawn(show).ok();
        Display::Thread { ended: Some(sender), thread }
    }
}

/// Draws a line with its time in place until the sender is gone, and removes it.
fn draw(words: &str, ended: &Receiver<()>) {
    let begun = Instant::now();
    for frame in FRAMES.iter().cycle() {
        let line = format!("{frame} {words}, {} s", begun.elapsed().as_secs());
        let room = host_terminal::columns_of_stderr().unwrap_or(80).saturating_sub(FREE);
        put(&format!("\r\u{1b}[K{}", host_terminal::truncate_to_width(&line, room)));
        if ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    put("\r\u{1b}[K");
}

/// Writes to standard error as it is; a failure changes nothing.
fn put(text: &str) {
    let mut stderr = std::io::stderr().lock();
    stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).ok();
}
