//! Shortening the conversation between turns: when, with which request, and what becomes of its answer.

use std::time::Duration;

use host_message::{Content, FinishReason, PromptId, Usage};
use host_model::{Request, estimate, estimate_contents, window};
use host_tool::Registry;
use tokio::time::timeout;
use tracing::Instrument;

use super::RunError;
use super::run::Run;
use super::turn::Stop;
use crate::compress::{ASK_FOR_SUMMARY, is_whole, shortened, split, summarised};
use crate::deadline::Deadline;
use crate::event::CompressionStatus;
use crate::reply::{ReplyBuilder, ReplyError, read};
use crate::{Entry, EventKind, History};

/// How long a service may take to count. Protects a turn, which can do with an estimate.
const COUNT_LIMIT: Duration = Duration::from_secs(10);

/// What is remembered of a conversation's size.
#[derive(Debug, Default)]
pub(super) struct Size {
    /// What the last prompt took by the service's count, and how many messages it had.
    counted: Option<(u64, usize)>,
    /// Whether a summary made nothing better: then old outputs are shortened, and no summary is asked for until that
    /// has helped.
    only_shorten: bool,
    /// About how many tokens the last summary left. Until as many came again another one would help as little.
    left: Option<u64>,
}

/// How a conversation is shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// By a summary of its beginning.
    Summary,
    /// By cutting old outputs of tools.
    Outputs,
}

impl Size {
    /// Takes note of what the service counted, when this many messages were there.
    pub(super) fn count(&mut self, tokens: u64, messages: usize) {
        self.counted = (tokens > 0).then_some((tokens, messages));
    }
}

