//! A question that a model, or an MCP server, asks the user, and the answer.
//!
//! It is not a question about a call: whatever is answered allows nothing, and is text for the model. Deliberately not
//! here: the tool that asks it (`host-agent`), the form that a server's question comes from (`elicitation`), and how it
//! is shown.

use host_capability::McpServerName;
use serde::{Deserialize, Serialize};

/// A model's question to the user. Its texts come from the model: make them safe before they are shown, and show them
/// so that they cannot be mistaken for a question about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelQuestion {
    /// Who asks.
    pub author: QuestionAuthor,
    /// The question.
    pub text: String,
    /// The answers that the model offers; with none the user writes one. The user can always write another.
    pub choices: Vec<String>,
}

/// Who asks a question that is about no call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum QuestionAuthor {
    /// The model.
    #[default]
    Model,
    /// An MCP server, during a call of one of its tools.
    McpServer(McpServerName),
}

/// The user's answer to a model's question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ModelAnswer {
    /// One of the model's choices.
    Choice {
        /// Its index, from 0.
        index: usize,
    },
    /// The user's own words.
    Text {
        /// The words.
        text: String,
    },
    /// No answer.
    Dismissed,
}
