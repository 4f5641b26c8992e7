//! Shortens the conversation between turns: when, with which request, and how its answer is used.
//!
//! Promises: the next request fits the model's window, as far as it can be estimated, unless the user's last message
//! alone does not; each change is recorded first, and reported. A summary is tried first. If it does not help, or its
//! own request would not fit, [`fitted`] cuts outputs and leaves out the oldest messages.

use std::sync::Arc;
use std::time::Duration;

use host_journal::{Fact, History, SessionError, is_whole};
use host_message::{Content, FinishReason, Part, PromptId, Role, ToolSpec, Usage};
use host_model::{KnownModels, Request, estimate, estimate_contents};
use host_text::with_causes;
use tokio::time::timeout;
use tracing::Instrument;

use super::run::Run;
use super::step::Stop;
use super::{Agent, RunError};
use crate::compress::{Next, ask_for_summary, fitted, shortened, split, summarised, with_outputs_cut};
use crate::deadline::Deadline;
use crate::event::CompressionStatus;
use crate::reply::{ReplyBuilder, ReplyError, read};
use crate::{CompressionConfig, EventKind};

/// Maximum time that a service may take to count. Protects a turn, for which an estimate is good enough.
const COUNT_LIMIT: Duration = Duration::from_secs(10);

/// Number of tokens of the window that are reserved for the reply, unless the model is configured to write fewer.
/// Services that count both against one window reject a request that leaves no room.
const REPLY_ROOM: u64 = 8_192;

/// At most one part in this many of the window is reserved for the reply.
const REPLY_SHARE: u64 = 8;

/// Maximum ratio of a conversation's size to its estimate. A service that counts more also counts something else, which
/// cannot be shortened.
const LARGEST_SCALE: f64 = 2.0;

/// What the executor knows about a conversation's size.
#[derive(Debug)]
pub(super) struct Size {
    /// Tokens of the last prompt by the service's count, and its number of messages.
    pub(super) counted: Option<(u64, usize)>,
    /// Whether a summary did not help: then old outputs are shortened, and no summary is requested until that has
    /// helped.
    only_shorten: bool,
    /// About how many tokens the last summary left. Until as many have been added again, another summary would help as
    /// little.
    left: Option<u64>,
    /// Ratio of the service's count to our estimate.
    scale: f64,
    /// The most tokens that the service may count next for the last summary to have helped.
    expected: Option<u64>,
}

impl Default for Size {
    fn default() -> Self {
        Self { counted: None, only_shorten: false, left: None, scale: 1.0, expected: None }
    }
}

/// The result of shortening a conversation.
struct Shorter {
    status: CompressionStatus,
    /// The shorter one.
    contents: Option<Vec<Content>>,
    /// Why no summary was made.
    reason: Option<String>,
}

impl Shorter {
    fn new(status: CompressionStatus) -> Self {
        Self { status, contents: None, reason: None }
    }
}

/// Why there is no summary.
enum NoSummary {
    /// The model gave none that can be used.
    Failed(RunError),
    /// The run stops.
    Stopped(Stop),
}

impl From<Stop> for NoSummary {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// The way to shorten a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How<'a> {
    /// By a summary of its beginning; the user may say what it should keep.
    Summary { keep: Option<&'a str> },
    /// By cutting old outputs of tools.
    Outputs,
}

impl Size {
    /// Takes note of what the service counted, when this many messages were there.
    pub(super) fn count(&mut self, tokens: u64, messages: usize) {
        self.counted = (tokens > 0).then_some((tokens, messages));
        if self.counted.is_some() {
            self.only_shorten |= self.expected.take().is_some_and(|most| tokens > most);
        }
    }

