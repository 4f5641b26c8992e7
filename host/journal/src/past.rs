//! The contents of a log as a whole: the conversation of each agent as it was when the log ended.
//!
//! The conversation is rebuilt with [`History`], so it is the same as the original, message by message: withdrawn
//! requests are not in it, and the outcomes of a reply's calls follow it in the order of the calls. A log in which that
//! is impossible is damaged.
//!
//! Deliberately not here: reading lines, and resuming.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::mem;
use std::sync::Arc;

use host_message::{AgentId, CallId, Content, FunctionCall, ModelId, Part, PromptId, Role, SessionId, Usage};
use jiff::Timestamp;
use serde_json::Value;

use crate::history::{answers, interrupted};
use crate::{
    CallEnd, CallStatus, Exchange, Fact, History, HistoryError, Logged, ReadError, Records, Replied, TerminateReason,
};

/// A session as its log has it.
#[derive(Debug)]
pub struct Recorded {
    /// Its id.
    pub id: SessionId,
    /// When it began.
    pub began: Timestamp,
    /// Its workspace; if the path is not valid Unicode, as much as can be shown.
    pub workspace: Option<String>,
    /// The model, as the user named it last.
    pub model: Option<ModelId>,
    /// Number of bytes of a half-written line at the end of the log, which is ignored.
    pub torn_bytes: u64,
    /// When its last entry was written.
    pub until: Timestamp,
    /// Each text that is an argument of a main agent's call that succeeded, with the time of the last: among them are
    /// the files that the calls were about.
    pub named: HashMap<String, Timestamp>,
    agents: BTreeMap<AgentId, Past>,
}

/// The longest argument that may be the path of a file, in bytes.
const MAX_PATH: usize = 4096;

/// An agent's conversation until now.
#[derive(Debug, Default)]
pub struct Past {
    history: History,
    next_prompt: u32,
    usage: Usage,
    stage: Stage,
    /// The last message, if it has no reply.
    question: Vec<Part>,
    /// The end of the last run, if no message came after it.
    ended: Option<TerminateReason>,
    /// Whether the next message in the user's role is the host's warning.
    recovering: bool,
    /// Whether a run is under way, and whether it has a reply.
    run: RunStage,
    /// How the last run that had a reply was cut short, if it was.
    cut_short: Option<TerminateReason>,
}

/// What is needed to continue a conversation.
#[derive(Debug)]
pub struct PastParts {
    /// The conversation.
    pub history: History,
    /// The number of the next request.
    pub next_prompt: u32,
    /// The last message, if it has no reply.
    pub question: Vec<Part>,
    /// How the last run that had a reply was cut short, if it was.
    pub cut_short: Option<TerminateReason>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RunStage {
    #[default]
    Over,
    Begun,
    HasReply,
}

/// The work that an agent had left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing: the model's reply is the last message, or there are no messages.
    Nothing,
    /// A message from the user has no reply.
    Question,
    /// The model has not received the outcomes of its last calls.
    Outcomes,
}

/// Stage of the exchange that is not in the history yet.
#[derive(Debug, Default)]
enum Stage {
    #[default]
    Over,
    Asked {
        prompt: PromptId,
        message: Vec<Part>,
        warned: bool,
    },
    Replied(Reply),
}

#[derive(Debug)]
struct Reply {
    line: u64,
    prompt: PromptId,
    asked: Option<Vec<Part>>,
    parts: Vec<Part>,
    begun: HashSet<CallId>,
    outcomes: HashMap<CallId, Arc<CallEnd>>,
    /// The calls that its calls made, and whether each has ended.
    nested: Vec<(Arc<FunctionCall>, bool)>,
}

/// A call that has no outcome.
pub(crate) struct OpenCall {
    pub(crate) prompt: PromptId,
    pub(crate) call: FunctionCall,
    pub(crate) state: OpenState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenState {
    Begun,
    NotBegun,
}

impl Recorded {
    /// Reads a log to its end.
    ///
    /// # Errors
    ///
    /// When it cannot be read, a newer host wrote it, or it is damaged.
    pub fn read<R: Read>(records: &mut Records<R>) -> Result<Self, ReadError> {
        let recorded = Self::from_facts(records.by_ref())?;
        Ok(Self { torn_bytes: records.torn_bytes(), ..recorded })
    }

