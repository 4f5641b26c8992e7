//! What a script's lines are, read strictly: a key that nobody reads is an error.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use host_message::{CallId, FinishReason, FunctionCall, Part, PartData, ToolName, Usage};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ErrorKind;

/// The most bytes of a script, so that a wrong path cannot fill the memory.
const MAX_SCRIPT_BYTES: u64 = 64 << 20;

/// One reply.
pub(super) struct Reply {
    /// Its line in the script, from 1.
    pub(super) line: usize,
    pub(super) expect: Expect,
    /// What is said, with the finish reason that it ends with. Nothing follows an error or a hang.
    pub(super) items: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    expect: Expect,
    chunks: Vec<Item>,
}

/// What the request must have.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub(super) responses: Option<Vec<String>>,
    pub(super) last_text: Option<String>,
    pub(super) system: Option<String>,
    #[serde(default)]
    pub(super) tools: Vec<String>,
}

/// One thing that is said.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Item {
    Text(String),
    Thought(String),
    Call(Call),
    #[serde(deserialize_with = "usage")]
    Usage(Usage),
    Finish(Option<FinishReason>),
    Retry(True),
    Error(Failure),
    Hang(True),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(default)]
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Failure {
    pub(super) kind: Kind,
    pub(super) message: String,
    pub(super) status: Option<u16>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Authentication,
    Input,
    Configuration,
    Quota,
    Safety,
    Network,
    Server,
}

/// `true` and nothing else.
#[derive(Deserialize)]
#[serde(try_from = "bool")]
pub(super) struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("it is `true`, or it is left out") }
    }
}

impl From<Kind> for ErrorKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Authentication => Self::Authentication,
            Kind::Input => Self::Input,
            Kind::Configuration => Self::Configuration,
            Kind::Quota => Self::Quota,
            Kind::Safety => Self::Safety,
            Kind::Network => Self::Network,
            Kind::Server => Self::Server,
        }
    }
}

impl Item {
    /// The part that this adds to the message, if it adds one.
    pub(super) fn part(&self) -> Option<Part> {
        match self {
            Self::Text(text) => Some(Part::text(text)),
            Self::Thought(text) => Some(Part::thought(text)),
            Self::Call(Call { name, arguments, id }) => {
                let (id, name) = (CallId::new(id), ToolName::new(name));
                Some(PartData::FunctionCall(FunctionCall { id, name, arguments: arguments.clone() }).into())
            }
            Self::Usage(_) | Self::Finish(_) | Self::Retry(_) | Self::Error(_) | Self::Hang(_) => None,
        }
    }
}

/// The text of a script, or why it cannot be read.
pub(super) fn read(file: &Path) -> Result<String, String> {
    let open = File::open(file).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let length = open.take(MAX_SCRIPT_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if length as u64 > MAX_SCRIPT_BYTES {
        return Err(format!("it is larger than {MAX_SCRIPT_BYTES} bytes"));
    }
    Ok(text)
}

/// A whole script.
pub(super) struct Script {
    pub(super) start: Start,
    pub(super) replies: Vec<Reply>,
}

/// Which reply comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The first.
    Beginning,
    /// The one behind those that the conversation has already.
    Conversation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(rename = "goes_on")]
    _goes_on: True,
}

/// The script, or the first line that is no reply, from 1, and why.
pub(super) fn parse(text: &str) -> Result<Script, (usize, String)> {
    let mut lines = text.lines().zip(1..).filter(|(text, _)| !text.trim().is_empty()).peekable();
    let start = match lines.next_if(|(text, _)| serde_json::from_str::<Header>(text).is_ok()) {
        Some(_) => Start::Conversation,
        None => Start::Beginning,
    };
    let replies = lines.map(|(text, line)| reply(text, line).map_err(|why| (line, why))).collect::<Result<_, _>>()?;
    Ok(Script { start, replies })
}

fn reply(text: &str, line: usize) -> Result<Reply, String> {
    let Line { expect, chunks: mut items } = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let ends = |item: &Item| matches!(item, Item::Error(_) | Item::Hang(_));
    match items.iter().position(ends) {
        Some(at) if at + 1 < items.len() => return Err("something follows an `error` or a `hang`".to_owned()),
        Some(_) => {}
        None if items.iter().any(|item| matches!(item, Item::Finish(_))) => {}
        None => items.push(Item::Finish(Some(FinishReason::Stop))),
    }
    Ok(Reply { line, expect, items })
}

/// A usage of which some may be left out.
fn usage<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Usage, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, default)]
    #[derive(Default)]
    struct Given {
        input: u64,
        output: u64,
        cached: u64,
        thought: u64,
    }
    let Given { input, output, cached, thought } = Given::deserialize(deserializer)?;
    Ok(Usage { input, output, cached, thought })
}
