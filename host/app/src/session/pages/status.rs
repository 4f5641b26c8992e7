//! The status of a session in the words of one line.

use host_sessions::report::answer_line::money;
use host_text::excerpt;

use super::processes::addresses;
use crate::session::status::SessionStatus;

/// The longest name of a model that is shown, in characters.
const MODEL: usize = 40;

/// The parts of a line, in their order, each with its importance: where there is no room, the part with the lowest
/// number is left out first. That is the mode, which a frontend shows beside the input too.
pub fn parts(status: &SessionStatus) -> Vec<(String, u8)> {
    let SessionStatus { model, effort, mode, context, tokens, cost, branch, background, ports } = status;
    // `/model` has the provider.
    let name = excerpt(model.rsplit('/').next().unwrap_or(model), MODEL);
    let name = effort.map_or_else(|| name.clone(), |effort| format!("{name} {effort}"));
    let context = context.percent().map(|percent| format!("{percent} % of {}", count(context.window)));
    let tokens = (*tokens > 0).then(|| format!("{} tokens", count(*tokens)));
    let background = (*background > 0).then(|| format!("{background} in background"));
    let ports = (!ports.is_empty()).then(|| addresses(ports));
    [
        (Some(name), 6),
        (Some(mode.name().to_owned()), 1),
        (context, 5),
        (tokens, 3),
        (cost.map(money), 4),
        (branch.clone(), 2),
        (background, 5),
        (ports, 5),
    ]
    .into_iter()
    .filter_map(|(words, importance)| Some((words?, importance)))
    .collect()
}

/// A number of tokens in a few characters.
fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use host_agent::{Charge, Cost, PriceBasis};
    use host_plugin::Forwarded;
    use host_tool::ApprovalMode;

    use super::*;
    use crate::session::status::ContextUse;

    fn row(status: &SessionStatus) -> String {
        parts(status).into_iter().map(|(words, _)| words).collect::<Vec<_>>().join(" · ")
    }

    #[test]
    fn status_parts_that_are_unknown_are_left_out() {
        let empty = SessionStatus { model: "openai/gpt-5.5".to_owned(), ..SessionStatus::default() };
        assert_eq!(row(&empty), "gpt-5.5 · default");
        let full = SessionStatus {
            mode: ApprovalMode::Plan,
            context: ContextUse { tokens: 25_000, window: 200_000 },
            tokens: 31_900,
            cost: Some(Charge {
                cost: Cost::from_amount(0.123),
                basis: PriceBasis::Listed(jiff::civil::date(2026, 11, 27)),
            }),
            branch: Some("main".to_owned()),
            background: 1,
            ports: vec![Forwarded { inside: 5173, outside: 5173 }, Forwarded { inside: 8000, outside: 40123 }],
            ..empty
        };
        let expected = "gpt-5.5 · plan · 12 % of 200k · 31k tokens · $0.12 · main · 1 in background · \
                        localhost:5173 localhost:40123 (for 8000)";
        assert_eq!(row(&full), expected);
        let strange = SessionStatus { model: "scripted:a/b\u{1b}[2J".to_owned(), ..SessionStatus::default() };
        assert_eq!(row(&strange), "b\\u{1b}[2J · default");
    }

    #[test]
    fn money_and_counts_are_short() {
        let cost = |amount, basis| money(Charge { cost: Cost::from_amount(amount), basis });
        assert_eq!(cost(0.0, PriceBasis::Listed(jiff::civil::date(2026, 11, 27))), "$0.00");
        assert_eq!(cost(0.001, PriceBasis::Listed(jiff::civil::date(2026, 11, 27))), "<$0.01");
        assert_eq!(cost(12.345, PriceBasis::Configured), "cost 12.35");
        for (number, words) in [(0, "0"), (999, "999"), (1_250, "1.2k"), (31_999, "31k"), (1_048_576, "1.0M")] {
            assert_eq!(count(number), words);
        }
    }
}
