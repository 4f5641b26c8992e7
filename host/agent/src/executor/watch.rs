//! Follows the calls of one reply while they run: reports them to the observer, records each step before it happens,
//! and puts each outcome into words for the model.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use host_journal::{CallEnd, Fact, SessionError};
use host_message::{CallId, Part, PromptId};
use host_tool::{CallChange, CallEvent, ForeignSource, Live, Outcome, Registry, SettledCall};

use super::repeated::{EarlierResults, Ended};
use super::run::Run;
use crate::EventKind;

/// Reason given to calls that could not be recorded.
const UNRECORDED: &str = "the session log cannot be written";

/// Watches the calls of one reply: reports them, records them, and puts outcomes into words as they arrive.
pub(super) struct Watch<'w> {
    run: &'w Run<'w>,
    prompt: &'w PromptId,
    tools: &'w Registry,
    /// What the calls returned when they were made before.
    repeated: EarlierResults,
    answers: Mutex<HashMap<CallId, Vec<Part>>>,
    /// Why each call may run that has not begun.
    because: Mutex<HashMap<CallId, Vec<String>>>,
    /// Where the results of calls come from that a call made, by that call.
    foreign: Mutex<HashMap<CallId, ForeignSource>>,
    /// Why the log could not be written.
    failure: Mutex<Option<SessionError>>,
}

impl<'w> Watch<'w> {
    /// Watches the calls of the reply to this request, which are of these tools.
    pub(super) fn new(run: &'w Run<'w>, prompt: &'w PromptId, tools: &'w Registry, repeated: EarlierResults) -> Self {
        let (answers, because, foreign, failure) = Default::default();
        Self { run, prompt, tools, repeated, answers, because, foreign, failure }
    }

    /// Returns the response to the model for each settled call, and the error if the log could not be written.
    pub(super) fn into_answers(self) -> (HashMap<CallId, Vec<Part>>, Option<SessionError>) {
        let answers = self.answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        (answers, self.failure.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes in what happened to a call; `Break` when that cannot be recorded.
    pub(super) fn observe(&self, event: CallEvent<'_>) -> ControlFlow<String> {
        let CallEvent { id: call_id, name, parent, change } = event;
        let agent = self.run.agent;
        match change {
            CallChange::Validating(call) => {
                // Otherwise not recorded here: the reply that has the call is.
                if let Some(parent) = parent {
                    let (prompt, parent, call) = (self.prompt.clone(), parent.clone(), Arc::new(call.clone()));
                    self.recorded(agent.record(&Fact::NestedCall { prompt, parent, call }))?;
                }
                agent.tell(EventKind::ToolCallRequest { call, parent, title: &self.tools.title(call) });
            }
            CallChange::AwaitingApproval(question) => {
                agent.tell(EventKind::ToolCallConfirmation { call_id, name, kind: question.kind() });
            }
            CallChange::Scheduled { allowance, .. } => {
                let mut because = self.because.lock().unwrap_or_else(PoisonError::into_inner);
                because.insert(call_id.clone(), allowance.because.clone());
            }
            CallChange::Executing(title) => {
                let because = self.because.lock().unwrap_or_else(PoisonError::into_inner).remove(call_id);
                let fact = Fact::CallStarted {
                    prompt: self.prompt.clone(),
                    call_id: call_id.clone(),
                    name: name.clone(),
                    because: because.unwrap_or_default(),
                    title: title.to_owned(),
                };
                // Before it runs: a call that may have changed something must be known as begun. It is reported after
                // that, so that nobody sees a call run that the log does not know.
                self.recorded(agent.record(&fact))?;
            }
            CallChange::Live(Live::Output(text)) => agent.tell(EventKind::ToolCallOutput { call_id, name, text }),
            CallChange::Live(Live::Progress { done, total, message }) => {
                let (done, total) = (*done, *total);
                agent.tell(EventKind::ToolCallProgress { call_id, name, done, total, message });
            }
            CallChange::Settled(settled) => {
                return match parent {
                    Some(parent) => self.nested_settled(settled, parent),
                    None => self.settled(settled),
                };
            }
        }
        ControlFlow::Continue(())
    }

    fn settled(&self, settled: &SettledCall) -> ControlFlow<String> {
        let SettledCall { call, outcome, decided, .. } = settled;
        self.run.loops.settled(call, outcome, *decided);
        let tool = self.tools.get(&call.name);
        let nested = self.foreign.lock().unwrap_or_else(PoisonError::into_inner).remove(&call.id);
        let source = tool.and_then(|tool| tool.source()).or(nested);
        let mut answer = self.run.agent.responder.respond(settled, source);
        // Before it is recorded: a later process sends what this one sent.
        self.repeated.shorten(&call.id, Ended::of(outcome, tool), &mut answer.parts);
        let end = Arc::new(CallEnd::new(settled, &answer));
        let fact = Fact::CallSettled { prompt: self.prompt.clone(), call_id: call.id.clone(), end };
        let recorded = self.recorded(self.run.agent.append(&fact));
        // Even if it cannot be recorded: the call has ended, and nobody is to wait for it.
        self.run.agent.tell(EventKind::Fact(&fact));
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(call.id.clone(), answer.parts);
        recorded
    }

    /// Takes in the end of a call that another one made: that one gets the result, and the model what it makes of it.
    fn nested_settled(&self, settled: &SettledCall, parent: &CallId) -> ControlFlow<String> {
        let call = &settled.call;
        if let Some(source) = self.tools.get(&call.name).and_then(|tool| tool.source())
            && matches!(settled.outcome, Outcome::Success(_))
        {
            self.foreign.lock().unwrap_or_else(PoisonError::into_inner).insert(parent.clone(), source);
        }
        let end = Arc::new(CallEnd::new(settled, &self.run.agent.responder.respond_nested(settled)));
        let fact = Fact::CallSettled { prompt: self.prompt.clone(), call_id: call.id.clone(), end };
        let recorded = self.recorded(self.run.agent.append(&fact));
        self.run.agent.tell(EventKind::Fact(&fact));
        recorded
    }

    /// Stops the calls if a fact could not be recorded. The first failure is kept as the reason.
    fn recorded(&self, result: Result<(), SessionError>) -> ControlFlow<String> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                ControlFlow::Break(UNRECORDED.to_owned())
            }
        }
    }
}
