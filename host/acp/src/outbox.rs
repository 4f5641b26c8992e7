//! The updates that wait to be sent, in their order.
//!
//! An observer of a run must not wait, and a client may read slowly. Promises: neighbouring pieces of one text become
//! one update while they wait; what waits is bounded, and a client that lets more wait has stopped reading: the
//! connection ends; a message that is sent after [`Outbox::flush`] comes after all updates before it.
//!
//! Deliberately not here: what an update says.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Notice, NoticeSeverity, SessionId, SessionNotification, SessionUpdate,
};
use host_text::visible;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::lines::Written;

/// The most text that waits for a client, in bytes. Protects memory from a client that does not read.
const MAX_WAITING: usize = 16 << 20;

/// The cost of an update besides its text, in bytes: it bounds their number.
const COST: usize = 256;

/// How many updates are handed to the connection before the first of them is written.
const WINDOW: u64 = 64;

/// The outbox. Clones share it.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    added: Notify,
    /// How many updates were handed to the connection.
    sent: watch::Sender<u64>,
    /// Is cancelled when the client has stopped reading.
    overrun: CancellationToken,
    /// Is cancelled when nothing is handed to the connection any more.
    closed: CancellationToken,
    notices: std::sync::atomic::AtomicBool,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(SessionNotification, usize)>,
    bytes: usize,
    /// How many updates were ever added, merged ones once.
    added: u64,
}

impl Outbox {
    /// Creates an empty outbox; `overrun` is cancelled when the client has stopped reading.
    pub(crate) fn new(overrun: CancellationToken) -> Self {
        let (state, added, sent) = (Mutex::default(), Notify::new(), watch::Sender::new(0));
        let closed = CancellationToken::new();
        Self(Arc::new(Inner { state, added, sent, overrun, closed, notices: false.into() }))
    }

