//! How much a run may do without asking.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a run may do without asking, from the least to the most. The mode never changes by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// Reading only, whatever else was granted.
    Plan,
    /// Reading, and what else was granted.
    #[default]
    Default,
    /// Also changing files of the workspace.
    AutoEdit,
    /// Also running programs that are confined to the workspace and reach no server.
    Auto,
    /// Also running programs and fetching from public addresses.
    Yolo,
}

/// A text that is not the name of a mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no approval mode `{name}`; the modes are `plan`, `default`, `auto-edit`, `auto` and `yolo`")]
pub struct UnknownMode {
    /// The text, safe for a terminal.
    pub name: String,
}

impl ApprovalMode {
    /// All modes, in their order.
    pub const ALL: [Self; 5] = [Self::Plan, Self::Default, Self::AutoEdit, Self::Auto, Self::Yolo];

    /// Describes what a run may do in it without asking.
    pub fn about(self) -> &'static str {
        match self {
            Self::Plan => "reads only, whatever else was granted; asks nothing",
            Self::Default => "reads, and does what else was granted; asks before the rest",
            Self::AutoEdit => "also changes files of the workspace without asking",
            Self::Auto => "also runs confined programs, which reach no server; asks before the rest",
            Self::Yolo => "also runs programs and fetches without asking",
        }
    }

    /// Returns its name in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Default => "default",
            Self::AutoEdit => "auto-edit",
            Self::Auto => "auto",
            Self::Yolo => "yolo",
        }
    }

    /// Returns the mode after this one for a key that goes through them: from `default` to the less careful ones, then
    /// `plan`. Never [`Self::Yolo`], which has to be named.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Default => Self::AutoEdit,
            Self::AutoEdit => Self::Auto,
            Self::Auto => Self::Plan,
            Self::Plan | Self::Yolo => Self::Default,
        }
    }
}

impl fmt::Display for ApprovalMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ApprovalMode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        let known = Self::ALL.into_iter().find(|mode| mode.name() == name);
        known.ok_or_else(|| UnknownMode { name: name.chars().take(64).flat_map(char::escape_debug).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_as_its_mode() {
        for mode in ApprovalMode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
            assert_eq!(serde_json::to_string(&mode).expect("a name"), format!("\"{mode}\""));
        }
        assert!(ApprovalMode::ALL.is_sorted());
    }

    // promise conversation.yolo: Going through the approval modes with a key never leads to `yolo`.
    #[test]
    fn mode_yolo_is_never_the_next_one() {
        assert!(ApprovalMode::ALL.iter().all(|mode| mode.next() != ApprovalMode::Yolo));
        let mut mode = ApprovalMode::Yolo;
        let seen: Vec<_> = std::iter::from_fn(|| {
            mode = mode.next();
            Some(mode)
        })
        .take(5)
        .map(|mode| mode.name())
        .collect();
        assert_eq!(seen, ["default", "auto-edit", "auto", "plan", "default"]);
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_names() {
        let error = "yoloo\u{1b}[2J".parse::<ApprovalMode>().expect_err("no mode").to_string();
        assert!(ApprovalMode::ALL.iter().all(|mode| error.contains(mode.name())), "{error}");
        assert!(!error.contains('\u{1b}'), "{error:?}");
    }
}
