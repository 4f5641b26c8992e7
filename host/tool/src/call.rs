//! The states of a call, and the events that report their changes.
//!
//! A call only moves forward: validating, awaiting approval if the user must be asked, scheduled, executing, and one of
//! the three ends; it can settle from each of the others. A settled call never changes. All changes go through
//! [`CallState::step`].

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use host_message::{CallId, Display, FunctionCall, ToolName};
use host_plugin::{Confirmation, ProgramEnd};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::{Allowance, Live, LiveOutput, Outcome, Printed, Question, Tool, title};

/// The state of a call. Each variant holds only what that state has.
#[expect(clippy::large_enum_variant, reason = "there are a few at a time, and every call ends in the largest")]
pub enum CallState {
    /// Its tool is looked up, its arguments are checked, and it waits for a decision.
    Validating {
        /// The call as the model wrote it.
        call: Arc<FunctionCall>,
        /// The tool that would run it, once the tool was found and the arguments match its schema.
        tool: Option<Arc<dyn Tool>>,
    },
    /// The user is asked whether it may run.
    AwaitingApproval {
        /// The call.
        call: Arc<FunctionCall>,
        /// The tool that would run it.
        tool: Arc<dyn Tool>,
        /// The question.
        question: Arc<Question>,
    },
    /// It may run, and is about to start.
    Scheduled {
        /// The call, as a user may have changed it.
        call: Arc<FunctionCall>,
        /// The tool that will run it.
        tool: Arc<dyn Tool>,
        /// What it may do.
        allowance: Arc<Allowance>,
        /// Why it may run.
        decided: Decided,
        /// What it is called on one line: the command that it runs, or the title that its tool gives it.
        title: Arc<str>,
    },
    /// It runs.
    Executing {
        /// The call.
        call: Arc<FunctionCall>,
        /// What it is called on one line.
        title: Arc<str>,
        /// When it started.
        since: Instant,
        /// Its live output.
        live: LiveOutput,
        /// Why it may run.
        decided: Decided,
    },
    /// It ended: with success, with an error, or cancelled, as its outcome says.
    Settled(SettledCall),
}

/// A change of a call's state.
pub(crate) enum Step {
    /// Its tool was found, and its arguments are valid.
    Admit(Arc<dyn Tool>),
    /// The user is asked about it; a changed call is asked about again.
    Ask(Arc<Question>),
    /// It may run.
    Schedule {
        /// The call as it will run.
        call: Arc<FunctionCall>,
        /// What it may do.
        allowance: Arc<Allowance>,
        /// Why.
        decided: Decided,
    },
    /// It starts now.
    Start(LiveOutput),
    /// It ended.
    Settle {
        /// Its outcome.
        outcome: Outcome,
        /// The decision, if that is why it ended; `None` keeps the earlier decision.
        decided: Option<Decided>,
    },
}

/// The decision about a call before it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// It may run, and the user was not asked.
    Allowed,
    /// The user approved it.
    Approved,
    /// The user changed it, and then approved it.
    Changed,
    /// The user rejected it.
    #[serde(rename = "declined")]
    Rejected,
    /// A rule or a grant denied it, or the user could not be asked.
    Denied,
}

impl Decided {
    /// Whether the user decided, about this very call.
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Approved | Self::Changed | Self::Rejected)
    }
}

/// A call that ended, with everything that the history needs.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledCall {
    /// The call, as it ran.
    pub call: Arc<FunctionCall>,
    /// How it ended.
    pub outcome: Outcome,
    /// The decision about it; `None` if it ended before one.
    pub decided: Option<Decided>,
    /// How long it ran; zero if it never started.
    pub duration: Duration,
    /// How many bytes of its live output were dropped.
    pub dropped: u64,
    /// The change that was asked about and not made, if it ended that way.
    pub proposed: Option<Display>,
    /// What it is called on one line, beside the name of its tool; safe to show.
    pub title: Arc<str>,
    /// The end of its output.
    pub printed: Printed,
    /// How the command ended that it was decided about; `None` for a call that runs none, or that did not run.
    pub command: Option<ProgramEnd>,
    /// What an MCP server said beside its answer, for programs; no model gets it.
    pub mcp_meta: Option<Arc<Map<String, Value>>>,
}

/// An event of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallEvent<'a> {
    /// The call's id.
    pub id: &'a CallId,
    /// The name that the model called.
    pub name: &'a ToolName,
    /// The call that made it; `None` for one of the model's.
    pub parent: Option<&'a CallId>,
    /// The change.
    pub change: CallChange<'a>,
}

