//! A terminal of a program's own, and the host's end of it.
//!
//! Promises: the program and what it starts have this terminal and no other: it leads a session of its own, in which
//! this is the controlling terminal. What they do to it reaches the host as bytes to read, and nothing else.
//!
//! Deliberately not here: what the bytes mean on a screen, and whose end a program gets (`start`).

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, ReadBuf};

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// How wide it is.
    pub columns: u16,
    /// How high it is.
    pub rows: u16,
}

/// The host's end of a program's terminal: what is written to it is typed there, what is read from it was printed
/// there. It has ended when no process has the other end open. Clones are the same end, of which one may be read.
#[derive(Clone, Debug)]
pub struct Terminal(Arc<AsyncFd<OwnedFd>>);

/// A new terminal.
pub(crate) struct Opened {
    pub(crate) ours: Terminal,
    /// The program's end.
    pub(crate) theirs: OwnedFd,
    /// Where that is.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only the walls of Linux need its place"))]
    pub(crate) path: PathBuf,
}

impl Terminal {
    /// Makes one. Must be called within a tokio runtime.
    pub(crate) fn open(size: TerminalSize) -> io::Result<Opened> {
        // Never the controlling terminal of the host, which may have none.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        #[cfg(target_os = "linux")]
        let flags = flags | OpenptFlags::CLOEXEC;
        let ours = openpt(flags)?;
        #[cfg(not(target_os = "linux"))]
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let path = ptsname(&ours, Vec::new())?;
        let theirs = open(path.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        tcsetwinsize(&theirs, winsize(size))?;
        fcntl_setfl(&ours, fcntl_getfl(&ours)? | OFlags::NONBLOCK)?;
        let path = PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes()));
        // SAFETY: it owns the descriptor, which so is open until it is dropped.
        let ours = unsafe { AsyncFd::register(ours) }?;
        Ok(Opened { ours: Self(Arc::new(ours)), theirs, path })
    }

    /// Types this. Waits while the program reads nothing and the terminal has no room.
    ///
    /// # Errors
    ///
    /// If the system denies it. What is typed when no process has the other end open may be lost without one.
    pub async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut ready = self.0.writable().await?;
            match ready.try_io(|ours| Ok(rustix::io::write(ours, bytes)?)) {
                Ok(Ok(count)) => bytes = bytes.get(count..).unwrap_or_default(),
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(error),
                // It has no room after all, and is waited for again.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Types as much of this as there is room for now.
    pub fn write_now(&self, bytes: &[u8]) {
        // What a terminal answers to a program that does not read its answers is lost, as with any other.
        rustix::io::write(&*self.0, bytes).ok();
    }

    /// Changes its size, of which the program is told by a signal.
    ///
    /// # Errors
    ///
    /// If the system denies it.
    pub fn resize(&self, size: TerminalSize) -> io::Result<()> {
        Ok(tcsetwinsize(&*self.0, winsize(size))?)
    }
}

impl AsyncRead for Terminal {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.0.poll_read_ready(cx))?;
            let free = buffer.initialize_unfilled();
            match ready.try_io(|ours| Ok(rustix::io::read(ours, &mut *free)?)) {
                Ok(Ok(count)) => {
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                // This is how Linux reports the end: nobody has the other end open any more.
                Ok(Err(error)) if error.raw_os_error() == Some(libc::EIO) => return Poll::Ready(Ok(())),
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                // It has nothing after all, and is waited for again.
                Err(_) => {}
            }
        }
    }
}

fn winsize(size: TerminalSize) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 }
}
