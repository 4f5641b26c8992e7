//! What hooks say about a call: before it is decided, and before the user is asked.
//!
//! Promises: a hook never widens what a call may touch. Its allowance skips a question only if everything that the call
//! touches is granted and no rule of the user's asks; what a hook changed is checked and previewed like a call of a
//! model, is asked about unless the hook that changed it allowed it too, and runs only once the hooks have seen it as
//! it is.
//!
//! Deliberately not here: which hooks there are, and how they run.

use std::sync::Arc;

use host_message::FunctionCall;
use serde_json::Value;

use super::{AtGate, Considered, Gate, Passed, allowed_because, asked_because, shown_because, strict};
use crate::hooks::{ChangedArguments, HookAnswer, HookAsker, HookDecision, HookEvent, HookInput, HookText, Hooks};
use crate::{ApprovalMode, Because, CallFailure, Decided, Decision, FailureKind, Tier, Tool};

/// How often hooks may change the arguments of one call. Protects against hooks that change them back and forth.
const MAX_REWRITES: usize = 4;

/// What hooks said about a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hooked {
    /// Whether they allowed it.
    allows: bool,
    /// Why they want the user to be asked.
    asks: Vec<HookText>,
    /// The hook that changed its arguments last.
    changed_by: Option<String>,
    /// What the model is to know besides.
    context: Vec<HookText>,
}

impl Hooked {
    /// Takes what the model is to know, for the outcome of this call as it runs.
    pub(super) fn into_context(self, call: &FunctionCall) -> Vec<HookText> {
        let Self { mut context, changed_by, .. } = self;
        if let Some(hook) = changed_by {
            let arguments = Value::Object(call.arguments.clone());
            let text = format!("The hook changed the arguments of this call before it ran. They were: {arguments}");
            context.insert(0, HookText::new(&hook, &text));
        }
        context
    }

    fn take(&mut self, answer: &HookAnswer) {
        for text in &answer.context {
            if !self.context.contains(text) {
                self.context.push(text.clone());
            }
        }
        match &answer.decision {
            Some((HookDecision::Allow, _)) => self.allows = true,
            Some((HookDecision::Ask, reason)) if !self.asks.contains(reason) => self.asks.push(reason.clone()),
            Some((HookDecision::Ask | HookDecision::Deny, _)) | None => {}
        }
    }
}

impl Considered {
    /// Returns the decision with what hooks said: never less strict than a denial, nor than a question about something
    /// that is not granted.
    pub(super) fn decision(&self, mode: ApprovalMode) -> Decision {
        let Hooked { allows, asks, changed_by, .. } = &self.hooked;
        let is_silent_change = changed_by.is_some() && !*allows && mode < ApprovalMode::Yolo;
        match self.verdict.decision {
            Decision::Deny => Decision::Deny,
            // Nobody knows yet what it would do.
            Decision::Ask | Decision::Allow if self.intent.reads_first.is_some() => Decision::Ask,
            Decision::Ask if *allows && asks.is_empty() && self.is_only_asked_about() => Decision::Allow,
            Decision::Allow if asks.is_empty() && !is_silent_change => Decision::Allow,
            Decision::Ask | Decision::Allow => Decision::Ask,
        }
    }

    /// Returns why it runs without a question.
    pub(super) fn allowed_because(&self, mode: ApprovalMode) -> Vec<String> {
        match self.verdict.decision {
            Decision::Ask => vec!["a hook allowed it".to_owned()],
            Decision::Allow | Decision::Deny => allowed_because(&self.verdict, mode),
        }
    }

    /// Whether everything that it touches is granted, and the question is not one that a rule of the user's asks.
    fn is_only_asked_about(&self) -> bool {
        let is_rule = |because: &Because| match because {
            Because::Rule { source, .. } | Because::PerhapsRule { source, .. } => source.tier > Tier::BuiltIn,
            _ => false,
        };
        self.intent.touches.le(&self.intent.granted) && !strict(&self.verdict).any(|reason| is_rule(&reason.because))
    }

    /// Returns the reasons for a question: those of hooks, and those of the policy unless it would not ask.
    pub(super) fn reasons_to_ask(&self) -> Vec<String> {
        self.with_reasons_of_hooks(asked_because(&self.verdict))
    }

    /// Returns the same as a question shows them, beside so many commands.
    pub(super) fn reasons_to_show(&self, commands: usize) -> Vec<String> {
        self.with_reasons_of_hooks(shown_because(&self.verdict, commands))
    }

    fn with_reasons_of_hooks(&self, of_policy: Vec<String>) -> Vec<String> {
        let changed = self.hooked.changed_by.as_ref().map(|hook| format!("the hook `{hook}` changed the arguments"));
        let asks = self.hooked.asks.iter().map(|reason| reason.said("asks for your approval"));
        let mut reasons: Vec<String> = changed.into_iter().chain(asks).collect();
        if reasons.is_empty() || self.verdict.decision == Decision::Ask {
            reasons.extend(of_policy);
        }
        reasons
    }
}

