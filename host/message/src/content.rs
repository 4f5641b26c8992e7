//! Messages: their authors and their parts.
//!
//! The shapes follow the Gemini API's `Content` and `Part`, the richest of the formats in use; the serialised
//! form is the session log's own and promises nothing to a provider.

use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{CallId, ToolName, ToolSpec};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Content {
    /// The author.
    pub role: Role,
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

/// The author of a message. System instructions are not messages: a request carries them separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or the host that answers a function call.
    User,
    /// The model.
    Model,
}

/// One part of a message, with what a thinking model attaches to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The content.
    #[serde(flatten)]
    pub data: PartData,
    /// Whether the model was thinking aloud: shown, kept in the log, never sent back as text.
    #[serde(default, skip_serializing_if = "is_false")]
    pub thought: bool,
    /// An opaque mark that the model's service wants back unchanged with this part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// Reads the content where it stands: what is derived for a flattened field copies all of a part first, which is most
/// of the time that a long session takes to be read.
impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PartVisitor)
    }
}

struct PartVisitor;

/// The fields of a part: one for each kind of content, and what is attached.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum PartField {
    Text,
    InlineData,
    FileReference,
    FunctionCall,
    FunctionResponse,
    Thought,
    Signature,
    #[serde(other)]
    Unknown,
}

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part, A::Error> {
        let (mut content, mut thought, mut signature) = (None, None, None);
        while let Some(field) = map.next_key()? {
            let data = match field {
                PartField::Text => PartData::Text(map.next_value()?),
                PartField::InlineData => PartData::InlineData(map.next_value()?),
                PartField::FileReference => PartData::FileReference(map.next_value()?),
                PartField::FunctionCall => PartData::FunctionCall(map.next_value()?),
                PartField::FunctionResponse => PartData::FunctionResponse(map.next_value()?),
                PartField::Thought if thought.is_some() => return Err(A::Error::duplicate_field("thought")),
                PartField::Thought => {
                    thought = Some(map.next_value()?);
                    continue;
                }
                PartField::Signature if signature.is_some() => return Err(A::Error::duplicate_field("signature")),
                PartField::Signature => {
                    signature = Some(map.next_value()?);
                    continue;
                }
                PartField::Unknown => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if content.replace(data).is_some() {
                return Err(A::Error::custom("a part has one content, but this one has two"));
            }
        }
        let data = content.ok_or_else(|| A::Error::custom("a part without content"))?;
        Ok(Part { data, thought: thought.unwrap_or_default(), signature: signature.unwrap_or_default() })
    }
}

/// A mark that only the service which made it can read: a signed or encrypted thought. A conversation can switch to a
/// different service, which must not be sent it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The wire format of the service that made it, by its provider's name.
    pub by: String,
    /// The data to send back, in that provider's own form.
    pub data: String,
}

/// The content of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartData {
    /// Text.
    Text(String),
    /// Bytes with a media type.
    InlineData(InlineData),
    /// A file at an address from which the model's service can fetch it.
    FileReference(FileReference),
    /// A call that the model requests.
    FunctionCall(FunctionCall),
    /// The result of that call.
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

/// A file that the model's service fetches itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileReference {
    /// The media type.
    pub mime_type: String,
    /// Its address.
    pub uri: String,
}

/// A call that the model requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// Unique in the session and made by the host, whatever the model's service calls it.
    pub id: CallId,
    /// The service's own id, for its wire alone; `None` if it gave none, or one that another call of the conversation
    /// has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_id: Option<CallId>,
    /// The tool's name as the model wrote it; there may be no such tool.
    pub name: ToolName,
    /// The arguments as the model wrote them, not yet checked against the tool's schema.
    pub arguments: Map<String, Value>,
}

/// The result of a call, as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionResponse {
    /// The id of the call that this answers.
    pub id: CallId,
    /// What the service calls that call, as in [`FunctionCall::service_id`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_id: Option<CallId>,
    /// The name of the call that this answers.
    pub name: ToolName,
    /// The result.
    pub body: ResponseBody,
    /// The tools that a search for tools found, as they were defined then. A service that loads tools in the course of
    /// a conversation gets their definitions from here, so that each request repeats what the one before said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<ToolSpec>,
}

/// The text of a response, split so that a provider can mark errors in its own way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseBody {
    /// What the tool returned.
    Output(String),
    /// Why it returned nothing: an error, a denial, or a cancellation.
    Error(String),
}

impl FunctionCall {
    /// A call with an id of the host's alone.
    pub fn new(id: CallId, name: ToolName, arguments: Map<String, Value>) -> Self {
        Self { id, service_id: None, name, arguments }
    }

    /// Returns the id to send to a service: its own if it gave one. Some models depend on the form of theirs.
    pub fn wire_id(&self) -> &str {
        self.service_id.as_ref().unwrap_or(&self.id).as_str()
    }

