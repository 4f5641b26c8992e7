//! The errors of a script of the scripted model.

/// An error in a script, or in a request that it answers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script `{name}` cannot be read: {why}")]
    Unreadable {
        /// The script.
        name: String,
        /// The system's error.
        why: String,
    },
    /// A line is not a reply.
    #[error("invalid reply in line {line} of the script `{name}`: {why}")]
    Line {
        /// The script.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// There are more requests than replies.
    #[error("the script `{name}` has {replies} replies and was asked for one more")]
    Exhausted {
        /// The script.
        name: String,
        /// The number of its replies.
        replies: usize,
    },
    /// The request is not what the script expects.
    #[error("line {line} of the script `{name}` expects {expected}, but the request has {found}")]
    Unexpected {
        /// The script.
        name: String,
        /// The line, from 1.
        line: usize,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// The history of the request breaks the rule for calls and responses.
    #[error("the request for line {line} of the script `{name}` has a broken history: {fault}")]
    History {
        /// The script.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The message that breaks it, and how.
        fault: String,
    },
}
