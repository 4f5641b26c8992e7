//! What a session is at: its model and mode, the share of the model's window that the conversation takes, what was
//! used, and the branch that is checked out. Any frontend can show it.
//!
//! Promises: a cost is known or absent, never zero for want of a price; figures change with the events of a run, so
//! that they are true while it works.
//!
//! Deliberately not here: how it is shown, and the statistics of a run (`report`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host_agent::{Budget, Charge, Event, EventKind, Observer};
use host_journal::{Fact, TerminateReason};
use host_model::{Effort, KnownModels};
use host_plugin::{BackgroundPrograms, Forwarded};
use host_settings::models;
use host_tool::ApprovalMode;
use tokio::sync::watch;

use super::Session;

/// The status of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionStatus {
    /// The id of the model that answers.
    pub model: String,
    /// The approval mode.
    pub mode: ApprovalMode,
    /// How much the model thinks; `None` if its service decides.
    pub effort: Option<Effort>,
    /// The use of the model's window.
    pub context: ContextUse,
    /// The tokens sent and received in this conversation since the process began it.
    pub tokens: u64,
    /// Their cost; `None` if no model that answered has a price.
    pub cost: Option<Charge>,
    /// The git branch that is checked out in the workspace, safe to show; `None` if there is none.
    pub branch: Option<String>,
    /// The number of programs that run in the background.
    pub background: usize,
    /// The ports of programs that the user reaches.
    pub ports: Vec<Forwarded>,
}

/// How much of a model's window a conversation takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextUse {
    /// About how many tokens the next request has: those of the last one and its reply as the service counted them, or
    /// an estimate of the messages.
    pub tokens: u64,
    /// The most tokens that the model takes at once.
    pub window: u64,
}

impl ContextUse {
    /// Returns the share in percent, rounded down; `None` if the conversation is empty.
    pub fn percent(self) -> Option<u64> {
        (self.tokens > 0).then(|| self.tokens.saturating_mul(100) / self.window.max(1))
    }
}

/// Keeps the status of a session up to date.
pub struct StatusTracker {
    state: Mutex<State>,
    background: Arc<BackgroundPrograms>,
    ports: watch::Receiver<Vec<Forwarded>>,
    known: KnownModels,
}

struct State {
    status: SessionStatus,
    /// Counts the run that is under way.
    budget: Arc<Budget>,
    is_running: bool,
    /// What the runs before used.
    tokens: u64,
    cost: Option<Charge>,
    size: Counted,
    known: KnownModels,
}

/// What the tokens of the context were counted of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Nothing that is still there.
    Nothing,
    /// The run that ended last.
    LastRun,
    /// A conversation of this many messages.
    Messages(usize),
}

impl StatusTracker {
    /// Begins with a conversation whose runs this budget counts, and which has these programs in the background and
    /// reaches these ports.
    pub(super) fn new(
        budget: Arc<Budget>,
        background: Arc<BackgroundPrograms>,
        ports: watch::Receiver<Vec<Forwarded>>,
        known: KnownModels,
    ) -> Self {
        Self { state: Mutex::new(State::new(budget, known.clone())), background, ports, known }
    }

    /// Returns the present status.
    pub fn status(&self) -> SessionStatus {
        let (background, ports) = (self.background.running(), self.ports.borrow().clone());
        SessionStatus { background, ports, ..self.state().status.clone() }
    }

    /// Returns a receiver of the ports of programs. No event reports that they changed.
    pub fn port_changes(&self) -> watch::Receiver<Vec<Forwarded>> {
        self.ports.clone()
    }

    /// Begins to track another conversation.
    pub(super) fn begin(&self, budget: Arc<Budget>) {
        *self.state() = State::new(budget, self.known.clone());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is complete before the next one begins.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(budget: Arc<Budget>, known: KnownModels) -> Self {
        Self {
            status: SessionStatus::default(),
            budget,
            is_running: false,
            tokens: 0,
            cost: None,
            size: Counted::Nothing,
            known,
        }
    }

    fn count(&mut self) {
        let spent = self.budget.spent();
        self.status.tokens = self.tokens.saturating_add(spent.usage.total());
        self.status.cost = Charge::sum(self.cost, spent.charge());
    }

    fn event(&mut self, event: &Event<'_>) {
        let is_main = !event.agent_id.is_subagent();
        match event.kind {
            EventKind::RunRequested { .. } if is_main => {
                self.is_running = true;
                self.size = Counted::Nothing;
            }
            EventKind::Finished { usage: Some(usage), .. } if is_main => {
                let tokens = usage.input.saturating_add(usage.output);
                if tokens > 0 {
                    self.status.context.tokens = tokens;
                    self.size = Counted::LastRun;
                }
            }
            EventKind::ChatCompressed { tokens_after, .. } if is_main => self.status.context.tokens = tokens_after,
            EventKind::ModelSwitched { model, .. } if is_main => {
                model.clone_into(&mut self.status.model);
                self.status.effort = None;
                self.status.context.window = self.known.window(model);
            }
            EventKind::Fact(Fact::RunEnded { terminate_reason, .. }) if is_main => {
                self.count();
                (self.tokens, self.cost) = (self.status.tokens, self.status.cost);
                self.is_running = false;
                if matches!(terminate_reason, TerminateReason::Aborted | TerminateReason::Error) {
                    // What stays of it is not what the service counted.
                    self.size = Counted::Nothing;
                }
            }
            _ => {}
        }
        if self.is_running {
            self.count();
        }
    }
}

impl Observer for StatusTracker {
    fn event(&self, event: &Event<'_>) {
        self.state().event(event);
    }
}

impl Session {
    /// Returns the tracker of this session's status, for a frontend that shows it while a run is under way.
    pub fn status(&self) -> &Arc<StatusTracker> {
        &self.status
    }

