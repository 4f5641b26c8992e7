//! One run: turns until an end, and the last request after a limit.

use std::sync::Arc;

use host_journal::{Fact, History, SessionError, TerminateReason};
use host_message::{Content, FinishReason, Part, PromptId, ToolSpec};
use host_text::{counted, with_causes};
use host_tool::Registry;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::step::{Step, Stop, Turn};
use super::{Agent, Conversation, Partial, RunError, RunResult};
use crate::complete::{COMPLETE_TASK, CompleteTask};
use crate::deadline::Deadline;
use crate::loops::{LoopDetector, note};
use crate::near::{self, Used};
use crate::steering::{self, Steering};
use crate::warning::WARNING_END;
use crate::{Completion, EventKind, Exceeded, KeptText, Repeated};

/// The result of a run that ended because the user chose another approval mode.
const SWITCHED: &str = "The user chose another approval mode.";

/// A run under way.
pub(super) struct Run<'r> {
    pub(super) agent: &'r Agent,
    /// Fires when the user cancels, and when the run is dropped.
    pub(super) cancel: &'r CancellationToken,
    pub(super) complete: Option<CompleteTask>,
    pub(super) system: Option<String>,
    pub(super) finish: Option<FinishReason>,
    /// The last text that the model wrote.
    pub(super) partial: Option<String>,
    /// What can be seen of a reply that broke off.
    pub(super) cut: Option<String>,
    pub(super) loops: LoopDetector,
    /// Number of loops detected so far.
    looped: u32,
    /// Whether the model was told that a limit is near.
    warned: bool,
    pub(super) state: &'r mut Conversation,
    /// What the user says while it works.
    steering: Option<&'r dyn Steering>,
    turns: u32,
    /// How often hooks kept it from ending.
    pub(super) kept_on: u32,
    /// How often checks did.
    pub(super) failed_checks: u32,
    /// Whether the model replied, if only with a part of an answer.
    pub(super) has_reply: bool,
    before: Before,
}

/// The state that the conversation returns to if the run fails or is cancelled before there is a reply.
#[derive(Debug, Default)]
struct Before {
    /// Number of its messages.
    messages: usize,
    /// The messages themselves, if the conversation was shortened when some of the run's were in it.
    contents: Option<Vec<Content>>,
    /// Whether the run sent a request.
    asked: bool,
}

/// The end of a run.
struct Ending {
    reason: TerminateReason,
    result: Option<String>,
    /// The text of the one request after a limit.
    best: Option<String>,
    error: Option<RunError>,
}

impl<'r> Run<'r> {
    pub(super) fn new(
        agent: &'r Agent,
        cancel: &'r CancellationToken,
        state: &'r mut Conversation,
        system: Option<String>,
    ) -> Self {
        let complete = match agent.definition.completion {
            // A new one for each run, since it holds the result.
            Completion::Tool => Some(CompleteTask::new(agent.definition.output.as_ref())),
            Completion::Text => None,
        };
        let (finish, partial, cut) = (None, None, None);
        let loops = LoopDetector::new(agent.definition.run.loops);
        Self {
            agent,
            cancel,
            complete,
            system,
            finish,
            partial,
            cut,
            loops,
            looped: 0,
            warned: false,
            state,
            steering: None,
            turns: 0,
            kept_on: 0,
            failed_checks: 0,
            has_reply: false,
            before: Before::default(),
        }
    }

    /// Takes what the user says while it works.
    pub(super) fn steered(self, steering: Option<&'r dyn Steering>) -> Self {
        Self { steering, ..self }
    }

