//! The statistics of a conversation since it began in this process: prompts, calls, what was decided, tokens, time.
//!
//! Deliberately not here: costs by model and budgets (`costs`), and the statistics of one run (`report::run_stats`).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use host_agent::{Charge, Event, EventKind, Observer, RunResult};
use host_journal::{CallStatus, Fact};
use host_message::{ModelId, SessionId, Usage};
use host_tool::Decided;

use super::Session;

/// The statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationStats {
    /// The session that is recorded.
    pub session: SessionId,
    /// The present model.
    pub model: ModelId,
    /// What was counted.
    pub counts: Counts,
    /// How long calls waited for the user.
    pub waited: Duration,
    /// The time since the conversation began.
    pub all: Duration,
}

/// What is counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Prompts whose run has ended.
    pub prompts: u64,
    /// Turns of those runs.
    pub turns: u64,
    /// Calls that ended.
    pub calls: u64,
    /// Those that did not succeed.
    pub failed: u64,
    /// Those that the user approved.
    pub approved: u64,
    /// Those that the user rejected.
    pub rejected: u64,
    /// Those that a rule or a grant denied.
    pub denied: u64,
    /// Tokens.
    pub usage: Usage,
    /// What they cost, if a model has a price.
    pub cost: Option<Charge>,
    /// How long runs took.
    pub working: Duration,
}

/// Counts while a conversation goes on.
#[derive(Debug)]
pub(super) struct StatsCounter(Mutex<(Instant, Counts)>);

impl StatsCounter {
    pub(super) fn new() -> Self {
        Self(Mutex::new((Instant::now(), Counts::default())))
    }

    fn counts(&self) -> MutexGuard<'_, (Instant, Counts)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another conversation begins.
    pub(super) fn begin(&self) {
        *self.counts() = (Instant::now(), Counts::default());
    }

    /// A prompt's run has ended.
    pub(super) fn ended(&self, result: &RunResult, time: Duration) {
        let mut counts = self.counts();
        let counts = &mut counts.1;
        counts.prompts += 1;
        counts.turns += u64::from(result.turns);
        counts.usage.add(result.usage);
        counts.working += time;
        counts.cost = Charge::sum(counts.cost, result.cost);
    }
}

impl Observer for StatsCounter {
    fn event(&self, event: &Event<'_>) {
        let EventKind::Fact(Fact::CallSettled { end, .. }) = event.kind else { return };
        let mut counts = self.counts();
        let counts = &mut counts.1;
        counts.calls += 1;
        counts.failed += u64::from(end.status != CallStatus::Success);
        match end.decided {
            Some(Decided::Approved | Decided::Changed) => counts.approved += 1,
            Some(Decided::Rejected) => counts.rejected += 1,
            Some(Decided::Denied) => counts.denied += 1,
            Some(Decided::Allowed) | None => {}
        }
    }
}

impl Session {
    /// Returns the statistics of the conversation.
    pub fn stats(&self) -> ConversationStats {
        let (since, counts) = self.stats.counts().clone();
        ConversationStats {
            session: self.id().clone(),
            model: self.model.id.clone(),
            counts,
            waited: self.run_clock.paused_for(),
            all: since.elapsed(),
        }
    }
}
