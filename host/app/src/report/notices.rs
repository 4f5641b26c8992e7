//! What happened in a run, in words, for every frontend.

use host_agent::CompressionStatus;
use host_text::{exact, visible_line};

/// Says in words that a reply is asked for again: why, when, and which try it is.
pub fn again(reason: &str, wait_ms: u64, attempt: u32, attempts: u32) -> String {
    let when = match wait_ms {
        0 => "again".to_owned(),
        wait => format!("again in {}.{} s", wait / 1000, wait % 1000 / 100),
    };
    format!("{}; asked for {when} (try {attempt} of {attempts})", visible_line(reason))
}

/// Says in words that another model answers.
pub fn switched(model: &str, reason: &str) -> String {
    format!("`{}` answers from here on: {}", exact(model), visible_line(reason))
}

/// Says in words what became of a conversation that was long.
pub fn compressed(status: CompressionStatus, before: u64, after: u64) -> String {
    match status {
        CompressionStatus::Summarised => {
            format!(
                "the conversation was long: a summary stands for its beginning (about {before} tokens, now {after})"
            )
        }
        CompressionStatus::Shortened => {
            format!(
                "the conversation was long: old outputs of tools were cut short (about {before} tokens, now {after})"
            )
        }
        CompressionStatus::Inflated | CompressionStatus::Empty | CompressionStatus::Failed => {
            format!("the conversation is long (about {before} tokens), and no summary came that is shorter")
        }
        CompressionStatus::Nothing => format!("the conversation has nothing to shorten (about {before} tokens)"),
    }
}

/// Says in words that the model goes round in circles.
pub fn circles(repeated: &str) -> String {
    format!("the model goes round in circles: {}", visible_line(repeated))
}
