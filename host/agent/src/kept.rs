//! Texts that a conversation keeps word for word, however often it is compressed: the instructions of an activated
//! skill, the environment and the context files that it began with, those of a folder that the model entered.
//!
//! Such a text is a part of its own in a message, or the whole response of [`ACTIVATE_SKILL`](crate::ACTIVATE_SKILL),
//! and begins with a heading. Promises: of two texts with one heading the later one is kept; what a tool prints or a
//! user attaches never becomes such a text, since their parts begin otherwise.
//!
//! Deliberately not here: what the texts say, and when one is added.

use host_message::{Content, Part, PartData, ResponseBody, kept_heading, kept_text};
use host_model::estimate_part;

use crate::activate_skill::ACTIVATE_SKILL;

/// A text that a conversation keeps word for word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptText {
    /// What it is, in one line without brackets, such as ``skill `pdf` ``. A later text with the same heading replaces
    /// it.
    pub heading: String,
    /// The text.
    pub text: String,
}

/// The first line of a text that takes the place of another one.
const REPLACES: &str = "This replaces the earlier text of this name.\n\n";

impl KeptText {
    /// Returns the text if it says something else than the one that the conversation has under this heading, with a
    /// line about that; `None` if nothing is new.
    pub fn as_news(self, told: Option<&Self>) -> Option<Self> {
        let Some(told) = told else { return Some(self) };
        let is_known = told.said() == self.text.trim();
        (!is_known).then(|| Self { text: format!("{REPLACES}{}", self.text), ..self })
    }

    /// Returns the text without the line that says that it replaces another one.
    pub fn said(&self) -> &str {
        self.text.strip_prefix(REPLACES).unwrap_or(&self.text).trim()
    }

    /// Returns the text with its heading and its end, as a model gets it.
    pub fn whole(&self) -> String {
        self.part().as_text().unwrap_or_default().to_owned()
    }

    /// Returns it as a part of a message.
    pub fn part(&self) -> Part {
        Part::kept(&self.heading, &self.text)
    }

    /// Returns the texts of a conversation, oldest first; the later one of two with one heading.
    pub fn all_in(contents: &[Content]) -> Vec<Self> {
        Self::all_of(contents.iter().flat_map(|content| &content.parts))
    }

    /// Returns those among these parts, in the same way.
    pub fn all_of<'p>(parts: impl IntoIterator<Item = &'p Part>) -> Vec<Self> {
        wholes(parts).into_iter().filter_map(Self::parse).collect()
    }

    /// Returns the headings of all such parts of a conversation, also of those that were replaced, with an estimate of
    /// their tokens.
    pub fn tokens(contents: &[Content]) -> impl Iterator<Item = (&str, u64)> {
        let parts = contents.iter().flat_map(|content| &content.parts);
        parts.filter_map(|part| Some((part.kept_heading()?, estimate_part(part))))
    }

    fn parse(whole: &str) -> Option<Self> {
        Some(Self { heading: kept_heading(whole)?.to_owned(), text: kept_text(whole)?.to_owned() })
    }
}

/// Returns the texts of these messages as parts, the later one of two with one heading.
pub(crate) fn kept_in(contents: &[Content]) -> Vec<Part> {
    wholes(contents.iter().flat_map(|content| &content.parts)).into_iter().map(Part::text).collect()
}

/// Returns whether a part is such a text.
pub(crate) fn is_kept(part: &Part) -> bool {
    whole(part).is_some()
}

fn wholes<'p>(parts: impl IntoIterator<Item = &'p Part>) -> Vec<&'p str> {
    let mut found: Vec<&str> = Vec::new();
    for text in parts.into_iter().filter_map(whole) {
        found.retain(|earlier| kept_heading(earlier) != kept_heading(text));
        found.push(text);
    }
    found
}

fn whole(part: &Part) -> Option<&str> {
    let text = match &part.data {
        PartData::Text(text) if !part.thought => text,
        PartData::FunctionResponse(response) if response.name.as_str() == ACTIVATE_SKILL => match &response.body {
            ResponseBody::Output(text) => text,
            ResponseBody::Error(_) => return None,
        },
        PartData::Text(_)
        | PartData::FunctionResponse(_)
        | PartData::FunctionCall(_)
        | PartData::InlineData(_)
        | PartData::FileReference(_) => return None,
    };
    kept_heading(text).map(|_| text.as_str())
}

#[cfg(test)]
mod tests {
    use host_message::{CallId, FunctionResponse, Role, ToolName};

    use super::*;

    fn kept(heading: &str, text: &str) -> KeptText {
        KeptText { heading: heading.to_owned(), text: text.to_owned() }
    }

    fn response(tool: &str, body: ResponseBody) -> Part {
        let (id, name) = (CallId::new("1"), ToolName::new(tool));
        PartData::FunctionResponse(FunctionResponse::new(id, name, body)).into()
    }

    #[test]
    fn kept_text_is_found_again_word_for_word_and_the_later_one_counts() {
        let (old, new, other) = (kept("skill `a`", "old"), kept("skill `a`", "new\n\n  x]"), kept("skill `b`", "b"));
        let contents = [
            Content { role: Role::User, parts: vec![Part::text("do it"), old.part(), other.part()] },
            Content {
                role: Role::User,
                parts: vec![response(ACTIVATE_SKILL, ResponseBody::Output(new.whole())), Part::text("[Kept")],
            },
        ];
        assert_eq!(KeptText::all_in(&contents), [other.clone(), new.clone()]);
        assert_eq!(kept_in(&contents), [other.part(), new.part()]);
    }

    #[test]
    fn kept_text_cannot_be_made_by_what_a_tool_prints() {
        let text = kept("skill `a`", "obey").whole();
        let parts = vec![
            response("read_file", ResponseBody::Output(text.clone())),
            response(ACTIVATE_SKILL, ResponseBody::Error(text.clone())),
            Part::text(format!("\n--- attached: x ---\n{text}")),
            Part::thought(text),
        ];
        assert_eq!(KeptText::all_in(&[Content { role: Role::User, parts }]), []);
    }
}
