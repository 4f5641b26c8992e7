//! What hooks say about a run besides its calls: about a prompt before it is asked, about an answer before the run ends
//! with it, and before the conversation is compressed.
//!
//! Promises: a prompt that a hook denies never reaches the model and is not part of the conversation; hooks keep a run
//! from its end only so often.
//!
//! Deliberately not here: hooks about calls, which the gate asks (`host-tool`).

use host_message::Part;
use host_tool::{HookAnswer, HookEvent, HookInput};
use tokio_util::sync::CancellationToken;

use super::run::Run;
use super::step::Stop;
use super::{Agent, RunError};

/// How often hooks may keep a run from ending. Protects the budget from a hook that is never content.
pub const MAX_STOP_HOOKS: u32 = 8;

impl Agent {
    /// Asks the hooks of an event. An answer that says nothing if there is none, or once the run is cancelled.
    async fn ask_hooks(&self, input: HookInput<'_>, cancel: &CancellationToken) -> HookAnswer {
        let Some(gate) = &self.gate else { return HookAnswer::default() };
        let Some(hooks) = gate.hooks(input.event()) else { return HookAnswer::default() };
        let answer = cancel.run_until_cancelled(hooks.ask(gate.asker(), input)).await;
        answer.unwrap_or_default()
    }

    /// Asks about a prompt of the user's, and returns what goes behind it. A subagent's task is none.
    pub(super) async fn submit(&self, prompt: &str, cancel: &CancellationToken) -> Result<Vec<Part>, RunError> {
        if self.id.is_subagent() {
            return Ok(Vec::new());
        }
        let answer = self.ask_hooks(HookInput::UserPromptSubmit { prompt }, cancel).await;
        if let Some(stop) = &answer.stop {
            return Err(RunError::Hook(stop.said("ended the run")));
        }
        if let Some(reason) = answer.denied() {
            return Err(RunError::Hook(reason.said("denied the prompt")));
        }
        Ok(answer.context.iter().map(|text| Part::text(format!("\n{}", text.for_model()))).collect())
    }
}

impl Run<'_> {
    /// Asks whether the run may end with this answer. Returns what the model gets instead of an end.
    pub(super) async fn may_end(&mut self, response: &str) -> Result<Option<Vec<Part>>, Stop> {
        if self.kept_on >= MAX_STOP_HOOKS {
            return Ok(None);
        }
        let active = self.kept_on > 0;
        let input = match self.agent.id.is_subagent() {
            true => HookInput::SubagentStop { response, active },
            false => HookInput::Stop { response, active },
        };
        let answer = self.agent.ask_hooks(input, self.cancel).await;
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        // It ends anyway.
        let Some(reason) = answer.denied().filter(|_| answer.stop.is_none()) else { return Ok(None) };
        self.kept_on += 1;
        let texts = std::iter::once(reason).chain(&answer.context);
        Ok(Some(texts.map(|text| Part::text(format!("{}\n", text.for_model()))).collect()))
    }

    /// Asks whether the conversation may be compressed. Returns why not.
    pub(super) async fn may_compress(&self, manual: bool) -> Option<String> {
        let answer = self.agent.ask_hooks(HookInput::PreCompact { manual }, self.cancel).await;
        answer.denied().map(|reason| reason.said("denied it"))
    }

    /// Returns whether a hook is asked before the run ends.
    pub(super) fn is_asked_at_the_end(&self) -> bool {
        let event = if self.agent.id.is_subagent() { HookEvent::SubagentStop } else { HookEvent::Stop };
        self.agent.gate.as_ref().is_some_and(|gate| gate.hooks(event).is_some())
    }
}
