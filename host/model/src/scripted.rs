//! A model that replays a script: the one that tests run with.
//!
//! A script is JSON lines, one line for each reply, in the order of the requests:
//!
//! ```json
//! {"expect": {"last_text": "TODO"}, "chunks": [{"text": "I look."}, {"call": {"name": "ls", "arguments": {}}}]}
//! {"expect": {"responses": ["[dir] src"]}, "chunks": [{"text": "Done."}, {"usage": {"input": 10, "output": 2}}]}
//! ```
//!
//! `expect` may have `responses` (for each function response of the last message, in order, a piece of its text),
//! `last_text` (a piece of the last message's text), `system` (a piece of the system instructions, or of a text that
//! the host added to the conversation, such as the environment) and `tools` (names that must be declared). The last
//! message is all that the user's side said since the model. `chunks` are, in order: `text`, `thought`, `call` (`name`,
//! `arguments`, `id`), `part` (any part in the format of the session log), `citation`, `usage` (`input`, `output`,
//! `cached`, `thought`, `cache_write`), `finish` (a reason such as `stop` or `max_tokens`; without one `stop` is added,
//! `null` leaves it out), `retry` (`true`, or `reason`, `wait_ms`, `attempt` and `attempts`: it is reported without
//! waiting), `switched` (`model`, `reason`),
//! `error` (`kind`, `message`, `status`), `failed` (an error with its complete message) and `hang` (`true`: nothing
//! more ever comes). Nothing follows an error or a `hang`. A first line `{"stands_for": "MODEL"}` names the model from
//! which the rest was recorded.
//!
//! A process that continues a recorded conversation reads the script from the beginning. If its first line is
//! `{"goes_on": true}`, the first request skips as many replies as the conversation has messages from the model.
//!
//! Promises to fail any request that does not match what its line expects, or whose history has a function call without
//! exactly one response, directly after it and in the order of the calls. So every test with a script also tests that.
//! Deliberately not here: choosing a reply by the request, and repeating one.

mod check;
pub(crate) mod script;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::{StreamExt, stream};
use host_message::Role;

use self::script::{Failed, Item, Reply, Retry, Script, Start};
use crate::provider::spec::{LoginSpec, ModelIds, ProviderId, ProviderSpec};
use crate::script_error::ScriptError;
use crate::{Again, Chunk, ModelError, ModelEvent, ModelStream, Provider, Request, Service, Wanted};

/// A script and the position in it.
pub struct Scripted {
    /// The source of the script, for errors.
    name: String,
    stands_for: Option<String>,
    start: Start,
    replies: Vec<Reply>,
    /// The index of the next reply; `None` before the first request.
    next: Mutex<Option<usize>>,
}

impl Scripted {
    /// The descriptor of this provider.
    pub const PROVIDER: ProviderId = ProviderId::new(&ProviderSpec {
        name: "scripted",
        models: ModelIds::File,
        key_variable: None,
        address: None,
        login: LoginSpec::Never,
        usual_models: None,
        connect: |file, _| Ok(Arc::new(Self::open(Path::new(file))?)),
    });

    /// Reads the script in a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is larger than any script, or a line of it is not a reply.
    pub fn open(file: &Path) -> Result<Self, ScriptError> {
        let name = file.display().to_string();
        let text = script::read(file).map_err(|why| ScriptError::Unreadable { name: name.clone(), why })?;
        Self::parse(&name, &text)
    }

