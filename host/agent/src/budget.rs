//! What a run and its subagents have used, and the limits that they share.
//!
//! Each agent has a budget. What it spends is added to its own budget and to every budget above it, so the run's budget
//! always holds the total, and a limit that is checked there applies to the whole tree of agents. A budget covers one
//! run at a time: the next run of the same conversation starts with nothing spent. The budget of a day covers all runs.
//!
//! Deliberately not here: the limits of a single agent (its definition has them) and cancelling: the code that starts
//! an agent cancels it, and a budget only counts.

mod day;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use host_journal::TerminateReason;
use host_message::{AgentId, Usage};
use host_text::{Advice, Flag, counted};
use tokio::time::Instant;

pub use self::day::{DayBudget, DayError, DayExceeded, DayLimits, DaySpending};
use crate::RunConfig;
use crate::deadline::Deadline;
use crate::prices::{Charge, Cost, Price, PriceBasis, Prices};

/// Maximum nesting depth of agents, not counting the main agent. Protects the user from endless delegation.
const DEPTH: u32 = 1;

/// Maximum number of subagents that a run may start. Protects the user's account: each is a run of its own.
const SUBAGENTS: u32 = 16;

/// The limits that a run and its subagents share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// Maximum total of tokens sent and received.
    pub tokens: Option<u64>,
    /// Maximum total cost.
    pub cost: Option<Cost>,
    /// Maximum nesting depth of agents, not counting the first; 0 allows no subagents.
    pub depth: u32,
    /// Maximum total number of subagents started.
    pub subagents: u32,
    /// Maximum total number of turns; `None` if there is no limit.
    pub turns: Option<u32>,
}

/// The tokens, cost, turns and subagents used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// Tokens, as the services counted them.
    pub usage: Usage,
    /// The host's estimate of the tokens that a service did not count. Only made where something is limited.
    pub estimated: u64,
    /// What those would cost, as far as their models have a price.
    pub estimated_cost: Cost,
    /// The cost of the counted tokens, as far as their models have a price.
    pub cost: Cost,
    /// The prices that the cost is made of; `None` while nothing with a price was counted.
    pub basis: Option<PriceBasis>,
    /// Turns.
    pub turns: u32,
    /// Subagents that were started.
    pub subagents: u32,
}

/// What one model has used since a conversation began in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelSpending {
    /// Tokens.
    pub usage: Usage,
    /// Their cost; `None` if the model has no price.
    pub charge: Option<Charge>,
}

/// A limit of the whole tree that was reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exceeded {
    /// The agent would be nested too deep.
    #[error("agents can be nested only {limit} deep")]
    Depth {
        /// The most.
        limit: u32,
    },
    /// Enough subagents were started.
    #[error("this run has started {}, which is the limit", counted(limit, "subagent"))]
    Subagents {
        /// The most.
        limit: u32,
    },
    /// Enough tokens were sent and received.
    #[error(
        "the budget of {} is used up: {spent} tokens sent and received{}",
        counted(limit, "token"),
        estimated_words(estimated)
    )]
    Tokens {
        /// The most.
        limit: u64,
        /// Number of tokens used.
        spent: u64,
        /// How many of them are an estimate.
        estimated: u64,
    },
    /// It cost enough.
    #[error("the budget of {limit} is used up: the cost so far is {spent}")]
    Cost {
        /// The most.
        limit: Cost,
        /// Cost so far.
        spent: Cost,
    },
    /// Enough turns were taken.
    #[error("the run and its subagents have taken {} together, which is the limit", counted(limit, "turn"))]
    Turns {
        /// The most.
        limit: u32,
    },
    /// All runs of the day have used enough.
    #[error(transparent)]
    Day(#[from] DayExceeded),
}

fn estimated_words(estimated: &u64) -> &'static str {
    match estimated {
        0 => "",
        _ => " (an estimate, since the model's service does not count them)",
    }
}

impl Spending {
    /// Returns the number of tokens that count against a budget.
    pub fn tokens(&self) -> u64 {
        self.usage.total().saturating_add(self.estimated)
    }

    /// Returns the cost that counts against a budget.
    pub fn whole_cost(&self) -> Cost {
        self.cost.plus(self.estimated_cost)
    }
}

