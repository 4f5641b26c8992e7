//! What a program prints, on its way to the guest.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::explain;
use crate::bindings::process::{Chunk, Source};
use crate::lock::lock;

/// The size of one chunk of output, in bytes.
const CHUNK: usize = 64 << 10;

/// How many chunks of the standard output are read one after the other while the standard error has something, too.
const IN_A_ROW: usize = 8;

/// The outputs of a program that have not ended.
struct Outputs<R> {
    output: Option<R>,
    errors: Option<R>,
    /// How many chunks of the standard output were read since one of the standard error.
    in_a_row: usize,
    /// What was read of the standard error and comes behind what the other pipe had then.
    held: Option<Vec<u8>>,
}

/// Hands over what a program prints until both outputs have ended, and returns the end of its standard error, or of its
/// only output. Sets `last` to the time whenever something was printed.
///
/// One task reads both. Of two, the runtime would run the one first that was woken last, so an error that follows some
/// output would often come before it.
///
/// What bounds the order: a pipe has no time of what is in it. Each is read as soon as it has something, and what a
/// program writes to both before this task has read again, at most what fits into the pipes (64 KiB each on Linux), has
/// no order any more. One pipe for both would have the order, and nobody could tell errors from output.
pub(super) async fn forward<R: AsyncRead + Unpin>(
    output: Option<R>,
    errors: Option<R>,
    out: mpsc::Sender<Chunk>,
    last: Arc<Mutex<Instant>>,
) -> Vec<u8> {
    let is_only = errors.is_none();
    let mut outputs = Outputs { output, errors, in_a_row: 0, held: None };
    let (mut buffer, mut kept) = (vec![0; CHUNK], Vec::new());
    while let Some((source, count)) = poll_fn(|cx| outputs.poll(cx, &mut buffer)).await {
        *lock(&last) = Instant::now();
        let data = buffer.get(..count).unwrap_or_default().to_vec();
        if is_only || source == Source::Stderr {
            kept.extend_from_slice(&data);
            let over = kept.len().saturating_sub(explain::LOOKED_AT);
            kept.drain(..over);
        }
        // A guest that only waits for the end has closed the channel; the program may still write.
        if out.send(Chunk { source, data }).await.is_ok() {
            *lock(&last) = Instant::now();
        }
    }
    kept
}

