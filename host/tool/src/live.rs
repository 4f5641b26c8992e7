//! Live output: what a call shows while it runs.
//!
//! Live output is for the user who watches and is not part of the outcome, so it may be lost and must never delay the
//! call: the channel behind a [`LiveOutput`] is bounded, output that does not fit is dropped, and the number of dropped
//! bytes is reported with the call's end. What the call's end says of its output ([`Printed`]) is complete all the
//! same.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host_plugin::ProgramEnd;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::Printed;
use crate::printed::Printing;

/// How many pieces may wait to be shown. Protects memory if the terminal is slower than the tools.
const WAITING_PIECES: usize = 64;

/// The longest piece, in bytes of UTF-8; the rest of a longer one is dropped. Together with [`WAITING_PIECES`] it
/// bounds the waiting output.
const PIECE_BYTES: usize = 64 * 1024;

/// The most that one call may show, in bytes of UTF-8. Protects the user's terminal and log from a tool that never
/// stops printing.
const CALL_BYTES: u64 = 8 * 1024 * 1024;

/// The cost of a piece besides its bytes. Bounds the number of empty pieces.
const PIECE_COST: u64 = 64;

/// One piece of live output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// Text as the tool printed it; it may contain control characters.
    Output(String),
    /// The progress of the call.
    Progress {
        /// Units done.
        done: u64,
        /// Units in all, if known.
        total: Option<u64>,
        /// What is being done.
        message: String,
    },
}

/// A piece, with the index of its call in the reply.
pub(crate) type Piece = (usize, Live);

/// A call's handle for live output: cheap to clone, never blocks, never fails.
#[derive(Clone, Debug)]
pub struct LiveOutput {
    call: usize,
    sender: mpsc::Sender<Piece>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    taken: AtomicU64,
    dropped: AtomicU64,
    end: Mutex<Ending>,
}

/// What the end of a call reports.
#[derive(Debug, Default)]
struct Ending {
    printing: Printing,
    command: Option<ProgramEnd>,
    mcp_meta: Option<Arc<Map<String, Value>>>,
}

impl LiveOutput {
    /// Shows text. Output over the limits is dropped and counted.
    pub fn output(&self, text: &str) {
        self.end().printing.push(text);
        let kept = &text[..text.floor_char_boundary(PIECE_BYTES)];
        self.drop_bytes(text.len() - kept.len());
        self.send(kept.len(), || Live::Output(kept.to_owned()));
    }

    /// Records how the command ended that the call was shown to run; the last one counts.
    pub(crate) fn command_ended(&self, end: ProgramEnd) {
        self.end().command = Some(end);
    }

    /// Records what an MCP server said beside its answer, for programs; the last answer counts.
    pub(crate) fn says_beside(&self, meta: Arc<Map<String, Value>>) {
        self.end().mcp_meta = Some(meta);
    }

    /// Reports the progress of the call, with a description of the current step. A total that is zero or exceeded was a
    /// wrong guess and is not shown.
    pub fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        let total = total.filter(|total| *total > 0 && done <= *total);
        let kept = &message[..message.floor_char_boundary(PIECE_BYTES)];
        self.drop_bytes(message.len() - kept.len());
        self.send(kept.len(), || Live::Progress { done, total, message: kept.to_owned() });
    }

    /// Creates a handle without a receiver, for calls outside a scheduler.
    pub fn nowhere() -> Self {
        Self { call: 0, sender: mpsc::channel(1).0, counts: Arc::default() }
    }

    /// Creates a handle for the call at this index, which sends to this channel.
    pub(crate) fn new(call: usize, sender: mpsc::Sender<Piece>) -> Self {
        Self { call, sender, counts: Arc::default() }
    }

    /// Returns how many bytes were dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.counts.dropped.load(Ordering::Relaxed)
    }

    /// Returns what was printed so far.
    pub(crate) fn printed(&self) -> Printed {
        self.end().printing.printed()
    }

    /// Returns how its command ended; `None` if it runs none, or that one runs.
    pub(crate) fn command(&self) -> Option<ProgramEnd> {
        self.end().command
    }

    /// Returns what an MCP server said beside its answer, for programs; `None` if the call asked none, or it said
    /// nothing.
    pub fn mcp_meta(&self) -> Option<Arc<Map<String, Value>>> {
        self.end().mcp_meta.clone()
    }

    fn end(&self) -> MutexGuard<'_, Ending> {
        self.counts.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, bytes: usize, piece: impl FnOnce() -> Live) {
        let bytes = bytes as u64;
        let cost = bytes.saturating_add(PIECE_COST);
        let fits = self.counts.taken.fetch_add(cost, Ordering::Relaxed).saturating_add(cost) <= CALL_BYTES;
        let sent = fits && self.sender.try_reserve().map(|place| place.send((self.call, piece()))).is_ok();
        if !sent {
            self.counts.dropped.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn drop_bytes(&self, bytes: usize) {
        self.counts.dropped.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Creates the channel through which all calls of one reply show their live output.
pub(crate) fn channel() -> (mpsc::Sender<Piece>, mpsc::Receiver<Piece>) {
    mpsc::channel(WAITING_PIECES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_output_that_nobody_reads_is_dropped_and_counted() {
        let (sender, _receiver) = channel();
        let live = LiveOutput::new(0, sender);
        for _ in 0..WAITING_PIECES + 3 {
            live.output("four");
        }
        assert_eq!(live.dropped(), 12);
        live.output("\nlast");
        assert_eq!(live.printed().tail.last().map(String::as_str), Some("last"), "the end of a call knows all of it");
    }

    #[test]
    fn a_long_piece_is_cut_at_a_character() {
        let (sender, mut receiver) = channel();
        let live = LiveOutput::new(7, sender);
        live.output(&format!("{}ä", "x".repeat(PIECE_BYTES - 1)));
        assert_eq!(live.dropped(), 2);
        assert_eq!(receiver.try_recv(), Ok((7, Live::Output("x".repeat(PIECE_BYTES - 1)))));
    }

    #[test]
    fn live_progress_beyond_its_total_has_no_total() {
        let (sender, mut receiver) = channel();
        let live = LiveOutput::new(0, sender);
        for (done, total, shown) in [
            (0, Some(10), Some(10)),
            (10, Some(10), Some(10)),
            (12, Some(10), None),
            (u64::MAX, Some(1), None),
            (0, Some(0), None),
            (3, None, None),
        ] {
            live.progress(done, total, "files");
            let piece = Live::Progress { done, total: shown, message: "files".to_owned() };
            assert_eq!(receiver.try_recv(), Ok((0, piece)), "{done} of {total:?}");
        }
    }

    #[test]
    fn one_call_cannot_show_without_end() {
        let (sender, mut receiver) = channel();
        let live = LiveOutput::new(0, sender);
        let piece = "x".repeat(PIECE_BYTES);
        let mut shown = 0;
        for _ in 0..2 * CALL_BYTES / PIECE_BYTES as u64 {
            live.output(&piece);
            shown += u64::from(receiver.try_recv().is_ok());
        }
        assert_eq!(shown, CALL_BYTES / (PIECE_BYTES as u64 + PIECE_COST));
        assert_eq!(live.dropped(), 2 * CALL_BYTES - shown * PIECE_BYTES as u64);
    }
}