/// What an agent and its subagents have used. All agents that count in it share it.
#[derive(Debug)]
pub struct Budget {
    above: Option<Arc<Budget>>,
    id: AgentId,
    limits: TreeLimits,
    prices: Arc<Prices>,
    /// Counts the day. Only the topmost budget has it.
    day: Option<DayBudget>,
    state: Mutex<BudgetState>,
}

#[derive(Debug, Default)]
struct BudgetState {
    spent: Spending,
    /// Price of the current model, if known.
    price: Option<(Price, PriceBasis)>,
    /// Its id.
    model: Option<String>,
    deadline: Option<Deadline>,
    /// What each model has used, by its id, over all runs. Only the topmost budget counts it.
    models: BTreeMap<String, ModelSpending>,
    /// What could not be added to the day, and why.
    uncounted: Option<(u64, Cost, DayError)>,
    /// Number of agents ever started beneath this one. Their ids contain it, so it is never reset.
    named: u32,
}

impl Budget {
    /// Creates the budget of an agent that no other agent started, without prices.
    pub fn new(id: AgentId, limits: TreeLimits) -> Arc<Self> {
        Self::with_prices(id, limits, Arc::default())
    }

    /// Creates such a budget with these prices.
    pub fn with_prices(id: AgentId, limits: TreeLimits, prices: Arc<Prices>) -> Arc<Self> {
        Arc::new(Self { above: None, id, limits, prices, day: None, state: Mutex::default() })
    }

    /// Creates such a budget that also counts the use of the day, with its limits.
    pub fn with_day(id: AgentId, limits: TreeLimits, prices: Arc<Prices>, day: DayBudget) -> Arc<Self> {
        Arc::new(Self { above: None, id, limits, prices, day: Some(day), state: Mutex::default() })
    }

    /// Returns the count of the day, if there is one.
    pub fn day(&self) -> Option<&DayBudget> {
        self.top().day.as_ref()
    }

    /// Returns whether costs are limited, so that every model that may answer needs a price.
    pub fn limits_cost(&self) -> bool {
        self.limits.cost.is_some() || self.day().is_some_and(|day| day.limits().cost.is_some())
    }

    /// Sets the model that answers the agent now, by the id that the user has for it.
    pub fn answered_by(&self, model: &str) {
        let mut state = self.state();
        state.price = self.prices.of(model);
        state.model = Some(model.to_owned());
    }

    /// The id of the model that answers the agent now. `None` if it was never set.
    pub fn model(&self) -> Option<String> {
        self.state().model.clone()
    }

    /// Creates the budget of an agent that this one starts. The agent counts as started in this budget and in every one
    /// above it.
    ///
    /// # Errors
    ///
    /// When that would be too deep, or one too many.
    pub fn child(self: &Arc<Self>, name: &str) -> Result<Arc<Self>, Exceeded> {
        let TreeLimits { depth, subagents, .. } = self.limits;
        // Agents that start agents would otherwise nest until the tokens of the run are used up.
        if self.upwards().count() as u64 > u64::from(depth) {
            return Err(Exceeded::Depth { limit: depth });
        }
        {
            // The topmost counts all of them; it is held while it is compared, so that no two get the last place.
            let mut top = self.top().state();
            if top.spent.subagents >= subagents {
                return Err(Exceeded::Subagents { limit: subagents });
            }
            top.spent.subagents += 1;
        }
        self.upwards().filter(|budget| budget.above.is_some()).for_each(|budget| budget.state().spent.subagents += 1);
        // Two subagents of one name are distinguished by their number, in logs and in events.
        let named = {
            let mut state = self.state();
            state.named = state.named.saturating_add(1);
            state.named
        };
        let id = self.id.child(name, named);
        Ok(Arc::new(Self {
            above: Some(Arc::clone(self)),
            id,
            limits: self.limits,
            prices: Arc::clone(&self.prices),
            // The topmost counts the day; a second count of the same tokens would double it.
            day: None,
            state: Mutex::default(),
        }))
    }

    /// Takes the ids of this many agents as given, which another process started beneath this one.
    pub fn skip(&self, agents: usize) {
        let mut state = self.state();
        state.named = state.named.saturating_add(u32::try_from(agents).unwrap_or(u32::MAX));
    }

