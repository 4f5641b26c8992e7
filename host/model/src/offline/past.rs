//! The last prompt, and the calls since then.

use host_message::{Content, FunctionCall, PartData, ResponseBody, Role};

/// The first words of a file that the host attached to a prompt; the file is not part of the prompt.
const ATTACHED: &str = "--- attached: ";

/// The conversation since the last prompt.
pub(super) struct Past<'a> {
    /// The last prompt.
    pub(super) prompt: &'a str,
    /// The calls since then that have a response, in order.
    pub(super) results: Vec<(&'a FunctionCall, &'a ResponseBody)>,
    /// Whether the host asked for the result at once.
    pub(super) wrap_up: bool,
}

impl<'a> Past<'a> {
    pub(super) fn new(contents: &'a [Content]) -> Self {
        let mut past = Self { prompt: "", results: Vec::new(), wrap_up: false };
        let mut calls: Vec<&FunctionCall> = Vec::new();
        for content in contents {
            match content.role {
                Role::Model => calls = content.function_calls().collect(),
                Role::User => {
                    let mut answered = false;
                    for response in content.function_responses() {
                        answered = true;
                        let call = calls.iter().find(|call| call.id == response.id);
                        past.results.extend(call.map(|call| (*call, &response.body)));
                    }
                    // What the host adds to a conversation is not a prompt either.
                    let said = content.parts.iter().filter(|part| !part.thought && part.kept_heading().is_none());
                    let said = said.filter_map(|part| part.as_text());
                    let said = said.filter(|text| !text.trim_start().starts_with(ATTACHED));
                    said.for_each(|text| past.hear(text, answered));
                }
            }
        }
        past
    }

    /// Takes a text from the user, or from the host on the user's behalf; perhaps beside the outcomes of calls. Of
    /// several texts, the last one is the prompt, since context precedes it.
    fn hear(&mut self, text: &'a str, beside_outcomes: bool) {
        self.wrap_up = !self.prompt.is_empty() && is_last_call(text);
        // Text beside outcomes is the host's remark on them, not a new prompt.
        if !self.wrap_up && !beside_outcomes {
            self.prompt = text;
            self.results.clear();
        }
    }

    /// Whether the tool was called.
    pub(super) fn made(&self, name: &str) -> bool {
        self.results.iter().any(|(call, _)| call.name.as_str() == name)
    }

    /// Whether this exact call was made.
    pub(super) fn made_with(&self, data: &PartData) -> bool {
        let PartData::FunctionCall(call) = data else { return false };
        self.results.iter().any(|(made, _)| made.name == call.name && made.arguments == call.arguments)
    }

    /// Returns the outputs of calls of this tool, each with the value of its `argument`.
    pub(super) fn outputs(
        &self,
        name: &str,
        argument: &str,
    ) -> impl Iterator<Item = (&'a str, &'a FunctionCall, &'a str)> {
        self.results.iter().filter_map(move |(call, body)| match body {
            ResponseBody::Output(text) if call.name.as_str() == name => {
                Some((call.arguments.get(argument)?.as_str()?, *call, text.as_str()))
            }
            ResponseBody::Output(_) | ResponseBody::Error(_) => None,
        })
    }
}

/// Whether the host asks for the result so far, as it does when an agent reached a limit.
fn is_last_call(text: &str) -> bool {
    text.to_lowercase().contains("no other tool")
}
