//! One turn: a request, its reply, and the calls that the reply wants.

use std::sync::Arc;

use host_journal::{Exchange, Fact, History, Replied, Unsettled};
use host_message::{Content, Part, PromptId, Usage};
use host_model::{Again, ModelError, Request, Settings, estimate};
use host_text::with_causes;
use host_tool::{CallEvent, Cancel, Scheduler};
use tokio::time::sleep;

use super::RunError;
use super::repeated::EarlierResults;
use super::run::Run;
use super::step::{Step, Stop, Turn};
use super::watch::Watch;
use crate::reply::{ReplyBuilder, ReplyError, is_visible, read};
use crate::{EventKind, Reply};

/// Reason given to calls when the run's time is over.
const OUT_OF_TIME: &str = "the time limit of the run has passed";

/// Reason given to calls that are part of a loop, along with a message that describes the loop.
const LOOPED: &str = "the same calls again with the same results; no call of this reply was run";

/// Why a request has no reply that can be used.
enum NoReply {
    /// It is invalid; these parts of it arrived.
    Invalid { error: ReplyError, parts: Vec<Part> },
    /// The turn ends.
    Stopped(Stop),
}

impl From<Stop> for NoReply {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl Run<'_> {
    /// Takes a turn. `message` is taken when it becomes part of the history, and is still there otherwise.
    pub(super) async fn turn(
        &mut self,
        history: &mut History,
        message: &mut Option<Vec<Part>>,
        turn: Turn<'_>,
    ) -> Result<Step, Stop> {
        let prompt = turn.prompt;
        let asked = message.is_some();
        let exchange = match message.take() {
            Some(parts) => history.ask(parts)?,
            None => history.go_on(),
        };
        if asked && let Some(content) = exchange.contents().last() {
            // Recorded before it is sent, so that a log without a reply shows what was asked.
            self.said(prompt, content.clone())?;
        }
        let reply = match self.reply(&exchange, turn).await {
            Ok(reply) => reply,
            Err(stop) => {
                let text = self.cut.take().filter(|_| stop.keeps_text());
                let Some(text) = text else {
                    // A request without a reply leaves no trace in the conversation: services reject two messages of
                    // the user's in a row.
                    *message = exchange.withdraw();
                    if asked {
                        self.record(&Fact::Withdrawn { prompt: prompt.clone() })?;
                    }
                    return Err(stop);
                };
                self.keep_cut(exchange, text, prompt)?;
                return Err(stop);
            }
        };
        let text = reply.content.visible_text();
        if !text.is_empty() {
            // Before it is recorded: what cannot be written down must not be lost as well.
            self.partial = Some(text.clone());
        }
        // Before any call runs: nothing may run that the log does not know.
        self.said(prompt, reply.content.clone())?;
        self.finish = Some(reply.finish);
        let unsettled = match exchange.reply(reply.content.parts) {
            Ok(Replied::Calls(unsettled)) => unsettled,
            Ok(Replied::Final) => {
                self.has_reply = true;
                return Ok(Step::Answered(text));
            }
            Err(error) => {
                // The reply broke a rule, so the request goes as well, in the log as in the conversation.
                self.record(&Fact::Withdrawn { prompt: prompt.clone() })?;
                return Err(error.into());
            }
        };
        self.has_reply = true;
        let ended = self.run_calls(unsettled, turn).await;
        self.after_calls(ended)
    }

    /// Keeps what the user saw of a reply that broke off, so that "no, not that" means something.
    fn keep_cut(&mut self, exchange: Exchange<'_>, text: String, prompt: &PromptId) -> Result<(), Stop> {
        let content = Content::model(text);
        self.said(prompt, content.clone())?;
        self.has_reply |= matches!(exchange.reply(content.parts), Ok(Replied::Final));
        Ok(())
    }