    /// Makes the response to this call.
    pub fn respond(&self, body: ResponseBody) -> FunctionResponse {
        let Self { id, service_id, name, .. } = self;
        let (id, service_id, name) = (id.clone(), service_id.clone(), name.clone());
        FunctionResponse { id, service_id, name, body, found: Vec::new() }
    }
}

impl FunctionResponse {
    /// The response to a call with an id of the host's alone.
    pub fn new(id: CallId, name: ToolName, body: ResponseBody) -> Self {
        Self { id, service_id: None, name, body, found: Vec::new() }
    }

    /// Returns the id to send to a service, as [`FunctionCall::wire_id`].
    pub fn wire_id(&self) -> &str {
        self.service_id.as_ref().unwrap_or(&self.id).as_str()
    }
}

impl ResponseBody {
    /// Returns the text of either variant.
    pub fn text(&self) -> &str {
        match self {
            Self::Output(text) | Self::Error(text) => text,
        }
    }
}

/// The line before a text that was piped into a prompt. It begins as the line before a file that the user attached, of
/// which the system prompt says that it is information. Session logs have it, so it stays as it is.
const PIPED: &str = "--- attached: piped input ---\n";

/// The line after it. Some services get the parts of a message as one text, in which the prompt follows.
const PIPED_END: &str = "\n--- end of piped input ---\n\n";

/// The beginning of the first line of a text that the host gives the model beside what the user says. Session logs have
/// it, so it stays as it is.
const KEPT: &str = "[Kept in full: ";

/// The beginning of its last line.
const KEPT_END: &str = "[End: ";

impl Content {
    /// Creates a message from the user with one text part.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, parts: vec![Part::text(text)] }
    }

    /// Creates a message from the model with one text part.
    pub fn model(text: impl Into<String>) -> Self {
        Self { role: Role::Model, parts: vec![Part::text(text)] }
    }

    /// Returns the text of all parts that are not thoughts, joined, without what the host [added](Part::kept). What was
    /// [piped](Part::piped) into a prompt comes last, as all that is attached: a reader looks for the prompt first.
    pub fn visible_text(&self) -> String {
        let is_said = |part: &&Part| !part.thought && part.kept_heading().is_none();
        let (piped, said): (Vec<_>, Vec<_>) = self.parts.iter().filter(is_said).partition(|part| part.is_piped());
        let mut text: String = said.into_iter().filter_map(Part::as_text).collect();
        for part in piped.into_iter().filter_map(Part::as_text) {
            text.push('\n');
            text.push_str(part.trim_end());
            text.push('\n');
        }
        text
    }

    /// Returns a prompt as the user gave it: its words, and what was piped into it behind an empty line; without what
    /// it attaches and what the host [added](Part::kept). `None` if the message has no such text.
    pub fn prompt_text(&self) -> Option<String> {
        let is_said = |part: &&Part| !part.is_piped() && part.kept_heading().is_none();
        let words = self.parts.iter().filter(is_said).find_map(Part::as_text);
        let piped = self.parts.iter().find_map(Part::piped_text);
        let given: Vec<&str> = [words, piped].into_iter().flatten().collect();
        (!given.is_empty()).then(|| given.join("\n\n"))
    }

    /// Returns the function calls in it, in order.
    pub fn function_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.parts.iter().filter_map(Part::as_call)
    }

    /// Returns the function responses in it, in order.
    pub fn function_responses(&self) -> impl Iterator<Item = &FunctionResponse> {
        self.parts.iter().filter_map(|part| match &part.data {
            PartData::FunctionResponse(response) => Some(response),
            _ => None,
        })
    }
}

impl Part {
    /// Creates a part with text that is not a thought.
    pub fn text(text: impl Into<String>) -> Self {
        PartData::Text(text.into()).into()
    }

    /// Creates the part of a prompt that has a text which was piped into it, between lines that name it. It belongs
    /// before the prompt's words.
    pub fn piped(text: &str) -> Self {
        Self::text(format!("{PIPED}{text}{PIPED_END}"))
    }

    /// Returns whether it is text that was piped into a prompt.
    pub fn is_piped(&self) -> bool {
        self.piped_text().is_some()
    }

    /// Returns the text that was piped into a prompt; `None` for any other part.
    pub fn piped_text(&self) -> Option<&str> {
        self.as_text()?.strip_prefix(PIPED)?.strip_suffix(PIPED_END)
    }

    /// Creates a part with a text of the host's that a conversation keeps word for word, between lines that name it.
    /// `heading` is one line without brackets.
    pub fn kept(heading: &str, text: &str) -> Self {
        Self::text(format!("{KEPT}{heading}]\n{}\n{KEPT_END}{heading}]", text.trim()))
    }

    /// Returns the heading of such a text; `None` for any other part.
    pub fn kept_heading(&self) -> Option<&str> {
        if self.thought { None } else { kept_heading(self.as_text()?) }
    }

    /// Creates a part with text that the model thought aloud.
    pub fn thought(text: impl Into<String>) -> Self {
        Self { data: PartData::Text(text.into()), thought: true, signature: None }
    }