    /// Messages were taken back.
    pub(super) fn was_taken_back(&mut self) {
        *self = Self { scale: self.scale, ..Self::default() };
    }
}

impl Run<'_> {
    /// Shortens the conversation when it takes too much of the model's window, together with the message that is asked
    /// next.
    pub(super) async fn compress_if_long(
        &mut self,
        history: &mut History,
        message: Option<&[Part]>,
        declared: &[ToolSpec],
        deadline: &Deadline,
    ) -> Result<(), Stop> {
        let limit = self.compression_limit();
        let asked = estimate_message(message);
        let room = self.room();
        // The limit is a share of the window; the room is what the reply leaves of it.
        let due = limit.min(room).saturating_sub(asked);
        if limit == 0 {
            return Ok(());
        }
        // Counting may cost a request, so it is done only where the estimate comes near.
        let tokens = self.tokens(history, declared, due, deadline).await?;
        if tokens < due {
            return Ok(());
        }
        // The estimate is put right by what was counted, so that cutting goes by the same measure.
        self.scale(history, declared);
        let is_over = tokens.saturating_add(asked) > room;
        let size = &self.state.size;
        // A summary that is followed by the next one at once costs a request each turn and loses more each time.
        let soon = size.left.is_some_and(|left| estimate_contents(history.contents()) < left.saturating_mul(2));
        // A conversation that would not fit is shortened now.
        let how = if size.only_shorten || (soon && !is_over) { How::Outputs } else { How::Summary { keep: None } };
        // A hook may keep the conversation from being summarised.
        if let Some(why) = self.may_compress(false).await {
            // What would not fit is cut all the same: the service would reject it.
            tracing::debug!(%why, "the conversation is not compressed");
            self.fit(history, message, declared)?;
            return Ok(());
        }
        let status = self.compress(history, declared, deadline, how, limit).await?;
        tracing::debug!(?status, "the conversation was too long");
        // A summary need not be short enough by itself.
        self.fit(history, message, declared)?;
        Ok(())
    }

    /// Makes the next request fit the window, whatever has to be cut or left out for that, and returns what was done.
    pub(super) fn fit(
        &mut self,
        history: &mut History,
        message: Option<&[Part]>,
        declared: &[ToolSpec],
    ) -> Result<Option<CompressionStatus>, SessionError> {
        if self.compression_limit() == 0 {
            return Ok(None);
        }
        let tokens = self.room_for_contents(history, declared).saturating_sub(estimate_message(message));
        let next = if message.is_some() { Next::Message } else { Next::Conversation };
        let Some((contents, status)) = fitted(history.contents(), tokens, next) else { return Ok(None) };
        let before = estimate_contents(history.contents());
        self.replace(history, contents)?;
        self.state.size.counted = None;
        self.tell_compressed(history, status, before, None);
        Ok(Some(status))
    }

    fn compression_limit(&self) -> u64 {
        self.agent.compression_limit()
    }

    fn room(&self) -> u64 {
        self.agent.room()
    }

    /// The most tokens that the messages of a request may have, by our estimate.
    fn room_for_contents(&mut self, history: &History, declared: &[ToolSpec]) -> u64 {
        let room = self.room() as f64 / self.scale(history, declared);
        (room as u64).saturating_sub(estimate(&self.request(&[], declared)))
    }

    /// Ratio of the service's count to our estimate.
    fn scale(&mut self, history: &History, declared: &[ToolSpec]) -> f64 {
        if let Some((counted, messages)) = self.state.size.counted
            && let Some(contents) = history.contents().get(..messages)
        {
            let estimated = estimate(&self.request(contents, declared)).max(1);
            self.state.size.scale = (counted as f64 / estimated as f64).clamp(1.0, LARGEST_SCALE);
        }
        self.state.size.scale
    }