impl<R: AsyncRead + Unpin> Outputs<R> {
    /// Reads a piece of one of them into the buffer, and returns its length; `None` once both have ended. If both have
    /// something, nothing says what was printed first: it is the standard output, unless it came too often.
    fn poll(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<Option<(Source, usize)>> {
        if let Some(held) = self.held.take() {
            return Poll::Ready(Some(self.errors_of(&held, buffer)));
        }
        if self.in_a_row >= IN_A_ROW {
            // The errors may be younger than what the other pipe has by now, which one chunk holds, and no older than
            // that.
            if let Poll::Ready(Some(count)) = read(&mut self.errors, cx, buffer) {
                let errors = buffer.get(..count).unwrap_or_default().to_vec();
                if let Poll::Ready(Some(count)) = read(&mut self.output, cx, buffer) {
                    self.held = Some(errors);
                    return Poll::Ready(Some((Source::Stdout, count)));
                }
                return Poll::Ready(Some(self.errors_of(&errors, buffer)));
            }
        }
        let output = read(&mut self.output, cx, buffer);
        if let Poll::Ready(Some(count)) = output {
            self.in_a_row += 1;
            return Poll::Ready(Some((Source::Stdout, count)));
        }
        match (read(&mut self.errors, cx, buffer), output) {
            (Poll::Ready(Some(count)), _) => {
                self.in_a_row = 0;
                Poll::Ready(Some((Source::Stderr, count)))
            }
            (Poll::Ready(None), Poll::Ready(_)) => Poll::Ready(None),
            (Poll::Pending, _) | (_, Poll::Pending) => Poll::Pending,
        }
    }

    /// Puts what was read of the standard error back into the buffer.
    fn errors_of(&mut self, errors: &[u8], buffer: &mut [u8]) -> (Source, usize) {
        self.in_a_row = 0;
        for (to, from) in buffer.iter_mut().zip(errors) {
            *to = *from;
        }
        (Source::Stderr, errors.len())
    }
}

/// Reads a piece of a stream into the buffer, and returns its length; `None` if it has ended.
fn read<R: AsyncRead + Unpin>(stream: &mut Option<R>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<Option<usize>> {
    let Some(reader) = stream else { return Poll::Ready(None) };
    let mut read = ReadBuf::new(buffer);
    match Pin::new(reader).poll_read(cx, &mut read) {
        Poll::Ready(result) if is_end(&result, &read) => {
            *stream = None;
            Poll::Ready(None)
        }
        Poll::Ready(_) => Poll::Ready(Some(read.filled().len())),
        Poll::Pending => Poll::Pending,
    }
}

/// Whether a stream has ended. One that fails has, too.
fn is_end(result: &io::Result<()>, read: &ReadBuf<'_>) -> bool {
    result.is_err() || read.filled().is_empty()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt as _, duplex};

    use super::*;

    /// What is handed over, with `o` for the standard output and `e` for the standard error.
    async fn handed_over(output: &[u8], errors: &[u8], room: usize) -> (String, Vec<u8>) {
        let ((mut to_output, output_end), (mut to_errors, errors_end)) = (duplex(1 << 20), duplex(1 << 20));
        to_errors.write_all(errors).await.expect("there is room");
        to_output.write_all(output).await.expect("there is room");
        drop((to_output, to_errors));
        let (out, mut chunks) = mpsc::channel(room);
        let last = Arc::new(Mutex::new(Instant::now()));
        let forwarding = tokio::spawn(forward(Some(output_end), Some(errors_end), out, last));
        let mut order = String::new();
        while let Some(chunk) = chunks.recv().await {
            order.push(if chunk.source == Source::Stdout { 'o' } else { 'e' });
        }
        (order, forwarding.await.expect("it ends"))
    }

    #[tokio::test]
    async fn output_that_is_there_comes_before_errors_that_are_there() {
        let (order, kept) = handed_over(b"output", b"an error", 1).await;
        assert_eq!((order.as_str(), kept.as_slice()), ("oe", b"an error".as_slice()));
        assert_eq!(handed_over(b"", b"", 1).await, (String::new(), Vec::new()));
    }

    #[tokio::test]
    async fn output_without_end_does_not_hold_errors_back() {
        let (order, _) = handed_over(&[b'x'; 15 * CHUNK], b"an error", 16).await;
        assert_eq!(order, "oooooooooeoooooo");
    }

    #[tokio::test]
    async fn errors_at_the_end_of_much_output_come_behind_it() {
        // What a pipe holds is in one chunk.
        for chunks in 0..=2 * IN_A_ROW {
            let (mut to_output, output) = duplex(CHUNK);
            let (mut to_errors, errors) = duplex(CHUNK);
            let (out, mut read) = mpsc::channel(100);
            let last = Arc::new(Mutex::new(Instant::now()));
            let forwarding = tokio::spawn(forward(Some(output), Some(errors), out, last));
            for _ in 0..chunks {
                to_output.write_all(&[b'x'; CHUNK]).await.expect("it is read");
            }
            to_errors.write_all(b"an error").await.expect("there is room");
            drop((to_output, to_errors));
            forwarding.await.expect("it ends");
            let mut order = Vec::new();
            while let Some(chunk) = read.recv().await {
                order.push(chunk.source);
            }
            let behind = order.iter().position(|source| *source == Source::Stderr);
            assert_eq!(behind, Some(order.len() - 1), "{chunks}: {order:?}");
        }
    }

    #[tokio::test]
    async fn outputs_of_a_program_end_even_if_they_are_not_read() {
        let ((mut to_output, output), (to_errors, errors)) = (duplex(10), duplex(10));
        let (out, chunks) = mpsc::channel(1);
        drop(chunks);
        let forwarding = tokio::spawn(forward(Some(output), Some(errors), out, Arc::new(Mutex::new(Instant::now()))));
        to_output.write_all(&[b'x'; 1_000]).await.expect("it is read");
        drop((to_output, to_errors));
        assert_eq!(forwarding.await.expect("it ends"), b"");
    }
}