    pub(super) async fn drive(mut self, history: &mut History, mut message: Option<Vec<Part>>) -> RunResult {
        self.before.messages = history.contents().len();
        let mut ending = self.until_end(history, &mut message).await.unwrap_or_else(Ending::error);
        let mut recovered_from = None;
        // A run that met a limit may say what it found: one last request is cheaper than losing it.
        if ending.reason.can_recover() {
            let (met, why) = (ending.reason, ending.error);
            ending = self.recover(history, message.take(), met).await.unwrap_or_else(Ending::error);
            recovered_from = (ending.reason == TerminateReason::Goal).then_some(met);
            if let Some(why) = why.filter(|_| recovered_from.is_none()) {
                // Report the last failure; the limit that was reached stays the reason.
                if let Some(error) = ending.error.replace(why) {
                    self.agent.tell_error(with_causes(&error));
                }
            }
        }
        let is_cut_short = ending.reason.is_cut_short();
        if self.has_reply {
            // For the next prompt, which tells the model that it was stopped.
            self.state.cut_short = is_cut_short.then_some(ending.reason);
            if let Some(unsent) = message.filter(|_| is_cut_short) {
                // What the user said meanwhile, and what else had joined: the next prompt brings it along.
                self.state.question = unsent;
            }
        } else if is_cut_short {
            // Without any reply the prompt goes back to the user, as if it had not been sent.
            self.take_back(history);
        }
        self.result(ending, recovered_from)
    }

    /// Takes the prompt back, to which no reply came, here and in the session log. If that cannot be recorded, neither
    /// can the end of the run, which says so.
    fn take_back(&mut self, history: &mut History) {
        let Before { messages, contents, asked } = std::mem::take(&mut self.before);
        if let Some(contents) = contents {
            let replaced = Arc::new(contents.clone());
            self.record(&Fact::HistoryReplaced { agent_id: self.agent.id.clone(), contents: replaced }).ok();
            history.replace(contents);
        }
        if asked {
            self.record(&Fact::TakenBack { agent_id: self.agent.id.clone(), messages: messages as u64 }).ok();
        }
        // It was as long before, and each call had its outcome.
        history.take_back(messages).ok();
        self.state.question.clear();
        self.state.size.was_taken_back();
    }

    /// Takes note that the conversation was shortened; `was` is its previous content.
    pub(super) fn was_replaced(&mut self, mut was: Vec<Content>, messages: usize) {
        let Before { messages: before, contents, .. } = &mut self.before;
        if contents.is_some() {
            return;
        }
        if was.len() <= *before {
            // Nothing of this run was in it: it may stay shortened.
            *before = messages;
        } else {
            was.truncate(*before);
            *contents = Some(was);
        }
    }

    /// Takes turns until an end. `message` is what the model is still to be asked: none while the outcomes of
    /// calls are the last message, and the same again when nothing came of asking.
    async fn until_end(&mut self, history: &mut History, message: &mut Option<Vec<Part>>) -> Result<Ending, RunError> {
        let agent = self.agent;
        let deadline = Deadline::after(agent.definition.run.max_time, &agent.run_clock);
        // Subagents see the same deadline.
        agent.budget.begin(deadline.clone());
        self.record_start(history)?;
        // Before the tools: a change in between is seen by the next turn.
        let mut version = agent.tools.version();
        let mut tools = agent.tools_with(self.complete.as_ref())?;
        loop {
            if let Some(ending) = self.limit_met()? {
                return Ok(ending);
            }
            let now = agent.tools.version();
            if now != version {
                // A server's tools appear when they are ready: each turn has those of its time.
                version = now;
                tools = agent.tools_with(self.complete.as_ref())?;
            }
            self.declare(&tools, history);
            self.gather(history, message, &tools).await;
            self.warn_of_limit(message, &deadline);
            // A user who cancels wants an end, not a last request: the cancel comes before the deadline.
            if self.cancel.is_cancelled() {
                return Ok(Ending::without_answer(TerminateReason::Aborted));
            }
            if deadline.has_passed() {
                return Ok(Ending::without_answer(TerminateReason::Timeout));
            }
            let declared = self.state.declared.specs();
            // Before each turn and not after it: outputs of calls are what grows.
            if let Err(stop) = self.compress_if_long(history, message.as_deref(), &declared, &deadline).await {
                return stop.ending(TerminateReason::Timeout);
            }
            // A summary may stand in the place of what said the definition of a tool.
            self.declare(&tools, history);
            let declared = self.state.declared.specs();
            agent.tell(EventKind::TurnStarted { turn: self.turns });
            // Counted before it is asked: a turn that fails has cost something all the same.
            self.turns += 1;
            agent.budget.add_turn();
            let ended = match self.ask(history, message, &declared, &tools, &deadline).await {
                Ok(step) => self.ended_by(step, message, &deadline).await,
                Err(Stop::Looped(repeated)) => {
                    self.looped(repeated, message)?;
                    Ok(None)
                }
                Err(stop) => Err(stop),
            };
            match ended {
                Ok(Some(ending)) => return Ok(ending),
                Ok(None) => {}
                Err(stop) => return stop.ending(TerminateReason::Timeout),
            }
        }
    }

