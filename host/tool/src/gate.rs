//! Decides whether a call runs: by the rules, and by a user where the rules say so.
//!
//! Promises: a call runs only when a rule, a grant or a user said yes to exactly what it is granted then; an answer
//! that reaches further than the one call becomes a rule bound to the tool, to the digest of the plugin and to what the
//! yes covered, so that another component under the same name is asked about again, and never reaches private addresses
//! or every server; a call that a user changed is
//! checked and asked about like a new one; where nobody listens, what would be asked is refused, in words that say what
//! would allow it. While somebody is asked the time of the run stands still.
//!
//! Deliberately not here: what the rules say (`policy`), how a question looks, and what the sandbox lets a call do.

mod lasting;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use host_capability::Grants;
use host_message::{AgentId, FunctionCall, ToolName, with_causes};
use host_plugin::{Confirmation, Workspace};
use host_text::clip;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    Allowance, Answer, ApprovalMode, ApprovalQueue, Because, CallFailure, Decided, Decision, FailureKind, Intent,
    NobodyListens, PausableClock, Policy, Query, Question, Reason, Registry, Rule, RulesFile, Tool, Verdict,
    simple_commands,
};

/// What a declined call is told when the user gave no reason.
const DECLINED: &str = "the user rejected this call";

/// The longest reason of the user that is passed to the model, in characters.
const REASON_CHARACTERS: usize = 4_000;

/// Decides about the calls of one agent. Clones, and the gates of other agents made of it, share rules and queue.
#[derive(Clone)]
pub struct Gate {
    shared: Arc<Shared>,
    mode: ApprovalMode,
    agent: String,
    agent_id: AgentId,
}

struct Shared {
    policy: RwLock<Policy>,
    queue: ApprovalQueue,
    workspace: PathBuf,
    /// Where the rules go that a user's answers make; none keeps them for this process.
    kept: Option<RulesFile>,
}

/// What surrounds a call at the gate.
pub(crate) struct AtGate<'g> {
    pub(crate) registry: &'g Registry,
    pub(crate) cancel: &'g CancellationToken,
    pub(crate) run_clock: &'g PausableClock,
    /// Takes each question before it is asked.
    pub(crate) asked: mpsc::Sender<Arc<Question>>,
}

/// What was decided.
pub(crate) enum Passed {
    /// It runs.
    Run {
        /// As the model wrote it, or as a user changed it.
        call: Arc<FunctionCall>,
        /// What it may do.
        allowance: Arc<Allowance>,
        decided: Decided,
    },
    /// It does not.
    Refused {
        failure: CallFailure,
        /// None when it could not have run anyway.
        decided: Option<Decided>,
    },
    /// A user said that it does not.
    Declined { reason: String },
}

/// A call, and all that is known of what it would do.
struct Considered {
    call: Arc<FunctionCall>,
    intent: Intent,
    verdict: Verdict,
}

impl Gate {
    /// A gate for the main agent of a run, in this mode. `kept` takes the rules that answers make.
    pub fn new(
        policy: Policy,
        queue: ApprovalQueue,
        mode: ApprovalMode,
        workspace: impl Into<PathBuf>,
        kept: Option<RulesFile>,
    ) -> Self {
        let shared = Shared { policy: RwLock::new(policy), queue, workspace: workspace.into(), kept };
        Self { shared: Arc::new(shared), mode, agent: "main".to_owned(), agent_id: AgentId::new("main") }
    }

    /// The gate for an agent.
    #[must_use]
    pub fn for_agent(&self, agent: &str, agent_id: &AgentId) -> Self {
        Self { agent: agent.to_owned(), agent_id: agent_id.clone(), ..self.clone() }
    }

    /// The mode that it decides in.
    pub fn mode(&self) -> ApprovalMode {
        self.mode
    }

    /// The same gate in another mode, with the same rules.
    #[must_use]
    pub fn in_mode(&self, mode: ApprovalMode) -> Self {
        Self { mode, ..self.clone() }
    }

    /// What would be decided about a call, which is neither asked about nor run; and what it would do.
    ///
    /// # Errors
    ///
    /// When the call could not be done anyway.
    pub async fn explain(
        &self,
        call: &FunctionCall,
        tool: &Arc<dyn Tool>,
        cancel: &CancellationToken,
    ) -> Result<(Intent, Verdict), CallFailure> {
        let Considered { intent, verdict, .. } = self.consider(Arc::new(call.clone()), tool, cancel).await?;
        Ok((intent, verdict))
    }

