//! The hooks of one session: asks all that an event matches side by side, and makes one answer of theirs.
//!
//! Promises: the strictest answer wins; a hook that fails denies where the event fails closed; what came of each is an
//! event for observers and an entry of the session log, before anything is done with it; no hook outlives the session.
//!
//! Deliberately not here: running one hook (`run`), and what an answer does.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use host_agent::{Event, EventKind, Observer};
use host_journal::{Fact, HookResult, Journal};
use host_plugin::Runtime;
use host_text::clip;
use host_tool::{
    ChangedArguments, HookAnswer, HookAsker, HookDecision, HookEvent, HookInput, HookText, Hooks, MAX_HOOK_TEXT,
};
use host_undo::Recorder;
use serde_json::{Map, Value};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::answer::{HookFailure, Said};
use super::input::HookPlace;
use super::names::names_of;
use super::run::Surroundings;
use super::{Hook, HookSet, Owner};

/// When a user hears that a hook is waited for.
const SLOW: Duration = Duration::from_secs(1);

/// The most notifications whose hooks run at once. Protects the machine from hooks that hang; further ones are dropped.
const MAX_NOTIFICATIONS: usize = 16;

/// What a session gives its hooks.
pub struct Wiring {
    /// The engine that runs components.
    pub runtime: Arc<Runtime>,
    /// What each of them reads.
    pub place: HookPlace,
    /// The session log, if there is one.
    pub log: Option<Arc<dyn Journal>>,
    /// Who hears of them, if anyone does.
    pub observer: Option<Arc<dyn Observer>>,
    /// What records the files that they change, if `/undo` is possible.
    pub changes: Option<Arc<Recorder>>,
}

/// The hooks of a session.
pub struct SessionHooks {
    hooks: Vec<Arc<Hook>>,
    events: BTreeSet<HookEvent>,
    around: Arc<Surroundings>,
    log: Option<Arc<dyn Journal>>,
    observer: Option<Arc<dyn Observer>>,
    /// Hooks about notifications; they end with the session.
    notifying: Mutex<JoinSet<()>>,
}

/// What one hook said, or why it failed.
struct Heard {
    hook: Arc<Hook>,
    said: Result<Said, HookFailure>,
    took: Duration,
}

impl HookSet {
    /// Returns the hooks for a session; `None` if there are none.
    pub fn session(&self, wiring: Wiring) -> Option<Arc<SessionHooks>> {
        if self.hooks.is_empty() {
            return None;
        }
        let Wiring { runtime, place, log, observer, changes } = wiring;
        let (resources, confine) = (self.resources.clone(), self.confine);
        Some(Arc::new(SessionHooks {
            hooks: self.hooks.clone(),
            events: self.hooks.iter().map(|hook| hook.event).collect(),
            around: Arc::new(Surroundings { runtime, place, resources, confine, changes }),
            log,
            observer,
            notifying: Mutex::default(),
        }))
    }
}

impl SessionHooks {
    /// Returns the hooks that an event matches; of the same command one.
    fn matching(&self, asker: &HookAsker<'_>, input: &HookInput<'_>) -> Vec<&Arc<Hook>> {
        let event = input.event();
        let names: Vec<String> = match input {
            HookInput::PreToolUse { call }
            | HookInput::PermissionRequest { call, .. }
            | HookInput::PostToolUse { call, .. } => names_of(call.name.as_str()),
            HookInput::SessionStart { source } => vec![(*source).to_owned()],
            HookInput::SessionEnd { reason } => vec![(*reason).to_owned()],
            HookInput::SubagentStop { .. } => vec![asker.agent.to_owned()],
            HookInput::PreCompact { manual } => vec![if *manual { "manual" } else { "auto" }.to_owned()],
            HookInput::Notification { kind, .. } => vec![(*kind).to_owned()],
            // Their matchers mean nothing, as elsewhere.
            HookInput::UserPromptSubmit { .. } | HookInput::Stop { .. } => Vec::new(),
        };
        let mut found: Vec<&Arc<Hook>> = Vec::new();
        for hook in self.hooks.iter().filter(|hook| hook.event == event) {
            let is_same = |other: &&Arc<Hook>| other.convention == hook.convention && other.runs.is_same(&hook.runs);
            if (names.is_empty() || hook.matcher.matches(&names)) && !found.iter().any(is_same) {
                found.push(hook);
            }
        }
        found
    }

