//! The result of a tool, before it is formatted for a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{InlineData, ToolSpec};

/// The result of a successful call.
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
    /// The tools that it found, if it is a search for tools; see
    /// [`FunctionResponse::found`](crate::FunctionResponse::found). Nothing from outside can set it.
    #[serde(skip)]
    pub found: Vec<ToolSpec>,
}

/// One piece of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputPart {
    /// Text.
    Text(String),
    /// Bytes with a media type.
    Data(InlineData),
    /// A reference to content that is not included.
    Link {
        /// Its address.
        uri: String,
        /// Its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
}

/// The presentation of a result to the user, where it differs from what the model reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Display {
    /// One line.
    Summary(String),
    /// A change to a file.
    Difference {
        /// The file's path.
        path: String,
        /// A unified diff.
        unified: String,
    },
    /// A list of steps.
    Checklist {
        /// The steps, in order.
        items: Vec<ChecklistItem>,
    },
}

/// A step of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChecklistItem {
    /// The step, in one line.
    pub text: String,
    /// How far it is.
    pub state: ChecklistState,
    /// The numbers of the steps, from 1, that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<usize>,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChecklistState {
    /// It was not begun.
    Pending,
    /// It is under way.
    InProgress,
    /// It is done.
    Done,
    /// It is not needed any more.
    Cancelled,
}

impl ChecklistState {
    /// Whether there is something left to do.
    pub fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::InProgress => true,
            Self::Done | Self::Cancelled => false,
        }
    }
}

impl Output {
    /// Creates an output of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![OutputPart::Text(text.into())], structured: None, display: None, found: Vec::new() }
    }
}
