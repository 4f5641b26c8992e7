//! The conversation as it is sent to the model, in which every call has its outcome.
//!
//! The rule is held by types: asking borrows the history as an [`Exchange`], a reply with calls turns that into
//! [`Unsettled`] calls, and only settling all of them gives the history back. What is dropped half-way leaves a history
//! that keeps the rule: a request without a reply is removed, and interrupted calls are reported as such, since they
//! may have changed something.
//!
//! Appending costs the same however long the history is, and a request takes the messages as they lie here.
//! Deliberately not here: invalid replies and interrupted thoughts; the session log has those.

use std::collections::HashSet;
use std::mem;

use host_message::{CallId, Content, FunctionCall, Part, PartData, ResponseBody, Role, ToolName};

/// Message to the model about a call that was interrupted.
const INTERRUPTED: &str =
    "[Operation Cancelled] Reason: the call was interrupted; it may have done all, some or none of its work";

/// Message to the model about a call that had not begun when the process ended.
const NOT_BEGUN: &str = "[Operation Cancelled] Reason: not run: the process ended before the call began; call it again \
                         if it is still needed";

/// A conversation.
#[derive(Clone, Debug, Default)]
pub struct History {
    contents: Vec<Content>,
    /// The ids of the calls in the messages.
    calls: HashSet<CallId>,
    /// All ids that a call ever had here, the service's among them: those of calls that are gone stay taken, since the
    /// session log still has them.
    taken: HashSet<CallId>,
}

/// A request under way. Dropping it, or withdrawing it, leaves the history as it was before it.
#[derive(Debug)]
#[must_use]
pub struct Exchange<'h> {
    history: &'h mut History,
    /// Length of the history before the exchange.
    mark: usize,
    kept: bool,
}

/// The next step after a reply.
#[derive(Debug)]
#[must_use]
pub enum Replied<'h> {
    /// It has no calls: the exchange is over, and in the history.
    Final,
    /// It has calls, which must settle.
    Calls(Unsettled<'h>),
}

/// A reply's calls. Dropping it settles them as interrupted.
#[derive(Debug)]
#[must_use]
pub struct Unsettled<'h> {
    exchange: Exchange<'h>,
    /// The reply; without parts once the calls are settled.
    content: Content,
}

/// A message or outcome that cannot be part of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// A message of the user's holds a function call or response.
    #[error("a message of the user's holds a function call or response")]
    CallFromUser,
    /// A reply holds a function response.
    #[error("the model's reply holds a function response")]
    ResponseFromModel,
    /// Two calls have one id.
    #[error("there is already a call `{id}`")]
    DuplicateCall {
        /// The id.
        id: CallId,
    },
    /// The outcomes are not one for each call, in order.
    #[error("the outcomes do not match the calls: the call `{id}` has none in its place")]
    Unmatched {
        /// The first call that has no outcome in its place.
        id: CallId,
    },
    /// There are more outcomes than calls.
    #[error("there are more outcomes than calls")]
    TooMany,
    /// Messages that were written down are not such as a conversation leaves: a call lacks its outcome, an outcome its
    /// call, or either is of the wrong role.
    #[error("message {at} breaks the order of calls and outcomes")]
    Order {
        /// Index of the message, from 0.
        at: usize,
    },
}

impl History {
    /// A conversation in which nothing was said.
    pub fn new() -> Self {
        Self::default()
    }

    /// A conversation that begins with these texts.
    pub fn beginning_with(texts: impl IntoIterator<Item = (Role, String)>) -> Self {
        let mut history = Self::new();
        history.begin_with(texts);
        history
    }

    /// Puts these texts in the place of all messages.
    pub fn begin_with(&mut self, texts: impl IntoIterator<Item = (Role, String)>) {
        let texts = texts.into_iter().map(|(role, text)| Content { role, parts: vec![Part::text(text)] });
        self.replace(texts.collect());
    }

