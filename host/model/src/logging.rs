//! Records a model's replies as a script that replays them.
//!
//! [`LoggingProvider`] wraps any provider and is one itself; several share one [`Recording`]. The recording replays
//! without the services: each reply in the order of the requests, with each piece as it came, including retries and
//! errors. Replies to concurrent requests are written in that order too, so a line waits for those before it.
//!
//! Deliberately not here: the requests. A replay drives the same tools, and the session log has the requests.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use futures::{StreamExt, stream};

use crate::error::Cause;
use crate::scripted::script::{Item, Recorded, True};
use crate::text::clip;
use crate::{ModelError, ModelEvent, ModelStream, Provider, Request, WebSearch};

/// A provider that records a different one.
pub struct LoggingProvider {
    provider: Arc<dyn Provider>,
    recording: Recording,
}

/// A recording, written to one writer. Clones share it.
#[derive(Clone)]
pub struct Recording {
    name: Arc<str>,
    tape: Arc<Mutex<Tape>>,
}

struct Tape {
    out: Box<dyn Write + Send>,
    /// The model, until the first line names it.
    head: bool,
    /// The number of requests.
    asked: u64,
    /// The number of lines that were written or left out.
    written: u64,
    /// Lines that wait for earlier ones.
    waiting: BTreeMap<u64, Vec<u8>>,
}

/// A reply while it arrives. Dropping it records the pieces so far, and that no more came.
struct Hearing<'a> {
    recording: &'a Recording,
    inner: ModelStream<'a>,
    at: u64,
    /// `None` once it is written.
    items: Option<Vec<Item>>,
}

impl LoggingProvider {
    /// Creates a provider that records this one.
    pub fn new(provider: Arc<dyn Provider>, recording: &Recording) -> Self {
        Self { provider, recording: recording.clone() }
    }
}

impl Recording {
    /// Creates a recording to a writer, which must not buffer; `name` is what errors call it.
    pub fn new(out: Box<dyn Write + Send>, name: &str) -> Self {
        let tape = Tape { out, head: false, asked: 0, written: 0, waiting: BTreeMap::new() };
        Self { name: name.into(), tape: Arc::new(Mutex::new(tape)) }
    }

    /// Registers a request to this model, and returns its number.
    fn begin(&self, model: &str) -> Result<u64, ModelError> {
        let mut tape = self.tape.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut tape.head, true) {
            let line = line(&Recorded::Head { stands_for: model });
            tape.write(&line).map_err(|error| self.failed(&error))?;
        }
        tape.asked += 1;
        Ok(tape.asked - 1)
    }

    fn end(&self, at: u64, items: &[Item]) -> Result<(), ModelError> {
        let mut tape = self.tape.lock().unwrap_or_else(PoisonError::into_inner);
        tape.waiting.insert(at, line(&Recorded::Reply { chunks: items }));
        tape.write_due().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> ModelError {
        ModelError::Recording { path: self.name.to_string(), cause: Cause(clip(&error.to_string())) }
    }
}

impl Tape {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.out.write_all(line).and_then(|()| self.out.flush())
    }

    fn write_due(&mut self) -> io::Result<()> {
        while let Some(line) = self.waiting.remove(&self.written) {
            self.written += 1;
            self.write(&line)?;
        }
        Ok(())
    }
}

fn line(line: &Recorded<'_>) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(line).expect("every key is text and no serialiser is our own");
    bytes.push(b'\n');
    bytes
}

impl Provider for LoggingProvider {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn stands_for(&self) -> Option<&str> {
        self.provider.stands_for()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let start = async move {
            match self.recording.begin(self.stands_for().unwrap_or(request.model)) {
                Ok(at) => {
                    let inner = self.provider.stream(request);
                    let hearing = Hearing { recording: &self.recording, inner, at, items: Some(Vec::new()) };
                    stream::unfold(hearing, async |mut hearing| Some((hearing.next().await?, hearing))).boxed()
                }
                Err(error) => stream::once(async { Err(error) }).boxed(),
            }
        };
        stream::once(start).flatten().fuse().boxed()
    }

    fn count_tokens<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Option<u64>, ModelError>> {
        self.provider.count_tokens(request)
    }

    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        self.provider.embed(model, texts)
    }

    fn search_address(&self, model: &str) -> Option<String> {
        self.provider.search_address(model)
    }

    fn search<'a>(&'a self, model: &'a str, query: &'a str) -> BoxFuture<'a, Result<Option<WebSearch>, ModelError>> {
        self.provider.search(model, query)
    }
}

impl Hearing<'_> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        let items = self.items.as_mut()?;
        let event = match self.inner.next().await {
            Some(Ok(event)) => {
                items.extend(Item::from_event(&event));
                return Some(Ok(event));
            }
            Some(Err(error)) => {
                items.push(Item::from_error(&error));
                Some(Err(error))
            }
            None => {
                // A reply without a reason to end must have none when it is replayed.
                if !items.iter().any(|item| matches!(item, Item::Finish(_))) {
                    items.push(Item::Finish(None));
                }
                None
            }
        };
        let items = self.items.take().unwrap_or_default();
        match self.recording.end(self.at, &items) {
            Ok(()) => event,
            // A recording that cannot be written is an error, and not a replay that ends early.
            Err(error) => Some(Err(error)),
        }
    }
}

impl Drop for Hearing<'_> {
    fn drop(&mut self) {
        if let Some(mut items) = self.items.take() {
            items.push(Item::Hang(True));
            // This reply has no receiver any more, so the error cannot be returned here; the next request returns it.
            if let Err(error) = self.recording.end(self.at, &items) {
                tracing::warn!("{error}");
            }
        }
    }
}

#[cfg(test)]
mod tests;
