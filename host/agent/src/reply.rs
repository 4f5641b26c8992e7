//! One reply of a model, put together from its stream.
//!
//! Adjacent pieces of text join, thoughts with thoughts; a piece that carries a signature stays apart, since the
//! signature belongs to it alone. Every call gets an id that no other call of the conversation has.
//!
//! A reply is valid if it has a call, or says why it ended and has visible text; after the outcomes of calls it may
//! also be empty. Text is visible if something of it can be seen: white space, characters without a width and HTML
//! comments cannot. Asking again for one that is not valid is the turn's, with a new [`ReplyBuilder`] each time.

mod visible;

use std::collections::HashSet;

use futures::StreamExt;
use host_message::{CallId, Content, FinishReason, Part, PartData, PromptId, Role, Usage};
use host_model::{Chunk, ModelError, ModelEvent, ModelStream, Switched, estimate_part, estimate_text};

pub(crate) use self::visible::is_visible;
use crate::event::EventKind;
use crate::forming::Forming;
use crate::thought::Subjects;

/// A complete and valid reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The content in order; its role is model.
    pub content: Content,
    /// Why it ended.
    pub finish: FinishReason,
}

/// Why there is no valid reply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplyError {
    /// The model, or the way to it, failed.
    #[error("the model gave no reply")]
    Model(#[from] ModelError),
    /// The stream ended and the model had not said why.
    #[error("the model's reply broke off")]
    Unfinished,
    /// It has no call, and nothing that can be seen.
    #[error("the model's reply is empty (it ended with `{}`)", word(finish))]
    Empty {
        /// Why it ended.
        finish: FinishReason,
    },
    /// The model tried to call a tool, and its service could not read the call.
    #[error("the model's call of a tool could not be read")]
    MalformedCall,
    /// A safety rule of the service stopped it.
    #[error("the model's service stopped the reply (`{}`)", word(finish))]
    Blocked {
        /// Which.
        finish: FinishReason,
    },
}

/// Gathers the pieces of a reply.
#[derive(Debug)]
pub(crate) struct ReplyBuilder<'a> {
    prompt: &'a PromptId,
    parts: Vec<Part>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    /// Token usage of the earlier attempts, of which nothing else is kept.
    lost: Usage,
    subjects: Subjects,
    forming: Forming,
}

/// Reads the stream to its end and reports what arrives. What was read until an error, or until the future is dropped,
/// stays in the builder.
pub(crate) async fn read(
    mut stream: ModelStream<'_>,
    builder: &mut ReplyBuilder<'_>,
    tell: &(dyn Fn(EventKind<'_>) + Send + Sync),
) -> Result<(), ModelError> {
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Chunk(chunk) => builder.push(chunk, tell),
            ModelEvent::Retry(again) => {
                builder.clear();
                tell(EventKind::retry(&again));
            }
            ModelEvent::Switched(Switched { model, reason }) => {
                builder.clear();
                tell(EventKind::ModelSwitched { model: &model, reason: &reason });
            }
        }
    }
    if let Some(reason) = &builder.finish {
        tell(EventKind::Finished { reason, usage: builder.usage });
    }
    Ok(())
}

impl<'a> ReplyBuilder<'a> {
    pub(crate) fn new(prompt: &'a PromptId) -> Self {
        let lost = Usage::default();
        Self {
            prompt,
            parts: Vec::new(),
            finish: None,
            usage: None,
            lost,
            subjects: Subjects::default(),
            forming: Forming::default(),
        }
    }

    /// Returns the token usage of the reply with all its attempts, as far as its service reported it.
    pub(crate) fn usage(&self) -> Usage {
        let mut usage = self.lost;
        usage.add(self.usage.unwrap_or_default());
        usage
    }

    /// Returns the number of tokens in the prompt, as far as the service reported it; interrupted attempts do not
    /// count.
    pub(crate) fn prompt_tokens(&self) -> u64 {
        self.usage.map_or(0, |usage| usage.input)
    }

    /// Returns whether anything of the reply has come.
    pub(crate) fn has_come(&self) -> bool {
        !self.parts.is_empty() || self.finish.is_some()
    }

    /// Estimates how many tokens the reply so far has, thoughts included.
    pub(crate) fn estimate(&self) -> u64 {
        let tokens = |part: &Part| match part.as_text() {
            Some(text) => estimate_text(text),
            None => estimate_part(part),
        };
        self.parts.iter().map(tokens).fold(0, u64::saturating_add)
    }