    /// Whether a rule denies every call of the tool, so that it need not be declared to a model.
    pub fn never(&self, tool: &dyn Tool) -> bool {
        let origin = tool.origin();
        let plugin = origin.as_ref().map(|origin| origin.plugin.as_str());
        let digest = origin.as_ref().map(|origin| origin.digest.as_str());
        let policy = self.shared.policy.read().unwrap_or_else(PoisonError::into_inner);
        policy.never(&tool.spec().name, plugin, digest, &self.agent, self.mode, &self.shared.workspace).is_some()
    }

    /// Decides about a call.
    pub(crate) async fn pass(&self, call: Arc<FunctionCall>, tool: &Arc<dyn Tool>, at: AtGate<'_>) -> Passed {
        let mut considered = match self.consider(call, tool, at.cancel).await {
            Ok(considered) => considered,
            Err(failure) => {
                let decided = (failure.kind == FailureKind::Denied).then_some(Decided::Denied);
                return Passed::Refused { failure, decided };
            }
        };
        let (mut changed, mut objection) = (false, None);
        loop {
            match considered.verdict.decision {
                // What a user changed they see again before it runs.
                Decision::Allow if !changed => return considered.run(Decided::Allowed),
                Decision::Deny => return considered.denied(),
                Decision::Allow | Decision::Ask => {}
            }
            let question = self.question(&considered, objection.take());
            if !self.shared.queue.is_heard() {
                return considered.unheard();
            }
            // The scheduler takes it before anything else of this call.
            at.asked.send(Arc::new(question.clone())).await.ok();
            let answer = {
                let _asking = at.run_clock.pause();
                self.shared.queue.ask(question.clone()).await
            };
            let decided = if changed { Decided::Changed } else { Decided::Approved };
            match answer {
                Err(NobodyListens) => return considered.unheard(),
                Ok(Answer::ProceedOnce) => return considered.run(decided),
                Ok(Answer::Proceed { lasting }) => match self.rule_of(lasting, &considered, &question) {
                    Some(rule) => {
                        objection = self.keep(rule).err();
                        if objection.is_none() {
                            return considered.run(decided);
                        }
                    }
                    None => objection = Some("that answer is not offered for this call".to_owned()),
                },
                Ok(Answer::Modify { text }) => match self.changed(&considered, tool, &text, &at).await {
                    Ok(new) => {
                        considered = new;
                        changed = true;
                    }
                    Err(why) => objection = Some(why),
                },
                Ok(Answer::Cancel { reason }) => {
                    let reason = reason.filter(|reason| !reason.trim().is_empty());
                    let words = reason.map(|reason| format!("{DECLINED}: {}", clip(reason.trim(), REASON_CHARACTERS)));
                    return Passed::Declined { reason: words.unwrap_or_else(|| DECLINED.to_owned()) };
                }
            }
        }
    }

    async fn consider(
        &self,
        call: Arc<FunctionCall>,
        tool: &Arc<dyn Tool>,
        cancel: &CancellationToken,
    ) -> Result<Considered, CallFailure> {
        let intent = tool.intent(&call, cancel.child_token()).await?;
        let verdict = self.verdict(&call.name, &call, &intent);
        Ok(Considered { call, intent, verdict })
    }

    fn verdict(&self, tool: &ToolName, call: &FunctionCall, intent: &Intent) -> Verdict {
        let argv = match &intent.confirmation {
            Some(Confirmation::Exec { argv, .. }) => Some(argv.as_slice()),
            Some(Confirmation::Edit { .. } | Confirmation::Info { .. } | Confirmation::Call) | None => None,
        };
        let query = Query {
            tool,
            plugin: intent.origin.as_ref().map(|origin| origin.plugin.as_str()),
            digest: intent.origin.as_ref().map(|origin| origin.digest.as_str()),
            arguments: &call.arguments,
            argv,
            touches: &intent.touches,
            granted: &intent.granted,
            agent: &self.agent,
            mode: self.mode,
            workspace: &self.shared.workspace,
        };
        let mut verdict = self.shared.policy.read().unwrap_or_else(PoisonError::into_inner).decide(&query);
        if let Some(Confirmation::Exec { directory, .. }) = &intent.confirmation
            && verdict.decision == Decision::Allow
            && self.mode < ApprovalMode::Yolo
            && !intent.touches.le(&intent.granted)
            && !self.is_beneath(directory)
        {
            // As `cd` out of the workspace in the line itself would be: a rule for `make` says nothing of makefiles
            // that lie elsewhere.
            let because = Because::Obscure(format!("it runs in `{directory}`, outside of the workspace"));
            verdict.decision = Decision::Ask;
            verdict.reasons.push(Reason { part: None, decision: Decision::Ask, because });
        }
        verdict
    }

