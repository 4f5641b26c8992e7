//! The capability `tools`: calling the other tools of the session, each as if the model had called it.

pub use crate::bindings::host::cap::tools::{Answer, Error, ToolCall};
#[cfg(target_family = "wasm")]
pub use crate::bindings::host::cap::tools::{call, call_all};
#[cfg(not(target_family = "wasm"))]
pub use crate::fake::tools::{call, call_all};
use crate::{Failure, Outcome};

impl ToolCall {
    /// A call of this tool, with arguments that are a JSON object.
    pub fn new(tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { tool: tool.into(), arguments: arguments.into() }
    }
}

impl Answer {
    /// An answer of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None }
    }
}

/// What the tool returned is the outcome.
impl From<Answer> for Outcome {
    fn from(Answer { text, structured }: Answer) -> Self {
        Self { structured, ..Self::text(text) }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Denied(denial) => denial.into(),
            Error::NotFound(what) => Self::NotFound(what),
            Error::Invalid(why) => Self::InvalidArguments(why),
            Error::Unavailable(why) => Self::Unavailable(why),
            Error::Cancelled => Self::Cancelled(String::new()),
            Error::Refused(why) | Error::Failed(why) => Self::Failed(why),
        }
    }
}
