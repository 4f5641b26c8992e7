//! Messages: who said them and the parts they are made of.
//!
//! The shapes follow the Gemini API's `Content` and `Part`, the richest of the formats in use; the serialised
//! form is the session log's own and promises nothing to a provider.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CallId, ToolName};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Content {
    /// Who said it.
    pub role: Role,
    /// What it is made of, in order.
    pub parts: Vec<Part>,
}

/// Who said something. System instructions are no message: a request carries them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or the host that answers a function call.
    User,
    /// The model.
    Model,
}

/// One part of a message, with what a thinking model attaches to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What it is.
    #[serde(flatten)]
    pub data: PartData,
    /// Whether the model was thinking aloud: shown, kept in the log, never sent back as text.
    #[serde(default, skip_serializing_if = "is_false")]
    pub thought: bool,
    /// An opaque mark that the model's service wants back unchanged with this part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// A mark that only the service which made it can read: a signed or encrypted thought. A conversation can go over to
/// another service, which must not be sent it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The wire format of the service that made it, by its provider's name.
    pub by: String,
    /// What goes back, in that provider's own form.
    pub data: String,
}

/// What a part is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartData {
    /// Text.
    Text(String),
    /// Bytes with a media type.
    InlineData(InlineData),
    /// A file that lies where the model's service can fetch it.
    FileReference(FileReference),
    /// The model wants a tool called.
    FunctionCall(FunctionCall),
    /// How that call ended.
    FunctionResponse(FunctionResponse),
}

/// Bytes with a media type, in base64 as every wire format has them.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct InlineData {
    /// The media type, such as `image/png`.
    pub mime_type: String,
    /// The bytes in standard base64 with padding.
    pub base64: String,
}

impl fmt::Debug for InlineData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InlineData({}, {} base64 characters)", self.mime_type, self.base64.len())
    }
}

/// A file that the model's service fetches by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileReference {
    /// The media type.
    pub mime_type: String,
    /// Its address.
    pub uri: String,
}

/// The model wants a tool called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// Unique in the conversation; made by the host where the model's service gives none.
    pub id: CallId,
    /// The tool's name as the model wrote it, which may be no tool at all.
    pub name: ToolName,
    /// The arguments as the model wrote them, not yet checked against the tool's schema.
    pub arguments: Map<String, Value>,
}

/// How a call ended, as the model is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionResponse {
    /// The id of the call that this answers.
    pub id: CallId,
    /// The name of the call that this answers.
    pub name: ToolName,
    /// What came of it.
    pub body: ResponseBody,
}

/// The text of a response, told apart so that a provider can mark errors its own way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseBody {
    /// What the tool returned.
    Output(String),
    /// Why it did not: an error, a refusal, or a cancel.
    Error(String),
}

impl ResponseBody {
    /// The text, whichever it is.
    pub fn text(&self) -> &str {
        match self {
            Self::Output(text) | Self::Error(text) => text,
        }
    }
}

impl Content {
    /// A message of the user's with one text part.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, parts: vec![Part::text(text)] }
    }

    /// A message of the model's with one text part.
    pub fn model(text: impl Into<String>) -> Self {
        Self { role: Role::Model, parts: vec![Part::text(text)] }
    }

    /// The text of all parts that are no thoughts, joined.
    pub fn visible_text(&self) -> String {
        self.parts.iter().filter(|part| !part.thought).filter_map(Part::as_text).collect()
    }

    /// The function calls in it, in order.
    pub fn function_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.parts.iter().filter_map(Part::as_call)
    }

    /// The function responses in it, in order.
    pub fn function_responses(&self) -> impl Iterator<Item = &FunctionResponse> {
        self.parts.iter().filter_map(|part| match &part.data {
            PartData::FunctionResponse(response) => Some(response),
            _ => None,
        })
    }
}

impl Part {
    /// Text that is no thought.
    pub fn text(text: impl Into<String>) -> Self {
        PartData::Text(text.into()).into()
    }

    /// Text that the model thought aloud.
    pub fn thought(text: impl Into<String>) -> Self {
        Self { data: PartData::Text(text.into()), thought: true, signature: None }
    }

    /// The mark on it that this provider made, if there is one.
    pub fn signature_by(&self, provider: &str) -> Option<&str> {
        self.signature.as_ref().filter(|signature| signature.by == provider).map(|signature| signature.data.as_str())
    }

    /// The function call, if that is what it is.
    pub fn as_call(&self) -> Option<&FunctionCall> {
        match &self.data {
            PartData::FunctionCall(call) => Some(call),
            _ => None,
        }
    }

    /// The text, if that is what it is; thoughts included.
    pub fn as_text(&self) -> Option<&str> {
        match &self.data {
            PartData::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl From<PartData> for Part {
    fn from(data: PartData) -> Self {
        Self { data, thought: false, signature: None }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_survives_the_session_log() {
        let content = Content {
            role: Role::Model,
            parts: vec![
                Part::thought("**Plan** look first"),
                Part::text("I will look."),
                Part {
                    data: PartData::FunctionCall(FunctionCall {
                        id: CallId::new("c1"),
                        name: ToolName::new("ls"),
                        arguments: Map::from_iter([("path".to_owned(), Value::from("."))]),
                    }),
                    thought: false,
                    signature: Some(Signature { by: "gemini".to_owned(), data: "c2ln".to_owned() }),
                },
                PartData::FunctionResponse(FunctionResponse {
                    id: CallId::new("c1"),
                    name: ToolName::new("ls"),
                    body: ResponseBody::Error("no".to_owned()),
                })
                .into(),
                PartData::InlineData(InlineData { mime_type: "image/png".to_owned(), base64: "AAAA".to_owned() })
                    .into(),
            ],
        };
        let line = serde_json::to_string(&content).expect("plain data serialises");
        assert_eq!(serde_json::from_str::<Content>(&line).expect("and comes back"), content);
    }

    #[test]
    fn thoughts_are_no_visible_text() {
        let content = Content { role: Role::Model, parts: vec![Part::thought("hm"), Part::text("a"), Part::text("b")] };
        assert_eq!(content.visible_text(), "ab");
    }
}