impl Gate {
    /// Returns the same gate, with hooks that are asked about its calls.
    #[must_use]
    pub fn with_hooks(&self, hooks: Option<Arc<dyn Hooks>>) -> Self {
        Self { hooks, ..self.clone() }
    }

    /// Returns the hooks if there is one for this event.
    pub fn hooks(&self, event: HookEvent) -> Option<&Arc<dyn Hooks>> {
        self.hooks.as_ref().filter(|hooks| hooks.listens(event))
    }

    /// Returns who asks hooks.
    pub fn asker(&self) -> HookAsker<'_> {
        HookAsker { agent: &self.agent, agent_id: &self.agent_id, mode: self.mode }
    }

    /// Asks the hooks about a call before it is decided. What they changed they are asked about again.
    pub(super) async fn before(
        &self,
        mut considered: Considered,
        tool: &Arc<dyn Tool>,
        at: &AtGate<'_>,
    ) -> Result<Considered, Passed> {
        let Some(hooks) = self.hooks(HookEvent::PreToolUse) else { return Ok(considered) };
        for _ in 0..MAX_REWRITES {
            if considered.verdict.decision == Decision::Deny {
                return Ok(considered);
            }
            let answer = hooks.ask(self.asker(), HookInput::PreToolUse { call: &considered.call }).await;
            considered.is_ended_by(&answer)?;
            considered.hooked.take(&answer);
            let Some(changed) = answer.arguments.filter(|new| new.arguments != considered.call.arguments) else {
                return Ok(considered);
            };
            considered = self.rewritten(&considered, changed, tool, at).await?;
        }
        let by = considered.hooked.changed_by.unwrap_or_default();
        let words = format!("`{}` was not run: hooks keep changing its arguments, `{by}` last", considered.call.name);
        Err(denied(words))
    }

    /// Asks the hooks that decide in the place of the user. `None` if the user is to be asked.
    pub(super) async fn instead_of_user(
        &self,
        considered: &mut Considered,
        tool: &Arc<dyn Tool>,
        at: &AtGate<'_>,
    ) -> Result<Option<Decided>, Passed> {
        let Some(hooks) = self.hooks(HookEvent::PermissionRequest) else { return Ok(None) };
        let reasons = considered.reasons_to_ask();
        let input = HookInput::PermissionRequest { call: &considered.call, reasons: &reasons };
        let answer = hooks.ask(self.asker(), input).await;
        considered.is_ended_by(&answer)?;
        considered.hooked.take(&answer);
        if let Some(changed) = answer.arguments.filter(|new| new.arguments != considered.call.arguments) {
            let changed = self.rewritten(considered, changed, tool, at).await?;
            *considered = self.before(changed, tool, at).await?;
        }
        Ok((considered.decision(self.mode) == Decision::Allow).then_some(Decided::Allowed))
    }

    /// Notifies hooks that the user is asked about a call.
    pub(super) fn notify_asked(&self, call: &FunctionCall) {
        if let Some(hooks) = self.hooks(HookEvent::Notification) {
            let message = format!("The user is asked about a call of `{}`", call.name);
            let input = HookInput::Notification { message: &message, kind: "permission_prompt" };
            hooks.notify(self.asker(), input);
        }
    }

    /// Returns the call with the arguments of a hook, checked and previewed.
    async fn rewritten(
        &self,
        before: &Considered,
        changed: ChangedArguments,
        tool: &Arc<dyn Tool>,
        at: &AtGate<'_>,
    ) -> Result<Considered, Passed> {
        let ChangedArguments { hook, arguments } = changed;
        let call = FunctionCall { arguments, ..before.call.as_ref().clone() };
        let name = call.name.clone();
        let invalid = |failure: CallFailure| {
            let why = failure.message;
            denied(format!(
                "`{name}` was not run: the hook `{hook}` changed its arguments, and they cannot be used: {why}"
            ))
        };
        at.registry.admit(&call).map_err(invalid)?;
        let (access, outside) = (Arc::clone(&before.access), before.intent.outside.clone());
        let after = self.consider(Arc::new(call), tool, access, outside, at.cancel);
        let mut after = after.await.map_err(invalid)?;
        after.hooked = Hooked { changed_by: Some(hook.clone()), ..before.hooked.clone() };
        Ok(after)
    }
}

impl Considered {
    /// Ends the call if a hook denied it or ends the run.
    fn is_ended_by(&self, answer: &HookAnswer) -> Result<(), Passed> {
        let name = &self.call.name;
        if let Some(stop) = &answer.stop {
            return Err(Passed::Stopped { reason: stop.said("ended the run") });
        }
        match answer.denied() {
            Some(reason) => Err(denied(format!("`{name}` was not run: {}", reason.said("denied it")))),
            None => Ok(()),
        }
    }
}

fn denied(words: String) -> Passed {
    Passed::Denied { failure: CallFailure::new(FailureKind::Denied, words), decided: Some(Decided::Denied) }
}
