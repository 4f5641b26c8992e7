//! What a tool returned, before it is put into words for a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::InlineData;

/// What a call that went well returned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// For the model, in order.
    pub content: Vec<OutputPart>,
    /// The same result as one JSON value, for a tool with an output schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// For the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<Display>,
}

/// One piece of what a tool returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputPart {
    /// Text.
    Text(String),
    /// Bytes with a media type.
    Data(InlineData),
    /// Something that stays where it is.
    Link {
        /// Its address.
        uri: String,
        /// What to call it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
}

/// What a user is shown instead of what the model reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Display {
    /// One line.
    Summary(String),
    /// A change to a file.
    Difference {
        /// The file's path.
        path: String,
        /// A unified difference.
        unified: String,
    },
}

impl Output {
    /// Text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![OutputPart::Text(text.into())], structured: None, display: None }
    }
}
