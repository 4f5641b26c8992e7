//! The capability `mcp`: calling tools of the MCP servers that the user configured.

use crate::bindings::host::cap;
#[cfg(target_family = "wasm")]
pub use crate::bindings::host::cap::mcp::call;
pub use crate::bindings::host::cap::mcp::{Answer, Error};
#[cfg(not(target_family = "wasm"))]
pub use crate::fake::mcp::call;
use crate::{Blob, Content, Failure, Link, Outcome};

impl Answer {
    /// An answer of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![cap::mcp::Content::Text(text.into())], structured: None, is_error: false }
    }

    /// An answer by which a tool says that it failed.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

/// What the tool answered is the outcome, and what it calls an error is a failure with the same text.
impl TryFrom<Answer> for Outcome {
    type Error = Failure;

    fn try_from(answer: Answer) -> Result<Self, Failure> {
        let Answer { content, structured, is_error } = answer;
        if is_error {
            let text = |part: &cap::mcp::Content| match part {
                cap::mcp::Content::Text(text) => text.clone(),
                cap::mcp::Content::Blob(blob) => format!("[{}: {} bytes]", blob.mime_type, blob.data.len()),
                cap::mcp::Content::Link(link) => format!("[{}]", link.uri),
            };
            let said = content.iter().map(text).chain(structured.filter(|_| content.is_empty())).collect::<Vec<_>>();
            let said =
                if said.is_empty() { "the tool says that it failed, and not why".to_owned() } else { said.join("\n") };
            return Err(Failure::Failed(said));
        }
        let content = content.into_iter().map(|part| match part {
            cap::mcp::Content::Text(text) => Content::Text(text),
            cap::mcp::Content::Blob(cap::mcp::Blob { mime_type, data }) => Content::Blob(Blob { mime_type, data }),
            cap::mcp::Content::Link(cap::mcp::Link { uri, title }) => Content::Link(Link { uri, title }),
        });
        Ok(Self { structured, ..Self::of(content.collect()) })
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
            Error::Failed(why) => Self::Failed(why),
        }
    }
}