    /// Says that the client shows notices.
    pub(crate) fn has_notices(&self) {
        self.0.notices.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    /// Adds an update; `size` is about how many bytes it has.
    pub(crate) fn push(&self, session: &SessionId, update: SessionUpdate, size: usize) {
        let mut state = self.state();
        if self.0.overrun.is_cancelled() {
            return;
        }
        state.bytes = state.bytes.saturating_add(size);
        let update = match state.waiting.back_mut() {
            // Pieces of one text become one update while they wait, so that a slow client costs less.
            Some((last, bytes)) if last.session_id == *session => match merged(&mut last.update, update) {
                None => {
                    *bytes += size;
                    None
                }
                left => left,
            },
            _ => Some(update),
        };
        if let Some(update) = update {
            // An update costs memory even without a byte of text.
            state.bytes = state.bytes.saturating_add(COST);
            state.added += 1;
            state.waiting.push_back((SessionNotification::new(session.clone(), update), size + COST));
        }
        // Nothing may wait here for a client: a run would stand still. One that does not read is given up.
        if state.bytes > MAX_WAITING {
            state.waiting.clear();
            self.0.overrun.cancel();
        }
        drop(state);
        self.0.added.notify_one();
    }

    /// Adds a piece of the agent's message.
    pub(crate) fn message(&self, session: &SessionId, text: String) {
        let size = text.len();
        self.push(session, SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into())), size);
    }

    /// Adds a message of the host to the user. A client without notices shows it as a thought of the agent.
    pub(crate) fn notice(&self, session: &SessionId, severity: NoticeSeverity, text: &str) {
        let text = visible(text).into_owned();
        let size = text.len();
        let update = if self.0.notices.load(std::sync::atomic::Ordering::Relaxed) {
            SessionUpdate::Notice(Notice::new(severity, text))
        } else {
            let chunk: ContentBlock = format!("Note: {text}\n\n").into();
            SessionUpdate::AgentThoughtChunk(ContentChunk::new(chunk))
        };
        self.push(session, update, size);
    }

    /// Waits until everything that was added before is handed to the connection, or there is none any more.
    pub(crate) async fn flush(&self) {
        let target = self.state().added;
        let mut sent = self.0.sent.subscribe();
        tokio::select! {
            biased;
            _ = sent.wait_for(|sent| *sent >= target) => {}
            () = self.0.overrun.cancelled() => {}
            () = self.0.closed.cancelled() => {}
        }
    }

    /// Hands the updates to the connection, for as long as it exists.
    pub(crate) async fn pump(self, connection: Connection, mut written: Written) {
        let _closes = self.0.closed.clone().drop_guard();
        loop {
            let next = {
                let mut state = self.state();
                let next = state.waiting.pop_front();
                if let Some((_, size)) = &next {
                    state.bytes = state.bytes.saturating_sub(*size);
                }
                next
            };
            let Some((update, _)) = next else {
                self.0.added.notified().await;
                continue;
            };
            // Only some are under way at a time, so that what waits can still be merged.
            let sent = *self.0.sent.borrow();
            if written.wait_for(|written| written.saturating_add(WINDOW) > sent).await.is_err() {
                return;
            }
            if connection.send_notification(update).is_err() {
                return;
            }
            // Counted behind the sending, so that a flush waits for what is really on its way.
            self.0.sent.send_modify(|sent| *sent += 1);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is complete before a panic could occur.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a piece of text to the one before it; returns the update if it is none, or of another kind.
fn merged(last: &mut SessionUpdate, update: SessionUpdate) -> Option<SessionUpdate> {
    let (last, piece) = match (last, &update) {
        (SessionUpdate::AgentMessageChunk(last), SessionUpdate::AgentMessageChunk(piece))
        | (SessionUpdate::AgentThoughtChunk(last), SessionUpdate::AgentThoughtChunk(piece)) => (last, piece),
        _ => return Some(update),
    };
    match (&mut last.content, &piece.content) {
        (ContentBlock::Text(last), ContentBlock::Text(piece)) => {
            last.text.push_str(&piece.text);
            None
        }
        _ => Some(update),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(outbox: &Outbox) -> Vec<String> {
        let texts = outbox.state().waiting.iter().map(|(update, _)| serde_json::to_string(&update.update)).collect();
        let texts: Result<Vec<String>, _> = texts;
        texts.expect("plain data")
    }

    #[test]
    fn outbox_pieces_of_one_text_become_one_update() {
        let outbox = Outbox::new(CancellationToken::new());
        let (one, other) = (SessionId::new("1"), SessionId::new("2"));
        for (session, text) in [(&one, "a"), (&one, "b"), (&other, "c"), (&one, "d")] {
            outbox.message(session, text.to_owned());
        }
        outbox.notice(&one, NoticeSeverity::Info, "e\u{1b}");
        let waiting = waiting(&outbox);
        assert_eq!(waiting.len(), 4, "{waiting:?}");
        assert!(waiting[0].contains("ab") && waiting[3].contains("Note: e\\\\u{1b}"), "{waiting:?}");
    }

    #[tokio::test]
    async fn outbox_without_a_connection_is_not_waited_for() {
        let outbox = Outbox::new(CancellationToken::new());
        outbox.message(&SessionId::new("1"), "a".to_owned());
        outbox.0.closed.cancel();
        outbox.flush().await;
        assert_eq!(waiting(&outbox).len(), 1);
    }

    // promise acp.slow: What waits for a client that does not read is bounded; then the connection ends.
    #[test]
    fn outbox_ends_the_connection_of_a_client_that_does_not_read() {
        let overrun = CancellationToken::new();
        let outbox = Outbox::new(overrun.clone());
        let session = SessionId::new("1");
        let piece = "x".repeat(1 << 20);
        let pushed = (0..100).take_while(|_| {
            outbox.message(&session, piece.clone());
            !overrun.is_cancelled()
        });
        assert_eq!(pushed.count(), MAX_WAITING / piece.len() - 1);
        outbox.message(&session, piece);
        assert!(waiting(&outbox).is_empty());
    }
}
