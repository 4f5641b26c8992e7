//! The terminal's modes: sends each key as it is pressed, without an echo, and restores the modes from before.
//!
//! Promises that [`restore`] restores the earlier modes, however often and from wherever it is called: at the end, in a
//! panic, before the process stops. It takes no lock that a thread could hold while it panics.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcgetwinsize, tcsetattr,
};

/// Marks pasted texts as such and reports keys with their modifiers, where the terminal supports it.
const ON: &str = "\u{1b}[?2004h\u{1b}[>1u";
const OFF: &str = "\u{1b}[<u\u{1b}[?2004l\u{1b}[0m";

/// Reports whether keys go to the terminal.
const FOCUS_ON: &str = "\u{1b}[?1004h";
const FOCUS_OFF: &str = "\u{1b}[?1004l";

/// Keeps the title of the window on the terminal's own stack.
const TITLE_KEPT: &str = "\u{1b}[22;0t";
/// Brings it back. A terminal without a stack gets an empty title before, in place of one that is no longer true.
const TITLE_BACK: &str = "\u{1b}]2;\u{1b}\\\u{1b}[23;0t";

/// Whether the terminal reports its focus while our modes are set.
static REPORTS_FOCUS: AtomicBool = AtomicBool::new(false);
/// Whether the title of the window is ours while our modes are set.
static SETS_TITLE: AtomicBool = AtomicBool::new(false);

/// What else is changed together with the modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extras {
    pub(super) focus: bool,
    pub(super) title: bool,
}

/// Sets what else [`enter`] changes from now on, and [`restore`] changes back.
pub(super) fn set_extras(extras: Extras) {
    REPORTS_FOCUS.store(extras.focus, Ordering::Relaxed);
    SETS_TITLE.store(extras.title, Ordering::Relaxed);
}

/// The modes before ours; `None` while ours are not set.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Makes the terminal send keys as they are pressed.
pub(super) fn enter() -> io::Result<()> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            told(panic);
        }));
    });
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if before.is_some() {
        return Ok(());
    }
    let modes = tcgetattr(io::stdin())?;
    set_raw(&modes)?;
    if SETS_TITLE.load(Ordering::Relaxed) {
        say(TITLE_KEPT);
    }
    *before = Some(modes);
    Ok(())
}

/// Sets our modes in place of these.
fn set_raw(modes: &Termios) -> io::Result<()> {
    let mut raw = modes.clone();
    raw.input_modes -=
        InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR | InputModes::IXON | InputModes::ISTRIP;
    raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
    say(ON);
    if REPORTS_FOCUS.load(Ordering::Relaxed) {
        say(FOCUS_ON);
    }
    Ok(())
}

/// Restores the modes from before [`enter`].
pub(crate) fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(modes) = before {
        if REPORTS_FOCUS.load(Ordering::Relaxed) {
            say(FOCUS_OFF);
        }
        if SETS_TITLE.load(Ordering::Relaxed) {
            say(TITLE_BACK);
        }
        say(OFF);
        // If that fails, the terminal is gone.
        tcsetattr(io::stdin(), OptionalActions::Drain, &modes).ok();
    }
}

/// Sets our modes again after the process was stopped and continued: the shell has set its own meanwhile. [`restore`]
/// still restores the modes from before ours.
pub(super) fn enter_again() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(modes) = &*before {
        // If that fails, the terminal is gone.
        set_raw(modes).ok();
    }
}

/// Drops what was typed but not read yet.
pub(super) fn forget_typed() {
    tcflush(io::stdin(), QueueSelector::IFlush).ok();
}

/// Stops the process as Ctrl-Z does; returns when it continues.
pub(super) fn suspend() {
    restore();
    // Sent to this thread, which therefore stops before it continues; a signal to the process would arrive a moment
    // later.
    // SAFETY: it takes a number and touches no memory.
    unsafe {
        libc::raise(libc::SIGTSTP);
    }
    enter().ok();
}

/// Returns the columns and rows of the terminal; 0 if it does not report them.
pub(super) fn size() -> (usize, usize) {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return (0, 0);
    }
    tcgetwinsize(stdout).map_or((0, 0), |size| (size.ws_col.into(), size.ws_row.into()))
}

/// Returns the columns of the terminal that standard output is; `None` if it is none, or does not report them.
pub fn columns_of_stdout() -> Option<usize> {
    Some(size().0).filter(|columns| *columns > 0)
}

/// Returns the columns of the terminal that standard error is; `None` if it is none, or does not report them.
pub fn columns_of_stderr() -> Option<usize> {
    let stderr = io::stderr();
    let size = stderr.is_terminal().then(|| tcgetwinsize(stderr).ok()).flatten()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

fn say(sequences: &str) {
    let mut stdout = io::stdout();
    stdout.write_all(sequences.as_bytes()).and_then(|()| stdout.flush()).ok();
}
