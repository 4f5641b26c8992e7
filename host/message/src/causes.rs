//! An error with its causes, in one line.

use std::error::Error;

/// Returns the error's message, followed by those of its causes, separated by `: `.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
