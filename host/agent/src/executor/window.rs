//! What the next request of a conversation takes of the model's window.
//!
//! Every number is an estimate, as compression makes them, but the service's own count of the last request.
//! Deliberately not here: what the system prompt is made of, which only its author knows.

use std::collections::BTreeSet;
use std::sync::Arc;

use host_message::{Content, Part, PartData, Role, ToolName, ToolSpec};
use host_model::{estimate_contents, estimate_part, estimate_tools};

use super::Executor;

/// The use of a model's window by a conversation, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowUse {
    /// The most that the model takes at once.
    pub window: u64,
    /// The part of the window that a request leaves free for the reply.
    pub reply: u64,
    /// The number at which the conversation is compressed; `None` is never.
    pub compressed_at: Option<u64>,
    /// The declarations of the tools, estimated.
    pub tools: u64,
    /// The messages, estimated.
    pub messages: MessageTokens,
    /// The service's count of the last request, plus an estimate of the messages since. `None` if the service has not
    /// counted this conversation yet.
    pub counted: Option<u64>,
}

/// The estimated tokens of messages, by what they are. Texts of the host's that a conversation keeps, such as the
/// environment, are not among them: see [`KeptText::tokens`](crate::KeptText::tokens).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageTokens {
    /// What the user said and attached.
    pub prompts: u64,
    /// What the model said. Its thoughts are not sent back and count nothing.
    pub answers: u64,
    /// The calls that the model made.
    pub calls: u64,
    /// The outcomes of those calls.
    pub results: u64,
}

impl MessageTokens {
    /// Estimates the tokens of these messages.
    pub fn estimate(contents: &[Content]) -> Self {
        let mut tokens = Self::default();
        for content in contents {
            for part in content.parts.iter().filter(|part| part.kept_heading().is_none()) {
                let counter = tokens.counter(content.role, part);
                *counter = counter.saturating_add(estimate_part(part));
            }
        }
        tokens
    }

    /// Returns the sum.
    pub fn total(self) -> u64 {
        let Self { prompts, answers, calls, results } = self;
        prompts.saturating_add(answers).saturating_add(calls).saturating_add(results)
    }

    fn counter(&mut self, role: Role, part: &Part) -> &mut u64 {
        match (&part.data, role) {
            (PartData::FunctionCall(_), _) => &mut self.calls,
            (PartData::FunctionResponse(_), _) => &mut self.results,
            (PartData::Text(_) | PartData::InlineData(_) | PartData::FileReference(_), Role::User) => &mut self.prompts,
            (PartData::Text(_) | PartData::InlineData(_) | PartData::FileReference(_), Role::Model) => {
                &mut self.answers
            }
        }
    }
}

impl Executor {
    /// Returns the names of the tools that the next request declares.
    pub fn declared_tools(&self) -> BTreeSet<ToolName> {
        self.declarations().iter().map(|spec| spec.name.clone()).collect()
    }

    /// The declarations of the next request.
    fn declarations(&self) -> Arc<Vec<ToolSpec>> {
        let mut declared = self.state.declared.clone();
        declared.add(self.agent.current_tools().specs());
        declared.specs()
    }

    /// Returns how the conversation until now fills the model's window, without the system prompt.
    pub fn window_use(&self) -> WindowUse {
        let contents = self.history.contents();
        let window = self.agent.window();
        let counted =
            self.state.size.counted.and_then(|(counted, messages)| {
                Some(counted.saturating_add(estimate_contents(contents.get(messages..)?)))
            });
        WindowUse {
            window,
            reply: window.saturating_sub(self.agent.room()),
            compressed_at: Some(self.agent.compression_limit()).filter(|limit| *limit > 0),
            tools: estimate_tools(&self.declarations()),
            messages: MessageTokens::estimate(contents),
            counted,
        }
    }
}

#[cfg(test)]
mod tests {
    use host_message::{CallId, FunctionCall, FunctionResponse, ResponseBody};
    use serde_json::Map;

    use super::*;
    use crate::KeptText;

    #[test]
    fn window_messages_count_by_what_they_are() {
        let call = FunctionCall::new(CallId::new("c"), ToolName::new("list"), Map::new());
        let response =
            FunctionResponse::new(CallId::new("c"), ToolName::new("list"), ResponseBody::Output("x".repeat(396)));
        let contents = [
            Content { role: Role::User, parts: vec![Part::text("x".repeat(40)), Part::text("x".repeat(4))] },
            Content { role: Role::User, parts: vec![Part::kept("environment", &"x".repeat(400))] },
            Content {
                role: Role::Model,
                parts: vec![Part::thought("x".repeat(400)), PartData::FunctionCall(call).into()],
            },
            Content { role: Role::User, parts: vec![PartData::FunctionResponse(response).into()] },
            Content { role: Role::Model, parts: vec![Part::text("x".repeat(20))] },
        ];
        let tokens = MessageTokens::estimate(&contents);
        assert_eq!(tokens, MessageTokens { prompts: 11, answers: 5, calls: 1, results: 100 });
        let kept: u64 = KeptText::tokens(&contents).map(|(_, tokens)| tokens).sum();
        assert_eq!(tokens.total() + kept, estimate_contents(&contents), "nothing is left out");
    }
}
