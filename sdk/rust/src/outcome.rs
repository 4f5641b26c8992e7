//! How a call ends: what a tool returns, and what it says when it could not.
//!
//! The types are the contract's own. What is added here is a shorter way to make them.

use serde::Serialize;

use crate::bindings::host::cap;
pub use crate::bindings::host::tool::types::{
    Blob, Confirmation, Content, Denial, Display, ExecConfirmation, Failure, FileDifference, HttpRequest,
    InfoConfirmation, Link, Outcome,
};

impl Outcome {
    /// Text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(vec![Content::Text(text.into())])
    }

    /// Pieces for the model, in order.
    pub fn of(content: Vec<Content>) -> Self {
        Self { content, structured: None, display: None }
    }

    /// Shows the user this one line instead of the content.
    pub fn with_summary(mut self, line: impl Into<String>) -> Self {
        self.display = Some(Display::Summary(line.into()));
        self
    }

    /// Shows the user a change to a file instead of the content.
    pub fn with_difference(mut self, difference: FileDifference) -> Self {
        self.display = Some(Display::Difference(difference));
        self
    }

    /// A structured result, with the same as indented JSON for the model to read.
    ///
    /// # Errors
    ///
    /// When the value is none of JSON's: a map whose keys are no texts, or what its own `Serialize` says.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, Failure> {
        let text = serde_json::to_string_pretty(value)?;
        Self::json_in_words(value, text)
    }

    /// A structured result, with words of its own for the model to read.
    ///
    /// # Errors
    ///
    /// As [`Outcome::json`].
    pub fn json_in_words<T: Serialize + ?Sized>(value: &T, text: impl Into<String>) -> Result<Self, Failure> {
        Ok(Self::text(text).with_structured(serde_json::to_string(value)?))
    }

    /// Adds the result as JSON text, for a tool with an output schema.
    pub fn with_structured(mut self, json: impl Into<String>) -> Self {
        self.structured = Some(json.into());
        self
    }
}

/// A capability's refusal is passed on as it came.
impl From<cap::types::Denial> for Failure {
    fn from(denial: cap::types::Denial) -> Self {
        let cap::types::Denial { capability, wanted, help } = denial;
        Self::Denied(Denial { capability, wanted, help })
    }
}
