//! The queue of questions between the loop, which asks, and a listener that answers: a terminal, a page, a test.
//!
//! A question has an id and one answer, the first. Every listener gets each question, and a notice when it is answered
//! or withdrawn. A question without a listener, or whose last listener leaves, fails with [`NobodyListens`] and does
//! not wait. Dropping the future of [`ApprovalQueue::ask`] withdraws the question.
//!
//! A model's own question to the user goes the same way, so that each frontend that can answer the one can answer the
//! other. Deliberately not here: what an answer means (the gate decides that), and how a question is shown.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host_capability::Grants;
use host_message::{AgentId, FunctionCall};
use host_plugin::Confirmation;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::{ApprovalMode, Effect, ModelAnswer, ModelQuestions, Origin, SimpleCommand};

/// Messages that may wait for a listener. A listener further behind counts as gone: protects the host's memory.
const WAITING: usize = 256;

/// The id of a question, unique in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuestionId(u64);

/// A question whether a call may run. Its texts come from models and plugins: make them safe before they are shown.
#[derive(Clone, Debug)]
pub struct Question {
    /// The name of the agent that makes the call.
    pub agent: String,
    /// The id of that agent in its run.
    pub agent_id: AgentId,
    /// The call, as it would run.
    pub call: Arc<FunctionCall>,
    /// The plugin that exports the tool.
    pub origin: Option<Origin>,
    /// What the call would do.
    pub confirmation: Confirmation,
    /// What the user is asked about.
    pub about: About,
    /// The simple commands of an `exec`, as analysed from its line.
    pub commands: Vec<SimpleCommand>,
    /// What an `exec` does besides reading and printing, as far as it is known; the most dangerous first.
    pub effects: Vec<Effect>,
    /// What an approval lets it touch.
    pub touches: Grants,
    /// The reasons for asking, a line for each.
    pub reasons: Vec<String>,
    /// What of the call's changes cannot be undone, as far as that is known: a noun phrase each.
    pub not_undone: Vec<String>,
    /// Whether the user can let the command of this call run without walls.
    pub can_leave_walls: bool,
    /// The approval mode of the run.
    pub mode: ApprovalMode,
    /// The modes that the session can go on in, with [`Answer::Switch`]: those in which fewer calls like this one are
    /// asked about.
    pub switches: Vec<ApprovalMode>,
    /// The answers besides yes and no, each with what it would allow from now on.
    pub always: Vec<Always>,
    /// Why the user's change was not accepted, if the question is asked again for that reason.
    pub objection: Option<String>,
}

/// What a question is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// The whole call, before it runs: what its confirmation shows.
    #[default]
    Call,
    /// A path outside of the workspace that the running call wants to read.
    Reading {
        /// The path, absolute.
        path: PathBuf,
    },
    /// Servers that a program of the running call wants to reach. It waits for the answer.
    Reaching {
        /// The program that wants it, as far as it is known: `cargo`.
        program: String,
        /// What it wants them for, if its kind is known: `crates`.
        what: Option<&'static str>,
        /// The servers, each as a grant names it: `HOST:PORT`, or `HOST:PORT +private` for one that leads to this
        /// machine or a private network; `ssh://USER@HOST` for git over ssh, with ` +push` if it sends.
        servers: Vec<String>,
    },
    /// A plan, which the call presents.
    Plan {
        /// The plan, as Markdown.
        text: String,
        /// The approval modes that the user can choose to carry it out in, with [`Answer::Switch`].
        modes: Vec<ApprovalMode>,
    },
}

impl Question {
    /// Returns its kind in one word: `exec`, `edit`, `info`, `mcp`, `call`, `read`, `reach` or `plan`.
    pub fn kind(&self) -> &'static str {
        match (&self.about, &self.confirmation) {
            (About::Reading { .. }, _) => "read",
            (About::Reaching { .. }, _) => "reach",
            (About::Plan { .. }, _) => "plan",
            (About::Call, Confirmation::Exec { .. }) => "exec",
            (About::Call, Confirmation::Edit { .. } | Confirmation::Edits { .. }) => "edit",
            (About::Call, Confirmation::Info { .. }) => "info",
            (About::Call, Confirmation::Mcp { .. }) => "mcp",
            (About::Call, Confirmation::Call) => "call",
        }
    }
}

/// An answer that allows more than this call, with what it would allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Always {
    /// The answer.
    pub answer: Lasting,
    /// How long it holds.
    pub until: Until,
    /// A description of what it allows.
    pub words: String,
}

