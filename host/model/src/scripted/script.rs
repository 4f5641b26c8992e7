//! The lines of a script, read strictly: an unknown key is an error.

use std::path::Path;

use host_message::{CallId, FinishReason, FunctionCall, Part, PartData, ToolName, Usage};
use host_text::with_causes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Again, Chunk, ErrorKind, ModelError, ModelEvent, Switched};

/// The most bytes of a script, so that a wrong path cannot fill the memory.
const MAX_SCRIPT_BYTES: u64 = 64 << 20;

/// One reply.
pub(super) struct Reply {
    /// Its line in the script, from 1.
    pub(super) line: usize,
    pub(super) expect: Expect,
    /// The items of the reply, with the finish reason that ends it. Nothing follows an error or a hang.
    pub(super) items: Vec<Item>,
}

/// A parsed script.
pub(super) struct Script {
    pub(super) start: Start,
    /// The model that was recorded.
    pub(super) stands_for: Option<String>,
    pub(super) replies: Vec<Reply>,
}

/// Where the replies begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// With the first reply.
    Beginning,
    /// With the reply after those that the conversation already has.
    Conversation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    stands_for: Option<String>,
    goes_on: Option<True>,
    #[serde(default)]
    expect: Expect,
    chunks: Option<Vec<Item>>,
}

/// A line of a recording, which [`Line`] reads again.
#[derive(Serialize)]
#[serde(rename_all = "snake_case", untagged)]
pub(crate) enum Recorded<'a> {
    Head { stands_for: &'a str },
    Reply { chunks: &'a [Item] },
}

/// The expectations for a request.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub(super) responses: Option<Vec<String>>,
    pub(super) last_text: Option<String>,
    pub(super) system: Option<String>,
    #[serde(default)]
    pub(super) tools: Vec<String>,
}

/// One item of a reply.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Item {
    Text(String),
    Thought(String),
    Call(Call),
    /// Any part, with everything that belongs to it.
    Part(Part),
    Citation(String),
    #[serde(deserialize_with = "usage")]
    Usage(Usage),
    Finish(Option<FinishReason>),
    Retry(Retry),
    Switched(Switched),
    Error(Failure),
    /// A recorded error, with its complete message.
    Failed(Failed),
    Hang(True),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    name: ToolName,
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(default = "no_id", skip_serializing_if = "is_no_id")]
    id: CallId,
}

fn no_id() -> CallId {
    CallId::new("")
}

