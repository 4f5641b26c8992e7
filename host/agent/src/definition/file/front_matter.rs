//! The front matter of a definition file: what it may contain, and the position of each value in the file.
//!
//! Anchors and aliases are rejected: a few of them can expand to more text than fits in memory.

use std::collections::BTreeMap;

use host_message::Role;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::{DefaultMessageFormatter, Location, MergeKeyPolicy, MessageFormatter as _, Spanned};

use super::{DefinitionFault, Wrong};

/// The line before and after the front matter.
const FENCE: &str = "---";

/// Maximum nesting depth of values. A schema of a report needs about ten levels.
const MAX_DEPTH: usize = 32;

/// Everything that may be declared.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrontMatter {
    pub(super) name: Spanned<String>,
    pub(super) display_name: Option<String>,
    pub(super) description: Spanned<String>,
    #[serde(default)]
    pub(super) tools: Vec<Spanned<String>>,
    pub(super) model: Option<Spanned<String>>,
    pub(super) temperature: Option<Spanned<f32>>,
    pub(super) top_p: Option<Spanned<f32>>,
    pub(super) thinking_budget: Option<Spanned<i32>>,
    pub(super) max_turns: Option<Spanned<u32>>,
    pub(super) timeout_mins: Option<Spanned<f64>>,
    #[serde(default)]
    pub(super) inputs: BTreeMap<String, Spanned<InputEntry>>,
    pub(super) output: Option<Spanned<OutputEntry>>,
    pub(super) query: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) initial_messages: Vec<MessageEntry>,
}

/// One input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputEntry {
    #[serde(rename = "type")]
    pub(super) kind: Spanned<String>,
    pub(super) description: String,
    /// An input that is not there leaves a gap in the prompt, so that this must be said.
    #[serde(default = "yes")]
    pub(super) required: bool,
}

fn yes() -> bool {
    true
}

/// The answer that the agent must give.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputEntry {
    pub(super) name: Spanned<String>,
    pub(super) description: String,
    pub(super) schema: Spanned<Value>,
}

/// A message that was never said.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageEntry {
    pub(super) role: RoleName,
    pub(super) text: Spanned<String>,
}

/// The role of its author.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RoleName {
    User,
    Model,
}

/// A place in the file. Lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) line: u64,
    pub(super) column: u64,
}

/// The front matter, its first fence with it so that lines count as in the file, and what follows its last fence.
pub(super) fn split(text: &str) -> Result<(&str, &str), Wrong> {
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_fence = line.trim_end() == FENCE;
        if number == 0 && !is_fence {
            return Err((Spot::START, DefinitionFault::NoFrontMatter));
        }
        if number > 0 && is_fence {
            return Ok((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    Err((Spot::START, if text.is_empty() { DefinitionFault::NoFrontMatter } else { DefinitionFault::Unclosed }))
}

/// Reads the front matter of an agent.
pub(super) fn read(front: &str) -> Result<FrontMatter, Wrong> {
    parse(front)
}

/// Reads the front matter of a document and returns it with the text behind it. Anchors and aliases are rejected, as in
/// the definition of an agent.
///
/// # Errors
///
/// With the first fault and its line, from 1.
pub fn read_front_matter<T: DeserializeOwned>(text: &str) -> Result<(T, &str), (u64, DefinitionFault)> {
    let (front, body) = split(text).map_err(|(spot, fault)| (spot.line, fault))?;
    let read = parse(front).map_err(|(spot, fault)| (spot.line, fault))?;
    Ok((read, body))
}

fn parse<T: DeserializeOwned>(front: &str) -> Result<T, Wrong> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_aliases: 0, max_anchors: 0, max_depth: MAX_DEPTH },
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(front, options).map_err(|error| {
        let spot = error.location().map_or(Spot::START, Spot::from);
        let fault = match error.without_snippet() {
            serde_saphyr::Error::SerdeUnknownField { field, expected, .. } => DefinitionFault::UnknownKey {
                key: field.clone(),
                known: expected.iter().map(|&key| key.to_owned()).collect(),
            },
            // The library's own list of cases may grow.
            other => DefinitionFault::Yaml { why: DefaultMessageFormatter.format_message(other).into_owned() },
        };
        (spot, fault)
    })
}

impl Spot {
    /// The first character of a file.
    pub(super) const START: Self = Self { line: 1, column: 1 };

    /// The place of a byte in a text.
    pub(super) fn at(text: &str, at: usize) -> Self {
        let before = &text[..text.floor_char_boundary(at)];
        let line = before.matches('\n').count() as u64 + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1;
        Self { line, column }
    }

    /// Returns this position, or the other one if this is unknown.
    pub(super) fn or(self, other: Self) -> Self {
        if self.line == 0 { other } else { self }
    }
}

impl From<Location> for Spot {
    fn from(location: Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::User => Self::User,
            RoleName::Model => Self::Model,
        }
    }
}
