//! The terminal's modes: each key as it is pressed and nothing echoed, and how it was before.
//!
//! Promises that [`restore`] puts back what was there, however often it is called and wherever from: at the end, in a
//! panic, before the process stops. It takes no lock that a thread could hold while it panics.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, Once, PoisonError};

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcgetwinsize, tcsetattr,
};

/// Texts that are pasted come marked as such, and keys with modifiers as what they are, where the terminal can do so.
const ON: &str = "\u{1b}[?2004h\u{1b}[>1u";
const OFF: &str = "\u{1b}[<u\u{1b}[?2004l\u{1b}[0m";

/// The modes before ours; none while they are the terminal's own.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// From here on keys come as they are pressed.
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
    *before = Some(modes);
    Ok(())
}

/// Sets our modes in the place of these.
fn set_raw(modes: &Termios) -> io::Result<()> {
    let mut raw = modes.clone();
    raw.input_modes -=
        InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR | InputModes::IXON | InputModes::ISTRIP;
    raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
    say(ON);
    Ok(())
}

/// Puts the modes back that were there before [`enter`].
pub(crate) fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(modes) = before {
        say(OFF);
        // When that fails the terminal is gone.
        tcsetattr(io::stdin(), OptionalActions::Drain, &modes).ok();
    }
}

/// After the process was stopped and goes on: the shell has set modes of its own meanwhile. What was there before ours
/// stays what is put back.
pub(super) fn enter_again() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(modes) = &*before {
        // When that fails the terminal is gone.
        set_raw(modes).ok();
    }
}

/// Drops what was typed and not read yet.
pub(super) fn forget_typed() {
    tcflush(io::stdin(), QueueSelector::IFlush).ok();
}

/// Stops the process as Ctrl-Z does; returns when it goes on.
pub(super) fn suspend() {
    restore();
    // To this thread, which so has stopped before it goes on; to the process it would come a moment later.
    // SAFETY: it takes a number and touches no memory.
    unsafe {
        libc::raise(libc::SIGTSTP);
    }
    enter().ok();
}

/// Columns and rows of the terminal; 0 where it does not say.
pub(super) fn size() -> (usize, usize) {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return (0, 0);
    }
    tcgetwinsize(stdout).map_or((0, 0), |size| (size.ws_col.into(), size.ws_row.into()))
}

fn say(sequences: &str) {
    let mut stdout = io::stdout();
    stdout.write_all(sequences.as_bytes()).and_then(|()| stdout.flush()).ok();
}
