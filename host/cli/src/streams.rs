//! Standard input and output for a protocol whose messages are short and many.
//!
//! A pipe or a socket, as clients use, is waited for together with everything else; for a file or a terminal, which cannot
//! be waited for, a thread is woken each time.
//!
//! Promises: the streams of other processes stay as they are. Whether reading blocks is a property of the open stream, which
//! processes share, so a pipe is opened once more, and a socket is told with each piece.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::{RecvFlags, SendFlags, recv, send};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

/// A stream to read from.
pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;

/// A stream to write to.
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Returns standard input. Nothing else may read from it.
pub(crate) fn input() -> Input {
    let opened: io::Result<Input> = match Kind::of("/proc/self/fd/0") {
        Kind::Pipe(path) => pipe::OpenOptions::new().open_receiver(path).map(|pipe| Box::new(pipe) as _),
        Kind::Socket => Socket::new(&io::stdin()).map(|socket| Box::new(socket) as _),
        Kind::Other => return Box::new(tokio::io::stdin()),
    };
    opened.unwrap_or_else(|error| {
        tracing::debug!(%error, "standard input has a thread of its own");
        Box::new(tokio::io::stdin())
    })
}

/// Returns standard output. Nothing else may write to it.
pub(crate) fn output() -> Output {
    let opened: io::Result<Output> = match Kind::of("/proc/self/fd/1") {
        Kind::Pipe(path) => pipe::OpenOptions::new().open_sender(path).map(|pipe| Box::new(pipe) as _),
        Kind::Socket => Socket::new(&io::stdout()).map(|socket| Box::new(socket) as _),
        Kind::Other => return Box::new(tokio::io::stdout()),
    };
    opened.unwrap_or_else(|error| {
        tracing::debug!(%error, "standard output has a thread of its own");
        Box::new(tokio::io::stdout())
    })
}

/// What a stream is.
enum Kind {
    /// A pipe without a name, and where it can be opened once more. The end of one with a name (a FIFO) is not seen by
    /// who opens it after the last writer is gone (Linux, `fifo_open` in fs/pipe.c), so it is not among these.
    Pipe(&'static str),
    Socket,
    Other,
}

impl Kind {
    fn of(link: &'static str) -> Self {
        // Linux has no such path for a stream that has no name (proc_pid_fd(5)); elsewhere there is no link.
        match std::fs::read_link(link).ok().as_deref().and_then(|target| target.to_str()) {
            Some(target) if target.starts_with("pipe:[") => Self::Pipe(link),
            Some(target) if target.starts_with("socket:[") => Self::Socket,
            _ => Self::Other,
        }
    }
}

/// A connected stream socket that blocks for other processes.
struct Socket(AsyncFd<OwnedFd>);

impl Socket {
    fn new(stream: &impl AsFd) -> io::Result<Self> {
        let descriptor = stream.as_fd().try_clone_to_owned()?;
        // SAFETY: it owns the descriptor, which stays open and the same until it is dropped.
        Ok(Self(unsafe { AsyncFd::register(descriptor) }?))
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.0.poll_read_ready(cx))?;
            let unfilled = buffer.initialize_unfilled();
            let received = ready.try_io(|socket| Ok(recv(socket, &mut *unfilled, RecvFlags::DONTWAIT)?.0));
            if let Ok(received) = received {
                return Poll::Ready(received.map(|count| buffer.advance(count)));
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.0.poll_write_ready(cx))?;
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            if let Ok(sent) = ready.try_io(|socket| Ok(send(socket, bytes, flags)?)) {
                return Poll::Ready(sent);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Leaves the socket open: it is standard output, which ends with the process.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
