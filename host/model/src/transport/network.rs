//! The thread on which a service's connections live, apart from the threads that work.
//!
//! A connection hands over each piece of a reply in a task of its own, and waits until it was taken. On threads that
//! take tasks from each other, every fourth piece wakes another thread, which costs more than reading all of them does.
//! So connections have one thread to themselves, and pieces that have arrived are handed over together: of an answer in
//! 8,000 pieces, 28 ms of processor time are left of 68, and it is there after 0.42 of the time. What has arrived with
//! the head of an answer is handed over with it.
//!
//! Promises: dropping a request or a body ends it and closes its connection; of a body that is not read, at most three
//! batches of about [`BATCH`] bytes are kept.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use reqwest::header::HeaderMap;
use reqwest::{RequestBuilder, Response, StatusCode};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};

/// The size from which on pieces are handed over, in bytes, although more may have arrived.
const BATCH: usize = 64 << 10;

/// A thread for connections.
#[derive(Debug)]
pub(super) struct Network(Option<Runtime>);

impl Network {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Self> {
        // With a single worker no other can take its tasks.
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("network").enable_all().build()?;
        Ok(Self(Some(runtime)))
    }

    /// Sends a request and waits for the head of its answer; `None` if the client panicked.
    pub(super) async fn send(&self, request: RequestBuilder) -> Option<reqwest::Result<Answer>> {
        let (mut taker, head) = oneshot::channel();
        self.spawn(async move {
            let sent = tokio::select! {
                biased;
                // A caller that is gone ends the request before its head has come.
                () = taker.closed() => return,
                sent = request.send() => sent,
            };
            let mut response = match sent {
                Ok(response) => response,
                Err(error) => {
                    taker.send(Err(error)).ok();
                    return;
                }
            };
            // Bounds what is kept of a body that nobody reads.
            let (pieces, body) = mpsc::channel(1);
            // What came with the head is handed over with it: waiting for it apart costs another wake.
            let (first, next) = arrived(&mut response).await;
            if let Some(batch) = first {
                // Nothing else is in it yet.
                pieces.try_send(Ok(batch)).ok();
            }
            let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
            // If the caller is gone, so is the body, and the connection closes.
            taker.send(Ok(Answer { status, headers, body: Body(body) })).ok();
            hand_over(response, pieces, next).await;
        });
        head.await.ok()
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // There is none only while it is dropped.
        if let Some(runtime) = &self.0 {
            runtime.spawn(task);
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // The usual way waits for its threads, which a task of another runtime must not do.
            runtime.shutdown_background();
        }
    }
}

/// An answer, of which the head has arrived.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
}

/// The body of an answer while it arrives. Dropping it closes the connection if more was to come.
pub(super) struct Body(mpsc::Receiver<reqwest::Result<Bytes>>);

impl Body {
    /// Returns what has arrived since the last time, and waits if that is nothing; `None` at the end.
    pub(super) async fn next(&mut self) -> Option<reqwest::Result<Bytes>> {
        self.0.recv().await
    }
}

/// A piece of a body; `None` is its end.
type Piece = Option<reqwest::Result<Bytes>>;

/// Hands over the rest of a body. `next` is what was read of it already.
async fn hand_over(mut response: Response, taker: mpsc::Sender<reqwest::Result<Bytes>>, mut next: Option<Piece>) {
    loop {
        let piece = match next.take() {
            Some(piece) => piece,
            None => tokio::select! {
                biased;
                // Dropping a body closes its connection, so that the service stops as well.
                () = taker.closed() => return,
                piece = response.chunk() => piece.transpose(),
            },
        };
        let piece = match piece {
            Some(Ok(first)) => {
                // All pieces that are there already, as one: each hand-over wakes another thread.
                let (batch, behind) = gather(first, &mut response).await;
                next = behind;
                Ok(batch)
            }
            Some(Err(error)) => Err(error),
            None => return,
        };
        let is_last = piece.is_err();
        if taker.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

/// Returns the beginning of the body that is there already, and what came behind it: an error, or the end.
async fn arrived(response: &mut Response) -> (Option<Bytes>, Option<Piece>) {
    connection_goes_on().await;
    match response.chunk().now_or_never().map(Result::transpose) {
        None => (None, None),
        Some(Some(Ok(first))) => {
            let (batch, behind) = gather(first, response).await;
            (Some(batch), behind)
        }
        Some(end) => (None, Some(end)),
    }
}

/// Adds the pieces that are there already; returns with them what came behind the last: an error, or the end.
async fn gather(first: Bytes, response: &mut Response) -> (Bytes, Option<Piece>) {
    let mut batch = None;
    let mut length = first.len();
    while length < BATCH {
        connection_goes_on().await;
        let Some(piece) = response.chunk().now_or_never() else { break };
        match piece.transpose() {
            Some(Ok(piece)) => {
                length += piece.len();
                batch.get_or_insert_with(|| BytesMut::from(&first[..])).extend_from_slice(&piece);
            }
            end => return (batch.map_or(first, BytesMut::freeze), Some(end)),
        }
    }
    (batch.map_or(first, BytesMut::freeze), None)
}

/// Lets the tasks run that are ready, without looking for what else has arrived as `yield_now` does.
async fn connection_goes_on() {
    let mut has_waited = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loopback::{Answer, End, Loopback};

    #[tokio::test]
    async fn network_hands_pieces_over_in_order_and_many_at_once() {
        let pieces: Vec<Vec<u8>> = (0..2_000).map(|n| format!("{n};").into_bytes()).collect();
        let answer = Answer::events(pieces.iter().map(Vec::as_slice), End::Whole);
        let loopback = Loopback::start(answer).await;
        let client = crate::client::client(&loopback.address.parse().unwrap(), None, true).unwrap();
        let network = Network::start().expect("a thread");
        let answer = network.send(client.post(&loopback.address)).await.expect("no panic").expect("an answer");
        let mut body = answer.body;
        let (mut all, mut batches) = (Vec::new(), 0);
        while let Some(batch) = body.next().await {
            all.extend_from_slice(&batch.expect("it is whole"));
            batches += 1;
        }
        assert_eq!(all, pieces.concat());
        assert!(batches <= 500, "{batches} batches");
    }
}