    /// Reads a script. Its name is for errors.
    ///
    /// # Errors
    ///
    /// If a line is not a reply.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let Script { start, stands_for, replies } =
            script::parse(text).map_err(|(line, why)| ScriptError::Line { name: name.to_owned(), line, why })?;
        Ok(Self { name: name.to_owned(), start, stands_for, replies, next: Mutex::new(None) })
    }

    /// Returns how many of its replies were not requested.
    pub fn left(&self) -> usize {
        let next = *self.next.lock().unwrap_or_else(PoisonError::into_inner);
        self.replies.len().saturating_sub(next.unwrap_or(0))
    }

    /// Returns the index of the reply to this request.
    fn take_turn(&self, request: &Request<'_>) -> usize {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = next.unwrap_or_else(|| match self.start {
            Start::Beginning => 0,
            Start::Conversation => request.contents.iter().filter(|content| content.role == Role::Model).count(),
        });
        *next = Some(at.saturating_add(1));
        at
    }

    /// Returns the next reply, if the request is as expected.
    fn reply(&self, request: &Request<'_>) -> Result<&Reply, ScriptError> {
        let name = || self.name.clone();
        let Some(reply) = self.replies.get(self.take_turn(request)) else {
            return Err(ScriptError::Exhausted { name: name(), replies: self.replies.len() });
        };
        let line = reply.line;
        check::history(request.contents).map_err(|fault| ScriptError::History { name: name(), line, fault })?;
        check::expectation(&reply.expect, request).map_err(|(expected, found)| ScriptError::Unexpected {
            name: name(),
            line,
            expected,
            found,
        })?;
        Ok(reply)
    }

    fn event(&self, item: &Item) -> Result<ModelEvent, ModelError> {
        let chunk = match item {
            Item::Text(_) | Item::Thought(_) | Item::Call(_) | Item::Part(_) => {
                Chunk { parts: item.part().into_iter().collect(), ..Chunk::default() }
            }
            Item::Usage(usage) => Chunk { usage: Some(*usage), ..Chunk::default() },
            Item::Finish(finish) => Chunk { finish: finish.clone(), ..Chunk::default() },
            Item::Citation(uri) => Chunk { citations: vec![uri.clone()], ..Chunk::default() },
            Item::Retry(Retry::Plain(_)) => {
                let (reason, wait) = ("the script says so".to_owned(), Duration::ZERO);
                return Ok(ModelEvent::Retry(Again { reason, wait, attempt: 2, attempts: 2 }));
            }
            Item::Retry(Retry::Told { reason, wait_ms, attempt, attempts }) => {
                let (reason, wait) = (reason.clone(), Duration::from_millis(*wait_ms));
                return Ok(ModelEvent::Retry(Again { reason, wait, attempt: *attempt, attempts: *attempts }));
            }
            Item::Switched(switched) => return Ok(ModelEvent::Switched(switched.clone())),
            Item::Failed(Failed { kind, status, message, help }) => {
                let (message, help) = (message.clone(), help.clone());
                return Err(ModelError::Recorded { kind: *kind, status: *status, message, help });
            }
            Item::Error(error) => {
                let service = Service { provider: Self::PROVIDER, address: self.name.clone() };
                let (kind, message, again) = (error.kind, error.message.clone(), Wanted::default());
                return Err(match error.status {
                    Some(status) => ModelError::Status { service, status, kind, message, again },
                    None => ModelError::Reported { service, status: None, kind, message, again },
                });
            }
            Item::Hang(_) => Chunk::default(),
        };
        Ok(ModelEvent::Chunk(chunk))
    }
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        Self::PROVIDER.name()
    }

    fn stands_for(&self) -> Option<&str> {
        self.stands_for.as_deref()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let start = stream::once(async move {
            match self.reply(&request) {
                Ok(reply) => self.replay(reply),
                Err(error) => stream::once(async { Err(error.into()) }).boxed(),
            }
        });
        start.flatten().boxed()
    }
}

impl Scripted {
    fn replay<'a>(&'a self, reply: &'a Reply) -> ModelStream<'a> {
        let hangs = matches!(reply.items.last(), Some(Item::Hang(_)));
        let said = &reply.items[..reply.items.len() - usize::from(hangs)];
        // A finish of `null` is empty, so nothing is yielded for it.
        let is_said = |event: &Result<_, _>| !matches!(event, Ok(ModelEvent::Chunk(chunk)) if chunk.is_empty());
        let events = stream::iter(said.iter().map(|item| self.event(item)).filter(is_said));
        if hangs { events.chain(stream::pending()).boxed() } else { events.boxed() }
    }
}

#[cfg(test)]
mod tests;
