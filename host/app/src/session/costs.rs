//! What a session has used so far and what it may still use: tokens and costs by model, and the budgets.
//!
//! Deliberately not here: what it looks like, and stopping a run, which `host-agent` does.

use std::collections::BTreeMap;

use host_agent::{Charge, DayBudget, DayError, DayLimits, DaySpending, ModelSpending, Spending, TreeLimits};
use host_message::Usage;

use super::Session;

/// The use of a conversation since it began in this process, subagents included.
#[derive(Clone, Debug, PartialEq)]
pub struct CostReport {
    /// Each model that answered, by the id that the user has for it.
    pub models: BTreeMap<String, ModelSpending>,
    /// What the last prompt used.
    pub last: Spending,
    /// What each prompt may use.
    pub limits: TreeLimits,
    /// What all runs of this user have used today; an error if it cannot be read. `None` if it is not counted.
    pub day: Option<Result<DaySpending, DayError>>,
    /// What they may use a day.
    pub day_limits: DayLimits,
}

impl CostReport {
    /// Returns the tokens of all models.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.models.values().for_each(|model| usage.add(model.usage));
        usage
    }

    /// Returns the cost of all models that have a price; `None` if none has.
    pub fn charge(&self) -> Option<Charge> {
        self.models.values().fold(None, |sum, model| Charge::sum(sum, model.charge))
    }

    /// Returns the ids of models without a price.
    pub fn without_price(&self) -> impl Iterator<Item = &str> {
        self.models.iter().filter(|(_, spending)| spending.charge.is_none()).map(|(id, _)| id.as_str())
    }
}

impl Session {
    /// Returns what the conversation has used, and the limits of a prompt.
    pub fn costs(&self) -> CostReport {
        let budget = &self.conversation.budget;
        let (models, last, limits) = (budget.spent_by_model(), budget.spent(), budget.limits());
        let day_limits = budget.day().map(DayBudget::limits).unwrap_or_default();
        CostReport { models, last, limits, day: budget.day().map(DayBudget::spent), day_limits }
    }
}
