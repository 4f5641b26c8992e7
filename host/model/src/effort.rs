//! How much a model thinks before it answers, in one set of words for all services.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a model thinks, from not at all to as much as it can. Each service has some of these; a catalogue says
/// which ones a model accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// No thinking.
    None,
    /// A few thoughts.
    Minimal,
    /// Little.
    Low,
    /// As much as everyday work needs.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// All that the model can do.
    Max,
}

/// A word that is not an effort.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an effort; use {list}", list = Effort::list())]
pub struct UnknownEffort(pub String);

impl Effort {
    /// All efforts, the least first.
    pub const ALL: [Self; 7] = [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// Returns its name, as users write it and services read it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Returns the names of all efforts as a list in a sentence.
    pub fn list() -> String {
        let names = Self::ALL.map(Self::name);
        let (last, others) = names.split_last().expect("there are some");
        format!("{} or {last}", others.join(", "))
    }

    /// Returns the effort that is nearest to this one among those that a model accepts: this one, else the next lower
    /// one, so that nobody pays for more than was asked for, else the lowest. `None` if the model accepts none at all.
    pub fn nearest(self, accepted: &[Self]) -> Option<Self> {
        accepted.iter().copied().filter(|effort| *effort <= self).max().or_else(|| accepted.iter().copied().min())
    }

    /// Returns the effort for a thinking budget in tokens, as Google's documentation of its OpenAI-compatible interface
    /// has it; `None` leaves it to the service, as an unlimited budget does.
    pub fn of_budget(budget: i32) -> Option<Self> {
        match u32::try_from(budget).ok()? {
            0 => Some(Self::None),
            budget if budget <= LOW => Some(Self::Low),
            budget if budget <= MEDIUM => Some(Self::Medium),
            _ => Some(Self::High),
        }
    }

    /// Returns the thinking budget in tokens for a model that takes one instead of an effort: the inverse of
    /// [`Effort::of_budget`], and no limit from [`Effort::Xhigh`] on.
    pub fn budget(self) -> i32 {
        match self {
            Self::None => 0,
            Self::Minimal | Self::Low => LOW as i32,
            Self::Medium => MEDIUM as i32,
            Self::High => HIGH,
            Self::Xhigh | Self::Max => -1,
        }
    }
}

/// The largest budgets that count as a low and a medium effort, in tokens.
const LOW: u32 = 1_024;
/// See [`LOW`].
const MEDIUM: u32 = 8_192;
/// The budget of a high effort.
const HIGH: i32 = 24_576;

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Effort {
    type Err = UnknownEffort;

    fn from_str(text: &str) -> Result<Self, UnknownEffort> {
        let found = Self::ALL.into_iter().find(|effort| effort.name() == text);
        found.ok_or_else(|| UnknownEffort(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effort_is_the_nearest_that_a_model_accepts_and_never_more() {
        let check = |wanted: Effort, accepted: &[Effort], nearest: Option<Effort>| {
            assert_eq!(wanted.nearest(accepted), nearest, "{wanted} of {accepted:?}");
        };
        let gpt = [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];
        check(Effort::Medium, &gpt, Some(Effort::Medium));
        check(Effort::Max, &gpt, Some(Effort::High));
        check(Effort::None, &gpt, Some(Effort::Minimal));
        check(Effort::Medium, &[Effort::Low, Effort::High], Some(Effort::Low));
        check(Effort::Low, &[Effort::High, Effort::Medium], Some(Effort::Medium));
        check(Effort::High, &[], None);
    }

    #[test]
    fn effort_of_a_budget_is_the_effort_that_has_it() {
        for effort in [Effort::None, Effort::Low, Effort::Medium, Effort::High] {
            assert_eq!(Effort::of_budget(effort.budget()), Some(effort));
        }
        assert_eq!(Effort::of_budget(-1), None);
        assert_eq!(Effort::of_budget(500), Some(Effort::Low));
    }

    #[test]
    fn effort_is_read_by_its_name() {
        for effort in Effort::ALL {
            assert_eq!(effort.name().parse(), Ok(effort));
        }
        let error = "huge".parse::<Effort>().expect_err("there is none");
        assert_eq!(error.to_string(), "`huge` is not an effort; use none, minimal, low, medium, high, xhigh or max");
    }
}