/// How long an answer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Until the session ends. It is not stored, and only the agent that asked has it.
    SessionEnds,
    /// Until the user takes it back. It is stored.
    #[default]
    TakenBack,
}

impl Until {
    fn is_taken_back(&self) -> bool {
        *self == Self::TakenBack
    }
}

/// The range of an answer that holds for later calls too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    /// Calls that do the same: this command, this file, this server of the public internet.
    Always,
    /// Every call of this tool.
    AlwaysTool,
    /// Every call of every tool of this plugin, or of this MCP server.
    AlwaysPlugin,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Answer {
    /// The call may run.
    ProceedOnce,
    /// The call may run, and its command without walls: exactly these words, this once.
    ProceedWithoutWalls,
    /// The call may run, and so may others like it.
    Proceed {
        /// Which other calls.
        lasting: Lasting,
        /// How long.
        #[serde(default, skip_serializing_if = "Until::is_taken_back")]
        until: Until,
    },
    /// The call has to use different content or a different command. The changed call is asked about again.
    Modify {
        /// The user's text.
        text: String,
    },
    /// The call may run, or the plan be carried out, and the session goes on in this approval mode.
    Switch {
        /// One of those that the question names.
        mode: ApprovalMode,
    },
    /// The call may not run, nor may the calls after it in the same reply.
    Cancel {
        /// What to do instead, as the user's message to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A message to a listener.
#[derive(Clone, Debug)]
pub enum Notice {
    /// A new question.
    Asked {
        /// Its id, to answer with.
        id: QuestionId,
        /// The question.
        question: Arc<Question>,
    },
    /// New questions of a model's, which are about no call.
    ModelAsked {
        /// Their id, to reply with.
        id: QuestionId,
        /// The questions.
        questions: Arc<ModelQuestions>,
    },
    /// A question was answered, by this listener or a different one.
    Answered {
        /// Which question.
        id: QuestionId,
    },
    /// A question was withdrawn: the answer is not needed any more.
    Withdrawn {
        /// Which question.
        id: QuestionId,
    },
}

/// The error that the queue has no listener, so the user was not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no frontend of this run can ask the user")]
pub struct NobodyListens;

/// The error that the question is no longer open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the question was answered or withdrawn before")]
pub struct TooLate;

/// The queue. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct ApprovalQueue(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    listeners: Vec<(u64, mpsc::Sender<Notice>)>,
    open: HashMap<QuestionId, Open>,
}

/// A question without an answer so far.
#[derive(Debug)]
enum Open {
    Call { question: Arc<Question>, answer: oneshot::Sender<Answer> },
    Model { questions: Arc<ModelQuestions>, answers: oneshot::Sender<Vec<ModelAnswer>> },
}

impl Open {
    fn notice(&self, id: QuestionId) -> Notice {
        match self {
            Self::Call { question, .. } => Notice::Asked { id, question: Arc::clone(question) },
            Self::Model { questions, .. } => Notice::ModelAsked { id, questions: Arc::clone(questions) },
        }
    }
}

/// A listener. Dropping it ends the subscription; when the last one is dropped, open questions fail.
#[derive(Debug)]
pub struct Listener {
    queue: ApprovalQueue,
    id: u64,
    notices: mpsc::Receiver<Notice>,
}

impl ApprovalQueue {
    /// Creates a queue without listeners.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a listener. It gets the questions that are already open first.
    pub fn listen(&self) -> Listener {
        let (sender, notices) = mpsc::channel(WAITING);
        let mut state = self.state();
        let mut open: Vec<_> = state.open.iter().map(|(id, open)| (*id, open.notice(*id))).collect();
        open.sort_by_key(|(id, _)| *id);
        for (_, notice) in open {
            // A new channel has room for more than can be open.
            sender.try_send(notice).ok();
        }
        let id = state.number();
        state.listeners.push((id, sender));
        drop(state);
        Listener { queue: self.clone(), id, notices }
    }

    /// Whether there is a listener.
    pub fn is_heard(&self) -> bool {
        !self.state().listeners.is_empty()
    }

    /// Asks a question, and waits for the first answer.
    ///
    /// # Errors
    ///
    /// If there is no listener, or the last one leaves.
    pub async fn ask(&self, question: Question) -> Result<Answer, NobodyListens> {
        let (answer, answered) = oneshot::channel();
        self.wait(Open::Call { question: Arc::new(question), answer }, answered).await
    }

    /// Asks a model's questions, and waits for the first reply: an answer for each, in order. One that is missing was
    /// not answered.
    ///
    /// # Errors
    ///
    /// If there is no listener, or the last one leaves.
    pub async fn ask_for_model(&self, questions: ModelQuestions) -> Result<Vec<ModelAnswer>, NobodyListens> {
        let (answers, answered) = oneshot::channel();
        self.wait(Open::Model { questions: Arc::new(questions), answers }, answered).await
    }

    async fn wait<T>(&self, open: Open, answered: oneshot::Receiver<T>) -> Result<T, NobodyListens> {
        let id = {
            let mut state = self.state();
            let id = QuestionId(state.number());
            state.tell(&open.notice(id));
            if state.listeners.is_empty() {
                return Err(NobodyListens);
            }
            state.open.insert(id, open);
            id
        };
        let _withdraws_when_dropped = Withdraw { queue: self, id };
        answered.await.map_err(|_| NobodyListens)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is complete before a panic could occur.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Sends a notice to all listeners, and removes those that are gone or have fallen behind.
    fn tell(&mut self, notice: &Notice) {
        self.listeners.retain(|(_, listener)| listener.try_send(notice.clone()).is_ok());
        if self.listeners.is_empty() {
            self.open.clear();
        }
    }
}

/// Withdraws a question when the future that asked it is dropped.
struct Withdraw<'b> {
    queue: &'b ApprovalQueue,
    id: QuestionId,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        if state.open.remove(&self.id).is_some() {
            state.tell(&Notice::Withdrawn { id: self.id });
        }
    }
}