    /// Declares the tools, and those that a search found and whose definitions the conversation does not have: it was
    /// shortened, or an earlier version of the host recorded it.
    fn declare(&mut self, tools: &Registry, history: &History) {
        self.state.declared.add(tools.specs());
        let responses = || history.contents().iter().flat_map(Content::function_responses);
        let has = |tool: &ToolSpec| responses().flat_map(|response| &response.found).any(|said| said.name == tool.name);
        let lost: Vec<ToolSpec> = tools.found().iter().filter(|tool| !has(tool)).cloned().collect();
        self.state.declared.add(&lost);
    }

    /// Records that the run begins, before anything is sent: a log that ends here says that a request may be under way.
    fn record_start(&mut self, history: &History) -> Result<(), SessionError> {
        let agent = self.agent;
        self.record(&Fact::RunStarted {
            agent: agent.definition.name.clone(),
            agent_id: agent.id.clone(),
            model: agent.definition.model.model.clone(),
            system: self.system.clone(),
        })?;
        // What the conversation begins with, such as a definition's first messages, cannot be read from the first
        // request.
        if !self.state.recorded {
            if !history.contents().is_empty() {
                let contents = Arc::new(history.contents().to_vec());
                self.record(&Fact::HistoryReplaced { agent_id: agent.id.clone(), contents })?;
            }
            self.state.recorded = true;
        }
        Ok(())
    }

    /// Returns the end of a run that met a limit of turns, tokens or costs.
    fn limit_met(&self) -> Result<Option<Ending>, RunError> {
        if self.agent.definition.run.max_turns.is_some_and(|limit| self.turns >= limit) {
            return Ok(Some(Ending::without_answer(TerminateReason::MaxTurns)));
        }
        let Err(exceeded) = self.agent.budget.check() else { return Ok(None) };
        let reason = exceeded.reason();
        // A day that was used up before the run began leaves no request to this run, not even a last one.
        let is_before = self.turns == 0 && matches!(exceeded, Exceeded::Day(_));
        if is_before || reason == TerminateReason::Error {
            return Err(exceeded.into());
        }
        Ok(Some(Ending { error: Some(exceeded.into()), ..Ending::without_answer(reason) }))
    }

    /// Adds to the next message what joined since the last turn: the user's words, what is new about the tools, and
    /// texts of the context.
    async fn gather(&self, history: &History, message: &mut Option<Vec<Part>>, tools: &Registry) {
        if self.turns > 0 {
            // Only behind a turn: before the first one the prompt is what the user has said.
            self.hear(message).await;
        }
        let said = history.contents().iter().flat_map(|content| &content.parts);
        let kept = KeptText::all_of(said.chain(message.iter().flatten()));
        let now = [tools.specs(), tools.found()].concat();
        let news = self.state.declared.news(&now, &kept);
        // What a conversation begins with is in its first message already.
        let begins = self.turns == 0 && history.contents().is_empty();
        let joining = if begins { Vec::new() } else { self.agent.joining(&kept) };
        let joining: Vec<Part> = news.into_iter().chain(joining).map(|text| text.part()).collect();
        if !joining.is_empty() {
            message.get_or_insert_default().extend(joining);
        }
    }

