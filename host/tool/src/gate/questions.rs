//! Asks the user on behalf of a call: whether it may read outside of the workspace, and whether a plan is good.
//!
//! A call that only reads begins without a question: which files it opens is known when it opens them. The sandbox
//! denies one outside of the workspace; then the user is asked about exactly that path, and the call runs again with
//! it. One that changes files is asked about it before it is known what the call changes (`outside`). Only the main
//! agent asks, only about what [`AllowedFiles`] lets be asked, and a rule that denies comes first. A rule that allows
//! does not answer: nothing in it shows that it meant files elsewhere.
//!
//! Deliberately not here: opening anything, and running the call.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use host_capability::{Grants, PluginName};
use host_message::FunctionCall;
use host_plugin::{AllowedFiles, Confirmation, Elicitation, ElicitationAnswer};
use host_text::{clip, exact};
use tokio::sync::mpsc;

use super::{Gate, NOT_OFFERED, REASON_CHARACTERS, rejected};
use crate::{
    About, Always, Answer, ApprovalMode, CallAsker, Decision, Lasting, NobodyListens, NotAsked, Origin, PausableClock,
    PlanAnswer, Query, Question, ReachAnswer, ReadAnswer, Until, elicitation,
};

/// Asks the user on behalf of one running call.
#[derive(Clone)]
pub(crate) struct CallQuestions {
    pub(super) gate: Gate,
    pub(super) call: Arc<FunctionCall>,
    pub(super) run_clock: PausableClock,
    pub(super) asked: Asked,
}

/// Receives each question before it is asked.
#[derive(Clone)]
pub(super) enum Asked {
    /// Of a call about which something is being decided.
    Before(mpsc::Sender<Arc<Question>>),
    /// Of a running call, with its index in its reply.
    Running(usize, mpsc::Sender<(usize, Arc<Question>)>),
}

impl Asked {
    pub(super) async fn send(&self, question: Question) {
        let question = Arc::new(question);
        match self {
            Self::Before(receiver) => receiver.send(question).await.ok(),
            Self::Running(at, receiver) => receiver.send((*at, question)).await.ok(),
        };
    }
}

impl fmt::Debug for CallQuestions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallQuestions").field("call", &self.call.id).finish_non_exhaustive()
    }
}

impl CallQuestions {
    pub(crate) fn new(
        gate: Gate,
        call: Arc<FunctionCall>,
        run_clock: PausableClock,
        at: usize,
        asked: mpsc::Sender<(usize, Arc<Question>)>,
    ) -> Self {
        Self { gate, call, run_clock, asked: Asked::Running(at, asked) }
    }

    async fn ask_to_read(&self, path: &Path, origin: Option<Origin>) -> ReadAnswer {
        let (gate, access) = (&self.gate, self.gate.shared.access.now());
        let reads = &access.reads;
        // Keys, logins and the host's own files are not asked about at all: a question invites a yes.
        let Some(scope) = reads.scope_of(path) else { return ReadAnswer::NotAsked(NotAsked::Secret) };
        let touches = Grants::none().with(scope.clone());
        if let Some(unasked) = self.unasked(path, &touches, origin.as_ref()) {
            return unasked;
        }
        let _asking = self.run_clock.pause();
        let _one_at_a_time = gate.asking.turn.acquire().await;
        // Looked at once more under the turn, or two calls would ask about one folder.
        if covers(reads, path) {
            // The answer to a call beside this one.
            return ReadAnswer::ForSession;
        }
        // A whole folder is offered only where that is harmless; a home or `/` is none.
        let folder = reads.folder_of(path);
        let for_session = folder.as_ref().map(|folder| Always {
            answer: Lasting::Always,
            until: Until::SessionEnds,
            words: format!("reading anything in `{}`", exact(&folder.display().to_string())),
        });
        let mut question = Question {
            about: About::Reading { path: path.to_owned() },
            always: for_session.into_iter().collect(),
            ..self.question(origin, touches)
        };
        loop {
            self.asked.send(question.clone()).await;
            let allows = |path: &Path| reads.allow(path);
            match (gate.asking.queue.ask(question.clone()).await, &folder) {
                (Err(NobodyListens), _) => return ReadAnswer::NotAsked(NotAsked::NobodyListens),
                (Ok(Answer::ProceedOnce), _) => return ReadAnswer::Once(scope),
                (Ok(Answer::Cancel { reason }), _) => return ReadAnswer::Rejected(rejected(reason)),
                (Ok(Answer::Proceed { lasting: Lasting::Always, until: Until::SessionEnds }), Some(folder))
                    // In the pattern, since it can fail: then the question comes again with an objection.
                    if allows(folder) =>
                {
                    return ReadAnswer::ForSession;
                }
                (
                    Ok(
                        Answer::ProceedWithoutWalls
                        | Answer::Proceed { .. }
                        | Answer::Modify { .. }
                        | Answer::Switch { .. },
                    ),
                    _,
                ) => {
                    question.objection = Some(NOT_OFFERED.to_owned());
                }
            }
        }
    }

