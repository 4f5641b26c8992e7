//! Patterns of the plugins that a key may sign, as a user writes them.

use std::fmt;
use std::str::FromStr;

use host_manifest::is_name;
use serde::{Deserialize, Serialize};

/// The plugins that a key may sign: all of a publisher, or one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(String);

/// A text that is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid pattern `{0}`: use PUBLISHER/* or PUBLISHER/NAME")]
pub struct NoPattern(String);

impl Pattern {
    /// Returns whether it covers the plugin with this name. No pattern covers a plugin without a publisher.
    pub fn covers(&self, plugin: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(publisher) => plugin.strip_prefix(publisher).is_some_and(|name| !name.is_empty()),
            None => self.0 == plugin,
        }
    }
}

impl FromStr for Pattern {
    type Err = NoPattern;

    fn from_str(text: &str) -> Result<Self, NoPattern> {
        let (publisher, name) = text.split_once('/').unwrap_or_default();
        // A name holds neither a slash nor an asterisk.
        let is_one = is_name(publisher) && (name == "*" || is_name(name));
        if is_one { Ok(Self(text.to_owned())) } else { Err(NoPattern(text.chars().take(100).collect())) }
    }
}

impl TryFrom<String> for Pattern {
    type Error = NoPattern;

    fn try_from(text: String) -> Result<Self, NoPattern> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.0
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
