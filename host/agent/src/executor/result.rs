//! The result of a run.

use host_journal::{Fact, HistoryError, SessionError, TerminateReason};
use host_message::{AgentId, FinishReason, Usage};
use host_model::ModelError;
use host_text::{Advice, counted, with_causes};
use host_tool::RegistryError;

use super::Agent;
use crate::{Charge, EventKind, Exceeded, InputError, Repeated, ReplyError, TemplateError};

/// The end of a run and its result.
#[derive(Debug)]
pub struct RunResult {
    /// The answer; there is one if and only if the run ended as `Goal`. It may be empty.
    pub result: Option<String>,
    /// How it ended.
    pub terminate_reason: TerminateReason,
    /// The failure that ended the run or its recovery.
    pub error: Option<RunError>,
    /// The limit that was met before a recovery made the run a `Goal`.
    pub recovered_from: Option<TerminateReason>,
    /// Without an answer, what there is instead of it.
    pub partial: Option<Partial>,
    /// Why the model's last reply ended; `MaxTokens` says that an answer is cut short.
    pub finish: Option<FinishReason>,
    /// Token usage of all its replies and those of the agents that it started.
    pub usage: Usage,
    /// The cost of that usage, as far as the models have a price; `None` if none of them has one.
    pub cost: Option<Charge>,
    /// Number of its own turns; a recovery does not count.
    pub turns: u32,
    /// Whether the conversation is as it was before the run: it was stopped, or failed, before any reply came.
    pub is_taken_back: bool,
}

/// The text of a run without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partial {
    /// The model's text in the one request after a limit: its best answer so far, and not a finished one.
    BestAnswer(String),
    /// The last text that the model wrote, whole or not.
    LastText(String),
}

impl Partial {
    /// The text.
    pub fn text(&self) -> &str {
        match self {
            Self::BestAnswer(text) | Self::LastText(text) => text,
        }
    }
}

/// An error that ends a run as `Error`.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The inputs are not those of the agent.
    #[error("the agent cannot be run with these inputs")]
    Inputs(#[from] InputError),
    /// A prompt cannot be filled in.
    #[error("a prompt of the agent cannot be filled in")]
    Template(#[from] TemplateError),
    /// The model, or the way to it, failed.
    #[error(transparent)]
    Model(ModelError),
    /// The model's reply is invalid.
    #[error(transparent)]
    Reply(ReplyError),
    /// The model repeated itself, was warned, and did it again.
    #[error("the model is repeating itself: {0}")]
    Loop(Repeated),
    /// The session log cannot be written.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The reply does not fit the conversation.
    #[error("the model's reply does not fit the conversation")]
    History(#[from] HistoryError),
    /// There is nothing to continue: the model's reply is the last message.
    #[error("the conversation has no unfinished work")]
    NothingLeft,
    /// A hook denied the prompt, or ended the run; says which one and why.
    #[error("{0}")]
    Hook(String),
    /// A check of what the run changed failed too often.
    #[error("the check `{}` fails: {reason}, {}", host_text::visible_line(.command), tried(*.attempts))]
    Check {
        /// The line for the shell.
        command: String,
        /// How it ended.
        reason: String,
        /// How often the model was asked to correct what failed.
        attempts: u32,
    },
    /// The tools cannot be put together.
    #[error("cannot prepare the agent's tools")]
    Tools(#[from] RegistryError),
    /// The agent and those that it started, or was started beside, have used up their shared budget.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

impl RunResult {
    /// The model's best answer so far, if a limit ended the run.
    pub fn best_answer(&self) -> Option<&str> {
        match &self.partial {
            Some(Partial::BestAnswer(text)) => Some(text),
            Some(Partial::LastText(_)) | None => None,
        }
    }

    /// Returns whether there is an answer, finished or the best so far, and the model had no more room to end it.
    pub fn is_cut_short(&self) -> bool {
        (self.result.is_some() || self.best_answer().is_some()) && self.finish == Some(FinishReason::MaxTokens)
    }

    /// Returns the result of a run whose prompts could not be made; no request was sent.
    pub(super) fn never_began(error: RunError, agent: &Agent) -> Self {
        agent.tell_error(with_causes(&error));
        let result = Self {
            result: None,
            terminate_reason: TerminateReason::Error,
            error: Some(error),
            recovered_from: None,
            partial: None,
            finish: None,
            usage: Usage::default(),
            cost: None,
            turns: 0,
            is_taken_back: true,
        };
        agent.tell(EventKind::Fact(&result.fact(&agent.id)));
        result
    }

    /// Returns the end of the run of this agent.
    pub(super) fn fact(&self, agent: &AgentId) -> Fact {
        Fact::RunEnded {
            agent_id: agent.clone(),
            terminate_reason: self.terminate_reason,
            recovered_from: self.recovered_from,
            result: self.result.clone(),
            turns: self.turns,
            usage: self.usage,
        }
    }
}

impl RunError {
    /// Returns what to do about it, as a sentence without a full stop.
    pub fn advice(&self) -> Option<Advice> {
        match self {
            Self::Model(error) => error.advice(),
            Self::Session(error) => Some(error.help().into()),
            Self::Reply(_) => Some("try again, or try another model".into()),
            Self::Loop(_) => Some("rephrase the task, split it into smaller steps, or try another model".into()),
            Self::NothingLeft => Some("say what to do next".into()),
            Self::Exceeded(exceeded) => Some(exceeded.advice()),
            Self::Hook(_) => {
                let list = Advice::from("`/hooks` and ").command("hooks");
                Some(list.text(" list the hooks, and where each comes from"))
            }
            Self::Check { .. } => Some(
                Advice::from("continue with ")
                    .command_for("run --resume \"…\"", "a new prompt")
                    .text(", or change `commands` or `attempts` of [check]"),
            ),
            Self::Inputs(_) | Self::Template(_) | Self::History(_) | Self::Tools(_) => None,
        }
    }
}

/// Says how often the model was asked to correct what a check found.
fn tried(attempts: u32) -> String {
    match attempts {
        0 => "and the model was not asked to correct it".to_owned(),
        _ => format!("after {} to correct it", counted(attempts, "attempt")),
    }
}

impl From<ReplyError> for RunError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::Model(error) => Self::Model(error),
            other => Self::Reply(other),
        }
    }
}
