//! Statistics of a run: counted from its events while it is under way, and reported at its end, to programs and users.
//!
//! Time is divided into that of the model, of the tools and of the user; a subagent's time is that of its call.
//! Deliberately not here: tokens and costs, which the run itself counts, since limits depend on them.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use host_agent::{Charge, Event, EventKind, PriceBasis, RunResult};
use host_journal::{CallStatus, Fact, TerminateReason};
use host_message::{CallId, Usage};
use host_text::{counted, exact};
use host_tool::{Decided, PausableClock};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of tools in the table. JSON has all.
const SHOWN_TOOLS: usize = 20;

/// Statistics of a run so far.
pub struct RunStats {
    /// The id of the session, once the run has begun.
    pub session: Option<String>,
    /// The model that answers.
    pub model: String,
    started: Instant,
    phases: Phases,
    calls: BTreeMap<String, Calls>,
    subagents: BTreeMap<String, Subagent>,
}

/// The current phase, and the time spent in each.
struct Phases {
    /// Start of the time that is not counted yet.
    since: Instant,
    /// Time for which the user had been asked until then.
    held: Duration,
    run_clock: PausableClock,
    /// The calls that run.
    running: HashSet<CallId>,
    model: Duration,
    tools: Duration,
}

/// Totals of the runs of one subagent; they are part of the totals of the whole run.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Subagent {
    runs: u64,
    /// Runs that reached their end.
    goals: u64,
    turns: u64,
    tokens: u64,
}

/// The calls of one tool, by how they ended.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Calls {
    success: u64,
    /// Failed, or refused.
    error: u64,
    cancelled: u64,
    duration_ms: u64,
    decisions: Decisions,
}

/// Decisions about calls before they ran; a call that could not have run anyway is not counted.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Decisions {
    /// The call was allowed without a question.
    allowed: u64,
    /// The user approved the call.
    approved: u64,
    /// The user changed the call and approved it.
    changed: u64,
    /// The user rejected the call.
    declined: u64,
    /// A rule or the grants denied the call, or no user was there to ask.
    denied: u64,
}

impl Decisions {
    fn count(&mut self, decided: Option<Decided>) {
        match decided {
            Some(Decided::Allowed) => self.allowed += 1,
            Some(Decided::Approved) => self.approved += 1,
            Some(Decided::Changed) => self.changed += 1,
            Some(Decided::Rejected) => self.declined += 1,
            Some(Decided::Denied) => self.denied += 1,
            None => {}
        }
    }

    /// Returns the decisions worth mentioning to the user.
    fn words(self) -> String {
        let counts =
            [(self.approved + self.changed, "approved"), (self.declined, "declined"), (self.denied, "refused")];
        let words = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// The statistics of a run.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Statistics<'a> {
    /// From the start to the end.
    duration_ms: u64,
    /// Of that, while the model was asked; pauses before it is asked again are part of it.
    model_ms: u64,
    /// Of that, while calls ran, subagents among them.
    tools_ms: u64,
    /// Of that, while the user was asked.
    user_ms: u64,
    turns: u32,
    tokens: Tokens,
    /// In the currency of the configured prices, or in US dollars by list prices; missing without a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    /// The day of the list prices by which the cost, or a part of it, is estimated; missing if all prices are
    /// configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    list_prices: Option<Date>,
    /// By the tool's name.
    tools: &'a BTreeMap<String, Calls>,
    /// By the agent's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    subagents: &'a BTreeMap<String, Subagent>,
}

/// Tokens of all requests, including subagents and void attempts.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Tokens {
    input: u64,
    output: u64,
    /// Of the input, what the service had cached.
    cached: u64,
    /// Of the input, what the service put into its cache; left out if it says nothing of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write: Option<u64>,
    /// Tokens of the model's thoughts.
    thought: u64,
    total: u64,
}

impl RunStats {
    /// Counts from now on; time while `run_clock` is held is the user's.
    pub fn new(run_clock: PausableClock) -> Self {
        let now = Instant::now();
        Self {
            session: None,
            model: String::new(),
            started: now,
            phases: Phases {
                since: now,
                held: run_clock.paused_for(),
                run_clock,
                running: HashSet::new(),
                model: Duration::ZERO,
                tools: Duration::ZERO,
            },
            calls: BTreeMap::new(),
            subagents: BTreeMap::new(),
        }
    }

