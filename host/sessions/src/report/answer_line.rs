//! What lies behind an answer, in a line: how long it took, how many calls, which files, what it cost, and when it
//! ended.
//!
//! Counted from the events of the runs that lead to it; calls of subagents count as its own. Deliberately not here:
//! what programs changed, which `/undo` lists.

use std::time::{Duration, Instant};

use host_agent::{Charge, Event, EventKind, PriceBasis, RunResult};
use host_journal::{CallStatus, Fact};
use host_message::Display;
use host_text::{counted, visible_line};
use jiff::Zoned;

/// The most files that are named.
const NAMED: usize = 3;

/// What leads to an answer.
#[derive(Debug)]
pub struct AnswerLine {
    began: Instant,
    calls: u64,
    /// The files that calls changed, in the order of their first change.
    files: Vec<String>,
    /// Whether the answer has come: the run that begins next is for another one.
    is_over: bool,
}

impl Default for AnswerLine {
    fn default() -> Self {
        Self { began: Instant::now(), calls: 0, files: Vec::new(), is_over: true }
    }
}

impl AnswerLine {
    /// Counts an event. A plan that is carried out in another mode is a second run for the same answer.
    pub fn count(&mut self, event: &Event<'_>) {
        match event.kind {
            EventKind::RunRequested { .. } if self.is_over && !event.agent_id.is_subagent() => {
                *self = Self { is_over: false, ..Self::default() };
            }
            EventKind::Fact(Fact::CallSettled { end, .. }) => self.ended(end.status, end.display.as_ref()),
            _ => {}
        }
    }

    fn ended(&mut self, status: CallStatus, display: Option<&Display>) {
        self.calls += 1;
        if let (CallStatus::Success, Some(Display::Difference { path, .. })) = (status, display)
            && !self.files.contains(path)
        {
            self.files.push(path.clone());
        }
    }

    /// Returns the line for an answer that has come now, or for the end without one.
    pub fn end(&mut self, result: &RunResult, now: &Zoned) -> String {
        self.is_over = true;
        self.line(self.began.elapsed(), result.cost, now)
    }

    fn line(&self, took: Duration, cost: Option<Charge>, now: &Zoned) -> String {
        let mut parts = vec![duration(took)];
        if self.calls > 0 {
            parts.push(counted(self.calls, "call"));
        }
        if !self.files.is_empty() {
            let names = self.files.iter().take(NAMED).map(|path| visible_line(path).into_owned());
            let more = self.files.len().saturating_sub(NAMED);
            let more = (more > 0).then(|| format!("{more} more"));
            parts.push(names.chain(more).collect::<Vec<_>>().join(", "));
        }
        parts.extend(cost.filter(|charge| charge.cost.amount() > 0.0).map(money));
        parts.push(now.strftime("%H:%M").to_string());
        parts.join(" · ")
    }
}

/// A cost in a few characters. List prices are in US dollars; the currency of the user's own is theirs.
pub fn money(charge: Charge) -> String {
    let amount = charge.cost.amount();
    let (less, amount) = if amount > 0.0 && amount < 0.01 { ("<", 0.01) } else { ("", amount) };
    match charge.basis {
        PriceBasis::Listed(_) => format!("{less}${amount:.2}"),
        PriceBasis::Configured => format!("cost {less}{amount:.2}"),
    }
}

fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use host_agent::Cost;
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    use super::*;

    #[test]
    fn answer_line_has_time_calls_files_cost_and_clock() {
        let now = date(2026, 11, 27).at(12, 2, 59, 0).to_zoned(TimeZone::UTC).expect("a time");
        let charge = |amount, basis| Some(Charge { cost: Cost::from_amount(amount), basis });
        let check = |took, changed: &[&str], calls, cost, expected: &str| {
            let mut answer = AnswerLine::default();
            for path in changed {
                let unified = String::new();
                answer.ended(CallStatus::Success, Some(&Display::Difference { path: (*path).to_owned(), unified }));
            }
            (0..calls).for_each(|_| answer.ended(CallStatus::Cancelled, None));
            assert_eq!(answer.line(Duration::from_secs(took), cost, &now), expected);
        };
        check(0, &[], 0, None, "0 s · 12:02");
        check(12, &["main.rs", "lib.rs", "main.rs"], 2, charge(0.041, PriceBasis::Listed(date(2026, 11, 27))), {
            "12 s · 5 calls · main.rs, lib.rs · $0.04 · 12:02"
        });
        check(61, &[], 1, charge(0.0004, PriceBasis::Configured), "1 min 1 s · 1 call · cost <0.01 · 12:02");
        check(7_260, &["a", "b", "c", "d\u{1b}", "e"], 0, charge(0.0, PriceBasis::Listed(date(2026, 11, 27))), {
            "2 h 1 min · 5 calls · a, b, c, 2 more · 12:02"
        });
    }
}
