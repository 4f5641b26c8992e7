//! Subagents: an agent as a tool of another agent. Its inputs are the tool's parameters, its result is the call's
//! outcome.
//!
//! Each call is a run of its own, with its own history, tools and limits, under an id beneath its parent's. Its events
//! go to the parent's observer and into the parent's session log, both under that id. The run is part of the call's
//! future: dropping or cancelling the call drops or cancels the run, so it cannot outlive its parent.
//!
//! Only an end as `GOAL` is a success. Anything else is reported as a failure, with how it ended and the text so far.
//!
//! Deliberately not here: what the tools of a subagent may touch. The code that makes the registry reduces their grants
//! to reading; the names that a definition may list grant nothing by themselves.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use host_journal::{Journal, TerminateReason};
use host_message::{Annotations, Display, FunctionCall, ModelId, Output, ToolName, ToolSpec};
use host_model::Provider;
use host_text::{counted, with_causes};
use host_tool::{
    CANCEL_GRACE, CallContext, CallFailure, FailureKind, Gate, Outcome, PausableClock, Registry, Responder, Spill, Tool,
};

use crate::{AgentDefinition, Budget, Completion, Executor, Observer, RunResult, Setup, SetupError, TreeLimits};

/// Additional time, beyond that of its own calls, that a cancelled subagent may take to end: its calls settle first,
/// and then it records how it ended.
const END_GRACE: Duration = Duration::from_secs(1);

/// An agent that another one can call.
pub struct Subagent {
    spec: ToolSpec,
    definition: AgentDefinition,
    setup: SubagentSetup,
}

/// The parts of a subagent other than its definition.
#[derive(Clone)]
pub struct SubagentSetup {
    /// The model, as the user named it: it may have a price.
    pub model: ModelId,
    /// The model's service.
    pub provider: Arc<dyn Provider>,
    /// All available tools, with grants that are reduced to reading. The definition selects those of the subagent. No
    /// agent is among them.
    pub tools: Registry,
    /// The folder that takes the whole text of long outputs, where there is one.
    pub spill: Option<PathBuf>,
    /// Observer of the parent.
    pub observer: Arc<dyn Observer>,
    /// The parent's session log.
    pub session: Option<Arc<dyn Journal>>,
    /// The parent's budget.
    pub parent: Arc<Budget>,
    /// Decides about its calls.
    pub gate: Option<Gate>,
}

impl Subagent {
    /// Makes a tool of a definition.
    ///
    /// # Errors
    ///
    /// When an agent with this definition could not be run.
    pub fn new(definition: AgentDefinition, setup: SubagentSetup) -> Result<Self, SetupError> {
        // A subagent says when it is done: its parent cannot ask what it meant.
        let definition = AgentDefinition { completion: Completion::Tool, ..definition };
        let subagent = Self { spec: Self::spec_of(&definition), definition, setup };
        // Its own budget is made when it is called; this one only serves to try.
        let trial = Budget::new(subagent.setup.parent.id().clone(), TreeLimits::default());
        subagent.executor(trial, PausableClock::default())?;
        Ok(subagent)
    }

    /// Returns the description of the tool that a definition makes, without a model.
    pub fn spec_of(definition: &AgentDefinition) -> ToolSpec {
        ToolSpec {
            name: ToolName::new(&definition.name),
            title: Some(definition.display_name.clone()),
            description: definition.description.clone(),
            input_schema: Arc::new(definition.inputs.schema()),
            output_schema: None,
            annotations: Annotations { read_only: true, destructive: false, idempotent: false, open_world: false },
        }
    }

    fn executor(&self, budget: Arc<Budget>, run_clock: PausableClock) -> Result<Executor, SetupError> {
        let SubagentSetup { model, provider, tools, spill, observer, session, parent, gate } = self.setup.clone();
        budget.answered_by(model.as_str());
        let definition = AgentDefinition { run: parent.shorten(self.definition.run), ..self.definition.clone() };
        let responder = Responder::new(spill.map(Spill::new));
        Executor::new(definition, Setup { provider, tools, responder, observer, session, budget, run_clock, gate })
    }

    async fn run(&self, call: &FunctionCall, context: CallContext) -> Outcome {
        let name = self.definition.name.as_str();
        let budget = match self.setup.parent.child(name) {
            Ok(budget) => budget,
            Err(exceeded) => {
                let words = format!("Subagent '{name}' was not started: {exceeded}; {}", exceeded.advice());
                return CallFailure::new(FailureKind::Unavailable, words).into();
            }
        };
        let mut executor = match self.executor(budget, context.run_clock.clone()) {
            Ok(executor) => executor,
            Err(error) => {
                let words = format!("Subagent '{name}' was not started: {}", with_causes(&error));
                return CallFailure::new(FailureKind::Failed, words).into();
            }
        };
        // On the heap: the parent's own run is further down on this stack.
        let result = Box::pin(executor.run(&call.arguments, &context.cancel)).await;
        outcome(name, &result)
    }
}

impl Tool for Subagent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        self.run(call, context).boxed()
    }

    fn cancel_grace(&self) -> Duration {
        CANCEL_GRACE + END_GRACE
    }
}

/// Returns the outcome of a run for its parent.
fn outcome(name: &str, result: &RunResult) -> Outcome {
    let reason = result.terminate_reason.as_str();
    let turns = counted(result.turns, "turn");
    // Only this end is a success: a parent that takes a cut result for a whole one builds on it.
    if let (TerminateReason::Goal, Some(text)) = (result.terminate_reason, &result.result) {
        let after = result.recovered_from.map(|met| format!(" (its best answer after {})", met.as_str()));
        let after = after.unwrap_or_default();
        let cut = if result.recovered_from.is_some() { ", stopped at a limit" } else { "" };
        let told = format!("Subagent '{name}' finished.\nTermination reason: {reason}{after}\nResult:\n{text}");
        let summary = Display::Summary(format!("{turns}{cut}"));
        return Outcome::Success(Output { display: Some(summary), ..Output::text(told) });
    }
    let partial = result.partial.as_ref().map(|partial| partial.text().trim()).filter(|partial| !partial.is_empty());
    let kind = match result.terminate_reason {
        TerminateReason::Aborted => {
            let partial = partial.map(|partial| format!("Subagent '{name}' had written:\n{partial}"));
            return Outcome::Cancelled { reason: format!("Subagent '{name}' was cancelled"), partial };
        }
        TerminateReason::Timeout => FailureKind::TimedOut,
        TerminateReason::Goal
        | TerminateReason::MaxTurns
        | TerminateReason::Error
        | TerminateReason::ErrorNoCompleteTaskCall => FailureKind::Failed,
    };
    let mut told = format!("Subagent '{name}' did not finish: {reason} after {turns}.");
    if let Some(error) = &result.error {
        told.push_str(&format!("\nError: {}", with_causes(error)));
    }
    match partial {
        Some(partial) => told.push_str(&format!("\nIt has no result. The last that it wrote:\n{partial}")),
        None => told.push_str("\nIt has no result."),
    }
    CallFailure::new(kind, told).into()
}
