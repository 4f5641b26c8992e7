//! Whether programs are confined.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Whether programs are confined; a later one confines more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfineMode {
    /// They run with all the rights of the user.
    #[default]
    Off,
    /// They get every wall that this machine can put up.
    Auto,
    /// They get every wall, or do not run.
    Require,
}

/// A text that is not the name of a mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a way to confine programs; use `require`, `auto` or `off`")]
pub struct UnknownConfineMode {
    /// The text, safe for a terminal.
    pub name: String,
}

impl ConfineMode {
    /// All modes, the strictest first.
    pub const ALL: [Self; 3] = [Self::Require, Self::Auto, Self::Off];

    /// Returns its name in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Require => "require",
            Self::Auto => "auto",
            Self::Off => "off",
        }
    }
}

impl fmt::Display for ConfineMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ConfineMode {
    type Err = UnknownConfineMode;

    fn from_str(name: &str) -> Result<Self, UnknownConfineMode> {
        let known = Self::ALL.into_iter().find(|mode| mode.name() == name);
        known.ok_or_else(|| UnknownConfineMode { name: name.chars().take(64).flat_map(char::escape_debug).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confine_mode_is_parsed_from_its_name() {
        for mode in ConfineMode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
        }
        let unknown = "on\n".parse::<ConfineMode>().expect_err("there is no such mode");
        assert_eq!(unknown.to_string(), "`on\\n` is not a way to confine programs; use `require`, `auto` or `off`");
    }
}
