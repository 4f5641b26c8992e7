//! A question that an MCP server asks the user during a call, and the answer.

use host_capability::McpServerName;
use serde_json::{Map, Value};

/// A server's question to the user during a call (MCP: elicitation). Its texts are the server's: make them safe before
/// they are shown, and show them so that they cannot be mistaken for a question of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elicitation {
    /// The server that asks.
    pub server: McpServerName,
    /// What it wants to know, and why.
    pub message: String,
    /// How it is to be answered.
    pub form: ElicitationForm,
}

/// How a server's question is to be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElicitationForm {
    /// With a value for each field, or for some.
    Fields(Vec<ElicitationField>),
    /// By visiting an address in a browser, which the host does not open by itself.
    Visit {
        /// The address.
        url: String,
    },
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElicitationField {
    /// Its name in the answer.
    pub name: String,
    /// Its title for users.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Whether it needs a value.
    pub is_required: bool,
    /// Which values it takes.
    pub kind: ElicitationKind,
}

/// The values that a field takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElicitationKind {
    /// Any text. The server checks its form.
    Text,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// Yes or no.
    Boolean,
    /// One of these values, each with a title for users.
    Choice(Vec<(String, String)>),
    /// Some of these values, each with a title for users.
    Choices(Vec<(String, String)>),
}

/// The answer to a server's question.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationAnswer {
    /// These values; for [`ElicitationForm::Visit`] none.
    Accepted(Map<String, Value>),
    /// The user does not want to answer.
    Declined,
    /// The user closed the question, or the user cannot be asked.
    Cancelled,
}