    /// Returns the answer about reading a path that is no secret, if nobody is asked.
    fn unasked(&self, path: &Path, touches: &Grants, origin: Option<&Origin>) -> Option<ReadAnswer> {
        // Its caller was allowed what it may read; a subagent asking would be a way around that.
        if self.gate.agent_id.is_subagent() {
            return Some(ReadAnswer::NotAsked(NotAsked::Subagent));
        }
        // Before anything is looked at: where nobody can be asked, nothing shows what is there.
        if !self.gate.asking.queue.is_heard() {
            return Some(ReadAnswer::NotAsked(NotAsked::NobodyListens));
        }
        // A rule that denies is an answer already.
        if self.is_denied(touches, origin) {
            return Some(ReadAnswer::NotAsked(NotAsked::Denied));
        }
        match std::fs::canonicalize(path) {
            Ok(real) if real == path => None,
            // What is shown must be what is read. A link shows one path and leads to another.
            Ok(_) => Some(ReadAnswer::NotAsked(NotAsked::Link)),
            Err(error) if error.kind() == ErrorKind::NotFound => Some(of_new(path)),
            Err(_) => Some(ReadAnswer::NotAsked(NotAsked::Denied)),
        }
    }

    async fn ask_about_plan(&self, text: String, modes: Vec<ApprovalMode>) -> PlanAnswer {
        let gate = &self.gate;
        let _asking = self.run_clock.pause();
        let _one_at_a_time = gate.asking.turn.acquire().await;
        // No grants: approving a plan allows no call of it.
        let mut question =
            Question { about: About::Plan { text, modes: modes.clone() }, ..self.question(None, Grants::none()) };
        loop {
            self.asked.send(question.clone()).await;
            match gate.asking.queue.ask(question.clone()).await {
                Err(NobodyListens) => return PlanAnswer::NobodyListens,
                // Only the modes that were shown with the plan.
                Ok(Answer::Switch { mode }) if modes.contains(&mode) => return PlanAnswer::Approved(mode),
                Ok(Answer::Cancel { reason }) => {
                    let reason = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
                    return PlanAnswer::Rejected(reason.map(|reason| clip(reason, REASON_CHARACTERS).into_owned()));
                }
                Ok(
                    Answer::ProceedOnce
                    | Answer::ProceedWithoutWalls
                    | Answer::Proceed { .. }
                    | Answer::Modify { .. }
                    | Answer::Switch { .. },
                ) => {
                    question.objection = Some(NOT_OFFERED.to_owned());
                }
            }
        }
    }

    pub(super) fn question(&self, origin: Option<Origin>, touches: Grants) -> Question {
        Question {
            agent: self.gate.agent.clone(),
            agent_id: self.gate.agent_id.clone(),
            call: Arc::clone(&self.call),
            origin,
            confirmation: Confirmation::Call,
            about: About::Call,
            commands: Vec::new(),
            effects: Vec::new(),
            touches,
            reasons: Vec::new(),
            not_undone: Vec::new(),
            can_leave_walls: false,
            mode: self.gate.mode,
            switches: Vec::new(),
            always: Vec::new(),
            objection: None,
        }
    }

    /// Whether a rule denies the call when it reads this.
    fn is_denied(&self, touches: &Grants, origin: Option<&Origin>) -> bool {
        let gate = &self.gate;
        let query = Query {
            tool: &self.call.name,
            plugin: origin.map(|origin| origin.plugin.as_str()),
            digest: origin.map(|origin| origin.digest.as_str()),
            arguments: &self.call.arguments,
            argv: None,
            directory: None,
            touches,
            granted: &Grants::none(),
            agent: &gate.agent,
            mode: gate.mode,
            workspace: &gate.shared.workspace,
        };
        gate.policy().decide(&query).decision == Decision::Deny
    }
}

impl CallAsker for CallQuestions {
    fn may_read<'a>(&'a self, path: &'a Path, origin: Option<Origin>) -> BoxFuture<'a, ReadAnswer> {
        Box::pin(self.ask_to_read(path, origin))
    }

    fn may_reach<'a>(
        &'a self,
        argv: &'a [String],
        server: &'a str,
        origin: Option<Origin>,
    ) -> BoxFuture<'a, ReachAnswer> {
        Box::pin(self.ask_to_reach(argv, server, origin))
    }

    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, ElicitationAnswer> {
        Box::pin(async move {
            let _asking = self.run_clock.pause();
            let _one_at_a_time = self.gate.asking.turn.acquire().await;
            elicitation::ask(&self.gate.asking.queue, question).await
        })
    }

    fn present_plan(&self, text: String, modes: Vec<ApprovalMode>) -> BoxFuture<'_, PlanAnswer> {
        Box::pin(self.ask_about_plan(text, modes))
    }
}

/// Returns the answer about a path at which nothing is found: of a link that leads nowhere that is not known.
fn of_new(path: &Path) -> ReadAnswer {
    let there = path.ancestors().find(|above| above.symlink_metadata().is_ok());
    match there.map(|there| (there, std::fs::canonicalize(there))) {
        Some((there, Ok(real))) if real == there && there != path => ReadAnswer::Absent,
        Some((_, Ok(_))) => ReadAnswer::NotAsked(NotAsked::Link),
        Some((_, Err(_))) | None => ReadAnswer::NotAsked(NotAsked::Denied),
    }
}

/// Whether the path may be read until the session ends.
fn covers(reads: &AllowedFiles, path: &Path) -> bool {
    reads.grants().permit_read(&PluginName::new("host"), path).is_ok()
}
