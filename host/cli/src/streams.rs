//! Standard input and output for a protocol whose messages are short and many.
//!
//! A pipe or a socket, as clients use, is waited for together with everything else; for a file or a terminal, which
//! cannot be waited for, a thread is woken each time.
//!
//! Promises: the streams of other processes stay as they are. Whether reading blocks is a property of the open stream,
//! which processes share. It is left alone: a pipe is opened a second time, and each read and write of a socket says
//! that it must not block.

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
    let pipe = |path: &str| Ok(Box::new(pipe::OpenOptions::new().open_receiver(path)?) as Input);
    let socket = || Ok(Box::new(Socket::new(&io::stdin())?) as Input);
    open("/proc/self/fd/0", pipe, socket, || Box::new(tokio::io::stdin()))
}

/// Returns standard output. Nothing else may write to it.
pub(crate) fn output() -> Output {
    let pipe = |path: &str| Ok(Box::new(pipe::OpenOptions::new().open_sender(path)?) as Output);
    let socket = || Ok(Box::new(Socket::new(&io::stdout())?) as Output);
    open("/proc/self/fd/1", pipe, socket, || Box::new(tokio::io::stdout()))
}

/// Opens the stream behind a link, by what it is; anything that cannot be waited for gets a thread.
///
/// Linux has such links (proc_pid_fd(5)): for a stream without a name they lead to what it is. A pipe with a name (a
/// FIFO) gets a thread, too: whoever opens it after its last writer has gone is never told of its end (`fifo_open` in
/// fs/pipe.c).
fn open<S>(
    link: &str,
    pipe: impl FnOnce(&str) -> io::Result<S>,
    socket: impl FnOnce() -> io::Result<S>,
    thread: impl FnOnce() -> S,
) -> S {
    let target = std::fs::read_link(link).ok();
    let opened = match target.as_deref().and_then(|target| target.to_str()) {
        Some(target) if target.starts_with("pipe:[") => pipe(link),
        Some(target) if target.starts_with("socket:[") => socket(),
        _ => return thread(),
    };
    opened.unwrap_or_else(|error| {
        tracing::debug!(%error, link, "the stream has a thread of its own");
        thread()
    })
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