    /// Reads all facts of a session, of which each is a line.
    ///
    /// # Errors
    ///
    /// The first that comes, or when the facts make no sense together.
    pub fn from_facts(facts: impl IntoIterator<Item = Result<Logged, ReadError>>) -> Result<Self, ReadError> {
        let mut facts = facts.into_iter();
        let Some(first) = facts.next().transpose()? else { return Err(ReadError::Empty) };
        let Logged { time: began, fact: Fact::Session { id, workspace, model, .. } } = first else {
            return Err(not_a_session());
        };
        let (named, agents) = Default::default();
        let mut recorded = Self { id, began, workspace, model, torn_bytes: 0, until: began, named, agents };
        for (logged, line) in facts.zip(2..) {
            let logged = logged?;
            recorded.until = logged.time;
            recorded.take_in(logged.fact, line)?;
        }
        for past in recorded.agents.values_mut() {
            past.finish();
        }
        Ok(recorded)
    }

    /// The agents that the log knows, each with its conversation.
    pub fn agents(&self) -> impl Iterator<Item = (&AgentId, &Past)> {
        self.agents.iter()
    }

    /// An agent's conversation.
    pub fn past(&self, agent: &AgentId) -> Option<&Past> {
        self.agents.get(agent)
    }

    /// Returns whether no agent has a conversation to resume: there were no messages, or all were taken back.
    pub fn is_empty(&self) -> bool {
        self.agents.values().all(Past::is_empty)
    }

    /// Takes an agent's conversation to continue it; an agent that the log does not know has none yet.
    pub fn into_past(mut self, agent: &AgentId) -> Past {
        self.agents.remove(agent).unwrap_or_default()
    }

    /// The calls without an outcome, each agent's in their order.
    pub(crate) fn open_calls(&self) -> Vec<OpenCall> {
        self.agents.values().flat_map(Past::open_calls).collect()
    }

    /// Gives an open call its outcome.
    pub(crate) fn settle(&mut self, agent: &AgentId, call: CallId, end: Arc<CallEnd>) {
        let Some(past) = self.agents.get_mut(agent) else { return };
        if let Stage::Replied(reply) = &mut past.stage {
            match reply.nested.iter_mut().find(|(nested, _)| nested.id == call) {
                Some((_, ended)) => *ended = true,
                None => drop(reply.outcomes.insert(call, end)),
            }
        }
        past.finish();
    }

    fn take_in(&mut self, fact: Fact, line: u64) -> Result<(), ReadError> {
        match fact {
            // The reader refuses a second one.
            Fact::Session { .. } => {}
            Fact::Resumed { model, .. } | Fact::ModelChosen { model } => self.model = Some(model),
            // A process that ended between the two never said its warning.
            Fact::RunStarted { agent_id, .. } => {
                let past = self.agent(agent_id);
                // A warning that was recorded and never sent is not part of the next request.
                past.recovering = false;
                past.run = RunStage::Begun;
            }
            Fact::Content { prompt, content } => {
                self.asker(&prompt).content(prompt, Arc::unwrap_or_clone(content), line)?;
            }
            Fact::HistoryReplaced { agent_id, contents } => {
                let past = self.agent(agent_id);
                // Calls that are still open belong to the conversation before.
                past.close()?;
                past.history.take_over(Arc::unwrap_or_clone(contents)).map_err(|error| damaged(line, error))?;
            }
            Fact::TakenBack { agent_id, messages } => {
                let past = self.agent(agent_id);
                past.close()?;
                past.question.clear();
                past.ended = None;
                match past.run {
                    RunStage::Over => past.cut_short = None,
                    // Hosts before this one took back prompts that had replies.
                    RunStage::Begun | RunStage::HasReply => past.run = RunStage::Begun,
                }
                let left = usize::try_from(messages).unwrap_or(usize::MAX);
                past.history.take_back(left).map_err(|error| damaged(line, error))?;
            }
            Fact::Usage { prompt, usage } => self.asker(&prompt).usage.add(usage),
            Fact::RecoveryStarted { agent_id, .. } => self.agent(agent_id).recovering = true,
            Fact::Discarded { prompt, .. } => drop(self.asker(&prompt)),
            Fact::Withdrawn { prompt } => self.asker(&prompt).withdraw(&prompt),
            Fact::NestedCall { prompt, parent, call } => {
                let reply = self.asker(&prompt).reply_with(&prompt, &parent, line)?;
                if reply.has(&call.id) {
                    return Err(damaged(line, format!("the call `{}` is made a second time", call.id)));
                }
                reply.nested.push((call, false));
            }
            Fact::CallStarted { prompt, call_id, .. } => {
                let reply = self.asker(&prompt).reply_with(&prompt, &call_id, line)?;
                // Twice would mean that it ran twice, or that lines were copied.
                if reply.outcomes.contains_key(&call_id) || !reply.begun.insert(call_id.clone()) {
                    return Err(damaged(line, format!("the call `{call_id}` begins a second time")));
                }
            }
            Fact::CallSettled { prompt, call_id, end } => {
                let is_seen = end.status == CallStatus::Success && !prompt.agent.is_subagent();
                let time = self.until;
                let reply = self.asker(&prompt).reply_with(&prompt, &call_id, line)?;
                if let Some((call, ended)) = reply.nested.iter_mut().find(|(call, _)| call.id == call_id) {
                    if std::mem::replace(ended, true) || !answers(&end.parts, call) {
                        return Err(damaged(line, format!("it is not an outcome of the call `{call_id}`")));
                    }
                    return Ok(());
                }
                // The outcome must be one of this call, or a changed line could put words into another.
                let Some(call) = reply.calls().find(|call| call.id == call_id && answers(&end.parts, call)) else {
                    return Err(damaged(line, format!("it is not an outcome of the call `{call_id}`")));
                };
                // Only what succeeded has shown the model a file; the time is that of the call.
                let named = is_seen.then(|| call.arguments.values().filter_map(Value::as_str).map(str::to_owned));
                let named: Vec<String> =
                    named.into_iter().flatten().filter(|text| (1..=MAX_PATH).contains(&text.len())).collect();
                if reply.outcomes.insert(call_id.clone(), end).is_some() {
                    return Err(damaged(line, format!("the call `{call_id}` settles a second time")));
                }
                self.named.extend(named.into_iter().map(|text| (text, time)));
            }
            // What a command's line printed is part of the prompt that follows.
            Fact::CommandLine { .. } | Fact::HookEnded { .. } | Fact::CheckEnded { .. } | Fact::Error { .. } => {}
            Fact::RunEnded { agent_id, terminate_reason, .. } => {
                let past = self.agent(agent_id);
                past.ended = Some(terminate_reason);
                past.recovering = false;
                let is_cut_short = terminate_reason.is_cut_short();
                match mem::take(&mut past.run) {
                    RunStage::HasReply => past.cut_short = is_cut_short.then_some(terminate_reason),
                    // A prompt that failed without a reply is not sent again by itself.
                    RunStage::Over | RunStage::Begun if is_cut_short => past.question.clear(),
                    RunStage::Over | RunStage::Begun => {}
                }
            }
        }
        Ok(())
    }