    /// Brings the status up to date with what events do not report: the model and mode that the user chose, a
    /// conversation that was changed between two prompts, and the branch. Returns it.
    pub fn refresh_status(&self) -> SessionStatus {
        let contents = self.history().contents();
        let branch = host_git::branch(self.app.workspace.root());
        let mut state = self.status.state();
        let id = self.model.id.as_str();
        // A fallback that answered once answers from then on; `auto` picks again.
        let answering = self.conversation.budget.model().filter(|_| id != models::AUTO);
        let answering = answering.unwrap_or_else(|| id.to_owned());
        let own = (answering == id).then_some(self.model.window);
        let tokens = match state.size {
            Counted::LastRun => state.status.context.tokens,
            Counted::Messages(count) if count == contents.len() => state.status.context.tokens,
            Counted::Messages(_) | Counted::Nothing if contents.is_empty() => 0,
            // With the instructions and the tools, which the next request has, too.
            Counted::Messages(_) | Counted::Nothing => self.window().total.tokens(),
        };
        state.size = Counted::Messages(contents.len());
        let context =
            ContextUse { tokens, window: own.unwrap_or_else(|| self.app.configuration.known.window(&answering)) };
        // Another model than the chosen one has settings of its own.
        state.status.effort = self.model.settings.effort.filter(|_| answering == id);
        (state.status.model, state.status.mode) = (answering, self.mode());
        (state.status.context, state.status.branch) = (context, branch);
        drop(state);
        self.status.status()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use host_agent::{Cost, Price, PriceBasis, Prices, TreeLimits};
    use host_message::{AgentId, FinishReason, Usage};

    use super::*;

    const DAY: jiff::civil::Date = jiff::civil::date(2026, 11, 27);

    fn budget() -> Arc<Budget> {
        let price = Price { input: 1.0, cached: 1.0, cache_write: 1.0, output: 1.0 };
        let prices = Prices::new(BTreeMap::new(), BTreeMap::from([("a/m".to_owned(), (price, DAY))]));
        Budget::with_prices(AgentId::new("main"), TreeLimits::default(), Arc::new(prices))
    }

    fn no_ports() -> watch::Receiver<Vec<Forwarded>> {
        watch::channel(Vec::new()).1
    }

    fn tell(tracker: &StatusTracker, agent: &AgentId, kind: EventKind<'_>) {
        tracker.event(&Event { agent: "main", agent_id: agent, kind });
    }

    fn end(tracker: &StatusTracker, agent: &AgentId) {
        let (terminate_reason, agent_id, usage) = (TerminateReason::Goal, agent.clone(), Usage::default());
        let (recovered_from, result) = (None, None);
        let fact = Fact::RunEnded { agent_id, terminate_reason, recovered_from, result, turns: 1, usage };
        tell(tracker, agent, EventKind::Fact(&fact));
    }

    #[test]
    fn status_counts_while_a_run_is_under_way_and_what_a_subagent_uses() {
        let budget = budget();
        let (main, tracker) = (
            AgentId::new("main"),
            StatusTracker::new(Arc::clone(&budget), Arc::default(), no_ports(), KnownModels::default()),
        );
        let usage = Usage { input: 1_500_000, output: 500_000, ..Usage::default() };
        tell(&tracker, &main, EventKind::RunRequested { model: "a/m", session: None });
        let finished = |usage| EventKind::Finished { reason: &FinishReason::Stop, usage: Some(usage) };
        tell(&tracker, &main, finished(usage));
        budget.add_usage(usage);
        tell(&tracker, &main, EventKind::TurnStarted { turn: 1 });
        let status = tracker.status();
        assert_eq!((status.tokens, status.cost, status.context.tokens), (2_000_000, None, 2_000_000), "no price");
        let below = budget.child("helper").expect("there is room");
        below.answered_by("a/m");
        tell(&tracker, below.id(), finished(Usage { input: 7, ..Usage::default() }));
        below.add_usage(usage);
        end(&tracker, below.id());
        let status = tracker.status();
        let cost = Charge { cost: Cost::from_amount(2.0), basis: PriceBasis::Listed(DAY) };
        assert_eq!((status.tokens, status.cost, status.context.tokens), (4_000_000, Some(cost), 2_000_000));
        end(&tracker, &main);
        tell(&tracker, &main, EventKind::UserCancelled);
        assert_eq!(tracker.status().tokens, 4_000_000, "a run counts once");
        tracker.begin(budget);
        assert_eq!(tracker.status(), SessionStatus::default(), "another conversation");
    }

    #[test]
    fn status_names_the_model_that_took_over() {
        let (main, tracker) =
            (AgentId::new("main"), StatusTracker::new(budget(), Arc::default(), no_ports(), KnownModels::default()));
        tell(&tracker, &main, EventKind::ModelSwitched { model: "anthropic/claude-haiku-4-5", reason: "quota" });
        let status = tracker.status();
        assert_eq!((status.model.as_str(), status.context.window), ("anthropic/claude-haiku-4-5", 200_000));
    }

    #[test]
    fn context_is_a_share_of_the_window() {
        for (tokens, window, percent) in
            [(0, 200_000, None), (1, 200_000, Some(0)), (25_000, 200_000, Some(12)), (9, 0, Some(900))]
        {
            assert_eq!(ContextUse { tokens, window }.percent(), percent, "{tokens} of {window}");
        }
    }
}