    /// Counts an event.
    pub fn count(&mut self, event: &Event<'_>) {
        let is_subagent = event.agent_id.is_subagent();
        match event.kind {
            // A run beneath another begins and ends within it.
            EventKind::RunRequested { .. } if is_subagent => {}
            EventKind::Fact(Fact::RunEnded { terminate_reason, turns, usage, .. }) if is_subagent => {
                let subagent = self.subagents.entry(event.agent.to_owned()).or_default();
                subagent.runs += 1;
                subagent.goals += u64::from(*terminate_reason == TerminateReason::Goal);
                subagent.turns = subagent.turns.saturating_add(u64::from(*turns));
                subagent.tokens = subagent.tokens.saturating_add(usage.total());
            }
            EventKind::RunRequested { model, session } => {
                self.model = model.to_owned();
                self.session = session.map(ToString::to_string);
                // The time before belongs to neither the model nor a tool.
                self.phases.skip();
            }
            EventKind::Fact(Fact::CallStarted { call_id, .. }) if !is_subagent => self.phases.begin(call_id),
            EventKind::Fact(Fact::CallSettled { call_id, end, .. }) => {
                if !is_subagent {
                    self.phases.end(call_id);
                }
                let calls = self.calls.entry(end.tool().to_owned()).or_default();
                match end.status {
                    CallStatus::Success => calls.success += 1,
                    CallStatus::Error { .. } => calls.error += 1,
                    CallStatus::Cancelled | CallStatus::Interrupted => calls.cancelled += 1,
                }
                calls.duration_ms += end.duration_ms;
                calls.decisions.count(end.decided);
            }
            EventKind::Fact(Fact::RunEnded { .. }) => self.phases.pass(),
            _ => {}
        }
    }

    /// The statistics at the end.
    pub fn statistics(&self, result: &RunResult) -> Statistics<'_> {
        let Usage { input, output, cached, thought, cache_write } = result.usage;
        let cache_write = (cache_write > 0).then_some(cache_write);
        Statistics {
            duration_ms: milliseconds(self.started.elapsed()),
            model_ms: milliseconds(self.phases.model),
            tools_ms: milliseconds(self.phases.tools),
            user_ms: milliseconds(self.phases.run_clock.paused_for()),
            turns: result.turns,
            tokens: Tokens { input, output, cached, cache_write, thought, total: result.usage.total() },
            cost: result.cost.map(|charge| charge.cost.amount()),
            list_prices: result.cost.and_then(list_prices),
            tools: &self.calls,
            subagents: &self.subagents,
        }
    }
}

impl Phases {
    /// Counts the time until now for its phase; the run clock counts the time of the user.
    fn pass(&mut self) {
        let (since, held) = (self.since, self.held);
        self.skip();
        let passed = self.since.saturating_duration_since(since).saturating_sub(self.held.saturating_sub(held));
        match self.running.is_empty() {
            true => self.model += passed,
            false => self.tools += passed,
        }
    }

    /// Skips the time until now without counting it.
    fn skip(&mut self) {
        self.since = Instant::now();
        self.held = self.run_clock.paused_for();
    }

    fn begin(&mut self, call: &CallId) {
        self.pass();
        self.running.insert(call.clone());
    }

    /// A call that never ran ends too.
    fn end(&mut self, call: &CallId) {
        self.pass();
        self.running.remove(call);
    }
}

/// Returns what of the tokens sent the service had cached and put into its cache, in words; `None` if it says nothing.
pub fn of_cache(cached: u64, cache_write: u64) -> Option<String> {
    let cached = (cached > 0).then(|| format!("{} cached", count(cached)));
    let written = (cache_write > 0).then(|| format!("{} put into the cache", count(cache_write)));
    let words: Vec<String> = cached.into_iter().chain(written).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

impl Statistics<'_> {
    /// Formats the statistics in one line for a user.
    pub fn line(&self) -> String {
        let Self { turns, tokens, .. } = self;
        let mut line = counted(turns, "turn");
        // A string takes everything.
        let _ = write!(line, " · {} tokens in", count(tokens.input));
        if let Some(words) = of_cache(tokens.cached, tokens.cache_write.unwrap_or_default()) {
            let _ = write!(line, " ({words})");
        }
        let _ = write!(line, ", {} out", count(tokens.output));
        if tokens.thought > 0 {
            let _ = write!(line, ", {} thought", count(tokens.thought));
        }
        if let Some(cost) = self.cost {
            let _ = write!(line, " · cost {cost:.4}{}", estimate(self.list_prices));
        }
        let _ = write!(line, " · {} (model {}", seconds(self.duration_ms), seconds(self.model_ms));
        for (whose, time) in [("tools", self.tools_ms), ("you", self.user_ms)] {
            if time > 0 {
                let _ = write!(line, ", {whose} {}", seconds(time));
            }
        }
        line.push(')');
        line
    }

    /// Formats the statistics as a table for a user: the line, and the tools that were called.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n", self.line());
        let mut shown: Vec<_> = self.tools.iter().collect();
        shown.sort_by_key(|(_, calls)| std::cmp::Reverse(calls.success + calls.error + calls.cancelled));
        let width = shown.iter().take(SHOWN_TOOLS).map(|(name, _)| exact(name).chars().count()).max().unwrap_or(0);
        for (name, Calls { success, error, cancelled, duration_ms, decisions }) in shown.iter().take(SHOWN_TOOLS) {
            let name = exact(name);
            let _ = write!(text, "  {name:width$}  {success} done");
            for (what, number) in [("failed", error), ("cancelled", cancelled)] {
                if *number > 0 {
                    let _ = write!(text, ", {number} {what}");
                }
            }
            let decisions = Some(decisions.words()).filter(|words| !words.is_empty());
            let decisions = decisions.map(|words| format!(" ({words})")).unwrap_or_default();
            let _ = writeln!(text, ", {}{decisions}", seconds(*duration_ms));
        }
        if shown.len() > SHOWN_TOOLS {
            let _ = writeln!(text, "  … and {}", counted(shown.len() - SHOWN_TOOLS, "more tool"));
        }
        for (name, Subagent { runs, goals, turns, tokens }) in self.subagents {
            let name = exact(name);
            let tokens = count(*tokens);
            let _ = writeln!(
                text,
                "  {name}: {goals} of {runs} reached their end, {}, {tokens} tokens",
                counted(turns, "turn")
            );
        }
        text
    }
}

