//! Programs in the background that have a terminal: what is typed into it, and what it shows.
//!
//! Promises: a plugin reaches the terminals of its own programs and no others; a call that may only read types into
//! none, since the program may have been started when more was allowed; a program that does not read what is typed,
//! and one that prints without end, hold up no call for longer than it may wait.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_capability::Capability;
use host_process::{Terminal, TerminalSize};
use tokio::sync::watch;

use super::keys::sent;
use super::screen::{Screen, View, size};
use super::{End, wit};
use crate::bindings::cap_types;
use crate::bindings::process::{Chunk, Source};
use crate::bindings::tool_types::Denial;
use crate::lock::lock;
use crate::store::StoreData;
use wit::TerminalError;

/// The most that is typed at once, in bytes. Protects memory.
const MAX_TYPED: usize = 64 << 10;
/// How much is drawn before others may go on, in bytes. Protects other calls: a few bytes can move a whole screen.
const DRAWN_AT_ONCE: usize = 4 << 10;
/// How long a program may take to read what is typed. Protects the call from one that never does.
const READS_WITHIN: Duration = Duration::from_secs(5);

/// The terminal of a program.
#[derive(Clone, Debug)]
pub(super) struct OnTerminal {
    terminal: Terminal,
    screen: Arc<Mutex<Screen>>,
    /// Changes whenever something was printed.
    printed: watch::Receiver<()>,
}

/// The side of it on which is printed.
#[derive(Debug)]
pub(super) struct Drawing {
    terminal: Terminal,
    screen: Arc<Mutex<Screen>>,
    printed: watch::Sender<()>,
}

impl OnTerminal {
    pub(super) fn new((terminal, size): (Terminal, TerminalSize)) -> (Self, Drawing) {
        let screen = Arc::new(Mutex::new(Screen::new(size)));
        let (printed, changes) = watch::channel(());
        let drawing = Drawing { terminal: terminal.clone(), screen: Arc::clone(&screen), printed };
        (Self { terminal, screen, printed: changes }, drawing)
    }
}

impl Drawing {
    /// Shows what was printed.
    pub(super) async fn take(&self, chunk: &Chunk) {
        // What the host says of the program: on a terminal a line begins where it is told to.
        let said = (chunk.source == Source::Stderr)
            .then(|| format!("\r\n{}", String::from_utf8_lossy(&chunk.data).replace('\n', "\r\n")).into_bytes());
        for piece in said.as_ref().unwrap_or(&chunk.data).chunks(DRAWN_AT_ONCE) {
            let answers = lock(&self.screen).take(piece);
            if !answers.is_empty() {
                self.terminal.write_now(&answers);
            }
            self.printed.send_replace(());
            tokio::task::yield_now().await;
        }
    }
}

/// A program with a terminal, as a call uses it.
struct Found {
    terminal: OnTerminal,
    ended: watch::Receiver<Option<End>>,
}

impl StoreData {
    fn with_terminal(&self, id: &str) -> Result<Found, TerminalError> {
        let found = self.own(id, |program| {
            let terminal = program.terminal.clone().ok_or(TerminalError::NoTerminal)?;
            Ok(Found { terminal, ended: program.ended.clone() })
        });
        found.unwrap_or(Err(TerminalError::NotFound))
    }

    pub(super) async fn type_into(&mut self, id: &str, input: &[wit::Input]) -> Result<(), TerminalError> {
        let Found { terminal, ended } = self.with_terminal(id)?;
        if !self.call.may_type {
            let capability = Capability::Process.name().to_owned();
            let wanted = format!("typing into `{id}`");
            let help = format!("`{id}` may change files, and this call may not, so nothing is typed into it");
            let (denial, words, reason) = (capability.clone(), wanted.clone(), help.clone());
            self.denials.keep(cap_types::Denial { capability: denial, wanted: words, help: reason });
            return Err(TerminalError::Denied(Denial { capability, wanted, help }));
        }
        if ended.borrow().is_some() {
            return Err(TerminalError::Ended);
        }
        let has_application_keys = lock(&terminal.screen).has_application_keys();
        let mut bytes = Vec::new();
        for input in input {
            bytes.extend(sent(input, has_application_keys).map_err(TerminalError::Invalid)?);
            if bytes.len() > MAX_TYPED {
                return Err(TerminalError::Invalid(format!("more than {MAX_TYPED} bytes are typed at once")));
            }
        }
        tokio::select! {
            biased;
            // It fails only if the program has gone.
            typed = terminal.terminal.write(&bytes) => typed.map_err(|_| TerminalError::Ended),
            () = self.call.cancel.cancelled() => Err(TerminalError::Busy),
            () = tokio::time::sleep(READS_WITHIN) => Err(TerminalError::Busy),
        }
    }

    pub(super) async fn look_at(
        &mut self,
        id: &str,
        quiet: Duration,
        most: Duration,
    ) -> Result<wit::Screen, TerminalError> {
        let Found { terminal, mut ended } = self.with_terminal(id)?;
        let mut printed = terminal.printed.clone();
        let over = tokio::time::sleep(most);
        tokio::pin!(over);
        loop {
            tokio::select! {
                biased;
                // It fails only if the program was ended with its session.
                _ = ended.wait_for(Option::is_some) => break,
                () = self.call.cancel.cancelled() => break,
                () = &mut over => break,
                // The wait for silence begins again.
                Ok(()) = printed.changed() => {}
                () = tokio::time::sleep(quiet) => break,
            }
        }
        let (program, failure) =
            self.own(id, |program| (program.shown(), program.failure())).ok_or(TerminalError::NotFound)?;
        if let Some(end) = failure {
            self.call.listener.background_failed(end);
        }
        let View { text, cursor, size, scrolled, dropped } = lock(&terminal.screen).view();
        let TerminalSize { columns, rows } = size;
        Ok(wit::Screen { text, cursor, columns, rows, scrolled, dropped, program: program.into() })
    }

    pub(super) fn resize_terminal(&self, id: &str, columns: u16, rows: u16) -> Result<(), TerminalError> {
        let Found { terminal, ended } = self.with_terminal(id)?;
        let size = size(columns, rows).map_err(TerminalError::Invalid)?;
        if ended.borrow().is_some() {
            return Err(TerminalError::Ended);
        }
        // The screen first: what the program draws for its new size must find it.
        lock(&terminal.screen).resize(size);
        terminal.terminal.resize(size).map_err(|_| TerminalError::Ended)
    }
}