    fn is_beneath(&self, directory: &str) -> bool {
        let workspace = Workspace::new(self.shared.workspace.clone());
        workspace.absolute(directory).is_ok_and(|directory| directory.starts_with(workspace.root()))
    }

    /// The call as the user changed it, or why it cannot be changed so.
    async fn changed(
        &self,
        before: &Considered,
        tool: &Arc<dyn Tool>,
        text: &str,
        at: &AtGate<'_>,
    ) -> Result<Considered, String> {
        let arguments = tool.revise(&before.call, text, at.cancel.child_token()).await;
        let arguments = arguments.map_err(|failure| failure.message)?;
        let call = FunctionCall { arguments, ..before.call.as_ref().clone() };
        at.registry.admit(&call).map_err(|failure| failure.message)?;
        let after = self.consider(Arc::new(call), tool, at.cancel).await.map_err(|failure| failure.message)?;
        match after.verdict.decision {
            Decision::Deny => Err(after.verdict.message.clone().unwrap_or_else(|| reasons(&after.verdict).join("; "))),
            Decision::Allow | Decision::Ask => Ok(after),
        }
    }

    fn question(&self, considered: &Considered, objection: Option<String>) -> Question {
        let Considered { call, intent, verdict } = considered;
        let confirmation = intent.confirmation.clone().unwrap_or(Confirmation::Call);
        let commands = match &confirmation {
            Confirmation::Exec { argv, .. } => simple_commands(argv),
            Confirmation::Edit { .. } | Confirmation::Info { .. } | Confirmation::Call => Vec::new(),
        };
        let besides = self.another_version(considered).into_iter().chain(considered.asked_each_time());
        Question {
            agent: self.agent.clone(),
            agent_id: self.agent_id.clone(),
            call: Arc::clone(call),
            origin: intent.origin.clone(),
            always: self.offers(considered, &confirmation, &commands),
            confirmation,
            touches: intent.touches.clone(),
            reasons: asked_because(verdict, commands.len()).into_iter().chain(besides).collect(),
            commands,
            mode: self.mode,
            objection,
        }
    }
}

impl Considered {
    fn run(self, decided: Decided) -> Passed {
        let Intent { touches, granted, confirmation, .. } = self.intent;
        let besides = if touches.le(&granted) { Grants::none() } else { touches };
        let allowance = Allowance { besides, shown: confirmation.map(Arc::new) };
        Passed::Run { call: self.call, allowance: Arc::new(allowance), decided }
    }

    fn denied(self) -> Passed {
        let name = &self.call.name;
        let why = self.verdict.message.clone().unwrap_or_else(|| reasons(&self.verdict).join("; "));
        let failure = CallFailure::new(FailureKind::Denied, format!("`{name}` was not run: {why}"));
        Passed::Refused { failure, decided: Some(Decided::Denied) }
    }

    /// It would have to be asked about, and nobody is there.
    fn unheard(self) -> Passed {
        let name = &self.call.name;
        let words = self.intent.refusal.unwrap_or_else(|| {
            format!(
                "`{name}` was not run: it needs the user's approval ({}), and nobody can be asked here. Only the user can change this: by a rule that allows it, or by running it in a terminal.",
                reasons(&self.verdict).join("; ")
            )
        });
        Passed::Refused { failure: CallFailure::new(FailureKind::Denied, words), decided: Some(Decided::Denied) }
    }
}

/// Why it came to that: what decided each part that is as strict as the whole.
fn reasons(verdict: &Verdict) -> Vec<String> {
    strict(verdict).map(Reason::why).collect()
}

/// The reasons that a question shows. That nothing allows a call yet goes without saying, unless it is about one
/// command of several.
fn asked_because(verdict: &Verdict, commands: usize) -> Vec<String> {
    let nothing = strict(verdict).all(|reason| reason.because == Because::Nothing);
    if nothing && commands <= 1 { Vec::new() } else { reasons(verdict) }
}

fn strict(verdict: &Verdict) -> impl Iterator<Item = &Reason> {
    verdict.reasons.iter().filter(|reason| reason.decision == verdict.decision)
}

impl Gate {
    /// Takes up a rule, and keeps it where rules are kept. A rule that cannot be kept is not taken up either.
    fn keep(&self, rule: Rule) -> Result<(), String> {
        if let Some(kept) = &self.shared.kept {
            kept.add(&rule).map_err(|error| format!("cannot save the rule: {}", with_causes(&error)))?;
        }
        self.shared.policy.write().unwrap_or_else(PoisonError::into_inner).add(rule);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
