//! Messages about the events of a run, for every frontend.

use host_agent::CompressionStatus;
use host_text::{exact, visible_line};

/// A retry of a request: why, when, and which attempt it is.
pub fn again(reason: &str, wait_ms: u64, attempt: u32, attempts: u32) -> String {
    let when = match wait_ms {
        0 => "retrying".to_owned(),
        wait => format!("retrying in {}.{} s", wait / 1000, wait % 1000 / 100),
    };
    format!("{}; {when} (attempt {attempt} of {attempts})", visible_line(reason))
}

/// A switch to another model.
pub fn switched(model: &str, reason: &str) -> String {
    format!("`{}` answers from now on: {}", exact(model), visible_line(reason))
}

/// A compression of a long conversation.
pub fn compressed(status: CompressionStatus, before: u64, after: u64, reason: Option<&str>) -> String {
    let what = match status {
        CompressionStatus::Summarised => "its beginning was summarised",
        CompressionStatus::Shortened => "long tool outputs were cut",
        CompressionStatus::LeftOut => "its oldest messages were left out, since they did not fit the model's window",
        CompressionStatus::Inflated => "the model's summary was not shorter; nothing was changed",
        CompressionStatus::Empty => "the model's summary was empty; nothing was changed",
        CompressionStatus::Failed => "it could not be summarised",
        CompressionStatus::Nothing => "there is nothing to compress",
    };
    let why = reason.map(|reason| format!(": {}", visible_line(reason))).unwrap_or_default();
    let size = if after == before { format!("{before} tokens") } else { format!("{before} tokens, now {after}") };
    format!("the conversation is long (about {size}): {what}{why}")
}

/// A loop of the model.
pub fn repetition(repeated: &str) -> String {
    format!("the model is repeating itself: {}", visible_line(repeated))
}
