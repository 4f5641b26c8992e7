//! Standard error: notes, errors and the log.
//!
//! Promises: if something is drawn on the terminal, text goes above that; on a terminal lines wrap at words. While a
//! client is served over standard streams, nothing waits for the client to read standard error: lines that its pipe has
//! no room for are left out, and counted once it has. Deliberately not here: what is written.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use host_text::counted;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::current_terminal;

/// The most bytes that are written at once: a pipe that has room at all takes them without waiting. No system's
/// `PIPE_BUF` is smaller.
const CHUNK: usize = 512;

/// Whether nothing waits for a reader of standard error.
static NEVER_WAITS: AtomicBool = AtomicBool::new(false);

/// Whether notes are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// What was left out.
static LEFT_OUT: Mutex<LeftOut> = Mutex::new(LeftOut { lines: 0, is_within_line: false });

/// Lines that standard error had no room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LeftOut {
    lines: usize,
    /// Whether the last line that was written is unfinished.
    is_within_line: bool,
}

/// Makes nothing wait for a reader of standard error from now on. Many clients start a server with a pipe there and
/// never read it.
pub(crate) fn never_wait() {
    NEVER_WAITS.store(true, Ordering::Relaxed);
}

/// Leaves out notes from now on; errors are written as before.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Writes a note to standard error, unless the user wants none.
pub(crate) fn note_to_stderr(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        to_stderr(text);
    }
}

/// Writes to standard error, and ignores a failure.
pub(crate) fn to_stderr(text: &str) {
    if current_terminal::above(text) {
        return;
    }
    let wrapped = host_terminal::columns_of_stderr().map(|columns| host_terminal::wrapped_lines(text, columns));
    let text = wrapped.as_deref().unwrap_or(text);
    let mut stderr = io::stderr().lock();
    if NEVER_WAITS.load(Ordering::Relaxed) {
        let mut left_out = LEFT_OUT.lock().unwrap_or_else(PoisonError::into_inner);
        return left_out.write(&mut stderr, text);
    }
    stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).ok();
}

/// Writes entries to standard error, one a line, as [`super::Out::write_entries`] does.
pub(crate) fn entries_to_stderr(text: &str) {
    let wrapped = host_terminal::columns_of_stderr().map(|columns| host_terminal::wrapped_entries(text, columns));
    to_stderr(wrapped.as_deref().unwrap_or(text));
}

impl LeftOut {
    /// Writes as many lines as there is room for. Errors are ignored, as they are elsewhere.
    fn write(&mut self, stream: &mut (impl Write + AsFd), text: &str) {
        for line in text.split_inclusive('\n') {
            if !self.write_line(stream, line) {
                self.lines += 1;
            }
        }
    }

    /// Writes a line, behind one about those that were left out. Returns false if there is no room for all of it.
    fn write_line(&mut self, stream: &mut (impl Write + AsFd), line: &str) -> bool {
        if *self != Self::default() {
            let end = if self.is_within_line { "\n" } else { "" };
            let note = format!("{end}… {} left out: nothing read standard error\n", counted(self.lines, "line"));
            if !write_now(stream, note.as_bytes()) {
                return false;
            }
            *self = Self::default();
        }
        for (place, chunk) in line.as_bytes().chunks(CHUNK).enumerate() {
            if !write_now(stream, chunk) {
                self.is_within_line = place > 0;
                return false;
            }
        }
        true
    }
}

/// Writes a few bytes, or returns false if that would wait.
fn write_now(stream: &mut (impl Write + AsFd), bytes: &[u8]) -> bool {
    // A stream whose reader is gone is ready: writing to it fails at once.
    let ready = poll(&mut [PollFd::new(&*stream, PollFlags::OUT)], Some(&Timespec::default()));
    let has_room = ready.is_ok_and(|ready| ready > 0);
    if has_room {
        stream.write_all(bytes).and_then(|()| stream.flush()).ok();
    }
    has_room
}

/// Standard error for a log, which must not break what is drawn.
pub(crate) struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        to_stderr(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, Read};

    use super::*;

    /// Fills a pipe.
    fn fill(pipe: &mut PipeWriter) {
        while write_now(pipe, &[b'x'; CHUNK]) {}
    }

    #[test]
    fn stderr_lines_without_room_are_left_out_and_counted() {
        let (mut reader, mut pipe) = io::pipe().expect("a pipe");
        let mut left_out = LeftOut::default();
        left_out.write(&mut pipe, "first\n");
        fill(&mut pipe);
        left_out.write(&mut pipe, "second\nthird\n");
        assert_eq!(left_out, LeftOut { lines: 2, is_within_line: false });
        let mut filled = vec![0; 64 << 10];
        let mut read = 0;
        while poll(&mut [PollFd::new(&reader, PollFlags::IN)], Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
        {
            read += reader.read(&mut filled[read..]).expect("read");
        }
        assert!(filled.starts_with(b"first\nxxx"));
        left_out.write(&mut pipe, "fourth\n");
        // A line of which only the beginning has room is ended before the next one.
        left_out.write(&mut pipe, &"long".repeat(1 << 20));
        assert_eq!(left_out, LeftOut { lines: 1, is_within_line: true });
        let reading = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).expect("text");
            text
        });
        while left_out != LeftOut::default() {
            left_out.write(&mut pipe, "last\n");
        }
        drop(pipe);
        let text = reading.join().expect("read");
        assert!(text.starts_with("… 2 lines left out: nothing read standard error\nfourth\nlonglong"), "{text:.100}");
        let (_, end) = text.rsplit_once("long").expect("it is there");
        assert!(end.contains("\n… ") && end.ends_with(" left out: nothing read standard error\nlast\n"), "{end:?}");
    }
}
