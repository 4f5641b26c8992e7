//! Tools that a model calls with a text by a grammar and not with JSON.
//!
//! A tool is the same on every wire: one whose schema has one text. A service that takes custom tools gets it with a
//! grammar in place of the schema, and the text that its model writes becomes that one argument, so that nobody above
//! the wire sees a difference. Deliberately not here: which tools have a grammar.

use host_message::ToolName;

/// A tool that is declared with a grammar where the service takes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomTool {
    /// The name of the tool, which is declared as all others where the service takes no custom tools.
    pub name: ToolName,
    /// The argument that is the whole text.
    pub argument: String,
    /// What the text looks like.
    pub grammar: Grammar,
}

/// The grammar of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// A grammar in the notation of Lark.
    Lark(String),
    /// A regular expression.
    Regex(String),
}

impl Grammar {
    /// Returns the name of its notation on the wire, and its definition.
    pub(crate) fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Lark(definition) => ("lark", definition),
            Self::Regex(definition) => ("regex", definition),
        }
    }
}
