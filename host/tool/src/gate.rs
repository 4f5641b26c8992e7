//! Decides whether a call runs: by the rules, and by asking the user if the rules require it.
//!
//! Promises: a call runs only if a rule, a grant or the user approved exactly what it is granted then; a lasting answer
//! becomes a rule bound to the tool, to the digest of the plugin and to what the approval covered, so that a different
//! component under the same name is asked about again, and never allows private addresses or every server; a call that
//! the user changed is checked and asked about like a new one; without a listener, a call that would be asked about is
//! denied, with a message that says what would allow it. The clock of the run is paused while the user is asked.
//!
//! Deliberately not here: what the rules mean (`policy`), how a question is shown, and what the sandbox lets a call do.

mod doors;
mod hooked;
mod lasting;
mod narrowing;
mod outside;
mod permissions;
mod questions;
mod reach;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use host_message::{AgentId, FunctionCall};
use host_plugin::{Access, Confirmation, CurrentAccess, Ground, ProgramReach, Workspace};
use host_text::{clip, with_causes};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::hooked::Hooked;
pub use self::narrowing::{AllowedCalls, Narrowing};
use self::outside::changes_outside;
pub use self::permissions::{Permission, permissions_in};
pub(crate) use self::questions::CallQuestions;
use crate::hooks::{HookText, Hooks};
use crate::policy::{Who, real_path};
use crate::{
    About, Allowance, Answer, ApprovalMode, ApprovalQueue, Because, CallFailure, Decided, Decision, FailureKind,
    Intent, Lasting, Looking, McpDefinitions, McpTarget, ModeSwitch, NobodyListens, NotAsked, OutsideFiles,
    OutsideRead, PausableClock, Policy, Query, Question, Reason, Registry, Rule, RulesFile, SimpleCommand, Tool, Until,
    Verdict, effects, simple_commands,
};

/// The reason for a rejected call if the user gave none.
const REJECTED: &str = "the user rejected this call";

/// The objection to an answer that was not among the choices.
const NOT_OFFERED: &str = "that answer is not offered for this call";

/// The longest reason of the user that is passed to the model, in characters.
const REASON_CHARACTERS: usize = 4_000;

/// Decides about the calls of one agent. Clones, and the gates of other agents made from it, share rules and queue.
#[derive(Clone)]
pub struct Gate {
    shared: Arc<Shared>,
    asking: Arc<Asking>,
    mode: ApprovalMode,
    agent: String,
    agent_id: AgentId,
    hooks: Option<Arc<dyn Hooks>>,
    /// The modes that an answer can switch to, and who is told; `None` if nobody would change the mode.
    switching: Option<(ModeSwitch, Vec<ApprovalMode>)>,
}

/// The parts of a new gate.
#[derive(Debug)]
pub struct GateOptions {
    /// The rules.
    pub policy: Policy,
    /// Where its questions go.
    pub queue: ApprovalQueue,
    /// The approval mode.
    pub mode: ApprovalMode,
    /// The folder that the session works in.
    pub workspace: PathBuf,
    /// The file for the rules that the user's answers make; with `None` they hold for this process only.
    pub kept: Option<RulesFile>,
    /// Where the definitions of MCP servers' tools are kept that those rules are about.
    pub definitions: Option<McpDefinitions>,
    /// What calls may touch besides their grants. Each call takes it once, as the runtime does.
    pub access: CurrentAccess,
}

struct Shared {
    /// Taken out whole to decide by: a decision about a command looks at files, and nobody waits for that.
    policy: RwLock<Arc<Policy>>,
    workspace: PathBuf,
    access: CurrentAccess,
    kept: Option<RulesFile>,
    definitions: Option<McpDefinitions>,
    /// What the calls of this run are limited to besides.
    narrowed: RwLock<Vec<Narrowing>>,
}

/// Where questions go.
struct Asking {
    queue: ApprovalQueue,
    /// Held while a question is open: the user gets one after the other, also from calls that run side by side.
    turn: tokio::sync::Semaphore,
}

/// The context of a call at the gate.
pub(crate) struct AtGate<'g> {
    pub(crate) registry: &'g Registry,
    pub(crate) cancel: &'g CancellationToken,
    pub(crate) run_clock: &'g PausableClock,
    /// Receives each question before it is asked.
    pub(crate) asked: mpsc::Sender<Arc<Question>>,
}

