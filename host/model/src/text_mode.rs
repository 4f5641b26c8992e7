//! Tools for a model that cannot call them: described in the system message, called in the text of its reply.
//!
//! Wraps any provider and is one itself, so that the caller sees no difference: [`words`] writes tools, calls and
//! results as text, [`reading`] finds the calls in the reply. A call is a fenced block with the word `tool_call` and
//! one JSON object in it; documents about other subjects do not contain that form, and its end is visible.
//!
//! Promises the same parts however the reply's text was cut; that text before a call is shown as it comes, but a call's
//! own text never; that a call in a block of code is not a call. A reply with a call that cannot be read ends with
//! [`FinishReason::MalformedFunctionCall`], as with a service that parses the calls.
//!
//! Deliberately not here: guessing at calls in other forms. A model that writes them gets an error with its next
//! request.

mod reading;
mod words;

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use host_message::{Content, FinishReason, Part, PartData};
use tokio::sync::mpsc;

use self::reading::Reading;
use crate::found::declared;
use crate::{Chunk, ModelError, ModelEvent, ModelStream, Provider, Request, WebSearch};

/// A provider that offers its model the tools in text.
pub struct TextMode {
    inner: Arc<dyn Provider>,
}

impl TextMode {
    /// Wraps a provider in text mode.
    pub fn around(inner: Arc<dyn Provider>) -> Self {
        Self { inner }
    }
}

impl Provider for TextMode {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        // The inner stream borrows the rewritten request, so both live in one future, and its events come through a
        // channel of one place. The future runs when the stream is polled, and is dropped with it.
        let (sender, mut receiver) = mpsc::channel(1);
        let work = async move {
            let worded = Worded::new(&request);
            let mut reply = Reply::new(&request);
            let mut inner = self.inner.stream(worded.request(&request));
            while let Some(event) = inner.next().await {
                let event = match event {
                    // A piece that may begin a call is held back, so nothing may be left of it.
                    Ok(ModelEvent::Chunk(chunk)) => match reply.read(chunk) {
                        chunk if chunk.is_empty() => continue,
                        chunk => Ok(ModelEvent::Chunk(chunk)),
                    },
                    Ok(ModelEvent::Retry(again)) => {
                        // Half a call of a void attempt must not join the next one.
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
            // What was held back as the possible beginning of a call is text after all.
            let rest = reply.rest();
            if !rest.is_empty() {
                // Without a receiver, the rest is not needed.
                let _ = sender.send(Ok(ModelEvent::Chunk(rest))).await;
            }
        };
        let mut work = Some(Box::pin(work));
        let replies = stream::poll_fn(move |context| {
            // Polled first: it fills the channel that is read below.
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

    fn search_address(&self, model: &str) -> Option<String> {
        self.inner.search_address(model)
    }

    fn search<'a>(&'a self, model: &'a str, query: &'a str) -> BoxFuture<'a, Result<Option<WebSearch>, ModelError>> {
        self.inner.search(model, query)
    }
}

/// A request, rewritten as text.
struct Worded {
    system: Option<String>,
    contents: Vec<Content>,
}

impl Worded {
    fn new(request: &Request<'_>) -> Self {
        Self { system: words::system(request.system, &declared(request)), contents: words::contents(request.contents) }
    }

    fn request<'a>(&'a self, request: &Request<'a>) -> Request<'a> {
        Request { system: self.system.as_deref(), contents: &self.contents, tools: &[], ..*request }
    }
}

/// A reply in which calls are searched.
struct Reply {
    /// `None` if no tools were offered: then text that looks like a call is an example of one.
    reading: Option<Reading>,
    /// Everything from the first call on. It is held until the end, so that no call is returned from a reply with
    /// another call that cannot be read, and so that the order is kept.
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
        // The signature is sent back by itself; its text may have been a call's.
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

    /// Returns a part at once, or holds it behind a call.
    fn give(&mut self, part: Part, parts: &mut Vec<Part>) {
        let is_call = matches!(part.data, PartData::FunctionCall(_));
        if is_call || !self.held.is_empty() || self.malformed.is_some() {
            self.hold(part);
        } else {
            parts.push(part);
        }
    }

    /// Holds a part. Text joins the text before it: a space or an empty line that came as a piece of its own belongs to
    /// the text around it, and is not blank by itself.
    fn hold(&mut self, part: Part) {
        let is_plain = |part: &Part| part.signature.is_none();
        if let (Some(last), PartData::Text(text)) = (self.held.last_mut().filter(|last| is_plain(last)), &part.data)
            && let PartData::Text(before) = &mut last.data
            && last.thought == part.thought
            && is_plain(&part)
        {
            before.push_str(text);
        } else {
            self.held.push(part);
        }
    }

    /// Ends the text: returns the held parts. No call of a reply is returned if one of them cannot be read or the
    /// service blocked the reply: that would run half of what the model meant.
    fn settle(&mut self, parts: &mut Vec<Part>, reason: &FinishReason) {
        let found = self.reading.as_mut().map(Reading::end).unwrap_or_default();
        self.take(found, parts);
        let without_calls = self.malformed.is_some() || *reason == FinishReason::Safety;
        // The empty lines between calls have no meaning.
        let blank = |part: &Part| part.signature.is_none() && part.as_text().is_some_and(|text| text.trim().is_empty());
        let is_call = |part: &Part| matches!(part.data, PartData::FunctionCall(_));
        let is_dropped = |part: &Part| blank(part) || (without_calls && is_call(part));
        parts.extend(self.held.drain(..).filter(|part| !is_dropped(part)));
    }

    /// Returns what is left if the stream ended without a reason.
    fn rest(&mut self) -> Chunk {
        let mut parts = Vec::new();
        self.settle(&mut parts, &FinishReason::Stop);
        Chunk { parts, ..Chunk::default() }
    }
}

#[cfg(test)]
mod tests;
