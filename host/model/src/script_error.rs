//! What is wrong with a script of the scripted model.

/// What is wrong with a script, or with a request that it answers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script `{name}` cannot be read: {why}")]
    Unreadable {
        /// The script.
        name: String,
        /// What the system said.
        why: String,
    },
    /// A line is no reply.
    #[error("invalid reply in line {line} of the script `{name}`: {why}")]
    Line {
        /// The script.
        name: String,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// There are more requests than replies.
    #[error("the script `{name}` has {replies} replies and was asked for one more")]
    Exhausted {
        /// The script.
        name: String,
        /// How many it has.
        replies: usize,
    },
    /// The request is not what the script expects.
    #[error("line {line} of the script `{name}` expects {expected}, and there is {found}")]
    Unexpected {
        /// The script.
        name: String,
        /// Which line, from 1.
        line: usize,
        /// What was to be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The history of the request breaks the rule for calls and responses.
    #[error("the request for line {line} of the script `{name}` has a broken history: {fault}")]
    History {
        /// The script.
        name: String,
        /// Which line, from 1.
        line: usize,
        /// Which message breaks it, and how.
        fault: String,
    },
}