    /// Returns the limits that this agent shares with the others.
    pub fn limits(&self) -> TreeLimits {
        self.limits
    }

    /// Returns the id of the agent that owns this budget.
    pub fn id(&self) -> &AgentId {
        &self.id
    }

    /// Returns what the agent and its subagents have used since its run began.
    pub fn spent(&self) -> Spending {
        self.state().spent
    }

    /// Returns what all agents of the tree have used.
    pub(crate) fn spent_by_all(&self) -> Spending {
        self.top().spent()
    }

    /// Returns what each model has used, by the id that the user has for it, over all runs of this conversation and
    /// with its subagents.
    pub fn spent_by_model(&self) -> BTreeMap<String, ModelSpending> {
        self.top().state().models.clone()
    }

    /// Checks whether another turn may be taken.
    ///
    /// # Errors
    ///
    /// When a limit of the whole tree is reached.
    pub fn check(&self) -> Result<(), Exceeded> {
        match self.limits.turns {
            Some(limit) if self.top().spent().turns >= limit => Err(Exceeded::Turns { limit }),
            Some(_) | None => self.check_budget(),
        }
    }

    /// Checks whether the budget allows another request.
    ///
    /// # Errors
    ///
    /// When a budget of the whole tree is used up.
    pub fn check_budget(&self) -> Result<(), Exceeded> {
        let spending = self.top().spent();
        let (tokens, estimated, spent) = (spending.tokens(), spending.estimated, spending.whole_cost());
        match (self.limits.tokens, self.limits.cost) {
            (Some(limit), _) if tokens >= limit => Err(Exceeded::Tokens { limit, spent: tokens, estimated }),
            (_, Some(limit)) if spent >= limit => Err(Exceeded::Cost { limit, spent }),
            _ => self.check_day(),
        }
    }

    /// Checks whether the budget of the day allows another request.
    ///
    /// # Errors
    ///
    /// When it is used up; when it is limited and the use of the day cannot be counted.
    pub fn check_day(&self) -> Result<(), Exceeded> {
        let Some(day) = self.day() else { return Ok(()) };
        day.check()?;
        let uncounted = self.top().state().uncounted.as_ref().map(|(_, _, error)| error.clone());
        match uncounted.filter(|_| day.limits() != DayLimits::default()) {
            Some(error) => Err(Exceeded::Day(error.into())),
            None => Ok(()),
        }
    }

    /// Adds to the use of the day. What cannot be added is kept for the next time.
    fn add_to_day(&self, used: u64, cost: Cost) {
        let Some(day) = self.day().filter(|_| used > 0) else { return };
        let kept = self.top().state().uncounted.take();
        let (tokens, sum) = kept.map_or((0, Cost::default()), |(tokens, cost, _)| (tokens, cost));
        let (tokens, sum) = (tokens.saturating_add(used), sum.plus(cost));
        if let Err(error) = day.add(tokens, sum) {
            tracing::warn!(%error, "the use of the day is not counted");
            self.top().state().uncounted = Some((tokens, sum, error));
        }
    }

    /// Counts the tokens of a reply, and what they cost.
    pub fn add_usage(&self, usage: Usage) {
        let (price, model) = {
            let state = self.state();
            (state.price, state.model.clone())
        };
        let charge = price.map(|(price, basis)| Charge { cost: price.cost(usage), basis });
        if let Some(model) = model.filter(|_| usage != Usage::default()) {
            let mut top = self.top().state();
            let spending = top.models.entry(model).or_default();
            spending.usage.add(usage);
            spending.charge = Charge::sum(spending.charge, charge);
        }
        self.upwards().for_each(|budget| {
            let spent = &mut budget.state().spent;
            spent.usage.add(usage);
            if let Some(sum) = Charge::sum(spent.charge(), charge) {
                (spent.cost, spent.basis) = (sum.cost, Some(sum.basis));
            }
        });
        self.add_to_day(usage.total(), charge.map(|charge| charge.cost).unwrap_or_default());
    }

    /// Returns whether anything is limited, so that what a service does not count has to be estimated.
    pub(crate) fn is_limited(&self) -> bool {
        let TreeLimits { tokens, cost, .. } = self.top().limits;
        tokens.is_some() || cost.is_some() || self.day().is_some_and(|day| day.limits() != DayLimits::default())
    }