fn is_no_id(id: &CallId) -> bool {
    id.as_str().is_empty()
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum Retry {
    /// Without a reason.
    Plain(True),
    Told {
        reason: String,
        wait_ms: u64,
        attempt: u32,
        attempts: u32,
    },
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failure {
    pub(super) kind: ErrorKind,
    pub(super) message: String,
    pub(super) status: Option<u16>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failed {
    pub(super) kind: ErrorKind,
    pub(super) status: Option<u16>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// `true` and nothing else.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(try_from = "bool", into = "bool")]
pub(crate) struct True;

impl From<True> for bool {
    fn from(_: True) -> Self {
        true
    }
}

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("it is `true`, or it is left out") }
    }
}

impl Item {
    /// Returns the part that this adds to the message, if it adds one.
    pub(super) fn part(&self) -> Option<Part> {
        match self {
            Self::Text(text) => Some(Part::text(text)),
            Self::Thought(text) => Some(Part::thought(text)),
            Self::Call(Call { name, arguments, id }) => {
                let (id, name, arguments) = (id.clone(), name.clone(), arguments.clone());
                Some(PartData::FunctionCall(FunctionCall::new(id, name, arguments)).into())
            }
            Self::Part(part) => Some(part.clone()),
            Self::Citation(_)
            | Self::Usage(_)
            | Self::Finish(_)
            | Self::Retry(_)
            | Self::Switched(_)
            | Self::Error(_)
            | Self::Failed(_)
            | Self::Hang(_) => None,
        }
    }

    /// Converts an event of a reply to the items of a script.
    pub(crate) fn from_event(event: &ModelEvent) -> Vec<Self> {
        match event {
            ModelEvent::Chunk(Chunk { parts, finish, usage, citations, forming: _ }) => {
                let parts = parts.iter().map(Self::from_part);
                let citations = citations.iter().cloned().map(Self::Citation);
                let usage = usage.iter().copied().map(Self::Usage);
                let finish = finish.iter().cloned().map(|finish| Self::Finish(Some(finish)));
                parts.chain(citations).chain(usage).chain(finish).collect()
            }
            ModelEvent::Retry(Again { reason, wait, attempt, attempts }) => {
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                let (attempt, attempts) = (*attempt, *attempts);
                vec![Self::Retry(Retry::Told { reason: reason.clone(), wait_ms, attempt, attempts })]
            }
            ModelEvent::Switched(switched) => vec![Self::Switched(switched.clone())],
        }
    }

    fn from_part(part: &Part) -> Self {
        match part {
            Part { data: PartData::Text(text), thought: false, signature: None } => Self::Text(text.clone()),
            Part { data: PartData::Text(text), thought: true, signature: None } => Self::Thought(text.clone()),
            Part { data: PartData::FunctionCall(call), thought: false, signature: None } => {
                let FunctionCall { id, name, arguments, .. } = call.clone();
                Self::Call(Call { name, arguments, id })
            }
            other => Self::Part(other.clone()),
        }
    }

    /// Converts an error, with its message.
    pub(crate) fn from_error(error: &ModelError) -> Self {
        let (kind, status, help) = (error.kind(), error.status(), error.help());
        Self::Failed(Failed { kind, status, message: with_causes(error), help })
    }
}

/// Reads the text of a script; the error says why it cannot be read.
pub(super) fn read(file: &Path) -> Result<String, String> {
    host_files::read_input(file, MAX_SCRIPT_BYTES).map_err(|error| error.to_string())
}

/// Parses a script; the error has the number of the first invalid line, from 1, and the reason.
pub(super) fn parse(text: &str) -> Result<Script, (usize, String)> {
    let mut script = Script { start: Start::Beginning, stands_for: None, replies: Vec::new() };
    for (text, line) in text.lines().zip(1..).filter(|(text, _)| !text.trim().is_empty()) {
        let wrong = |why: &str| (line, why.to_owned());
        let Line { stands_for, goes_on, expect, chunks } =
            serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        match (stands_for.is_some() || goes_on.is_some(), chunks) {
            (true, _) if line > 1 => return Err(wrong("`stands_for` and `goes_on` belong to the first line")),
            (true, Some(_)) => return Err(wrong("a line with `stands_for` or `goes_on` has no `chunks`")),
            (true, None) => {
                script.stands_for = stands_for;
                if goes_on.is_some() {
                    script.start = Start::Conversation;
                }
            }
            (false, None) => return Err(wrong("missing field `chunks`")),
            (false, Some(items)) => script.replies.push(reply(expect, items, line).map_err(|why| (line, why))?),
        }
    }
    Ok(script)
}

fn reply(expect: Expect, mut items: Vec<Item>, line: usize) -> Result<Reply, String> {
    let ends = |item: &Item| matches!(item, Item::Error(_) | Item::Failed(_) | Item::Hang(_));
    match items.iter().position(ends) {
        Some(at) if at + 1 < items.len() => return Err("something follows an error or a `hang`".to_owned()),
        Some(_) => {}
        None if items.iter().any(|item| matches!(item, Item::Finish(_))) => {}
        None => items.push(Item::Finish(Some(FinishReason::Stop))),
    }
    Ok(Reply { line, expect, items })
}

/// Reads a usage, whose fields are optional.
fn usage<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Usage, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, default)]
    #[derive(Default)]
    struct Given {
        input: u64,
        output: u64,
        cached: u64,
        thought: u64,
        cache_write: u64,
    }
    let Given { input, output, cached, thought, cache_write } = Given::deserialize(deserializer)?;
    Ok(Usage { input, output, cached, thought, cache_write })
}
