//! Names and ids as types, so that one cannot be passed where another is expected.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A text that is not a valid id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid {what} `{text}`: {why}")]
pub struct IdError {
    /// The kind of id.
    pub what: &'static str,
    /// The text.
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

            /// Returns the text.
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
    /// The id of one function call, unique in its conversation. Any id that a model's service sends is accepted.
    CallId
}

text_id! {
    /// The name of a tool, as declared or as a model wrote it.
    ToolName
}

text_id! {
    /// The id of one agent in a run; each subagent has its own.
    AgentId
}

text_id! {
    /// A model as the user names it: `gemini/gemini-2.5-pro`, `openai/gpt-5`, `offline`.
    ModelId
}

/// The longest name of a tool that every service accepts, in characters.
const NAME_LIMIT: usize = 64;

/// The prefix of a name that replaces an invalid one.
const INVALID: &str = "invalid_";

impl ToolName {
    /// Whether every service accepts the name: 1 to 64 of ASCII letters, digits, `_` and `-`, the first a letter or
    /// `_`.
    pub fn is_valid(&self) -> bool {
        let first = self.0.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        first && self.0.len() <= NAME_LIMIT && self.0.chars().all(is_name_character)
    }

    /// Returns the name to send to a service: the name itself if it is valid, else a valid one that resembles it. A
    /// service rejects the whole conversation for one name that a model made up.
    pub fn sendable(&self) -> Cow<'_, str> {
        if self.is_valid() {
            return Cow::Borrowed(&self.0);
        }
        let fitting = self.0.chars().map(|c| if is_name_character(c) { c } else { '_' });
        let name: String = INVALID.chars().chain(fitting).take(NAME_LIMIT).collect();
        Cow::Owned(if self.0.is_empty() { format!("{INVALID}name") } else { name })
    }
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

impl AgentId {
    /// Returns the id of a subagent of this one: `main/codebase_investigator-1`.
    pub fn child(&self, name: &str, number: u32) -> Self {
        Self(format!("{self}/{name}-{number}"))
    }

    /// Whether another agent started this one.
    pub fn is_subagent(&self) -> bool {
        self.0.contains('/')
    }
}

/// The id of a session: the name of its log file, so it consists of characters that are safe in a file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Checks that the text can be a session's id.
    ///
    /// # Errors
    ///
    /// If it is empty, longer than 64 characters, or contains anything but ASCII letters, digits and `-`.
    pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
        let text = text.into();
        let fits = (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if fits {
            Ok(Self(text))
        } else {
            Err(IdError { what: "session id", text, why: "it has 1 to 64 of ASCII letters, digits and `-`" })
        }
    }

    /// Returns the text.
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
    /// The agent that sends it.
    pub agent: AgentId,
    /// Which of its turns this is, from 0.
    pub turn: u32,
}

impl PromptId {
    /// Returns the id of the call at `index` in the reply to this request, for a service that gives none.
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
    fn tool_name_that_no_service_accepts_is_replaced_where_it_is_sent() {
        for valid in ["ls", "read_file", "a-1", "_x", &"a".repeat(64)] {
            let name = ToolName::new(valid);
            assert!(name.is_valid() && name.sendable() == valid, "{valid}");
        }
        for (name, sent) in [
            ("", "invalid_name"),
            ("a\0b", "invalid_a_b"),
            ("no such tool!", "invalid_no_such_tool_"),
            ("1st", "invalid_1st"),
            ("-x", "invalid_-x"),
            ("größe", "invalid_gr__e"),
            (&"n".repeat(5_000), &format!("invalid_{}", "n".repeat(56))),
        ] {
            let name = ToolName::new(name);
            assert!(!name.is_valid(), "{name}");
            assert_eq!(name.sendable(), sent);
            assert!(ToolName::new(name.sendable()).is_valid(), "{sent}");
        }
    }

    #[test]
    fn agent_id_names_the_agent_that_started_it() {
        let main = AgentId::new("main");
        let beneath = main.child("reader", 2);
        assert_eq!(beneath.as_str(), "main/reader-2");
        assert_eq!((main.is_subagent(), beneath.is_subagent()), (false, true));
    }

    #[test]
    fn a_call_without_an_id_is_named_after_its_prompt() {
        let prompt = PromptId { agent: AgentId::new("main"), turn: 3 };
        assert_eq!(prompt.call(1).as_str(), "main#3-1");
    }
}