    /// Returns what a turn led to whose calls have ended like this.
    fn after_calls(&mut self, ended: Result<(), Stop>) -> Result<Step, Stop> {
        // Asked for even if the calls failed: the result may have been given beside them.
        let completed = self.complete.as_ref().and_then(|complete| complete.take());
        match (ended, completed) {
            // A user who cancels wants an end; the result is kept as what there was.
            (Err(stop @ (Stop::Failed(_) | Stop::Cancelled)), Some(result)) => {
                self.partial = Some(result);
                Err(stop)
            }
            // The task was done before the time was over.
            (Ok(()) | Err(Stop::Late | Stop::Looped(_)), Some(result)) => Ok(Step::Completed(result)),
            (Ok(()), None) if self.agent.switch.is_chosen() => Ok(Step::Switched),
            (Ok(()), None) => Ok(Step::Called),
            (Err(stop), None) => Err(stop),
        }
    }

    /// Asks until the reply is a good one, as often as the policy allows.
    async fn reply(&mut self, exchange: &Exchange<'_>, turn: Turn<'_>) -> Result<Reply, Stop> {
        let agent = self.agent;
        // Apart from the retries of a failed connection: here a whole reply came and was no good.
        let policy = agent.definition.run.reply;
        let mut settings = agent.definition.model.settings.clone();
        let mut attempt = 1;
        loop {
            let (error, parts) = match self.answer(exchange, turn, &settings).await {
                Ok(reply) => return Ok(reply),
                Err(NoReply::Invalid { error, parts }) => (error, parts),
                Err(NoReply::Stopped(stop)) => return Err(stop),
            };
            let reason = with_causes(&error);
            let (prompt, parts) = (turn.prompt.clone(), Arc::new(parts));
            // Recorded, since it was paid for and its text was shown.
            self.record(&Fact::Discarded { prompt, reason: reason.clone(), parts })?;
            if attempt >= policy.attempts {
                return Err(error.into());
            }
            attempt += 1;
            agent.tell(EventKind::retry(&Again { reason, wait: policy.pause, attempt, attempts: policy.attempts }));
            // The same request at the same temperature tends to end in the same way.
            settings.temperature = Some(policy.temperature);
            // Each attempt costs as much as a reply.
            agent.budget.check_budget().map_err(RunError::Exceeded)?;
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(Stop::Cancelled),
                () = turn.deadline.passed() => return Err(Stop::Late),
                () = sleep(policy.pause) => {}
            }
        }
    }

    /// Sends the request once.
    async fn answer(&mut self, exchange: &Exchange<'_>, turn: Turn<'_>, settings: &Settings) -> Result<Reply, NoReply> {
        let contents = exchange.contents();
        // After outcomes a model may have nothing to add.
        let after_outcomes = contents.last().is_some_and(|last| last.function_responses().next().is_some());
        let agent = self.agent;
        let request = Request {
            model: &agent.definition.model.model,
            system: self.system.as_deref(),
            contents,
            tools: turn.declared,
            settings,
            conversation: agent.conversation(),
        };
        // Only where a limit needs it: it goes over the whole conversation.
        let sent = if agent.budget.is_limited() { estimate(&request) } else { 0 };
        let mut builder = ReplyBuilder::new(turn.prompt);
        let watch = self.loops.reply();
        let tell = |kind: EventKind<'_>| {
            watch.observe(&kind);
            if let EventKind::ModelSwitched { model, .. } = kind {
                agent.budget.answered_by(model);
            }
            agent.tell(kind);
        };
        let ended = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Stop::Cancelled),
            () = turn.deadline.passed() => Err(Stop::Late),
            () = watch.looped() => Ok(None),
            ended = read(agent.provider.stream(request), &mut builder, &tell) => match ended {
                Ok(()) => Ok(None),
                // The service would not answer: no reply, and as little good as one that it broke off.
                Err(error @ ModelError::Blocked { .. }) => Ok(Some(error)),
                Err(error) => Err(Stop::Failed(RunError::Model(error))),
            }
        };
        let usage = self.charge(&builder, sent, contents.len());
        let text = builder.visible_text();
        let reply = match (ended, watch.into_found()) {
            (Err(stop), _) => Err(NoReply::Stopped(stop)),
            // A loop before all else: the stream was cut off because of it, so it looks broken.
            (Ok(_), Some(repeated)) => Err(NoReply::Stopped(Stop::Looped(repeated))),
            (Ok(Some(error)), None) => Err(NoReply::Invalid { error: error.into(), parts: builder.into_parts() }),
            (Ok(None), None) => builder
                .finish(|id| exchange.is_taken(id), after_outcomes)
                .map_err(|(error, parts)| NoReply::Invalid { error, parts }),
        };
        self.cut = None;
        if reply.is_err() && !text.is_empty() {
            // What the user saw of it stays in the conversation.
            self.cut = is_visible(&text).then(|| text.clone());
            self.partial = Some(text);
        }
        if usage != Usage::default() {
            self.record(&Fact::Usage { prompt: turn.prompt.clone(), usage }).map_err(Stop::from)?;
        }
        reply
    }

    /// Counts what a reply cost to a request of about `sent` tokens and as many messages; returns the service's count.
    /// Whatever becomes of the reply, it was paid for.
    fn charge(&mut self, builder: &ReplyBuilder<'_>, sent: u64, messages: usize) -> Usage {
        let budget = &self.agent.budget;
        let usage = builder.usage();
        budget.add_usage(usage);
        // A service that answered and counted nothing would make every limit void.
        if usage == Usage::default() && builder.has_come() && budget.is_limited() {
            budget.add_estimate(sent, builder.estimate());
        }
        let before = self.state.size.counted.map(|(tokens, _)| tokens);
        if self.state.caching.reply(before, usage) {
            let (sent, cached) = (before.unwrap_or_default(), usage.cached);
            tracing::info!(
                sent,
                cached,
                "the service did not have in its cache what it was sent with the last request"
            );
        }
        // The service's count of the prompt is the best measure that there is for the next one.
        self.state.size.count(builder.prompt_tokens(), messages);
        usage
    }

    /// Runs the calls of a reply, and always adds their outcomes to the history, whatever happened.
    async fn run_calls(&self, unsettled: Unsettled<'_>, turn: Turn<'_>) -> Result<(), Stop> {
        let Turn { prompt, runnable, deadline, .. } = turn;
        let calls: Vec<_> = unsettled.calls().cloned().collect();
        // With a reason of its own, which the calls report.
        let cancel = Cancel::under(self.cancel);
        let looped = self.loops.calls(&calls);
        if looped.is_some() {
            // The calls settle as cancelled without having run, since each call needs an outcome.
            cancel.cancel(LOOPED);
        }
        let repeated = EarlierResults::of(&calls, unsettled.before());
        let watch = Watch::new(self, prompt, runnable, repeated);
        let observe = |event: CallEvent<'_>| watch.observe(event);
        let scheduler =
            Scheduler::new(runnable).with_standstill(&self.agent.run_clock).with_gate(self.agent.gate.as_ref());
        let settled = {
            let mut running = std::pin::pin!(scheduler.run(calls, &cancel, &observe));
            tokio::select! {
                biased;
                settled = &mut running => settled,
                () = deadline.passed() => {
                    // Cancelled and then waited for: each call has to settle, or the history would lack its outcome.
                    cancel.cancel(OUT_OF_TIME);
                    running.await
                }
            }
        };
        let (mut answers, failure) = watch.into_answers();
        // Always, even when the log failed: a conversation with an open call can never be sent again.
        unsettled.settle(settled.iter().filter_map(|settled| answers.remove(&settled.call.id)).collect())?;
        if let Some(error) = failure {
            return Err(Stop::Failed(error.into()));
        }
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        if deadline.has_passed() {
            return Err(Stop::Late);
        }
        if let Some(repeated) = looped {
            return Err(Stop::Looped(repeated));
        }
        match cancel.is_cancelled() {
            // Nobody else cancels calls: a hook of one of them ended the run.
            true => Err(Stop::Failed(RunError::Hook(cancel.reason().to_owned()))),
            false => Ok(()),
        }
    }
}