    /// A conversation out of whole messages, such as a session log has them.
    ///
    /// # Errors
    ///
    /// When a call is not followed by its outcome, each message's in the order of the calls, or two calls have one id.
    pub fn from_contents(contents: Vec<Content>) -> Result<Self, HistoryError> {
        let mut calls = HashSet::new();
        let mut due: Vec<(&CallId, &ToolName)> = Vec::new();
        for (at, content) in contents.iter().enumerate() {
            // In the order of the calls, as some services demand it.
            let told: Vec<_> = content.function_responses().map(|response| (&response.id, &response.name)).collect();
            let asks: Vec<_> = content.function_calls().map(|call| (&call.id, &call.name)).collect();
            let misplaced = match content.role {
                Role::User => !asks.is_empty(),
                Role::Model => !told.is_empty(),
            };
            // Compared as a whole: one too many is as wrong as one that is missing.
            if misplaced || told != due {
                return Err(HistoryError::Order { at });
            }
            for (id, _) in &asks {
                // Services tell calls apart by their ids, through the whole conversation.
                if !calls.insert((*id).clone()) {
                    return Err(HistoryError::DuplicateCall { id: (*id).clone() });
                }
            }
            due = asks;
        }
        // Open calls cannot be sent; resuming settles them first.
        if !due.is_empty() {
            return Err(HistoryError::Order { at: contents.len() });
        }
        let mut history = Self::new();
        history.replace(contents);
        Ok(history)
    }

    /// The messages, oldest first.
    pub fn contents(&self) -> &[Content] {
        &self.contents
    }

    /// Returns whether a call has or had this id here, for the host or for its service.
    pub fn is_taken(&self, id: &CallId) -> bool {
        self.taken.contains(id)
    }

    /// Puts another conversation in its place, in which each call has its response, and returns the one before.
    pub fn replace(&mut self, contents: Vec<Content>) -> Vec<Content> {
        debug_assert!(is_whole(&contents));
        let before = mem::replace(&mut self.contents, contents);
        self.count_calls();
        before
    }

    /// Takes note of the ids of the calls in the messages.
    fn count_calls(&mut self) {
        let calls = || self.contents.iter().flat_map(Content::function_calls);
        self.calls = calls().map(|call| call.id.clone()).collect();
        let service_ids = calls().filter_map(|call| call.service_id.clone());
        self.taken.extend(self.calls.iter().cloned().chain(service_ids));
    }

    /// The same with messages that were written down.
    ///
    /// # Errors
    ///
    /// As [`History::from_contents`]; the conversation then stays as it was.
    pub fn take_over(&mut self, contents: Vec<Content>) -> Result<(), HistoryError> {
        let Self { contents, .. } = Self::from_contents(contents)?;
        self.replace(contents);
        Ok(())
    }

    /// Takes back all messages but the first so many.
    ///
    /// # Errors
    ///
    /// When there are not as many, or a call would be left without its outcome; the conversation then stays as it was.
    pub fn take_back(&mut self, left: usize) -> Result<(), HistoryError> {
        match self.contents.get(..left) {
            Some(kept) if is_whole(kept) => {
                self.contents.truncate(left);
                self.count_calls();
                Ok(())
            }
            Some(_) | None => Err(HistoryError::Order { at: left }),
        }
    }

    /// Begins a request with a new message of the user's.
    ///
    /// # Errors
    ///
    /// When the message holds a function call or response.
    pub fn ask(&mut self, message: Vec<Part>) -> Result<Exchange<'_>, HistoryError> {
        if message.iter().any(|part| is_call(part) || is_response(part)) {
            return Err(HistoryError::CallFromUser);
        }
        let mark = self.contents.len();
        self.contents.push(Content { role: Role::User, parts: message });
        Ok(Exchange { history: self, mark, kept: false })
    }

    /// Begins a request without a new message: the outcomes of calls are the last one.
    pub fn go_on(&mut self) -> Exchange<'_> {
        let mark = self.contents.len();
        Exchange { history: self, mark, kept: false }
    }
}

impl<'h> Exchange<'h> {
    /// Returns the messages for the model.
    pub fn contents(&self) -> &[Content] {
        &self.history.contents
    }

    /// Returns whether a call has or had this id here, as [`History::is_taken`].
    pub fn is_taken(&self, id: &CallId) -> bool {
        self.history.is_taken(id)
    }

