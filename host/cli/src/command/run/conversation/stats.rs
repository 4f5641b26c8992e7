//! Statistics of a conversation so far.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use host_agent::{Charge, Event, EventKind, Observer, RunResult};
use host_app::report::run_stats;
use host_journal::{CallStatus, Fact};
use host_message::{ModelId, SessionId, Usage};
use host_text::counted;
use host_tool::{Decided, PausableClock};

use crate::printer::terminal::Terminal;

/// Counts what happens, and hands it on to be shown.
pub(super) struct Stats {
    shown: Arc<Terminal>,
    counts: Mutex<Counts>,
    /// Held while the user is asked.
    run_clock: PausableClock,
}

struct Counts {
    since: Instant,
    prompts: u64,
    turns: u64,
    calls: u64,
    failed: u64,
    /// A user said yes.
    approved: u64,
    /// A user said no.
    rejected: u64,
    /// A rule or a grant said no.
    denied: u64,
    usage: Usage,
    cost: Option<Charge>,
    working: Duration,
}

impl Counts {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            prompts: 0,
            turns: 0,
            calls: 0,
            failed: 0,
            approved: 0,
            rejected: 0,
            denied: 0,
            usage: Usage::default(),
            cost: None,
            working: Duration::ZERO,
        }
    }
}

impl Stats {
    pub(super) fn new(shown: Arc<Terminal>, run_clock: PausableClock) -> Self {
        Self { shown, counts: Mutex::new(Counts::new()), run_clock }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another conversation begins.
    pub(super) fn begin(&self) {
        *self.counts() = Counts::new();
    }

    /// A prompt's run has ended.
    pub(super) fn ended(&self, result: &RunResult, time: Duration) {
        let mut counts = self.counts();
        counts.prompts += 1;
        counts.turns += u64::from(result.turns);
        counts.usage.add(result.usage);
        counts.working += time;
        counts.cost = Charge::sum(counts.cost, result.cost);
    }

    /// All of it, for a user.
    pub(super) fn text(&self, model: &ModelId, session: &SessionId) -> String {
        let counts = self.counts();
        let Counts { prompts, turns, calls, failed, approved, rejected, denied, usage, cost, working, since } =
            &*counts;
        let turns = counted(turns, "turn");
        let cost = cost.map(|charge| {
            let estimate = run_stats::estimate(run_stats::list_prices(charge));
            format!("cost      {:.4}{estimate}\n", charge.cost.amount())
        });
        let cost = cost.unwrap_or_default();
        let cached = if usage.cached > 0 { format!(", of which cached {}", usage.cached) } else { String::new() };
        format!(
            "session   {session}\nmodel     {model}\nprompts   {prompts}, {turns}\ncalls     {calls}, {failed} \
             failed; {approved} approved, {rejected} rejected, {denied} denied\ntokens    {} in{cached}, {} out, {} thinking\n{cost}time      {} s working, of which {} s waiting for you; {} s in all\n",
            usage.input,
            usage.output,
            usage.thought,
            working.as_secs(),
            self.run_clock.paused_for().as_secs(),
            since.elapsed().as_secs(),
        )
    }
}

impl Observer for Stats {
    fn event(&self, event: &Event<'_>) {
        if let EventKind::Fact(Fact::CallSettled { end, .. }) = event.kind {
            let mut counts = self.counts();
            counts.calls += 1;
            counts.failed += u64::from(end.status != CallStatus::Success);
            match end.decided {
                Some(Decided::Approved | Decided::Changed) => counts.approved += 1,
                Some(Decided::Rejected) => counts.rejected += 1,
                Some(Decided::Denied) => counts.denied += 1,
                Some(Decided::Allowed) | None => {}
            }
        }
        self.shown.event(event);
    }
}
