//! The warning that goes with the one request after a limit.

/// End of the warning in the one request after a limit.
pub(crate) const WARNING_END: &str = "Say in it what is missing. Call no other tool: it would not run.";

/// Returns whether a text is such a warning, and not a message from the user.
pub(crate) fn is_warning(text: &str) -> bool {
    text.ends_with(WARNING_END)
}
