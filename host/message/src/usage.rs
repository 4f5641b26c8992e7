//! The cost of a reply, and why it ended.

use serde::{Deserialize, Serialize};

/// The tokens of one reply, or of several added up, as the model's service counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, those from the cache included.
    pub input: u64,
    /// Tokens of the answer, thoughts not included.
    pub output: u64,
    /// The tokens sent that the service had cached.
    pub cached: u64,
    /// Tokens spent on thinking.
    pub thought: u64,
    /// The tokens sent that the service put into its cache for later requests, if it says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    /// Returns the sum of all tokens sent and received.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.thought)
    }

    /// Adds another reply's tokens.
    pub fn add(&mut self, other: Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.thought = self.thought.saturating_add(other.thought);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done, or requests tool calls.
    Stop,
    /// It reached the most tokens that one reply may have.
    MaxTokens,
    /// A safety rule of the service stopped it.
    Safety,
    /// It was repeating text that it must not repeat.
    Recitation,
    /// It tried to call a tool and the service could not read the call.
    MalformedFunctionCall,
    /// Any other reason, as the service names it.
    Other(String),
}