    /// Tells the model once that a limit is near, while it can still come to an end.
    fn warn_of_limit(&mut self, message: &mut Option<Vec<Part>>, deadline: &Deadline) {
        let agent = self.agent;
        let used = Used { turns: self.turns, time: deadline.used(), tree: agent.budget.spent_by_all() };
        // Before the first turn there is nothing that it could stop.
        let note = near::note(&used, &agent.definition.run, agent.budget.limits());
        if let Some(note) = note.filter(|_| self.turns > 0 && !self.warned) {
            self.warned = true;
            message.get_or_insert_default().push(Part::text(note));
        }
    }

    /// Returns the end that a step leads to; `None` if the run goes on, such as when checks or hooks do not let it end.
    async fn ended_by(
        &mut self,
        step: Step,
        message: &mut Option<Vec<Part>>,
        deadline: &Deadline,
    ) -> Result<Option<Ending>, Stop> {
        let result = match step {
            Step::Called => return Ok(None),
            // The user approved a plan: the run ends, and goes on in the mode that was chosen.
            Step::Switched => return Ok(Some(Ending::goal(SWITCHED.to_owned()))),
            Step::Completed(result) => result,
            Step::Answered(text) => match self.agent.definition.completion {
                Completion::Text => text,
                // Weak models print the JSON that they were asked for and never call the tool.
                Completion::Tool => match self.complete.as_ref().and_then(|complete| complete.take_text(&text)) {
                    Some(result) => result,
                    None => return Ok(Some(Ending::without_answer(TerminateReason::ErrorNoCompleteTaskCall))),
                },
            },
        };
        if let Some(failed) = self.check(deadline).await? {
            message.get_or_insert_default().extend(failed);
            return Ok(None);
        }
        Ok(self.asked_to_end(&result, message).await?.then(|| Ending::goal(result)))
    }

    /// Asks the hooks whether the run may end with this answer. If not, the model is asked what they say.
    async fn asked_to_end(&mut self, answer: &str, message: &mut Option<Vec<Part>>) -> Result<bool, Stop> {
        if !self.is_asked_at_the_end() {
            return Ok(true);
        }
        let Some(parts) = self.may_end(answer).await? else { return Ok(true) };
        message.get_or_insert_default().extend(parts);
        Ok(false)
    }

