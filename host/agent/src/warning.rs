//! The warning that goes with the one request after a limit.

/// How the warning ends that goes with the one request after a limit.
pub(crate) const WARNING_END: &str = "Say in it what is missing. Call no other tool: it would not run.";

/// Whether a text is such a warning, and not what the user wrote.
pub(crate) fn is_warning(text: &str) -> bool {
    text.ends_with(WARNING_END)
}
