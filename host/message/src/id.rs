//! Names and ids as types, so that one cannot be given where another is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A text that cannot be the id it was meant to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {what}: {why}")]
pub struct IdError {
    /// What it was meant to be.
    pub what: &'static str,
    /// What it is.
    pub text: String,
    /// The rule that it breaks.
    pub why: &'static str,
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the text as it is.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

text_id! {
    /// The id of one function call, unique in its conversation. Whatever a model's service sends is taken.
    CallId
}

text_id! {
    /// The name of a tool, as declared or as a model wrote it.
    ToolName
}

text_id! {
    /// The id of one agent in a run; a subagent has its own.
    AgentId
}

text_id! {
    /// A model as the user names it: `gemini/gemini-2.5-pro`, `openai/gpt-5`, `offline`.
    ModelId
}

impl AgentId {
    /// The id of an agent that this one starts: `main/codebase_investigator-1`.
    pub fn beneath(&self, name: &str, number: u32) -> Self {
        Self(format!("{self}/{name}-{number}"))
    }

    /// Whether another agent has started this one.
    pub fn is_subagent(&self) -> bool {
        self.0.contains('/')
    }
}

/// The id of a session: what its log file is called, so it is made of characters that are safe in a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Checks that the text can be a session's id.
    ///
    /// # Errors
    ///
    /// When it is empty, longer than 64 characters, or has anything but ASCII letters, digits and `-`.
    pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
        let text = text.into();
        let fits = (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if fits {
            Ok(Self(text))
        } else {
            Err(IdError { what: "session id", text, why: "it has 1 to 64 of ASCII letters, digits and `-`" })
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// One request to a model: `<agent id>#<turn>`. Every log line under the request carries it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PromptId {
    /// The agent that asks.
    pub agent: AgentId,
    /// Which of its turns this is, from 0.
    pub turn: u32,
}

impl PromptId {
    /// The id of the call at `index` in the reply to this request, for a service that gives none.
    pub fn call(&self, index: usize) -> CallId {
        CallId::new(format!("{self}-{index}"))
    }
}

impl fmt::Display for PromptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.agent, self.turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_cannot_leave_its_folder() {
        for bad in ["", "..", "a/b", "a\\b", "a b", "ä", &"x".repeat(65)] {
            assert!(SessionId::new(bad).is_err(), "{bad:?}");
        }
        assert!(SessionId::new("20260301-120000-ab12").is_ok());
        assert!(serde_json::from_str::<SessionId>("\"../x\"").is_err());
    }

    #[test]
    fn an_agent_says_in_its_id_who_started_it() {
        let main = AgentId::new("main");
        let beneath = main.beneath("reader", 2);
        assert_eq!(beneath.as_str(), "main/reader-2");
        assert_eq!((main.is_subagent(), beneath.is_subagent()), (false, true));
    }

    #[test]
    fn a_call_without_an_id_is_named_after_its_prompt() {
        let prompt = PromptId { agent: AgentId::new("main"), turn: 3 };
        assert_eq!(prompt.call(1).as_str(), "main#3-1");
    }
}