/// Returns the day of the list prices that a cost is estimated by; `None` if all its prices are configured.
pub fn list_prices(charge: Charge) -> Option<Date> {
    match charge.basis {
        PriceBasis::Configured => None,
        PriceBasis::Listed(read) => Some(read),
    }
}

/// Returns the words behind a cost that is estimated by list prices; empty for any other.
pub fn estimate(list_prices: Option<Date>) -> String {
    list_prices.map(|read| format!(" (estimate in USD, list prices of {read})")).unwrap_or_default()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100)
}

/// Formats a number for a reader: `9999`, `12.3k`, `1.2M`.
pub fn count(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{}.{}k", number / 1000, number % 1000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_to_whose_it_was() {
        let mut phases = RunStats::new(PausableClock::default()).phases;
        let long_ago = |phases: &mut Phases, seconds| {
            phases.since = phases.since.checked_sub(Duration::from_secs(seconds)).expect("the machine runs for longer");
        };
        let (one, other) = (CallId::new("1"), CallId::new("2"));
        long_ago(&mut phases, 5);
        phases.begin(&one);
        long_ago(&mut phases, 3);
        phases.begin(&other);
        long_ago(&mut phases, 2);
        phases.end(&one);
        long_ago(&mut phases, 1);
        // One that never ran ends nothing.
        phases.end(&CallId::new("3"));
        long_ago(&mut phases, 1);
        phases.end(&other);
        long_ago(&mut phases, 4);
        phases.pass();
        assert_eq!((phases.model.as_secs(), phases.tools.as_secs()), (9, 7));
    }

    #[test]
    fn run_stats_are_shown_to_the_user_as_a_line_and_a_table() {
        let calls =
            |success, error| Calls { success, error, cancelled: 0, duration_ms: 1234, decisions: Decisions::default() };
        let tools = BTreeMap::from([("ls".to_owned(), calls(1, 0)), ("a\u{1b}b".to_owned(), calls(2, 1))]);
        let subagents = BTreeMap::new();
        let statistics = Statistics {
            duration_ms: 12_345,
            model_ms: 10_000,
            tools_ms: 2_100,
            user_ms: 0,
            turns: 3,
            tokens: Tokens { input: 12_345, output: 67, cached: 8_000, cache_write: None, thought: 0, total: 12_412 },
            cost: Some(0.5),
            list_prices: None,
            tools: &tools,
            subagents: &subagents,
        };
        let line = "3 turns · 12.3k tokens in (8000 cached), 67 out · cost 0.5000 · 12.3 s (model 10.0 s, tools 2.1 s)";
        assert_eq!(statistics.line(), line);
        let rows = "  a\\u{1b}b  2 done, 1 failed, 1.2 s\n  ls        1 done, 1.2 s\n";
        assert_eq!(statistics.table(), format!("{line}\n{rows}"));
        let estimated = Statistics { list_prices: Some(jiff::civil::date(2026, 11, 27)), ..statistics };
        let words = "cost 0.5000 (estimate in USD, list prices of 2026-11-27)";
        assert!(estimated.line().contains(words), "{}", estimated.line());
    }
}
