//! Tokens by kind, costs by model, and what the budgets leave.

use host_agent::{Cost, DayError, DayLimits, DaySpending, ModelSpending};
use host_message::Usage;
use host_sessions::report::run_stats::{count, estimate, list_prices, of_cache};
use host_text::exact;

use crate::page::{Line, Page};
use crate::session::costs::CostReport;

/// Width of the labels.
const LABELS: usize = 10;

/// The page.
pub fn page(report: &CostReport) -> Page {
    let mut page = Page::default();
    let mut line = |label: &str, words: &str| page.push(Line::new(format!("{label:LABELS$}{words}")).indented(LABELS));
    if report.models.is_empty() {
        line("tokens", "none used in this conversation yet");
    } else {
        line("tokens", &tokens(report.usage()));
    }
    if let Some(charge) = report.charge() {
        line("cost", &format!("{}{}", charge.cost, estimate(list_prices(charge))));
    }
    for (number, (id, ModelSpending { usage, charge })) in report.models.iter().enumerate() {
        let cost = charge.map_or_else(|| "no price".to_owned(), |charge| format!("cost {}", charge.cost));
        line(if number == 0 { "models" } else { "" }, &format!("{}: {}, {cost}", exact(id), tokens(*usage)));
    }
    line("budget", &of_a_prompt(report));
    if let Some(day) = &report.day {
        line("today", &of_the_day(day, report.day_limits));
    }
    for id in report.without_price() {
        page.push(Line::new(format!(
            "To see what {0} costs, set `price` under `[models.\"{0}\"]` in the configuration.",
            exact(id)
        )));
    }
    page
}

/// The tokens by kind.
fn tokens(usage: Usage) -> String {
    let Usage { input, output, thought, .. } = usage;
    let cached = of_cache(usage.cached, usage.cache_write).map(|cached| format!(" ({cached})")).unwrap_or_default();
    let thought = if thought > 0 { format!(", {} thinking", count(thought)) } else { String::new() };
    format!("{} in{cached}, {} out{thought}", count(input), count(output))
}

/// What a prompt may use, and what the last one used.
fn of_a_prompt(report: &CostReport) -> String {
    let cost = report.last.whole_cost();
    let used = report.last.tokens();
    let about = if report.last.estimated > 0 { "about " } else { "" };
    let limits = [
        report.limits.tokens.map(|limit| format!("{about}{} of {} tokens", count(used), count(limit))),
        report.limits.cost.map(|limit| format!("{about}{cost} of {limit}")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    match limits.as_slice() {
        [] => "no limit for a prompt (`max_tokens` and `max_cost` under `[run]` set one)".to_owned(),
        limits => format!("the last prompt used {}", limits.join(" and ")),
    }
}

/// What all runs of the day have used, and what is left of its budget.
fn of_the_day(day: &Result<DaySpending, DayError>, limits: DayLimits) -> String {
    let DaySpending { day, tokens, cost } = match day {
        Ok(day) => day,
        Err(error) => return exact(&error.to_string()).into_owned(),
    };
    let of = |limit: Option<String>| limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    let limited = limits != DayLimits::default();
    let tokens = format!("{}{} tokens", count(*tokens), of(limits.tokens.map(count)));
    let cost = match (*cost == Cost::default(), limits.cost) {
        (true, None) => String::new(),
        (_, limit) => format!(", cost {cost}{}", of(limit.map(|limit| limit.to_string()))),
    };
    let no_limit =
        if limited { "" } else { "; no limit (`tokens_per_day` and `cost_per_day` under `[budget]` set one)" };
    format!("{tokens}{cost} by all runs of {day} (UTC){no_limit}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use host_agent::{Charge, PriceBasis, Spending, TreeLimits};
    use jiff::civil::Date;

    use super::*;

    fn day() -> Date {
        "2026-11-23".parse().expect("a day")
    }

    #[test]
    fn cost_names_models_without_a_price() {
        let usage = Usage { input: 12_345, cached: 8_000, output: 567, thought: 9, cache_write: 2_000 };
        let one = Usage { input: 1_000, output: 5, ..Usage::default() };
        let charge =
            Charge { cost: Cost::from_amount(0.0123), basis: PriceBasis::Listed(jiff::civil::date(2026, 11, 27)) };
        let models = [
            ("g/x", ModelSpending { usage, charge: Some(charge) }),
            ("o\u{1b}/y", ModelSpending { usage: one, charge: None }),
        ];
        let report = CostReport {
            models: models.map(|(id, spending)| (id.to_owned(), spending)).into(),
            last: Spending { usage: one, ..Spending::default() },
            limits: TreeLimits { tokens: Some(50_000), ..TreeLimits::default() },
            day: Some(Ok(DaySpending { day: day(), tokens: 20_000, cost: Cost::from_amount(0.5) })),
            day_limits: DayLimits { tokens: None, cost: Some(Cost::from_amount(3.0)) },
        };
        let expected = "tokens    13.3k in (8000 cached, 2000 put into the cache), 572 out, 9 thinking\n\
                        cost      0.0123 (estimate in USD, list prices of 2026-11-27)\n\
                        models    g/x: 12.3k in (8000 cached, 2000 put into the cache), 567 out, 9 thinking, cost 0.0123\n          \
                        o\\u{1b}/y: 1000 in, 5 out, no price\n\
                        budget    the last prompt used 1005 of 50.0k tokens\n\
                        today     20.0k tokens, cost 0.50 of 3.00 by all runs of 2026-11-23 (UTC)\n\
                        To see what o\\u{1b}/y costs, set `price` under `[models.\"o\\u{1b}/y\"]` in the configuration.\n";
        assert_eq!(page(&report).text(), expected);
        let nothing = CostReport {
            models: BTreeMap::new(),
            last: Spending::default(),
            limits: TreeLimits::default(),
            day: None,
            day_limits: DayLimits::default(),
        };
        assert_eq!(
            page(&nothing).text(),
            "tokens    none used in this conversation yet\n\
             budget    no limit for a prompt (`max_tokens` and `max_cost` under `[run]` set one)\n"
        );
        let today = Ok(DaySpending { day: day(), tokens: 7, cost: Cost::default() });
        let words = "7 tokens by all runs of 2026-11-23 (UTC); no limit (`tokens_per_day` and `cost_per_day` under `[budget]` \
                     set one)";
        assert_eq!(of_the_day(&today, DayLimits::default()), words);
    }
}
