//! How a call ended, in full: the one type for it in the log, in events and in what is read back.
//!
//! Deliberately not here: the outcome before it is put into words for the model (`host-tool`), and what a frontend
//! shows of it.

use std::sync::Arc;

use host_message::{Display, FunctionResponse, Part, PartData};
use host_tool::{Decided, Outcome, Response, SettledCall};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{CallReport, CallStatus};

/// How a call ended, whether it ran or not. Its fields stand in the order in which the log has them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallEnd {
    /// The way it ended.
    #[serde(flatten)]
    pub status: CallStatus,
    /// The decision about it; `None` if it was settled before a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// The response to the model, clipped: a function response, and the data that belongs to it.
    pub parts: Vec<Part>,
    /// What the user sees of it: a change that it made, or one that it proposed but did not make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<Display>,
    /// What a user reads about it; `None` for a call that another process left behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<CallReport>,
    /// What an MCP server said beside its answer, for programs: it is no part of the response, so no model gets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_meta: Option<Arc<Map<String, Value>>>,
}

impl CallEnd {
    /// Returns how a call ended that got this response.
    pub fn new(settled: &SettledCall, response: &Response) -> Self {
        let display = match &settled.outcome {
            Outcome::Success(output) => output.display.clone(),
            Outcome::Cancelled { .. } => settled.proposed.clone(),
            Outcome::Error(_) => None,
        };
        Self {
            status: CallStatus::from_outcome(&settled.outcome),
            decided: settled.decided,
            duration_ms: u64::try_from(settled.duration.as_millis()).unwrap_or(u64::MAX),
            parts: response.parts.clone(),
            display,
            report: Some(CallReport::new(settled, response)),
            mcp_meta: settled.mcp_meta.clone(),
        }
    }

    /// Returns how a call ended that another process left behind, with the part that says so to the model.
    pub(crate) fn left_behind(status: CallStatus, part: Part) -> Self {
        Self { status, decided: None, duration_ms: 0, parts: vec![part], display: None, report: None, mcp_meta: None }
    }

    /// Returns the text of the response to the model.
    pub fn response(&self) -> &str {
        self.function_response().map_or("", |response| response.body.text())
    }

    /// Returns the name of the call's tool.
    pub fn tool(&self) -> &str {
        self.function_response().map_or("", |response| response.name.as_str())
    }

    /// The first part; what a damaged log has instead is no response.
    fn function_response(&self) -> Option<&FunctionResponse> {
        match &self.parts.first()?.data {
            PartData::FunctionResponse(response) => Some(response),
            PartData::Text(_) | PartData::InlineData(_) | PartData::FileReference(_) | PartData::FunctionCall(_) => {
                None
            }
        }
    }
}