    /// Returns the mark that this provider put on it, if any.
    pub fn signature_by(&self, provider: &str) -> Option<&str> {
        self.signature.as_ref().filter(|signature| signature.by == provider).map(|signature| signature.data.as_str())
    }

    /// Returns the function call, if it is one.
    pub fn as_call(&self) -> Option<&FunctionCall> {
        match &self.data {
            PartData::FunctionCall(call) => Some(call),
            _ => None,
        }
    }

    /// Returns the text, thoughts included, if it is text.
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

/// Returns the heading of a text that a conversation keeps word for word; `None` for any other text.
pub fn kept_heading(text: &str) -> Option<&str> {
    text.strip_prefix(KEPT)?.lines().next()?.strip_suffix(']')
}

/// Returns such a text without its first and last line.
pub fn kept_text(whole: &str) -> Option<&str> {
    let heading = kept_heading(whole)?;
    let text = whole.get(KEPT.len() + heading.len() + 1..)?;
    Some(text.strip_suffix(&format!("\n{KEPT_END}{heading}]")).unwrap_or(text).trim())
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
                    data: PartData::FunctionCall(FunctionCall::new(
                        CallId::new("c1"),
                        ToolName::new("ls"),
                        Map::from_iter([("path".to_owned(), Value::from("."))]),
                    )),
                    thought: false,
                    signature: Some(Signature { by: "gemini".to_owned(), data: "c2ln".to_owned() }),
                },
                PartData::FunctionResponse(FunctionResponse::new(
                    CallId::new("c1"),
                    ToolName::new("ls"),
                    ResponseBody::Error("no".to_owned()),
                ))
                .into(),
                PartData::InlineData(InlineData { mime_type: "image/png".to_owned(), base64: "AAAA".to_owned() })
                    .into(),
            ],
        };
        let line = serde_json::to_string(&content).expect("plain data serialises");
        assert_eq!(serde_json::from_str::<Content>(&line).expect("and comes back"), content);
    }

    #[test]
    fn a_part_has_one_content_in_any_place() {
        let check = |json: &str, expected: Option<Part>| {
            assert_eq!(serde_json::from_str::<Part>(json).ok(), expected, "{json}");
        };
        check(r#"{"thought":true,"text":"hm"}"#, Some(Part::thought("hm")));
        check(r#"{"text":"a","thought":false,"later":[{}],"signature":null}"#, Some(Part::text("a")));
        for wrong in [
            "{}",
            "[]",
            r#"{"thought":true}"#,
            r#"{"text":1}"#,
            r#"{"text":"a","text":"b"}"#,
            r#"{"text":"a","inline_data":{"mime_type":"image/png","base64":""}}"#,
            r#"{"text":"a","thought":true,"thought":true}"#,
            r#"{"text":"a","signature":null,"signature":null}"#,
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn content_piped_text_is_recognised_and_read_after_the_prompt() {
        let piped = Part::piped("a line\n");
        assert_eq!(piped.as_text(), Some("--- attached: piped input ---\na line\n\n--- end of piped input ---\n\n"));
        assert_eq!(piped.piped_text(), Some("a line\n"));
        assert!(!Part::text("--- attached: piped input ---\n").is_piped());
        let file = Part::text("\n--- attached: a ---\nx\n--- end of a ---\n");
        assert!(!file.is_piped());
        let parts = vec![piped, Part::text("Review this"), file];
        let content = Content { role: Role::User, parts };
        assert_eq!(
            content.visible_text(),
            "Review this\n--- attached: a ---\nx\n--- end of a ---\n\n\
             --- attached: piped input ---\na line\n\n--- end of piped input ---\n"
        );
        assert_eq!(content.prompt_text().as_deref(), Some("Review this\n\na line\n"));
        assert_eq!(Content::user("Look").prompt_text().as_deref(), Some("Look"));
        assert_eq!(Content { role: Role::User, parts: Vec::new() }.prompt_text(), None);
    }

    #[test]
    fn content_text_that_is_kept_is_recognised_and_is_not_what_the_user_said() {
        let kept = Part::kept("environment", "- Date: today.\n");
        let whole = "[Kept in full: environment]\n- Date: today.\n[End: environment]";
        assert_eq!((kept.as_text(), kept.kept_heading()), (Some(whole), Some("environment")));
        assert_eq!(kept_text(whole), Some("- Date: today."));
        for other in ["[Kept in full: x", "x", ""] {
            assert_eq!((kept_heading(other), kept_text(other)), (None, None), "{other}");
        }
        let content = Content { role: Role::User, parts: vec![kept, Part::text("Look")] };
        assert_eq!((content.visible_text().as_str(), content.prompt_text().as_deref()), ("Look", Some("Look")));
    }

    #[test]
    fn thoughts_are_no_visible_text() {
        let content = Content { role: Role::Model, parts: vec![Part::thought("hm"), Part::text("a"), Part::text("b")] };
        assert_eq!(content.visible_text(), "ab");
    }
}