    /// Returns the text so far without thoughts.
    pub(crate) fn visible_text(&self) -> String {
        self.parts.iter().filter(|part| !part.thought).filter_map(Part::as_text).collect()
    }

    /// Returns the parts of the reply so far.
    pub(crate) fn into_parts(self) -> Vec<Part> {
        self.parts
    }

    /// Returns the reply if it is valid; otherwise the reason and the parts so far. `taken` returns whether a call of
    /// the conversation has an id; `after_outcomes` is whether the model has just received the outcomes of calls.
    pub(crate) fn finish(
        self,
        taken: impl Fn(&CallId) -> bool,
        after_outcomes: bool,
    ) -> Result<Reply, (ReplyError, Vec<Part>)> {
        let mut content = Content { role: Role::Model, parts: self.parts };
        if content.function_calls().next().is_some() {
            name_calls(&mut content.parts, self.prompt, taken);
            return Ok(Reply { content, finish: self.finish.unwrap_or(FinishReason::Stop) });
        }
        let Some(finish) = self.finish else { return Err((ReplyError::Unfinished, content.parts)) };
        let error = match finish {
            FinishReason::MalformedFunctionCall => ReplyError::MalformedCall,
            FinishReason::Safety | FinishReason::Recitation => ReplyError::Blocked { finish },
            FinishReason::Stop | FinishReason::MaxTokens | FinishReason::Other(_) => {
                if after_outcomes || is_visible(&content.visible_text()) {
                    return Ok(Reply { content, finish });
                }
                ReplyError::Empty { finish }
            }
        };
        Err((error, content.parts))
    }

    fn clear(&mut self) {
        *self = Self { lost: self.usage(), ..Self::new(self.prompt) };
    }

    fn push(&mut self, chunk: Chunk, tell: &(dyn Fn(EventKind<'_>) + Send + Sync)) {
        for part in chunk.parts {
            self.push_part(part, tell);
        }
        for piece in &chunk.forming {
            self.forming.push(piece, tell);
        }
        for uri in &chunk.citations {
            tell(EventKind::Citation { uri });
        }
        if chunk.usage.is_some() {
            self.usage = chunk.usage;
        }
        if chunk.finish.is_some() {
            self.finish = chunk.finish;
        }
    }

    fn push_part(&mut self, part: Part, tell: &(dyn Fn(EventKind<'_>) + Send + Sync)) {
        if let PartData::Text(text) = &part.data {
            // Services send empty pieces; as parts they would be rejected in the next request.
            if text.is_empty() && part.signature.is_none() {
                return;
            }
            // A part with only a signature is for the service alone.
            if !text.is_empty() {
                if part.thought {
                    let subject = self.subjects.push(text);
                    tell(EventKind::Thought { subject: subject.as_deref(), text });
                } else {
                    tell(EventKind::Content { text });
                }
            }
            // A signature is about the part that it came with: joined, the service would not accept it.
            if part.signature.is_none()
                && let Some(Part { data: PartData::Text(before), thought, signature: None }) = self.parts.last_mut()
                && *thought == part.thought
            {
                before.push_str(text);
                return;
            }
        }
        self.parts.push(part);
    }
}

/// Gives each call an id of the host's: the request's, and its place among the calls of the reply. What the service
/// calls it is kept if no other call of the conversation is called so.
fn name_calls(parts: &mut [Part], prompt: &PromptId, taken: impl Fn(&CallId) -> bool) {
    let mut used = HashSet::new();
    let calls = parts.iter_mut().filter_map(|part| match &mut part.data {
        PartData::FunctionCall(call) => Some(call),
        _ => None,
    });
    for (index, call) in calls.enumerate() {
        let is_fresh = |id: &CallId| !id.as_str().is_empty() && !taken(id);
        // A service may have chosen an id that looks like one of ours; another mark makes it differ.
        let mut id = prompt.call(index);
        while taken(&id) || used.contains(&id) {
            id = CallId::new(format!("{id}+"));
        }
        let service_id = std::mem::replace(&mut call.id, id.clone());
        used.insert(id);
        call.service_id = (is_fresh(&service_id) && used.insert(service_id.clone())).then_some(service_id);
    }
}

fn word(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Stop => "stop",
        FinishReason::MaxTokens => "max_tokens",
        FinishReason::Safety => "safety",
        FinishReason::Recitation => "recitation",
        FinishReason::MalformedFunctionCall => "malformed_function_call",
        FinishReason::Other(word) => word,
    }
}

#[cfg(test)]
mod tests;