    /// Counts the host's estimate of a reply whose service counted nothing: what was sent, and what came.
    pub(crate) fn add_estimate(&self, sent: u64, came: u64) {
        let price = self.state().price;
        let usage = Usage { input: sent, output: came, ..Usage::default() };
        let cost = price.map(|(price, _)| price.cost(usage)).unwrap_or_default();
        self.upwards().for_each(|budget| {
            let spent = &mut budget.state().spent;
            spent.estimated = spent.estimated.saturating_add(usage.total());
            spent.estimated_cost = spent.estimated_cost.plus(cost);
        });
        self.add_to_day(usage.total(), cost);
    }

    /// Counts a turn.
    pub fn add_turn(&self) {
        self.upwards().for_each(|budget| {
            let mut state = budget.state();
            state.spent.turns = state.spent.turns.saturating_add(1);
        });
    }

    /// Begins a run with this deadline and nothing spent.
    pub(crate) fn begin(&self, deadline: Deadline) {
        let mut state = self.state();
        state.spent = Spending::default();
        state.deadline = Some(deadline);
    }

    /// Returns the limits of an agent that starts now: it ends, including its last request, before the time of the
    /// agents above it is over.
    pub(crate) fn shorten(&self, wanted: RunConfig) -> RunConfig {
        let deadlines = self.upwards().filter_map(|budget| budget.state().deadline.as_ref().map(Deadline::at));
        let Some(left) = deadlines.min().map(|deadline| deadline.saturating_duration_since(Instant::now())) else {
            return wanted;
        };
        // If little time is left, half of it is reserved for the last request: a truncated answer is better than no
        // answer.
        let longest = left.saturating_sub(wanted.grace).max(left / 2);
        let max_time = wanted.max_time.map_or(longest, |wanted| wanted.min(longest));
        let grace = wanted.grace.min(left.saturating_sub(max_time).saturating_sub(MARGIN));
        RunConfig { max_time: Some(max_time), grace, ..wanted }
    }

