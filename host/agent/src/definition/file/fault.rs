//! Faults of a definition file, in words that say where they are and what to do.

use std::path::PathBuf;

use host_text::Advice;

use super::{MAX_DEFINITION_BYTES, NAME_BYTES, SUBAGENT_TOOLS};
use crate::InputKind;

/// An invalid definition file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}:{column}: {fault}", file.display())]
pub struct DefinitionError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1, in characters.
    pub column: u64,
    /// The fault at that position.
    pub fault: DefinitionFault,
}

/// A fault of a definition file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionFault {
    /// It is too large.
    #[error("the file has {bytes} bytes, over the limit of {MAX_DEFINITION_BYTES}")]
    TooLarge {
        /// Size of the file.
        bytes: usize,
    },
    /// It does not begin with front matter.
    #[error("the file does not begin with a line `---`")]
    NoFrontMatter,
    /// Its front matter has no end.
    #[error("the front matter is not closed by a second line `---`")]
    Unclosed,
    /// It has no body.
    #[error("there is no system prompt")]
    NoPrompt,
    /// The front matter is not YAML, or something in it is missing or of the wrong type.
    #[error("{why}")]
    Yaml {
        /// The parser's words.
        why: String,
    },
    /// A key without a meaning.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// The valid keys at this place.
        known: Vec<String>,
    },
    /// The name cannot be an agent's.
    #[error("`{name}` is not a valid name for an agent")]
    Name {
        /// The name.
        name: String,
    },
    /// The name is something else's.
    #[error("the name `{name}` is taken")]
    TakenName {
        /// The name.
        name: String,
    },
    /// The description is empty.
    #[error("the description is empty")]
    NoDescription,
    /// A tool that a declared agent may not have.
    #[error("the agent `{agent}` may not use the tool `{tool}`")]
    Tool {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// The name cannot be an input's, or an output's.
    #[error("`{name}` is not a valid name for an input or an output")]
    InputName {
        /// The name.
        name: String,
    },
    /// An input of an unknown type.
    #[error("the input `{input}` has the unknown type `{kind}`")]
    InputKind {
        /// The input.
        input: String,
        /// Its type.
        kind: String,
    },
    /// A prompt names inputs that do not exist.
    #[error("{place} the unknown input{} {}", plural(names), listed(names))]
    Placeholder {
        /// All such names, in the order of their first use.
        names: Vec<String>,
        /// The prompt or prompts that name them: `the query names`, `the prompts name`.
        place: &'static str,
        /// The declared inputs.
        available: Vec<String>,
    },
    /// A number is out of range.
    #[error("`{key}` is out of range")]
    Range {
        /// The key.
        key: &'static str,
        /// The allowed values.
        range: &'static str,
    },
    /// The output's schema cannot be used.
    #[error("invalid output schema: {why}")]
    Output {
        /// Why it is invalid.
        why: String,
    },
}

impl DefinitionError {
    /// Returns advice on how to fix it, as a sentence without a full stop.
    pub fn help(&self) -> Advice {
        match &self.fault {
            DefinitionFault::TooLarge { .. } => "keep the prompt short, and let the agent read the rest".into(),
            DefinitionFault::NoFrontMatter | DefinitionFault::Unclosed => {
                "write the keys between two lines `---`, and the system prompt after them".into()
            }
            DefinitionFault::NoPrompt => "write it after the second line `---`".into(),
            DefinitionFault::Yaml { .. } => {
                Advice::default().command_for("agent --help", "the help of `host agent`").text(" shows a whole file")
            }
            DefinitionFault::UnknownKey { key, known } => nearest_or_all(key, known, "the keys here are").into(),
            DefinitionFault::Name { .. } => {
                format!("use 1 to {NAME_BYTES} of ASCII letters, digits, `_` and `-`, a letter first").into()
            }
            DefinitionFault::TakenName { .. } => "give the agent another name".into(),
            DefinitionFault::NoDescription => {
                "describe what the agent is for: other agents decide by it whether to call this one".into()
            }
            DefinitionFault::Tool { tool, .. } => nearest_or_all(tool, SUBAGENT_TOOLS, "it may only read, with").into(),
            DefinitionFault::InputName { .. } => "use ASCII letters, digits, `_` and `-`, a letter or `_` first".into(),
            DefinitionFault::InputKind { kind, .. } => {
                let kinds = InputKind::ALL.map(|kind| kind.to_string());
                nearest_or_all(kind, &kinds, "the types are").into()
            }
            DefinitionFault::Placeholder { names, available, .. } => {
                let them = if names.len() == 1 { "it" } else { "them" };
                match available.is_empty() {
                    true => format!("declare {them} under `inputs`; there are no inputs").into(),
                    false => format!("declare {them} under `inputs`; the inputs are {}", listed(available)).into(),
                }
            }
            DefinitionFault::Range { range, .. } => format!("it is {range}").into(),
            DefinitionFault::Output { .. } => "it is a JSON Schema, such as `{type: object, properties: {…}}`".into(),
        }
    }
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn plural(names: &[String]) -> &'static str {
    if names.len() == 1 { "" } else { "s" }
}

/// Returns the word that was probably meant, or all of them.
fn nearest_or_all<W: AsRef<str>>(word: &str, known: &[W], all: &str) -> String {
    let words = known.iter().map(W::as_ref);
    host_text::suggestion(word, words.clone())
        .unwrap_or_else(|| format!("{all} {}", words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")))
}
