//! The entry of a call that ended, whose status is two fields of the entry.
//!
//! What is derived for a flattened field copies all fields first, and this entry has what the call returned: most of
//! the bytes of a long session.

use std::sync::Arc;

use host_message::{CallId, Display, Part, PromptId};
use host_tool::{Decided, FailureKind};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value};

use crate::{CallEnd, CallReport, CallStatus};

/// The fields of [`Fact::CallSettled`](super::Fact::CallSettled), in their order.
type Fields = (PromptId, CallId, Arc<CallEnd>);

/// The same as the entry has them.
#[derive(serde::Deserialize)]
struct Settled {
    prompt: PromptId,
    call_id: CallId,
    status: StatusName,
    kind: Option<FailureKind>,
    decided: Option<Decided>,
    duration_ms: u64,
    parts: Vec<Part>,
    display: Option<Display>,
    report: Option<CallReport>,
    mcp_meta: Option<Arc<Map<String, Value>>>,
}

/// [`CallStatus`] without the kind of failure.
#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum StatusName {
    Success,
    Error,
    Cancelled,
    Interrupted,
}

pub(super) fn fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
    let Settled { prompt, call_id, status, kind, decided, duration_ms, parts, display, report, mcp_meta } =
        Settled::deserialize(deserializer)?;
    let status = match status {
        StatusName::Success => CallStatus::Success,
        StatusName::Error => CallStatus::Error { kind: kind.ok_or_else(|| D::Error::missing_field("kind"))? },
        StatusName::Cancelled => CallStatus::Cancelled,
        StatusName::Interrupted => CallStatus::Interrupted,
    };
    Ok((prompt, call_id, Arc::new(CallEnd { status, decided, duration_ms, parts, display, report, mcp_meta })))
}