    /// Adds what the user said since the last turn to the next message.
    async fn hear(&self, message: &mut Option<Vec<Part>>) {
        let Some(steering) = self.steering else { return };
        loop {
            let said = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return,
                said = steering.take() => said,
            };
            let Some(parts) = said else { return };
            let text = parts.iter().find_map(Part::as_text).unwrap_or_default();
            self.agent.tell(EventKind::Asked { text });
            match self.agent.submit(text, self.cancel).await {
                Ok(context) => {
                    message.get_or_insert_default().extend(steering::message(parts).into_iter().chain(context));
                }
                // Denied words are left out, and the run goes on without them.
                Err(error) => self.agent.tell_error(error.to_string()),
            }
        }
    }

    /// Handles a loop of the model: the first one warns the model, the second one ends the run.
    fn looped(&mut self, repeated: Repeated, message: &mut Option<Vec<Part>>) -> Result<(), RunError> {
        self.looped += 1;
        if self.looped > 1 {
            return Err(RunError::Loop(repeated));
        }
        self.agent.tell(EventKind::LoopDetected { repeated: &repeated.to_string() });
        message.get_or_insert_default().push(Part::text(note(&repeated)));
        Ok(())
    }

    /// Sends the one request after a limit. All tools stay declared, since a service may reject a conversation with
    /// calls of undeclared tools; but only `complete_task` runs.
    async fn recover(
        &mut self,
        history: &mut History,
        message: Option<Vec<Part>>,
        met: TerminateReason,
    ) -> Result<Ending, RunError> {
        // So that a resumed session does not show the warning as the user's words.
        self.record(&Fact::RecoveryStarted { agent_id: self.agent.id.clone(), reason: met })?;
        let tools = self.agent.tools_with(self.complete.as_ref())?;
        self.declare(&tools, history);
        let declared = self.state.declared.specs();
        let runnable = tools.only(self.complete.iter().map(|_| COMPLETE_TASK))?;
        let mut last = message.unwrap_or_default();
        last.push(Part::text(self.warning(met)));
        let deadline = Deadline::after(Some(self.agent.definition.run.grace), &self.agent.run_clock);
        // The last request must not fail for want of room.
        self.fit(history, Some(&last), &declared)?;
        let mut last = Some(last);
        // Only `complete_task` runs: a limit must not be passed by one more round of calls.
        let asked = self.ask(history, &mut last, &declared, &runnable, &deadline).await;
        if let Some(mut question) = last {
            // It has no reply: the next run asks it again, without the warning.
            question.pop();
            self.state.question = question;
        }
        match asked {
            Ok(Step::Completed(result)) => Ok(Ending::goal(result)),
            // It is the best answer so far: what a limit cut is not done.
            Ok(Step::Answered(text)) if self.complete.is_none() && !text.trim().is_empty() => {
                Ok(Ending { best: Some(text), ..Ending::without_answer(met) })
            }
            Ok(Step::Answered(_) | Step::Called | Step::Switched) => Ok(Ending::without_answer(met)),
            // A model that fails now takes nothing away from the limit that was met.
            Err(Stop::Failed(error @ (RunError::Model(_) | RunError::Reply(_)))) => {
                Ok(Ending { error: Some(error), ..Ending::without_answer(met) })
            }
            Err(Stop::Looped(repeated)) => {
                Ok(Ending { error: Some(RunError::Loop(repeated)), ..Ending::without_answer(met) })
            }
            Err(stop) => stop.ending(met),
        }
    }

    async fn ask(
        &mut self,
        history: &mut History,
        message: &mut Option<Vec<Part>>,
        declared: &[ToolSpec],
        runnable: &Registry,
        deadline: &Deadline,
    ) -> Result<Step, Stop> {
        self.before.asked = true;
        self.agent.tools.was_declared(declared);
        let prompt = self.take_prompt();
        let span = tracing::info_span!("turn", prompt_id = %prompt);
        let turn = Turn { prompt: &prompt, declared, runnable, deadline };
        self.turn(history, message, turn).instrument(span).await
    }

    /// Returns the id of the next request; each request gets a different one.
    pub(super) fn take_prompt(&mut self) -> PromptId {
        let prompt = self.next_prompt();
        self.state.next_prompt = self.state.next_prompt.saturating_add(1);
        prompt
    }

    fn next_prompt(&self) -> PromptId {
        PromptId { agent: self.agent.id.clone(), turn: self.state.next_prompt }
    }

    fn warning(&self, met: TerminateReason) -> String {
        let limits = self.agent.definition.run;
        let what = match met {
            TerminateReason::Timeout => match self.agent.budget.check_budget() {
                Ok(()) => {
                    let limit = limits.max_time.map_or(0, |limit| limit.as_secs());
                    format!("The time limit of this run, {limit} s, has passed.")
                }
                Err(exceeded) => format!("A limit is reached: {exceeded}."),
            },
            TerminateReason::MaxTurns => match self.agent.budget.check() {
                Ok(()) => {
                    let limit = counted(limits.max_turns.unwrap_or_default(), "turn");
                    format!("The limit of this run, {limit}, is reached.")
                }
                Err(exceeded) => format!("A limit is reached: {exceeded}."),
            },
            TerminateReason::ErrorNoCompleteTaskCall => {
                format!("Your reply had no tool call. This run can only be ended by a call of `{COMPLETE_TASK}`.")
            }
            TerminateReason::Goal | TerminateReason::Aborted | TerminateReason::Error => String::new(),
        };
        let how = match &self.complete {
            Some(_) => format!("Call `{COMPLETE_TASK}` at once, with the best answer that you have so far."),
            None => "Write your final answer at once, the best that you have so far.".to_owned(),
        };
        format!("{what} You have one last reply and {} s for it. {how} {WARNING_END}", limits.grace.as_secs())
    }

    fn result(self, ending: Ending, recovered_from: Option<TerminateReason>) -> RunResult {
        let is_taken_back = ending.reason.is_cut_short() && !self.has_reply;
        let Ending { reason, result, best, error } = ending;
        let partial = best.map(Partial::BestAnswer).or_else(|| self.partial.clone().map(Partial::LastText));
        // What the run found is handed over however it ended; only a result counts as done.
        let mut result = RunResult {
            partial: if result.is_some() { None } else { partial },
            result,
            terminate_reason: reason,
            error,
            recovered_from,
            finish: self.finish.clone(),
            usage: self.agent.budget.spent().usage,
            cost: self.agent.budget.spent().charge(),
            turns: self.turns,
            is_taken_back,
        };
        // Reported below: if it cannot be recorded, the run ends otherwise.
        let recorded = self.report(&result).and_then(|()| self.agent.append(&result.fact(&self.agent.id)));
        if let Err(error) = recorded
            && result.terminate_reason != TerminateReason::Error
        {
            // The log does not say how the run ended. What it found is handed over all the same.
            result.partial = result.result.take().map(Partial::LastText).or(result.partial);
            result.terminate_reason = TerminateReason::Error;
            result.recovered_from = None;
            self.agent.tell_error(with_causes(&error));
            result.error = Some(error.into());
        }
        // The end is the last event of a run, after the log has it.
        self.agent.tell(EventKind::Fact(&result.fact(&self.agent.id)));
        result
    }

    /// Tells and records what made the run end badly.
    fn report(&self, result: &RunResult) -> Result<(), SessionError> {
        if result.terminate_reason == TerminateReason::Aborted {
            self.agent.tell(EventKind::UserCancelled);
        }
        let Some(error) = &result.error else { return Ok(()) };
        let fact = Fact::Error { agent_id: self.agent.id.clone(), message: with_causes(error) };
        let recorded = self.agent.append(&fact);
        // Even if it cannot be recorded: that may be what went wrong.
        self.agent.tell(EventKind::Fact(&fact));
        recorded
    }

    pub(super) fn record(&self, fact: &Fact) -> Result<(), SessionError> {
        self.agent.record(fact)
    }

    /// Records a message of the user's or of the model's.
    pub(super) fn said(&self, prompt: &PromptId, content: Content) -> Result<(), SessionError> {
        self.record(&Fact::Content { prompt: prompt.clone(), content: Arc::new(content) })
    }
}

impl Ending {
    fn goal(result: String) -> Self {
        Self { reason: TerminateReason::Goal, result: Some(result), best: None, error: None }
    }

    fn without_answer(reason: TerminateReason) -> Self {
        Self { reason, result: None, best: None, error: None }
    }

    fn error(error: RunError) -> Self {
        Self { error: Some(error), ..Self::without_answer(TerminateReason::Error) }
    }
}

impl Stop {
    /// The end that this stop leads to; `late` is the one when a deadline passed.
    fn ending(self, late: TerminateReason) -> Result<Ending, RunError> {
        match self {
            Self::Cancelled => Ok(Ending::without_answer(TerminateReason::Aborted)),
            Self::Late => Ok(Ending::without_answer(late)),
            Self::Failed(error) => Err(error),
            Self::Looped(repeated) => Err(RunError::Loop(repeated)),
        }
    }
}