/// A decision.
pub(crate) enum Passed {
    /// The call runs.
    Run {
        /// The call as the model wrote it, or as the user changed it.
        call: Arc<FunctionCall>,
        /// What it may do.
        allowance: Arc<Allowance>,
        decided: Decided,
        /// What hooks add for the model.
        context: Vec<HookText>,
    },
    /// A hook ends the run.
    Stopped { reason: String },
    /// The call is denied.
    Denied {
        failure: CallFailure,
        /// `None` if it could not have run anyway.
        decided: Option<Decided>,
    },
    /// The user rejected the call.
    Rejected { reason: String },
}

/// What follows from an answer of the user's.
enum Answered {
    /// The call runs.
    Run { reach: ProgramReach, because: String },
    /// It is asked about again: the answer cannot be followed.
    Again { why: String },
    /// It is to run with this in place of what the question showed.
    Change { text: String },
    /// It does not run.
    Rejected { reason: String },
}

/// A call, with all that is known about what it would do.
struct Considered {
    call: Arc<FunctionCall>,
    /// What it may touch besides its grants, taken once: every step of the decision rests on the same.
    access: Arc<Access>,
    intent: Intent,
    verdict: Verdict,
    /// What hooks said about it.
    hooked: Hooked,
}

impl Gate {
    /// Creates a gate for the main agent of a run.
    pub fn new(options: GateOptions) -> Self {
        let GateOptions { policy, queue, mode, workspace, kept, definitions, access } = options;
        let policy = RwLock::new(Arc::new(policy));
        let shared = Shared { policy, workspace, access, kept, definitions, narrowed: RwLock::default() };
        let asking = Arc::new(Asking::new(queue));
        let (agent, agent_id) = ("main".to_owned(), AgentId::new("main"));
        Self { shared: Arc::new(shared), asking, mode, agent, agent_id, hooks: None, switching: None }
    }

    /// Returns the same gate with a queue of its own for its questions. What is answered there holds for both: a
    /// frontend whose clients do not share a screen asks each of them about its own calls.
    #[must_use]
    pub fn asking(&self, queue: ApprovalQueue) -> Self {
        Self { asking: Arc::new(Asking::new(queue)), ..self.clone() }
    }

    fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.shared.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the rules. What is being decided goes on by those from before.
    fn change_policy<T>(&self, change: impl FnOnce(&mut Policy) -> T) -> T {
        change(Arc::make_mut(&mut self.shared.policy.write().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Returns the gate for a different agent.
    #[must_use]
    pub fn for_agent(&self, agent: &str, agent_id: &AgentId) -> Self {
        Self { agent: agent.to_owned(), agent_id: agent_id.clone(), ..self.clone() }
    }

    /// Returns the queue of its questions.
    pub fn queue(&self) -> &ApprovalQueue {
        &self.asking.queue
    }

    /// Returns its mode.
    pub fn mode(&self) -> ApprovalMode {
        self.mode
    }

    /// Returns the same gate in a different mode, with the same rules.
    #[must_use]
    pub fn in_mode(&self, mode: ApprovalMode) -> Self {
        Self { mode, ..self.clone() }
    }

    /// Returns the same gate, whose questions about commands offer to go on in one of these modes: `switch` gets the
    /// one that the user chooses. The call itself runs as it was asked about.
    #[must_use]
    pub fn switching(&self, switch: ModeSwitch, modes: Vec<ApprovalMode>) -> Self {
        Self { switching: Some((switch, modes)), ..self.clone() }
    }

    /// Returns what would be decided about a call, and what it would do, without asking or running it.
    ///
    /// # Errors
    ///
    /// If the call could not run anyway.
    pub async fn explain(
        &self,
        call: &FunctionCall,
        tool: &Arc<dyn Tool>,
        cancel: &CancellationToken,
    ) -> Result<(Intent, Verdict), CallFailure> {
        let (access, outside) = (self.shared.access.now(), OutsideFiles::default());
        let Considered { intent, verdict, .. } =
            self.consider(Arc::new(call.clone()), tool, access, outside, cancel).await?;
        match intent.reads_first {
            // No user is asked here.
            Some(OutsideRead { path, denied, wording }) => {
                Err(NotAsked::NobodyListens.explained(&path, &denied, wording))
            }
            None => Ok((intent, verdict)),
        }
    }

    /// Whether no call of the tool can run, so that it need not be declared to a model: a rule denies each, or the tool
    /// needs what this mode never gives.
    pub fn never(&self, tool: &dyn Tool) -> bool {
        if tool.is_out_of_reach() {
            return true;
        }
        let origin = tool.origin();
        let who = Who {
            tool: tool.spec().name.as_str(),
            plugin: origin.as_ref().map(|origin| origin.plugin.as_str()),
            digest: origin.as_ref().map(|origin| origin.digest.as_str()),
            agent: &self.agent,
            mode: self.mode,
            workspace: &self.shared.workspace,
        };
        self.policy().never(&who).is_some()
    }

    /// Decides about a call.
    pub(crate) async fn pass(&self, call: Arc<FunctionCall>, tool: &Arc<dyn Tool>, at: AtGate<'_>) -> Passed {
        // Checked and previewed before any rule is asked: rules decide about what a call would do, not about its name.
        let outside = OutsideFiles::default();
        let considered = match self.consider(call, tool, self.shared.access.now(), outside, at.cancel).await {
            Ok(considered) => considered,
            Err(failure) => {
                let decided = (failure.kind == FailureKind::Denied).then_some(Decided::Denied);
                return Passed::Denied { failure, decided };
            }
        };
        // Hooks see the call before the user does, and may change what is asked.
        let mut considered = match self.before(considered, tool, &at).await {
            Ok(considered) => considered,
            Err(ended) => return ended,
        };
        let (mut changed, mut objection) = (false, None);
        let (mut is_first, mut read) = (true, 0);
        // Each change of the user's, and each answer that was not offered, starts the decision again.
        loop {
            if let Some(first) = considered.reads_first() {
                read += 1;
                considered = match self.read_first(considered, first, read, tool, &at).await {
                    Ok(considered) => considered,
                    Err(ended) => return ended,
                };
                continue;
            }
            match considered.decision(self.mode) {
                // The user sees a changed call again before it runs.
                Decision::Allow if !changed => return self.run_allowed(considered, Decided::Allowed),
                Decision::Deny => return considered.denied(),
                Decision::Allow | Decision::Ask => {}
            }
            if std::mem::take(&mut is_first) {
                match self.instead_of_user(&mut considered, tool, &at).await {
                    Ok(Some(decided)) => return self.run_allowed(considered, decided),
                    Ok(None) if considered.verdict.decision == Decision::Deny => return considered.denied(),
                    // A hook changed it into a call that has to read first.
                    Ok(None) if considered.reads_first().is_some() => continue,
                    Ok(None) => {}
                    Err(ended) => return ended,
                }
            }
            let question = self.question(&considered, objection.take());
            let Ok(answer) = self.ask(&considered.call, &question, &at).await else {
                return considered.denied_unasked();
            };
            let decided = if changed { Decided::Changed } else { Decided::Approved };
            match self.answered(answer, &question, &considered) {
                Answered::Run { reach, because } => return considered.run(decided, reach, vec![because]),
                Answered::Again { why } => objection = Some(why),
                Answered::Change { text } => match self.changed(&considered, tool, &text, &at).await {
                    // Previewed and decided like a new call; nothing of the old decision is kept.
                    Ok(new) => (considered, changed) = (new, true),
                    Err(why) => objection = Some(why),
                },
                Answered::Rejected { reason } => return Passed::Rejected { reason },
            }
        }
    }

    /// Runs a call that nobody was asked about.
    fn run_allowed(&self, considered: Considered, decided: Decided) -> Passed {
        let because = considered.allowed_because(self.mode);
        let reach = considered.reach(self.mode);
        considered.run(decided, reach, because)
    }

    /// Asks the user, one question after the other.
    async fn ask(
        &self,
        call: &Arc<FunctionCall>,
        question: &Question,
        at: &AtGate<'_>,
    ) -> Result<Answer, NobodyListens> {
        // Looked at before asking, so that a run without a listener does not stop its clock for nothing.
        if !self.asking.queue.is_heard() {
            return Err(NobodyListens);
        }
        self.notify_asked(call);
        // The time in which the user thinks is not the run's.
        let _asking = at.run_clock.pause();
        // The scheduler receives the question before anything else about this call.
        let _one_at_a_time = self.asking.turn.acquire().await;
        at.asked.send(Arc::new(question.clone())).await.ok();
        self.asking.queue.ask(question.clone()).await
    }

    /// Returns what follows from an answer. One counts only if it was offered: a frontend could send any.
    fn answered(&self, answer: Answer, question: &Question, considered: &Considered) -> Answered {
        let not_offered = || Answered::Again { why: NOT_OFFERED.to_owned() };
        // Behind the walls, since a plain yes says nothing about them.
        let run = |because: String| Answered::Run { reach: ProgramReach::Workspace, because };
        match answer {
            Answer::ProceedOnce => run("the user allowed this call".to_owned()),
            Answer::ProceedWithoutWalls if question.can_leave_walls => Answered::Run {
                reach: ProgramReach::Everything,
                because: "the user let this call run without walls".to_owned(),
            },
            Answer::ProceedWithoutWalls => not_offered(),
            Answer::Proceed { lasting, until } if !considered.intent.changes_outside.is_empty() => {
                let is_offered = question.always.iter().any(|always| (always.answer, always.until) == (lasting, until));
                match considered.folder_outside().filter(|folder| is_offered && considered.opens(folder)) {
                    Some(_) => run("the user allowed changes in its folder until the session ends".to_owned()),
                    None => not_offered(),
                }
            }
            // The rule is made from the question that was shown, and not from the call.
            Answer::Proceed { lasting, until } => match self.rule_of(lasting, until, considered, question) {
                // Stored before the call runs: if it cannot be, the user learns that the answer would not last.
                Some(rule) => match self.keep(rule, until, considered.intent.mcp.as_deref()) {
                    Ok(()) => run(answered(lasting, until)),
                    Err(why) => Answered::Again { why },
                },
                None => not_offered(),
            },
            Answer::Switch { mode } => match &self.switching {
                // The same for modes: none that was not offered, such as `yolo`.
                Some((switch, _)) if question.switches.contains(&mode) => {
                    switch.choose(mode);
                    run(format!("the user allowed this call, and chose the approval mode `{mode}`"))
                }
                Some(_) | None => not_offered(),
            },
            Answer::Modify { text } => Answered::Change { text },
            // A rejection ends the calls behind it as well: they were planned on this one.
            Answer::Cancel { reason } => Answered::Rejected { reason: rejected(reason) },
        }
    }

    async fn consider(
        &self,
        call: Arc<FunctionCall>,
        tool: &Arc<dyn Tool>,
        access: Arc<Access>,
        outside: OutsideFiles,
        cancel: &CancellationToken,
    ) -> Result<Considered, CallFailure> {
        let intent = tool.intent(&call, Looking { cancel: cancel.child_token(), outside }).await?;
        if !matches!(intent.confirmation, Some(Confirmation::Exec { .. })) {
            return Ok(self.considered(call, access, intent));
        }
        // Which files the words of a command name, and where links lead, is on a disk that may be slow.
        let (gate, name) = (self.clone(), call.name.clone());
        let considered = tokio::task::spawn_blocking(move || gate.considered(call, access, intent));
        considered.await.map_err(|error| {
            let message = format!("`{name}` was not run, since nothing could be decided about it: {error}");
            CallFailure::new(FailureKind::Denied, message)
        })
    }

    /// Decides by the rules. Blocks on files if the call runs a command.
    fn considered(&self, call: Arc<FunctionCall>, access: Arc<Access>, intent: Intent) -> Considered {
        let verdict = self.narrowed(self.verdict(&call, &intent, &access), &call, &intent);
        Considered { call, access, intent, verdict, hooked: Hooked::default() }
    }

    fn verdict(&self, call: &FunctionCall, intent: &Intent, access: &Access) -> Verdict {
        let (argv, directory) = match &intent.confirmation {
            // By its real folder: a link would make a rule for one folder count in another.
            Some(Confirmation::Exec { argv, directory, .. }) => (Some(argv.as_slice()), self.real(directory)),
            Some(
                Confirmation::Edit { .. }
                | Confirmation::Edits { .. }
                | Confirmation::Info { .. }
                | Confirmation::Mcp { .. }
                | Confirmation::Call,
            )
            | None => (None, None),
        };
        let query = Query {
            tool: &call.name,
            plugin: intent.origin.as_ref().map(|origin| origin.plugin.as_str()),
            digest: intent.origin.as_ref().map(|origin| origin.digest.as_str()),
            arguments: &call.arguments,
            argv,
            directory: directory.as_deref(),
            touches: &intent.touches,
            granted: &intent.granted,
            agent: &self.agent,
            mode: self.mode,
            workspace: &self.shared.workspace,
        };
        // The rules first; what follows only makes the verdict stricter.
        let mut verdict = self.policy().decide(&query);
        if let Some(Confirmation::Exec { directory, .. }) = &intent.confirmation
            && verdict.decision == Decision::Allow
            && self.mode < ApprovalMode::Yolo
            && !intent.touches.le(&intent.granted)
            && !self.is_beneath(directory, access)
        {
            // As with a `cd` out of the workspace in the line itself: a rule for `make` does not cover makefiles
            // elsewhere.
            let because = Because::Obscure(format!("it runs in `{directory}`, outside of the workspace"));
            verdict.decision = Decision::Ask;
            verdict.reasons.push(Reason { part: None, decision: Decision::Ask, because });
        }
        if let Some(Confirmation::Exec { ground: Ground::Terminal, .. }) = &intent.confirmation
            && verdict.decision == Decision::Allow
            && self.mode < ApprovalMode::Yolo
            && !verdict.reasons.iter().all(Reason::is_users_rule)
        {
            // What is typed into it later passes no gate, so its words alone say too little: a shell runs any line.
            let because = "the model types into its terminal later, and that is not asked about";
            verdict.decision = Decision::Ask;
            let because = Because::Obscure(because.to_owned());
            verdict.reasons.push(Reason { part: None, decision: Decision::Ask, because });
        }
        self.ask_about_outside(&mut verdict, &query, intent);
        // Where the user cannot be asked it runs as before, and fails as before.
        let can_ask = access.programs.walls.can_be_left() && self.asking.queue.is_heard();
        if intent.is_fenced && can_ask && verdict.decision == Decision::Allow && !verdict.leaves_walls {
            let because = "it failed behind its walls, and needs something of the machine that is not there";
            verdict.decision = Decision::Ask;
            let because = Because::Obscure(because.to_owned());
            verdict.reasons.push(Reason { part: None, decision: Decision::Ask, because });
        }
        verdict
    }

    /// Returns the folder without links, `None` if it cannot be told where they lead.
    fn real(&self, directory: &str) -> Option<PathBuf> {
        real_path(&Workspace::new(self.shared.workspace.clone()).absolute(directory).ok()?)
    }

    fn is_beneath(&self, directory: &str, access: &Access) -> bool {
        let workspace = Workspace::new(self.shared.workspace.clone());
        workspace.absolute(directory).is_ok_and(|directory| {
            directory.starts_with(workspace.root()) || access.added.iter().any(|folder| directory.starts_with(folder))
        })
    }

    /// Returns the call as the user changed it, or why that change is not possible.
    async fn changed(
        &self,
        before: &Considered,
        tool: &Arc<dyn Tool>,
        text: &str,
        at: &AtGate<'_>,
    ) -> Result<Considered, String> {
        let outside = &before.intent.outside;
        let looking = Looking { cancel: at.cancel.child_token(), outside: outside.clone() };
        let arguments = tool.revise(&before.call, text, looking).await;
        let arguments = arguments.map_err(|failure| failure.message)?;
        let call = FunctionCall { arguments, ..before.call.as_ref().clone() };
        at.registry.admit(&call).map_err(|failure| failure.message)?;
        let after = self.consider(Arc::new(call), tool, Arc::clone(&before.access), outside.clone(), at.cancel);
        let after = after.await.map_err(|failure| failure.message)?;
        // Hooks have seen the call before: they are to see it as it will run.
        let after = self.before(after, tool, at).await.map_err(|ended| match ended {
            Passed::Denied { failure, .. } => failure.message,
            Passed::Stopped { reason } | Passed::Rejected { reason } => reason,
            Passed::Run { .. } => String::new(),
        })?;
        match after.verdict.decision {
            Decision::Deny => Err(after.verdict.message.clone().unwrap_or_else(|| reasons(&after.verdict).join("; "))),
            Decision::Allow | Decision::Ask => Ok(after),
        }
    }

    /// Returns the modes that the user can choose in the answer about a call. A subagent keeps those of its caller, and
    /// what a rule or a hook asks about is asked about in every mode.
    fn switches(&self, considered: &Considered) -> Vec<ApprovalMode> {
        let Some((_, modes)) = self.switching.as_ref().filter(|_| !self.agent_id.is_subagent()) else {
            return Vec::new();
        };
        let Intent { confirmation, touches, granted, .. } = &considered.intent;
        match confirmation {
            Some(Confirmation::Exec { .. }) if !touches.le(granted) => {
                modes.iter().copied().filter(|mode| *mode > self.mode).collect()
            }
            Some(_) | None => Vec::new(),
        }
    }

    fn question(&self, considered: &Considered, objection: Option<String>) -> Question {
        let Considered { call, intent, .. } = considered;
        // A call whose plugin shows nothing is asked about with all that it could touch.
        let confirmation = match intent.confirmation.clone().unwrap_or(Confirmation::Call) {
            Confirmation::Mcp { server, identity, tool, changed: _ } => {
                // What changed in the tool's description since the user allowed it is a part of the question.
                Confirmation::Mcp { server, identity, tool, changed: self.redefined(considered) }
            }
            other => other,
        };
        let (commands, effects) = match &confirmation {
            Confirmation::Exec { argv, .. } => {
                // From the words alone, so that nothing has to run to show it.
                (simple_commands(argv), effects(argv, intent.uses.as_ref(), &self.shared.workspace))
            }
            Confirmation::Edit { .. }
            | Confirmation::Edits { .. }
            | Confirmation::Info { .. }
            | Confirmation::Mcp { .. }
            | Confirmation::Call => Default::default(),
        };
        // Reasons that are not rules: an answer that was given to another version, and calls that no answer covers.
        let outside = considered.intent.changes_outside.iter().map(|path| changes_outside(path));
        let besides = self.another_version(considered).into_iter().chain(considered.asked_each_time()).chain(outside);
        let is_program = matches!(confirmation, Confirmation::Exec { .. });
        // Missing walls are about programs; an edit does not run behind any.
        let walls = considered.access.programs.walls;
        let lacking = is_program.then(|| walls.lacking()).flatten();
        let mut reasons: Vec<String> =
            considered.reasons_to_show(commands.len()).into_iter().chain(besides).chain(lacking).collect();
        // What is not clear about a command matters to the user, also where that is not why they are asked.
        let doubts = doubts(&commands).filter(|doubt| !reasons.contains(doubt)).collect::<Vec<_>>();
        reasons.extend(doubts);
        let can_leave_walls = is_program && walls.can_be_left();
        if can_leave_walls || is_program && walls.lacking().is_some() {
            reasons.extend(intent.changed_before.iter().cloned());
        }
        Question {
            agent: self.agent.clone(),
            agent_id: self.agent_id.clone(),
            call: Arc::clone(call),
            origin: intent.origin.clone(),
            about: About::Call,
            always: self.offers(considered, &confirmation, &commands),
            confirmation,
            touches: intent.touches.clone(),
            reasons,
            can_leave_walls,
            commands,
            effects,
            not_undone: intent.not_undone.clone(),
            mode: self.mode,
            switches: self.switches(considered),
            objection,
        }
    }
}

impl Asking {
    fn new(queue: ApprovalQueue) -> Self {
        Self { queue, turn: tokio::sync::Semaphore::new(1) }
    }
}

impl Considered {
    fn run(self, decided: Decided, reach: ProgramReach, because: Vec<String>) -> Passed {
        let Intent { touches, granted, confirmation, outside, changes_outside, .. } = self.intent;
        // What is granted for the session counts only for what was named: the tool does not hold it.
        let holds_all = touches.le(&granted) && changes_outside.is_empty();
        let besides = if holds_all { outside.readable } else { touches.join(&outside.readable) };
        let (shown, absent) = (confirmation.map(Arc::new), outside.absent);
        let allowance = Allowance { besides, shown, absent, reach, because };
        let context = self.hooked.into_context(&self.call);
        Passed::Run { call: self.call, allowance: Arc::new(allowance), decided, context }
    }

    fn denied(self) -> Passed {
        let name = &self.call.name;
        let why = self.verdict.message.clone().unwrap_or_else(|| reasons(&self.verdict).join("; "));
        let failure = CallFailure::new(FailureKind::Denied, format!("`{name}` was not run: {why}"));
        Passed::Denied { failure, decided: Some(Decided::Denied) }
    }

    /// Denies a call that has to be asked about when the user cannot be asked.
    fn denied_unasked(self) -> Passed {
        let name = &self.call.name;
        // What lacks no grant is asked about for a hook.
        let is_for_hooks = self.verdict.decision == Decision::Allow;
        let why = if is_for_hooks { self.reasons_to_ask() } else { reasons(&self.verdict) }.join("; ");
        let words = self.intent.refusal.filter(|_| !is_for_hooks).unwrap_or_else(|| {
            format!(
                "`{name}` was not run: it needs the user's approval ({why}), and this run has no terminal to ask on. Only the user can change this: by a rule that allows it, or by running it in a terminal."
            )
        });
        Passed::Denied { failure: CallFailure::new(FailureKind::Denied, words), decided: Some(Decided::Denied) }
    }
}

/// Returns the reasons: what decided each part that is as strict as the whole.
fn reasons(verdict: &Verdict) -> Vec<String> {
    strict(verdict).map(Reason::why).collect()
}

/// Returns why a call was allowed without a question.
fn allowed_because(verdict: &Verdict, mode: ApprovalMode) -> Vec<String> {
    std::iter::once(format!("approval mode `{mode}`")).chain(reasons(verdict)).collect()
}

/// Returns what the user answered who allowed other calls, too.
fn answered(lasting: Lasting, until: Until) -> String {
    let calls = match lasting {
        Lasting::Always => "calls that do the same",
        Lasting::AlwaysTool => "all calls of the tool",
        Lasting::AlwaysPlugin => "all calls of the plugin or MCP server",
    };
    match until {
        Until::SessionEnds => format!("the user allowed {calls} until the session ends"),
        Until::TakenBack => format!("the user allowed {calls} by a rule that lasts"),
    }
}

/// Returns the reasons that a question shows: that nothing allows the call yet is none.
fn asked_because(verdict: &Verdict) -> Vec<String> {
    strict(verdict).filter(|reason| reason.because != Because::Nothing).map(Reason::why).collect()
}

/// Returns what is not clear about commands, with the command where there are several.
fn doubts(commands: &[SimpleCommand]) -> impl Iterator<Item = String> {
    let are_several = commands.len() > 1;
    let all = commands.iter().flat_map(|command| command.doubts.iter().map(move |doubt| (command, doubt)));
    all.map(move |(command, doubt)| {
        let part = are_several.then(|| command.text.clone());
        Reason { part, decision: Decision::Ask, because: Because::Obscure(doubt.clone()) }.why()
    })
}

/// Returns the same for a question that shows the command and what it does: without what those show, and with a command
/// only where there are several.
fn shown_because(verdict: &Verdict, commands: usize) -> Vec<String> {
    let is_shown = |reason: &&Reason| match &reason.because {
        Because::Nothing | Because::Writes(_) | Because::Destructive(_) => false,
        Because::Rule { .. }
        | Because::PerhapsRule { .. }
        | Because::Granted
        | Because::Harmless
        | Because::Reads
        | Because::Outer
        | Because::Obscure(_)
        | Because::Private(_)
        | Because::UsesMore(_)
        | Because::Protected(_)
        | Because::Narrowed(_) => true,
    };
    let words = |reason: &Reason| if commands > 1 { reason.why() } else { reason.because.to_string() };
    strict(verdict).filter(is_shown).map(words).collect()
}

fn strict(verdict: &Verdict) -> impl Iterator<Item = &Reason> {
    verdict.reasons.iter().filter(|reason| reason.decision == verdict.decision)
}

/// The words for the model about a call that the user rejected, with the user's reason.
fn rejected(reason: Option<String>) -> String {
    match reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{REJECTED}: {}", clip(reason, REASON_CHARACTERS)),
        None => REJECTED.to_owned(),
    }
}

impl Gate {
    /// Adds a rule, and stores it if it outlasts the session and there is a file for rules. A rule that cannot be
    /// stored is not added either.
    fn keep(&self, mut rule: Rule, until: Until, target: Option<&McpTarget>) -> Result<(), String> {
        if let (Some(definitions), Some(target)) = (&self.shared.definitions, target) {
            let allowed = target.of_server.iter().filter(|definition| rule.digest.contains(&definition.digest));
            definitions
                .keep(allowed.map(Arc::as_ref))
                .map_err(|error| format!("cannot save the definition of the tool: {error}"))?;
        }
        if let (Some(kept), Until::TakenBack) = (&self.shared.kept, until) {
            kept.add(&rule).map_err(|error| format!("cannot save the rule: {}", with_causes(&error)))?;
            rule.source.file = Some(kept.path().to_owned());
        }
        self.change_policy(|policy| policy.add(rule));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
