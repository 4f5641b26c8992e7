//! Tools for a model that cannot call them: described in the system message, called in the text of its reply.
//!
//! Stands around any provider and is one itself, so that nobody above sees a difference: [`words`] says tools, calls
//! and results in text, [`reading`] finds the calls in the reply. A call is a fenced block with the word `tool_call`
//! and one JSON object in it; that form is in no document that is about something else, and one can see where it ends.
//!
//! Promises the same parts however the reply's text was cut; that text before a call is shown as it comes, and a call's
//! own text never; that a call in a block of code is none. A call that cannot be read is a reply that ended with
//! [`FinishReason::MalformedFunctionCall`], as it is where a service reads the calls.
//!
//! Deliberately not here: guessing at calls in other forms. A model that writes them is told by its next request.

mod reading;
mod words;

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use host_message::{Content, FinishReason, Part, PartData};
use tokio::sync::mpsc;

use self::reading::Reading;
use crate::{Chunk, ModelError, ModelEvent, ModelStream, Provider, Request};

/// A provider whose model is offered its tools in text.
pub struct TextMode {
    inner: Arc<dyn Provider>,
}

impl TextMode {
    /// Puts text mode around a provider.
    pub fn around(inner: Arc<dyn Provider>) -> Self {
        Self { inner }
    }
}

impl Provider for TextMode {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        // The inner stream borrows what is worded for it, so both live in one future, and what they give comes through
        // a channel of one place. The future runs when the stream is polled, and is dropped with it.
        let (sender, mut receiver) = mpsc::channel(1);
        let work = async move {
            let worded = Worded::new(&request);
            let mut reply = Reply::new(&request);
            let mut inner = self.inner.stream(worded.request(&request));
            while let Some(event) = inner.next().await {
                let event = match event {
                    Ok(ModelEvent::Chunk(chunk)) => match reply.read(chunk) {
                        chunk if chunk.is_empty() => continue,
                        chunk => Ok(ModelEvent::Chunk(chunk)),
                    },
                    Ok(ModelEvent::Retry(again)) => {
                        reply = Reply::new(&request);
                        Ok(ModelEvent::Retry(again))
                    }
                    Ok(ModelEvent::Switched(switched)) => {
                        reply = Reply::new(&request);
                        Ok(ModelEvent::Switched(switched))
                    }
                    Err(error) => Err(error),
                };
                let failed = event.is_err();
                if sender.send(event).await.is_err() || failed {
                    return;
                }
            }
            let rest = reply.rest();
            if !rest.is_empty() {
                // Nobody is left to be told when nobody listens.
                let _ = sender.send(Ok(ModelEvent::Chunk(rest))).await;
            }
        };
        let mut work = Some(Box::pin(work));
        let replies = stream::poll_fn(move |context| {
            if work.as_mut().is_some_and(|running| running.as_mut().poll(context).is_ready()) {
                work = None;
            }
            receiver.poll_recv(context)
        });
        replies.boxed()
    }

    fn stands_for(&self) -> Option<&str> {
        self.inner.stands_for()
    }

    fn count_tokens<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Option<u64>, ModelError>> {
        Box::pin(async move {
            let worded = Worded::new(&request);
            self.inner.count_tokens(worded.request(&request)).await
        })
    }

    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        self.inner.embed(model, texts)
    }
}

/// What is said in text of a request.
struct Worded {
    system: Option<String>,
    contents: Vec<Content>,
}

impl Worded {
    fn new(request: &Request<'_>) -> Self {
        Self { system: words::system(request.system, request.tools), contents: words::contents(request.contents) }
    }

    fn request<'a>(&'a self, request: &Request<'a>) -> Request<'a> {
        Request { system: self.system.as_deref(), contents: &self.contents, tools: &[], ..*request }
    }
}

/// A reply whose calls are being found.
struct Reply {
    /// None where no tools were offered: then what looks like a call is an example of one.
    reading: Option<Reading>,
    /// Everything from the first call on. It waits for the end, so that no call is handed out of a reply of which
    /// another call cannot be read, and so that the order stays.
    held: Vec<Part>,
    /// Why a call of this reply could not be read.
    malformed: Option<String>,
}

impl Reply {
    fn new(request: &Request<'_>) -> Self {
        let reading = (!request.tools.is_empty()).then(Reading::default);
        Self { reading, held: Vec::new(), malformed: None }
    }

    fn read(&mut self, chunk: Chunk) -> Chunk {
        let mut parts = Vec::new();
        for part in chunk.parts {
            self.read_part(part, &mut parts);
        }
        let finish = chunk.finish.map(|reason| {
            self.settle(&mut parts, &reason);
            match reason {
                FinishReason::Stop if self.malformed.is_some() => FinishReason::MalformedFunctionCall,
                reason => reason,
            }
        });
        Chunk { parts, finish, ..chunk }
    }

    fn read_part(&mut self, part: Part, parts: &mut Vec<Part>) {
        let (Some(reading), PartData::Text(text), false) = (&mut self.reading, &part.data, part.thought) else {
            self.give(part, parts);
            return;
        };
        let found = reading.push(text);
        self.take(found, parts);
        // The mark goes back by itself; its text may have been a call's.
        if part.signature.is_some() {
            self.give(Part { signature: part.signature, ..Part::text("") }, parts);
        }
    }

    fn take(&mut self, found: Vec<reading::Found>, parts: &mut Vec<Part>) {
        for found in found {
            match found {
                reading::Found::Text(text) => self.give(Part::text(text), parts),
                reading::Found::Call(call) => self.held.push(PartData::FunctionCall(call).into()),
                reading::Found::Malformed(why) => {
                    tracing::debug!(why, "a call cannot be read");
                    self.malformed = Some(why);
                }
            }
        }
    }

    /// Hands out a part, or keeps it behind a call.
    fn give(&mut self, part: Part, parts: &mut Vec<Part>) {
        let is_call = matches!(part.data, PartData::FunctionCall(_));
        if is_call || !self.held.is_empty() || self.malformed.is_some() {
            self.held.push(part)
        } else {
            parts.push(part)
        }
    }

    /// The text has come to its end: hands out what was kept. No call of a reply is handed out when one of them cannot
    /// be read or the service refused the reply: that would run half of what the model meant.
    fn settle(&mut self, parts: &mut Vec<Part>, reason: &FinishReason) {
        let found = self.reading.as_mut().map(Reading::end).unwrap_or_default();
        self.take(found, parts);
        let without_calls = self.malformed.is_some() || *reason == FinishReason::Safety;
        // The empty lines between calls say nothing.
        let blank = |part: &Part| part.signature.is_none() && part.as_text().is_some_and(|text| text.trim().is_empty());
        let is_call = |part: &Part| matches!(part.data, PartData::FunctionCall(_));
        let is_dropped = |part: &Part| blank(part) || (without_calls && is_call(part));
        parts.extend(self.held.drain(..).filter(|part| !is_dropped(part)));
    }

    /// What is left where the stream ended and no reason came.
    fn rest(&mut self) -> Chunk {
        let mut parts = Vec::new();
        self.settle(&mut parts, &FinishReason::Stop);
        Chunk { parts, ..Chunk::default() }
    }
}

#[cfg(test)]
mod tests;