    async fn ask_one(&self, hook: &Arc<Hook>, asker: HookAsker<'_>, input: HookInput<'_>) -> Heard {
        let began = Instant::now();
        let prepared = hook.prepare(&self.around, &asker, &input);
        let asking = hook.ask(prepared, &self.around.runtime);
        tokio::pin!(asking);
        let said = tokio::select! {
            biased;
            said = &mut asking => said,
            () = sleep(SLOW) => {
                self.tell(&asker, EventKind::HookWaiting { event: hook.event, hook: &hook.name });
                asking.await
            }
        };
        let said = said.map(|said| within_its_rights(hook.owner, said));
        Heard { hook: Arc::clone(hook), said, took: began.elapsed() }
    }

    fn tell(&self, asker: &HookAsker<'_>, kind: EventKind<'_>) {
        if let Some(observer) = &self.observer {
            observer.event(&Event { agent: asker.agent, agent_id: asker.agent_id, kind });
        }
    }

    /// Reports what came of a hook. Returns `false` if the log cannot be written.
    fn report(&self, heard: &Heard, asker: &HookAsker<'_>, input: &HookInput<'_>) -> bool {
        let Heard { hook, said, took } = heard;
        let event = hook.event;
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let (result, reason) = result(event, said);
        let reason = clip(&reason, MAX_HOOK_TEXT);
        let message = said.as_ref().ok().and_then(|said| said.message.as_deref());
        let message = message.map(|message| clip(message, MAX_HOOK_TEXT).into_owned());
        let fact = Fact::HookEnded {
            agent_id: asker.agent_id.clone(),
            event,
            hook: hook.name.clone(),
            call_id: input.call().map(|call| call.id.clone()),
            result,
            reason: reason.into_owned(),
            arguments: said.as_ref().ok().and_then(|said| said.arguments.clone()),
            message,
            duration_ms,
        };
        let recorded = self.log.as_ref().is_none_or(|log| log.append(&fact).is_ok());
        self.tell(asker, EventKind::Fact(&fact));
        recorded
    }
}

/// Returns what a hook said, without what is not its to say: what a plugin brings allows nothing.
fn within_its_rights(owner: Owner, said: Said) -> Said {
    match (owner, &said.decision) {
        (Owner::Plugin, Some((HookDecision::Allow, _))) => Said { decision: None, ..said },
        _ => said,
    }
}

/// Returns what came of a hook, in one word, and why.
fn result(event: HookEvent, said: &Result<Said, HookFailure>) -> (HookResult, Cow<'_, str>) {
    let said = match said {
        Ok(said) => said,
        Err(failure) if event.fails_closed() => return (HookResult::FailedClosed, failure.to_string().into()),
        Err(failure) => return (HookResult::Failed, failure.to_string().into()),
    };
    if let Some(reason) = &said.stop {
        return (HookResult::Stopped, reason.into());
    }
    match (&said.decision, said.arguments.is_some() || said.output.is_some()) {
        (Some((HookDecision::Deny, reason)), _) => (HookResult::Denied, reason.into()),
        (_, true) => (HookResult::Changed, "".into()),
        (Some((HookDecision::Ask, reason)), false) => (HookResult::Asked, reason.into()),
        (Some((HookDecision::Allow, reason)), false) => (HookResult::Allowed, reason.into()),
        (None, false) if said.context.is_some() => (HookResult::Context, "".into()),
        (None, false) => (HookResult::Nothing, "".into()),
    }
}

