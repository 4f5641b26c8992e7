//! How a model of Anthropic's thinks, and how that restricts the other settings.
//!
//! Older models accept a budget of tokens; since Claude Opus 4.7 a model decides itself, and accepts neither a budget
//! nor a temperature. The service rejects settings that a model does not support, so the model's name decides what is
//! sent. An unknown name belongs to a different server, which supports the original format.

use serde::Serialize;

use crate::{Effort, Settings};

/// The settings of a request that concern thinking or depend on it.
#[derive(Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) thinking: Option<Thinking>,
    /// How much a model that decides itself is to think.
    pub(super) effort: Option<&'static str>,
    /// The service requires it. Thoughts count towards it.
    pub(super) max_tokens: u32,
    pub(super) temperature: Option<f32>,
    pub(super) top_p: Option<f32>,
}

/// The request's `thinking`.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Thinking {
    Enabled { budget_tokens: u32 },
    Adaptive { display: &'static str },
    Disabled,
}

/// The most tokens of an answer by default: every model with a budget can answer with as many.
const USUAL_ANSWER: u32 = 32_000;

/// The same for models that decide themselves: all of them can answer with twice as many.
const USUAL_ADAPTIVE_ANSWER: u32 = 64_000;

/// The budget of a model without a limit. More gains little, according to the service's documentation.
const LARGE_BUDGET: u32 = 24_000;

/// The smallest budget that the service accepts.
const SMALLEST_BUDGET: u32 = 1_024;

/// The tokens that are left for the answer if the budget alone takes all that was allowed.
const ROOM_TO_ANSWER: u32 = 8_000;

/// The smallest top-p that the service accepts together with thinking; the largest is 1.
const LEAST_TOP_P: f32 = 0.95;

/// The way in which a model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Not at all.
    Never,
    /// Within a budget, if requested.
    Budget,
    /// As it decides, if requested; it can be switched off.
    Adaptive,
    /// As it decides, always.
    Always,
    /// As a different service decides; the format expresses it as a budget.
    Foreign,
}

/// Returns what to send. `may_think` is false if the conversation does not allow it.
pub(super) fn plan(model: &str, settings: &Settings, may_think: bool) -> Plan {
    let way = way(model);
    // A limit is mandatory; models that think need more room, since thoughts count.
    let usual = match way {
        Way::Never | Way::Budget | Way::Foreign => USUAL_ANSWER,
        Way::Adaptive | Way::Always => USUAL_ADAPTIVE_ANSWER,
    };
    let mut max_tokens = settings.max_output_tokens.unwrap_or(usual).max(1);
    // A budget wins. An effort without one means a budget where the model takes only that.
    let effort = settings.effort.filter(|_| settings.thinking_budget.is_none());
    let thinking = match (way, settings.thinking_budget.or(effort.map(Effort::budget))) {
        // What a model does not support is left out: the service rejects it and does not ignore it.
        (Way::Never, _) | (_, None) | (Way::Budget | Way::Foreign | Way::Always, Some(0)) => None,
        (Way::Adaptive, Some(0)) => Some(Thinking::Disabled),
        (Way::Adaptive | Way::Always, Some(_)) => Some(Thinking::Adaptive { display: "summarized" }),
        // A conversation with calls whose thinking is not there may not begin to think in between.
        (Way::Budget | Way::Foreign, Some(_)) if !may_think => None,
        (Way::Budget | Way::Foreign, Some(asked)) => {
            // A negative budget is unlimited: most of the allowed tokens, and the rest for the answer.
            let asked = u32::try_from(asked).unwrap_or((max_tokens / 4 * 3).min(LARGE_BUDGET));
            // The service rejects a smaller one.
            let budget_tokens = asked.max(SMALLEST_BUDGET);
            // The budget is a part of the limit, and the answer needs some of it.
            if budget_tokens >= max_tokens {
                max_tokens = budget_tokens.saturating_add(max_tokens.min(ROOM_TO_ANSWER));
            }
            Some(Thinking::Enabled { budget_tokens })
        }
    };
    let (temperature, top_p) = match (way, &thinking) {
        (Way::Adaptive | Way::Always, _) => (None, None),
        // With thinking the service takes no other values.
        (_, Some(_)) => (None, settings.top_p.filter(|top_p| *top_p >= LEAST_TOP_P)),
        (Way::Foreign, None) => (settings.temperature, settings.top_p),
        // Only one of the two: newer ones of these models reject both. The service's scale ends at 1.
        (Way::Never | Way::Budget, None) => {
            (settings.temperature.map(|heat| heat.min(1.0)), settings.top_p.filter(|_| settings.temperature.is_none()))
        }
    };
    let effort = match way {
        Way::Adaptive | Way::Always => effort.filter(|effort| *effort != Effort::None).map(Effort::name),
        Way::Never | Way::Budget | Way::Foreign => None,
    };
    Plan { thinking, effort, max_tokens, temperature, top_p }
}