    fn agent(&mut self, id: AgentId) -> &mut Past {
        self.agents.entry(id).or_default()
    }

    /// Returns the agent of a request, and marks the request's number as taken.
    fn asker(&mut self, prompt: &PromptId) -> &mut Past {
        let past = self.agents.entry(prompt.agent.clone()).or_default();
        past.next_prompt = past.next_prompt.max(prompt.turn.saturating_add(1));
        past
    }
}

/// The damage of a log that begins with something else.
pub(crate) fn not_a_session() -> ReadError {
    ReadError::Damaged { line: 1, why: "a log begins with an entry `session`".to_owned() }
}

impl Past {
    /// Returns the conversation. It does not contain what is unfinished: a question without a reply, and calls without
    /// outcomes.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the work that the agent had left.
    pub fn left(&self) -> Left {
        let outcomes_last =
            self.history.contents().last().is_some_and(|last| last.function_responses().next().is_some());
        match &self.stage {
            Stage::Replied(_) => Left::Outcomes,
            // What the user stopped is not continued by itself: the next prompt says what to do instead.
            Stage::Over | Stage::Asked { .. } if self.ended == Some(TerminateReason::Aborted) => Left::Nothing,
            Stage::Over | Stage::Asked { .. } if !self.question.is_empty() => Left::Question,
            Stage::Over | Stage::Asked { .. } if outcomes_last && self.ended != Some(TerminateReason::Goal) => {
                Left::Outcomes
            }
            Stage::Over | Stage::Asked { .. } => Left::Nothing,
        }
    }

    /// Returns whether there is nothing to resume: there were no messages, or all were taken back.
    fn is_empty(&self) -> bool {
        self.history.contents().is_empty() && self.question.is_empty() && matches!(self.stage, Stage::Over)
    }

    /// Returns the token usage of all its requests.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns what is needed to continue it.
    pub fn into_parts(self) -> PastParts {
        let Self { history, next_prompt, question, cut_short, .. } = self;
        PastParts { history, next_prompt, question, cut_short }
    }