/// Makes one answer of all: the strictest decision wins, and of equally strict ones the first.
fn merged(heard: Vec<Heard>, around: &Surroundings, input: &HookInput<'_>) -> HookAnswer {
    let mut answer = HookAnswer::default();
    let decide = |answer: &mut HookAnswer, decision: HookDecision, reason: HookText| {
        if answer.decision.as_ref().is_none_or(|(before, _)| *before < decision) {
            answer.decision = Some((decision, reason));
        }
    };
    for Heard { hook, said, .. } in heard {
        let text = |text: &str| HookText::new(&hook.name, text);
        let said = match said {
            Ok(said) => said,
            Err(failure) if hook.event.fails_closed() => {
                let why = format!("it failed, so that this is denied: {failure}");
                decide(&mut answer, HookDecision::Deny, text(&why));
                continue;
            }
            Err(_) => continue,
        };
        if let Some((decision, reason)) = &said.decision {
            decide(&mut answer, *decision, text(reason));
        }
        if let Some((arguments, call)) = said.arguments.as_ref().zip(input.call()) {
            let arguments = back(&hook, around, call, arguments);
            match &answer.arguments {
                Some(before) if before.arguments != arguments => {
                    let why = format!("it and the hook `{}` changed the arguments in different ways", before.hook);
                    decide(&mut answer, HookDecision::Deny, text(&why));
                }
                _ => answer.arguments = Some(ChangedArguments { hook: text("").hook().to_owned(), arguments }),
            }
        }
        answer.context.extend(said.context.filter(|context| !context.trim().is_empty()).map(|context| text(&context)));
        answer.output = answer.output.or_else(|| said.output.map(|output| text(&output)));
        answer.stop = answer.stop.or_else(|| said.stop.map(|reason| text(&reason)));
    }
    answer
}

/// The arguments of a hook by our names.
fn back(
    hook: &Hook,
    around: &Surroundings,
    call: &host_message::FunctionCall,
    arguments: &Map<String, Value>,
) -> Map<String, Value> {
    let sent = hook.convention.arguments(call, &around.place.workspace);
    hook.convention.arguments_back(call, &sent, arguments)
}

impl Hooks for SessionHooks {
    fn listens(&self, event: HookEvent) -> bool {
        self.events.contains(&event)
    }

    fn ask<'a>(&'a self, asker: HookAsker<'a>, input: HookInput<'a>) -> BoxFuture<'a, HookAnswer> {
        async move {
            let matching = self.matching(&asker, &input);
            let heard = join_all(matching.into_iter().map(|hook| self.ask_one(hook, asker, input))).await;
            let mut is_recorded = true;
            for one in &heard {
                is_recorded &= self.report(one, &asker, &input);
            }
            let mut answer = merged(heard, &self.around, &input);
            if !is_recorded && input.event().fails_closed() {
                let why = HookText::new("session log", "what the hooks said cannot be recorded");
                answer.decision = Some((HookDecision::Deny, why));
            }
            answer
        }
        .boxed()
    }

    fn notify(&self, asker: HookAsker<'_>, input: HookInput<'_>) {
        let mut notifying = self.notifying.lock().unwrap_or_else(PoisonError::into_inner);
        while notifying.try_join_next().is_some() {}
        for hook in self.matching(&asker, &input) {
            if notifying.len() >= MAX_NOTIFICATIONS {
                return;
            }
            let (hook, around) = (Arc::clone(hook), Arc::clone(&self.around));
            let prepared = hook.prepare(&around, &asker, &input);
            notifying.spawn(async move {
                if let Err(why) = hook.ask(prepared, &around.runtime).await {
                    tracing::warn!(hook = %hook.name, %why, "a hook about a notification failed");
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise bundle.hook-allows: A hook that a bundle brings never allows a call.
    #[test]
    fn hook_that_a_plugin_brings_allows_nothing_and_denies_as_any_other() {
        for (owner, decision, kept) in [
            (Owner::Plugin, HookDecision::Allow, false),
            (Owner::Plugin, HookDecision::Ask, true),
            (Owner::Plugin, HookDecision::Deny, true),
            (Owner::User, HookDecision::Allow, true),
            (Owner::Project, HookDecision::Allow, true),
        ] {
            let said = Said { decision: Some((decision, "why".to_owned())), ..Said::default() };
            let heard = within_its_rights(owner, said);
            assert_eq!(heard.decision.is_some(), kept, "{owner:?} {decision:?}");
        }
    }
}
