//! How many words a model's answers have, for the services that let a client choose it.
//!
//! Deliberately not here: which models have the choice (`catalogue`).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How many words a model's answers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verbosity {
    /// Few.
    Low,
    /// As many as the model was made for.
    Medium,
    /// Many, with explanations.
    High,
}

/// A word that is not a verbosity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a verbosity; it is {list}", list = Verbosity::list())]
pub struct UnknownVerbosity(pub String);

impl Verbosity {
    /// All of them, the least first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// Returns its name, as users write it and services read it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// Returns the names of all of them as a list in a sentence.
    pub fn list() -> String {
        let [low, medium, high] = Self::ALL.map(Self::name);
        format!("{low}, {medium} or {high}")
    }
}

impl fmt::Display for Verbosity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Verbosity {
    type Err = UnknownVerbosity;

    fn from_str(text: &str) -> Result<Self, UnknownVerbosity> {
        let found = Self::ALL.into_iter().find(|verbosity| verbosity.name() == text);
        found.ok_or_else(|| UnknownVerbosity(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbosity_is_read_by_its_name() {
        for verbosity in Verbosity::ALL {
            assert_eq!(verbosity.name().parse(), Ok(verbosity));
        }
        let error = "wordy".parse::<Verbosity>().expect_err("there is none");
        assert_eq!(error.to_string(), "`wordy` is not a verbosity; it is low, medium or high");
    }
}
