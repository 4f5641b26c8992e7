//! A reply while it arrives: bytes to events, events to chunks, and the three ways in which it ends.

use std::time::Duration;

use tokio::time::timeout;

use super::network::Body;
use super::{Heard, Reader, Transport, Unheard, cause};
use crate::framing::Decoder;
use crate::text::{clip, clip_bytes};
use crate::{Chunk, ModelError, ReplyFault};

/// How long to wait for the end of a reply that has reported its end. When the end comes, the connection can be used
/// for the next request; a service that keeps it open costs only this much.
const TAIL_LIMIT: Duration = Duration::from_millis(100);

/// An arriving reply. Dropping it closes the connection.
pub(super) struct Receiving<'a, R> {
    transport: &'a Transport,
    body: Body,
    decoder: Decoder,
    reader: R,
    stage: Stage,
}

/// The stage of a reply.
enum Stage {
    /// More bytes may come.
    Open,
    /// No more bytes come; events may be left.
    Ended,
    /// An event ended the reply; the connection may not have ended.
    Done,
}

impl<'a, R: Reader> Receiving<'a, R> {
    pub(super) fn new(transport: &'a Transport, body: Body, reader: R) -> Self {
        Self { transport, body, decoder: Decoder::new(R::FRAMING), reader, stage: Stage::Open }
    }

    /// Returns the next piece that is not empty; `None` once the reply is complete.
    pub(super) async fn next(&mut self) -> Result<Option<Chunk>, ModelError> {
        loop {
            // A server that sends faster than this reads must not monopolise the thread.
            tokio::task::consume_budget().await;
            if matches!(self.stage, Stage::Done) {
                self.read_tail().await;
                return Ok(None);
            }
            match self.event()? {
                Some(chunk) if chunk.is_empty() => continue,
                Some(chunk) => return Ok(Some(chunk)),
                None => {}
            }
            match self.stage {
                Stage::Open => self.receive().await?,
                // The connection ended: only the format knows whether the reply is whole.
                Stage::Ended => {
                    self.stage = Stage::Done;
                    let chunk = self.reader.end().map_err(|fault| self.transport.fault(fault))?;
                    return Ok((!chunk.is_empty()).then_some(chunk));
                }
                Stage::Done => {}
            }
        }
    }

    /// Waits for more bytes.
    async fn receive(&mut self) -> Result<(), ModelError> {
        match timeout(self.transport.silence, self.body.next()).await {
            Ok(Some(Ok(bytes))) => self.decoder.push(bytes).map_err(|fault| self.transport.fault(fault)),
            Ok(None) => {
                self.decoder.end();
                self.stage = Stage::Ended;
                Ok(())
            }
            Ok(Some(Err(error))) => Err(self.transport.interrupted(cause(&error))),
            Err(_) => Err(self.transport.silent()),
        }
    }

    /// Reads the rest of the response to a reply that is over.
    async fn read_tail(&mut self) {
        let tail = async { while let Some(Ok(_)) = self.body.next().await {} };
        // Neither an error nor the time limit affects a complete reply.
        let _ = timeout(TAIL_LIMIT, tail).await;
    }

    /// Returns the chunk of the next event in the bytes so far; `None` if they contain no more.
    fn event(&mut self) -> Result<Option<Chunk>, ModelError> {
        let fault = |fault| self.transport.fault(fault);
        let Some(data) = self.decoder.next_event().map_err(fault)? else { return Ok(None) };
        match self.reader.event(data) {
            Ok(Heard::More(chunk)) => Ok(Some(chunk)),
            Ok(Heard::Done(chunk)) => {
                self.stage = Stage::Done;
                Ok(Some(chunk))
            }
            // An incomplete event at the end of the stream means that the connection was cut.
            Err(Unheard::NotJson(error)) if error.is_eof() && matches!(self.stage, Stage::Ended) => {
                Err(fault(ReplyFault::Unfinished))
            }
            Err(Unheard::NotJson(error)) => {
                let excerpt = self.transport.without_key(&clip_bytes(data));
                Err(fault(ReplyFault::NotJson { why: clip(&error.to_string()), excerpt }))
            }
            Err(Unheard::Failed(failure)) => Err(self.transport.reported(failure)),
            Err(Unheard::Blocked(reason)) => {
                Err(ModelError::Blocked { service: self.transport.service.clone(), reason })
            }
        }
    }
}
