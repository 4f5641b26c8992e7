//! The terminal that the process draws on, of which it has one at most.
//!
//! Standard error, signals and a plugin's compilation reach it from wherever they are: what they write would otherwise
//! stand in the middle of what is drawn. Deliberately not here: how anything is drawn.

use std::io;
use std::sync::{Mutex, PoisonError};

use host_terminal::{Busy, Setup, Terminal, WeakTerminal};

/// The terminal that was opened last; `None` once its use has ended. Weak, so that dropping it ends its threads.
static DRAWN_ON: Mutex<Option<WeakTerminal>> = Mutex::new(None);

/// Opens the terminal.
pub(crate) fn open(setup: Setup) -> io::Result<Terminal> {
    let terminal = Terminal::open(setup)?;
    *DRAWN_ON.lock().unwrap_or_else(PoisonError::into_inner) = Some(terminal.downgrade());
    Ok(terminal)
}

/// Ends the use of the terminal, if it is in use, and restores its modes.
pub(crate) fn leave() {
    let drawn_on = DRAWN_ON.lock().unwrap_or_else(PoisonError::into_inner).take();
    match drawn_on.and_then(|drawn_on| drawn_on.upgrade()) {
        Some(terminal) => terminal.leave(),
        // Whoever had it may have dropped it without an end.
        None => host_terminal::restore(),
    }
}

/// Shows lines above what is drawn now; returns false if nothing is drawn.
pub(super) fn above(text: &str) -> bool {
    in_use().is_some_and(|terminal| terminal.above(text))
}

/// Shows an activity of one line besides those of the run, until the returned value is dropped; `None` if nothing is
/// drawn.
pub(crate) fn busy(words: &str) -> Option<Busy> {
    in_use()?.busy(words)
}

/// Whether a signal from the terminal is meant for a program to which it was lent.
pub(crate) fn is_lent() -> bool {
    in_use().is_some_and(|terminal| terminal.is_lent())
}

fn in_use() -> Option<Terminal> {
    DRAWN_ON.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.upgrade()
}