/// Decides by the names in <https://platform.claude.com/docs/en/about-claude/models>:
/// `claude-FAMILY-MAJOR[-MINOR][-DATE]`, in older ones `claude-MAJOR-MINOR-FAMILY-DATE`. A gateway may add a prefix.
fn way(model: &str) -> Way {
    let Some(at) = model.find("claude-") else { return Way::Foreign };
    let mut words = model[at..].split(['-', '@', ':']).skip(1);
    let family = words.next().unwrap_or_default();
    let mut number = || words.next().filter(|word| word.len() <= 2).and_then(|word| word.parse::<u32>().ok());
    match family {
        "3" if number() == Some(7) => Way::Budget,
        "2" | "2.0" | "2.1" | "3" | "instant" => Way::Never,
        "fable" | "mythos" => Way::Always,
        _ => match (number(), number()) {
            (Some(4), minor) if minor.unwrap_or(0) <= 6 => Way::Budget,
            _ => Way::Adaptive,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anthropic_thinking_depends_on_the_name_of_the_model() {
        let check = |model: &str, expected: Way| assert_eq!(way(model), expected, "{model}");
        check("claude-opus-4-20250514", Way::Budget);
        check("claude-sonnet-4-5-20250929", Way::Budget);
        check("claude-haiku-4-5", Way::Budget);
        check("claude-opus-4-6", Way::Budget);
        check("claude-3-7-sonnet-20250219", Way::Budget);
        check("us.anthropic.claude-sonnet-4-5-20250929-v1:0", Way::Budget);
        check("claude-opus-4-5@20251101", Way::Budget);
        check("claude-3-haiku-20240307", Way::Never);
        check("claude-2.1", Way::Never);
        check("claude-opus-4-7", Way::Adaptive);
        check("claude-sonnet-5", Way::Adaptive);
        check("claude-opus-5-20270101", Way::Adaptive);
        check("claude-somebody", Way::Adaptive);
        check("claude-fable-5-1", Way::Always);
        check("claude-mythos-preview", Way::Always);
        check("qwen3:8b", Way::Foreign);
        check("", Way::Foreign);
    }

    #[test]
    fn anthropic_settings_that_a_model_does_not_take_are_not_sent() {
        let check = |model: &str, budget: Option<i32>, max: Option<u32>, expected: Plan| {
            let settings = Settings {
                temperature: Some(1.5),
                top_p: Some(0.95),
                thinking_budget: budget,
                max_output_tokens: max,
                ..Settings::default()
            };
            assert_eq!(plan(model, &settings, true), expected, "{model} {budget:?} {max:?}");
        };
        let warm = |max_tokens| Plan { thinking: None, effort: None, max_tokens, temperature: Some(1.0), top_p: None };
        let thinking = |budget_tokens, max_tokens| Plan {
            thinking: Some(Thinking::Enabled { budget_tokens }),
            effort: None,
            max_tokens,
            temperature: None,
            top_p: Some(0.95),
        };
        let adaptive =
            |thinking, max_tokens| Plan { thinking, effort: None, max_tokens, temperature: None, top_p: None };
        check("claude-haiku-4-5", None, None, warm(32_000));
        check("claude-haiku-4-5", Some(0), Some(100), warm(100));
        check("claude-haiku-4-5", Some(-1), None, thinking(24_000, 32_000));
        check("claude-haiku-4-5", Some(-1), Some(8_000), thinking(6_000, 8_000));
        check("claude-haiku-4-5", Some(-1), Some(500), thinking(1_024, 1_524));
        check("claude-haiku-4-5", Some(5), None, thinking(1_024, 32_000));
        check("claude-haiku-4-5", Some(40_000), None, thinking(40_000, 48_000));
        check("claude-haiku-4-5", Some(i32::MAX), Some(u32::MAX), thinking(i32::MAX as u32, u32::MAX));
        check("claude-3-haiku-20240307", Some(-1), None, warm(32_000));
        check("claude-opus-5", None, None, adaptive(None, 64_000));
        check("claude-opus-5", Some(0), None, adaptive(Some(Thinking::Disabled), 64_000));
        let shown = || Some(Thinking::Adaptive { display: "summarized" });
        check("claude-opus-5", Some(2_000), Some(9_000), adaptive(shown(), 9_000));
        check("claude-fable-5", Some(0), None, adaptive(None, 64_000));
        check("claude-fable-5", Some(-1), None, adaptive(shown(), 64_000));
        let free = Plan { thinking: None, effort: None, max_tokens: 32_000, temperature: Some(1.5), top_p: Some(0.95) };
        check("qwen3", None, None, free);
    }

    #[test]
    fn anthropic_effort_is_sent_as_the_model_takes_it_and_a_budget_wins() {
        let plan = |model: &str, effort, thinking_budget| {
            let settings = Settings { effort: Some(effort), thinking_budget, ..Settings::default() };
            let Plan { thinking, effort, .. } = plan(model, &settings, true);
            (thinking, effort)
        };
        let adaptive = || Some(Thinking::Adaptive { display: "summarized" });
        assert_eq!(plan("claude-opus-5-5", Effort::Xhigh, None), (adaptive(), Some("xhigh")));
        assert_eq!(plan("claude-opus-5-5", Effort::None, None), (Some(Thinking::Disabled), None));
        assert_eq!(plan("claude-fable-5", Effort::Low, None), (adaptive(), Some("low")));
        assert_eq!(plan("claude-opus-5-5", Effort::Low, Some(-1)), (adaptive(), None));
        let budget = |budget_tokens| Some(Thinking::Enabled { budget_tokens });
        assert_eq!(plan("claude-haiku-4-5", Effort::Medium, None), (budget(8_192), None));
        assert_eq!(plan("claude-haiku-4-5", Effort::Max, None), (budget(24_000), None));
        assert_eq!(plan("claude-haiku-4-5", Effort::None, None), (None, None));
        assert_eq!(plan("claude-3-haiku-20240307", Effort::High, None), (None, None));
    }

    #[test]
    fn a_top_p_beside_a_budget_is_sent_only_where_it_is_taken() {
        let settings = Settings { top_p: Some(0.5), thinking_budget: Some(-1), ..Settings::default() };
        assert_eq!(plan("claude-haiku-4-5", &settings, true).top_p, None);
        assert_eq!(plan("claude-haiku-4-5", &settings, false).top_p, Some(0.5));
    }
}