    fn content(&mut self, prompt: PromptId, content: Content, line: u64) -> Result<(), ReadError> {
        self.ended = None;
        let asked = match mem::take(&mut self.stage) {
            // A reply belongs to the request that it names; any other ends what was open.
            Stage::Asked { prompt: asked, message, .. } if content.role == Role::Model && asked == prompt => {
                Some(message)
            }
            other => {
                self.stage = other;
                self.close()?;
                None
            }
        };
        // It is part of the message that has come now.
        self.question.clear();
        let Content { role, parts } = content;
        self.stage = match role {
            Role::User => Stage::Asked { prompt, message: parts, warned: mem::take(&mut self.recovering) },
            Role::Model => {
                self.run = RunStage::HasReply;
                let (begun, outcomes, nested) = Default::default();
                Stage::Replied(Reply { line, prompt, asked, parts, begun, outcomes, nested })
            }
        };
        Ok(())
    }

    /// Withdraws the request, which has no reply.
    fn withdraw(&mut self, prompt: &PromptId) {
        match mem::take(&mut self.stage) {
            Stage::Asked { prompt: asked, message, warned } if asked == *prompt => self.unanswered(message, warned),
            Stage::Replied(reply) if reply.prompt == *prompt => self.question = reply.asked.unwrap_or_default(),
            other => self.stage = other,
        }
    }

    /// Keeps what was asked, without the host's own warning.
    fn unanswered(&mut self, mut message: Vec<Part>, warned: bool) {
        if warned {
            message.pop();
        }
        self.question = message;
    }

    /// The reply to the request, which has this call.
    fn reply_with(&mut self, prompt: &PromptId, call: &CallId, line: u64) -> Result<&mut Reply, ReadError> {
        match &mut self.stage {
            Stage::Replied(reply) if reply.prompt == *prompt && reply.has(call) => Ok(reply),
            Stage::Over | Stage::Asked { .. } | Stage::Replied(_) => {
                Err(damaged(line, format!("the last reply has no call `{call}`")))
            }
        }
    }

    /// Ends the exchange, since another one begins. A question without a reply is dropped, and calls without an outcome
    /// settle as interrupted.
    fn close(&mut self) -> Result<(), ReadError> {
        match mem::take(&mut self.stage) {
            Stage::Over | Stage::Asked { .. } => Ok(()),
            Stage::Replied(reply) => {
                let line = reply.line;
                reply.enter(&mut self.history).map_err(|error| damaged(line, error))
            }
        }
    }

    /// Ends what can be ended, since the log ends here. Calls without an outcome stay open.
    fn finish(&mut self) {
        match mem::take(&mut self.stage) {
            Stage::Over => {}
            Stage::Asked { message, warned, .. } => self.unanswered(message, warned),
            Stage::Replied(reply) if reply.open().next().is_some() => self.stage = Stage::Replied(reply),
            Stage::Replied(reply) => {
                let asked = reply.asked.clone();
                if reply.enter(&mut self.history).is_err() {
                    // The process ended before it could write that the reply is withdrawn.
                    self.question = asked.unwrap_or_default();
                }
            }
        }
    }

    fn open_calls(&self) -> Vec<OpenCall> {
        let Stage::Replied(reply) = &self.stage else { return Vec::new() };
        // What a call made settles before it.
        let nested = reply.nested.iter().filter(|(_, ended)| !ended).map(|(call, _)| &**call);
        let open = nested.chain(reply.open()).map(|call| OpenCall {
            prompt: reply.prompt.clone(),
            call: call.clone(),
            state: if reply.begun.contains(&call.id) { OpenState::Begun } else { OpenState::NotBegun },
        });
        open.collect()
    }
}

impl Reply {
    /// Whether it asked for the call, or one of its calls made it.
    fn has(&self, id: &CallId) -> bool {
        self.calls().chain(self.nested.iter().map(|(call, _)| &**call)).any(|call| call.id == *id)
    }

    fn calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.parts.iter().filter_map(Part::as_call)
    }

    fn open(&self) -> impl Iterator<Item = &FunctionCall> {
        self.calls().filter(|call| !self.outcomes.contains_key(&call.id))
    }

    fn enter(mut self, history: &mut History) -> Result<(), HistoryError> {
        let outcomes: Vec<Vec<Part>> = self
            .parts
            .iter()
            .filter_map(Part::as_call)
            .map(|call| match self.outcomes.remove(&call.id) {
                Some(end) => Arc::unwrap_or_clone(end).parts,
                None => vec![interrupted(call)],
            })
            .collect();
        let exchange: Exchange<'_> = match self.asked {
            Some(message) => history.ask(message)?,
            None => history.go_on(),
        };
        match exchange.reply(self.parts)? {
            Replied::Final => Ok(()),
            Replied::Calls(unsettled) => unsettled.settle(outcomes),
        }
    }
}

fn damaged(line: u64, why: impl ToString) -> ReadError {
    ReadError::Damaged { line, why: why.to_string() }
}
