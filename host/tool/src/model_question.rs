//! What a model, or an MCP server, asks the user, and the answers.
//!
//! It is not a question about a call: whatever is answered allows nothing, and is text for the model. Deliberately not
//! here: the tool that asks it (`host-agent`), the form that a server's question comes from (`elicitation`), and how it
//! is shown (`host-app` composes it, each frontend draws it).

use host_capability::McpServerName;
use serde::{Deserialize, Serialize};

/// What is asked at once: one question or a few, each with an answer of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelQuestions {
    /// Who asks.
    pub author: QuestionAuthor,
    /// The questions, in order.
    pub questions: Vec<ModelQuestion>,
}

/// A model's question to the user. Its texts come from the model: make them safe before they are shown, and show them
/// so that they cannot be mistaken for a question about a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelQuestion {
    /// The question.
    pub text: String,
    /// The answers that the model offers; with none the user writes one. The user can always write another.
    pub choices: Vec<ModelChoice>,
    /// Whether the user can take several of them.
    pub multiple: bool,
}

/// An answer that a model offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// The answer.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
    /// Whether the model would take it.
    pub recommended: bool,
}

impl From<&str> for ModelChoice {
    fn from(label: &str) -> Self {
        Self { label: label.to_owned(), ..Self::default() }
    }
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
    /// Any number of them, to a question that takes several.
    Choices {
        /// Their indexes, from 0.
        indexes: Vec<usize>,
        /// What the user wrote beside them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The user's own words.
    Text {
        /// The words.
        text: String,
    },
    /// No answer.
    Dismissed,
}