    fn upwards(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |budget| budget.above.as_deref())
    }

    fn top(&self) -> &Self {
        self.upwards().last().unwrap_or(self)
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        // It holds only numbers, so a thread that panicked while holding the lock left it consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time by which a subagent ends before its parent, so that its end is reported before the parent's time is over.
const MARGIN: Duration = Duration::from_millis(100);

impl Spending {
    /// Returns the cost with its basis; `None` while nothing with a price was counted.
    pub fn charge(&self) -> Option<Charge> {
        self.basis.map(|basis| Charge { cost: self.cost, basis })
    }
}

impl Exceeded {
    /// Returns how an agent ends that exceeds it.
    pub fn reason(&self) -> TerminateReason {
        match self {
            Self::Tokens { .. } | Self::Cost { .. } => TerminateReason::Timeout,
            Self::Day(DayExceeded::Tokens { .. } | DayExceeded::Cost { .. }) => TerminateReason::Timeout,
            Self::Day(DayExceeded::Unknown(_)) => TerminateReason::Error,
            Self::Depth { .. } | Self::Subagents { .. } | Self::Turns { .. } => TerminateReason::MaxTurns,
        }
    }

    /// Returns what to do about it, as a sentence without a full stop.
    pub fn advice(&self) -> Advice {
        let go_on = |limit| {
            let prompt = Advice::from("continue with ").command_for("run --resume \"…\"", "a new prompt");
            prompt.text(", or raise ").flag(limit)
        };
        match self {
            Self::Depth { .. } => "do it yourself, with the other tools".into(),
            Self::Subagents { .. } => "do the rest yourself, with the other tools".into(),
            Self::Tokens { .. } => go_on(Flag::MaxTokens),
            Self::Cost { .. } => go_on(Flag::MaxCost),
            Self::Day(exceeded) => exceeded.help().into(),
            Self::Turns { .. } => "raise `max_total_turns` in the configuration, or give it a smaller task".into(),
        }
    }
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self { tokens: None, cost: None, depth: DEPTH, subagents: SUBAGENTS, turns: None }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use host_tool::PausableClock;

    use super::*;

    fn top(limits: TreeLimits) -> Arc<Budget> {
        Budget::new(AgentId::new("main"), limits)
    }

    #[test]
    fn budget_of_an_agent_includes_its_subagents_and_not_its_siblings() {
        let main = top(TreeLimits { depth: 2, ..TreeLimits::default() });
        let one = main.child("a").expect("there is room");
        let two = main.child("b").expect("there is room");
        let below = two.child("c").expect("there is room");
        assert_eq!([&one, &two, &below].map(|budget| budget.id().as_str()), ["main/a-1", "main/b-2", "main/b-2/c-1"]);
        let usage = Usage { input: 5, ..Usage::default() };
        for budget in [&main, &one, &below] {
            budget.add_usage(usage);
            budget.add_turn();
        }
        let spent = |budget: &Budget| (budget.spent().usage.input, budget.spent().turns, budget.spent().subagents);
        assert_eq!(
            (spent(&main), spent(&one), spent(&two), spent(&below)),
            ((15, 3, 3), (5, 1, 0), (5, 1, 1), (5, 1, 0))
        );
        main.begin(Deadline::after(Some(Duration::ZERO), &PausableClock::default()));
        assert_eq!(main.spent(), Spending::default(), "a run begins with nothing spent");
        assert_eq!(main.child("a").expect("there is room").id().as_str(), "main/a-3", "and no id comes twice");
    }

    #[test]
    fn tokens_and_cost_are_bounded_for_the_whole_tree() {
        let usage = Usage { input: 600_000, cached: 100_000, output: 50_000, thought: 50_000, ..Usage::default() };
        let tokens = top(TreeLimits { tokens: Some(1_000_000), ..TreeLimits::default() });
        let one = tokens.child("a").expect("there is room");
        one.add_usage(usage);
        assert_eq!((tokens.check(), one.check()), (Ok(()), Ok(())));
        tokens.add_usage(usage);
        let exceeded = Exceeded::Tokens { limit: 1_000_000, spent: 1_400_000, estimated: 0 };
        assert_eq!((tokens.check(), one.check()), (Err(exceeded.clone()), Err(exceeded.clone())));
        assert_eq!(exceeded.reason(), TerminateReason::Timeout);

        let prices = [("m", 1.0, 0.1, 10.0), ("cheap", 0.0, 0.0, 0.5)]
            .map(|(id, input, cached, output)| (id.to_owned(), Price { input, cached, cache_write: input, output }));
        let prices = Prices::new(prices.into(), BTreeMap::new());
        let limits = TreeLimits { cost: Some(Cost::from_amount(3.0)), ..TreeLimits::default() };
        let cost = Budget::with_prices(AgentId::new("main"), limits, Arc::new(prices));
        cost.add_usage(usage);
        assert_eq!(cost.spent().charge(), None, "what has no price has no cost");
        assert_eq!(cost.model(), None);
        cost.answered_by("m");
        let one = cost.child("a").expect("there is room");
        one.answered_by("cheap");
        assert_eq!((cost.model().as_deref(), one.model().as_deref()), (Some("m"), Some("cheap")));
        one.add_usage(usage);
        assert_eq!((one.spent().cost, cost.spent().cost), (Cost::from_amount(0.05), Cost::from_amount(0.05)));
        cost.add_usage(usage);
        assert_eq!(cost.spent().cost, Cost::from_amount(0.05 + 0.5 + 0.01 + 1.0));
        assert_eq!(one.check(), Ok(()));
        let by_model = cost.spent_by_model();
        let names: Vec<&str> = by_model.keys().map(String::as_str).collect();
        assert_eq!(names, ["cheap", "m"], "what no model is known for is not counted for one");
        assert_eq!(
            by_model["cheap"],
            ModelSpending {
                usage,
                charge: Some(Charge { cost: Cost::from_amount(0.05), basis: PriceBasis::Configured })
            }
        );
        cost.add_usage(usage);
        assert_eq!(one.check(), Err(Exceeded::Cost { limit: Cost::from_amount(3.0), spent: Cost::from_amount(3.07) }));
    }

    // promise budget.day
    #[test]
    fn day_use_of_subagents_counts_and_what_cannot_be_counted_stops_a_limited_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("state/spending.json");
        let budget = |limits| {
            let day = DayBudget::new(&file, limits, host_journal::Clock::system());
            Budget::with_day(AgentId::new("main"), TreeLimits::default(), Arc::default(), day)
        };
        let limited = budget(DayLimits { tokens: Some(10), cost: None });
        let usage = Usage { input: 6, ..Usage::default() };
        let one = limited.child("a").expect("there is room");
        one.add_usage(usage);
        assert_eq!((limited.check(), one.check()), (Ok(()), Ok(())));
        limited.begin(Deadline::after(None, &PausableClock::default()));
        assert_eq!(limited.spent(), Spending::default(), "the run begins with nothing spent, and the day does not");
        one.add_usage(usage);
        let exceeded = one.check().expect_err("it is used up");
        assert!(matches!(exceeded, Exceeded::Day(DayExceeded::Tokens { limit: 10, spent: 12, .. })), "{exceeded}");
        assert_eq!(exceeded.reason(), TerminateReason::Timeout);
        // A folder in the place of the lock: nothing can be counted.
        let (lock, most) = (file.with_extension("lock"), DayLimits { tokens: Some(100), cost: None });
        std::fs::remove_file(&lock).and_then(|()| std::fs::create_dir(&lock)).expect("made");
        let (limited, free) = (budget(most), budget(DayLimits::default()));
        limited.add_usage(usage);
        free.add_usage(usage);
        let unknown = limited.check().expect_err("it is not counted");
        assert!(matches!(unknown, Exceeded::Day(DayExceeded::Unknown(_))), "{unknown}");
        assert_eq!((unknown.reason(), free.check()), (TerminateReason::Error, Ok(())));
        // What was not counted is counted as soon as that is possible.
        std::fs::remove_dir(&lock).expect("removed");
        limited.add_usage(usage);
        free.add_usage(usage);
        assert_eq!(limited.check(), Ok(()));
        let day = limited.day().expect("it counts");
        assert_eq!(day.spent().map(|spent| spent.tokens), Ok(36));
    }

    #[test]
    fn depth_number_and_turns_are_bounded_for_the_whole_tree() {
        let main = top(TreeLimits { depth: 1, subagents: 2, turns: Some(2), ..TreeLimits::default() });
        let one = main.child("a").expect("there is room");
        assert_eq!(one.child("b").map(|_| ()), Err(Exceeded::Depth { limit: 1 }));
        main.child("a").expect("there is room");
        assert_eq!(main.child("a").map(|_| ()), Err(Exceeded::Subagents { limit: 2 }));
        assert_eq!(main.check(), Ok(()));
        one.add_turn();
        main.add_turn();
        assert_eq!((main.check(), one.check()), (Err(Exceeded::Turns { limit: 2 }), Err(Exceeded::Turns { limit: 2 })));
        assert_eq!(
            top(TreeLimits { depth: 0, ..TreeLimits::default() }).child("a").map(|_| ()),
            Err(Exceeded::Depth { limit: 0 })
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_is_done_before_the_time_of_its_parent_is_over() {
        let seconds = Duration::from_secs;
        let wanted =
            RunConfig { max_turns: Some(3), max_time: Some(seconds(300)), grace: seconds(60), ..RunConfig::default() };
        let main = top(TreeLimits::default());
        assert_eq!(main.shorten(wanted), wanted, "without a deadline there is none to keep");
        for (left, max_time, grace) in [
            (600, seconds(300), seconds(60)),
            (361, seconds(300), seconds(60)),
            (200, seconds(140), seconds(60) - MARGIN),
            (60, seconds(30), seconds(30) - MARGIN),
            (0, seconds(0), seconds(0)),
        ] {
            main.begin(Deadline::after(Some(seconds(left)), &PausableClock::default()));
            let got = main.shorten(wanted);
            assert_eq!((got.max_time, got.grace, got.max_turns), (Some(max_time), grace, Some(3)), "{left}");
            assert!(max_time + got.grace <= seconds(left), "{left}");
        }
        main.begin(Deadline::after(None, &PausableClock::default()));
        assert_eq!(main.shorten(wanted), wanted, "a parent without a time limit takes nothing away");
    }
}
