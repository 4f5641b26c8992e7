//! The lines between the client and the protocol, one message each.
//!
//! Promises: a line over the limit is never held in memory and is answered as an error; lines are written whole, in
//! their order. Each stream has a thread of its own, since the standard streams of a process can only block.
//!
//! Deliberately not here: the content of a line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use futures::{Sink, SinkExt as _, Stream, stream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::PollSender;

/// The longest line that a client may send, in bytes. Protects memory; a prompt with the most images that may be
/// attached stays below.
pub const MAX_LINE: usize = 32 << 20;

/// Lines that wait between a thread and the connection. Protects memory.
const WAITING: usize = 16;

/// The longest line that is not checked before it is passed on, in bytes: an error about a line repeats it.
const SHORT: usize = 4 << 10;

/// How long the last lines may take to be written at the end. Protects the end of the process from a client that reads
/// nothing more.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Where an update begins, as the connection writes it.
const UPDATE: &str = r#""method":"session/update""#;

/// How much of a line is searched for [`UPDATE`], in bytes.
const BEGINNING: usize = 64;

/// Reads lines until the end of the input.
pub(crate) fn read(input: Box<dyn Read + Send>) -> impl Stream<Item = io::Result<String>> + Send + 'static {
    // Bounded: a client that floods waits on its own pipe.
    let (sender, receiver) = mpsc::channel(WAITING);
    // Standard streams can only block, and a runtime's thread would be lost to them.
    let reading = std::thread::Builder::new().name("acp-read".to_owned()).spawn({
        let sender = sender.clone();
        move || {
            let mut input = BufReader::new(input);
            loop {
                let line = match next(&mut input) {
                    Ok(Some(line)) if line.trim().is_empty() => continue,
                    Ok(Some(line)) => Ok(line),
                    Ok(None) => return,
                    Err(error) => Err(error),
                };
                let is_last = line.is_err();
                if sender.blocking_send(line).is_err() || is_last {
                    return;
                }
            }
        }
    });
    if let Err(error) = reading {
        sender.try_send(Err(error)).ok();
    }
    stream::unfold(receiver, async |mut receiver| receiver.recv().await.map(|line| (line, receiver)))
}

/// Returns the next line without its end; `None` at the end of the input. One that is too long, or long and not JSON,
/// is replaced by words that are not JSON, so that it is answered as an error that does not repeat it.
fn next(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let (mut line, mut size) = (Vec::new(), 0_usize);
    loop {
        let found = match input.fill_buf() {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = found.iter().position(|byte| *byte == b'\n');
        let piece = &found[..end.unwrap_or(found.len())];
        let is_over = found.is_empty() || end.is_some();
        if found.is_empty() && size == 0 {
            return Ok(None);
        }
        size = size.saturating_add(piece.len());
        if size <= MAX_LINE {
            line.extend_from_slice(piece);
        } else {
            line = Vec::new();
        }
        let used = piece.len() + usize::from(end.is_some());
        // A blank line that ends the input differs from its end.
        size = size.max(usize::from(end.is_some()));
        input.consume(used);
        if is_over {
            break;
        }
    }
    if size > MAX_LINE {
        return Ok(Some(format!("a line of {size} bytes, over the limit of {MAX_LINE}")));
    }
    let line = String::from_utf8_lossy(&line).into_owned();
    // The library's error repeats what it cannot read.
    if line.len() > SHORT && serde_json::from_str::<serde::de::IgnoredAny>(&line).is_err() {
        return Ok(Some(format!("a line of {} bytes that is not JSON", line.len())));
    }
    Ok(Some(line))
}

/// How many updates were written.
pub(crate) type Written = watch::Receiver<u64>;

/// The end of the writing.
pub(crate) struct Writing(oneshot::Receiver<()>);

impl Writing {
    /// Waits until everything is written, or for as long as a client may take for that.
    pub(crate) async fn ended(self) {
        tokio::time::timeout(LAST_LINES, self.0).await.ok();
    }
}

/// Writes lines until the sink is dropped.
pub(crate) fn write(
    mut output: Box<dyn Write + Send>,
) -> io::Result<(impl Sink<String, Error = io::Error> + Send + 'static, Written, Writing)> {
    let (sender, mut receiver) = mpsc::channel::<String>(WAITING);
    let (counts, written) = watch::channel(0_u64);
    let (ended, end) = oneshot::channel();
    let counts = Arc::new(counts);
    std::thread::Builder::new().name("acp-write".to_owned()).spawn(move || {
        while let Some(mut line) = receiver.blocking_recv() {
            // Counted here, when it is really written: that is what a slow client delays.
            let is_update = line.get(..BEGINNING.min(line.len())).is_some_and(|begin| begin.contains(UPDATE));
            line.push('\n');
            if let Err(error) = output.write_all(line.as_bytes()).and_then(|()| output.flush()) {
                tracing::debug!(%error, "the client reads nothing more");
                return;
            }
            if is_update {
                counts.send_modify(|count| *count += 1);
            }
        }
        // Only when all was written, so that the last answer gets out.
        ended.send(()).ok();
    })?;
    let sink = PollSender::new(sender).sink_map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe));
    Ok((sink, written, Writing(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<String> {
        let mut input = BufReader::with_capacity(7, text);
        std::iter::from_fn(|| next(&mut input).expect("memory does not fail")).collect()
    }

    #[test]
    fn lines_are_separated_by_newlines_and_the_last_one_needs_none() {
        assert_eq!(all(b"one\ntwo, which is longer\n\nfour"), ["one", "two, which is longer", "", "four"]);
        assert!(all(b"").is_empty());
    }

    #[test]
    fn line_that_is_too_long_is_replaced_and_the_next_one_is_read() {
        let mut text = vec![b'x'; MAX_LINE + 1];
        text.extend_from_slice(b"\nnext\n");
        let lines = all(&text);
        assert_eq!(
            lines,
            [format!("a line of {} bytes, over the limit of {MAX_LINE}", MAX_LINE + 1), "next".to_owned()]
        );
        assert!(serde_json::from_str::<serde_json::Value>(&lines[0]).is_err(), "it is answered as an error");
    }

    #[test]
    fn long_line_that_is_not_json_is_not_repeated_to_the_client() {
        let rubbish = format!("{{{}", "x".repeat(SHORT));
        assert_eq!(all(rubbish.as_bytes()), [format!("a line of {} bytes that is not JSON", rubbish.len())]);
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(SHORT));
        assert_eq!(all(long.as_bytes()), std::slice::from_ref(&long));
    }
}