/// A change of a call.
#[derive(Clone, Copy, Debug)]
pub enum CallChange<'a> {
    /// The model requested it, with these arguments.
    Validating(&'a FunctionCall),
    /// The user is asked about it.
    AwaitingApproval(&'a Question),
    /// It may run.
    Scheduled {
        /// The decision about it.
        decided: Decided,
        /// What it may do, and why.
        allowance: &'a Allowance,
    },
    /// It is about to start, by this title. An observer that cannot record this can still stop it.
    Executing(&'a str),
    /// It shows live output.
    Live(&'a Live),
    /// It ended.
    Settled(&'a SettledCall),
}

impl CallState {
    /// Creates a call that was not examined yet.
    pub fn new(call: FunctionCall) -> Self {
        Self::Validating { call: Arc::new(call), tool: None }
    }

    /// Returns the call, in every state.
    pub fn call(&self) -> &Arc<FunctionCall> {
        match self {
            Self::Validating { call, .. }
            | Self::AwaitingApproval { call, .. }
            | Self::Scheduled { call, .. }
            | Self::Executing { call, .. } => call,
            Self::Settled(settled) => &settled.call,
        }
    }

    /// Returns the state as one of seven words, for logs and clients.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Validating { .. } => "validating",
            Self::AwaitingApproval { .. } => "awaiting_approval",
            Self::Scheduled { .. } => "scheduled",
            Self::Executing { .. } => "executing",
            Self::Settled(SettledCall { outcome, .. }) => match outcome {
                Outcome::Success(_) => "success",
                Outcome::Error(_) => "error",
                Outcome::Cancelled { .. } => "cancelled",
            },
        }
    }

    /// Takes a step. Returns `false`, and changes nothing, if the state does not allow the step.
    pub(crate) fn step(&mut self, step: Step) -> bool {
        let next = match (&*self, step) {
            (Self::Settled(_), _) => None,
            (Self::Validating { call, tool: None }, Step::Admit(tool)) => {
                Some(Self::Validating { call: Arc::clone(call), tool: Some(tool) })
            }
            (Self::Validating { tool: Some(tool), .. } | Self::AwaitingApproval { tool, .. }, Step::Ask(question)) => {
                Some(Self::AwaitingApproval { call: Arc::clone(&question.call), tool: Arc::clone(tool), question })
            }
            (
                Self::Validating { tool: Some(tool), .. } | Self::AwaitingApproval { tool, .. },
                Step::Schedule { call, allowance, decided },
            ) => {
                // The title of what will really run: the user may have changed the call since it was proposed.
                let title = title::of_preview(allowance.shown.as_deref()).unwrap_or_else(|| tool.title(&call)).into();
                Some(Self::Scheduled { call, tool: Arc::clone(tool), allowance, decided, title })
            }
            (Self::Scheduled { call, decided, title, .. }, Step::Start(live)) => {
                let (call, title) = (Arc::clone(call), Arc::clone(title));
                Some(Self::Executing { call, title, since: Instant::now(), live, decided: *decided })
            }
            (state, Step::Settle { outcome, decided }) => Some(Self::Settled(state.end(outcome, decided))),
            (
                // Written out and not `_`: a new state has to say what it does at each step.
                Self::Validating { .. }
                | Self::AwaitingApproval { .. }
                | Self::Scheduled { .. }
                | Self::Executing { .. },
                Step::Admit(_) | Step::Ask(_) | Step::Schedule { .. } | Step::Start(_),
            ) => None,
        };
        match next {
            Some(next) => {
                drop(mem::replace(self, next));
                true
            }
            None => false,
        }
    }

    fn end(&self, outcome: Outcome, decided: Option<Decided>) -> SettledCall {
        let proposed = match self {
            Self::AwaitingApproval { question, .. } => difference(&question.confirmation),
            Self::Settled(settled) => settled.proposed.clone(),
            Self::Validating { .. } | Self::Scheduled { .. } | Self::Executing { .. } => None,
        };
        let (before, duration, dropped) = match self {
            Self::Validating { .. } | Self::AwaitingApproval { .. } => (None, Duration::ZERO, 0),
            Self::Scheduled { decided, .. } => (Some(*decided), Duration::ZERO, 0),
            Self::Executing { since, live, decided, .. } => (Some(*decided), since.elapsed(), live.dropped()),
            Self::Settled(settled) => (settled.decided, settled.duration, settled.dropped),
        };
        let (printed, command, mcp_meta) = match self {
            Self::Validating { .. } | Self::AwaitingApproval { .. } | Self::Scheduled { .. } => {
                (Printed::default(), None, None)
            }
            Self::Executing { live, .. } => (live.printed(), live.command(), live.mcp_meta()),
            Self::Settled(settled) => (settled.printed.clone(), settled.command, settled.mcp_meta.clone()),
        };
        let (call, title, decided) = (Arc::clone(self.call()), self.title(), decided.or(before));
        SettledCall { call, outcome, decided, duration, dropped, proposed, title, printed, command, mcp_meta }
    }

    /// Returns what the call is called on one line, beside the name of its tool.
    pub fn title(&self) -> Arc<str> {
        match self {
            Self::Validating { call, tool: None } => title::of_arguments(call).into(),
            Self::Validating { call, tool: Some(tool) } => tool.title(call).into(),
            Self::AwaitingApproval { call, tool, question } => {
                title::of_preview(Some(&question.confirmation)).unwrap_or_else(|| tool.title(call)).into()
            }
            Self::Scheduled { title, .. } | Self::Executing { title, .. } => Arc::clone(title),
            Self::Settled(settled) => Arc::clone(&settled.title),
        }
    }
}

/// Returns the diff that a call would make to a file.
fn difference(confirmation: &Confirmation) -> Option<Display> {
    match confirmation {
        Confirmation::Edit { path, unified, .. } => {
            Some(Display::Difference { path: path.clone(), unified: unified.clone() })
        }
        // What is displayed of a call is one file; its question shows all of them.
        Confirmation::Edits { .. } => None,
        Confirmation::Exec { .. } | Confirmation::Info { .. } | Confirmation::Mcp { .. } | Confirmation::Call => None,
    }
}

#[cfg(test)]
mod tests;