impl Listener {
    /// Waits for the next notice. `None` if this listener fell so far behind that it was removed.
    pub async fn next(&mut self) -> Option<Notice> {
        self.notices.recv().await
    }

    /// Waits until another listener answers a question that this one shows, or it is withdrawn. Returns, too, if this
    /// listener was removed. Other notices in the meantime are dropped: there are none, as a gate asks one thing after
    /// the other.
    pub async fn settled(&mut self, asked: QuestionId) {
        while let Some(notice) = self.next().await {
            match notice {
                Notice::Answered { id } | Notice::Withdrawn { id } if id == asked => return,
                Notice::Asked { .. }
                | Notice::ModelAsked { .. }
                | Notice::Answered { .. }
                | Notice::Withdrawn { .. } => {}
            }
        }
    }

    /// Answers a question.
    ///
    /// # Errors
    ///
    /// If another listener answered first, the question was withdrawn, or it is a model's.
    pub fn answer(&self, id: QuestionId, answer: Answer) -> Result<(), TooLate> {
        let mut state = self.queue.state();
        match state.open.remove(&id).ok_or(TooLate)? {
            Open::Call { answer: sender, .. } => sender.send(answer).map_err(|_| TooLate)?,
            // An answer that allows something is none to a model's question, which stays open.
            other @ Open::Model { .. } => {
                state.open.insert(id, other);
                return Err(TooLate);
            }
        }
        state.tell(&Notice::Answered { id });
        Ok(())
    }

    /// Replies to a model's questions, with an answer for each.
    ///
    /// # Errors
    ///
    /// If another listener replied first, the question was withdrawn, or it is about a call.
    pub fn reply(&self, id: QuestionId, replied: Vec<ModelAnswer>) -> Result<(), TooLate> {
        let mut state = self.queue.state();
        match state.open.remove(&id).ok_or(TooLate)? {
            Open::Model { answers, .. } => answers.send(replied).map_err(|_| TooLate)?,
            // No reply to a model allows a call, which stays asked about.
            other @ Open::Call { .. } => {
                state.open.insert(id, other);
                return Err(TooLate);
            }
        }
        state.tell(&Notice::Answered { id });
        Ok(())
    }
}

impl Listener {
    /// Gives a question up that this listener has no way to show: the one who asked gets [`NobodyListens`], unless
    /// another listener answered before.
    pub fn give_up(&self, id: QuestionId) {
        let mut state = self.queue.state();
        // Dropping its sender makes the caller fail with [`NobodyListens`].
        if state.open.remove(&id).is_some() {
            state.tell(&Notice::Withdrawn { id });
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.listeners.retain(|(id, _)| *id != self.id);
        if state.listeners.is_empty() {
            // Dropping their senders makes the callers fail with [`NobodyListens`].
            state.open.clear();
        }
    }
}

#[cfg(test)]
mod tests;