impl Run<'_> {
    /// Shortens the conversation when it takes too much of the model's window.
    pub(super) async fn compress_if_long(
        &mut self,
        history: &mut History,
        declared: &Registry,
        deadline: &Deadline,
    ) -> Result<(), Stop> {
        let definition = &self.agent.definition;
        let config = definition.run.compression;
        let window = config.window.unwrap_or_else(|| window(&definition.model.model));
        let limit = (window as f64 * config.threshold) as u64;
        if limit == 0 || self.tokens(history, declared, limit, deadline).await? < limit {
            return Ok(());
        }
        let size = &self.state.size;
        let soon = size.left.is_some_and(|left| estimate_contents(history.contents()) < left.saturating_mul(2));
        let how = if soon || size.only_shorten { How::Outputs } else { How::Summary };
        let status = self.compress(history, declared, deadline, how, limit).await?;
        tracing::debug!(?status, "the conversation was too long");
        Ok(())
    }

    /// Shortens the conversation, to about this many tokens when only outputs are shortened.
    pub(super) async fn compress(
        &mut self,
        history: &mut History,
        declared: &Registry,
        deadline: &Deadline,
        how: How,
        limit: u64,
    ) -> Result<CompressionStatus, Stop> {
        let before = estimate_contents(history.contents());
        let (mut status, mut contents) = match how {
            How::Summary => self.summarise(history.contents(), declared, deadline).await?,
            How::Outputs => (CompressionStatus::Nothing, None),
        };
        if status == CompressionStatus::Nothing {
            contents = shortened(history.contents(), limit.min(before / 2))
                .filter(|contents| estimate_contents(contents) < before);
            if contents.is_some() {
                status = CompressionStatus::Shortened;
            }
        }
        if let Some(contents) = contents {
            self.record(Entry::HistoryReplaced { agent_id: &self.agent.id, contents: &contents })?;
            history.replace(contents);
        }
        let after = estimate_contents(history.contents());
        let size = &mut self.state.size;
        match status {
            CompressionStatus::Summarised => *size = Size { left: Some(after), ..Size::default() },
            CompressionStatus::Shortened => *size = Size { left: size.left, ..Size::default() },
            CompressionStatus::Inflated | CompressionStatus::Empty | CompressionStatus::Failed => {
                size.only_shorten = true;
            }
            // Asked for by nobody and changed nothing: nothing to tell, before each turn.
            CompressionStatus::Nothing => return Ok(status),
        }
        self.agent.tell(EventKind::ChatCompressed { status, tokens_before: before, tokens_after: after });
        Ok(status)
    }

    /// The conversation with a summary in place of its beginning, if that is shorter.
    async fn summarise(
        &mut self,
        contents: &[Content],
        declared: &Registry,
        deadline: &Deadline,
    ) -> Result<(CompressionStatus, Option<Vec<Content>>), Stop> {
        let share = self.agent.definition.run.compression.summarised;
        let Some(at) = split(contents, share) else { return Ok((CompressionStatus::Nothing, None)) };
        let mut asked = contents.get(..at).unwrap_or_default().to_vec();
        asked.push(Content::user(ASK_FOR_SUMMARY));
        let prompt = self.take_prompt();
        let span = tracing::info_span!("compression", prompt_id = %prompt);
        let summary = match self.ask_for_summary(&asked, &prompt, declared, deadline).instrument(span).await? {
            Ok(summary) => summary,
            Err(error) => {
                tracing::warn!(%error, "no summary of the conversation came");
                return Ok((CompressionStatus::Failed, None));
            }
        };
        Ok(match summarised(contents, at, &summary) {
            None => (CompressionStatus::Empty, None),
            Some(shorter) if estimate_contents(&shorter) >= estimate_contents(contents) || !is_whole(&shorter) => {
                (CompressionStatus::Inflated, None)
            }
            Some(shorter) => (CompressionStatus::Summarised, Some(shorter)),
        })
    }

    async fn ask_for_summary(
        &mut self,
        contents: &[Content],
        prompt: &PromptId,
        declared: &Registry,
        deadline: &Deadline,
    ) -> Result<Result<String, RunError>, Stop> {
        let agent = self.agent;
        let request = Request {
            model: &agent.definition.model.model,
            system: self.system.as_deref(),
            contents,
            // The summary is to call none; but a service may refuse a conversation with calls of tools that it is not
            // told of.
            tools: declared.specs(),
            settings: &agent.definition.model.settings,
        };
        let mut builder = ReplyBuilder::new(prompt);
        let watch = self.loops.reply();
        let tell = |kind: EventKind<'_>| {
            watch.observe(&kind);
            // The summary itself is no answer to anybody.
            match kind {
                EventKind::Retry { .. } => agent.tell(kind),
                EventKind::ModelSwitched { model, .. } => {
                    agent.ledger.answered_by(model);
                    agent.tell(kind);
                }
                _ => {}
            }
        };
        let ended = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Stop::Cancelled),
            () = deadline.passed() => return Err(Stop::Late),
            () = watch.looped() => Ok(()),
            ended = read(agent.provider.stream(request), &mut builder, &tell) => ended,
        };
        let usage = builder.usage();
        agent.ledger.add_usage(usage);
        if usage != Usage::default() {
            self.record(Entry::Usage { prompt, usage })?;
        }
        Ok(match (ended, watch.into_found()) {
            (_, Some(repeated)) => Err(RunError::Loop(repeated)),
            (Err(error), None) => Err(RunError::Model(error)),
            (Ok(()), None) => match builder.finish(|_| false, true) {
                // What was cut off in the middle has lost what it had not come to.
                Ok(reply) if reply.finish == FinishReason::MaxTokens => {
                    Err(RunError::Reply(ReplyError::Empty { finish: reply.finish }))
                }
                Ok(reply) if reply.content.function_calls().next().is_some() => Ok(String::new()),
                Ok(reply) => Ok(reply.content.visible_text()),
                Err((error, _)) => Err(error.into()),
            },
        })
    }

    /// About how many tokens the next request has: what the service counted last, and what came since. Where it has
    /// counted nothing, as in a conversation that another process held, it is asked when an estimate is no longer far
    /// from the limit.
    async fn tokens(
        &mut self,
        history: &History,
        declared: &Registry,
        limit: u64,
        deadline: &Deadline,
    ) -> Result<u64, Stop> {
        let contents = history.contents();
        if let Some((counted, messages)) = self.state.size.counted {
            let since = contents.get(messages..).unwrap_or_default();
            return Ok(counted.saturating_add(estimate_contents(since)));
        }
        let agent = self.agent;
        let request = Request {
            model: &agent.definition.model.model,
            system: self.system.as_deref(),
            contents,
            tools: declared.specs(),
            settings: &agent.definition.model.settings,
        };
        let estimated = estimate(&request);
        if contents.is_empty() || estimated < limit / 2 {
            return Ok(estimated);
        }
        let counted = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Stop::Cancelled),
            () = deadline.passed() => return Err(Stop::Late),
            counted = timeout(COUNT_LIMIT, agent.provider.count_tokens(request)) => counted,
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