    /// Takes the reply. A reply without anything to send back (thoughts alone, or nothing) leaves no message.
    ///
    /// # Errors
    ///
    /// When it holds a function response, or a call whose id another call has; the request then counts as never asked.
    /// The ids of calls that are gone may come again: hosts before this one could record that.
    pub fn reply(mut self, parts: Vec<Part>) -> Result<Replied<'h>, HistoryError> {
        if parts.iter().any(is_response) {
            return Err(HistoryError::ResponseFromModel);
        }
        let content = Content { role: Role::Model, parts };
        let mut ids = HashSet::new();
        for FunctionCall { id, .. } in content.function_calls() {
            if self.history.calls.contains(id) || !ids.insert(id) {
                return Err(HistoryError::DuplicateCall { id: id.clone() });
            }
        }
        if !ids.is_empty() {
            return Ok(Replied::Calls(Unsettled { exchange: self, content }));
        }
        self.kept = true;
        if content.parts.iter().any(|part| !part.thought) {
            self.history.contents.push(content);
        }
        Ok(Replied::Final)
    }

    /// Gives the message back that was asked, if this exchange began with one.
    pub fn withdraw(self) -> Option<Vec<Part>> {
        let began_with_one = self.history.contents.len() > self.mark;
        if began_with_one { self.history.contents.pop().map(|content| content.parts) } else { None }
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.history.contents.truncate(self.mark);
        }
    }
}

impl Unsettled<'_> {
    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.content.function_calls()
    }

    /// The conversation before the reply that has the calls.
    pub fn before(&self) -> &[Content] {
        &self.exchange.history.contents
    }

    /// Adds the response to each call, in the order of the calls: each begins with one function response, followed by
    /// the data that belongs to it.
    ///
    /// # Errors
    ///
    /// When the outcomes do not match the calls; all calls then settle as interrupted.
    pub fn settle(mut self, outcomes: Vec<Vec<Part>>) -> Result<(), HistoryError> {
        let mut left = outcomes.iter();
        for call in self.content.function_calls() {
            if !left.next().is_some_and(|parts| answers(parts, call)) {
                return Err(HistoryError::Unmatched { id: call.id.clone() });
            }
        }
        if left.next().is_some() {
            return Err(HistoryError::TooMany);
        }
        self.keep(outcomes.into_iter().flatten().collect());
        Ok(())
    }

    fn keep(&mut self, outcomes: Vec<Part>) {
        let content = mem::replace(&mut self.content, Content { role: Role::Model, parts: Vec::new() });
        let history = &mut *self.exchange.history;
        for call in content.function_calls() {
            history.calls.insert(call.id.clone());
            history.taken.extend([&call.id].into_iter().chain(&call.service_id).cloned());
        }
        history.contents.push(content);
        history.contents.push(Content { role: Role::User, parts: outcomes });
        self.exchange.kept = true;
    }
}

impl Drop for Unsettled<'_> {
    fn drop(&mut self) {
        // Nothing is left here once the calls were settled.
        let interrupted: Vec<Part> = self.content.function_calls().map(interrupted).collect();
        if !interrupted.is_empty() {
            self.keep(interrupted);
        }
    }
}

/// Returns the outcome of a call that was interrupted while it ran.
pub(crate) fn interrupted(call: &FunctionCall) -> Part {
    answer(call, INTERRUPTED)
}

/// The outcome of a call that had not begun when the process ended.
pub(crate) fn not_begun(call: &FunctionCall) -> Part {
    answer(call, NOT_BEGUN)
}

fn answer(call: &FunctionCall, words: &str) -> Part {
    PartData::FunctionResponse(call.respond(ResponseBody::Error(words.to_owned()))).into()
}

/// Returns whether the parts are an outcome of this call: one function response, first, and the data that belongs to
/// it.
pub(crate) fn answers(parts: &[Part], call: &FunctionCall) -> bool {
    let first = matches!(parts.first().map(|part| &part.data), Some(PartData::FunctionResponse(response))
        if response.id == call.id && response.name == call.name);
    first && !parts.iter().skip(1).any(|part| is_call(part) || is_response(part))
}

/// Returns whether each function call is followed by its response and each response has its call: the rule that every
/// shortened conversation keeps.
pub fn is_whole(contents: &[Content]) -> bool {
    let mut due: HashSet<&str> = HashSet::new();
    for content in contents {
        for response in content.function_responses() {
            if !due.remove(response.id.as_str()) {
                return false;
            }
        }
        if !due.is_empty() {
            return false;
        }
        due.extend(content.function_calls().map(|call| call.id.as_str()));
    }
    due.is_empty()
}

fn is_call(part: &Part) -> bool {
    matches!(part.data, PartData::FunctionCall(_))
}

fn is_response(part: &Part) -> bool {
    matches!(part.data, PartData::FunctionResponse(_))
}

#[cfg(test)]
mod tests;
