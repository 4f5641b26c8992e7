//! An error with what caused it, in one line.

use std::error::Error;

/// What the error says, and behind it what each of its causes says, separated by `: `.
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
