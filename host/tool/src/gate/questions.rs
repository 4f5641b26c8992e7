//! Asks the user on behalf of a running call: whether it may read outside of the workspace, and whether a plan is good.
//!
//! A call that only reads begins without a question: which files it opens is known when it opens them. The sandbox
//! denies one outside of the workspace; then the user is asked about exactly that path, and the call runs again with
//! it. Only the main agent asks, only about what [`SessionReads`] lets be asked, and a rule that
//! denies comes first. A rule that allows does not answer: nothing in it shows that it meant files elsewhere.
//!
//! Deliberately not here: opening anything, and running the call.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use host_capability::{Grants, PluginName};
use host_message::FunctionCall;
use host_plugin::{Confirmation, Elicitation, ElicitationAnswer, SessionReads};
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
    /// The index of the call in its reply.
    pub(super) at: usize,
    /// Receives each question before it is asked.
    pub(super) asked: mpsc::Sender<(usize, Arc<Question>)>,
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
        Self { gate, call, run_clock, at, asked }
    }

    async fn ask_to_read(&self, path: &Path, origin: Option<Origin>) -> ReadAnswer {
        let (gate, access) = (&self.gate, self.gate.shared.access.now());
        let reads = &access.reads;
        // Keys, logins and the host's own files are not asked about at all: a question invites a yes.
        let Some(scope) = reads.scope_of(path) else { return ReadAnswer::NotAsked(NotAsked::Secret) };
        let touches = Grants::none().with(scope.clone());
        if let Some(why) = self.is_not_asked(path, &touches, origin.as_ref()) {
            return ReadAnswer::NotAsked(why);
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
            self.asked.send((self.at, Arc::new(question.clone()))).await.ok();
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

    /// Returns why nobody is asked about reading a path that is no secret; `None` if somebody is.
    fn is_not_asked(&self, path: &Path, touches: &Grants, origin: Option<&Origin>) -> Option<NotAsked> {
        // Its caller was allowed what it may read; a subagent asking would be a way around that.
        if self.gate.agent_id.is_subagent() {
            return Some(NotAsked::Subagent);
        }
        if !self.gate.asking.queue.is_heard() {
            return Some(NotAsked::NobodyListens);
        }
        // What is shown must be what is read. A link shows one path and leads to another.
        match std::fs::canonicalize(path) {
            Ok(real) if real == path => {}
            Ok(_) => return Some(NotAsked::Link),
            Err(_) => return Some(NotAsked::Denied),
        }
        // A rule that denies is an answer already.
        self.is_denied(touches, origin).then_some(NotAsked::Denied)
    }

    async fn ask_about_plan(&self, text: String, modes: Vec<ApprovalMode>) -> PlanAnswer {
        let gate = &self.gate;
        let _asking = self.run_clock.pause();
        let _one_at_a_time = gate.asking.turn.acquire().await;
        // No grants: approving a plan allows no call of it.
        let mut question =
            Question { about: About::Plan { text, modes: modes.clone() }, ..self.question(None, Grants::none()) };
        loop {
            self.asked.send((self.at, Arc::new(question.clone()))).await.ok();
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

/// Whether the path may be read until the session ends.
fn covers(reads: &SessionReads, path: &Path) -> bool {
    reads.grants().permit_read(&PluginName::new("host"), path).is_ok()
}