    fn request<'q>(&'q self, contents: &'q [Content], declared: &'q [ToolSpec]) -> Request<'q> {
        let definition = &self.agent.definition;
        Request {
            model: &definition.model.model,
            system: self.system.as_deref(),
            contents,
            tools: declared,
            settings: &definition.model.settings,
            conversation: self.agent.conversation(),
        }
    }

    /// Puts a shorter conversation in the place of this one, here and in the session log.
    fn replace(&mut self, history: &mut History, contents: Vec<Content>) -> Result<(), SessionError> {
        let replaced = Arc::new(contents.clone());
        self.record(&Fact::HistoryReplaced { agent_id: self.agent.id.clone(), contents: replaced })?;
        let was = history.replace(contents);
        self.was_replaced(was, history.contents().len());
        Ok(())
    }

    /// Reports that nothing was changed, and why.
    pub(super) fn tell_not_compressed(&self, history: &History, why: &str) {
        let before = estimate_contents(history.contents());
        self.tell_compressed(history, CompressionStatus::Failed, before, Some(why));
    }

    fn tell_compressed(&self, history: &History, status: CompressionStatus, before: u64, reason: Option<&str>) {
        let after = estimate_contents(history.contents());
        self.agent.tell(EventKind::ChatCompressed { status, tokens_before: before, tokens_after: after, reason });
    }

    /// Shortens the conversation, to about this many tokens when only outputs are shortened.
    pub(super) async fn compress(
        &mut self,
        history: &mut History,
        declared: &[ToolSpec],
        deadline: &Deadline,
        how: How<'_>,
        limit: u64,
    ) -> Result<CompressionStatus, Stop> {
        let before = estimate_contents(history.contents());
        let Shorter { mut status, mut contents, reason } = match how {
            How::Summary { keep } => self.summarise(history, declared, deadline, keep).await?,
            How::Outputs => Shorter::new(CompressionStatus::Nothing),
        };
        if status == CompressionStatus::Nothing {
            // At least a half, or the next turn would be here again.
            contents = shortened(history.contents(), limit.min(before / 2))
                .filter(|contents| estimate_contents(contents) < before);
            if contents.is_some() {
                status = CompressionStatus::Shortened;
            }
        }
        if let Some(contents) = contents {
            // Recorded before the conversation changes, so that a resumed one is the same.
            self.replace(history, contents)?;
        }
        let (left, room) = (Some(estimate_contents(history.contents())), self.room());
        let size = &mut self.state.size;
        let scale = size.scale;
        match status {
            CompressionStatus::Summarised => *size = Size { left, scale, expected: Some(room), ..Size::default() },
            CompressionStatus::Shortened | CompressionStatus::LeftOut => {
                *size = Size { left: size.left, scale, ..Size::default() };
            }
            // A model that cannot summarise this conversation will not do so in the next turn either.
            CompressionStatus::Inflated | CompressionStatus::Empty | CompressionStatus::Failed => {
                size.only_shorten = true;
            }
            // This check runs before each turn; if it changed nothing, there is nothing to report.
            CompressionStatus::Nothing => return Ok(status),
        }
        self.tell_compressed(history, status, before, reason.as_deref());
        Ok(status)
    }

    /// The conversation with a summary in place of its beginning, if that is shorter. Outputs are cut in the request
    /// for it if it would not fit the window; if it still does not fit, no summary is requested.
    async fn summarise(
        &mut self,
        history: &History,
        declared: &[ToolSpec],
        deadline: &Deadline,
        keep: Option<&str>,
    ) -> Result<Shorter, Stop> {
        let contents = history.contents();
        let share = self.agent.definition.run.compression.summarised;
        let Some(at) = split(contents, share) else { return Ok(Shorter::new(CompressionStatus::Nothing)) };
        let question = Content::user(ask_for_summary(keep));
        let room = self.room_for_contents(history, declared);
        let room = room.saturating_sub(estimate_contents(std::slice::from_ref(&question)));
        // Its own request is nearly as long as the one that did not fit.
        let mut asked = with_outputs_cut(contents.get(..at).unwrap_or_default(), room);
        if estimate_contents(&asked) > room {
            return Ok(Shorter::new(CompressionStatus::Nothing));
        }
        asked.push(question);
        // A prompt of its own, so that what it costs is recorded apart.
        let prompt = self.take_prompt();
        let span = tracing::info_span!("compression", prompt_id = %prompt);
        let summary = match self.ask_for_summary(&asked, &prompt, declared, deadline).instrument(span).await {
            Ok(summary) => summary,
            Err(NoSummary::Stopped(stop)) => return Err(stop),
            Err(NoSummary::Failed(error)) => {
                return Ok(Shorter { reason: Some(with_causes(&error)), ..Shorter::new(CompressionStatus::Failed) });
            }
        };
        Ok(match summarised(contents, at, &summary) {
            None => Shorter::new(CompressionStatus::Empty),
            Some(shorter) if estimate_contents(&shorter) >= estimate_contents(contents) || !is_whole(&shorter) => {
                Shorter::new(CompressionStatus::Inflated)
            }
            Some(shorter) => Shorter { contents: Some(shorter), ..Shorter::new(CompressionStatus::Summarised) },
        })
    }

    async fn ask_for_summary(
        &mut self,
        contents: &[Content],
        prompt: &PromptId,
        declared: &[ToolSpec],
        deadline: &Deadline,
    ) -> Result<String, NoSummary> {
        let agent = self.agent;
        // The summary is to call no tool; but a service may refuse a conversation with calls of tools that it does not
        // know.
        let request = self.request(contents, declared);
        let mut builder = ReplyBuilder::new(prompt);
        // A model that repeats itself in a summary would be read to the deadline.
        let watch = self.loops.reply();
        let tell = |kind: EventKind<'_>| {
            watch.observe(&kind);
            // The summary itself is not reported as an answer.
            match kind {
                EventKind::Retry { .. } => agent.tell(kind),
                EventKind::ModelSwitched { model, .. } => {
                    agent.budget.answered_by(model);
                    agent.tell(kind);
                }
                _ => {}
            }
        };
        let ended = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Stop::Cancelled.into()),
            () = deadline.passed() => return Err(Stop::Late.into()),
            () = watch.looped() => Ok(()),
            ended = read(agent.provider.stream(request), &mut builder, &tell) => ended,
        };
        let usage = builder.usage();
        // Also when it failed: the tokens were used.
        agent.budget.add_usage(usage);
        if usage != Usage::default() {
            // A resumed session must know what was spent.
            self.record(&Fact::Usage { prompt: prompt.clone(), usage }).map_err(Stop::from)?;
        }
        match (ended, watch.into_found()) {
            (_, Some(repeated)) => Err(NoSummary::Failed(RunError::Loop(repeated))),
            (Err(error), None) => Err(NoSummary::Failed(RunError::Model(error))),
            (Ok(()), None) => match builder.finish(|_| false, true) {
                // A truncated summary lacks everything that it had not reached yet.
                Ok(reply) if reply.finish == FinishReason::MaxTokens => {
                    Err(NoSummary::Failed(RunError::Reply(ReplyError::Empty { finish: reply.finish })))
                }
                // It was told to call nothing, and what it wants to call is not a summary.
                Ok(reply) if reply.content.function_calls().next().is_some() => Ok(String::new()),
                Ok(reply) => Ok(reply.content.visible_text()),
                Err((error, _)) => Err(NoSummary::Failed(error.into())),
            },
        }
    }

    /// Returns about how many tokens the next request has: the service's last count, plus what was added since. If the
    /// service has not counted yet, as in a conversation from another process, it is asked to count once the estimate
    /// is close to the limit.
    async fn tokens(
        &mut self,
        history: &History,
        declared: &[ToolSpec],
        limit: u64,
        deadline: &Deadline,
    ) -> Result<u64, Stop> {
        let contents = history.contents();
        if let Some((counted, messages)) = self.state.size.counted {
            let since = contents.get(messages..).unwrap_or_default();
            return Ok(counted.saturating_add(estimate_contents(since)));
        }
        let request = self.request(contents, declared);
        let estimated = (estimate(&request) as f64 * self.state.size.scale) as u64;
        // Far from the limit the estimate is good enough, and counting may cost a request.
        if contents.is_empty() || estimated < limit / 2 {
            return Ok(estimated);
        }
        let counted = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Stop::Cancelled),
            () = deadline.passed() => return Err(Stop::Late),
            // A service that counts slowly must not hold up a turn.
            counted = timeout(COUNT_LIMIT, self.agent.provider.count_tokens(request)) => counted,
        };
        match counted {
            Ok(Ok(Some(counted))) => {
                self.state.size.count(counted, contents.len());
                return Ok(counted);
            }
            Ok(Ok(None)) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the tokens of the conversation are estimated"),
            Err(_) => tracing::debug!("the service takes too long to count; the tokens are estimated"),
        }
        Ok(estimated)
    }
}

impl Agent {
    /// The most tokens that the model takes at once.
    pub(super) fn window(&self) -> u64 {
        let definition = &self.definition;
        definition.run.compression.window.unwrap_or_else(|| KnownModels::default().window(&definition.model.model))
    }

    /// Returns the number of tokens at which a conversation is shortened; 0 is never.
    pub(super) fn compression_limit(&self) -> u64 {
        let CompressionConfig { threshold, comfortable, .. } = self.definition.run.compression;
        let share = (self.window() as f64 * threshold) as u64;
        comfortable.map_or(share, |comfortable| share.min(comfortable))
    }

    /// The most tokens that a request may have: the window without room for the reply.
    pub(super) fn room(&self) -> u64 {
        let window = self.window();
        let reply = self.definition.model.settings.max_output_tokens.map_or(REPLY_ROOM, u64::from);
        window.saturating_sub(reply.min(window / REPLY_SHARE))
    }
}

/// Estimates the tokens of a message that is not in the conversation yet.
fn estimate_message(message: Option<&[Part]>) -> u64 {
    message.map_or(0, |parts| estimate_contents(&[Content { role: Role::User, parts: parts.to_vec() }]))
}
