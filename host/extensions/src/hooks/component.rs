//! A hook that is a component: the event as it gets it, and what its answer means.
//!
//! It has our names of tools and arguments. Deliberately not here: running it (`host-plugin`).

use host_plugin::{HookDecided, HookMoment, HookQuestion, HookReply, HookToolCall};
use host_text::clip;
use host_tool::{HookAsker, HookDecision, HookEvent, HookInput};
use serde_json::Value;

use super::answer::{ArgumentsFault, Said};
use super::input::{HookPlace, MAX_RESPONSE, result};

/// Returns what a component is asked.
pub(super) fn question(asker: &HookAsker<'_>, input: &HookInput<'_>, place: &HookPlace) -> HookQuestion {
    let (text, active) = match input {
        HookInput::SessionStart { source } => ((*source).to_owned(), false),
        HookInput::UserPromptSubmit { prompt } => ((*prompt).to_owned(), false),
        HookInput::PreToolUse { .. } => (String::new(), false),
        HookInput::PermissionRequest { reasons, .. } => (reasons.join("; "), false),
        HookInput::PostToolUse { outcome, .. } => {
            let (text, error) = result(outcome);
            (error.unwrap_or(text), false)
        }
        HookInput::Stop { response, active } | HookInput::SubagentStop { response, active } => {
            (clip(response, MAX_RESPONSE).into_owned(), *active)
        }
        HookInput::PreCompact { manual } => (if *manual { "manual" } else { "auto" }.to_owned(), false),
        HookInput::SessionEnd { reason } => ((*reason).to_owned(), false),
        HookInput::Notification { message, .. } => ((*message).to_owned(), false),
    };
    let call = input.call().map(|call| HookToolCall {
        id: call.id.to_string(),
        tool: call.name.to_string(),
        arguments: Value::Object(call.arguments.clone()).to_string(),
    });
    HookQuestion {
        moment: moment(input.event()),
        agent: asker.agent.to_owned(),
        subagent: asker.agent_id.is_subagent(),
        mode: asker.mode.name().to_owned(),
        workspace: place.workspace.to_string_lossy().into_owned(),
        call,
        text,
        active,
    }
}

fn moment(event: HookEvent) -> HookMoment {
    match event {
        HookEvent::SessionStart => HookMoment::SessionStart,
        HookEvent::UserPromptSubmit => HookMoment::UserPromptSubmit,
        HookEvent::PreToolUse => HookMoment::PreToolUse,
        HookEvent::PermissionRequest => HookMoment::PermissionRequest,
        HookEvent::PostToolUse => HookMoment::PostToolUse,
        HookEvent::SubagentStop => HookMoment::SubagentStop,
        HookEvent::PreCompact => HookMoment::PreCompact,
        HookEvent::Stop => HookMoment::Stop,
        HookEvent::SessionEnd => HookMoment::SessionEnd,
        HookEvent::Notification => HookMoment::Notification,
    }
}

/// Returns what a component said. The error says why its answer is invalid.
pub(super) fn said(reply: HookReply, event: HookEvent) -> Result<Said, ArgumentsFault> {
    let HookReply { decision, reason, arguments, context, message } = reply;
    let decision = decision.map(|decision| match decision {
        HookDecided::Allow => HookDecision::Allow,
        HookDecided::Ask => HookDecision::Ask,
        HookDecided::Deny => HookDecision::Deny,
    });
    let is_about_a_call = matches!(event, HookEvent::PreToolUse | HookEvent::PermissionRequest);
    let arguments = match arguments.filter(|_| is_about_a_call) {
        None => None,
        Some(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(arguments)) => Some(arguments),
            Ok(_) => return Err(ArgumentsFault::NotAnObject),
            Err(error) => return Err(ArgumentsFault::NotJson(error.to_string())),
        },
    };
    // Elsewhere nothing can be allowed or asked about.
    let decision = decision.filter(|decision| is_about_a_call || *decision == HookDecision::Deny);
    Ok(Said { decision: decision.map(|decision| (decision, reason)), arguments, context, message, ..Said::default() })
}
