//! A question that a model asks the user, and the answer.
//!
//! It is no question about a call: whatever is answered allows nothing, and is text for the model. Deliberately not here:
//! the tool that asks it (`host-agent`), and how it is shown.

use serde::{Deserialize, Serialize};

/// A model's question to the user. Its texts come from the model: make them safe before they are shown, and show them so
/// that they cannot be mistaken for a question about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelQuestion {
    /// The question.
    pub text: String,
    /// The answers that the model offers; with none the user writes one. The user can always write another.
    pub choices: Vec<String>,
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
